//! The example of the documentation's first page: a transpose and two reshapes, composed and simplified.

use weft_indexing::{Error, IndexingMap};

fn main() -> Result<(), Error> {
    // A [64, 32] matrix is transposed, flattened, and cut into rows of 128. Each operation has a map from an index of its result
    // to the element of its operand that is there.
    let cut: IndexingMap = "(d0, d1) -> (d0 * 128 + d1), domain: d0 in [0, 15], d1 in [0, 127]".parse()?;
    let flatten: IndexingMap = "(d0) -> (d0 floordiv 64, d0 mod 64), domain: d0 in [0, 2047]".parse()?;
    let transpose: IndexingMap = "(d0, d1) -> (d1, d0), domain: d0 in [0, 31], d1 in [0, 63]".parse()?;

    // From the result back to the matrix: the last operation's map is applied first.
    let mut read = cut.then(&flatten)?.then(&transpose)?;
    read.simplify();
    // What `println!("{read}")` prints:
    assert_eq!(
        read.to_string(),
        "(d0, d1) -> (d1 mod 64, d0 * 2 + d1 floordiv 64), domain: d0 in [0, 15], d1 in [0, 127]"
    );
    assert_eq!(read.evaluate(&[3, 70], &[], &[])?, [6, 7]);
    Ok(())
}
