//! Indices that are chosen by a comparison of indices: what is stored is looked at in either case.

use super::super::reads::is_within;
use crate::kernel::named::replace;
use crate::kernel::{Block, Condition, Function, Known, Operand, OutOfBounds, ScalarOp, Statement, ValueId};
use std::collections::HashMap;
use weft_affine::{Constraint, Expr, Interval};
use weft_hlo::ir::{ComparisonDirection, ElementType};

/// An entry whose variables are bound to one of two indices, as a comparison of two others chooses: what stands behind that in either case, with the index for the variable;
/// `None` where there is no such choice, or not known that an index is within the bounds of its variable.
pub(super) fn in_cases(entry: &Function) -> Option<Function> {
    let mut known = Known::new(&entry.extents);
    let mut choices = Choices::default();
    let statements = &entry.body.statements;
    for (number, statement) in statements.iter().enumerate() {
        if let Statement::Let { value, op } = statement {
            choices.learn(*value, op);
        }
        if let Some((chosen, _)) = choices.bound(statement) {
            let condition = Condition::Indices(vec![choices.condition(chosen, &known)?]);
            let rest = &statements[number..];
            let then = choices.rest(rest, chosen, true, known.inside(&condition))?;
            let otherwise = choices.rest(rest, chosen, false, known.outside(&condition))?;
            let mut body = Block { statements: statements[..number].to_vec(), results: Vec::new() };
            body.statements.push(Statement::If { values: Vec::new(), condition, then, otherwise });
            return Some(Function { body, ..entry.clone() });
        }
        known.after(statement);
    }
    None
}

/// What is known of values that are indices.
#[derive(Clone, Default)]
struct Choices {
    indices: HashMap<ValueId, Expr>,
    /// Two indices, and how the first is to stand to the second.
    compared: HashMap<ValueId, (ComparisonDirection, [Expr; 2])>,
    /// By what one of two indices is chosen, the first where it holds.
    chosen: HashMap<ValueId, (ValueId, [Expr; 2])>,
}

impl Choices {
    fn learn(&mut self, value: ValueId, op: &ScalarOp) {
        let index = |operand: &Operand| match operand {
            Operand::Value(value) => self.indices.get(value).cloned(),
            Operand::Constant(_) => None,
        };
        match op {
            ScalarOp::Index { element_type: ElementType::S32, index } => {
                self.indices.insert(value, index.clone());
            }
            ScalarOp::Compare { direction, operands: [left, right], .. } => {
                if let (Some(left), Some(right)) = (index(left), index(right)) {
                    self.compared.insert(value, (*direction, [left, right]));
                }
            }
            ScalarOp::Select { operands: [Operand::Value(by), own, other] } if self.compared.contains_key(by) => {
                if let (Some(own), Some(other)) = (index(own), index(other)) {
                    self.chosen.insert(value, (*by, [own, other]));
                }
            }
            _ => {}
        }
    }

    /// The comparison that a statement binds a variable by, and the two indices.
    fn bound(&self, statement: &Statement) -> Option<(ValueId, &[Expr; 2])> {
        let Statement::Bind { binding, out_of_bounds: OutOfBounds::Clamp } = statement else { return None };
        let Operand::Value(value) = binding.value else { return None };
        self.chosen.get(&value).map(|(by, indices)| (*by, indices))
    }

    /// What a comparison asks for, of numbers that their type holds.
    fn condition(&self, by: ValueId, known: &Known) -> Option<Constraint> {
        let (direction, [left, right]) = self.compared.get(&by)?;
        let fits = |index: &Expr| {
            Interval { lo: i64::from(i32::MIN), hi: i64::from(i32::MAX) }.contains_interval(known.range(index))
        };
        let expr = left.checked_sub(right).ok()?;
        let least = match direction {
            ComparisonDirection::Gt => 1,
            ComparisonDirection::Ge => 0,
            _ => return None,
        };
        let bounds = Interval { lo: least, hi: known.range(&expr).hi };
        (fits(left) && fits(right)).then_some(Constraint { expr, bounds })
    }

    /// What is left of a block in one of the two cases.
    fn rest(&self, statements: &[Statement], by: ValueId, is_first: bool, known: Known) -> Option<Block> {
        let mut named = HashMap::new();
        let mut block = Block::default();
        let mut choices = self.clone();
        for statement in statements {
            if let Statement::Let { value, op } = statement {
                choices.learn(*value, op);
            }
            match (choices.bound(statement), statement) {
                (Some((own, indices)), Statement::Bind { binding, .. }) if own == by => {
                    let index = &indices[usize::from(!is_first)];
                    let (from_zero, extent) = (binding.bounds.lo == 0, binding.bounds.hi.checked_add(1)?);
                    if !from_zero || !is_within(index, extent, &known) {
                        return None;
                    }
                    named.insert(binding.variable, index.clone());
                }
                _ => block.statements.push(statement.clone()),
            }
        }
        replace(&mut block, &mut named).ok()?;
        Some(together(block))
    }
}

/// A block in which what is done under one condition on indices stands together: what is stored where does not depend on the order.
fn together(block: Block) -> Block {
    let mut statements: Vec<Statement> = Vec::with_capacity(block.statements.len());
    for statement in block.statements {
        if let Statement::If { condition: own @ Condition::Indices(_), then: further, otherwise, .. } = &statement
            && otherwise.statements.is_empty()
        {
            let before = statements.iter_mut().find_map(|before| match before {
                Statement::If { condition, then, otherwise, .. }
                    if condition == own && otherwise.statements.is_empty() =>
                {
                    Some(then)
                }
                _ => None,
            });
            if let Some(then) = before {
                then.statements.extend(further.statements.iter().cloned());
                continue;
            }
        }
        statements.push(statement);
    }
    Block { statements, ..block }
}
