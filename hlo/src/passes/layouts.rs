//! Elimination of layouts.

use super::build::{Build, inverse};
use super::pass::{Change, Pass, Rewritten};
use super::rebuild::{Rewrite, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArrayShape, EntryLayout, HeaderAttribute, InstrId, Layout, Literal, Module, Op, Shape};

/// Makes every layout row-major. A `bitcast` of other layouts becomes the transpose, reshape and transpose that it is, a
/// `copy` between layouts just passes its operand on. Indices, and so values, mean the same under any layout; the entry takes
/// and gives row-major arrays afterwards.
///
/// Tiled layouts stay, and with them the bitcasts that read through them.
pub struct Layouts;

impl Pass for Layouts {
    fn name(&self) -> &'static str {
        "layout-normalization"
    }

    fn about(&self) -> &'static str {
        "makes every layout row-major, with the transposes that takes"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        if module.computations.values().any(|computation| {
            computation.instructions.values().any(|instruction| instruction.shape.leaves().into_iter().any(is_tiled))
        }) {
            return Ok(Rewritten { module: module.clone(), changes: Vec::new() });
        }
        // First what reads memory, while the layouts still stand there.
        let plain = rewrite_module(module, &mut |rebuild, candidate| {
            let Op::Bitcast = candidate.op else { return None };
            let operand = *candidate.operands.first()?;
            let (given, result) = (rebuild.array(operand).clone(), candidate.shape.as_array()?.clone());
            if given.element_type.bits() != result.element_type.bits() {
                return None;
            }
            if is_row_major(&given) && is_row_major(&result) {
                return None;
            }
            let mut value = transposed_to_memory(rebuild, operand, &given);
            if given.element_type != result.element_type {
                let shape = Shape::array(result.element_type, rebuild.array(value).extents.clone());
                value = rebuild.add(shape, Op::BitcastConvert, vec![value]);
            }
            // The result's dimensions from major to minor.
            let order: Vec<i64> = result.minor_to_major().into_iter().rev().map(|dimension| dimension as i64).collect();
            let extents = order.iter().map(|&dimension| result.extents[dimension as usize]).collect();
            let value = rebuild.reshaped(value, extents);
            let value = rebuild.transposed(value, &inverse(&order));
            Some(("a bitcast is a transpose, a reshape and a transpose", Rewrite::Value(value)))
        });
        let mut changes = plain.changes;
        let mut module = plain.module;
        for computation in module.computations.values_mut() {
            for instruction in computation.instructions.values_mut() {
                let mut is_changed = normalize(&mut instruction.shape);
                if let Op::Constant(literal) = &mut instruction.op {
                    is_changed |= normalize_literal(literal);
                }
                if is_changed {
                    let place = format!("{}/{}", computation.name, instruction.name);
                    changes.push(Change { rule: "indices mean the same under any layout", place });
                }
            }
        }
        for attribute in &mut module.attributes {
            if let HeaderAttribute::EntryComputationLayout(EntryLayout { parameters, result }) = attribute {
                parameters.iter_mut().chain([result]).for_each(|shape| {
                    normalize(shape);
                });
            }
        }
        Ok(Rewritten { module, changes })
    }
}

/// The elements in the order in which they lie in memory.
fn transposed_to_memory(rebuild: &mut super::rebuild::Rebuild<'_>, value: InstrId, shape: &ArrayShape) -> InstrId {
    let order: Vec<i64> = shape.minor_to_major().into_iter().rev().map(|dimension| dimension as i64).collect();
    rebuild.transposed(value, &order)
}

fn is_row_major(array: &ArrayShape) -> bool {
    array.minor_to_major().windows(2).all(|pair| pair[0] > pair[1])
}

fn is_tiled(leaf: &Shape) -> bool {
    leaf.as_array().and_then(|array| array.layout.as_ref()).is_some_and(Layout::is_tiled)
}

/// Makes layouts row-major; true if one was not.
fn normalize(shape: &mut Shape) -> bool {
    match shape {
        Shape::Array(array) if is_row_major(array) => false,
        Shape::Array(array) => {
            array.layout = Some(Layout::row_major(array.rank()));
            true
        }
        Shape::Tuple(elements) => {
            let changed = elements.iter_mut().map(normalize).filter(|&changed| changed).count();
            changed > 0
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => false,
    }
}

fn normalize_literal(literal: &mut Literal) -> bool {
    let mut changed = normalize(&mut literal.shape);
    if let crate::ir::Data::Tuple(elements) = &mut literal.data {
        for element in elements {
            changed |= normalize_literal(element);
        }
    }
    changed
}
