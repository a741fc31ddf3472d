//! The example of the documentation's first page.

use weft_hlo::{ir::Op, text};
use weft_partition::{Target, fuse};

fn main() -> Result<(), weft_hlo::diagnostic::Diagnostics> {
    let module = text::parse(
        "HloModule diamond
        ENTRY main {
            x = f32[8,8] parameter(0)
            l = f32[8,8] log(x)
            t = f32[8,8] transpose(l), dimensions={1,0}
            ROOT sum = f32[8,8] add(l, t)
        }",
    )?;
    let fused = fuse(&module, &Target::default())?;
    let entry = fused.module.entry_computation();
    let Op::Fusion { calls, .. } = entry.instructions[entry.root].op else { unreachable!() };
    // One kernel of three functions: the sum, the transpose, and the logarithm that both of them call.
    let plan = fused.plan(calls).expect("a fusion that can be compiled has a plan");
    assert_eq!(plan.functions().len(), 3);
    Ok(())
}
