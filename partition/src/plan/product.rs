//! Plans around a sum of products: functions of the elements of both operands, and of what is computed of the sums.

use super::planner::Planner;
use super::reduced::Refused;
use super::{Emitter, FunctionId, FusionPlan, Read, Root, leaf_extents};
use crate::access::{Access, Counted, is_bitcast};
use crate::form::Form;
use crate::product::{Contraction, Factor, Product};
use crate::{Target, live};
use weft_affine::Expr;
use weft_hlo::ir::{ArenaId, InstrId, Op};
use weft_indexing::IndexingMap;

/// The sum of products that a kernel is shaped around.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    /// The dot.
    pub dot: InstrId,
    /// The function of the left operand's elements, of the indices `(o, r, k)` of [`Product`](crate::Product).
    pub lhs: FunctionId,
    /// The function of the right operand's elements, of the indices `(o, k, c)`.
    pub rhs: FunctionId,
}

impl Planner<'_> {
    /// The plan that is shaped around the one dot of the computation, or why there is none.
    pub(super) fn plan_product(mut self, target: &Target) -> Result<FusionPlan, Refused> {
        let computation = self.computation;
        let live = live(computation);
        let is_dot = |id: &InstrId| live[id.index()] && matches!(computation.instructions[*id].op, Op::Dot { .. });
        let dots: Vec<InstrId> = computation.instructions.ids().filter(is_dot).collect();
        let [dot] = dots[..] else {
            let count = if dots.is_empty() { "no sums" } else { "several sums" };
            return Err(format!("there are {count} of products").into());
        };
        let leaves = computation.instructions[computation.root].shape.leaves();
        let arrays: Vec<_> = leaves.into_iter().filter_map(|leaf| leaf.as_array()).collect();
        let results: Vec<_> = arrays.iter().map(|array| array.element_type).collect();
        let product = Product::of(computation, dot, &results, target)?;
        let bound = computation.parameters().into_iter().map(|id| &computation.instructions[id].shape);
        let most = bound.map(Form::shape_bytes).chain(arrays.into_iter().filter_map(Form::tensor_bytes)).max();
        if most.is_some_and(|most| most > target.max_storage_binding_bytes) {
            let (bound, most) = (target.max_storage_binding_bytes, most.unwrap_or(0));
            return Err(format!("a kernel binds {bound} bytes of a tensor, which has {most}").into());
        }
        let outputs = self.add_outputs()?;
        for output in &outputs {
            let function = &self.functions[output.0 as usize];
            let elements: i64 = function.extents.iter().product();
            if elements != product.elements() {
                let (name, all) = (&function.name, product.elements());
                return Err(format!("{name} has {elements} elements, and there are {all} sums").into());
            }
        }
        let Some([lhs, rhs]) = self.divide_around(dot, &product, &outputs)? else {
            return Err("outputs read it at other elements than their own".to_owned().into());
        };
        let why = format!("{}: it goes through tiles", computation.instructions[dot].name);
        let plan = self.finish(outputs, Emitter::Product(product), Vec::new(), why);
        Ok(FusionPlan { factors: Some(Factors { dot, lhs, rhs }), ..plan })
    }

    /// Divides what the outputs need into functions; the functions of the operands, if outputs alone read the sums, at their own elements.
    fn divide_around(
        &mut self,
        dot: InstrId,
        product: &Product,
        outputs: &[FunctionId],
    ) -> Result<Option<[FunctionId; 2]>, Refused> {
        self.outputs = product.elements() as f64;
        let mut factors = None;
        for id in self.divided() {
            if id == dot {
                if !self.give_sums(dot, outputs) {
                    return Ok(None);
                }
                factors = Some(self.factors(dot, product)?);
            } else {
                self.visit(id, outputs)?;
            }
        }
        self.list_members();
        Ok(factors)
    }

    /// Has the outputs be given the sums, if they alone read them, at their own elements.
    fn give_sums(&mut self, dot: InstrId, outputs: &[FunctionId]) -> bool {
        let computation = self.computation;
        let accesses = std::mem::take(&mut self.accesses[dot.index()]);
        let extents = leaf_extents(&computation.instructions[dot].shape);
        let is_own = |Counted { access, .. }: &Counted| {
            let own = &self.functions[access.function.0 as usize].extents;
            let is_plain = access.block.is_none() && !access.is_guarded;
            is_plain && outputs.contains(&access.function) && is_bitcast(&access.map, own, &extents)
        };
        if accesses.is_empty() || !accesses.iter().all(is_own) {
            return false;
        }
        for Counted { access, .. } in &accesses {
            let given = &mut self.functions[access.function.0 as usize].given;
            if !given.contains(&dot) {
                given.push(dot);
            }
        }
        for (user, instruction) in computation.instructions.iter() {
            for (read, operand) in self.reads[user.index()].iter_mut().zip(&instruction.operands) {
                if *operand == dot && matches!(read, Read::At(_)) {
                    *read = Read::Given;
                }
            }
        }
        true
    }

    /// The functions of the operands of a dot.
    fn factors(&mut self, dot: InstrId, product: &Product) -> Result<[FunctionId; 2], Refused> {
        let Some(Contraction { lhs, rhs }) = Contraction::of(self.computation, dot) else {
            return Err("it is no sum of products".to_owned().into());
        };
        let Product { batch, rows, depth, columns, .. } = *product;
        let [left, right] = product.reads();
        let operands = self.computation.instructions[dot].operands.clone();
        let sides = [
            (operands[0], &lhs, [batch, rows, depth], [&lhs.batch, &lhs.free, &lhs.contracted], left),
            (operands[1], &rhs, [batch, depth, columns], [&rhs.batch, &rhs.contracted, &rhs.free], right),
        ];
        let mut functions = [FunctionId(0); 2];
        for (function, (operand, factor, extents, dimensions, times)) in functions.iter_mut().zip(sides) {
            let map = indices(factor, extents, dimensions).map_err(|error| error.to_string())?;
            let root = Root { instruction: operand, map: map.clone() };
            let evaluations = extents.iter().map(|extent| *extent as f64).product::<f64>() * times as f64;
            let reason = "it computes an operand of the sums".to_owned();
            *function = self.add_function(root, extents.to_vec(), reason, evaluations);
            let access = Access { function: *function, block: None, depth: 0, is_guarded: false, map };
            self.accesses[operand.index()].push(Counted { access, evaluations });
        }
        Ok(functions)
    }
}

/// From the indices of a function of an operand to the operand's: each of the three is the row-major number of what some dimensions have.
fn indices(
    factor: &Factor,
    extents: [i64; 3],
    dimensions: [&Vec<usize>; 3],
) -> Result<IndexingMap, weft_indexing::Error> {
    let mut results = vec![Expr::constant(0); factor.extents.len()];
    for (index, dimensions) in (0u32..).zip(dimensions) {
        let mut stride: i64 = 1;
        for dimension in dimensions.iter().rev() {
            let extent = factor.extents[*dimension].max(1);
            let digit = Expr::dim(index).checked_floor_div(stride)?;
            results[*dimension] = digit.checked_modulo(extent)?;
            stride = stride.saturating_mul(extent);
        }
    }
    let mut map = IndexingMap::of_extents(&extents, &[], results)?;
    map.simplify();
    Ok(map)
}
