//! `scan`: a computation applied to one slice after the other, with values carried from one to the next.

use super::call::Call;
use super::fold::scalar;
use super::machine;
use super::movement::{Walk, extents, read, row_major_strides};
use super::value::{Buffer, Value, byte_size};
use super::work::{Stop, zeroed};
use crate::ir::{ArrayShape, Computation, Data, Instruction, Module, Op, Shape};

const VERIFIED: &str = "the verifier has seen to the operands of every instruction";
const FITS: &str = "the shapes of a scan have been checked";

/// The outputs, and what was carried last.
///
/// For each index along the dimension, from the first or from the last on, the computation takes the slices of the inputs
/// there, without the dimension, and what is carried; it gives the slices of the outputs there, and what is carried on.
pub(super) fn scan(call: &Call<'_, '_>) -> Result<Vec<Data>, Stop> {
    let Op::Scan { dimension, num_carries, is_reverse, to_apply, .. } = *call.op() else { unreachable!("{VERIFIED}") };
    let (dimension, carries, results) = (dimension as usize, num_carries as usize, call.results());
    let (inputs, outputs) = (call.operands.len() - carries, results.len() - carries);
    let lines: Vec<Line> = (0..inputs).map(|input| Line::new(call.shape(input), dimension)).collect();
    let mut written: Vec<(Line, Data)> = Vec::with_capacity(outputs);
    for output in &results[..outputs] {
        let count = extents(output).iter().product();
        let data = zeroed(count, output.element_type)?;
        written.push((Line::new(output, dimension), data));
    }
    let mut carried: Vec<Value<'_>> =
        call.operands[inputs..].iter().map(|(_, data)| Value::Array(Buffer::Given(data))).collect();
    let first = if inputs > 0 { call.shape(0) } else { results[0] };
    let length = first.extents[dimension];
    for step in 0..length {
        let index = if is_reverse { length - 1 - step } else { step } as usize;
        let mut arguments = Vec::with_capacity(call.operands.len());
        for (line, &(shape, data)) in lines.iter().zip(&call.operands) {
            arguments.push(line.read(call, shape, data, index)?);
        }
        arguments.append(&mut carried);
        carried = match machine::enter(call.run, to_apply, arguments, call.nesting + 1)? {
            Value::Tuple(values) => values,
            one => vec![one],
        };
        for ((line, data), value) in written.iter_mut().zip(carried.drain(..outputs)) {
            let Value::Array(slice) = value else { unreachable!("{FITS}") };
            line.write(data, &slice, index);
        }
    }
    let last = carried.into_iter().map(|value| match value {
        Value::Array(buffer) => buffer.into_data(),
        _ => unreachable!("{FITS}"),
    });
    Ok(written.into_iter().map(|(_, data)| data).chain(last).collect())
}

/// An array cut into slices along a dimension.
struct Line {
    /// Of a slice.
    extents: Vec<usize>,
    /// How far apart neighbours along the dimensions of a slice lie in the array.
    strides: Vec<isize>,
    /// How far apart slices lie.
    stride: isize,
}

impl Line {
    fn new(shape: &ArrayShape, dimension: usize) -> Self {
        let mut extents = extents(shape);
        let mut strides = row_major_strides(&extents);
        extents.remove(dimension);
        let stride = strides.remove(dimension);
        Line { extents, strides, stride }
    }

    fn read(&self, call: &Call<'_, '_>, shape: &ArrayShape, data: &Data, index: usize) -> Result<Value<'static>, Stop> {
        let sliced =
            ArrayShape::new(shape.element_type, self.extents.iter().map(|&extent| extent as i64).collect::<Vec<_>>());
        let bytes = call.work().reserve(byte_size(&sliced).ok_or(Stop::OutOfMemory)?)?;
        let base = index as isize * self.stride;
        let slice = read(call.work(), data, shape.element_type, &self.extents, &self.strides, base)?;
        Ok(Value::Array(Buffer::made(slice, bytes)))
    }

    fn write(&self, data: &mut Data, slice: &Data, index: usize) {
        let base = index as isize * self.stride;
        let mut walk = Walk::new(&self.extents, &self.strides, base, 0);
        for number in 0..self.extents.iter().product() {
            data.set(walk.step(), scalar(slice, number)).expect(FITS);
        }
    }
}

/// Why a scan that the verifier accepts has no meaning: it leaves the shapes of the computation open.
pub(crate) fn refusal(module: &Module, computation: &Computation, instruction: &Instruction) -> Option<String> {
    let Op::Scan { dimension, num_carries, to_apply, .. } = instruction.op else { return None };
    let dimension = usize::try_from(dimension).ok()?;
    let operands: Vec<&Shape> = instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
    let callee = &module.computations[to_apply];
    let parameters: Vec<&Shape> = callee.parameters().into_iter().map(|id| &callee.instructions[id].shape).collect();
    let (results, returned) = (elements(&instruction.shape), elements(callee.result_shape()));
    let carries = num_carries as usize;
    let inputs = operands.len() - carries;
    let outputs = results.len() - carries;
    let sliced = || operands[..inputs].iter().zip(&parameters).chain(results[..outputs].iter().zip(&returned));
    let carried =
        operands[inputs..].iter().zip(&parameters[inputs..]).chain(operands[inputs..].iter().zip(&returned[outputs..]));
    let mut length = None;
    for (whole, slice) in sliced() {
        let array = whole.as_array().filter(|array| dimension < array.rank());
        let Some(array) = array else {
            return Some(format!("unsupported: scan along dimension {dimension} of {whole}"));
        };
        let mut rest = ArrayShape::new(array.element_type, array.extents.clone());
        let extent = rest.extents.remove(dimension);
        if *length.get_or_insert(extent) != extent {
            return Some("unsupported: scan over inputs and outputs of different length".to_owned());
        }
        if !slice.is_compatible(&Shape::Array(rest.clone())) {
            return Some(format!("unsupported: scan of {whole} with a computation of {slice}, not {rest}"));
        }
    }
    for (whole, slice) in carried {
        if !slice.is_compatible(whole) {
            return Some(format!("unsupported: scan that carries {whole} with a computation of {slice}"));
        }
    }
    length.is_none().then(|| "unsupported: scan without inputs and outputs".to_owned())
}

fn elements(shape: &Shape) -> Vec<&Shape> {
    match shape {
        Shape::Tuple(elements) => elements.iter().collect(),
        one => vec![one],
    }
}
