//! Indexing maps through parts of a computation: producer and consumer, epilogues, several roots, calls, any two instructions.

use weft_hlo::indexing::{
    Analysis, CustomCallMaps, Dependence, Direction, Domains, ElementMap, Group, Relation, Undefined, physical,
};
use weft_hlo::ir::{InstrId, Module, Op};
use weft_hlo::text::parse;
use weft_indexing::IndexingMap;

pub(crate) fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

pub(crate) fn named(module: &Module, name: &str) -> InstrId {
    let mut all = module.entry_computation().instructions.iter();
    all.find(|(_, instruction)| instruction.name == name).map(|(id, _)| id).expect(name)
}

fn texts(group: &Group) -> Vec<String> {
    group.relation.maps().iter().map(|map| map.map.to_string()).collect()
}

/// A hero with an epilogue of two outputs.
const EPILOGUE: &str = "HloModule epilogue
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  p = f32[4,6,8] parameter(0)
  zero = f32[] constant(0)
  halves = f32[4,6,8] multiply(p, p)
  hero = f32[4,6] reduce(halves, zero), dimensions={2}, to_apply=sum
  turned = f32[6,4] transpose(hero), dimensions={1,0}
  flat = f32[24] reshape(turned)
  cut = f32[4,3] slice(hero), slice={[0:4], [0:6:2]}
  ROOT both = (f32[24], f32[4,3]) tuple(flat, cut)
}";

#[test]
fn an_epilogue_leads_from_the_hero_to_each_root() {
    let module = module(EPILOGUE);
    let (hero, both) = (named(&module, "hero"), named(&module, "both"));
    let found = Analysis::new(&module).between(module.entry, hero, both);
    let maps: Vec<(usize, Vec<String>)> = found.groups.iter().map(|group| (group.to.leaf, texts(group))).collect();
    let first = "(d0, d1) -> (d0 + d1 * 4), domain: d0 in [0, 3], d1 in [0, 5]".to_owned();
    let second = "(d0, d1) -> (d0, d1 floordiv 2), domain: d0 in [0, 3], d1 in [0, 4], d1 mod 2 in [0, 0]".to_owned();
    assert_eq!(maps, [(0, vec![first]), (1, vec![second])]);
}

#[test]
fn several_roots_have_their_own_maps() {
    let module = module(EPILOGUE);
    let roots = ["flat", "cut"].map(|name| named(&module, name));
    let found = Analysis::new(&module).subgraph(module.entry, &roots, Direction::OutputToInput, |_| true);
    let p = named(&module, "p");
    let maps: Vec<Vec<String>> = found.to(p).map(texts).collect();
    assert_eq!(
        maps,
        [
            ["(d0)[s0] -> (d0 mod 4, d0 floordiv 4, s0), domain: d0 in [0, 23], s0 in [0, 7]"],
            ["(d0, d1)[s0] -> (d0, d1 * 2, s0), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 7]"],
        ]
    );
}

#[test]
fn a_producer_and_its_consumer_end_at_their_operands() {
    let module = module(EPILOGUE);
    let pair = ["halves", "hero"].map(|name| named(&module, name));
    let found =
        Analysis::new(&module).subgraph(module.entry, &pair[1..], Direction::OutputToInput, |id| pair.contains(&id));
    let reached: Vec<&str> = found
        .groups
        .iter()
        .map(|group| module.entry_computation().instructions[group.to.instruction].name.as_str())
        .collect();
    assert_eq!(reached, ["hero", "halves", "zero", "p"]);
    let only = Analysis::new(&module)
        .subgraph(module.entry, &pair[1..], Direction::OutputToInput, |id| id == pair[1])
        .to(named(&module, "p"))
        .count();
    assert_eq!(only, 0, "what lies outside is not passed through");
}

#[test]
fn nothing_leads_between_values_that_do_not_meet() {
    let module = module(EPILOGUE);
    let mut analysis = Analysis::new(&module);
    let (flat, cut) = (named(&module, "flat"), named(&module, "cut"));
    assert!(analysis.between(module.entry, flat, cut).groups.is_empty());
    assert!(analysis.between(module.entry, cut, flat).groups.is_empty());
    assert_eq!(texts(&analysis.between(module.entry, cut, cut).groups[0]).len(), 1);
}

