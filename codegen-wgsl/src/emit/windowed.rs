//! Kernels that are tiled around windows that overlap: workgroups load what the windows of their results cover into workgroup memory, and fold it from there.

use super::entry::call;
use super::function::Emission;
use super::loop_emitter::{Launched, Output};
use crate::kernel::{
    Block, Condition, Function, FunctionId, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement, Value,
    ValueId,
};
use crate::lower::indices_at;
use crate::wgsl::Names;
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, Computation, ComputationId, InstrId, Op, Scalar};
use weft_partition::{FusionPlan, Windowed};

/// The tiles of a hero's operands.
pub(super) struct Loaded<'w> {
    pub(super) windowed: &'w Windowed,
    pub(super) hero: InstrId,
    /// The function that folds a window, from the place of a result among those of the workgroup.
    pub(super) function: FunctionId,
    tiles: Vec<MemoryId>,
    sources: Vec<Source>,
}

/// Where elements that are loaded come from.
#[derive(Copy, Clone)]
enum Source {
    Memory(MemoryId),
    Function(FunctionId),
}

impl<'w> Loaded<'w> {
    /// Adds the tiles of a hero to the memories of a kernel; `None` where the plan has no hero, or one that is not computed, which is a fault of the compiler.
    pub(super) fn add(
        windowed: &'w Windowed,
        computation: &Computation,
        plan: &FusionPlan,
        parameters: &[MemoryId],
        memories: &mut Arena<MemoryId, Memory>,
        names: &mut Names,
    ) -> Option<Loaded<'w>> {
        let hero = plan.heroes().iter().find(|hero| hero.why_loop.is_none())?;
        let instruction = &computation.instructions[hero.instruction];
        let operands = instruction.operands.iter().take(instruction.operands.len() / 2);
        let (mut tiles, mut sources) = (Vec::new(), Vec::new());
        for operand in operands {
            let read = &computation.instructions[*operand];
            sources.push(match read.op {
                Op::Parameter { number } => Source::Memory(*parameters.get(usize::try_from(number).ok()?)?),
                _ => Source::Function(FunctionId::from_index(plan.home(*operand)?.0.0 as usize)),
            });
            let name = names.take(&format!("{}.tile", read.name));
            let shape = ArrayShape::new(read.shape.as_array()?.element_type, windowed.loaded());
            let space = Space::Workgroup;
            tiles.push(memories.push(Memory::new(name, shape, space)));
        }
        let function = FunctionId::from_index(hero.function.0 as usize);
        Some(Loaded { windowed, hero: hero.instruction, function, tiles, sources })
    }
}

impl Emission<'_, '_, '_> {
    /// The window of a result that the function's indices have among those of the workgroup, folded from tiles.
    pub(super) fn fold_loaded(
        &mut self,
        loaded: &Loaded<'_>,
        region: ComputationId,
        known: &Known,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        let (id, inputs) = (loaded.hero, loaded.tiles.len());
        let init = self.read_each(id, inputs..2 * inputs, out)?;
        let placed = places(loaded.windowed, known).map_err(|error| {
            let instruction = &self.computation.instructions[id];
            Diagnostic::new("HLO302", instruction.span, error.to_string()).about(&instruction.name)
        })?;
        let (accumulators, values) = (self.result_values(id, ".acc"), self.result_values(id, ""));
        let carried: Vec<Operand> = accumulators.iter().map(|value| Operand::Value(*value)).collect();
        let inner = known.in_loop(&placed.extents);
        let condition = inner.open(&placed.whole);
        let round = if condition.is_empty() { Vec::new() } else { self.result_values(id, ".round") };
        let body = self.round(round, &condition, &inner, &carried, |this, known, block| {
            let mut arguments = carried.clone();
            for tile in &loaded.tiles {
                let indices = placed.indices.iter().map(|index| known.simplified(index)).collect();
                let op = ScalarOp::Extract { memory: *tile, indices };
                let position = arguments.len() - carried.len();
                let ty = this.type_of(id, position);
                arguments.push(this.define(block, "element", ty, op));
            }
            let results = this.result_values(id, ".next");
            this.apply(region, arguments, results.clone(), block)?;
            block.results = results.into_iter().map(Operand::Value).collect();
            Ok(())
        })?;
        let extents = placed.extents;
        out.statements.push(Statement::Loop { values: values.clone(), extents, init, accumulators, body });
        Ok(values.into_iter().map(Operand::Value).collect())
    }
}

/// Where the taps of a window lie in a tile.
struct Places {
    /// Of the loop over the window.
    extents: Vec<i64>,
    indices: Vec<Expr>,
    /// What holds where a tap meets an element.
    whole: Vec<Constraint>,
}

