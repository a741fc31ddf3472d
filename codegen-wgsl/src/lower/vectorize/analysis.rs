//! What differs from lane to lane in a function.

use super::steps::{Selection, Step, Stepped, Substitution, Test};
use super::{Held, Refusal, Variant};
use crate::kernel::{
    Block, Condition, Function, Kernel, Known, Operand, ScalarOp, Scope, Statement, ValueId, is_within,
};
use std::collections::{BTreeMap, BTreeSet};
use weft_affine::{Error, Expr};
use weft_hlo::ir::ArenaId;

/// What is known of a function about to become one of vectors.
pub(super) struct Analysis<'k> {
    kernel: &'k Kernel,
    pub(super) substitution: Substitution,
    /// For each value whether it differs from lane to lane.
    varying: Vec<bool>,
    /// Indices by where they are held.
    indices: BTreeMap<usize, Stepped>,
    /// Conditions on indices by where their first blocks are held.
    tests: BTreeMap<usize, Test>,
    changed: bool,
}

/// Where something of a function that stays as it is is held.
fn place<T>(held: &T) -> usize {
    std::ptr::from_ref(held).addr()
}

impl<'k> Analysis<'k> {
    /// The analysis of a variant of a function.
    pub(super) fn of(
        kernel: &'k Kernel,
        function: &Function,
        variant: Variant,
        held: Held,
        known: &Known,
    ) -> Result<Self, Refusal> {
        let bound = u32::try_from(known.ranges.runtime.len()).unwrap_or(u32::MAX);
        let substitution = Substitution { axis: variant.axis, lanes: held.lanes(), varying: BTreeSet::new(), bound };
        let varying = vec![false; function.values.len()];
        let mut analysis =
            Analysis { kernel, substitution, varying, indices: BTreeMap::new(), tests: BTreeMap::new(), changed: true };
        function.parameters.iter().for_each(|parameter| analysis.varying[parameter.index()] = true);
        // Loops carry what differs from their ends to their beginnings.
        while analysis.changed {
            analysis.changed = false;
            analysis.block(&function.body, known.clone())?;
        }
        Ok(analysis)
    }

    /// Whether an operand differs from lane to lane.
    pub(super) fn varies(&self, operand: Operand) -> bool {
        match operand {
            Operand::Value(value) => self.varying[value.index()],
            Operand::Constant(_) => false,
        }
    }

    /// An index of the function in all lanes.
    pub(super) fn index(&self, index: &Expr) -> Option<&Stepped> {
        self.indices.get(&place(index))
    }

    /// The condition of an `if` whose first block this is.
    pub(super) fn test(&self, then: &Block) -> Option<&Test> {
        self.tests.get(&place(then))
    }

    fn set(&mut self, value: ValueId, varies: bool) {
        if varies && !self.varying[value.index()] {
            self.varying[value.index()] = true;
            self.changed = true;
        }
    }

    fn any(&self, operands: &[Operand]) -> bool {
        operands.iter().any(|operand| self.varies(*operand))
    }