#[test]
fn starts_keep_their_instruction_through_calls_and_slices_of_slices() {
    let module = module(
        "HloModule starts
inner {
  a = f32[10] parameter(0)
  at = s32[] parameter(1)
  own = s32[] negate(at)
  first = f32[6] dynamic-slice(a, at), dynamic_slice_sizes={6}
  ROOT second = f32[2] dynamic-slice(first, own), dynamic_slice_sizes={2}
}
ENTRY e {
  p = f32[10] parameter(0)
  q = s32[] parameter(1)
  r = s32[] add(q, q)
  x = f32[2] call(p, r), to_apply=inner
  y = f32[2] call(p, q), to_apply=inner
  z = f32[2] call(p, r), to_apply=inner
  xy = f32[2] add(x, y)
  ROOT xyz = f32[2] add(xy, z)
}",
    );
    let mut analysis = Analysis::new(&module);
    let (root, p) = (named(&module, "xyz"), named(&module, "p"));
    let found = analysis.between(module.entry, root, p);
    let maps = found.groups[0].relation.maps();
    // The value that is computed within is another in each call, even of equal operands.
    assert_eq!(maps.len(), 3);
    let entry = module.entry_computation();
    let owners: Vec<Vec<Vec<&str>>> = maps
        .iter()
        .map(|map| {
            let path = |owner| {
                let mut path = found.owners.path(owner).expect("owners are known").into_iter();
                let first = &entry.instructions[path.next().expect("a path has an end")];
                let within = match first.op {
                    Op::Call { to_apply } => Some(&module.computations[to_apply]),
                    _ => None,
                };
                let rest = path.map(|id| within.expect("calls hold it").instructions[id].name.as_str());
                std::iter::once(first.name.as_str()).chain(rest).collect()
            };
            map.map.runtime().iter().map(|variable| path(variable.owner().expect("all have owners"))).collect()
        })
        .collect();
    for (call, start) in [("x", "r"), ("y", "q"), ("z", "r")] {
        let mut expected = vec![vec![call, "own"], vec![start]];
        let is_it = |owners: &Vec<Vec<&str>>| {
            let mut owners = owners.clone();
            owners.sort_by_key(|path| std::cmp::Reverse(path.len()));
            owners == expected
        };
        assert!(owners.iter().any(is_it), "{call}: {owners:?}");
        expected.clear();
    }
    for map in maps {
        assert_eq!(map.map.results().len(), 1);
        assert_eq!(map.map.runtime().len(), 2, "{}", map.map);
    }
}

#[test]
fn updates_are_left_out_of_their_source() {
    let module = module(
        "HloModule update
ENTRY e {
  p = f32[8] parameter(0)
  u = f32[3] parameter(1)
  at = s32[] parameter(2)
  n = f32[8] negate(p)
  ROOT d = f32[8] dynamic-update-slice(n, u, at)
}",
    );
    let p = named(&module, "p");
    let root = module.entry_computation().root;
    let maps = |domains| {
        let found = Analysis::new(&module).with_domains(domains).between(module.entry, root, p);
        texts(&found.groups[0])
    };
    assert_eq!(maps(Domains::Documented), ["(d0) -> (d0), domain: d0 in [0, 7]"]);
    assert_eq!(
        maps(Domains::Exact),
        [
            "(d0){rt0} -> (d0), domain: d0 in [0, 4], rt0 in [0, 5], d0 - rt0 in [-5, -1]",
            "(d0){rt0} -> (d0), domain: d0 in [3, 7], rt0 in [0, 5], d0 - rt0 in [3, 7]",
        ]
    );
}

#[test]
fn custom_calls_have_the_maps_that_users_give() {
    let module = module(
        "HloModule custom
ENTRY e {
  p = f32[4,4] parameter(0)
  ROOT c = f32[4,4] custom-call(p), custom_call_target=\"mirror\"
}",
    );
    let root = module.entry_computation().root;
    let own = |analysis: &mut Analysis<'_>| analysis.instruction(module.entry, root, Direction::OutputToInput);
    let unknown = own(&mut Analysis::new(&module));
    assert_eq!(unknown.dependences[0].relation.undefined(), Some(&Undefined::CustomCall("mirror".to_owned())));

    let mut known = CustomCallMaps::default();
    known.insert("mirror", |_, _, _| {
        let map: IndexingMap = "(d0, d1) -> (3 - d0, d1), domain: d0 in [0, 3], d1 in [0, 3]".parse().expect("a map");
        let relation = Relation::Maps(vec![ElementMap::exact(map)]);
        vec![Dependence { result: Some(0), operand: Some(0), leaf: Some(0), relation }]
    });
    let found = own(&mut Analysis::new(&module).with_custom_calls(&known));
    let map = &found.dependences[0].relation.maps()[0].map;
    assert_eq!(map.to_string(), "(d0, d1) -> (-d0 + 3, d1), domain: d0 in [0, 3], d1 in [0, 3]");
}

