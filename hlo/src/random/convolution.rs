//! Convolutions.

use super::body::Body;
use super::contraction::{alike, precisions};
use super::window::window;
use crate::ir::{ConvolutionDimensions, ConvolutionKind, InstrId, Op};

/// The roles of dimensions: two with names, and space, anywhere.
struct Roles {
    named: [usize; 2],
    space: Vec<usize>,
}

impl Roles {
    fn new(body: &mut Body<'_>, space: usize) -> Self {
        let all = body.world.rng.dimensions(space + 2, space + 2);
        Roles { named: [all[0], all[1]], space: all[2..].to_vec() }
    }

    /// The extents of an array whose dimensions have these roles.
    fn extents(&self, named: [i64; 2], space: &[i64]) -> Vec<i64> {
        let mut extents = vec![0; space.len() + 2];
        self.named.iter().zip(named).for_each(|(&dimension, extent)| extents[dimension] = extent);
        self.space.iter().zip(space).for_each(|(&dimension, &extent)| extents[dimension] = extent);
        extents
    }

    fn space(&self) -> Vec<i64> {
        self.space.iter().map(|&dimension| dimension as i64).collect()
    }

    fn named(&self, number: usize) -> i64 {
        self.named[number] as i64
    }
}

pub(super) fn convolution(body: &mut Body<'_>) -> Option<InstrId> {
    let input = body.array(|_| true, 2)?;
    let array = body.array_shape(input);
    let space = array.rank() - 2;
    let (of_input, of_kernel, of_output) = (Roles::new(body, space), Roles::new(body, space), Roles::new(body, space));
    let [batch, features] = of_input.named.map(|dimension| array.extents[dimension]);
    let (feature_group_count, batch_group_count) = match body.world.rng.below(3) {
        0 => (divisor(body, features), 1),
        1 => (1, divisor(body, batch)),
        _ => (1, 1),
    };
    let base: Vec<i64> = of_input.space.iter().map(|&dimension| array.extents[dimension]).collect();
    let mut window = window(body, &base);
    window.dimensions.iter_mut().for_each(|entry| entry.reversal = body.world.rng.chance(15));
    let sizes: Vec<i64> = window.dimensions.iter().map(|entry| entry.size).collect();
    let outputs = feature_group_count * batch_group_count * body.world.rng.extent(2);
    let kernel = of_kernel.extents([features / feature_group_count, outputs], &sizes);
    if kernel.iter().product::<i64>() > body.elements() {
        return None;
    }
    let kernel_type = alike(body, array.element_type);
    let kernel = body.operand(kernel_type, &kernel);
    let dim_labels = ConvolutionDimensions {
        input_batch: of_input.named(0),
        input_feature: of_input.named(1),
        input_spatial: of_input.space(),
        kernel_input_feature: of_kernel.named(0),
        kernel_output_feature: of_kernel.named(1),
        kernel_spatial: of_kernel.space(),
        output_batch: of_output.named(0),
        output_feature: of_output.named(1),
        output_spatial: of_output.space(),
    };
    let op = Op::Convolution {
        window,
        dim_labels: Box::new(dim_labels),
        feature_group_count,
        batch_group_count,
        operand_precision: precisions(body),
        convolution_kind: ConvolutionKind::Unset,
        sparsity_config: None,
    };
    let result = alike(body, kernel_type);
    body.emit(op, vec![input, kernel], result)
}

/// A number of groups into which an extent can be cut.
fn divisor(body: &mut Body<'_>, extent: i64) -> i64 {
    let divisors: Vec<i64> = (2..=extent.min(6)).filter(|divisor| extent % divisor == 0).collect();
    body.world.rng.choose(&divisors).unwrap_or(1)
}
