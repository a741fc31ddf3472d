//! The programs of `examples/`, which assert what they print.

#[path = "../examples/coalescing.rs"]
mod coalescing;
#[path = "../examples/equality.rs"]
mod equality;
#[path = "../examples/inverse.rs"]
mod inverse;
#[path = "../examples/operand_tile.rs"]
mod operand_tile;

#[test]
fn examples_run() {
    for (name, example) in [
        ("coalescing", coalescing::main as fn() -> Result<(), Box<dyn std::error::Error>>),
        ("equality", equality::main),
        ("inverse", inverse::main),
        ("operand_tile", operand_tile::main),
    ] {
        example().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
