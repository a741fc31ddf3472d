//! A chain of reshapes and its inverse, composed as maps and simplified at each step, is the identity.
//!
//! `cargo run -p weft-affine --example reshape`

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use weft_affine::{AffineMap, Error, Expr, Interval, Ranges, Simplifier};

/// The map from the indices of shape `to` to those of shape `from`: the row-major position, taken apart again.
fn reshape(from: &[i64], to: &[i64]) -> Result<AffineMap, Error> {
    let mut position = Expr::constant(0);
    for (i, extent) in (0..).zip(to) {
        position = position * *extent + Expr::dim(i);
    }
    let mut results = Vec::new();
    for extent in from.iter().rev() {
        results.push(position.modulo(*extent));
        position = position.floor_div(*extent);
    }
    results.reverse();
    let dims = u32::try_from(to.len()).map_err(|_| Error::Overflow { what: "a number of dimensions" })?;
    AffineMap::new(dims, 0, 0, results)
}

fn main() -> Result<(), Error> {
    let shapes: [&[i64]; 4] = [&[6, 8, 10], &[48, 10], &[12, 5, 8], &[480]];
    // There and back again: each map leads from the indices of one shape to those of the one before.
    let there = shapes.windows(2).map(|pair| reshape(pair[0], pair[1]));
    let back = shapes.windows(2).rev().map(|pair| reshape(pair[1], pair[0]));
    let chain = there.chain(back).collect::<Result<Vec<AffineMap>, Error>>()?;

    // All variables are indices of the first shape; one simplifier remembers what it has seen.
    let ranges = Ranges::of_dims(shapes[0].iter().map(|extent| Interval::of_extent(*extent)));
    let mut simplifier = Simplifier::new(&ranges, &[]);
    let mut whole = AffineMap::identity(3);
    for map in chain.iter().rev() {
        whole = whole.then(map)?;
        whole = whole.map_results(|result| simplifier.simplify(result))?;
        println!("{whole}");
    }
    assert_eq!(whole, AffineMap::identity(3));
    Ok(())
}
