//! The walk over what a loop runs.

use crate::{Fused, FusionPlan, Site, Target};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ArrayShape, Computation, ComputationId, ElementType, InstrId, Instruction, Op, Shape};

/// A value of a round before it has a place.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// A leaf of what the loop carries.
    Leaf(usize),
    Constant(Site),
    /// What a step makes.
    Made(usize),
}

/// A step of a round before its values have places.
pub(super) enum Walked {
    Fusion {
        fusion: Site,
        plan: Box<FusionPlan>,
        operands: Vec<Value>,
        results: Vec<usize>,
    },
    Loop {
        rounds: u32,
        /// What it carries: what that begins with, what it is made as, and what a round makes of it.
        carried: Vec<(Value, usize, Value)>,
        body: Vec<Walked>,
    },
    Choice {
        selector: Value,
        is_pred: bool,
        branches: Vec<(Vec<Walked>, Vec<Value>)>,
        results: Vec<usize>,
    },
}

impl Walked {
    /// What it makes that is there behind it.
    pub(super) fn makes(&self) -> Vec<usize> {
        match self {
            Walked::Fusion { results, .. } | Walked::Choice { results, .. } => results.clone(),
            Walked::Loop { carried, .. } => carried.iter().map(|(_, made, _)| *made).collect(),
        }
    }

    /// What it needs, and what the steps within it need and make.
    pub(super) fn touches(&self, touched: &mut Vec<Value>) {
        match self {
            Walked::Fusion { operands, results, .. } => {
                touched.extend(operands);
                touched.extend(results.iter().copied().map(Value::Made));
            }
            Walked::Loop { carried, body, .. } => {
                for (initial, made, next) in carried {
                    touched.extend([*initial, Value::Made(*made), *next]);
                }
                body.iter().for_each(|step| step.touches(touched));
            }
            Walked::Choice { selector, branches, results, .. } => {
                touched.push(*selector);
                touched.extend(results.iter().copied().map(Value::Made));
                for (steps, results) in branches {
                    touched.extend(results);
                    steps.iter().for_each(|step| step.touches(touched));
                }
            }
        }
    }
}

/// The walk over condition and body.
pub(super) struct Walk<'a> {
    fused: &'a Fused,
    target: &'a Target,
    refused: BTreeSet<Site>,
    /// The shapes of what steps make.
    pub(super) made: Vec<ArrayShape>,
    /// What loops within a round are given and pass on as it is: the values that it is.
    passed_on: BTreeMap<Value, Value>,
}

/// The steps of a computation, and the leaves of its result.
type Steps = (Vec<Walked>, Vec<Value>);

impl<'a> Walk<'a> {
    pub(super) fn new(fused: &'a Fused, target: &'a Target, refused: BTreeSet<Site>) -> Self {
        Walk { fused, target, refused, made: Vec::new(), passed_on: BTreeMap::new() }
    }

    /// The value that a value is.
    pub(super) fn known(&self, mut value: Value) -> Value {
        while let Some(other) = self.passed_on.get(&value) {
            value = *other;
        }
        value
    }

    /// The steps of a computation whose parameters have these leaves.
    pub(super) fn block(&mut self, id: ComputationId, arguments: &[Value]) -> Result<Steps, String> {
        let computation = &self.fused.module.computations[id];
        let mut of: BTreeMap<InstrId, Vec<Value>> = BTreeMap::new();
        let mut arguments = arguments.iter().copied();
        for parameter in computation.parameters() {
            let count = computation.instructions[parameter].shape.leaves().len();
            of.insert(parameter, arguments.by_ref().take(count).collect());
        }
        let mut steps = Vec::new();
        for (instruction_id, instruction) in computation.instructions.iter() {
            let site = Site { computation: id, instruction: instruction_id };
            let operand = |position: usize| {
                let operand = instruction.operands.get(position)?;
                of.get(operand).cloned()
            };
            let all = || (0..instruction.operands.len()).filter_map(operand).flatten().collect::<Vec<Value>>();
            let leaves = match &instruction.op {
                Op::Parameter { .. } => continue,
                Op::Constant(_) => vec![Value::Constant(site)],
                Op::Tuple => all(),
                Op::GetTupleElement { index } => element(computation, instruction_id, *index, operand(0))
                    .ok_or_else(|| format!("%{} has no such element", instruction.name))?,
                Op::Fusion { calls, .. } if !self.refused.contains(&site) => {
                    let (plan, operands) = (self.plan(*calls)?, all());
                    let results = self.make(instruction)?;
                    let leaves = results.iter().copied().map(Value::Made).collect();
                    steps.push(Walked::Fusion { fusion: site, plan: Box::new(plan), operands, results });
                    leaves
                }
                Op::While { body, .. } => {
                    let Some(rounds) = self.fused.trip_counts.get(&site).copied() else {
                        return Err(format!(
                            "%{} stands in it, which makes nobody knows how many rounds",
                            instruction.name
                        ));
                    };
                    let many = |_| format!("%{} stands in it, which makes {rounds} rounds", instruction.name);
                    let rounds = u32::try_from(rounds).map_err(many)?;
                    let (step, leaves) = self.repeated(instruction, rounds, *body, all())?;
                    steps.extend(step);
                    leaves
                }
                Op::Conditional { branches, .. } => {
                    let operands = (0..instruction.operands.len()).filter_map(operand).collect::<Vec<_>>();
                    let (step, leaves) = self.chosen(computation, instruction, branches, &operands)?;
                    steps.push(step);
                    leaves
                }
                op => return Err(format!("'{}' stands in it", op.name())),
            };
            of.insert(instruction_id, leaves);
        }
        let result = of.remove(&computation.root).ok_or("it returns nothing")?;
        Ok((steps, result))
    }

