//! Memory transactions of a kernel that transposes: straight, and by way of a tile.
//!
//! `cargo run -p weft-indexing --example coalescing`

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use weft_indexing::{IndexingMap, Launch, MemoryModel, Tensor, Var, Verdict};

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (matrix, device) = (Tensor::try_new(&[1024, 1024], 4)?, MemoryModel::default());

    // From an index of the transposed matrix to the element that is read.
    let transpose: IndexingMap = "(d0, d1) -> (d1, d0), domain: d0 in [0, 1023], d1 in [0, 1023]".parse()?;

    // One thread for each element of the result, neighbors along its rows: each of them reads another row of the operand.
    let by_element: IndexingMap = "(th_x, bl_x, bl_y) -> (bl_y, bl_x * 256 + th_x), \
        domain: th_x in [0, 255], bl_x in [0, 3], bl_y in [0, 1023]"
        .parse()?;
    let straight = IndexingMap::compose_in_order([&by_element, &transpose])?;
    let reads = straight.coalescing(&matrix, &Launch::of_thread(Var::Dim(0)), &device)?;
    println!("by element: {straight}\n  {reads}");
    assert_eq!(reads.verdict, Verdict::Uncoalesced);

    // A block of 32 × 8 threads loads a tile of 32 × 32 elements, row by row of the operand, and turns it in shared memory.
    let by_tile: IndexingMap =
        "(th_x, th_y, bl_x, bl_y)[s0] -> (bl_x * 32 + s0 * 8 + th_y, bl_y * 32 + th_x), domain: \
        th_x in [0, 31], th_y in [0, 7], bl_x in [0, 31], bl_y in [0, 31], s0 in [0, 3]"
            .parse()?;
    let block = Launch::of_block(&[(Var::Dim(0), 32), (Var::Dim(1), 8)])?;
    let reads = by_tile.coalescing(&matrix, &block, &device)?;
    println!("by tile: {by_tile}\n  {reads}");
    assert_eq!(reads.verdict, Verdict::Coalesced);

    // Both read each element once.
    for map in [&straight, &by_tile] {
        let used = map.utilization(&[1024, 1024])?;
        assert_eq!(used.to_string(), "used 1048576 of 1048576 (1); 1048576 reads, 1 each; exact, in closed form");
    }
    Ok(())
}
