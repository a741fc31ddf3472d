//! A line through points by gradient descent: parameters and points stay on the device, and each step is given the parameters for good.

use weft_hlo::ir::{Data, Literal};
use weft_runtime::{Device, DeviceBuffer, Executable, Selection, compile};

/// One step: the loss of `w x + b`, and the parameters after it.
const STEP: &str = "
HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  parameters = f32[2] parameter(0)
  x = f32[64] parameter(1)
  y = f32[64] parameter(2)
  slope = f32[1] slice(parameters), slice={[0:1]}
  w = f32[] reshape(slope)
  offset = f32[1] slice(parameters), slice={[1:2]}
  b = f32[] reshape(offset)
  ws = f32[64] broadcast(w), dimensions={}
  bs = f32[64] broadcast(b), dimensions={}
  wx = f32[64] multiply(ws, x)
  line = f32[64] add(wx, bs)
  error = f32[64] subtract(line, y)
  squared = f32[64] multiply(error, error)
  weighted = f32[64] multiply(error, x)
  zero = f32[] constant(0)
  loss = f32[] reduce(squared, zero), dimensions={0}, to_apply=sum
  of_slope = f32[] reduce(weighted, zero), dimensions={0}, to_apply=sum
  of_offset = f32[] reduce(error, zero), dimensions={0}, to_apply=sum
  slopes = f32[1] reshape(of_slope)
  offsets = f32[1] reshape(of_offset)
  gradient = f32[2] concatenate(slopes, offsets), dimensions={0}
  rate = f32[] constant(0.003)
  rates = f32[2] broadcast(rate), dimensions={}
  change = f32[2] multiply(rates, gradient)
  next = f32[2] subtract(parameters, change)
  ROOT all = (f32[2], f32[]) tuple(next, loss)
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(&Selection::Best)?;
    let step = Executable::new(&device, compile(&weft_hlo::text::parse(STEP)?, device.target())?)?;
    let x: Vec<f32> = (0..64u8).map(|point| f32::from(point) / 32.0 - 1.0).collect();
    let y: Vec<f32> = x.iter().map(|x| 3.0 * x - 0.5).collect();
    let points = [x, y].map(|values| DeviceBuffer::upload(&device, &Literal::array([64], values)));
    let [x, y] = points;
    let (x, y) = (x?, y?);
    let mut parameters = DeviceBuffer::upload(&device, &Literal::array([2], vec![0.0f32, 0.0]))?;
    let mut losses = Vec::new();
    for number in 0..100 {
        // What is passed as it is belongs to the program now, what is borrowed stays.
        let mut results = step.execute_with(vec![parameters.into(), (&x).into(), (&y).into()])?.into_iter();
        let (Some(next), Some(loss)) = (results.next(), results.next()) else {
            return Err("a step has two results".into());
        };
        parameters = next;
        // Only what is looked at comes back.
        if number % 33 == 0 {
            losses.push(loss.download()?);
        }
    }
    let loss = |literal: &Literal| if let Data::F32(values) = &literal.data { values[0] } else { f32::NAN };
    assert!(losses.windows(2).all(|pair| loss(&pair[1]) < loss(&pair[0])));
    let found = parameters.download()?;
    let Data::F32(line) = &found.data else { return Err("the parameters are floats".into()) };
    assert!((line[0] - 3.0).abs() < 0.1 && (line[1] + 0.5).abs() < 0.1);
    Ok(())
}
