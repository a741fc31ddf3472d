//! Operand utilization, judged by reading: every point of every domain, for every value of the runtime variables.
//!
//! The long run is `WEFT_CASES=100 cargo test --release -p weft-indexing utilization:: -- --nocapture`.

use std::collections::BTreeMap;

use crate::fusion::{Read, chain, of_case, shape};
use crate::parts::changed;
use crate::support::count::cases;
use crate::support::generate;
use crate::support::random::Random;
use weft_indexing::{
    Basis, CountRange, IndexingMap, Interval, OutOfBounds, Owner, RuntimeVariable, Utilization, operand_utilization,
};

/// Fusions that run by default; the other tests run a part of it.
const STANDARD: u64 = 800;
/// The least share of exact answers on fusions, in percent, and of those in closed form.
const MIN_EXACT: [usize; 2] = [100, 99];
/// The same for random maps.
const MIN_EXACT_RANDOM: [usize; 2] = [98, 90];

/// How often each basis occurred, by its text.
#[derive(Default)]
struct Outcomes(BTreeMap<String, usize>);

impl Outcomes {
    fn add(&mut self, found: &Utilization) {
        *self.0.entry(found.basis.to_string()).or_insert(0) += 1;
    }

    fn percent(&self, test: impl Fn(&str) -> bool) -> usize {
        let of = |all: bool| self.0.iter().filter(|(text, _)| all || test(text)).map(|(_, n)| n).sum::<usize>();
        of(false) * 100 / of(true).max(1)
    }

    fn judge(&self, what: &str, [exact, closed]: [usize; 2]) {
        assert!(self.percent(|text| text.starts_with("exact")) >= exact, "{what}: {:?}", self.0);
        assert!(self.percent(|text| text == Basis::ClosedForm.to_string()) >= closed, "{what}: {:?}", self.0);
    }
}

/// Used, reads, fewest, most.
type Counted = [u128; 4];

/// Reads all, with the given value for each runtime variable of each map; nothing where a value overflows.
fn read(maps: &[&IndexingMap], elements: u128, value: &dyn Fn(usize, usize) -> i64) -> Option<Counted> {
    let mut reads: BTreeMap<Vec<i64>, u128> = BTreeMap::new();
    for (m, map) in maps.iter().enumerate() {
        // Maps that share a variable may drop different values of it.
        if map.runtime().iter().enumerate().any(|(i, v)| !v.bounds().contains(value(m, i))) {
            continue;
        }
        let fixed = changed(map, |parts| {
            for (i, variable) in parts.runtime.iter_mut().enumerate() {
                *variable = variable.clone().with_bounds(Interval::point(value(m, i)));
            }
        });
        for p in fixed.points() {
            *reads.entry(fixed.evaluate(&p.dims, &p.ranges, &p.runtime).ok()?).or_insert(0) += 1;
        }
    }
    let used = reads.len() as u128;
    let fewest = if used < elements { 0 } else { reads.values().copied().min().unwrap_or(0) };
    Some([used, reads.values().sum(), fewest, reads.values().copied().max().unwrap_or(0)])
}

/// Compares an answer with what reading finds for all runtime values.
fn judge(maps: &[&IndexingMap], shape: &[i64], found: &Utilization) -> Result<(), String> {
    let elements: u128 = shape.iter().map(|n| (*n).max(0) as u128).product();
    assert_eq!(found.elements, elements);
    // Runtime variables of one owner and policy are one, those that clamp if their bounds are too; these have no access.
    let mut known: Vec<(Option<Owner>, Interval, OutOfBounds)> = Vec::new();
    let mut numbers: Vec<Vec<usize>> = Vec::new();
    for map in maps {
        let mut number = |v: &RuntimeVariable| {
            let key = (v.owner(), v.bounds(), v.out_of_bounds());
            let is_same = |k: &(Option<Owner>, Interval, OutOfBounds)| {
                let bounds_tell = v.out_of_bounds() == OutOfBounds::Clamp;
                v.owner().is_some() && (k.0, k.2) == (key.0, key.2) && (!bounds_tell || k.1 == key.1)
            };
            let at = known.iter().position(is_same).unwrap_or(known.len());
            match known.get_mut(at) {
                Some(k) => k.1 = k.1.hull(v.bounds()),
                None => known.push(key),
            }
            at
        };
        numbers.push(map.runtime().iter().map(&mut number).collect());
    }
    let mut assignments: Vec<Vec<i64>> = vec![Vec::new()];
    if maps.iter().all(|map| map.is_known_empty()) {
        // Nothing to read for any of what may be very many values.
        known.clear();
        numbers.iter_mut().for_each(Vec::clear);
    }
    for (_, bounds, _) in &known {
        let with = |list: &Vec<i64>, v: i64| list.iter().copied().chain([v]).collect::<Vec<i64>>();
        assignments = assignments.iter().flat_map(|a| (bounds.lo..=bounds.hi).map(move |v| with(a, v))).collect();
    }
    let mut all: Vec<Counted> = Vec::new();
    for values in &assignments {
        match read(maps, elements, &|m, i| numbers[m].get(i).map_or(0, |at| values[*at])) {
            Some(counted) => all.push(counted),
            None => return Ok(()),
        }
    }
    let ranges = [found.used, found.reads, found.fewest_reads, found.most_reads];
    for (k, range) in ranges.iter().enumerate() {
        let (least, greatest) =
            (all.iter().map(|c| c[k]).min().unwrap_or(0), all.iter().map(|c| c[k]).max().unwrap_or(0));
        let right = if found.basis.is_exact() {
            (range.least(), range.greatest()) == (least, greatest)
        } else {
            range.least() <= least && greatest <= range.greatest()
        };
        if !right {
            return Err(format!("count {k} is {least} to {greatest}, found {found:?} for {maps:?} over {shape:?}"));
        }
    }
    Ok(())
}

