//! The example of the documentation's first page.

use weft_hlo::text;
use weft_partition::{Target, fuse};

fn main() -> Result<(), weft_hlo::diagnostic::Diagnostics> {
    let module = text::parse(
        "HloModule scale
        ENTRY main {
            x = f32[4,8] parameter(0)
            two = f32[] constant(2)
            twos = f32[4,8] broadcast(two), dimensions={}
            ROOT y = f32[4,8] multiply(x, twos)
        }",
    )?;
    let target = Target::default();
    let fused = fuse(&module, &target)?;
    let kernel = fused.fusions().next().expect("the program is one fusion");
    let shader = weft_codegen_wgsl::compile(&fused, kernel, &target)?;
    assert!(shader.source.contains("x_2[i] * 2.0f") || shader.source.contains("* 2.0f"));
    assert_eq!(shader.bindings.len(), 2);
    Ok(())
}
