//! Plans around a sum of products: functions of the elements of both operands, and of what is computed of the sums.

use super::planner::Planner;
use super::reduced::Refused;
use super::{Emitter, FunctionId, FusionPlan, Read, Root, Tail, leaf_extents};
use crate::access::{Access, Counted, identity, is_bitcast};
use crate::contraction::{Contraction, Side, branches, feeding};
use crate::form::Form;
use crate::product::Product;
use crate::{CooperativeMatrix, Target, live};
use std::collections::BTreeMap;
use weft_affine::{Constraint, Expr};
use weft_hlo::ir::{ArenaId, Computation, ElementType, InstrId, Instruction, Op};
use weft_indexing::{IndexingMap, Limits};

/// Sums of products that a kernel is shaped around, at most.
pub(crate) const MOST_SUMS: usize = 8;

/// A sum of products that a kernel is shaped around.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// The dot or convolution.
    pub dot: InstrId,
    /// The function of the left operand's elements, of the indices `(o, r, k)` of [`Product`](crate::Product), or by these of the [window](Factors::window).
    pub lhs: FunctionId,
    /// The function of the right operand's elements, of the indices `(o, k, c)`.
    pub rhs: FunctionId,
    /// From the indices `(o, r, k)`, or `(o, r, k, c)` if [columns read each its own](crate::Product::apart), to those of the left function, where a window covers an element of the operand not for all of them; outside the domain there is no product.
    pub window: Option<IndexingMap>,
    /// From the indices `(o, r, c)` to those of the results, where these do not lie in this order.
    pub results: Option<IndexingMap>,
}

impl Factors {
    /// What the indices of an element of the left matrices have to be in for it to be one of the operand.
    pub fn domain(&self) -> impl Iterator<Item = Constraint> + '_ {
        self.window.iter().flat_map(|window| {
            let bounds = (0u32..).map(Expr::dim).zip(window.dims());
            let bounds = bounds.map(|(index, known)| Constraint::new(index, known.bounds()));
            bounds.chain(window.constraints().iter().cloned())
        })
    }
}

