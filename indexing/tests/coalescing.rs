//! Coalescing, judged by simulation: every request of every subgroup, element by element.
//!
//! The long run is `WEFT_CASES=100 cargo test --release -p weft-indexing coalescing:: -- --nocapture`.

use std::collections::{BTreeMap, BTreeSet};

use crate::fusion::{Read, chain, of_case, shape};
use crate::spelling::respelled;
use crate::support::count::cases;
use crate::support::generate;
use crate::support::random::Random;
use weft_indexing::{
    Coalescing, DomainPoint, Expr, FusedOperand, IndexingMap, Interval, Known, Launch, MemoryModel, Pattern, Stride,
    Tensor, Unknown, Var, Variable, Verdict, fusion_coalescing,
};

/// Kernels that run by default.
const STANDARD: u64 = 600;
/// The least share of verdicts on kernels that are known, in percent, and that of strides.
const LEAST_KNOWN: [usize; 2] = [100, 100];
/// The same for random maps, of which many have bounds near the ends of `i64` or negative threads.
const LEAST_KNOWN_RANDOM: [usize; 2] = [75, 97];

/// What a simulation knows of a map.
struct Simulation {
    /// Elements of each request, by runtime values and by all that tells requests apart.
    requests: BTreeMap<(Vec<i64>, Vec<i64>), BTreeSet<i64>>,
    /// Addresses in each lane by the value of the vector variable, by runtime values and all else.
    vectors: BTreeMap<(Vec<i64>, Vec<i64>), BTreeMap<i64, i64>>,
    points: BTreeMap<Vec<i64>, i64>,
}

fn value(p: &DomainPoint, v: Var) -> i64 {
    match v {
        Var::Dim(i) => p.dims[i as usize],
        Var::Range(i) => p.ranges[i as usize],
        Var::Runtime(i) => p.runtime[i as usize],
    }
}

fn variables(map: &IndexingMap) -> Vec<(Var, Interval)> {
    let ranges = map.variable_ranges();
    let dims = (0..).map(Var::Dim).zip(ranges.dims);
    dims.chain((0..).map(Var::Range).zip(ranges.ranges)).chain((0..).map(Var::Runtime).zip(ranges.runtime)).collect()
}

/// Reads everything; nothing where an address overflows.
fn simulate(
    map: &IndexingMap,
    shape: &[i64],
    launch: &Launch,
    block: &[i64],
    model: &MemoryModel,
) -> Option<Simulation> {
    let mut found = Simulation { requests: BTreeMap::new(), vectors: BTreeMap::new(), points: BTreeMap::new() };
    let all = variables(map);
    for p in map.points() {
        let index = map.evaluate(&p.dims, &p.ranges, &p.runtime).ok()?;
        let address = index.iter().zip(shape).try_fold(0i64, |at, (i, n)| at.checked_mul(*n)?.checked_add(*i))?;
        let (mut position, mut below) = (0, 1);
        for (v, extent) in launch.threads.iter().zip(block) {
            position += below * value(&p, *v);
            below *= extent;
        }
        let others = all.iter().filter(|(v, _)| !launch.threads.contains(v) && launch.vector != Some(*v));
        let others: Vec<i64> =
            others.filter(|(v, _)| !matches!(v, Var::Runtime(_))).map(|(v, _)| value(&p, *v)).collect();
        let subgroup: Vec<i64> = others.iter().copied().chain([position / i64::from(model.subgroup_size)]).collect();
        found.requests.entry((p.runtime.clone(), subgroup)).or_default().insert(address);
        let thread: Vec<i64> = others.into_iter().chain([position]).collect();
        let in_vector = launch.vector.map_or(0, |v| value(&p, v));
        found.vectors.entry((p.runtime.clone(), thread)).or_default().insert(in_vector, address);
        found.points.insert(all.iter().map(|(v, _)| value(&p, *v)).collect(), address);
    }
    Some(found)
}

fn segments(elements: &BTreeSet<i64>, bytes: i64, model: &MemoryModel) -> u64 {
    let of_element = |e: &i64| i128::from(*e) * i128::from(bytes)..(i128::from(*e) + 1) * i128::from(bytes);
    let all = elements.iter().flat_map(of_element).map(|byte| byte / i128::from(model.segment_bytes));
    all.collect::<BTreeSet<i128>>().len() as u64
}

