//! Tiles worked out by hand.

use weft_indexing::{
    Expr, FusionTiling, IndexingMap, Interval, Owner, RuntimeVariable, SymbolicTile, TileMisfit, TileRefusal, Variable,
};

fn read(text: &str) -> IndexingMap {
    text.parse().expect(text)
}

fn tile(text: &str) -> SymbolicTile {
    SymbolicTile::of(&read(text)).expect(text)
}

#[test]
fn a_reshape_splits_a_dimension() {
    let tile = tile("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]");
    assert_eq!(
        tile.to_string(),
        "(o0)[t0] -> offsets (o0 floordiv 8, 0), sizes (t0 floordiv 8, 8), strides (1, 1), \
         if o0 mod 8 in [0, 0], t0 mod 8 in [0, 0]\n \
         or offsets (o0 floordiv 8, o0 mod 8), sizes (1, t0), strides (1, 1), if t0 + o0 mod 8 in [1, 8],\n \
         domain: o0 in [0, 31], t0 in [1, 32], o0 + t0 in [1, 32]"
    );
    assert_eq!(tile.size_constraints().to_string(), "t0 mod 8 in [0, 0] or 8 mod t0 in [0, 0]");
    let boxes = tile.evaluate(&[16]).expect("two rows");
    let axes = boxes.at(&[1], &[]).expect("small numbers").expect("within the grid");
    assert_eq!(axes.iter().map(|a| (a.offset, a.size, a.stride)).collect::<Vec<_>>(), [(2, 2, 1), (0, 8, 1)]);
    assert_eq!(boxes.at(&[2], &[]), Ok(None));
    assert_eq!(tile.evaluate(&[12]), Err(TileMisfit::NoCase { position: vec![0], is_refuted: true }));
    assert_eq!(tile.evaluate(&[0]), Err(TileMisfit::Size { dim: 0, size: 0 }));
    assert_eq!(tile.evaluate(&[]), Err(TileMisfit::Arity { expected: 1, found: 0 }));
}

#[test]
fn the_last_tile_is_partial() {
    let tile = tile("(d0) -> (d0 * 3 + 1), domain: d0 in [0, 9]");
    let boxes = tile.evaluate(&[4]).expect("a slice");
    assert_eq!(boxes.tiles(), [3]);
    let sizes: Vec<_> = boxes.parts().iter().map(|part| (part.positions[0], part.clipped[0], part.sizes[0])).collect();
    assert_eq!(sizes, [(Interval::new(0, 1), 4, 4), (Interval::point(2), 2, 2)]);
    assert_eq!(boxes.largest(), [4]);
    assert_eq!(tile.evaluate(&[100]).expect("all of it").largest(), [10]);
}

#[test]
fn a_misfit_says_what_is_known() {
    let told = |map: &str, sizes: &[i64]| tile(map).evaluate(sizes).expect_err(map).to_string();
    let reshape = |n: i64| format!("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, {n}]");
    assert_eq!(told(&reshape(31), &[12]), "what the tile at [0] maps to is not a box");
    // Too many elements to look at one by one.
    assert_eq!(told(&reshape(99_999), &[5004]), "what the tile at [0] maps to is not known to be a box");
    // A gathered value: what it is at other places of the tile nobody knows.
    let gather = "(d0){rt0} -> (rt0, d0), domain: d0 in [0, 7], rt0 in [0, 9]\n hlo: #1\n (d0) -> (d0)";
    assert_eq!(told(gather, &[2]), "what the tile at [0] maps to is not known to be a box");
    assert_eq!(told(&reshape(31), &[0]), "the size 0 of dimension 0 is less than one");
}

