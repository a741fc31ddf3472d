//! Kernels that are shaped around attention: invocations go over blocks of keys for rows of queries, and scale what they have by the greatest score so far.

mod own;
mod tiles;

use super::entry::{append, call};
use super::loop_emitter::{Launched, Output};
use super::loops::sum_type;
use super::statements::Statements;
use crate::elemental::{element_type, zero};
use crate::kernel::{
    Block, Function, FunctionId, Known, Memory, MemoryId, Operand, ScalarOp, Statement, Value, ValueId,
};
use crate::lower::indices_at;
use crate::wgsl::Names;
use weft_affine::{Constraint, Error, Expr, Interval, Var};
use weft_hlo::ir::{Arena, ArenaId, BinaryOp, ComparisonDirection, Computation, ElementType, InstrId, Scalar, UnaryOp};
use weft_partition::{Attended, Attention, FusionPlan, Target, TileOwner};

pub(super) use tiles::Shared;

/// The type that exponentials are added up in, and what scales them is computed in.
const SUM: ElementType = ElementType::F32;

/// Adds the tiles of workgroups, and the functions by which their invocations compare scores and add up, where they have some.
pub(super) fn add_shared(
    attention: &Attention,
    computation: &Computation,
    plan: &FusionPlan,
    (memories, functions): (&mut Arena<MemoryId, Memory>, &mut Arena<FunctionId, Function>),
    names: &mut Names,
) -> Option<Shared> {
    let attended = plan.attended().filter(|_| attention.tiles == TileOwner::Workgroup)?;
    Some(Shared::add(attention, computation, attended, (memories, functions), names))
}

/// The entry: a workgroup for so many queries.
pub(super) fn attention_entry(
    attention: &Attention,
    computation: &Computation,
    plan: &FusionPlan,
    outputs: &[Output],
    functions: &Arena<FunctionId, Function>,
    shared: Option<&Shared>,
    target: &Target,
) -> Result<Launched, Error> {
    let groups = attention.workgroups();
    let rank = groups.iter().rposition(|groups| *groups != 1).map_or(1, |last| last + 1);
    let mut extents = groups[..rank].to_vec();
    extents.push(attention.places());
    let (parameters, values, body) = (Vec::new(), Arena::new(), Block::default());
    let mut entry = Function { name: "entry".to_owned(), parameters, values, body, extents };
    let Some(attended) = plan.attended() else { return Ok(Launched { entry, windows: 1 }) };
    let known = Known::new(&entry.extents);
    let coordinate = |dimension: usize| match dimension < rank {
        true => Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX)),
        false => Expr::constant(0),
    };
    let thread = Expr::dim(u32::try_from(rank).unwrap_or(u32::MAX));
    let lanes = i64::from(attention.lanes);
    let invocation = known.simplified(&thread.checked_floor_div(lanes)?);
    let lane = known.simplified(&thread.checked_modulo(lanes)?);
    let along = known.simplified(&invocation.checked_floor_div(attention.group[1])?);
    let across = known.simplified(&invocation.checked_modulo(attention.group[1])?);
    let first = coordinate(0).checked_mul(attention.rows_of_group())?;
    let own = along.checked_mul(attention.rows)?;
    let rows = known.simplified(&coordinate(0).checked_mul(attention.group[0])?.checked_add(&along)?);
    let place = Place { first, own, rows, beside: coordinate(1), across, invocation, thread, lane };
    let types =
        Types { products: sum_type(computation, attended.scores), sums: sum_type(computation, attended.result) };
    let mut emission = Emission {
        attention,
        attended,
        computation,
        plan,
        outputs,
        functions,
        values: &mut entry.values,
        place: &place,
        target,
        types,
    };
    entry.body = match shared {
        Some(shared) => emission.shared(shared, &known)?,
        None => emission.own(&known)?,
    };
    Ok(Launched { entry, windows: 1 })
}