#[test]
fn fusions_read_what_is_counted() {
    let count = cases(STANDARD);
    let mut outcomes = Outcomes::default();
    let mut several = 0;
    for number in 0..count {
        let mut random = Random::new(number);
        let output = shape(&mut random, 200);
        let wanted = random.pick(&[1, 2, 2, 3]);
        let mut reads: Vec<Read> = Vec::new();
        for _ in 0..wanted * 3 {
            let next = chain(&mut random, &output, 200);
            if reads.len() < wanted && reads.first().is_none_or(|r| r.shape.len() == next.shape.len()) {
                reads.push(next);
            }
        }
        let rank = reads[0].shape.len();
        // An operand that all of them fit in.
        let shape: Vec<i64> = (0..rank).map(|k| reads.iter().map(|r| r.shape[k]).max().unwrap_or(1)).collect();
        let maps: Vec<IndexingMap> = reads.iter().map(|r| r.map.clone()).collect();
        several += usize::from(maps.len() > 1);
        let found = operand_utilization(&maps, &shape).expect("ranks agree");
        for (map, one) in maps.iter().zip(&found.uses) {
            judge(&[map], &shape, one).unwrap_or_else(|e| panic!("case {number}: {e}"));
        }
        outcomes.add(&found.union);
        let all: Vec<&IndexingMap> = maps.iter().collect();
        judge(&all, &shape, &found.union).unwrap_or_else(|e| panic!("case {number}, union: {e}"));
    }
    println!("{several} of {count} fusions read through several maps");
    println!("fusions: {:?}", outcomes.0);
    outcomes.judge("fusions", MIN_EXACT);
}

#[test]
fn random_maps_read_what_is_counted() {
    let count = cases(STANDARD);
    let mut outcomes = Outcomes::default();
    let (mut judged, mut sampled) = (0, 0);
    for number in 0..count {
        let case = generate::case(number, number % 3 > 0);
        let mut random = Random::new(number);
        let Some(Read { map, shape }) = of_case(&case, &mut random) else { continue };
        let Ok(found) = map.utilization(&shape) else { continue };
        if case.is_enumerated() {
            judged += 1;
            outcomes.add(&found);
            judge(&[&map], &shape, &found).unwrap_or_else(|e| panic!("case {number}: {e}"));
        } else {
            // Only some points are known: what they read is used.
            sampled += 1;
            let mut used: Vec<Vec<i64>> = Vec::new();
            for p in case.points().iter().filter(|p| case.holds(&case.constraints, p) == Some(true)) {
                used.extend(map.results().iter().map(|e| case.value(e, p)).collect::<Option<Vec<i64>>>());
            }
            used.sort();
            used.dedup();
            let open = map.runtime().iter().any(|v| v.bounds().size() > 1);
            assert!(open || found.used.greatest() >= used.len() as u128, "case {number}: {found} for {map:?}");
        }
    }
    println!("{judged} random maps enumerated, {sampled} sampled");
    println!("random maps: {:?}", outcomes.0);
    outcomes.judge("random maps", MIN_EXACT_RANDOM);
}

