//! Simplification near the ends of `i64`, where a sum may leave it in one form and not in another: no point and no
//! value is lost.

#![allow(clippy::print_stdout, reason = "the counts of the cases are for whoever runs them")]

use crate::support::count::cases;
use crate::support::random::Random;
use crate::worlds::map;
use weft_indexing::{DomainPoint, IndexingMap, Interval};

/// Cases that run by default.
const STANDARD: u64 = 400;

/// A random map with some bounds near the ends.
fn far_map(random: &mut Random) -> IndexingMap {
    let is_far = |b: Interval| b.lo.unsigned_abs() > 1 << 62;
    loop {
        let (dims, results) = (random.pick(&[1, 2, 3]), random.pick(&[1, 2]));
        let made = map(random, dims, results);
        if made.dims().iter().chain(made.ranges()).any(|v| is_far(v.bounds())) {
            return made;
        }
    }
}

/// All points of the box of the variables.
fn box_of(map: &IndexingMap) -> Vec<DomainPoint> {
    let bounds =
        IndexingMap::try_new(map.dims().to_vec(), map.ranges().to_vec(), map.runtime().to_vec(), vec![], vec![])
            .expect("the parts fit together");
    bounds.points().collect()
}

#[test]
fn no_point_and_no_value_is_lost() {
    let cases = cases(STANDARD);
    let (mut points, mut overflows, mut values) = (0, 0, 0);
    for case in 0..cases {
        let mut random = Random::new(0x51 ^ case.wrapping_mul(0xd129_0d3c_5bff_9a21));
        let given = far_map(&mut random);
        let mut simple = given.clone();
        simple.simplify();
        for point in box_of(&given) {
            let DomainPoint { dims, ranges, runtime } = &point;
            let is_inside = |map: &IndexingMap| map.contains(dims, ranges, runtime);
            let at = weft_affine::Point { dims, ranges, runtime };
            let overflow = given.constraints().iter().any(|c| c.expr.evaluate_at(&at).is_err());
            overflows += usize::from(overflow);
            if is_inside(&given) {
                points += 1;
                assert!(is_inside(&simple), "{point} is lost:\n{given}\nbecame\n{simple}");
            } else {
                assert!(overflow || !is_inside(&simple), "{point} is new:\n{given}\nbecame\n{simple}");
            }
            if let (true, Ok(value)) = (is_inside(&given), given.evaluate(dims, ranges, runtime)) {
                values += 1;
                assert_eq!(Ok(value), simple.evaluate(dims, ranges, runtime), "{point}:\n{given}\nbecame\n{simple}");
            }
        }
    }
    println!("{cases} maps: {points} points, {overflows} where a constraint overflows; {values} values");
}