/// The extents of the block by the bounds of the thread variables.
fn extents(map: &IndexingMap, launch: &Launch) -> Vec<i64> {
    let extent = |v: &Var| map.variable(*v).map_or(1, |own| own.bounds().hi.saturating_add(1).max(1));
    launch.threads.iter().map(extent).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Whether vectors of the width are adjacent, aligned and complete.
fn is_safe(found: &Simulation, bounds: Interval, width: i64, bytes: i64, model: &MemoryModel) -> bool {
    let size = width * bytes;
    let possible = (bounds.hi - bounds.lo + 1) % width == 0
        && size <= i64::from(model.vector_bytes)
        && i64::from(model.base_alignment) % size == 0;
    possible
        && found.vectors.values().all(|lane| {
            (bounds.lo..=bounds.hi).step_by(width as usize).all(|first| {
                let vector: Vec<Option<i64>> = (first..first + width).map(|v| lane.get(&v).copied()).collect();
                vector.iter().all(Option::is_none)
                    || vector[0].is_some_and(|start| {
                        start % width == 0 && (start..).zip(&vector).all(|(address, own)| *own == Some(address))
                    })
            })
        })
}

fn judge(
    map: &IndexingMap,
    tensor: &Tensor,
    launch: &Launch,
    model: &MemoryModel,
    found: &Coalescing,
) -> Result<(), String> {
    let block = launch.block.clone().unwrap_or_else(|| extents(map, launch));
    expect("block", &found.block, &block)?;
    let Some(simulation) = simulate(map, &tensor.shape, launch, &block, model) else { return Ok(()) };
    let bytes = i64::from(tensor.element_bytes);
    judge_strides(map, &simulation, found)?;
    if matches!(found.verdict, Verdict::Unknown(_)) {
        return Ok(());
    }
    let Some(reads) = &found.reads else {
        return if found.verdict == Verdict::Nothing && simulation.requests.is_empty() {
            Ok(())
        } else {
            Err("something is read".into())
        };
    };
    let needed: Vec<(u64, u64, u64)> = simulation
        .requests
        .values()
        .map(|elements| {
            let own = elements.len() as u64;
            (segments(elements, bytes, model), (own * bytes as u64).div_ceil(u64::from(model.segment_bytes)), own)
        })
        .collect();
    let best = needed.iter().map(|n| n.0).min().ok_or("nothing is read")?;
    let worst = needed.iter().map(|n| n.0).max().unwrap_or(0);
    expect("transactions", (reads.best, reads.worst), (best, worst))?;
    let coalesced = needed.iter().all(|(own, least, _)| own - least <= 1);
    let shares = needed.iter().any(|(own, _, elements)| own < elements);
    let verdict = match (coalesced, shares) {
        (true, _) => Verdict::Coalesced,
        (false, true) => Verdict::Partial,
        (false, false) => Verdict::Uncoalesced,
    };
    expect("verdict", found.verdict, verdict)?;
    let adjacent = |e: &BTreeSet<i64>| e.last().zip(e.first()).is_some_and(|(a, b)| a - b + 1 == e.len() as i64);
    let pattern = if needed.iter().all(|n| n.2 == 1) {
        Pattern::Uniform
    } else if simulation.requests.values().all(adjacent) {
        Pattern::Contiguous
    } else if coalesced {
        Pattern::Close
    } else if shares {
        Pattern::Sparse
    } else {
        Pattern::Scattered
    };
    expect("pattern", reads.pattern, pattern)?;
    let starts = simulation.requests.values().filter_map(|e| e.first()).map(|e| *e as u128 * bytes as u128);
    expect(
        "alignment",
        reads.alignment,
        starts.fold(u64::from(model.base_alignment), |a, b| gcd(a, (b % u128::from(a)) as u64)),
    )?;
    let mut width = 1;
    if let Some(v) = launch.vector {
        let values: Vec<i64> = map.points().map(|p| value(&p, v)).collect();
        let (least, greatest) = (values.iter().min().copied(), values.iter().max().copied());
        let bounds = least.zip(greatest).map_or(Interval::EMPTY, |(lo, hi)| Interval::new(lo, hi));
        while is_safe(&simulation, bounds, width * 2, bytes, model) {
            width *= 2;
        }
    }
    expect("vector", (reads.vector_width, reads.bytes_per_lane), (width as u64, (width * bytes) as u64))?;
    if let Known::Known(totals) = &reads.totals {
        let mut each: BTreeMap<&Vec<i64>, [u128; 4]> = BTreeMap::new();
        for (((runtime, _), _), (own, least, elements)) in simulation.requests.iter().zip(&needed) {
            let sums = each.entry(runtime).or_default();
            let more = [1, *own, *least, elements * bytes as u64];
            sums.iter_mut().zip(more).for_each(|(sum, n)| *sum += u128::from(n));
        }
        let claimed = [totals.requests, totals.transactions, totals.least_transactions, totals.bytes];
        for counted in each.values() {
            expect("totals", claimed, *counted)?;
        }
    }
    Ok(())
}

fn judge_strides(map: &IndexingMap, simulation: &Simulation, found: &Coalescing) -> Result<(), String> {
    if found.strides.is_empty() {
        return expect("verdict without an address", found.verdict, Verdict::Unknown(Unknown::Overflow));
    }
    for (i, (v, _)) in variables(map).into_iter().enumerate() {
        let own = &found.strides[i];
        assert_eq!(own.variable, v);
        let moved = |distance: i64| {
            simulation.points.iter().filter_map(move |(p, address)| {
                let mut other = p.clone();
                other[i] = p[i].checked_add(distance)?;
                Some(simulation.points.get(&other)? - address)
            })
        };
        let steps: BTreeSet<i64> = moved(1).collect();
        let right = match own.stride {
            Stride::Constant(step) => steps == BTreeSet::from([step]),
            Stride::Isolated => steps.is_empty(),
            Stride::Irregular => steps.len() > 1,
            Stride::Piecewise { period, advance } => steps.len() > 1 && moved(period).all(|step| step == advance),
            Stride::Unknown(_) => true,
        };
        if !right {
            return Err(format!("the stride of {v} is not {:?}: {steps:?}", own.stride));
        }
    }
    Ok(())
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, simulated: T) -> Result<(), String> {
    if found == simulated { Ok(()) } else { Err(format!("{what}: found {found:?}, simulated {simulated:?}")) }
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
        return (
            map,
            Launch { threads: vec![th_x, th_y], block: None, vector: random.chance(80).then_some(Var::Range(0)) },
        );
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
    (map, Launch { threads: vec![th_x], block: None, vector })
}

fn machine(random: &mut Random) -> MemoryModel {
    let segment_bytes = random.pick(&[8, 16, 32, 64]);
    MemoryModel {
        subgroup_size: random.pick(&[4, 8, 8, 32, 3]),
        segment_bytes,
        base_alignment: segment_bytes * random.pick(&[1, 2, 4]),
        vector_bytes: random.pick(&[4, 8, 16]),
    }
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
        let launch = Launch { block: (number % 2 == 0).then(|| extents(&threads, &launch)), ..launch };
        let Read { map, shape } = chain(&mut random, &output, 150);
        let map = threads.then(&map).expect("small numbers");
        if map.box_size() > 3000 {
            continue;
        }
        let tensor = Tensor::new(&shape, random.pick(&[4, 4, 4, 1, 2, 8, 16, 3]));
        let model = machine(&mut random);
        let found = map.coalescing(&tensor, &launch, &model).expect("a possible launch");
        outcomes.add(&found);
        judge(&map, &tensor, &launch, &model, &found).unwrap_or_else(|e| {
            panic!("case {number}: {e}\n{map:?} over {tensor:?} by {launch:?} on {model:?}: {found}")
        });
    }
    println!("kernels: {:?}", outcomes.0);
    outcomes.judge("kernels", LEAST_KNOWN);
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
        let launch = Launch { threads: vec![thread], block: None, vector };
        let (tensor, model) = (Tensor::new(&shape, random.pick(&[4, 2, 12])), machine(&mut random));
        let found = map.coalescing(&tensor, &launch, &model).expect("a possible launch");
        if case.is_enumerated() {
            outcomes.add(&found);
            judge(&map, &tensor, &launch, &model, &found).unwrap_or_else(|e| {
                panic!("case {number}: {e}\n{map:?} over {tensor:?} by {launch:?} on {model:?}: {found}")
            });
        }
    }
    println!("random maps: {:?}", outcomes.0);
    outcomes.judge("random maps", LEAST_KNOWN_RANDOM);
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
    let block = extents(map, launch).iter().map(|n| n.saturating_add(random.between(0, 2))).collect();
    let launch = Launch { block: Some(block), ..launch.clone() };
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
            let tensor = Tensor::new(&shape, random.pick(&[4, 4, 2, 8, 3]));
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
        let launch = Launch { threads: named, block: None, vector };
        judge_spellings(number, &map, &Tensor::new(&shape, 4), &launch, &machine(&mut random), &mut counts);
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
    let launch = Launch { threads: vec![Var::Dim(0), Var::Dim(1)], block: None, vector: None };
    let operand = FusedOperand { tensor: Tensor::new(&[4, 16], 4), uses: vec![part] };
    let fusion = fusion_coalescing(&threads, &[operand], &launch, &MemoryModel::default()).expect("a possible launch");
    let found = &fusion.operands[0].uses[0];
    let totals = found.reads.as_ref().and_then(|reads| reads.totals.known()).expect("known");
    assert_eq!((&found.block[..], totals.requests, totals.transactions), (&[64, 4][..], 4, 8));
    assert!(found.to_string().contains("; blocks of 64 x 4 threads; strides"), "{found}");
}

