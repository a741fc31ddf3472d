//! Coalescing, judged by simulation: every request of every subgroup, element by element.
//!
//! The long run is `WEFT_CASES=100 cargo test --release -p weft-indexing coalescing:: -- --nocapture`.

mod simulation;

use std::collections::BTreeMap;

use crate::fusion::{Read, chain, of_case, shape};
use crate::spelling::respelled;
use crate::support::count::cases;
use crate::support::generate;
use crate::support::random::Random;
use simulation::{extents, judge};
use weft_indexing::{
    Coalescing, Error, Expr, FusedOperand, IndexingMap, Interval, Launch, MemoryModel, Pattern, Stride, Tensor,
    Unknown, Var, Variable, Verdict, fusion_coalescing,
};

/// Kernels that run by default.
const STANDARD: u64 = 600;
/// The least share of verdicts on kernels that are known, in percent, and that of strides.
const MIN_KNOWN: [usize; 2] = [100, 100];
/// The same for random maps, of which many have bounds near the ends of `i64` or negative threads.
const MIN_KNOWN_RANDOM: [usize; 2] = [75, 97];

/// Threads in blocks by the bounds of the map.
fn launch_of(threads: Vec<Var>, vector: Option<Var>) -> Launch {
    Launch::try_new(threads, None, vector).expect("variables named once")
}

fn tensor_of(shape: &[i64], element_bytes: u32) -> Tensor {
    Tensor::try_new(shape, element_bytes).expect("a tensor")
}

/// Threads over the elements of an output, as kernels have them: block after block in row-major order with a guard at the end,
/// or a tile of two dimensions; some with several elements a thread.
fn threads(random: &mut Random, output: &[i64]) -> (IndexingMap, Launch) {
    let elements: i64 = output.iter().product();
    let per_thread = random.pick(&[1, 1, 2, 4, 3]);
    let rank = output.len();
    if rank >= 2 && random.chance(40) {
        // th_x along one dimension, th_y along another, a block for each tile.
        let (x, y) = if random.chance(70) { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) };
        let (tile_x, tile_y) = (random.pick(&[2, 4, 8]), random.pick(&[1, 2, 4]));
        let blocks = |n: i64, tile: i64| (n + tile - 1).div_euclid(tile).max(1);
        let mut dims = vec![(tile_x, "th_x"), (tile_y, "th_y"), (blocks(output[x], tile_x * per_thread), "bl_x")];
        dims.push((blocks(output[y], tile_y), "bl_y"));
        let [th_x, th_y, bl_x, bl_y] = Var::dims();
        let vector = Expr::range(0);
        let mut results: Vec<Expr> = Vec::new();
        for (i, n) in output.iter().enumerate() {
            results.push(if i == x {
                (bl_x * tile_x + th_x) * per_thread + &vector
            } else if i == y {
                bl_y * tile_y + th_y
            } else {
                dims.push((*n, "bl_z"));
                Expr::dim(dims.len() as u32 - 1)
            });
        }
        let dims = dims.iter().map(|(n, name)| Variable::new(Interval::of_extent(*n)).named(name)).collect();
        let ranges = vec![Variable::new(Interval::of_extent(per_thread))];
        let mut map = IndexingMap::try_new(dims, ranges, Vec::new(), results.clone(), Vec::new())
            .expect("the parts fit together");
        for (e, n) in results.iter().zip(output) {
            map.add_constraint(e.clone(), Interval::of_extent(*n)).expect("its variables are those of the map");
        }
        return (map, launch_of(vec![th_x, th_y], random.chance(80).then_some(Var::Range(0))));
    }
    let block = random.pick(&[4, 8, 8, 16, 12]);
    let blocks = (elements + block * per_thread - 1).div_euclid(block * per_thread).max(1);
    let [th_x, bl_x] = Var::dims();
    let s0 = Expr::range(0);
    // Elements of a thread lie side by side, or a block apart.
    let position = if random.chance(60) {
        (bl_x * block + th_x) * per_thread + s0
    } else {
        (bl_x * per_thread + s0) * block + th_x
    };
    let mut below = 1;
    let mut results = Vec::new();
    for n in output.iter().rev() {
        results.insert(0, position.floor_div(below).modulo((*n).max(1)));
        below *= (*n).max(1);
    }
    let mut map = IndexingMap::of_extents(&[block, blocks], &[per_thread], results)
        .expect("the results are over these variables");
    map.add_constraint(position, Interval::of_extent(elements)).expect("its variables are those of the map");
    let vector = random.chance(70).then_some(Var::Range(0));
    (map, launch_of(vec![th_x], vector))
}

