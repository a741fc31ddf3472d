//! Simplifies one expression over a domain and prints how it came about.
//!
//! `cargo run -p weft-affine --example simplify`

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use weft_affine::{Constraint, Expr, Interval, Ranges, explain, range_of};

fn main() -> Result<(), weft_affine::Error> {
    // Windows of 80 elements, one every 16, in blocks of 128; every eighth window is visited.
    let block: Expr = "(16d0 + d1) floordiv 128".parse()?;
    let ranges = Ranges::of_dims([Interval::of_extent(100), Interval::of_extent(80)]);
    let windows = Constraint::new("d0 mod 8".parse()?, Interval::point(3));
    println!("{block} over d0 in {}, d1 in {}, {windows}", ranges.dims[0], ranges.dims[1]);

    // Such a window starts 48 elements into a block, and 79 more do not reach the next: all of it lies in one block.
    let (simple, derivation) = explain(&block, &ranges, &[windows]);
    println!("becomes {simple}, of cost {} instead of {}", simple.cost(), block.cost());
    println!("and lies in {}", range_of(&simple, &ranges));

    // Each step is an equation that holds by itself, an instance of a law with its side condition.
    for step in derivation.steps() {
        println!("  {step}\n      {}", step.law);
    }
    Ok(())
}
