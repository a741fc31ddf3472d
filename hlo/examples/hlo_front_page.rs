//! The example of the documentation's first page.

use weft_hlo::ir::{Data, Literal};
use weft_hlo::{diagnostic::Diagnostics, eval, indexing, text, verify};

fn main() -> Result<(), Diagnostics> {
    let module = text::parse(
        "HloModule example
        ENTRY main {
            x = f32[2,3] parameter(0)
            t = f32[3,2] transpose(x), dimensions={1,0}
            ROOT y = f32[3,2] add(t, t)
        }",
    )?;
    verify::verify(&module)?;

    let x = Literal::array([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let y = eval::evaluate(&module, &[x])?;
    assert_eq!(y[0].data, Data::F32(vec![2.0, 8.0, 4.0, 10.0, 6.0, 12.0]));

    let maps = indexing::Analysis::new(&module).computation(module.entry, indexing::Direction::OutputToInput);
    let map = &maps.dependences[0].relation.maps()[0].map;
    assert_eq!(map.to_string(), "(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]");
    Ok(())
}