/// Two maps that runtime variables of more values than are gone through move independently: bounds hold for all of them.
#[test]
fn bounds_hold_for_all_runtime_values() {
    let mut outcomes = Outcomes::default();
    for number in 0..cases(STANDARD) / 20 {
        let mut random = Random::new(number);
        let mut maps = Vec::new();
        for _ in 0..2 {
            let (n, most) = (random.between(1, 6), random.between(17, 24));
            let (a, c) = (random.pick(&[1, 1, 2]), random.pick(&[1, 1, 2, 3]));
            let guard = if random.chance(30) { ", d0 * 5 - rt0 in [-100, 9]" } else { "" };
            let text = format!(
                "(d0, d1){{rt0}} -> (d0 * {a} + rt0 floordiv {c}, d1), \
                 domain: d0 in [0, {}], d1 in [0, 2], rt0 in [0, {most}]{guard}",
                n - 1
            );
            maps.push(text.parse::<IndexingMap>().expect("a map"));
        }
        let shape = [40, random.between(3, 4)];
        let found = operand_utilization(&maps, &shape).expect("ranks agree").union;
        outcomes.add(&found);
        judge(&[&maps[0], &maps[1]], &shape, &found).unwrap_or_else(|e| panic!("case {number}: {e}"));
    }
    println!("independent runtime variables: {:?}", outcomes.0);
    assert_eq!(outcomes.percent(|text| text == "bounds, since it depends on runtime values"), 100);
}

/// What a gather reads depends on its indices: bounds hold whatever they are.
#[test]
fn bounds_hold_for_all_indices_of_a_gather() {
    for number in 0..cases(STANDARD) / 10 {
        let mut random = Random::new(number);
        let (rows, n, width) = (random.between(1, 9), random.between(1, 7), random.between(1, 4));
        let constraint = if random.chance(30) { ", d0 + rt0 in [0, 8]" } else { "" };
        let text = format!(
            "(d0, d1){{rt0}} -> (rt0, d1), domain: d0 in [0, {}], d1 in [0, {}], \
             rt0 in [0, {}]\n hlo: #1\n (d0, d1){{rt0}} -> (d0){constraint}",
            n - 1,
            width - 1,
            rows - 1
        );
        let map: IndexingMap = text.parse().expect("a map");
        let shape = [rows, width + random.between(0, 1)];
        let found = map.utilization(&shape).expect("ranks agree");
        for _ in 0..20 {
            let index: Vec<i64> = (0..n).map(|_| random.between(0, rows - 1)).collect();
            let mut reads: BTreeMap<Vec<i64>, u128> = BTreeMap::new();
            for p in map.points().filter(|p| p.runtime[0] == index[p.dims[0] as usize]) {
                *reads.entry(vec![p.runtime[0], p.dims[1]]).or_insert(0) += 1;
            }
            let used = reads.len() as u128;
            let fewest = if used < found.elements { 0 } else { reads.values().copied().min().unwrap_or(0) };
            let most = reads.values().copied().max().unwrap_or(0);
            let within = found.used.contains(used)
                && found.reads.contains(reads.values().sum())
                && found.fewest_reads.contains(fewest)
                && found.most_reads.contains(most);
            assert!(within, "case {number}: {reads:?} is not {found} for {map:?}");
        }
    }
}

/// An element that is read at an element of an index varies with the index as well.
#[test]
fn an_index_of_an_index_has_many_values() {
    let text = "(d0)[s0]{rt0, rt1} -> (-s0 * 2 + rt1 + 6), domain: d0 in [0, 3], s0 in [0, 3], \
        rt0 in [0, 4]\n hlo: #1\n (d0)[s0] -> (d0 * 4 + s0), rt1 in [0, 4]\n hlo: #1\n (d0){rt0} -> (rt0)";
    let map: IndexingMap = text.parse().expect("a map");
    let found = map.utilization(&[11]).expect("of one rank");
    assert_eq!(found.basis, Basis::Bounds(weft_indexing::Unknown::RuntimeValues));
    assert!(found.used.contains(9), "{found}");
}

