//! Proof that two spellings of a map are one function, and a counterexample for a third.
//!
//! `cargo run -p weft-indexing --example equality`

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use weft_indexing::{Answer, IndexingMap, Limits, Unknown};

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limits = Limits::default();

    // The sum over windows of 8 × 8, by two range variables and by one. Neither text is simpler than the other.
    let two: IndexingMap =
        "(d0)[s0, s1] -> (d0 * 64 + s0 * 8 + s1), domain: d0 in [0, 99], s0 in [0, 7], s1 in [0, 7]".parse()?;
    let one: IndexingMap = "(d0)[s0] -> (d0 * 64 + s0), domain: d0 in [0, 99], s0 in [0, 63]".parse()?;
    println!("{two}\n{one}\n  equal: {}", two.equals(&one, &limits));
    assert_eq!(two.equals(&one, &limits), Answer::Yes);

    // One element less, and an index that shows it.
    let less: IndexingMap = "(d0)[s0] -> (d0 * 64 + s0), domain: d0 in [0, 99], s0 in [0, 62]".parse()?;
    println!("{less}\n  equal: {}", two.equals(&less, &limits));
    assert!(two.equals(&less, &limits).is_no());
    assert_eq!(less.is_subset_of(&two, &limits), Answer::Yes);

    // A bound on the work may leave a question open; the answer says which.
    let few = limits.with_points(100);
    println!("within 100 points: {}", two.equals(&one, &few));
    assert!(matches!(two.equals(&one, &few).unknown(), Some(Unknown::TooManyPoints { limit: 100, .. })));

    // Why a form is what it is: each step is an instance of a law, and a checker that knows only the laws replays it.
    let mut row: IndexingMap = "(d0, d1) -> ((d0 * 8 + d1) floordiv 8), domain: d0 in [0, 3], d1 in [0, 7]".parse()?;
    let why = row.explain();
    assert_eq!(row.results()[0].to_string(), "d0");
    for proof in &why.results[0] {
        proof.check()?;
        println!("{proof}");
    }
    Ok(())
}
