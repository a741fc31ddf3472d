//! The example of the documentation's first page: the shortest run.

use weft_hlo::ir::Literal;
use weft_runtime::{Device, Executable, Selection, compile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "
        HloModule double
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT sum = f32[4] add(x, x)
        }";
    let module = weft_hlo::text::parse(text)?;
    let device = Device::new(&Selection::Best)?;
    let program = compile(&module, device.target())?;
    let executable = Executable::new(&device, program)?;
    let results = executable.run(&[Literal::array([4], vec![1.0f32, 2.0, 3.0, 4.0])])?;
    assert_eq!(results[0], Literal::array([4], vec![2.0f32, 4.0, 6.0, 8.0]));
    Ok(())
}
