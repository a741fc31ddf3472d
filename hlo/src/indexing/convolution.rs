//! Indexing maps of convolutions.
//!
//! Feature groups cut the features of input and output into as many parts, batch groups the input's batch and the
//! output's features; a part of the output depends on its own part of the input, and on its own output features of the
//! kernel. Taps that meet no element of the input are not multiplied, so neither is the kernel read there.

use weft_affine::{Error, Expr};
use weft_indexing::IndexingMap;

use super::Undefined;
use super::context::{InstructionContext, OperationMaps, dim, index};
use super::window::{Along, MapBuilder};
use crate::ir::{ConvolutionDimensions, Window, WindowDimension};

/// What a dimension is for.
enum Role {
    /// The batch of input and output; the input features of the kernel.
    First,
    /// The features of input and output; the output features of the kernel.
    Second,
    /// Space, by its number.
    Space(usize),
}

/// The index of an array whose dimensions have these labels, put together in the order of the dimensions.
fn arranged(
    [first, second]: [i64; 2],
    space: &[i64],
    part: impl FnMut(Role) -> Result<Expr, Undefined>,
) -> Result<Vec<Expr>, Undefined> {
    let role = |dimension: usize| {
        if dimension == index(first) {
            Role::First
        } else if dimension == index(second) {
            Role::Second
        } else {
            Role::Space(space.iter().position(|&own| index(own) == dimension).unwrap_or(0))
        }
    };
    (0..space.len() + 2).map(role).map(part).collect()
}

/// A convolution with the extents of its operands and its result.
pub(super) struct Convolution<'a> {
    pub(super) window: &'a Window,
    pub(super) labels: &'a ConvolutionDimensions,
    pub(super) feature_groups: i64,
    pub(super) batch_groups: i64,
    pub(super) input: &'a [i64],
    pub(super) kernel: &'a [i64],
    pub(super) output: &'a [i64],
}

impl Convolution<'_> {
    fn along(&self, space: usize) -> Along {
        Along {
            window: self.window.dimensions[space],
            base: self.input[index(self.labels.input_spatial[space])],
            positions: self.output[index(self.labels.output_spatial[space])],
        }
    }

    /// Input features of one group.
    fn features(&self) -> i64 {
        self.kernel[index(self.labels.kernel_input_feature)]
    }

    /// Output features of one group. At most one of the two counts is more than 1.
    fn output_features(&self) -> i64 {
        self.kernel[index(self.labels.kernel_output_feature)] / self.feature_groups.max(self.batch_groups)
    }

    /// The extent of the output's batch, which is that of the input's batch in one group.
    fn batch(&self) -> i64 {
        self.output[index(self.labels.output_batch)]
    }

    fn output_to_input(&self) -> Result<IndexingMap, Undefined> {
        let labels = self.labels;
        let group = || part(&dim(index(labels.output_feature)), self.output_features());
        let mut draft = MapBuilder::new(self.output);
        let index_of =
            arranged([labels.input_batch, labels.input_feature], &labels.input_spatial, |role| match role {
                Role::First => {
                    let batch = dim(index(labels.output_batch));
                    if self.batch_groups == 1 {
                        return Ok(batch);
                    }
                    Ok(batch.checked_add_scaled(&group()?, self.batch())?)
                }
                Role::Second => {
                    let feature = draft.run(self.features());
                    if self.feature_groups == 1 {
                        return Ok(feature);
                    }
                    Ok(feature.checked_add_scaled(&group()?, self.features())?)
                }
                Role::Space(number) => {
                    let along = self.along(number);
                    let tap = draft.run(along.window.size);
                    along.element(&mut draft, &dim(index(labels.output_spatial[number])), &tap)
                }
            })?;
        Ok(draft.to(index_of)?)
    }

    fn input_to_output(&self) -> Result<IndexingMap, Undefined> {
        let labels = self.labels;
        let batch = dim(index(labels.input_batch));
        let mut draft = MapBuilder::new(self.input);
        let index_of =
            arranged([labels.output_batch, labels.output_feature], &labels.output_spatial, |role| match role {
                Role::First if self.batch_groups == 1 => Ok(batch.clone()),
                Role::First => Ok(batch.checked_modulo(self.batch().max(1))?),
                Role::Second => {
                    let feature = draft.run(self.output_features());
                    let group = match (self.feature_groups, self.batch_groups) {
                        (1, 1) => return Ok(feature),
                        (1, _) => part(&batch, self.batch())?,
                        _ => part(&dim(index(labels.input_feature)), self.features())?,
                    };
                    Ok(feature.checked_add_scaled(&group, self.output_features())?)
                }
                Role::Space(number) => {
                    let along = self.along(number);
                    let tap = draft.run(along.window.size);
                    along.position(&mut draft, &dim(index(labels.input_spatial[number])), &tap)
                }
            })?;
        Ok(draft.to(index_of)?)
    }

    fn output_to_kernel(&self) -> Result<IndexingMap, Undefined> {
        let labels = self.labels;
        let named = [labels.kernel_input_feature, labels.kernel_output_feature];
        let mut draft = MapBuilder::new(self.output);
        let index_of = arranged(named, &labels.kernel_spatial, |role| match role {
            Role::First => Ok(draft.run(self.features())),
            Role::Second => Ok(dim(index(labels.output_feature))),
            Role::Space(number) => {
                let along = self.along(number);
                let tap = draft.run(along.window.size);
                along.element(&mut draft, &dim(index(labels.output_spatial[number])), &tap)?;
                Ok(mirrored(&along.window, tap)?)
            }
        })?;
        Ok(draft.to(index_of)?)
    }

    fn kernel_to_output(&self) -> Result<IndexingMap, Undefined> {
        let labels = self.labels;
        let mut draft = MapBuilder::new(self.kernel);
        let index_of =
            arranged([labels.output_batch, labels.output_feature], &labels.output_spatial, |role| match role {
                Role::First => Ok(draft.run(self.batch())),
                Role::Second => Ok(dim(index(labels.kernel_output_feature))),
                Role::Space(number) => {
                    let along = self.along(number);
                    let position = draft.run(along.positions);
                    let tap = mirrored(&along.window, dim(index(labels.kernel_spatial[number])))?;
                    along.element(&mut draft, &position, &tap)?;
                    Ok(position)
                }
            })?;
        Ok(draft.to(index_of)?)
    }
}

/// Which of the parts of this extent an index lies in; no index is of parts without elements.
fn part(index: &Expr, extent: i64) -> Result<Expr, Error> {
    index.checked_floor_div(extent.max(1))
}

/// From a tap to the index in the kernel, and back.
fn mirrored(window: &WindowDimension, tap: Expr) -> Result<Expr, Error> {
    if window.reversal { Expr::constant(window.size - 1).checked_sub(&tap) } else { Ok(tap) }
}

/// The input's elements under the window, and the kernel's elements that meet one.
pub(super) fn convolution(context: &InstructionContext<'_>, convolution: &Convolution<'_>) -> OperationMaps {
    let (input, kernel) = if context.is_backward() {
        (convolution.output_to_input()?, convolution.output_to_kernel()?)
    } else {
        (convolution.input_to_output()?, convolution.kernel_to_output()?)
    };
    Ok(vec![context.on(0, 0, input), context.on(0, 1, kernel)])
}
