//! The oracle of coalescing: every request of every subgroup, element by element.

use std::collections::{BTreeMap, BTreeSet};

use weft_indexing::{
    Coalescing, DomainPoint, IndexingMap, Interval, Known, Launch, MemoryModel, Pattern, Stride, Tensor, Unknown, Var,
    Verdict,
};

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
        for (v, extent) in launch.threads().iter().zip(block) {
            position += below * value(&p, *v);
            below *= extent;
        }
        let others = all.iter().filter(|(v, _)| !launch.threads().contains(v) && launch.vector() != Some(*v));
        let others: Vec<i64> =
            others.filter(|(v, _)| !matches!(v, Var::Runtime(_))).map(|(v, _)| value(&p, *v)).collect();
        let subgroup: Vec<i64> = others.iter().copied().chain([position / i64::from(model.subgroup_size())]).collect();
        found.requests.entry((p.runtime.clone(), subgroup)).or_default().insert(address);
        let thread: Vec<i64> = others.into_iter().chain([position]).collect();
        let in_vector = launch.vector().map_or(0, |v| value(&p, v));
        found.vectors.entry((p.runtime.clone(), thread)).or_default().insert(in_vector, address);
        found.points.insert(all.iter().map(|(v, _)| value(&p, *v)).collect(), address);
    }
    Some(found)
}

fn segments(elements: &BTreeSet<i64>, bytes: i64, model: &MemoryModel) -> u64 {
    let of_element = |e: &i64| i128::from(*e) * i128::from(bytes)..(i128::from(*e) + 1) * i128::from(bytes);
    let all = elements.iter().flat_map(of_element).map(|byte| byte / i128::from(model.segment_bytes()));
    all.collect::<BTreeSet<i128>>().len() as u64
}

/// The extents of the block by the bounds of the thread variables.
pub(super) fn extents(map: &IndexingMap, launch: &Launch) -> Vec<i64> {
    let extent = |v: &Var| map.variable(*v).map_or(1, |own| own.bounds().hi.saturating_add(1).max(1));
    launch.threads().iter().map(extent).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Whether vectors of the width are adjacent, aligned and complete.
fn is_safe(found: &Simulation, bounds: Interval, width: i64, bytes: i64, model: &MemoryModel) -> bool {
    let size = width * bytes;
    let possible = (bounds.hi - bounds.lo + 1) % width == 0
        && size <= i64::from(model.vector_bytes())
        && i64::from(model.base_alignment()) % size == 0;
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

pub(super) fn judge(
    map: &IndexingMap,
    tensor: &Tensor,
    launch: &Launch,
    model: &MemoryModel,
    found: &Coalescing,
) -> Result<(), String> {
    let block = launch.block().map_or_else(|| extents(map, launch), <[i64]>::to_vec);
    expect("block", &found.block, &block)?;
    let Some(simulation) = simulate(map, tensor.shape(), launch, &block, model) else { return Ok(()) };
    let bytes = i64::from(tensor.element_bytes());
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
            (segments(elements, bytes, model), (own * bytes as u64).div_ceil(u64::from(model.segment_bytes())), own)
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
        starts.fold(u64::from(model.base_alignment()), |a, b| gcd(a, (b % u128::from(a)) as u64)),
    )?;
    let mut width = 1;
    if let Some(v) = launch.vector() {
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
