//! Plans around attention: functions of the elements of queries, keys and values, of what is computed of each score, and of rows.

mod found;

use super::planner::Planner;
use super::reduced::Refused;
use super::{Emitter, FunctionId, FusionPlan, Read, Root, Tail, leaf_extents};
use crate::Target;
use crate::access::{Access, Counted, read_map};
use crate::attention::Attention;
use crate::contraction::{Contraction, Rows, branches, feeding};
use crate::form::Form;
use crate::product::adds_words;
use found::{Found, moved, reached};
use std::collections::BTreeMap;
use weft_affine::{Expr, Var};
use weft_hlo::ir::{ArenaId, BinaryOp, InstrId, Module, Op, Scalar, identity as neutral};
use weft_indexing::{IndexingMap, Limits};

/// Attention that a kernel is shaped around. Functions of scores have the indices `(o, q, k)` of [`Attention`](crate::Attention), those of rows `(o, q)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attended {
    /// The dot of queries and keys.
    pub scores: InstrId,
    /// The function of the queries' elements, of the indices `(o, q, d)`, and that of the keys', `(o, k, d)`.
    pub query: FunctionId,
    /// As [`query`](Self::query).
    pub key: FunctionId,
    /// Is given a sum of products, and yields what the maximum is of.
    pub score: FunctionId,
    /// The maximum of a row, and what it begins with.
    pub maximum: InstrId,
    /// As [`maximum`](Self::maximum).
    pub least: Scalar,
    /// Of rows: is given the maximum, and yields what exponents are less than scores, where that is another value.
    pub shift: Option<FunctionId>,
    /// Is given the score and what it is reduced by.
    pub exponential: FunctionId,
    /// Is given the exponential, and yields what is added up.
    pub added: FunctionId,
    /// The sum of a row.
    pub sum: InstrId,
    /// What divides exponentials before the program multiplies them.
    pub divided: Option<Divided>,
    /// Is given the exponential, or the quotient in its place, and yields what is multiplied with values.
    pub weight: FunctionId,
    /// The function of the values' elements, of the indices `(o, k, c)`.
    pub value: FunctionId,
    /// The dot of exponentials and values.
    pub result: InstrId,
}

/// A division by a value of the row.
#[derive(Clone, Debug, PartialEq)]
pub struct Divided {
    /// The quotient.
    pub quotient: InstrId,
    /// Is given the exponential, and yields what is divided.
    pub numerator: FunctionId,
    /// Of rows: is given the sum, and yields what divides.
    pub divisor: FunctionId,
}

/// The map with its second and third index exchanged, of so many elements.
fn exchanged(map: &IndexingMap, extents: [i64; 3]) -> Result<IndexingMap, String> {
    substituted(map, &extents, |variable| match variable {
        Var::Dim(1) => Some(Expr::dim(2)),
        Var::Dim(2) => Some(Expr::dim(1)),
        _ => None,
    })
}

/// A map of other indices in place of its own.
fn substituted(map: &IndexingMap, extents: &[i64], with: impl Fn(Var) -> Option<Expr>) -> Result<IndexingMap, String> {
    let results = map.results().iter().map(|index| index.substitute(&with)).collect::<Result<Vec<_>, _>>();
    let results = results.map_err(|error| error.to_string())?;
    let mut whole = IndexingMap::of_extents(extents, &[], results).map_err(|error| error.to_string())?;
    whole.simplify();
    Ok(whole)
}

/// Whether a map uses an index.
fn uses(map: &IndexingMap, dimension: u32) -> bool {
    map.results().iter().any(|index| index.variables().contains(&Var::Dim(dimension)))
}