/// Where an invocation is.
struct Place {
    /// The first query of the workgroup, and that of the invocation within it.
    first: Expr,
    own: Expr,
    /// The number of the invocation's rows among those of all.
    rows: Expr,
    /// The number of the matrix.
    beside: Expr,
    /// The invocation along keys and columns of the workgroup.
    across: Expr,
    /// The number of the invocation in the workgroup, of its place, and of its lane.
    invocation: Expr,
    thread: Expr,
    lane: Expr,
}

/// The types that products of queries and keys are added in, and those of exponentials and values.
#[derive(Copy, Clone)]
struct Types {
    products: ElementType,
    sums: ElementType,
}

/// What an invocation has so far: of each query the greatest score and the sum of exponentials, and the sums of products with values.
#[derive(Clone)]
struct State {
    maxima: Vec<Operand>,
    sums: Vec<Operand>,
    results: Vec<Operand>,
}

impl State {
    fn all(self) -> Vec<Operand> {
        [self.maxima, self.sums, self.results].concat()
    }

    fn of(mut all: Vec<Operand>, rows: usize) -> State {
        let results = all.split_off((2 * rows).min(all.len()));
        let sums = all.split_off(rows.min(all.len()));
        State { maxima: all, sums, results }
    }
}

/// A query of an invocation: its number, and what is subtracted from its scores.
struct Row {
    query: Expr,
    shift: Operand,
}

struct Emission<'e> {
    attention: &'e Attention,
    attended: &'e Attended,
    computation: &'e Computation,
    plan: &'e FusionPlan,
    outputs: &'e [Output],
    functions: &'e Arena<FunctionId, Function>,
    /// The values of the entry.
    values: &'e mut Arena<ValueId, Value>,
    place: &'e Place,
    target: &'e Target,
    types: Types,
}

/// What is emitted for a block of so many keys from the first one on, of what there is so far.
type Emit<T> = Result<T, Error>;

/// A function of the plan, as one of the kernel.
fn of_kernel(function: weft_partition::FunctionId) -> FunctionId {
    FunctionId::from_index(function.0 as usize)
}

/// An index within its extent.
fn within(index: &Expr, extent: i64) -> Constraint {
    Constraint { expr: index.clone(), bounds: Interval::of_extent(extent) }
}

fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

impl Statements for Emission<'_> {
    fn values(&mut self) -> &mut Arena<ValueId, Value> {
        self.values
    }
}