#[test]
fn a_grid_may_start_anywhere() {
    let map = read("(d0) -> (d0 + 10), domain: d0 in [0, 9]");
    let boxes = |origin: i64, size: i64| {
        let tile = SymbolicTile::of(&map).and_then(|tile| tile.with_origin(&[origin])).expect("a shifted run");
        let boxes = tile.evaluate(&[size]).expect("a shifted run");
        let values = |p: i64| -> Vec<i64> {
            let axes = boxes.at(&[p], &[]).expect("small numbers");
            axes.into_iter().flatten().flat_map(weft_indexing::BoxAxis::values).collect()
        };
        let last = boxes.first()[0] + boxes.tiles()[0] - 1;
        let all: Vec<Vec<i64>> = (boxes.first()[0]..=last).map(values).collect();
        assert_eq!((values(boxes.first()[0] - 1), values(last + 1)), (vec![], vec![]));
        (boxes.first()[0], all.iter().map(|tile| (tile[0], tile.len())).collect::<Vec<_>>())
    };
    assert_eq!(boxes(0, 4), (0, vec![(10, 4), (14, 4), (18, 2)]));
    assert_eq!(boxes(3, 4), (-1, vec![(10, 3), (13, 4), (17, 3)]));
    assert_eq!(boxes(-2, 4), (0, vec![(10, 2), (12, 4), (16, 4)]));
    assert_eq!(boxes(-100, 7), (14, vec![(10, 5), (15, 5)]));
    assert_eq!(boxes(5, 100), (-1, vec![(10, 5), (15, 5)]));
    let tile = SymbolicTile::of(&map).expect("a shifted run");
    assert_eq!(tile.clone().with_origin(&[]), Err(TileRefusal::Arity));
    assert!(!tile.is_same(&tile.clone().with_origin(&[1]).expect("one dimension")));
}

#[test]
fn conditions_on_runtime_variables_are_told_and_kept() {
    let tile = tile(
        "(d0){rt0, rt1} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 9], rt1 in [0, 3], rt0 - rt1 in [0, 9], \
         d0 + rt0 in [0, 12]",
    );
    let text = tile.to_string();
    assert!(text.contains("rt0 in [0, 9], rt1 in [0, 3], o0 + t0 in [1, 8], rt0 - rt1 in [0, 9]"), "{text}");
    let boxes = tile.evaluate(&[8]);
    let Ok(boxes) = boxes else { panic!("{boxes:?}") };
    assert_eq!(boxes.runtime_conditions().len(), 1);
    assert_eq!(boxes.at(&[0], &[1, 2]), Ok(None));
    // Of a value that is dropped beyond its bounds they are a condition, however narrow they become.
    let dropped = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 9] drop, rt0 * 3 in [6, 14]";
    let tile = SymbolicTile::of(&read(dropped)).expect("a shifted run");
    assert_eq!(tile.domain().to_string(), "o0 in [0, 7], t0 in [1, 8], rt0 in [2, 4], o0 + t0 in [1, 8]");
    let boxes = tile.evaluate(&[4]).expect("a shifted run");
    assert_eq!(boxes.runtime_conditions(), tile.domain().runtime_conditions);
    assert_eq!((boxes.at(&[0], &[1]), boxes.at(&[0], &[4]).map(|axes| axes.is_some())), (Ok(None), Ok(true)));
}

#[test]
fn a_pad_reads_nothing_at_its_edges() {
    let map = read("(d0) -> (d0 - 6), domain: d0 in [6, 13]");
    let tile = SymbolicTile::on_grid(&map, &[Interval::of_extent(20)]).expect("a shifted run");
    let boxes = tile.evaluate(&[4]).expect("a shifted run");
    let read = |p: i64| -> Vec<i64> {
        let axes = boxes.at(&[p], &[]).expect("small numbers");
        axes.into_iter().flatten().flat_map(weft_indexing::BoxAxis::values).collect()
    };
    assert_eq!((0..5).map(read).collect::<Vec<_>>(), [vec![], vec![0, 1], vec![2, 3, 4, 5], vec![6, 7], vec![]]);
}