impl Planner<'_> {
    /// The plan that is shaped around the dots of the computation, whose tiles are alike, or why there is none.
    pub(super) fn plan_product(mut self, target: &Target) -> Result<FusionPlan, Refused> {
        let computation = self.computation;
        let live = live(computation);
        let is_dot = |id: &InstrId| {
            live[id.index()] && matches!(computation.instructions[*id].op, Op::Dot { .. } | Op::Convolution { .. })
        };
        let dots: Vec<InstrId> = computation.instructions.ids().filter(is_dot).collect();
        let dot = match dots[..] {
            [] => return Err("there are no sums of products".to_owned().into()),
            [dot, ..] if dots.len() <= MOST_SUMS => dot,
            _ => return Err(format!("{} sums of products are too many for a kernel", dots.len()).into()),
        };
        let leaves = computation.instructions[computation.root].shape.leaves();
        let arrays: Vec<_> = leaves.into_iter().filter_map(|leaf| leaf.as_array()).collect();
        let results: Vec<_> = arrays.iter().map(|array| array.element_type).collect();
        let (product, contraction) = Product::of(computation, dot, (&results, dots.len()), target)?;
        if target.is_software() && !product.transforms {
            let feeds = feeding(computation, |id| dots.contains(&id));
            let is_meant = |(id, instruction): &(InstrId, &Instruction)| feeds[id.index()] && branches(&instruction.op);
            if let Some((_, branch)) = computation.instructions.iter().find(is_meant) {
                return Err(format!("{} branches, and tiles would for each element", branch.name).into());
            }
        }
        let mut contractions = vec![contraction];
        for other in &dots[1..] {
            let types = |dot: InstrId| types(computation, dot);
            let (tiles, contraction) = Product::of(computation, *other, (&results, dots.len()), target)?;
            let first = &contractions[0];
            let is_alike = contraction.is_in_order && first.is_in_order || contraction.results == first.results;
            if types(*other) != types(dot) || tiles != product || !is_alike {
                let [one, other] = [dot, *other].map(|id| &computation.instructions[id].name);
                return Err(format!("{one} and {other} are sums of different shapes").into());
            }
            contractions.push(contraction);
        }
        let bound = computation.parameters().into_iter().map(|id| &computation.instructions[id].shape);
        let most = bound.map(Form::shape_bytes).chain(arrays.into_iter().filter_map(Form::tensor_bytes)).max();
        if most.is_some_and(|most| most > target.max_storage_binding_bytes) {
            let (bound, most) = (target.max_storage_binding_bytes, most.unwrap_or(0));
            return Err(format!("a kernel binds {bound} bytes of a tensor, which has {most}").into());
        }
        let sums = reached(computation, &dots);
        let outputs = self.add_outputs_by(|root| sums[root.index()])?;
        for output in &outputs {
            let function = &self.functions[output.0 as usize];
            let elements: i64 = function.extents.iter().product();
            if elements != product.elements() {
                let (name, all) = (&function.name, product.elements());
                return Err(format!("{name} has {elements} elements, and there are {all} sums").into());
            }
        }
        let Some((factors, tails)) = self.divide_around(&dots, &contractions, &product, &outputs)? else {
            return Err("outputs read it at other elements than their own".to_owned().into());
        };
        let is_packed = |ty: &ElementType| Form::of(*ty).is_some_and(Form::is_packed);
        let is_in_order = contractions[0].is_in_order;
        let is_own = |output: &&FunctionId| is_in_order && tails.iter().all(|tail| tail.function != **output);
        for output in outputs.iter().filter(is_own) {
            let function = &self.functions[output.0 as usize];
            if !keeps_sides(&function.extents, &product) {
                let (name, extents) = (&function.name, &function.extents);
                return Err(
                    format!("{name} has {extents:?} elements, which rows and columns of sums do not divide").into()
                );
            }
        }
        if (!tails.is_empty() || !contractions[0].keeps_columns()) && results.iter().any(is_packed) {
            return Err("results that share words are in another order than the sums".to_owned().into());
        }
        let names: Vec<&str> = dots.iter().map(|dot| computation.instructions[*dot].name.as_str()).collect();
        let how = match product.matrices {
            Some(CooperativeMatrix { m, n, k, factor, sum }) => {
                format!(", of which subgroups multiply matrices of {m} by {n} by {k}, {factor} into {sum}")
            }
            None => product
                .why_no_matrices(&contractions[0], (computation, dot), dots.len(), target)
                .map_or_else(String::new, |why| format!(", and no matrices of subgroups: {why}")),
        };
        let why = match names[..] {
            [name] => format!("{name}: it goes through tiles{how}"),
            _ => format!("{}: they go through tiles{how}", names.join(", ")),
        };
        let plan = self.finish(outputs, Emitter::Product(product), Vec::new(), why);
        Ok(FusionPlan { factors, tails, ..plan })
    }

    /// Divides what the outputs need into functions; the functions of the operands, and the order of outputs that have another than the sums, if outputs alone read these, each sum once.
    fn divide_around(
        &mut self,
        dots: &[InstrId],
        contractions: &[Contraction],
        product: &Product,
        outputs: &[FunctionId],
    ) -> Result<Option<Division>, Refused> {
        (self.outputs, self.is_around_sums) = (product.elements() as f64, true);
        let mut orders = Orders { product: *product, known: BTreeMap::new() };
        let mut factors = Vec::with_capacity(dots.len());
        for id in self.divided() {
            let place = dots.iter().position(|dot| *dot == id);
            match place.map(|place| &contractions[place]) {
                Some(contraction) => {
                    if !self.give_sums(id, contraction, outputs, &mut orders) {
                        return Ok(None);
                    }
                    factors.push(self.factors(id, contraction, product));
                }
                None => self.visit(id, outputs)?,
            }
        }
        self.list_members();
        factors.reverse();
        let order = |(function, map): (FunctionId, Option<IndexingMap>)| Some(Tail { function, map: map? });
        let tails = orders.known.into_iter().filter_map(order).collect();
        Ok(Some((factors, tails)))
    }

    /// Has the outputs be given the sums, if they alone read them, each element one.
    fn give_sums(
        &mut self,
        dot: InstrId,
        contraction: &Contraction,
        outputs: &[FunctionId],
        orders: &mut Orders,
    ) -> bool {
        let computation = self.computation;
        let accesses = std::mem::take(&mut self.accesses[dot.index()]);
        for Counted { access, .. } in &accesses {
            let own = &self.functions[access.function.0 as usize].extents;
            let is_plain = access.block.is_none() && !access.is_guarded && outputs.contains(&access.function);
            let order = self.order_of((dot, contraction), &access.map, own, &orders.product);
            let Some(order) = order.filter(|_| is_plain) else { return false };
            if *orders.known.entry(access.function).or_insert_with(|| order.clone()) != order {
                return false;
            }
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
        !accesses.is_empty()
    }

    /// The order of elements that read those of a dot through a map, each another one: from its indices, where it is not the same; `None` where they do not, or tiles are no tiles of them.
    fn order_of(
        &self,
        (dot, contraction): (InstrId, &Contraction),
        map: &IndexingMap,
        extents: &[i64],
        product: &Product,
    ) -> Option<Option<IndexingMap>> {
        let sums = leaf_extents(&self.computation.instructions[dot].shape);
        if is_bitcast(map, extents, &sums) && (contraction.is_in_order || extents == sums) {
            return Some(None);
        }
        let count = |extents: &[i64]| extents.iter().copied().fold(1, i64::saturating_mul);
        let is_plain = map.ranges().is_empty() && map.runtime().is_empty() && map.constraints().is_empty();
        if !is_plain || count(extents) != count(&sums) {
            return None;
        }
        let inverse = map.inverse(&Limits::default()).ok()?;
        let mut whole = contraction.results.then(&inverse).ok()?;
        whole.simplify();
        let is_tiled = inverse.constraints().is_empty() && whole.results().iter().all(|index| product.divides(index));
        is_tiled.then_some(Some(inverse))
    }

    /// The functions of the operands of a dot: of the indices of matrices, or where these have more elements than the operand of its own.
    pub(super) fn factors(&mut self, dot: InstrId, contraction: &Contraction, product: &Product) -> Factors {
        let computation = self.computation;
        let [left, right, _] = contraction.extents();
        let mut window = None;
        let sides = [(&contraction.lhs, left), (&contraction.rhs, right)].into_iter().zip(product.evaluations());
        let mut functions = [FunctionId(0); 2];
        for (function, ((Side { operand, indices, is_partial }, matrix), evaluations)) in
            functions.iter_mut().zip(sides)
        {
            let operand = computation.instructions[dot].operands[*operand];
            let (map, extents) = match is_partial {
                true => {
                    window = Some(indices.clone());
                    let extents = leaf_extents(&computation.instructions[operand].shape);
                    (identity(&extents), extents)
                }
                false => (indices.clone(), matrix.to_vec()),
            };
            let root = Root { instruction: operand, map: map.clone() };
            let reason = "it computes an operand of the sums".to_owned();
            *function = self.add_function(root, extents, reason, evaluations);
            let access = Access { function: *function, block: None, depth: 0, is_guarded: false, map };
            self.accesses[operand.index()].push(Counted { access, evaluations });
        }
        let [lhs, rhs] = functions;
        let results = (!contraction.is_in_order).then(|| contraction.results.clone());
        Factors { dot, lhs, rhs, window, results }
    }
}