fn machine(random: &mut Random) -> MemoryModel {
    let segment_bytes = random.pick(&[8, 16, 32, 64]);
    let subgroup_size = random.pick(&[4, 8, 8, 32, 3]);
    let base_alignment = segment_bytes * random.pick(&[1, 2, 4]);
    MemoryModel::try_new(subgroup_size, segment_bytes, base_alignment, random.pick(&[4, 8, 16])).expect("a device")
}

#[derive(Default)]
struct Outcomes(BTreeMap<String, usize>);

impl Outcomes {
    fn add(&mut self, found: &Coalescing) {
        let what = match (&found.verdict, &found.reads) {
            (Verdict::Unknown(reason), _) => format!("unknown: {}", reason.code()),
            (verdict, Some(reads)) => format!("{} {}", verdict.code(), reads.pattern.code()),
            (verdict, None) => verdict.code().to_owned(),
        };
        *self.0.entry(what).or_insert(0) += 1;
        for own in &found.strides {
            let reason = match own.stride {
                Stride::Unknown(reason) => format!(": {}", reason.code()),
                _ => String::new(),
            };
            *self.0.entry(format!("stride {}{reason}", own.stride.code())).or_insert(0) += 1;
        }
    }

    fn judge(&self, what: &str, [verdicts, strides]: [usize; 2]) {
        let count =
            |test: &dyn Fn(&str) -> bool| self.0.iter().filter(|(text, _)| test(text)).map(|(_, n)| n).sum::<usize>();
        let all = count(&|text| !text.starts_with("stride"));
        assert!((all - count(&|text| text.starts_with("unknown"))) * 100 >= all * verdicts, "{what}: {:?}", self.0);
        let asked = count(&|text| text.starts_with("stride"));
        assert!(
            (asked - count(&|text| text.starts_with("stride unknown"))) * 100 >= asked * strides,
            "{what}: {:?}",
            self.0
        );
    }
}

#[test]
fn kernels_read_as_simulated() {
    let mut outcomes = Outcomes::default();
    for number in 0..cases(STANDARD) {
        let mut random = Random::new(number);
        let output = shape(&mut random, 150);
        let (threads, launch) = threads(&mut random, &output);
        // Half of them by the block of the threads, which what is read does not narrow.
        let block = extents(&threads, &launch);
        let launch = if number % 2 == 0 { launch.with_block(&block).expect("an extent for each") } else { launch };
        let Read { map, shape } = chain(&mut random, &output, 150);
        let map = threads.then(&map).expect("small numbers");
        if map.box_size() > 3000 {
            continue;
        }
        let tensor = tensor_of(&shape, random.pick(&[4, 4, 4, 1, 2, 8, 16, 3]));
        let model = machine(&mut random);
        let found = map.coalescing(&tensor, &launch, &model).expect("a possible launch");
        outcomes.add(&found);
        judge(&map, &tensor, &launch, &model, &found).unwrap_or_else(|e| {
            panic!("case {number}: {e}\n{map:?} over {tensor:?} by {launch:?} on {model:?}: {found}")
        });
    }
    println!("kernels: {:?}", outcomes.0);
    outcomes.judge("kernels", MIN_KNOWN);
}

#[test]
fn random_maps_read_as_simulated() {
    let mut outcomes = Outcomes::default();
    for number in 0..cases(STANDARD) {
        let case = generate::case(number, number % 3 > 0);
        let mut random = Random::new(number);
        let Some(Read { map, shape }) = of_case(&case, &mut random) else { continue };
        let named: Vec<Var> =
            case.variables.iter().map(|(v, _)| *v).filter(|v| !matches!(v, Var::Runtime(_))).collect();
        let is_thread = |v: &&Var| map.variable(**v).is_some_and(|own| own.bounds().lo >= 0);
        let Some(thread) = named.iter().find(is_thread).or(named.first()).copied() else { continue };
        let vector = named.iter().copied().find(|v| *v != thread).filter(|_| random.chance(60));
        let launch = launch_of(vec![thread], vector);
        let (tensor, model) = (tensor_of(&shape, random.pick(&[4, 2, 12])), machine(&mut random));
        let found = map.coalescing(&tensor, &launch, &model).expect("a possible launch");
        if case.is_enumerated() {
            outcomes.add(&found);
            judge(&map, &tensor, &launch, &model, &found).unwrap_or_else(|e| {
                panic!("case {number}: {e}\n{map:?} over {tensor:?} by {launch:?} on {model:?}: {found}")
            });
        }
    }
    println!("random maps: {:?}", outcomes.0);
    outcomes.judge("random maps", MIN_KNOWN_RANDOM);
}