#[test]
fn a_padded_window_is_masked() {
    let tile = tile("(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0 + s0 in [1, 8]");
    let boxes = tile.evaluate(&[4]).expect("a window");
    assert_eq!(boxes.parts().len(), 1, "the mask is the same at every position");
    let axes = boxes.at(&[0], &[]).expect("small numbers").expect("within the grid");
    assert_eq!((axes[0].offset, axes[0].size, axes[0].mask), (-1, 6, Interval::new(0, 7)));
    assert_eq!(axes[0].values().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn refusals_name_their_reason() {
    let reason = |text: &str| SymbolicTile::of(&read(text)).expect_err(text);
    assert_eq!(reason("UNDEFINED"), TileRefusal::Undefined);
    assert_eq!(reason("(d0)[s0] -> (s0, d0 + s0), domain: d0 in [0, 9], s0 in [0, 9]"), TileRefusal::Dependent);
    assert_eq!(reason("()[s0, s1] -> (s0 * 5 + s1 * 3), domain: s0 in [0, 1], s1 in [0, 4]"), TileRefusal::Gaps);
    assert_eq!(reason("()[s0] -> (s0 floordiv 4, s0 mod 4), domain: s0 in [0, 5]"), TileRefusal::Division);
    assert_eq!(
        reason("()[s0, s1] -> (s0, s1), domain: s0 in [0, 3], s1 in [0, 3], s0 + s1 in [0, 4]"),
        TileRefusal::Cut
    );
    let max = i64::MAX;
    assert_eq!(reason(&format!("(d0) -> (d0), domain: d0 in [0, {max}]")), TileRefusal::Unbounded);
    assert_eq!(reason(&format!("()[s0] -> (s0 * {max}), domain: s0 in [2, 9]")), TileRefusal::Overflow);
    assert_eq!(SymbolicTile::on_grid(&IndexingMap::identity(&[4]), &[]), Err(TileRefusal::Arity));
    assert_eq!(SymbolicTile::of_preimage(&IndexingMap::identity(&[4]), &[]), Err(TileRefusal::Arity));
    let codes: std::collections::BTreeSet<_> = TileRefusal::ALL.iter().map(|r| r.code()).collect();
    assert_eq!(codes.len(), TileRefusal::ALL.len());
}

#[test]
fn an_empty_domain_reads_nothing() {
    let tile = tile("(d0) -> (d0, 3), domain: d0 in [0, 9], d0 in [12, 14]");
    let boxes = tile.evaluate(&[3]).expect("nothing is a box");
    assert!((0..4).all(|p| boxes.at(&[p], &[]) == Ok(None)));
    let none = SymbolicTile::of(&IndexingMap::identity(&[0, 4])).expect("nothing");
    assert_eq!(none.evaluate(&[1, 2]).expect("nothing").tiles(), [0, 2]);
}

#[test]
fn bounds_near_the_ends_of_i64() {
    let hi = i64::MAX - 1;
    let tile = tile(&format!("(d0) -> (d0), domain: d0 in [{}, {hi}]", hi - 9));
    match tile.evaluate(&[4]) {
        Ok(boxes) => {
            let axes = boxes.at(&[2], &[]).expect("within i64").expect("within the grid");
            assert_eq!(axes[0].values().collect::<Vec<_>>(), [hi - 1, hi]);
        }
        Err(misfit) => assert_eq!(misfit, TileMisfit::Overflow),
    }
}

/// `d0 + 6 - rt0` is at most `i64::MAX` where it has a value, and a point where it has none is not in the domain.
#[test]
fn a_constraint_beyond_i64_is_refused() {
    let text = format!(
        "(d0, d1)[s0]{{rt0, rt1}} -> (s0 * -3 + (rt1 * 3 + 1) floordiv 6, s0), domain: d0 in [{}, {}], d1 in [{}, {}], \
         s0 in [-6, -6], rt0 in [3, 3], rt1 in [0, 4], d0 - s0 - rt1 in ",
        i64::MAX - 4,
        i64::MAX - 1,
        i64::MAX - 9,
        i64::MAX - 2
    );
    let of = |bound: i64| read(&format!("{text}[{bound}, {bound}]"));
    let beyond = of(i64::MAX);
    assert_eq!(SymbolicTile::of(&beyond), Err(TileRefusal::Overflow));
    let grid = [Interval::new(16, 21), Interval::point(-6)];
    assert_eq!(SymbolicTile::of_preimage(&beyond, &grid), Err(TileRefusal::Overflow));
    // A value beyond `i64` is not the one before its end.
    assert!(SymbolicTile::of(&of(i64::MAX - 1)).is_ok());
}

#[test]
fn a_gathered_value_is_one_offset_for_one_row_only() {
    let variables = |extents: &[i64]| extents.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
    let row = RuntimeVariable::of(Owner(7), vec![Expr::dim(0)], Interval::of_extent(50));
    let map = IndexingMap::try_new(
        variables(&[8, 16]),
        Vec::new(),
        vec![row.clone()],
        vec![Expr::runtime(0), Expr::dim(1)],
        Vec::new(),
    )
    .expect("the parts fit together");
    let tile = SymbolicTile::of(&map).expect("one row at a time");
    assert_eq!(tile.size_constraints().to_string(), "t0 in [1, 1]");
    let row = row.with_access(vec![Expr::range(0)]);
    let all = IndexingMap::try_new(variables(&[8]), variables(&[4]), vec![row], vec![Expr::runtime(0)], Vec::new())
        .expect("the parts fit together");
    assert_eq!(SymbolicTile::of(&all), Err(TileRefusal::Gathered));
}

#[test]
fn a_tile_goes_on_through_the_next_map_and_comes_back() {
    let transpose = read("(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 11]");
    let flatten = read("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 11], d1 in [0, 7]");
    let there = SymbolicTile::of(&transpose).expect("a transpose").through(&flatten).expect("rows");
    let boxes = there.evaluate(&[8, 2]).expect("whole rows");
    let axes = boxes.at(&[0, 3], &[]).expect("small numbers").expect("within the grid");
    assert_eq!((axes[0].offset, axes[0].size, axes[0].stride), (48, 16, 1));
    let back = SymbolicTile::of_preimage(&flatten, &[Interval::of_extent(96)]).expect("a reshape");
    let boxes = back.evaluate(&[16]).expect("two rows");
    let axes = boxes.at(&[3], &[]).expect("small numbers").expect("within the grid");
    assert_eq!(axes.iter().map(|a| (a.offset, a.size)).collect::<Vec<_>>(), [(6, 2), (0, 8)]);
}

#[test]
fn a_softmax_shares_its_tiles() {
    let grid = [Interval::of_extent(64), Interval::of_extent(128)];
    let element = IndexingMap::identity(&[64, 128]);
    let row = read("(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 63], d1 in [0, 127], s0 in [0, 127]");
    let reduced = read("(d0, d1) -> (d0), domain: d0 in [0, 63], d1 in [0, 127]");
    let maps = [
        ("divide", &element),
        ("exp", &element),
        ("exp", &row),
        ("input", &row),
        ("input", &element),
        ("sum", &reduced),
        ("maximum", &reduced),
        ("exp", &element),
    ];
    let tiling = FusionTiling::of(&grid, maps).expect("boxes all");
    assert_eq!(tiling.tiles().len(), 3);
    assert_eq!(
        tiling.instructions(),
        [("divide", 0), ("exp", 0), ("exp", 1), ("input", 1), ("input", 0), ("sum", 2), ("maximum", 2)]
    );
    assert_eq!(tiling.size_constraints().to_string(), "always");
    let boxes = tiling.evaluate(&[1, 32]).expect("any size");
    assert_eq!(
        boxes.iter().map(weft_indexing::ConcreteTile::largest).collect::<Vec<_>>(),
        [vec![1, 32], vec![1, 128], vec![1]]
    );
    let diagonal = read("(d0, d1)[s0] -> (s0, d0 + s0), domain: d0 in [0, 63], d1 in [0, 127], s0 in [0, 9]");
    assert_eq!(FusionTiling::of(&grid, [(5, &element), (6, &diagonal)]), Err((6, TileRefusal::Dependent)));
}

#[test]
fn constraints_of_a_fusion_are_joint() {
    let grid = [Interval::of_extent(48)];
    let by_eight = read("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 47]");
    let by_twelve = read("(d0) -> (d0 floordiv 12, d0 mod 12), domain: d0 in [0, 47]");
    let tiling = FusionTiling::of(&grid, [(1, &by_eight), (2, &by_twelve)]).expect("boxes both");
    assert_eq!(
        tiling.size_constraints().to_string(),
        "t0 mod 24 in [0, 0] or t0 mod 8 in [0, 0] and 12 mod t0 in [0, 0] or \
         t0 mod 12 in [0, 0] and 8 mod t0 in [0, 0] or 8 mod t0 in [0, 0] and 12 mod t0 in [0, 0]"
    );
    let fits: Vec<i64> = (1..=48).filter(|t| tiling.evaluate(&[*t]).is_ok()).collect();
    assert_eq!(fits, [1, 2, 4, 24, 48]);
}
