//! Every law of the simplifier, read from its text and evaluated at every point of a box.
//!
//! No law is named here: a new one is tested as soon as it is listed.

use weft_affine::law::{Condition, Statement, is_number};
use weft_affine::{Law, laws};

/// Values that letters of a law are given, in boxes that widen as far as that lasts.
const MAX_POINTS: u64 = 1_000_000;
/// The last box reaches from about minus this to this.
const MAX_MAGNITUDE: i64 = 13;
/// A law whose condition holds at fewer points has not been tested.
const MIN_POINTS: u64 = 20;
/// A letter and the values it takes.
struct Side {
    letter: char,
    low: i64,
    high: i64,
}

/// The letters of a law, each after those that settle conditions early, and the conditions that each of them settles.
struct Order<'a> {
    letters: Vec<char>,
    settled: Vec<Vec<(usize, &'a Condition)>>,
}

impl Order<'_> {
    fn of(statement: &Statement) -> Order<'_> {
        let mut order = Order { letters: Vec::new(), settled: Vec::new() };
        let mut open: Vec<(usize, &Condition)> = statement.conditions.iter().enumerate().collect();
        let mut waiting = statement.letters();
        while !waiting.is_empty() {
            // Next to the condition that lacks the fewest letters.
            let lacking = |condition: &Condition| condition.letters().intersection(&waiting).count();
            let next = open.iter().min_by_key(|(_, condition)| lacking(condition));
            let wanted = next.map_or(waiting.clone(), |(_, condition)| condition.letters());
            let letter = *wanted.intersection(&waiting).next().expect("open conditions lack letters");
            waiting.remove(&letter);
            order.letters.push(letter);
            let (settled, rest) = open.into_iter().partition(|(_, c)| c.letters().is_disjoint(&waiting));
            order.settled.push(settled);
            open = rest;
        }
        order
    }
}

/// All letters from about -width to width, fewer negative numbers, which are seldom allowed.
fn sides(order: &Order<'_>, width: i64) -> Vec<Side> {
    let side = |letter: &char| {
        let low = if is_number(*letter) { -(width * 2 / 3) } else { -width };
        Side { letter: *letter, low, high: width }
    };
    order.letters.iter().map(side).collect()
}

/// A walk through a box that leaves out where two conditions fail: there a law says nothing, and no condition is tried.
struct Walk<'a> {
    order: &'a Order<'a>,
    sides: Vec<Side>,
    point: Vec<(char, i64)>,
    /// Values that letters may still be given.
    left: u64,
}

impl Walk<'_> {
    /// Calls `visit` with every point at which one condition fails at most, and its number; false when it was cut short.
    fn run(&mut self, broken: Option<usize>, visit: &mut impl FnMut(&[(char, i64)], Option<usize>)) -> bool {
        let Some(side) = self.sides.get(self.point.len()) else {
            visit(&self.point, broken);
            return true;
        };
        for value in side.low..=side.high {
            let Some(left) = self.left.checked_sub(1) else { return false };
            self.left = left;
            let letter = self.sides[self.point.len()].letter;
            self.point.push((letter, value));
            let settled = &self.order.settled[self.point.len() - 1];
            let fails = |(_, condition): &&(usize, &Condition)| condition.evaluate(&self.point) == Some(false);
            let mut failing = settled.iter().filter(fails).map(|(i, _)| *i).chain(broken);
            let (first, second) = (failing.next(), failing.next());
            let complete = second.is_some() || self.run(first, visit);
            self.point.pop();
            if !complete {
                return false;
            }
        }
        true
    }
}

/// What a law showed in its box.
struct Findings {
    /// At how many points of the widest box all conditions held.
    tested: u64,
    /// The last of them at which the claim was false or without value.
    counterexample: Option<Vec<(char, i64)>>,
    /// For each condition, whether there is a point at which it alone fails and the claim with it.
    needed: Vec<bool>,
}

fn findings(statement: &Statement) -> Findings {
    let conditions = &statement.conditions;
    let mut found = Findings { tested: 0, counterexample: None, needed: vec![false; conditions.len()] };
    let order = Order::of(statement);
    let mut left = MAX_POINTS;
    for width in 2..=MAX_MAGNITUDE {
        let mut walk = Walk { order: &order, sides: sides(&order, width), point: Vec::new(), left };
        let mut tested = 0;
        let complete = walk.run(None, &mut |point, broken| match broken {
            // A condition that keeps others from losing their value is needed too, so those may be without one here.
            Some(i) => found.needed[i] = found.needed[i] || statement.claim.evaluate(point) != Some(true),
            None if conditions.iter().all(|condition| condition.evaluate(point) == Some(true)) => {
                tested += 1;
                if statement.claim.evaluate(point) != Some(true) {
                    found.counterexample = Some(point.to_vec());
                }
            }
            None => {}
        });
        found.tested = found.tested.max(tested);
        if !complete {
            break;
        }
        left = walk.left;
    }
    found
}

#[test]
fn every_law_holds_and_needs_its_conditions() {
    let mut wrong = Vec::new();
    for law in laws() {
        let statement = law.statement().unwrap_or_else(|e| panic!("{law}: {e} at {:?}", e.span()));
        let found = findings(&statement);
        if let Some(point) = found.counterexample {
            wrong.push(format!("{law}: false at {point:?}"));
        }
        if found.tested < MIN_POINTS {
            wrong.push(format!("{law}: the conditions hold at {} points of the box only", found.tested));
        }
        let needless = statement.conditions.iter().zip(found.needed).filter(|(_, needed)| !needed);
        wrong.extend(needless.map(|(condition, _)| format!("{law}: holds as well where only `{condition}` fails")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_words_and_unique() {
    for (i, law) in laws().iter().enumerate() {
        assert!(laws()[..i].iter().all(|other| other.name != law.name), "two laws are called {}", law.name);
        let words: Vec<&str> = law.name.split('-').collect();
        let is_word =
            |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        assert!(words.len() > 1 && words.iter().all(is_word), "{} is no name for a reader", law.name);
        assert_eq!(Law::named(law.name), Some(*law));
    }
    assert_eq!(Law::named("floordiv"), None);
}

/// False laws, needless conditions and conditions that never hold are found out.
#[test]
fn the_test_can_fail() {
    let found = |equation, condition| {
        let trial = Law { name: "trial", equation, condition };
        findings(&trial.statement().expect("it can be read"))
    };
    assert!(found("(x + y) floordiv c = x floordiv c + y floordiv c", "c > 0").counterexample.is_some());
    assert!(found("x mod c = x mod c", "").counterexample.is_some(), "a modulus of zero");
    assert_eq!(found("(c*y + z) floordiv c = y + z floordiv c", "c > 0, z >= 0").needed, [true, false]);
    assert_eq!(found("x = y", "c > 0, c < 0").tested, 0);
    let inverted = found("l <= a*x <= h <=> ceildiv(l, a) <= x <= h floordiv a", "a > 0");
    assert!(inverted.counterexample.is_none() && inverted.needed == [true]);
}