/// How often two spellings had one answer, and how often one of them had none.
#[derive(Default, Debug)]
struct Spellings {
    same: usize,
    one_unknown: BTreeMap<&'static str, usize>,
}

impl Spellings {
    fn one_unknown(&mut self, reason: Unknown) {
        *self.one_unknown.entry(reason.code()).or_default() += 1;
    }

    /// Near the ends of `i64` one spelling may leave it where another does not. For other reasons at most so many of a thousand
    /// have an answer in one spelling only.
    fn judge(&self, what: &str, most: usize) {
        let others: usize = self.one_unknown.iter().filter(|(code, _)| **code != "overflow").map(|(_, n)| n).sum();
        assert!(others * 1000 <= self.same * most, "{what}: {self:?}");
    }
}

/// Asks about a domain in several spellings, with one block.
fn judge_spellings(
    number: u64,
    map: &IndexingMap,
    tensor: &Tensor,
    launch: &Launch,
    model: &MemoryModel,
    counts: &mut Spellings,
) {
    let mut random = Random::new(!number);
    let block: Vec<i64> = extents(map, launch).iter().map(|n| n.saturating_add(random.between(0, 2))).collect();
    let launch = launch.clone().with_block(&block).expect("an extent for each thread");
    let found = map.coalescing(tensor, &launch, model).expect("a possible launch");
    for _ in 0..2 {
        let other = respelled(&mut random, map);
        let again = other.coalescing(tensor, &launch, model).expect("a possible launch");
        let told = format!(
            "case {number}:\n{map:?}\n{other:?}\nover {tensor:?} by {launch:?} on {model:?}:\n{found}\n{again}"
        );
        for (a, b) in found.strides.iter().zip(&again.strides) {
            match (a.stride, b.stride) {
                (Stride::Unknown(reason), _) | (_, Stride::Unknown(reason)) if a != b => counts.one_unknown(reason),
                // That a pattern repeats is read off the form of the results, which simplification may change.
                (Stride::Piecewise { .. } | Stride::Irregular, Stride::Piecewise { .. } | Stride::Irregular) => {}
                _ => assert_eq!(a, b, "{told}"),
            }
        }
        match (found.verdict, again.verdict) {
            (Verdict::Unknown(reason), other) | (other, Verdict::Unknown(reason)) if found.verdict != again.verdict => {
                let reason = if let Verdict::Unknown(Unknown::Overflow) = other { Unknown::Overflow } else { reason };
                counts.one_unknown(reason);
            }
            _ => {
                counts.same += 1;
                assert_eq!((&found.verdict, &found.reads), (&again.verdict, &again.reads), "{told}");
            }
        }
    }
}

/// The answer follows from the points, the results at them, and the launch.
#[test]
fn one_domain_has_one_answer_in_all_spellings() {
    let mut counts = Spellings::default();
    for number in 0..cases(STANDARD) / 2 {
        let mut random = Random::new(number);
        let output = shape(&mut random, 150);
        let (threads, launch) = threads(&mut random, &output);
        let Read { map, shape } = chain(&mut random, &output, 150);
        let map = threads.then(&map).expect("small numbers");
        if map.box_size() <= 3000 {
            let tensor = tensor_of(&shape, random.pick(&[4, 4, 2, 8, 3]));
            judge_spellings(number, &map, &tensor, &launch, &machine(&mut random), &mut counts);
        }
    }
    println!("kernels: {counts:?}");
    counts.judge("kernels", 0);
    let mut counts = Spellings::default();
    for number in 0..cases(STANDARD) / 2 {
        let case = generate::case(number, number % 3 > 0);
        let mut random = Random::new(number);
        let Some(Read { map, shape }) = of_case(&case, &mut random) else { continue };
        let variables = case.variables.iter().map(|(v, _)| *v).filter(|v| !matches!(v, Var::Runtime(_)));
        let mut named: Vec<Var> = variables.collect();
        named.truncate(3);
        let vector = if named.len() > 1 && random.chance(50) { named.pop() } else { None };
        if named.is_empty() || !case.is_enumerated() {
            continue;
        }
        let launch = launch_of(named, vector);
        judge_spellings(number, &map, &tensor_of(&shape, 4), &launch, &machine(&mut random), &mut counts);
    }
    println!("random maps: {counts:?}");
    counts.judge("random maps", 5);
}

