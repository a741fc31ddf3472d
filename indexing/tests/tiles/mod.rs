//! Tiles are what the map gives, judged by enumeration: for random maps and sizes, at every position and for every value of
//! the runtime variables, the set of indices is that of the box.
//!
//! Where a size is turned down, or a map refused, enumeration says whether there was a box after all; how often is printed and
//! bounded. The long run is
//! `WEFT_CASES=100 cargo test --release -p weft-indexing tiles:: -- --nocapture`.

use crate::support::count::cases;

mod examples;
pub(crate) mod judge;
mod layers;

use crate::support::generate;
use crate::support::random::Random;
use judge::Counts;
use weft_indexing::Interval;

/// Maps of each kind that run by default.
const STANDARD: u64 = 100;

/// Judges a series of random maps.
fn series(one: impl Fn(u64, &mut Random, &mut Counts)) -> Counts {
    let mut counts = Counts::default();
    for number in 0..cases(STANDARD) {
        one(number, &mut Random::new(number), &mut counts);
    }
    counts
}

/// Fails where more than so many of a thousand sizes with a box everywhere were turned down, or maps refused that have a box at
/// some size.
fn few_turned_down(counts: &Counts, needless: usize, refused: usize) {
    assert!(counts.needless_per_mille() <= needless, "{counts}");
    assert!(counts.refused_per_mille() <= refused, "{counts}");
    assert!(counts.exact > counts.sizes / 2, "{counts}");
}

fn grid(shape: &[i64]) -> Vec<Interval> {
    shape.iter().map(|n| Interval::of_extent(*n)).collect()
}

#[test]
fn maps_of_operations() {
    let counts = series(|_, random, counts| {
        let (map, root, _) = layers::layers(random);
        judge::judge(random, &map, &grid(&root), counts);
    });
    println!("maps of operations\n{counts}");
    few_turned_down(&counts, 15, 5);
}

#[test]
fn maps_of_operations_read_backwards() {
    let counts = series(|_, random, counts| {
        let (map, _, operand) = layers::layers(random);
        judge::judge_back(random, &map, &grid(&operand), counts);
    });
    println!("maps of operations read backwards\n{counts}");
    few_turned_down(&counts, 60, 70);
}

#[test]
fn sums_and_digits() {
    let counts = series(|_, random, counts| {
        let (map, root) = layers::any(random);
        judge::judge(random, &map, &grid(&root), counts);
    });
    println!("sums and digits\n{counts}");
    few_turned_down(&counts, 50, 15);
}

#[test]
fn domains_of_every_kind() {
    let counts = series(|number, random, counts| {
        let (map, grid) = layers::of_case(&generate::case(number, number % 2 == 0));
        judge::judge(random, &map, &grid, counts);
    });
    println!("domains of every kind\n{counts}");
    few_turned_down(&counts, 150, 20);
}