/// Positions in memory go with indices, by the layouts of both.
#[test]
fn physical_maps_lead_to_the_same_elements() {
    let module = module(
        "HloModule layouts
ENTRY e {
  p = f32[2,3,4]{0,2,1} parameter(0)
  ROOT t = f32[4,2,3]{1,0,2} transpose(p), dimensions={2,0,1}
}",
    );
    let entry = module.entry_computation();
    let root = &entry.instructions[entry.root];
    let (output, input) = (
        root.shape.as_array().expect("an array"),
        entry.instructions[root.operands[0]].shape.as_array().expect("an array"),
    );
    let found = Analysis::new(&module).instruction(module.entry, entry.root, Direction::OutputToInput);
    let map = &found.dependences[0].relation.maps()[0].map;
    let positions = physical(map, output, input).expect("the layouts have no tiles");
    // From the fastest dimension on.
    let position = |extents: &[i64], order: &[usize], index: &[i64]| {
        order.iter().rev().fold(0, |sum, &dimension| sum * extents[dimension] + index[dimension])
    };
    for point in map.points() {
        let read = map.evaluate(&point.dims, &[], &[]).expect("small numbers");
        let from = position(&output.extents, &[1, 0, 2], &point.dims);
        let to = position(&input.extents, &[0, 2, 1], &read);
        assert_eq!(positions.evaluate(&[from], &[], &[]), Ok(vec![to]), "{positions}");
    }
}

/// What is read exactly in one place and maybe in another is read.
#[test]
fn a_map_that_is_exact_somewhere_is_exact() {
    let module = module(
        "HloModule twice
ENTRY e {
  p = f32[6] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  d = f32[6] dynamic-update-slice(p, u, i)
  ROOT r = f32[6] add(d, p)
}",
    );
    let mut analysis = Analysis::new(&module);
    let found = analysis.between(module.entry, named(&module, "r"), named(&module, "p"));
    let [map] = found.groups[0].relation.maps() else { panic!("{:?}", found.groups) };
    assert_eq!(map.coarse, None);
}

/// Wide tuples are put together and taken apart array by array: what is reached from one array takes no look at the others.
#[test]
fn arrays_pass_through_wide_tuples_on_their_own() {
    let arrays = 2_000;
    let list = |name: &str| (0..arrays).map(|k| format!("{name}{k}")).collect::<Vec<_>>().join(", ");
    let shapes = vec!["f32[4]"; arrays].join(", ");
    let lines = |line: &dyn Fn(usize) -> String| (0..arrays).map(line).collect::<String>();
    let text = format!(
        "HloModule wide\nENTRY e {{\n  p = (s32[], ({shapes})) parameter(0)\n  \
         inner = ({shapes}) get-tuple-element(p), index=1\n{}  t = ({shapes}) tuple({})\n{}  \
         ROOT r = ({shapes}) tuple({})\n}}",
        lines(&|k| format!("  g{k} = f32[4] get-tuple-element(inner), index={k}\n")),
        list("g"),
        lines(&|k| format!("  h{k} = f32[4] get-tuple-element(t), index={k}\n")),
        list("h"),
    );
    let module = module(&text);
    let (p, root) = (named(&module, "p"), module.entry_computation().root);
    let mut analysis = Analysis::new(&module);
    for direction in [Direction::OutputToInput, Direction::InputToOutput] {
        let found = analysis.computation(module.entry, direction);
        let pairs: Vec<(Option<usize>, Option<usize>)> =
            found.dependences.iter().map(|own| (own.result, own.leaf)).collect();
        // The first array of the parameter is a number that nobody takes.
        assert_eq!(pairs, (0..arrays).map(|k| (Some(k), Some(k + 1))).collect::<Vec<_>>(), "{direction:?}");
        let from = if direction == Direction::OutputToInput { root } else { p };
        let reached = analysis.subgraph(module.entry, &[from], direction, |_| true);
        let unused = usize::from(from == p);
        assert_eq!(reached.groups.len(), arrays * 6 + unused, "{direction:?}");
        assert!(reached.groups.iter().all(|group| group.relation.maps().len() == 1));
    }
    let instructions = |analysis: &mut Analysis<'_>, direction| -> usize {
        let ids = module.entry_computation().instructions.ids();
        ids.map(|id| analysis.instruction(module.entry, id, direction).dependences.len()).sum()
    };
    for direction in [Direction::OutputToInput, Direction::InputToOutput] {
        assert_eq!(instructions(&mut analysis, direction), arrays * 5, "{direction:?}");
    }
}