/// What one operand of a concatenation is read for leaves the block as it is.
#[test]
fn the_block_of_a_fusion_is_that_of_its_threads() {
    let threads: IndexingMap =
        "(th_x, th_y) -> (th_y, th_x), domain: th_x in [0, 63], th_y in [0, 3]".parse().expect("a map");
    let part: IndexingMap = "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 15]".parse().expect("a map");
    let launch = launch_of(vec![Var::Dim(0), Var::Dim(1)], None);
    let operand = FusedOperand::try_new(tensor_of(&[4, 16], 4), vec![part]).expect("an index of two dimensions");
    let fusion = fusion_coalescing(&threads, &[operand], &launch, &MemoryModel::default()).expect("a possible launch");
    let found = &fusion.operands[0].uses[0];
    let totals = found.reads.as_ref().and_then(|reads| reads.totals.known()).expect("known");
    assert_eq!((&found.block[..], totals.requests, totals.transactions), (&[64, 4][..], 4, 8));
    assert!(found.to_string().contains("; blocks of 64 x 4 threads; strides"), "{found}");
}

fn known(map: &str, shape: &[i64], element_bytes: u32) -> Coalescing {
    let map: IndexingMap = map.parse().expect("a map");
    let launch = Launch::of_thread(Var::Dim(0));
    map.coalescing(&tensor_of(shape, element_bytes), &launch, &MemoryModel::default()).expect("a possible launch")
}

/// The work does not depend on the size of the grid: a thousand million threads, with a guard.
#[test]
fn large_grids_are_counted_in_closed_form() {
    // 2²⁰ blocks of 1024 threads over 10⁹ elements, which is 31 250 000 full subgroups.
    let found = known(
        "(th_x, bl_x) -> (bl_x * 1024 + th_x), domain: th_x in [0, 1023], bl_x in [0, 1048575], \
         bl_x * 1024 + th_x in [0, 999999999]",
        &[1_000_000_000],
        4,
    );
    let reads = found.reads.expect("known");
    let totals = reads.totals.known().expect("no runtime variables");
    assert_eq!((found.verdict, reads.best, reads.worst), (Verdict::Coalesced, 4, 4));
    assert_eq!((totals.requests, totals.transactions, totals.bytes), (31_250_000, 125_000_000, 4_000_000_000));

    // Rows of 1001 floats start anywhere in a segment: of 8 rows 7 are misaligned.
    let found = known(
        "(th_x, bl_x)[s0] -> (bl_x, s0 * 32 + th_x), domain: th_x in [0, 31], bl_x in [0, 799999], s0 in [0, 30]",
        &[800_000, 1001],
        4,
    );
    let reads = found.reads.expect("known");
    let totals = reads.totals.known().expect("no runtime variables");
    assert_eq!((reads.best, reads.worst, reads.alignment), (4, 5, 4));
    assert_eq!(totals.average().map(|r| r.to_string()).as_deref(), Some("39/8"));

    // A transpose through the position: quotient and remainder of the thread's position by 1000.
    let found = known(
        "(th_x, bl_x) -> ((bl_x * 128 + th_x) mod 1000, (bl_x * 128 + th_x) floordiv 1000), \
         domain: th_x in [0, 127], bl_x in [0, 7812], bl_x * 128 + th_x in [0, 999999]",
        &[1000, 1000],
        4,
    );
    let reads = found.reads.expect("known");
    assert_eq!((found.verdict, reads.pattern, reads.worst), (Verdict::Uncoalesced, Pattern::Scattered, 32));
    assert_eq!(reads.totals.known().map(|t| (t.requests, t.transactions)), Some((31_250, 1_000_000)));
}

#[test]
fn runtime_values_are_the_same_in_all_lanes_or_unknown() {
    // A dynamic slice: every start within a segment occurs.
    let text = known(
        "(th_x, bl_x){rt0} -> (bl_x * 64 + th_x + rt0), \
         domain: th_x in [0, 63], bl_x in [0, 9], rt0 in [0, 100]",
        &[740],
        4,
    );
    assert_eq!(
        text.to_string(),
        "coalesced, since the elements that a subgroup reads are adjacent; 4 to 5 transactions per request, \
         total unknown, since it depends on runtime values; \
         4 bytes per lane (vectors of 1, since there is no vector variable); \
         starts are multiples of 4 bytes; strides th_x: 1, bl_x: 64, rt0: 1"
    );
    // A gather of rows of 128: all lanes of a subgroup read one row.
    let rows = "(th_x, bl_x){rt0} -> (rt0, th_x mod 128), domain: th_x in [0, 255], bl_x in [0, 9], \
                rt0 in [0, 99]\n hlo: #1\n (th_x, bl_x){rt0} -> (bl_x * 2 + th_x floordiv 128)";
    assert_eq!(known(rows, &[100, 128], 4).verdict, Verdict::Coalesced);
    // A gather of elements: each lane has an index of its own.
    let elements = "(th_x, bl_x){rt0} -> (rt0), domain: th_x in [0, 255], bl_x in [0, 9], \
                    rt0 in [0, 99]\n hlo: #1\n (th_x, bl_x){rt0} -> (bl_x * 256 + th_x)";
    let found = known(elements, &[100], 4);
    assert_eq!(found.verdict, Verdict::Unknown(Unknown::RuntimePerLane));
    assert_eq!(found.strides[0].stride, Stride::Unknown(Unknown::RuntimeValues));
}

