//! Simplification of convolutions whose kernel does not slide along a dimension.
//!
//! Products are summed in the order in which the convolution does: over the window, then over the features.

use super::build::Build;
use super::rebuild::{Rebuild, Rewrite, Rule};
use crate::ir::{
    ConvolutionDimensions, InstrId, Instruction, Op, Precision, Shape, SliceDimension, Window, WindowDimension,
};

/// What the window does along a dimension.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Motion {
    /// The one element meets this element of the window and gives the one result.
    Meets { tap: i64 },
    /// It covers all elements, once.
    Covers,
    /// It covers one element at a time, and moves by this.
    Steps { stride: i64 },
    /// Anything else.
    Slides,
}

impl Motion {
    fn of(window: &WindowDimension, elements: i64, results: i64) -> Self {
        let WindowDimension { size, stride, padding_low, padding_high, window_dilation, base_dilation, .. } = *window;
        if elements == 1 && results == 1 && padding_low >= 0 && padding_low % window_dilation == 0 {
            let tap = padding_low / window_dilation;
            if tap < size {
                return Motion::Meets { tap };
            }
        }
        let is_plain = base_dilation == 1 && padding_low == 0;
        if is_plain && results == 1 && size == elements && window_dilation == 1 {
            return Motion::Covers;
        }
        if is_plain && padding_high == 0 && size == 1 { Motion::Steps { stride } } else { Motion::Slides }
    }
}

/// A convolution, taken apart.
struct Convolution {
    input: InstrId,
    kernel: InstrId,
    window: Vec<WindowDimension>,
    motions: Vec<Motion>,
    labels: ConvolutionDimensions,
    feature_groups: i64,
    batch_groups: i64,
    precision: Vec<Precision>,
}

pub(super) fn convolution(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::Convolution {
        window,
        dim_labels,
        feature_group_count,
        batch_group_count,
        operand_precision,
        sparsity_config: None,
        ..
    } = &candidate.op
    else {
        return None;
    };
    let [input, kernel] = candidate.operands[..] else { return None };
    let result = candidate.shape.as_array()?;
    let shapes = [rebuild.array(input), rebuild.array(kernel), result];
    if shapes.iter().any(|shape| !shape.dynamic.is_empty() || shape.extents.contains(&0)) {
        return None;
    }
    let space = dim_labels.input_spatial.iter().zip(&dim_labels.output_spatial);
    let motions = window.dimensions.iter().zip(space).map(|(window, (&from, &to))| {
        Motion::of(window, shapes[0].extents[from as usize], result.extents[to as usize])
    });
    let motions: Vec<Motion> = motions.collect();
    let is_met = |motion: &Motion| matches!(motion, Motion::Meets { .. });
    let (is_dot, is_less) = (!motions.contains(&Motion::Slides), motions.iter().any(is_met));
    if !is_dot && !is_less {
        return None;
    }
    let mut convolution = Convolution {
        input,
        kernel,
        window: window.dimensions.clone(),
        motions,
        labels: (**dim_labels).clone(),
        feature_groups: *feature_group_count,
        batch_groups: *batch_group_count,
        precision: operand_precision.clone(),
    };
    convolution.cut_kernel(rebuild);
    if is_dot {
        let value = convolution.dot(rebuild, candidate)?;
        return Some(("a convolution that slides over nothing is a dot", Rewrite::Value(value)));
    }
    let value = convolution.without_points(rebuild, candidate)?;
    Some(("a dimension of one point that meets one element of the window is none", Rewrite::Value(value)))
}

impl Convolution {
    /// Leaves of the kernel what is met, in the order in which it is.
    fn cut_kernel(&mut self, rebuild: &mut Rebuild<'_>) {
        let mut shape = rebuild.array(self.kernel).without_layout();
        let whole = |&limit: &i64| SliceDimension { start: 0, limit, stride: 1 };
        let mut parts: Vec<SliceDimension> = shape.extents.iter().map(whole).collect();
        let mut mirrored = Vec::new();
        for ((motion, window), &at) in self.motions.iter().zip(&self.window).zip(&self.labels.kernel_spatial) {
            match *motion {
                Motion::Meets { tap } => {
                    let start = if window.reversal { window.size - 1 - tap } else { tap };
                    parts[at as usize] = SliceDimension { start, limit: start + 1, stride: 1 };
                }
                Motion::Covers if window.reversal => mirrored.push(at),
                _ => {}
            }
        }
        let extents: Vec<i64> = parts.iter().map(|part| part.limit - part.start).collect();
        if extents != shape.extents {
            shape.extents = extents;
            self.kernel = rebuild.add(Shape::Array(shape), Op::Slice { dimensions: parts }, vec![self.kernel]);
        }
        let is_dot = !self.motions.contains(&Motion::Slides);
        if is_dot && !mirrored.is_empty() {
            self.kernel = rebuild.reversed(self.kernel, &mirrored);
        }
    }