    fn block(&mut self, block: &Block, mut known: Known) -> Result<(), Refusal> {
        for statement in &block.statements {
            self.statement(statement, &known)?;
            if let Statement::Bind { binding, .. } = statement {
                for lane in 0..self.substitution.lanes {
                    let variable = self.substitution.runtime(binding.variable, lane);
                    known.bind(&crate::kernel::Binding { variable, ..binding.clone() });
                }
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement, known: &Known) -> Result<(), Refusal> {
        let mut differs = self.any(&statement.operands());
        if !matches!(statement, Statement::If { .. }) {
            for index in statement.indices() {
                let stepped = self.substitution.stepped(index, known)?;
                differs |= stepped.step != Step::Uniform;
                self.indices.insert(place(index), stepped);
            }
        }
        match statement {
            Statement::Let { value, op } => {
                if matches!(op, ScalarOp::Join { .. } | ScalarOp::Half { .. }) {
                    return Err(Refusal::Doubles);
                }
                if matches!(op, ScalarOp::Splat { .. } | ScalarOp::Compose { .. } | ScalarOp::Lane { .. }) {
                    return Err(Refusal::Vectors);
                }
                if matches!(op, ScalarOp::Member { apart, .. } if !apart.is_multiple_of(self.substitution.lanes)) {
                    return Err(Refusal::Effects);
                }
                self.set(*value, differs);
            }
            Statement::Call { values, .. } => values.iter().for_each(|value| self.set(*value, differs)),
            Statement::If { values, condition, then, otherwise } => {
                let (mut inside, mut outside) = (known.clone(), known.clone());
                match condition {
                    Condition::Indices(constraints) => {
                        let mut test = self.substitution.test(constraints, known)?;
                        if let (Test::Split(_), true) = (&test, otherwise.statements.is_empty())
                            && let Some(selection) = self.substitution.selection(constraints, known)?
                            && self.is_speculative(then, &known.when(&selection.any))?
                        {
                            test = Test::Selected(selection);
                        }
                        let (Test::Uniform(tested)
                        | Test::Split(tested)
                        | Test::Selected(Selection { any: tested, .. })) = &test;
                        inside = known.when(tested);
                        if matches!(test, Test::Uniform(_)) {
                            outside = known.unless(tested);
                        }
                        differs = !matches!(test, Test::Uniform(_));
                        self.tests.insert(place(then), test);
                    }
                    Condition::Value(_) if differs && !(otherwise.statements.is_empty() && is_computed(then)) => {
                        return Err(Refusal::Branch);
                    }
                    Condition::InBounds(_) if differs => return Err(Refusal::Branch),
                    Condition::Value(_) => {}
                    Condition::InBounds(bindings) => {
                        for binding in bindings {
                            let variable = self.substitution.runtime(binding.variable, 0);
                            inside.bind(&crate::kernel::Binding { variable, ..binding.clone() });
                        }
                    }
                }
                self.block(then, inside)?;
                self.block(otherwise, outside)?;
                for (position, value) in values.iter().enumerate() {
                    let yielded: Vec<Operand> =
                        [then, otherwise].iter().filter_map(|block| block.results.get(position)).copied().collect();
                    let varies = differs || self.any(&yielded);
                    self.set(*value, varies);
                }
            }
            Statement::Loop { values, extents, init, accumulators, body } => {
                self.carried(init, accumulators, values);
                self.block(body, known.in_loop(extents))?;
                self.carried(&body.results, accumulators, values);
            }
            Statement::While { values, init, accumulators, condition, body } => {
                self.carried(init, accumulators, values);
                self.block(condition, known.clone())?;
                if self.any(&condition.results) {
                    return Err(Refusal::Branch);
                }
                self.block(body, known.clone())?;
                self.carried(&body.results, accumulators, values);
            }
            Statement::Bind { binding, .. } => {
                if self.varies(binding.value) {
                    self.changed |= self.substitution.varying.insert(binding.variable);
                }
            }
            // What the lanes of an invocation have becomes one value with all others, unless they belong to parts of their own.
            Statement::Collective { values, scope, .. } => {
                let is_apart = matches!(scope, Scope::Part { apart, .. } if *apart > 1);
                values.iter().for_each(|value| self.set(*value, is_apart));
            }
            Statement::Store { .. } | Statement::Barrier => {}
            // A subgroup does it, whatever its members are lanes of.
            Statement::Matrix(_) if differs => return Err(Refusal::Effects),
            Statement::Matrix(_) => {}
            Statement::Merge { .. } | Statement::Update { .. } | Statement::Share { .. } | Statement::Name { .. } => {
                return Err(Refusal::Effects);
            }
        }
        Ok(())
    }

    /// Whether a block may be run in all lanes, also in those that its condition does not hold in: it reads within memories, and does
    /// nothing else but compute values.
    fn is_speculative(&self, block: &Block, known: &Known) -> Result<bool, Error> {
        for statement in &block.statements {
            let op = match statement {
                Statement::Let { op, .. } => op,
                Statement::If { condition: Condition::Value(_), then, otherwise, .. }
                    if otherwise.statements.is_empty() && is_computed(then) =>
                {
                    continue;
                }
                _ => return Ok(false),
            };
            let (memory, index) = match (op, op.indices()) {
                (_, []) => continue,
                (ScalarOp::Extract { memory, .. }, [index]) => (&self.kernel.memories[*memory], index),
                _ => return Ok(false),
            };
            let Some(count) = memory.shape.element_count() else { return Ok(false) };
            let lanes = self.substitution.stepped(index, known)?.lanes;
            if !lanes.iter().all(|index| is_within(index, count, known)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What differs before a round differs after the loop.
    fn carried(&mut self, operands: &[Operand], accumulators: &[ValueId], values: &[ValueId]) {
        for ((operand, accumulator), value) in operands.iter().zip(accumulators).zip(values) {
            let varies = self.varies(*operand) || self.varies(Operand::Value(*accumulator));
            self.set(*accumulator, varies);
            self.set(*value, varies);
        }
    }
}

/// Whether a block does nothing but compute values of others, so that it may be run in all lanes.
fn is_computed(block: &Block) -> bool {
    block.statements.iter().all(|it| matches!(it, Statement::Let { op, .. } if op.indices().is_empty()))
}