impl Emission<'_> {
    fn selected(&mut self, is: Operand, one: Operand, other: Operand, name: &str, block: &mut Block) -> Operand {
        let ty = self.type_of(other);
        self.define(ty, ScalarOp::Select { operands: [is, one, other] }, name, block)
    }

    /// A product and a sum, one operation where a device may round them once, and does not do so by itself.
    fn multiply_add(&mut self, [one, other]: [Operand; 2], sum: Operand, block: &mut Block) -> Operand {
        let (target, ty) = (self.target, self.type_of(sum));
        let is_shared = self.attention.tiles == TileOwner::Workgroup;
        let is_plain = !is_shared && self.attention.members == 1;
        if ty.is_float() && !is_plain && !(target.forbid_contraction && target.arithmetic.contraction) {
            let is_one = (is_shared || target.hardware.few_registers) && !target.forbid_contraction;
            return self.define(ty, ScalarOp::MultiplyAdd { operands: [one, other, sum], is_one }, "sum", block);
        }
        let product = self.binary(BinaryOp::Multiply, [one, other], "product", block);
        self.binary(BinaryOp::Add, [sum, product], "sum", block)
    }

    /// What a function of the plan yields at these indices, of what it is given.
    fn called(
        &mut self,
        function: weft_partition::FunctionId,
        indices: Vec<Expr>,
        given: &[(InstrId, Operand)],
        block: &mut Block,
    ) -> Operand {
        let planned = self.plan.function(function);
        let of = |id: &InstrId| given.iter().find(|(known, _)| known == id).map(|(_, value)| *value);
        let arguments = planned.given.iter().filter_map(of).collect();
        let name = &planned.name;
        let results = call((self.functions, self.values), of_kernel(function), (indices, arguments), name, block);
        results.first().copied().unwrap_or(Operand::Constant(Scalar::Pred(false)))
    }

    /// An element of queries, keys or values, in the type that its products are added in.
    fn element(
        &mut self,
        function: weft_partition::FunctionId,
        [index, other]: [&Expr; 2],
        known: &Known,
        block: &mut Block,
    ) -> Operand {
        let indices = [&self.place.beside, index, other].map(|index| known.simplified(index)).to_vec();
        let ty = if function == self.attended.value { self.types.sums } else { self.types.products };
        let element = self.called(function, indices, &[], block);
        self.converted(element, ty, "element", block)
    }

    /// What there is before the first key.
    fn begin(&self, rows: i64, columns: i64) -> State {
        let least = Operand::Constant(self.attended.least);
        State {
            maxima: vec![least; count(rows)],
            sums: vec![Operand::Constant(zero(SUM)); count(rows)],
            results: vec![Operand::Constant(zero(self.types.sums)); count(rows * columns)],
        }
    }

    /// A score, of the sum of its products.
    fn score(&mut self, [query, key]: [&Expr; 2], sum: Operand, known: &Known, block: &mut Block) -> Operand {
        let dot = element_type(&self.computation.instructions[self.attended.scores]);
        let sum = self.converted(sum, dot, "score", block);
        let indices = [&self.place.beside, query, key].map(|index| known.simplified(index)).to_vec();
        self.called(self.attended.score, indices, &[(self.attended.scores, sum)], block)
    }

    /// Whether there was no score but the least.
    fn is_least(&mut self, maximum: Operand, block: &mut Block) -> Operand {
        let operands = [maximum, Operand::Constant(self.attended.least)];
        let op = ScalarOp::Compare { direction: ComparisonDirection::Eq, order: None, operands };
        self.define(ElementType::Pred, op, "none", block)
    }

    /// What scores of a row are reduced by.
    fn shift(&mut self, query: &Expr, maximum: Operand, known: &Known, block: &mut Block) -> Operand {
        let indices = [&self.place.beside, query].map(|index| known.simplified(index)).to_vec();
        match self.attended.shift {
            Some(shift) => self.called(shift, indices, &[(self.attended.maximum, maximum)], block),
            None => maximum,
        }
    }

    /// Has the sums of a row so far be those for another greatest score. As long as there was none but the least, scores are reduced by nothing: so their exponentials are 0, and no less than what is infinite.
    fn raised(
        &mut self,
        query: &Expr,
        [before, after]: [Operand; 2],
        known: &Known,
        block: &mut Block,
    ) -> (Operand, Row) {
        let nothing = |this: &mut Self, like: Operand| Operand::Constant(zero(this.type_of(like)));
        let was_none = self.is_least(before, block);
        let less = self.shift(query, before, known, block);
        let is_none = self.is_least(after, block);
        let more = self.shift(query, after, known, block);
        let zero_shift = nothing(self, more);
        let shift = self.selected(is_none, zero_shift, more, "shift", block);
        let [less, more] = [less, shift].map(|value| self.converted(value, SUM, "shift", block));
        let difference = self.binary(BinaryOp::Subtract, [less, more], "less", block);
        let op = ScalarOp::Unary { op: UnaryOp::Exponential, operand: difference };
        let factor = self.define(SUM, op, "factor", block);
        let none = Operand::Constant(zero(SUM));
        let factor = self.selected(was_none, none, factor, "factor", block);
        (factor, Row { query: query.clone(), shift })
    }

    /// The exponential of a score: what is added to the sum of its row, and what is multiplied with values.
    fn exponential(&mut self, row: &Row, key: &Expr, score: Operand, known: &Known, block: &mut Block) -> [Operand; 2] {
        let attended = self.attended;
        let indices = [&self.place.beside, &row.query, key].map(|index| known.simplified(index)).to_vec();
        let exponential = self.reduced(indices.clone(), score, row.shift, block);
        let of = |this: &mut Self, function, id, value, block: &mut Block| {
            this.called(function, indices.clone(), &[(id, value)], block)
        };
        let own = self.exponential_id();
        let added = of(self, attended.added, own, exponential, block);
        let weight = match &attended.divided {
            Some(divided) => {
                let numerator = of(self, divided.numerator, own, exponential, block);
                of(self, attended.weight, divided.quotient, numerator, block)
            }
            None => of(self, attended.weight, own, exponential, block),
        };
        [self.converted(added, SUM, "added", block), self.converted(weight, self.types.sums, "weight", block)]
    }

    /// The exponential of a score less something.
    fn reduced(&mut self, indices: Vec<Expr>, score: Operand, shift: Operand, block: &mut Block) -> Operand {
        let attended = self.attended;
        let scored = self.computation.instructions[attended.maximum].operands[0];
        let shifted = match attended.shift {
            Some(function) => self.plan.function(function).roots[0].instruction,
            None => attended.maximum,
        };
        self.called(attended.exponential, indices, &[(scored, score), (shifted, shift)], block)
    }

    fn exponential_id(&self) -> InstrId {
        self.plan.function(self.attended.exponential).roots[0].instruction
    }

    /// Multiplies the sums of a row so far, and adds to that of exponentials.
    fn scaled(&mut self, state: &mut State, row: usize, (factor, added): (Operand, Vec<Operand>), block: &mut Block) {
        let mut sum = self.binary(BinaryOp::Multiply, [state.sums[row], factor], "sum", block);
        for one in added {
            sum = self.binary(BinaryOp::Add, [sum, one], "sum", block);
        }
        state.sums[row] = sum;
        let columns = state.results.len() / state.sums.len().max(1);
        let factor = self.converted(factor, self.types.sums, "factor", block);
        for result in row * columns..(row + 1) * columns {
            state.results[result] = self.binary(BinaryOp::Multiply, [state.results[result], factor], "result", block);
        }
    }

    /// Stores what is computed of the results of a row, of these columns: a row of nothing but least scores has exponentials of these less themselves.
    fn stored(
        &mut self,
        query: &Expr,
        (maximum, sum, results): (Operand, Operand, &[Operand]),
        columns: &[Expr],
        known: &Known,
        block: &mut Block,
    ) -> Emit<()> {
        let attended = self.attended;
        let instruction = |id: InstrId| &self.computation.instructions[id];
        let [of_sum, of_result] = [attended.sum, attended.result].map(|id| element_type(instruction(id)));
        let is_none = self.is_least(maximum, block);
        let shift = self.shift(query, maximum, known, block);
        let indices = [&self.place.beside, query, &Expr::constant(0)].map(|index| known.simplified(index)).to_vec();
        let own = self.reduced(indices.clone(), Operand::Constant(attended.least), shift, block);
        let own = self.converted(own, SUM, "own", block);
        let own = self.selected(is_none, own, Operand::Constant(zero(SUM)), "own", block);
        let sum = self.binary(BinaryOp::Add, [sum, own], "sum", block);
        let sum = self.converted(sum, of_sum, "sum", block);
        let divisor = match &attended.divided {
            Some(divided) => {
                let divisor = self.called(divided.divisor, indices[..2].to_vec(), &[(attended.sum, sum)], block);
                Some(self.converted(divisor, self.types.sums, "divisor", block))
            }
            None => None,
        };
        let own = self.converted(own, self.types.sums, "own", block);
        for (result, column) in results.iter().zip(columns) {
            let mut result = self.binary(BinaryOp::Add, [*result, own], "result", block);
            if let Some(divisor) = divisor {
                result = self.binary(BinaryOp::Divide, [result, divisor], "result", block);
            }
            let result = self.converted(result, of_result, "result", block);
            let given = [(attended.result, result), (attended.sum, sum)];
            self.outputs([query, column], &given, known, block)?;
        }
        Ok(())
    }

    /// Stores what is computed of all rows and columns that an invocation has, from a query and a column on: where the last of these fill no tile, of fewer, and behind them of none.
    fn store(
        &mut self,
        state: &State,
        [query, column]: [&Expr; 2],
        size: &[i64],
        known: &Known,
        out: &mut Block,
    ) -> Emit<()> {
        let attention = *self.attention;
        let tiles = [
            (&self.place.rows, attention.queries, attention.rows),
            (&self.place.across, attention.columns, attention.own_columns()),
        ];
        let Some((number, extent, side)) = tiles.get(size.len()) else {
            let columns = self.columns(column)?;
            let own = count(size[1] / i64::from(attention.lanes));
            for row in 0..size[0] {
                let (query, row) = (query.checked_add_constant(row)?, count(row));
                let results = &state.results[row * columns.len()..][..own];
                let of_row = (state.maxima[row], state.sums[row], results);
                self.stored(&query, of_row, &columns[..own], known, out)?;
            }
            return Ok(());
        };
        let (whole, left) = (extent / side, extent % side);
        let sizes = [(Interval { lo: 0, hi: whole - 1 }, *side), (Interval::point(whole), left)];
        for (numbers, count) in sizes.into_iter().filter(|(numbers, count)| !numbers.is_empty() && *count > 0) {
            let open = known.open(&[Constraint { expr: (*number).clone(), bounds: numbers }]);
            let mut then = Block::default();
            self.store(state, [query, column], &[size, &[count]].concat(), &known.when(&open), &mut then)?;
            append(open, then, out);
        }
        Ok(())
    }

    /// Stores what is computed of an element of the result.
    fn outputs(
        &mut self,
        [query, column]: [&Expr; 2],
        given: &[(InstrId, Operand)],
        known: &Known,
        block: &mut Block,
    ) -> Emit<()> {
        let at = [&self.place.beside, query, column];
        for output in self.outputs {
            let tail = self.plan.tails().iter().find(|tail| of_kernel(tail.function) == output.function);
            let Some(tail) = tail else { continue };
            let mut indices = Vec::new();
            for index in tail.map.results() {
                let own = index.substitute(|variable| match variable {
                    Var::Dim(index) => at.get(index as usize).copied().cloned(),
                    _ => None,
                })?;
                indices.push(known.simplified(&own));
            }
            let planned = self.plan.function(tail.function);
            let (mut given, mut values) = (given.to_vec(), Vec::new());
            for id in &planned.given {
                if let (false, Some((function, _))) = (given.iter().any(|(known, _)| known == id), self.plan.home(*id))
                {
                    given.push((*id, self.called(function, indices.clone(), &[], block)));
                }
                values.extend(given.iter().find(|(known, _)| known == id).map(|(_, value)| *value));
            }
            let own = &self.functions[output.function].extents;
            let elements =
                call((self.functions, self.values), output.function, (indices.clone(), values), "output", block);
            for (value, (memory, extents)) in elements.into_iter().zip(&output.memories) {
                let indices = if own == extents {
                    indices.clone()
                } else {
                    let mut position = Expr::constant(0);
                    for (index, extent) in indices.iter().zip(own) {
                        position = position.checked_mul(*extent)?.checked_add(index)?;
                    }
                    indices_at(&position, extents)?.iter().map(|index| known.simplified(index)).collect()
                };
                block.statements.push(Statement::Store { memory: *memory, indices, value });
            }
        }
        Ok(())
    }

    /// The numbers of the invocation's columns, a vector one.
    fn columns(&self, first: &Expr) -> Emit<Vec<Expr>> {
        let lanes = i64::from(self.attention.lanes);
        let own = (0..self.attention.own_columns() / lanes)
            .map(|number| first.checked_add(&self.place.lane)?.checked_add_constant(number * lanes));
        own.collect()
    }
}

/// A function of two tuples, of so many values each, that combines them one by one.
fn combining(name: String, op: BinaryOp, (ty, width): (ElementType, usize)) -> Function {
    let mut values = Arena::new();
    let parameters: Vec<ValueId> = (0..2 * width).map(|_| values.push(Value::scalar("", ty))).collect();
    let mut body = Block::default();
    for (one, other) in parameters[..width].iter().zip(&parameters[width..]) {
        let value = values.push(Value::scalar("", ty));
        let op = ScalarOp::Binary { op, operands: [Operand::Value(*one), Operand::Value(*other)] };
        body.statements.push(Statement::Let { value, op });
        body.results.push(Operand::Value(value));
    }
    Function { name, extents: Vec::new(), parameters, values, body }
}
