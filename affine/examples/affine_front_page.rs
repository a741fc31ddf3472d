//! The example of the documentation's first page.

use weft_affine::{Constraint, Expr, Interval, Ranges, Simplifier, Var, affine_map, explain, range_of, simplify};

#[expect(clippy::print_stdout, reason = "an example shows what it computes")]
fn main() -> Result<(), weft_affine::Error> {
    // Where an element of a [4, 8] tensor lies in memory, and its way back. Variables are `Copy`.
    let [d0, d1] = Var::dims();
    let flat = d0 * 8 + d1;
    let ranges = Ranges::of_dims([Interval::of_extent(4), Interval::of_extent(8)]);
    assert_eq!(range_of(&flat, &ranges), Interval::new(0, 31));
    assert_eq!(simplify(&flat.modulo(8), &ranges, &[]), Expr::from(d1));

    // The same as text, in the notation of the specification; and why it is so.
    let row: Expr = "(d0 * 8 + d1) floordiv 8".parse()?;
    let (simple, derivation) = explain(&row, &ranges, &[]);
    assert_eq!(simple, Expr::from(d0));
    println!("{derivation}");

    // A fact about the domain, beyond the bounds of variables.
    let aligned = Constraint::new(d0.modulo(8), Interval::point(0));
    assert_eq!(simplify(&(d0.floor_div(8) * 8), &Ranges::default(), &[aligned]), Expr::from(d0));

    // Maps compose: flattened to 32, then seen as [8, 4].
    let flatten = affine_map!((i, j) -> (i * 8 + j));
    let rows_of_four = affine_map!((k) -> (k.floor_div(4), k.modulo(4)));
    let mut simplifier = Simplifier::new(&ranges, &[]);
    let reshape = flatten.then(&rows_of_four)?.map_results(|e| simplifier.simplify(e))?;
    println!("{reshape}");
    assert_eq!(reshape.to_string(), "(d0, d1) -> (d0 * 2 + d1 floordiv 4, d1 mod 4)");

    // Two divisions are left; which laws were tried on the first, and what they lacked.
    let why_not = simplifier.why_not(&reshape.results()[0]);
    println!("{why_not}");
    let needs = "floordiv-in-range: needs 0 <= d1 < 4, but d1 is in [0, 7]";
    assert!(why_not.to_string().contains(needs));
    Ok(())
}
