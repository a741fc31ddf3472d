//! `scatter`: windows of updates combined with the elements of the operand.

use super::call::Call;
use super::fold::scalar;
use super::movement::{Walk, extents, row_major_strides};
use super::product::reader;
use super::scalar::Number;
use super::work::{Stop, copy};
use crate::ir::{Data, ElementType, Op, Scalar};

const VERIFIED: &str = "the verifier has seen to the operands of every instruction";

/// The results, one per input.
///
/// The windows come in row-major order of the scatter indices, the elements of each in row-major order. A window that is
/// not wholly within the inputs is passed over.
pub(super) fn scatter(call: &Call<'_, '_>) -> Result<Vec<Data>, Stop> {
    let Op::Scatter { to_apply, .. } = *call.op() else { unreachable!("{VERIFIED}") };
    let inputs = call.operands.len() / 2;
    let mut results = Vec::with_capacity(inputs);
    for input in 0..inputs {
        results.push(copy(call.data(input))?);
    }
    let updates = extents(call.shape(inputs + 1));
    if updates.contains(&0) {
        return Ok(results);
    }
    let layout = WindowLayout::new(call, &updates);
    let mut region = call.region(to_apply);
    let mut arguments: Vec<Scalar> = Vec::with_capacity(2 * inputs);
    let mut windows = layout.windows();
    for _ in 0..layout.batch.iter().product() {
        call.work().go_on()?;
        let Some((origin, first)) = windows.step(call.data(inputs)) else { continue };
        let mut to = Walk::new(&layout.window, &layout.window_strides, origin, 0);
        let mut from = Walk::new(&layout.window, &layout.window_update_strides, first, 0);
        for _ in 0..layout.window.iter().product() {
            let (to, from) = (to.step(), from.step());
            arguments.clear();
            arguments.extend(results.iter().map(|result| scalar(result, to)));
            arguments.extend(call.operands[inputs + 1..].iter().map(|(_, data)| scalar(data, from)));
            for (result, &combined) in results.iter_mut().zip(region.apply(&arguments)?) {
                result.set(to, combined).expect(VERIFIED);
            }
        }
    }
    Ok(results)
}

/// How the windows of updates lie in the scatter indices, in the updates and in the inputs.
struct WindowLayout {
    /// The extents of the scatter indices, without the dimension of their components.
    batch: Vec<usize>,
    /// How far apart neighbours along those lie in the scatter indices, in the updates, and, where a dimension is one of the
    /// inputs' batching dimensions, in the inputs.
    batch_index_strides: Vec<isize>,
    batch_update_strides: Vec<isize>,
    batch_input_strides: Vec<isize>,
    /// The extents of a window, without dimensions that the updates do not have.
    window: Vec<usize>,
    /// How far apart neighbours along those lie in the inputs and in the updates.
    window_strides: Vec<isize>,
    window_update_strides: Vec<isize>,
    components: Vec<Component>,
    component_stride: isize,
    index_type: ElementType,
    /// Whether a window that starts at 0 everywhere lies in the inputs.
    fits: bool,
}

/// One component of a scatter index.
struct Component {
    /// The greatest start with which the window lies in the inputs.
    greatest: i128,
    /// How far apart neighbours along the dimension that it is for lie in the inputs.
    stride: isize,
}

impl WindowLayout {
    fn new(call: &Call<'_, '_>, updates: &[usize]) -> Self {
        let dimensions = call.op().gather_dimensions().expect(VERIFIED);
        let (input, indices) = (extents(call.shape(0)), call.shape(call.operands.len() / 2));
        let input_strides = row_major_strides(&input);
        let update_strides = row_major_strides(updates);
        let index_strides = row_major_strides(&extents(indices));
        let mut layout = WindowLayout {
            batch: Vec::new(),
            batch_index_strides: Vec::new(),
            batch_update_strides: Vec::new(),
            batch_input_strides: Vec::new(),
            window: Vec::new(),
            window_strides: Vec::new(),
            window_update_strides: Vec::new(),
            components: Vec::new(),
            component_stride: index_strides.get(dimensions.index_vector as usize).copied().unwrap_or(0),
            index_type: indices.element_type,
            fits: true,
        };
        let mut sizes = vec![1; input.len()];
        for (to, own) in dimensions.along(input.len(), updates.len()).enumerate() {
            let Some(own) = own else { continue };
            sizes[to] = updates[own];
            layout.window.push(updates[own]);
            layout.window_strides.push(input_strides[to]);
            layout.window_update_strides.push(update_strides[own]);
        }
        for (own, of) in dimensions.window_batch(updates.len()).zip(dimensions.index_batch(indices.rank())) {
            let to = dimensions.shared_batch().find(|&(_, batch)| batch == of);
            layout.batch.push(updates[own]);
            layout.batch_index_strides.push(index_strides[of]);
            layout.batch_update_strides.push(update_strides[own]);
            layout.batch_input_strides.push(to.map_or(0, |(to, _)| input_strides[to]));
        }
        layout.fits = sizes.iter().zip(&input).all(|(size, extent)| size <= extent);
        for &to in dimensions.index_map {
            let (greatest, stride) =
                (input[to as usize] as i128 - sizes[to as usize] as i128, input_strides[to as usize]);
            layout.components.push(Component { greatest, stride });
        }
        layout
    }

    fn windows(&self) -> Windows<'_> {
        Windows {
            layout: self,
            index: Walk::new(&self.batch, &self.batch_index_strides, 0, 0),
            update: Walk::new(&self.batch, &self.batch_update_strides, 0, 0),
            batching: Walk::new(&self.batch, &self.batch_input_strides, 0, 0),
        }
    }
}

/// The windows, one for each scatter index.
struct Windows<'p> {
    layout: &'p WindowLayout,
    index: Walk<'p>,
    update: Walk<'p>,
    batching: Walk<'p>,
}

impl Windows<'_> {
    /// The positions of the next window's first element in the inputs and in the updates, if it lies in the inputs.
    fn step(&mut self, indices: &Data) -> Option<(isize, isize)> {
        let (index, update, mut origin) = (self.index.step(), self.update.step(), self.batching.step() as isize);
        if !self.layout.fits {
            return None;
        }
        for (number, component) in self.layout.components.iter().enumerate() {
            let position = index + number * self.layout.component_stride as usize;
            let start = integer(indices, self.layout.index_type, position);
            if start < 0 || start > component.greatest {
                return None;
            }
            origin += start as isize * component.stride;
        }
        Some((origin, update as isize))
    }
}

/// The value of an integer, whatever its type.
fn integer(indices: &Data, element_type: ElementType, position: usize) -> i128 {
    match reader(element_type)(indices, position) {
        Number::Integer(value) => value,
        Number::Real(_) | Number::Complex(..) => unreachable!("{VERIFIED}"),
    }
}