impl Planner<'_> {
    /// The plan that is shaped around attention, or why there is none.
    pub(super) fn plan_attention(self, module: &Module, target: &Target) -> Result<FusionPlan, Refused> {
        let computation = self.computation;
        let found = Found::of(module, computation)?;
        adds_words(computation, found.scores)?;
        adds_words(computation, found.result)?;
        if target.is_software() {
            let feeds = feeding(computation, |id| id == found.scores || id == found.result);
            let branch = computation.instructions.iter().find(|(id, it)| feeds[id.index()] && branches(&it.op));
            if let Some((_, branch)) = branch {
                return Err(format!("{} branches, and each reader would for each element", branch.name).into());
            }
        }
        let around = Contraction::of(computation, found.result, Rows::Places)?;
        let of_scores = Contraction::of(computation, found.scores, Rows::Places)?;
        let (queries, columns) = match found.weights {
            0 => (around.rows, around.columns),
            _ => (around.columns, around.rows),
        };
        let extents = [around.batch, queries, around.depth, of_scores.depth, columns];
        let form = |id: InstrId| computation.instructions[id].shape.as_array().and_then(|it| Form::of(it.element_type));
        let words = |form: Option<Form>| form.map_or(1, |form| i64::from(form.parts()));
        let [maximum, sum] = [found.maximum, found.sum].map(form);
        let folded_words = match maximum.map(Form::register) == sum.map(Form::register) {
            true => words(maximum).max(words(sum)),
            false => words(maximum) + words(sum),
        };
        let attention = Attention::of(extents, folded_words, target)?;
        let leaves = computation.instructions[computation.root].shape.leaves();
        let arrays: Vec<_> = leaves.into_iter().filter_map(|leaf| leaf.as_array()).collect();
        let bound = computation.parameters().into_iter().map(|id| &computation.instructions[id].shape);
        let most =
            bound.map(Form::shape_bytes).chain(arrays.iter().filter_map(|array| Form::tensor_bytes(array))).max();
        if let Some(most) = most.filter(|most| *most > target.max_storage_binding_bytes) {
            let bound = target.max_storage_binding_bytes;
            return Err(format!("a kernel binds {bound} bytes of a tensor, which has {most}").into());
        }
        let (maps, parts) = (BTreeMap::new(), Parts::default());
        Division { planner: self, attention, found, around, outputs: Vec::new(), tails: Vec::new(), maps, parts }
            .plan(target)
    }
}

/// The division of a computation into the functions of attention.
struct Division<'m> {
    planner: Planner<'m>,
    attention: Attention,
    found: Found,
    /// The dot of the result.
    around: Contraction,
    outputs: Vec<FunctionId>,
    tails: Vec<Tail>,
    /// From `(o, q, k)` to the elements of what is reduced.
    maps: BTreeMap<InstrId, IndexingMap>,
    parts: Parts,
}

/// Functions as far as they are known.
#[derive(Default)]
struct Parts {
    weight: Option<FunctionId>,
    value: Option<FunctionId>,
    divided: Option<Divided>,
    added: Option<FunctionId>,
    exponential: Option<FunctionId>,
    shift: Option<FunctionId>,
    score: Option<FunctionId>,
    operands: Option<[FunctionId; 2]>,
}

