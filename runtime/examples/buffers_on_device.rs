//! Tensors that stay on the device: what one program makes is what the next is given, and only the last result comes back.

use weft_hlo::ir::Literal;
use weft_runtime::{Device, DeviceBuffer, Executable, Selection, compile};

/// One step of a walk with the probabilities of three places.
const STEP: &str = "
HloModule step
ENTRY main {
  p = f32[3] parameter(0)
  steps = f32[3,3] parameter(1)
  ROOT next = f32[3] dot(steps, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}";

/// The most probable of them.
const MOST: &str = "
HloModule most
greater {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}
ENTRY main {
  p = f32[3] parameter(0)
  none = f32[] constant(0)
  ROOT most = f32[] reduce(p, none), dimensions={0}, to_apply=greater
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(&Selection::Best)?;
    let load = |text: &str| -> Result<Executable, Box<dyn std::error::Error>> {
        Ok(Executable::new(&device, compile(&weft_hlo::text::parse(text)?, device.target())?)?)
    };
    let (step, most) = (load(STEP)?, load(MOST)?);
    let steps = [0.5f32, 0.25, 0.0, 0.5, 0.5, 0.5, 0.0, 0.25, 0.5];
    let steps = DeviceBuffer::upload(&device, &Literal::array([3, 3], steps.to_vec()))?;
    let mut p = DeviceBuffer::upload(&device, &Literal::array([3], vec![1.0f32, 0.0, 0.0]))?;
    for _ in 0..50 {
        // Returns once the work is queued: the host waits for nothing, and copies nothing.
        p = step.execute(&[p, steps.clone()])?.remove(0);
    }
    let most = most.execute(&[p])?.remove(0);
    assert_eq!(most.download()?, Literal::array([], vec![0.5f32]));
    Ok(())
}
