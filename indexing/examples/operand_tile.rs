//! The tile of an operand that a tile of the result needs, and the sizes at which it is a box.
//!
//! `cargo run -p weft-indexing --example operand_tile`

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use weft_indexing::{IndexingMap, SymbolicTile};

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A matrix product of [64, 256] by [256, 32]: an element of the result needs a row of the one and a column of the other.
    let left: IndexingMap = "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 63], d1 in [0, 31], s0 in [0, 255]".parse()?;
    let tile = SymbolicTile::of(&left)?;
    println!("left operand:\n{tile}");
    let boxes = tile.evaluate(&[16, 8])?;
    let axes = boxes.at(&[2, 3], &[])?.ok_or("something is read there")?;
    assert_eq!((axes[0].offset, axes[0].size), (32, 16), "rows 32 to 47");
    assert_eq!((axes[1].offset, axes[1].size), (0, 256), "whole rows");

    // The operand was reshaped from a vector before. Whole rows are one piece of it, whatever the tile.
    let flat: IndexingMap = "(d0, d1) -> (d0 * 256 + d1), domain: d0 in [0, 63], d1 in [0, 255]".parse()?;
    let of_vector = tile.through(&flat)?;
    let boxes = of_vector.evaluate(&[16, 8])?;
    let axes = boxes.at(&[2, 3], &[])?.ok_or("something is read there")?;
    println!("of the vector: {} elements from {}", axes[0].size, axes[0].offset);
    assert_eq!((axes[0].offset, axes[0].size), (32 * 256, 16 * 256));

    // A vector seen as rows of 8: a tile of it is a box of the rows at some sizes only.
    let rows: IndexingMap = "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]".parse()?;
    let tile = SymbolicTile::of(&rows)?;
    println!("rows of 8: {}", tile.size_constraints());
    assert_eq!(tile.size_constraints().to_string(), "t0 mod 8 in [0, 0] or 8 mod t0 in [0, 0]");
    let misfit = tile.evaluate(&[12]).expect_err("one row and a half is no box");
    println!("tiles of 12: {misfit}");
    Ok(())
}