impl Division<'_> {
    fn plan(mut self, target: &Target) -> Result<FusionPlan, Refused> {
        let computation = self.planner.computation;
        let of_result = reached(computation, self.found.result);
        let outputs = self.planner.add_outputs_by(|root| u64::from(of_result[root.index()]))?;
        let all = self.attention.batch * self.attention.queries * self.attention.columns;
        for output in &outputs {
            let function = &self.planner.functions[output.0 as usize];
            let is_of_result = function.roots.iter().all(|root| of_result[root.instruction.index()]);
            if !is_of_result || function.extents.iter().product::<i64>() != all {
                return Err(format!("{} has no element for each of the result", function.name).into());
            }
        }
        self.outputs = outputs;
        (self.planner.outputs, self.planner.is_around_sums) = (all as f64, true);
        for id in self.order() {
            match id {
                _ if id == self.found.result => self.result(target)?,
                _ if Some(id) == self.found.quotient => self.quotient(id)?,
                _ if id == self.found.sum => self.sum()?,
                _ if id == self.found.exponential => self.exponential()?,
                _ if id == self.found.maximum => self.maximum()?,
                _ if id == self.found.shift => self.shift()?,
                _ if id == self.found.scores => self.scores()?,
                _ if self.maps.contains_key(&id) && id == self.scored() => self.score()?,
                _ => self.planner.visit(id, &self.outputs)?,
            }
        }
        self.planner.list_members();
        let Division { planner, attention, found, outputs, tails, parts, .. } = self;
        let name = |id: InstrId| &computation.instructions[id].name;
        let splat = |id: InstrId| planner.splats[computation.instructions[id].operands[1].index()];
        let least = splat(found.maximum);
        let is_neutral = |op: BinaryOp, scalar: Scalar| neutral(op, scalar.element_type()) == Some(scalar);
        let Some(least) = least.filter(|least| is_neutral(BinaryOp::Maximum, *least)) else {
            return Err(format!("{} begins with something", name(found.maximum)).into());
        };
        let is_zero = |scalar: &Scalar| scalar.bits() == 0 || is_neutral(BinaryOp::Add, *scalar);
        if splat(found.sum).filter(is_zero).is_none() {
            return Err(format!("{} begins with something", name(found.sum)).into());
        }
        let Parts { weight, value, divided, added, exponential, shift, score, operands } = parts;
        let (Some(weight), Some(value), Some(added), Some(exponential), Some(score), Some([query, key])) =
            (weight, value, added, exponential, score, operands)
        else {
            return Err("a part of attention is missing".to_owned().into());
        };
        let why = format!(
            "{} and {}: scores are never written; {}",
            name(found.scores),
            name(found.result),
            attention.explanation()
        );
        let attended = Attended {
            scores: found.scores,
            query,
            key,
            score,
            maximum: found.maximum,
            least,
            shift,
            exponential,
            added,
            sum: found.sum,
            divided,
            weight,
            value,
            result: found.result,
        };
        let plan = planner.finish(outputs, Emitter::Attention(attention), Vec::new(), why);
        Ok(FusionPlan { tails, attended: Some(attended), ..plan })
    }

    /// What is divided into functions, users before operands; the sum behind the result, by which outputs read it.
    fn order(&self) -> Vec<InstrId> {
        let mut order = self.planner.divided();
        if self.found.sum > self.found.result {
            order.retain(|id| *id != self.found.sum);
            let after = order.iter().position(|id| *id == self.found.result).map_or(0, |place| place + 1);
            order.insert(after, self.found.sum);
        }
        order
    }

    fn name(&self, id: InstrId) -> &str {
        &self.planner.computation.instructions[id].name
    }

    fn operand(&self, id: InstrId, operand: usize) -> InstrId {
        self.planner.computation.instructions[id].operands[operand]
    }

    /// What the maximum is of.
    fn scored(&self) -> InstrId {
        self.operand(self.found.maximum, 0)
    }

    fn space(&self) -> [i64; 3] {
        [self.attention.batch, self.attention.queries, self.attention.keys]
    }

    /// How a value is read, which only these functions do, everywhere.
    fn accesses(&mut self, id: InstrId, functions: &[Option<FunctionId>]) -> Result<Vec<Access>, String> {
        let accesses = std::mem::take(&mut self.planner.accesses[id.index()]);
        let is_plain = |access: &Access| {
            let map = &access.map;
            let is_free = map.ranges().is_empty() && map.runtime().is_empty() && map.constraints().is_empty();
            is_free && access.block.is_none() && !access.is_guarded && functions.contains(&Some(access.function))
        };
        match !accesses.is_empty() && accesses.iter().all(|one| is_plain(&one.access)) {
            true => Ok(accesses.into_iter().map(|one| one.access).collect()),
            false => Err(format!("{} is not read element by element alone", self.name(id))),
        }
    }

    /// The one map of some.
    fn one(&self, id: InstrId, mut maps: impl Iterator<Item = IndexingMap>) -> Result<IndexingMap, String> {
        let different = || format!("{} is read at different elements", self.name(id));
        let first = maps.next().ok_or_else(different)?;
        if maps.all(|map| map == first) { Ok(first) } else { Err(different()) }
    }

    /// Has a value be given to what reads it.
    fn give(&mut self, id: InstrId, accesses: &[Access]) {
        for access in accesses {
            let given = &mut self.planner.functions[access.function.0 as usize].given;
            if !given.contains(&id) {
                given.push(id);
            }
        }
        for (user, instruction) in self.planner.computation.instructions.iter() {
            for (read, operand) in self.planner.reads[user.index()].iter_mut().zip(&instruction.operands) {
                if *operand == id && matches!(read, Read::At(_)) {
                    *read = Read::Given;
                }
            }
        }
    }

    /// A function of so many indices that yields a value.
    fn add(&mut self, id: InstrId, map: &IndexingMap, extents: &[i64], evaluations: f64) -> FunctionId {
        let root = Root { instruction: id, map: map.clone() };
        self.planner.add_function(root, extents.to_vec(), "it is a part of attention".to_owned(), evaluations)
    }

    /// Has a function compute what it yields, and nothing be between.
    fn settled(&mut self, id: InstrId, function: FunctionId, map: IndexingMap) -> Result<(), Refused> {
        let evaluations = self.planner.functions[function.0 as usize].evaluations;
        let access = Access { function, block: None, depth: 1, is_guarded: false, map };
        Ok(self.planner.settle(id, Counted { access, evaluations })?)
    }

    /// Has a function read what it yields.
    fn wanted(&mut self, id: InstrId, function: FunctionId, map: IndexingMap) {
        let evaluations = self.planner.functions[function.0 as usize].evaluations;
        let access = Access { function, block: None, depth: 1, is_guarded: false, map };
        self.planner.accesses[id.index()].push(Counted { access, evaluations });
    }

    /// A function of scores, or of others, that reads a value.
    fn reading(&mut self, id: InstrId, map: IndexingMap, extents: &[i64], evaluations: f64) -> FunctionId {
        let function = self.add(id, &map, extents, evaluations);
        self.wanted(id, function, map);
        function
    }

    /// The same of rows, of a map that is the same for all keys.
    fn of_rows(&self, id: InstrId, map: &IndexingMap) -> Result<IndexingMap, String> {
        match uses(map, 2) {
            true => Err(format!("{} is not the same for a whole row", self.name(id))),
            false => substituted(map, &self.space()[..2], |_| None),
        }
    }

    /// From `(o, q, k)` to the elements that a reduction folds into that of `(o, q)`.
    fn folded(&self, id: InstrId, rows: &IndexingMap) -> Result<IndexingMap, String> {
        let instruction = &self.planner.computation.instructions[id];
        let Op::Reduce { dimensions, .. } = &instruction.op else { return Err("it is no reduction".to_owned()) };
        let extents = leaf_extents(&self.planner.computation.instructions[instruction.operands[0]].shape);
        let is_reduced = |dimension: usize| dimensions.iter().any(|own| usize::try_from(*own) == Ok(dimension));
        let (mut kept, mut stride) = (rows.results().iter().rev(), 1i64);
        let mut indices = Vec::with_capacity(extents.len());
        for (dimension, extent) in extents.iter().enumerate().rev() {
            if is_reduced(dimension) {
                let digit =
                    Expr::dim(2).checked_floor_div(stride).and_then(|digit| digit.checked_modulo((*extent).max(1)));
                indices.push(digit.map_err(|error| error.to_string())?);
                stride = stride.saturating_mul(*extent);
            } else {
                indices.push(kept.next().cloned().unwrap_or_else(|| Expr::constant(0)));
            }
        }
        if stride != self.attention.keys {
            return Err(format!("{} does not go over the keys", self.name(id)));
        }
        indices.reverse();
        let mut map = IndexingMap::of_extents(&self.space(), &[], indices).map_err(|error| error.to_string())?;
        map.simplify();
        Ok(map)
    }

    /// Adds the functions of both operands of the result's dot; outputs are given what it yields.
    fn result(&mut self, target: &Target) -> Result<(), Refused> {
        let id = self.found.result;
        let outputs: Vec<_> = self.outputs.iter().copied().map(Some).collect();
        let accesses = self.accesses(id, &outputs)?;
        let [batch, queries, keys] = self.space();
        let columns = self.attention.columns;
        let is_exchanged = self.found.weights == 1;
        let turned = |map: &IndexingMap, extents: [i64; 3]| match is_exchanged {
            true => exchanged(map, extents),
            false => Ok(map.clone()),
        };
        let elements = turned(&self.around.results, [batch, queries, columns])?;
        for access in &accesses {
            let inverse = access.map.inverse(&Limits::default()).ok().filter(|map| map.constraints().is_empty());
            let inverse = inverse.ok_or_else(|| "outputs read it at other elements than their own".to_owned())?;
            let mut map = elements.then(&inverse).map_err(|error| error.to_string())?;
            map.simplify();
            match self.tails.iter().find(|tail| tail.function == access.function) {
                Some(known) if known.map == map => {}
                Some(_) => return Err("outputs read it in several orders".to_owned().into()),
                None => self.tails.push(Tail { function: access.function, map }),
            }
        }
        self.attention = self.attention.dividing(self.tails.iter().flat_map(|tail| tail.map.results()), target)?;
        self.give(id, &accesses);
        let [weight, value] = match is_exchanged {
            true => [&self.around.rhs.indices, &self.around.lhs.indices],
            false => [&self.around.lhs.indices, &self.around.rhs.indices],
        };
        let (weights, values) = (turned(weight, self.space())?, turned(value, [batch, keys, columns])?);
        let [_, _, times] = self.attention.evaluations();
        let weight = self.operand(id, self.found.weights);
        let scores = self.attention.scores() as f64;
        self.parts.weight = Some(self.reading(weight, weights, &self.space(), scores));
        let value = self.operand(id, 1 - self.found.weights);
        self.parts.value = Some(self.reading(value, values, &[batch, keys, columns], times));
        Ok(())
    }

    fn quotient(&mut self, id: InstrId) -> Result<(), Refused> {
        let accesses = self.accesses(id, &[self.parts.weight])?;
        let map = self.one(id, accesses.iter().map(|access| access.map.clone()))?;
        self.give(id, &accesses);
        let [dividend, divisor] = [self.operand(id, 0), self.operand(id, 1)];
        let (mut of_rows, mut at) = (map.clone(), divisor);
        let base = moved(&self.planner.computation.instructions, divisor, false);
        while at != base {
            let step = read_map(self.planner.computation, at, 0)?.ok_or_else(|| "it reads nothing".to_owned())?;
            of_rows = of_rows.then(&step).map_err(|error| error.to_string())?;
            of_rows.simplify();
            at = self.operand(at, 0);
        }
        let of_rows = self.of_rows(base, &of_rows)?;
        let rows = self.space();
        let scores = self.attention.scores() as f64;
        let numerator = self.reading(dividend, map, &self.space(), scores);
        let divisor = self.reading(base, of_rows, &rows[..2], (rows[0] * rows[1]) as f64);
        self.parts.divided = Some(Divided { quotient: id, numerator, divisor });
        Ok(())
    }

    fn sum(&mut self) -> Result<(), Refused> {
        let id = self.found.sum;
        let divisor = self.parts.divided.as_ref().map(|divided| divided.divisor);
        let readers: Vec<_> = self.outputs.iter().copied().map(Some).chain([divisor]).collect();
        let accesses = self.accesses(id, &readers)?;
        let mut maps = Vec::with_capacity(accesses.len());
        for access in &accesses {
            let tail = self.tails.iter().find(|tail| tail.function == access.function);
            let map = match tail {
                None if Some(access.function) == divisor => access.map.clone(),
                None => return Err(format!("{} is a result", self.name(id)).into()),
                Some(tail) => {
                    let mut map = tail.map.then(&access.map).map_err(|error| error.to_string())?;
                    map.simplify();
                    self.of_rows(id, &map)?
                }
            };
            maps.push(map);
        }
        let rows = self.one(id, maps.into_iter())?;
        self.give(id, &accesses);
        let map = self.folded(id, &rows)?;
        let scores = self.attention.scores() as f64;
        self.parts.added = Some(self.reading(self.operand(id, 0), map, &self.space(), scores));
        Ok(())
    }

    fn exponential(&mut self) -> Result<(), Refused> {
        let id = self.found.exponential;
        let numerator = self.parts.divided.as_ref().map(|divided| divided.numerator);
        let of_weights = numerator.or(self.parts.weight);
        let accesses = self.accesses(id, &[of_weights, self.parts.added])?;
        let map = self.one(id, accesses.iter().map(|access| access.map.clone()))?;
        self.give(id, &accesses);
        let scores = self.attention.scores() as f64;
        let function = self.add(id, &map, &self.space(), scores);
        self.parts.exponential = Some(function);
        self.settled(id, function, map)
    }

    fn shift(&mut self) -> Result<(), Refused> {
        let id = self.found.shift;
        let accesses = self.accesses(id, &[self.parts.exponential])?;
        let map = self.one(id, accesses.iter().map(|access| access.map.clone()))?;
        let map = self.of_rows(id, &map)?;
        self.give(id, &accesses);
        let rows = self.space();
        let blocks = self.attention.reads()[0] as f64;
        let function = self.add(id, &map, &rows[..2], (rows[0] * rows[1]) as f64 * blocks);
        self.parts.shift = Some(function);
        self.settled(id, function, map)
    }

    fn maximum(&mut self) -> Result<(), Refused> {
        let id = self.found.maximum;
        let accesses = self.accesses(id, &[self.parts.shift.or(self.parts.exponential)])?;
        let map = self.one(id, accesses.iter().map(|access| access.map.clone()))?;
        let rows = if self.parts.shift.is_some() { map } else { self.of_rows(id, &map)? };
        self.give(id, &accesses);
        let map = self.folded(id, &rows)?;
        let (scored, scores) = (self.scored(), self.attention.scores() as f64);
        self.parts.score = Some(self.add(scored, &map, &self.space(), scores));
        self.maps.insert(scored, map);
        Ok(())
    }

    /// What the maximum is of, which exponentials are of, too.
    fn score(&mut self) -> Result<(), Refused> {
        let id = self.scored();
        let (Some(map), Some(function)) = (self.maps.get(&id).cloned(), self.parts.score) else {
            return Err("nothing is reduced".to_owned().into());
        };
        let accesses = self.accesses(id, &[self.parts.exponential])?;
        let read = self.one(id, accesses.iter().map(|access| access.map.clone()))?;
        if read != map {
            return Err(format!("{} is read at different elements", self.name(id)).into());
        }
        self.give(id, &accesses);
        if id == self.found.scores {
            self.wanted(id, function, map);
            return Ok(());
        }
        self.settled(id, function, map)
    }

    /// Adds the functions of both operands of the scores' dot, of which one is of queries and the other of keys.
    fn scores(&mut self) -> Result<(), Refused> {
        let id = self.found.scores;
        if self.scored() == id {
            self.score()?;
        }
        let accesses = self.accesses(id, &[self.parts.score])?;
        let map = self.one(id, accesses.iter().map(|access| access.map.clone()))?;
        self.give(id, &accesses);
        let Attention { batch, queries, keys, depth, .. } = self.attention;
        let [of_queries, of_keys, _] = self.attention.evaluations();
        let mut functions = [None, None];
        for operand in 0..2 {
            let step = read_map(self.planner.computation, id, operand)?.ok_or_else(|| "it reads nothing".to_owned())?;
            let mut elements = map.then(&step).map_err(|error| error.to_string())?;
            elements.simplify();
            let side = match (uses(&elements, 1), uses(&elements, 2)) {
                (_, false) if functions[0].is_none() => 0,
                (false, _) => 1,
                _ => return Err("it is no product of queries and keys".to_owned().into()),
            };
            let (extents, times) = [([batch, queries, depth], of_queries), ([batch, keys, depth], of_keys)][side];
            let mut digits = Vec::with_capacity(elements.ranges().len());
            let mut stride = 1i64;
            for range in elements.ranges().iter().rev() {
                let extent = range.bounds().hi + 1;
                let digit =
                    Expr::dim(2).checked_floor_div(stride).and_then(|digit| digit.checked_modulo(extent.max(1)));
                digits.push(digit.map_err(|error| error.to_string())?);
                stride = stride.saturating_mul(extent);
            }
            digits.reverse();
            if stride != depth || !elements.constraints().is_empty() {
                return Err("its products are not those of matrices".to_owned().into());
            }
            let own = substituted(&elements, &extents, |variable| match variable {
                Var::Dim(2) => Some(Expr::dim(1)),
                Var::Range(range) => digits.get(range as usize).cloned(),
                _ => None,
            })?;
            if functions[side].is_some() {
                return Err("it is no product of queries and keys".to_owned().into());
            }
            functions[side] = Some(self.reading(self.operand(id, operand), own, &extents, times));
        }
        self.parts.operands = match functions {
            [Some(query), Some(key)] => Some([query, key]),
            _ => None,
        };
        Ok(())
    }
}