fn known(map: &str, shape: &[i64], element_bytes: u32) -> Coalescing {
    let map: IndexingMap = map.parse().expect("a map");
    let launch = Launch::of_thread(Var::Dim(0));
    map.coalescing(&Tensor::new(shape, element_bytes), &launch, &MemoryModel::default()).expect("a possible launch")
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
    let block = |extents: &[i64]| Launch { block: Some(extents.to_vec()), ..Launch::of_thread(Var::Dim(0)) };
    let of_block = |extents: &[i64], domain: &str| {
        let map: IndexingMap = format!("(d0) -> (d0 + 0), domain: {domain}").parse().expect("a map");
        map.coalescing(&Tensor::new(&[100], 4), &block(extents), &MemoryModel::default()).map(|found| found.verdict)
    };
    assert_eq!(of_block(&[64], "d0 in [0, 64]"), Ok(Verdict::Unknown(Unknown::BeyondBlock)));
    assert_eq!(of_block(&[64], "d0 in [-3, 64], d0 * 2 in [0, 127]"), Ok(Verdict::Coalesced));
    assert_eq!(of_block(&[64, 2], "d0 in [0, 3]").map_err(|e| e.code()), Err("IDX020"));
    assert_eq!(of_block(&[0], "d0 in [0, 3]").map_err(|e| e.code()), Err("IDX020"));
    assert_eq!(known("(d0) -> (d0), domain: d0 in [0, -1]", &[0], 4).verdict, Verdict::Nothing);
    let launch = Launch::of_thread(Var::Dim(0));
    let tensor = Tensor::new(&[4], 4);
    let undefined = IndexingMap::undefined().coalescing(&tensor, &launch, &MemoryModel::default()).unwrap();
    assert_eq!(undefined.verdict, Verdict::Unknown(Unknown::Undefined));

    let many: IndexingMap =
        "(d0)[s0] -> (d0 * 1000 + s0), domain: d0 in [0, 31], s0 in [0, 999]".parse().expect("a map");
    let vectors = launch.clone().with_vector(Var::Range(0));
    let large = many.coalescing(&Tensor::new(&[32000], 4), &vectors, &MemoryModel::default()).unwrap();
    assert_eq!(large.verdict, Verdict::Unknown(Unknown::LargeRequest));
    let far = known("(d0) -> (d0 * 4611686018427387904 - d0), domain: d0 in [0, 7]", &[i64::MAX], 4);
    assert_eq!(far.verdict, Verdict::Unknown(Unknown::Overflow));

    let map = IndexingMap::identity(&[4]);
    let refused = |launch: &Launch, model: &MemoryModel| map.coalescing(&tensor, launch, model).unwrap_err().code();
    let model = MemoryModel::default();
    assert_eq!(refused(&Launch::of_thread(Var::Dim(1)), &model), "IDX020");
    assert_eq!(refused(&launch.clone().with_vector(Var::Dim(0)), &model), "IDX020");
    assert_eq!(refused(&launch, &MemoryModel { segment_bytes: 0, ..model }), "IDX020");
    assert_eq!(refused(&launch, &MemoryModel { base_alignment: 16, ..model }), "IDX020");
    assert!(map.coalescing(&Tensor::new(&[2, 2], 4), &launch, &model).is_err());
}