/// The functions of operands, and the orders of outputs.
type Division = (Vec<Factors>, Vec<Tail>);

/// For each function of outputs the order of its elements, of sums: row-major, or by a map from their indices.
struct Orders {
    product: Product,
    known: BTreeMap<FunctionId, Option<IndexingMap>>,
}

/// Whether no dimension of as many elements as there are sums, in their order, is made of part of a side and of what lies beyond it: of some columns and a row, or of some rows and a matrix.
fn keeps_sides(extents: &[i64], product: &Product) -> bool {
    let ends = [product.columns, product.columns.saturating_mul(product.rows)];
    let mut stride: i64 = 1;
    extents.iter().rev().all(|extent| {
        let first = stride;
        stride = stride.saturating_mul(*extent);
        first == 1 || ends.contains(&first) || !ends.iter().any(|end| first < *end && *end < stride)
    })
}

/// For each instruction the sums of products that it is computed of, by their places among these.
fn reached(computation: &Computation, dots: &[InstrId]) -> Vec<u64> {
    let mut reached: Vec<u64> = Vec::with_capacity(computation.instructions.len());
    for (id, instruction) in computation.instructions.iter() {
        let own = dots.iter().position(|dot| *dot == id).map_or(0, |place| 1 << place);
        reached.push(instruction.operands.iter().fold(own, |all, operand| all | reached[operand.index()]));
    }
    reached
}

/// The types of a dot's operands, and of its results.
pub(super) fn types(computation: &Computation, dot: InstrId) -> Vec<Option<ElementType>> {
    let instruction = &computation.instructions[dot];
    let operands = instruction.operands.iter().map(|operand| &computation.instructions[*operand].shape);
    operands.chain([&instruction.shape]).map(|shape| shape.as_array().map(|array| array.element_type)).collect()
}