fn places(windowed: &Windowed, known: &Known) -> Result<Places, Error> {
    let mut places = Places { extents: Vec::new(), indices: Vec::new(), whole: Vec::new() };
    for (number, own) in (0..).zip(&windowed.dimensions) {
        let tap = match own.window.size {
            1 => Expr::constant(0),
            size => {
                let range = known.loops() + places.extents.len();
                places.extents.push(size);
                Expr::range(u32::try_from(range).unwrap_or(u32::MAX))
            }
        };
        let (index, whole) = own.place(&Expr::dim(number), &tap)?;
        places.indices.push(index);
        places.whole.extend(whole);
    }
    Ok(places)
}

/// The entry: each workgroup fills its tiles, and after a barrier its invocations fold the windows of its results and compute the outputs of these.
pub(super) fn windowed_entry(
    loaded: &Loaded<'_>,
    outputs: &[Output],
    functions: &Arena<FunctionId, Function>,
) -> Result<Launched, Error> {
    let windowed = loaded.windowed;
    let groups = windowed.workgroups();
    let rank = groups.iter().rposition(|groups| *groups != 1).map_or(1, |last| last + 1);
    let mut extents = groups[..rank].to_vec();
    extents.push(i64::from(windowed.threads));
    let (parameters, values, body) = (Vec::new(), Arena::new(), Block::default());
    let mut entry = Function { name: "entry".to_owned(), parameters, values, body, extents };
    let known = Known::new(&entry.extents);
    let coordinate = |dimension: usize| match dimension < rank {
        true => Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX)),
        false => Expr::constant(0),
    };
    let thread = Expr::dim(u32::try_from(rank).unwrap_or(u32::MAX));
    let mut workgroup = Vec::with_capacity(windowed.dimensions.len());
    let mut beside = coordinate(2);
    for (position, own) in windowed.dimensions.iter().rev().enumerate() {
        workgroup.push(match position {
            0 | 1 => coordinate(position),
            _ => {
                let index = beside.checked_modulo(own.workgroups())?;
                beside = beside.checked_floor_div(own.workgroups())?;
                known.simplified(&index)
            }
        });
    }
    workgroup.reverse();
    let mut writer = Writer { loaded, workgroup, thread, functions, values: &mut entry.values };
    let mut statements = writer.filled(&known)?;
    statements.push(Statement::Barrier);
    statements.extend(writer.written(outputs, &known)?);
    entry.body.statements = statements;
    Ok(Launched { entry, windows: 1 })
}

struct Writer<'w> {
    loaded: &'w Loaded<'w>,
    /// The number of the workgroup along each dimension.
    workgroup: Vec<Expr>,
    thread: Expr,
    functions: &'w Arena<FunctionId, Function>,
    /// The values of the entry.
    values: &'w mut Arena<ValueId, Value>,
}

/// So many rounds of a block, if there are several.
fn in_rounds(rounds: i64, body: Block) -> Vec<Statement> {
    if rounds == 1 {
        return body.statements;
    }
    let (init, values, accumulators) = (Vec::new(), Vec::new(), Vec::new());
    vec![Statement::Loop { values, extents: vec![rounds], init, accumulators, body }]
}

/// Statements under conditions, if there are any.
fn only(open: Vec<Constraint>, statements: Vec<Statement>) -> Vec<Statement> {
    if open.is_empty() {
        return statements;
    }
    let (then, otherwise) = (Block { statements, results: Vec::new() }, Block::default());
    vec![Statement::If { values: Vec::new(), condition: Condition::Indices(open), then, otherwise }]
}

