//! The example of the front page of the crate.

use weft_affine::{Constraint, Expr, Interval, Ranges, Var, affine_map, explain, range_of, simplify};

fn main() -> Result<(), weft_affine::Error> {
    // Where an element of a [4, 8] tensor lies in memory, and its way back. Variables are `Copy`.
    let [d0, d1] = Var::dims();
    let flat = d0 * 8 + d1;
    let ranges = Ranges::of_dims([Interval::of_extent(4), Interval::of_extent(8)]);
    assert_eq!(range_of(&flat, &ranges), Interval::new(0, 31));
    assert_eq!(simplify(&flat.floor_div(8), &ranges, &[]), Expr::from(d0));
    assert_eq!(simplify(&flat.modulo(8), &ranges, &[]), Expr::from(d1));

    // The same as text, in the notation of the specification; and why it is so.
    let digits: Expr = "((d0 * 8 + d1) floordiv 4) * 4 + d1 mod 4".parse()?;
    assert_eq!(digits.to_string(), "((d0 * 8 + d1) floordiv 4) * 4 + d1 mod 4");
    let (simple, derivation) = explain(&digits, &ranges, &[]);
    assert_eq!(simple, flat);
    assert!(!derivation.steps().is_empty());

    // A fact about the domain, beyond the bounds of variables.
    let aligned = Constraint::new(d0.modulo(8), Interval::point(0));
    assert_eq!(simplify(&(d0.floor_div(8) * 8), &Ranges::default(), &[aligned]), Expr::from(d0));

    // Maps compose: flattened to 32, then seen as [8, 4].
    let flatten = affine_map!((i, j) -> (i * 8 + j));
    let rows_of_four = affine_map!((k) -> (k.floor_div(4), k.modulo(4)));
    let reshape = flatten.compose(&rows_of_four)?;
    assert_eq!(reshape.to_string(), "(d0, d1) -> ((d0 * 8 + d1) floordiv 4, (d0 * 8 + d1) mod 4)");
    let results: Vec<String> = reshape.results().iter().map(|e| simplify(e, &ranges, &[]).to_string()).collect();
    assert_eq!(results, ["d0 * 2 + d1 floordiv 4", "d1 mod 4"]);
    Ok(())
}
