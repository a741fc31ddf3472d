//! What is known of a kernel that others may be merged with.

use super::super::group::Group;
use crate::access::element_count;
use crate::cost::{operation_cost, weight};
use crate::estimate::{Moved, OperandReads};
use crate::plan::{Emitter, FusionPlan};
use crate::{Estimate, Form, Target};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{Computation, InstrId, Module};

/// Work may grow by this part where that saves time.
const MORE: f64 = 0.25;

/// A kernel with its costs.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    /// What it takes.
    pub(super) estimate: Estimate,
    /// What it reads of each of its inputs.
    reads: BTreeMap<InstrId, OperandReads>,
    shape: Shaped,
    /// Rounds that loops make for an element more than once.
    rounds: f64,
    /// Where all that it computes is one function of the elements of its results: the inputs that it reads at these elements alone.
    pointwise: Option<BTreeSet<InstrId>>,
}

/// What a kernel is shaped around.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Shaped {
    Loop,
    /// So many transpositions go through tiles.
    Tiled(usize),
    Rows,
    /// So many sums of products have tiles.
    Products(usize),
    /// So many, and rows of them are folded.
    FoldedProducts(usize),
    Attention,
}

impl Kernel {
    /// That of a group by the plan of its computation.
    pub(super) fn of(
        (module, source, group): (&Module, &Computation, &Group),
        computation: &Computation,
        plan: &FusionPlan,
        target: &Target,
    ) -> Kernel {
        let of_parameters = OperandReads::all(computation, plan, target);
        let reads = (computation.parameters().into_iter().zip(&group.inputs))
            .filter_map(|(parameter, input)| Some((*input, *of_parameters.get(&parameter)?)))
            .collect();
        let shape = match plan.emitter() {
            Emitter::Reduced(_) => Shaped::Rows,
            Emitter::Product(_) if plan.rows_of_sums().is_some() => Shaped::FoldedProducts(plan.factors().len()),
            Emitter::Product(_) => Shaped::Products(plan.factors().len()),
            Emitter::Attention(_) => Shaped::Attention,
            Emitter::Transposed(_) => {
                Shaped::Tiled(plan.heroes().iter().filter(|hero| hero.why_loop.is_none()).count())
            }
            _ => Shaped::Loop,
        };
        let is_pointwise = shape == Shaped::Loop && plan.functions().len() == 1 && plan.heroes().is_empty();
        Kernel {
            estimate: Estimate::with_reads(module, computation, plan, &of_parameters, target),
            reads,
            shape,
            rounds: plan.repeated_iterations(),
            pointwise: is_pointwise.then(|| read_elementwise(source, group)),
        }
    }

    /// That of two kernels of the same elements which are one function each, and read no more of each other's results than the elements that they compute: it follows without a plan.
    pub(super) fn joined(
        (one, two): (&Kernel, &Kernel),
        (own, other, merged): (&Group, &Group, &Group),
        source: &Computation,
        target: &Target,
    ) -> Option<Kernel> {
        let (first, second) = (one.pointwise.as_ref()?, two.pointwise.as_ref()?);
        let extents = |group: &Group| {
            let root = group.roots.first()?;
            Some(&source.instructions[*root].shape.as_array()?.extents)
        };
        let fits = |reader: &Group, at: &BTreeSet<InstrId>, writer: &Group| {
            writer.roots.iter().all(|root| !reader.inputs.contains(root) || at.contains(root))
        };
        if extents(own)? != extents(other)? || !fits(own, first, other) || !fits(other, second, own) {
            return None;
        }
        let again = own.members.intersection(&other.members).map(|id| {
            let instruction = &source.instructions[*id];
            operation_cost(&instruction.op) * weight(instruction) * element_count(&instruction.shape)
        });
        let units = (one.estimate.units + two.estimate.units - again.sum::<f64>()).max(0.0);
        let mut reads = BTreeMap::new();
        for input in &merged.inputs {
            let found = match (one.reads.get(input), two.reads.get(input)) {
                (Some(one), Some(two)) => one.with(two),
                (Some(only), None) | (None, Some(only)) => *only,
                (None, None) => continue,
            };
            reads.insert(*input, found);
        }
        let written = merged.roots.iter().map(|root| Form::shape_bytes(&source.instructions[*root].shape) as f64).sum();
        let moved = Moved::of(reads.values(), written);
        let elements = merged.roots.iter().map(|root| element_count(&source.instructions[*root].shape));
        let estimate = Estimate::made_of(moved, units, elements.fold(0.0, f64::max), target);
        let pointwise = first.union(second).filter(|input| merged.inputs.contains(input)).copied();
        // What one of them reads elsewhere, too, is read elsewhere.
        let elsewhere = |input: &InstrId| {
            own.inputs.contains(input) && !first.contains(input)
                || other.inputs.contains(input) && !second.contains(input)
        };
        let pointwise = Some(pointwise.filter(|input| !elsewhere(input)).collect());
        Some(Kernel { estimate, reads, shape: Shaped::Loop, rounds: one.rounds + two.rounds, pointwise })
    }

    /// Whether a kernel of two others computes so much more than these do together that no model is trusted with it ([`MORE`]), or loops again over what they loop over once.
    pub(super) fn computes_more_than(&self, one: &Kernel, two: &Kernel) -> bool {
        let units = one.estimate.units + two.estimate.units;
        self.estimate.units > units * (1.0 + MORE) || self.rounds > one.rounds + two.rounds
    }

    /// Whether each element is computed by itself.
    pub(super) fn is_loop(&self) -> bool {
        self.shape == Shaped::Loop
    }

    /// Whether it is shaped around its sums of products, which are so many.
    pub(super) fn is_product_of(&self, count: usize) -> bool {
        count == 0 || self.shape == Shaped::Products(count) || self.shape == Shaped::FoldedProducts(count)
    }

    /// Whether it folds rows of the sums of products that it is shaped around.
    pub(super) fn folds_products(&self) -> bool {
        matches!(self.shape, Shaped::FoldedProducts(_))
    }

    /// Whether it is shaped around all that another is shaped around: rows, as many transpositions, and as many sums of products.
    pub(super) fn is_at_least(&self, other: &Kernel) -> bool {
        match (self.shape, other.shape) {
            (Shaped::Attention, _) => true,
            (_, Shaped::Attention) => false,
            (Shaped::FoldedProducts(own), Shaped::FoldedProducts(others) | Shaped::Products(others))
            | (Shaped::Products(own), Shaped::Products(others)) => own >= others,
            (_, Shaped::FoldedProducts(_) | Shaped::Products(_)) => false,
            (Shaped::FoldedProducts(_), _) => true,
            // What is transposed are the sums, which are written in that order.
            (Shaped::Products(_), Shaped::Tiled(_)) => true,
            (Shaped::Tiled(own), Shaped::Tiled(others)) => own >= others,
            (_, Shaped::Tiled(_)) => false,
            (Shaped::Rows, _) => true,
            (_, Shaped::Rows) => false,
            (_, Shaped::Loop) => true,
        }
    }
}

/// The inputs of a group that its members read element by element, and no otherwise.
fn read_elementwise(source: &Computation, group: &Group) -> BTreeSet<InstrId> {
    let mut read = group.inputs.clone();
    for member in &group.members {
        let instruction = &source.instructions[*member];
        if !instruction.op.opcode().is_elementwise() {
            instruction.operands.iter().for_each(|operand| {
                read.remove(operand);
            });
        }
    }
    read
}
