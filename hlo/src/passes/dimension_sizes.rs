//! Extents that are known.

use super::pass::{Pass, Rewritten};
use super::rebuild::{Rewrite, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{Literal, Module, Op, Scalar};

/// Replaces `get-dimension-size` of a static dimension by a constant.
pub struct DimensionSizes;

impl Pass for DimensionSizes {
    fn name(&self) -> &'static str {
        "dimension-sizes"
    }

    fn about(&self) -> &'static str {
        "replaces extents that are known by constants"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| {
            let Op::GetDimensionSize { dimension } = candidate.op else { return None };
            let array = rebuild.get(candidate.operands[0]).shape.as_array()?;
            let dimension = usize::try_from(dimension).ok()?;
            let extent = *array.extents.get(dimension).filter(|_| !array.is_open(dimension))?;
            let constant = Op::Constant(Literal::scalar(Scalar::S32(i32::try_from(extent).ok()?)));
            Some(("the extent of a static dimension is known", Rewrite::Op(constant, Vec::new())))
        }))
    }
}