    /// New values for the leaves of what an instruction makes.
    fn make(&mut self, instruction: &Instruction) -> Result<Vec<usize>, String> {
        let mut results = Vec::new();
        for leaf in instruction.shape.leaves() {
            let none = || format!("%{} makes something that is no array", instruction.name);
            let shape = leaf.as_array().ok_or_else(none)?;
            if shape.element_count().is_none_or(|count| count == 0) {
                return Err(format!("%{} has no elements", instruction.name));
            }
            results.push(self.made.len());
            self.made.push(ArrayShape { layout: None, ..shape.clone() });
        }
        Ok(results)
    }

    /// A loop of a known number of rounds, and what is left behind it.
    fn repeated(
        &mut self,
        instruction: &Instruction,
        rounds: u32,
        body: ComputationId,
        initial: Vec<Value>,
    ) -> Result<(Option<Walked>, Vec<Value>), String> {
        if rounds == 0 {
            return Ok((None, initial));
        }
        let made = self.make(instruction)?;
        let state: Vec<Value> = made.iter().copied().map(Value::Made).collect();
        let (steps, next) = self.block(body, &state)?;
        if initial.len() != state.len() || next.len() != state.len() {
            return Err(format!("%{} does not return what it is given", instruction.name));
        }
        for ((state, next), initial) in state.iter().zip(&next).zip(&initial) {
            if state == next {
                self.passed_on.insert(*state, *initial);
            }
        }
        let carried = initial.into_iter().zip(made).zip(next);
        let carried = carried.filter(|((_, made), next)| Value::Made(*made) != *next);
        let carried: Vec<_> = carried.map(|((initial, made), next)| (initial, made, next)).collect();
        let leaves = state.into_iter().map(|state| self.known(state)).collect();
        Ok((Some(Walked::Loop { rounds, carried, body: steps }), leaves))
    }

    /// A conditional, and what its branches yield.
    fn chosen(
        &mut self,
        computation: &Computation,
        instruction: &Instruction,
        branches: &[ComputationId],
        operands: &[Vec<Value>],
    ) -> Result<(Walked, Vec<Value>), String> {
        let none = || format!("%{} has no selector", instruction.name);
        let (selector, arguments) = operands.split_first().ok_or_else(none)?;
        let selector = *selector.first().ok_or_else(none)?;
        let of = instruction.operands.first().and_then(|id| computation.instructions[*id].shape.as_array());
        let is_pred = of.ok_or_else(none)?.element_type == ElementType::Pred;
        let results = self.make(instruction)?;
        let mut walked = Vec::with_capacity(branches.len());
        for (branch, arguments) in branches.iter().zip(arguments) {
            walked.push(self.block(*branch, arguments)?);
        }
        let leaves = results.iter().copied().map(Value::Made).collect();
        Ok((Walked::Choice { selector, is_pred, branches: walked, results }, leaves))
    }

    /// The plan of a fusion by which every element of its results is computed.
    fn plan(&self, calls: ComputationId) -> Result<FusionPlan, String> {
        let plan = self.fused.plan(calls).ok_or("a fusion in it has no plan")?;
        // What invocations do together they do for one kernel.
        if plan.updates().is_empty() && plan.passes().is_empty() && plan.factors().is_empty() {
            return Ok(plan.clone());
        }
        FusionPlan::of_loop(&self.fused.module.computations[calls], self.target)
            .map_err(|findings| findings.to_string())
    }
}

/// The leaves of an element of a tuple.
fn element(computation: &Computation, id: InstrId, index: i64, all: Option<Vec<Value>>) -> Option<Vec<Value>> {
    let whole = &computation.instructions[*computation.instructions[id].operands.first()?].shape;
    let elements = whole.as_tuple()?;
    let index = usize::try_from(index).ok()?;
    let count = |shape: &Shape| shape.leaves().len();
    let first: usize = elements.iter().take(index).map(count).sum();
    all?.get(first..first + count(elements.get(index)?)).map(<[Value]>::to_vec)
}