#[test]
fn what_cannot_be_said_has_a_reason() {
    assert_eq!(known("(d0) -> (d0), domain: d0 in [0, 7]", &[7], 4).verdict, Verdict::Unknown(Unknown::OutOfBounds));
    let negative = known("(d0) -> (d0 + 2), domain: d0 in [-2, 7]", &[10], 4);
    assert_eq!(negative.verdict, Verdict::Unknown(Unknown::NegativeThread));
    let of_block = |domain: &str| {
        let map: IndexingMap = format!("(d0) -> (d0 + 0), domain: {domain}").parse().expect("a map");
        let launch = Launch::of_block(&[(Var::Dim(0), 64)]).expect("a possible launch");
        map.coalescing(&tensor_of(&[100], 4), &launch, &MemoryModel::default()).map(|found| found.verdict)
    };
    assert_eq!(of_block("d0 in [0, 64]"), Ok(Verdict::Unknown(Unknown::BeyondBlock)));
    assert_eq!(of_block("d0 in [-3, 64], d0 * 2 in [0, 127]"), Ok(Verdict::Coalesced));
    assert_eq!(known("(d0) -> (d0), domain: d0 in [0, -1]", &[0], 4).verdict, Verdict::Nothing);
    let launch = Launch::of_thread(Var::Dim(0));
    let tensor = tensor_of(&[4], 4);
    let undefined = IndexingMap::undefined().coalescing(&tensor, &launch, &MemoryModel::default()).unwrap();
    assert_eq!(undefined.verdict, Verdict::Unknown(Unknown::Undefined));

    let many: IndexingMap =
        "(d0)[s0] -> (d0 * 1000 + s0), domain: d0 in [0, 31], s0 in [0, 999]".parse().expect("a map");
    let vectors = launch.clone().with_vector(Var::Range(0)).expect("another variable");
    let large = many.coalescing(&tensor_of(&[32000], 4), &vectors, &MemoryModel::default()).unwrap();
    assert_eq!(large.verdict, Verdict::Unknown(Unknown::LargeRequest));
    let far = known("(d0) -> (d0 * 4611686018427387904 - d0), domain: d0 in [0, 7]", &[i64::MAX], 4);
    assert_eq!(far.verdict, Verdict::Unknown(Unknown::Overflow));
}

#[test]
fn an_impossible_machine_launch_or_tensor_is_refused() {
    let refused = |found: Result<(), Error>| assert_eq!(found.expect_err("it cannot be").code(), "IDX020");
    for [subgroup, segment, alignment, vector] in
        [[0, 32, 256, 16], [32, 0, 256, 16], [32, 32, 0, 16], [32, 32, 256, 0], [32, 32, 16, 16]]
    {
        refused(MemoryModel::try_new(subgroup, segment, alignment, vector).map(|_| ()));
    }
    assert_eq!(MemoryModel::try_new(32, 32, 256, 16), Ok(MemoryModel::default()));
    let launch = Launch::of_thread(Var::Dim(0));
    refused(launch.clone().with_block(&[64, 2]).map(|_| ()));
    refused(launch.clone().with_block(&[0]).map(|_| ()));
    refused(launch.clone().with_vector(Var::Dim(0)).map(|_| ()));
    refused(Launch::of_block(&[(Var::Dim(0), 4), (Var::Dim(0), 4)]).map(|_| ()));
    refused(Tensor::try_new(&[4, -1], 4).map(|_| ()));
    refused(Tensor::try_new(&[4], 0).map(|_| ()));
    let (map, tensor, model) = (IndexingMap::identity(&[4]), tensor_of(&[2, 2], 4), MemoryModel::default());
    refused(map.coalescing(&tensor_of(&[4], 4), &Launch::of_thread(Var::Dim(1)), &model).map(|_| ()));
    assert_eq!(map.coalescing(&tensor, &launch, &model).expect_err("one result for two extents").code(), "IDX001");
    assert_eq!(FusedOperand::try_new(tensor, vec![map]).expect_err("one result for two extents").code(), "IDX001");
}