/// The closed form knows no bound on the number of elements: what was counted for small extents holds for large ones.
#[test]
fn large_operands_are_counted_in_closed_form() {
    let check = |map: &str, shape: &[i64], expected: &str| {
        let map: IndexingMap = map.parse().expect("a map");
        let found = map.utilization(shape).expect("ranks agree");
        assert_eq!(found.to_string(), expected, "{map}");
    };
    check(
        "(d0) -> (d0 floordiv 1000, d0 mod 1000), domain: d0 in [0, 999999]",
        &[1000, 1000],
        "used 1000000 of 1000000 (1); 1000000 reads, 1 each; exact, in closed form",
    );
    check(
        "(d0, d1) -> (d0 * 2, d1 * 3 + 1), domain: d0 in [0, 499999], d1 in [0, 99999]",
        &[1000000, 300000],
        "used 50000000000 of 300000000000 (1/6); 50000000000 reads, 0 to 1 each; exact, in closed form",
    );
    check(
        "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 999999], s0 in [0, 2]",
        &[1000002],
        "used 1000002 of 1000002 (1); 3000000 reads, 1 to 3 each; exact, in closed form",
    );
    check(
        "(d0, d1) -> (d0 * 1000 + d1), domain: d0 in [0, 4095], d1 in [0, 499]",
        &[4096000],
        "used 2048000 of 4096000 (1/2); 2048000 reads, 0 to 1 each; exact, in closed form",
    );
    check(
        "(d0) -> (d0, d0), domain: d0 in [0, 99999]",
        &[100000, 100000],
        "used 100000 of 10000000000 (1/100000); 100000 reads, 0 to 1 each; exact, in closed form",
    );
    check(
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 99999], rt0 in [0, 900000]",
        &[1000000],
        "used 100000 of 1000000 (1/10); 100000 reads, 0 to 1 each; exact, in closed form",
    );
    let max = i64::MAX - 1;
    check(
        &format!("(d0, d1) -> (d0), domain: d0 in [0, {max}], d1 in [0, 1]"),
        &[i64::MAX],
        "used 9223372036854775807 of 9223372036854775807 (1); 18446744073709551614 reads, 2 each; exact, in closed form",
    );
}

#[test]
fn what_is_not_counted_is_bounded_with_a_reason() {
    let found = |map: &str, shape: &[i64]| {
        let map: IndexingMap = map.parse().expect("a map");
        map.utilization(shape).expect("ranks agree").to_string()
    };
    assert_eq!(
        found("UNDEFINED", &[3]),
        format!(
            "used 0 to 3 of 3 (0 to 1); 0 to {0} reads, 0 to {0} each; bounds, since the map is undefined",
            u128::MAX
        )
    );
    assert_eq!(
        found("(d0) -> (d0), domain: d0 in [0, 5]", &[5]),
        "used 0 to 5 of 5 (0 to 1); 6 reads, 0 to 6 each; bounds, since the map may lead out of the shape"
    );
    // Two dynamic slices of one operand, of 4 and of 6 elements, may overlap or not.
    let slices = [
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 96]",
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 5], rt0 in [0, 94]",
    ];
    let slices = slices.map(|text| text.parse::<IndexingMap>().expect("a map"));
    assert_eq!(
        operand_utilization(&slices, &[100]).expect("ranks agree").union.to_string(),
        "used 6 to 10 of 100 (3/50 to 1/10); 10 reads, 0 to 2 each; bounds, since it depends on runtime values"
    );
    // A gather: each of 8 indices is one of 100 rows.
    assert_eq!(
        found(
            "(d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 7], d1 in [0, 3], rt0 in [0, 99] \
              \n hlo: #1\n (d0, d1){rt0} -> (d0)",
            &[100, 4]
        ),
        "used 4 to 32 of 400 (1/100 to 2/25); 32 reads, 0 to 32 each; bounds, since it depends on runtime values"
    );
}

/// A point at which a constraint overflows is not in the domain, although the constraint would hold of integers.
#[test]
fn points_that_overflow_are_not_read() {
    let (lo, hi) = (i64::MIN + 2, i64::MIN + 8);
    let text = format!(
        "(){{rt0}} -> (((-rt0) floordiv 2) * 2 + rt0 mod 2 - {}), domain: rt0 in [{lo}, {hi}], \
         (rt0 + rt0 mod 2 - 5) mod 5 in [-4, 8]",
        i64::MAX - 7
    );
    let map: IndexingMap = text.parse().expect("a map");
    let found = map.utilization(&[8]).expect("ranks agree");
    assert_eq!((found.used, found.basis), (CountRange::try_new(0, 1).expect("in order"), Basis::Enumeration));
    judge(&[&map], &[8], &found).expect("as read");
}

#[test]
fn nothing_is_read_of_nothing() {
    let empty = IndexingMap::identity(&[0, 4]);
    let found = empty.utilization(&[0, 4]).expect("ranks agree");
    assert_eq!(
        (found.fraction(), found.to_string().as_str()),
        (None, "used 0 of 0; 0 reads, 0 each; exact, in closed form")
    );
    assert!(IndexingMap::identity(&[4]).utilization(&[2, 2]).is_err());
    let scalar: IndexingMap = "(d0) -> (), domain: d0 in [0, 6]".parse().expect("a map");
    assert_eq!(
        scalar.utilization(&[]).expect("ranks agree").to_string(),
        "used 1 of 1 (1); 7 reads, 7 each; exact, in closed form"
    );
}