impl Writer<'_> {
    /// The number of what an invocation does in a round, so many at a time, and what is known there.
    fn number(&self, rounds: i64, unit: i64, known: &Known) -> Result<(Expr, Known), Error> {
        let threads = i64::from(self.loaded.windowed.threads);
        let mut number = self.thread.clone();
        let mut known = known.clone();
        if rounds > 1 {
            number = Expr::range(0).checked_mul(threads)?.checked_add(&number)?;
            known = known.in_loop(&[rounds]);
        }
        if unit > 1 {
            let neighbor = Expr::range(u32::from(rounds > 1));
            number = number.checked_mul(unit)?.checked_add(&neighbor)?;
            known = known.in_loop(&[unit]);
        }
        Ok((number, known))
    }

    /// Each invocation loads elements as far apart as they are many.
    fn filled(&mut self, known: &Known) -> Result<Vec<Statement>, Error> {
        let windowed = self.loaded.windowed;
        let (extents, threads) = (windowed.loaded(), i64::from(windowed.threads));
        let count: i64 = extents.iter().product();
        let rounds = (count + threads - 1) / threads;
        let (number, known) = self.number(rounds, 1, known)?;
        let within = known.open(&[Constraint { expr: number.clone(), bounds: Interval::of_extent(count) }]);
        let known = known.when(&within);
        let mut places = indices_at(&number, &extents)?;
        places.iter_mut().for_each(|place| *place = known.simplified(place));
        let (mut indices, mut tests) = (Vec::new(), Vec::new());
        for ((own, workgroup), place) in windowed.dimensions.iter().zip(&self.workgroup).zip(&places) {
            let index = own.operand_index(workgroup, place)?;
            tests.push(Constraint { expr: index.clone(), bounds: Interval::of_extent(own.elements) });
            indices.push(index);
        }
        let open = known.open(&tests);
        let inside = known.when(&open);
        let indices: Vec<Expr> = indices.iter().map(|index| inside.simplified(index)).collect();
        let mut statements = Vec::new();
        let loaded = self.loaded;
        for ((tile, source), filler) in loaded.tiles.iter().zip(&loaded.sources).zip(&windowed.fillers) {
            let (value, then) = self.load(*source, &indices, *filler);
            let value = if open.is_empty() {
                statements.extend(then);
                Operand::Value(value)
            } else {
                let chosen = self.values.push(Value::scalar("element", filler.element_type()));
                let then = Block { statements: then, results: vec![Operand::Value(value)] };
                let otherwise = Block { statements: Vec::new(), results: vec![Operand::Constant(*filler)] };
                let condition = Condition::Indices(open.clone());
                statements.push(Statement::If { values: vec![chosen], condition, then, otherwise });
                Operand::Value(chosen)
            };
            statements.push(Statement::Store { memory: *tile, indices: places.clone(), value });
        }
        let statements = only(within, statements);
        Ok(in_rounds(rounds, Block { statements, results: Vec::new() }))
    }

    /// An element of an operand, which has the type of a scalar.
    fn load(&mut self, source: Source, indices: &[Expr], like: Scalar) -> (ValueId, Vec<Statement>) {
        let value = self.values.push(Value::scalar("loaded", like.element_type()));
        let indices = indices.to_vec();
        let statement = match source {
            Source::Memory(memory) => Statement::Let { value, op: ScalarOp::Extract { memory, indices } },
            Source::Function(function) => {
                Statement::Call { values: vec![value], function, indices, arguments: Vec::new() }
            }
        };
        (value, vec![statement])
    }

    /// Each invocation folds windows, as far apart as invocations are many, and stores what is computed of them.
    fn written(&mut self, outputs: &[Output], known: &Known) -> Result<Vec<Statement>, Error> {
        let windowed = self.loaded.windowed;
        let tile = windowed.tile();
        let units = tile.iter().product::<i64>() / windowed.unit;
        let rounds = units / i64::from(windowed.threads);
        let (number, known) = self.number(rounds, windowed.unit, known)?;
        let mut places = indices_at(&number, &tile)?;
        places.iter_mut().for_each(|place| *place = known.simplified(place));
        let (mut at, mut tests) = (Vec::new(), Vec::new());
        for ((own, workgroup), place) in windowed.dimensions.iter().zip(&self.workgroup).zip(&places) {
            let index = workgroup.checked_mul(own.tile)?.checked_add(place)?;
            tests.push(Constraint { expr: index.clone(), bounds: Interval::of_extent(own.results) });
            at.push(index);
        }
        let open = known.open(&tests);
        let known = known.when(&open);
        let mut block = Block::default();
        let folded = self.call(self.loaded.function, places, Vec::new(), "window", &mut block);
        for output in outputs {
            let elements = if output.function == self.loaded.function {
                folded.clone()
            } else {
                let mut arguments = Vec::new();
                for given in &output.given {
                    if *given == self.loaded.function {
                        arguments.extend(folded.clone());
                    } else {
                        let indices = self.indices(&at, &self.functions[*given].extents, &known)?;
                        arguments.extend(self.call(*given, indices, Vec::new(), "given", &mut block));
                    }
                }
                let indices = self.indices(&at, &self.functions[output.function].extents, &known)?;
                self.call(output.function, indices, arguments, "output", &mut block)
            };
            for (value, (memory, extents)) in elements.into_iter().zip(&output.memories) {
                let indices = self.indices(&at, extents, &known)?;
                block.statements.push(Statement::Store { memory: *memory, indices, value });
            }
        }
        let mut statements = only(open, block.statements);
        if windowed.unit > 1 {
            statements = in_rounds(windowed.unit, Block { statements, results: Vec::new() });
        }
        Ok(in_rounds(rounds, Block { statements, results: Vec::new() }))
    }

    /// The indices of a result in an array of these extents, which has as many elements.
    fn indices(&self, at: &[Expr], extents: &[i64], known: &Known) -> Result<Vec<Expr>, Error> {
        let own = self.loaded.windowed.dimensions.iter().map(|own| own.results);
        if extents.iter().copied().eq(own.clone()) {
            return Ok(at.iter().map(|index| known.simplified(index)).collect());
        }
        let mut position = Expr::constant(0);
        for (index, results) in at.iter().zip(own) {
            position = position.checked_mul(results)?.checked_add(index)?;
        }
        Ok(indices_at(&position, extents)?.iter().map(|index| known.simplified(index)).collect())
    }

    fn call(
        &mut self,
        function: FunctionId,
        indices: Vec<Expr>,
        arguments: Vec<Operand>,
        name: &str,
        block: &mut Block,
    ) -> Vec<Operand> {
        call((self.functions, self.values), function, (indices, arguments), name, block)
    }
}