    /// The convolution along the other dimensions.
    fn without_points(&self, rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<InstrId> {
        let Op::Convolution { feature_group_count, batch_group_count, operand_precision, convolution_kind, .. } =
            &candidate.op
        else {
            return None;
        };
        let result = candidate.shape.as_array()?;
        let labels = &self.labels;
        let is_point = |number: usize| matches!(self.motions[number], Motion::Meets { .. });
        let gone = |space: &[i64]| -> Vec<i64> {
            space.iter().enumerate().filter(|(number, _)| is_point(*number)).map(|(_, &at)| at).collect()
        };
        let [input_gone, kernel_gone, output_gone] =
            [&labels.input_spatial, &labels.kernel_spatial, &labels.output_spatial].map(|space| gone(space));
        // Where a dimension is among those that stay, and the space that stays.
        let place = |gone: &[i64], at: i64| at - gone.iter().filter(|&&other| other < at).count() as i64;
        let places = |gone: &[i64], space: &[i64]| -> Vec<i64> {
            space.iter().filter(|at| !gone.contains(at)).map(|&at| place(gone, at)).collect()
        };
        let staying = ConvolutionDimensions {
            input_batch: place(&input_gone, labels.input_batch),
            input_feature: place(&input_gone, labels.input_feature),
            input_spatial: places(&input_gone, &labels.input_spatial),
            kernel_input_feature: place(&kernel_gone, labels.kernel_input_feature),
            kernel_output_feature: place(&kernel_gone, labels.kernel_output_feature),
            kernel_spatial: places(&kernel_gone, &labels.kernel_spatial),
            output_batch: place(&output_gone, labels.output_batch),
            output_feature: place(&output_gone, labels.output_feature),
            output_spatial: places(&output_gone, &labels.output_spatial),
        };
        let dimensions = self.window.iter().enumerate().filter(|(number, _)| !is_point(*number));
        let op = Op::Convolution {
            window: Window { dimensions: dimensions.map(|(_, &window)| window).collect() },
            dim_labels: Box::new(staying),
            feature_group_count: *feature_group_count,
            batch_group_count: *batch_group_count,
            operand_precision: operand_precision.clone(),
            convolution_kind: *convolution_kind,
            sparsity_config: None,
        };
        let input = without(&rebuild.array(self.input).extents, &input_gone);
        let input = rebuild.reshaped(self.input, input);
        let kernel = without(&rebuild.array(self.kernel).extents, &kernel_gone);
        let kernel = rebuild.reshaped(self.kernel, kernel);
        let shape = Shape::array(result.element_type, without(&result.extents, &output_gone));
        let value = rebuild.add(shape, op, vec![input, kernel]);
        Some(rebuild.reshaped(value, result.extents.clone()))
    }

    /// The convolution as a dot, with its groups as a batch dimension.
    fn dot(&self, rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<InstrId> {
        let result = candidate.shape.as_array()?.clone();
        let labels = &self.labels;
        let groups = self.feature_groups.max(self.batch_groups);
        let is_stepped = |number: usize| matches!(self.motions[number], Motion::Steps { .. });
        let covered = |space: &[i64]| -> Vec<i64> {
            space.iter().enumerate().filter(|(number, _)| !is_stepped(*number)).map(|(_, &at)| at).collect()
        };
        // The elements that the window steps on.
        let input = self.stepped(rebuild);
        // The kernel has one element along what is stepped over.
        let stepped: Vec<i64> = labels
            .kernel_spatial
            .iter()
            .enumerate()
            .filter(|(number, _)| is_stepped(*number))
            .map(|(_, &at)| at)
            .collect();
        let place = |at: i64| at - stepped.iter().filter(|&&other| other < at).count() as i64;
        let kernel = without(&rebuild.array(self.kernel).extents, &stepped);
        let kernel = rebuild.reshaped(self.kernel, kernel);
        // Of a dimension that is cut into groups they are the major part.
        let grouped = if self.batch_groups > 1 { labels.input_batch } else { labels.input_feature };
        let columns = place(labels.kernel_output_feature);
        let (input, kernel) = match groups {
            1 => (input, kernel),
            _ => (cut(rebuild, input, grouped, groups), cut(rebuild, kernel, columns, groups)),
        };
        let behind = |cut: i64, at: i64| at + i64::from(groups > 1 && at >= cut);
        let summed =
            |space: &[i64], feature: i64| -> Vec<i64> { covered(space).into_iter().chain([feature]).collect() };
        let lhs_contracting_dims: Vec<i64> =
            summed(&labels.input_spatial, labels.input_feature).into_iter().map(|at| behind(grouped, at)).collect();
        let rhs_contracting_dims: Vec<i64> = summed(&labels.kernel_spatial, labels.kernel_input_feature)
            .into_iter()
            .map(|at| behind(columns, place(at)))
            .collect();
        let batch = |at: i64| if groups > 1 { vec![at] } else { Vec::new() };
        let given = rebuild.array(input).extents.clone();
        let is_free = |at: &i64| !lhs_contracting_dims.contains(at) && !batch(grouped).contains(at);
        let free: Vec<i64> = (0..given.len() as i64).filter(is_free).collect();
        let width = rebuild.array(kernel).extents[behind(columns, columns) as usize];
        let mut extents: Vec<i64> = batch(groups);
        extents.extend(free.iter().map(|&at| given[at as usize]));
        extents.push(width);
        let op = Op::Dot {
            lhs_batch_dims: batch(grouped),
            lhs_contracting_dims,
            rhs_batch_dims: batch(columns),
            rhs_contracting_dims,
            operand_precision: self.precision.clone(),
            algorithm: None,
        };
        let last = extents.len() as i64 - 1;
        let product = rebuild.add(Shape::array(result.element_type, extents), op, vec![input, kernel]);
        // Where each dimension of the result is in the product: that of the features may be there twice, one that is covered
        // is not there.
        let first = i64::from(groups > 1);
        let position =
            |at: i64| free.iter().position(|&other| other == behind(grouped, at)).map(|at| at as i64 + first);
        let mut permutation = Vec::new();
        for at in 0..result.rank() as i64 {
            if at == labels.output_batch {
                permutation.push(position(labels.input_batch)?);
            } else if at == labels.output_feature {
                permutation.extend(batch(0));
                permutation.push(last);
            } else {
                let number = labels.output_spatial.iter().position(|&other| other == at)?;
                if is_stepped(number) {
                    permutation.push(position(labels.input_spatial[number])?);
                }
            }
        }
        let value = rebuild.transposed(product, &permutation);
        Some(rebuild.reshaped(value, result.extents))
    }

    /// The elements of the input on which a window of one element steps.
    fn stepped(&self, rebuild: &mut Rebuild<'_>) -> InstrId {
        let mut shape = rebuild.array(self.input).without_layout();
        let mut parts: Vec<SliceDimension> =
            shape.extents.iter().map(|&limit| SliceDimension { start: 0, limit, stride: 1 }).collect();
        for (motion, &at) in self.motions.iter().zip(&self.labels.input_spatial) {
            if let Motion::Steps { stride } = *motion {
                parts[at as usize].stride = stride;
            }
        }
        if parts.iter().all(|part| part.stride == 1) {
            return self.input;
        }
        for (extent, part) in shape.extents.iter_mut().zip(&parts) {
            *extent = (*extent - 1) / part.stride + 1;
        }
        rebuild.add(Shape::Array(shape), Op::Slice { dimensions: parts }, vec![self.input])
    }
}

/// The extents of the other dimensions.
fn without(extents: &[i64], gone: &[i64]) -> Vec<i64> {
    (0..).zip(extents).filter(|(at, _)| !gone.contains(at)).map(|(_, &extent)| extent).collect()
}

/// The value with a dimension as two, of which the first has as many elements.
fn cut(rebuild: &mut Rebuild<'_>, value: InstrId, dimension: i64, parts: i64) -> InstrId {
    let mut extents = rebuild.array(value).extents.clone();
    extents[dimension as usize] /= parts;
    extents.insert(dimension as usize, parts);
    rebuild.reshaped(value, extents)
}
