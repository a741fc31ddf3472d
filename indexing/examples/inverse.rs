//! The inverse of a map: the indices of the result that read an element of the operand.
//!
//! `cargo run -p weft-indexing --example inverse`

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use weft_indexing::{Answer, IndexingMap, Interval, Limits};

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limits = Limits::default();

    // A reshape from [6, 8] to [4, 12] has each element once, so each element of the operand has one index of the result.
    let reshape: IndexingMap = "(d0, d1) -> ((d0 * 12 + d1) floordiv 8, (d0 * 12 + d1) mod 8), \
        domain: d0 in [0, 3], d1 in [0, 11]"
        .parse()?;
    let back = reshape.inverse(&limits)?;
    println!("reshape:  {reshape}\ninverse:  {back}");
    let there_and_back = IndexingMap::compose_in_order([&reshape, &back])?;
    assert_eq!(there_and_back, IndexingMap::identity(&[4, 12]));

    // A strided slice leaves elements out: the domain of its inverse says which have an index.
    let slice: IndexingMap = "(d0) -> (d0 * 3 + 2), domain: d0 in [0, 9]".parse()?;
    let users = slice.inverse(&limits)?;
    println!("slice:    {slice}\ninverse:  {users}");
    assert_eq!(users.to_string(), "(d0) -> (d0 floordiv 3), domain: d0 in [2, 29], (d0 + 1) mod 3 in [0, 0]");
    assert!(users.contains(&[5], &[], &[]) && !users.contains(&[6], &[], &[]));
    let whole = [Interval::of_extent(30)];
    let Answer::No(missed) = slice.is_surjective_onto(&whole, &limits) else {
        return Err("it leaves elements out".into());
    };
    println!("not read: {missed}");

    // Windows overlap, so there is no inverse, and two points show why.
    let windows: IndexingMap = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [0, 2]".parse()?;
    let refused = windows.inverse(&limits).expect_err("windows overlap");
    println!("windows:  {windows}\nrefused:  {refused}");
    assert_eq!(refused.code(), "not-injective");
    Ok(())
}
