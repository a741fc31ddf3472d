//! Emission of one function of a plan.

use super::MAX_EXTENT;
use super::regions::Regions;
use super::windowed::Loaded;
use crate::elemental::{define, element_type, scalar_op, zero};
use crate::kernel::Known;
use crate::kernel::{
    Binding, Block, Function, FunctionId, Kernel, MemoryId, Operand, OutOfBounds, ScalarOp, Statement, Value, ValueId,
};
use std::collections::BTreeMap;
use std::ops::Range;
use weft_affine::{Constraint, Expr, Interval, Var};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{Arena, ArenaId, Computation, ElementType, InstrId, Op};
use weft_indexing::{IndexingMap, RuntimeVariable};
use weft_partition::{FusionPlan, Read, Root};

/// The function number `index` of a plan. Its parameters are the elements that the plan gives it; `parameters` are the memories of
/// the computation's. One that folds windows from tiles has the places of results in a workgroup for indices.
///
/// # Errors
/// `HLO411`, `HLO413` for what cannot be emitted, and the errors of indexing maps.
pub(super) fn emit_function(
    computation: &Computation,
    plan: &FusionPlan,
    index: usize,
    name: String,
    (parameters, loaded): (&[MemoryId], Option<&Loaded<'_>>),
    regions: &Regions<'_>,
) -> Result<Function, Diagnostics> {
    let planned = &plan.functions()[index];
    let extents = loaded.map_or_else(|| planned.extents.clone(), |loaded| loaded.windowed.tile());
    let known = Known::new(&extents);
    let mut blocks: BTreeMap<Option<(InstrId, usize)>, Vec<InstrId>> = BTreeMap::new();
    for member in &planned.members {
        blocks.entry(plan.block(*member)).or_default().push(*member);
    }
    let mut emission = Emission {
        regions,
        computation,
        parameters,
        loaded,
        plan,
        index,
        blocks,
        function: Function { name, extents, parameters: Vec::new(), values: Arena::new(), body: Block::default() },
        values: vec![Vec::new(); computation.instructions.len()],
        reads: Vec::new(),
        bindings: 0,
        bound: Vec::new(),
    };
    for given in &planned.given {
        let values = emission.result_values(*given, "");
        emission.function.parameters.extend(&values);
        emission.values[given.index()] = values.into_iter().map(Operand::Value).collect();
    }
    let mut body = Block::default();
    emission.members(None, &known, &mut body)?;
    for root in &planned.roots {
        let operands = emission.root(root, &mut body)?;
        body.results.extend(operands);
    }
    emission.function.body = body;
    Ok(emission.function)
}

/// A runtime variable in sight: the instruction and the element that it is, its bounds, and its number.
type Bound = (InstrId, Vec<Expr>, Interval, u32);

pub(super) struct Emission<'a, 'r, 'm> {
    regions: &'r Regions<'m>,
    pub(super) computation: &'a Computation,
    /// The memory of each parameter of the computation.
    parameters: &'a [MemoryId],
    /// What the function folds from tiles.
    loaded: Option<&'a Loaded<'a>>,
    pub(super) plan: &'a FusionPlan,
    index: usize,
    /// The members of each block, operands before users.
    blocks: BTreeMap<Option<(InstrId, usize)>, Vec<InstrId>>,
    pub(super) function: Function,
    /// What each instruction emitted so far is.
    values: Vec<Vec<Operand>>,
    /// Elements and calls in sight, so that none is read twice: innermost block last.
    reads: Vec<(InstrId, Vec<Expr>, Vec<Operand>)>,
    /// Runtime variables of the function, and those in sight.
    bindings: u32,
    bound: Vec<Bound>,
}

impl Emission<'_, '_, '_> {
    /// Emits the members of a block.
    pub(super) fn members(
        &mut self,
        block: Option<(InstrId, usize)>,
        known: &Known,
        out: &mut Block,
    ) -> Result<(), Diagnostics> {
        let members = self.blocks.remove(&block).unwrap_or_default();
        for id in members {
            let values = self.member(id, known, out)?;
            self.values[id.index()] = values;
        }
        Ok(())
    }

    fn member(&mut self, id: InstrId, known: &Known, out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
        let computation = self.computation;
        let instruction = &computation.instructions[id];
        let ty = element_type(instruction);
        if let Some(scalar) = self.plan.splat(id) {
            return Ok(vec![Operand::Constant(scalar)]);
        }
        match &instruction.op {
            Op::Iota { dimension } => {
                let map = self.home(id);
                let dimension = usize::try_from(*dimension).unwrap_or(0);
                let op = ScalarOp::Index { index: map.results()[dimension].clone(), element_type: ty };
                Ok(vec![self.define(out, &instruction.name, ty, op)])
            }
            Op::Concatenate { .. } => self.concatenate(id, known, out),
            Op::Pad { .. } => self.pad(id, known, out),
            Op::Gather { .. } | Op::DynamicSlice { .. } => Ok(vec![self.read_one(id, 0, out)?]),
            Op::DynamicUpdateSlice => self.update_slice(id, known, out),
            Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. } => match self.loaded {
                Some(loaded) if loaded.hero == id => self.fold_loaded(loaded, *to_apply, known, out),
                _ => self.reduce(id, *to_apply, known, out),
            },
            Op::Scatter { to_apply, .. } => self.scatter(id, *to_apply, known, out),
            Op::Dot { .. } | Op::Convolution { .. } => self.products(id, known, out),
            Op::Map { to_apply, .. } => {
                let operands = self.read_each(id, 0..instruction.operands.len(), out)?;
                let values = self.result_values(id, "");
                self.apply(*to_apply, operands, values.clone(), out)?;
                Ok(values.into_iter().map(Operand::Value).collect())
            }
            Op::GetTupleElement { index } => {
                let all = self.read(id, 0, out)?;
                let element = usize::try_from(*index).ok().and_then(|index| all.get(index)).copied();
                Ok(vec![element.unwrap_or(Operand::Constant(zero(ty)))])
            }
            _ => {
                let operands = self.read_each(id, 0..instruction.operands.len(), out)?;
                if let Some(op) = scalar_op(instruction, &operands) {
                    return Ok(vec![self.define(out, &instruction.name, ty, op)]);
                }
                if let (Op::Bitcast | Op::BitcastConvert, [operand]) = (&instruction.op, operands.as_slice())
                    && Kernel::operand_type(&self.function, *operand) != ty
                {
                    let op = ScalarOp::Bitcast { operand: *operand, to: ty };
                    return Ok(vec![self.define(out, &instruction.name, ty, op)]);
                }
                let moves = instruction.op.opcode().only_moves_data()
                    || matches!(instruction.op, Op::BitcastConvert | Op::OptimizationBarrier);
                if moves && operands.len() == 1 {
                    return Ok(operands);
                }
                let message = format!("'{}' cannot be emitted in a kernel yet", instruction.op.name());
                Err(Diagnostic::new("HLO413", instruction.span, message).about(&instruction.name).into())
            }
        }
    }

    /// Calls the function that a region has become.
    pub(super) fn apply(
        &mut self,
        region: weft_hlo::ir::ComputationId,
        arguments: Vec<Operand>,
        values: Vec<ValueId>,
        out: &mut Block,
    ) -> Result<(), Diagnostics> {
        let Some(function) = self.regions.function(region) else {
            let message = "a region is applied that the fusion does not name; this is a fault of the compiler";
            return Err(Diagnostic::new("HLO413", self.computation.span, message).about(&self.computation.name).into());
        };
        out.statements.push(Statement::Call { values, function, indices: Vec::new(), arguments });
        Ok(())
    }

    /// A value for each array of an instruction's shape.
    pub(super) fn result_values(&mut self, id: InstrId, suffix: &str) -> Vec<ValueId> {
        let instruction = &self.computation.instructions[id];
        let arrays = instruction.shape.leaves();
        let types = arrays.into_iter().filter_map(|leaf| leaf.as_array()).map(|array| array.element_type);
        types
            .map(|element_type| {
                let value = Value::scalar(format!("{}{suffix}", instruction.name), element_type);
                self.function.values.push(value)
            })
            .collect()
    }

    /// The map from this function's indices to those of a member.
    pub(super) fn home(&self, id: InstrId) -> IndexingMap {
        let home = self.plan.home(id).expect("members of a function have a home in it");
        home.1.clone()
    }

    /// The values a root returns.
    fn root(&mut self, root: &Root, out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
        if self.is_in_sight(root.instruction) {
            return Ok(self.values[root.instruction.index()].clone());
        }
        // An output that other functions read through other indices is a function itself.
        self.element(root.instruction, root.map.results(), out)
    }

    /// Whether the value of an instruction is a member of this function that was emitted, or given to it.
    fn is_in_sight(&self, id: InstrId) -> bool {
        let planned = &self.plan.functions()[self.index];
        let is_here = self.plan.home(id).is_some_and(|(function, _)| function.0 as usize == self.index);
        (is_here && !self.values[id.index()].is_empty()) || planned.given.contains(&id)
    }

    /// The operand number `position` of `id`, which has a single value.
    pub(super) fn read_one(&mut self, id: InstrId, position: usize, out: &mut Block) -> Result<Operand, Diagnostics> {
        let values = self.read(id, position, out)?;
        let operand = self.computation.instructions[id].operands[position];
        let ty = element_type(&self.computation.instructions[operand]);
        Ok(values.first().copied().unwrap_or(Operand::Constant(zero(ty))))
    }

    /// The operands of `id` in these places, each of which has a single value.
    pub(super) fn read_each(
        &mut self,
        id: InstrId,
        positions: Range<usize>,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        positions.map(|position| self.read_one(id, position, out)).collect()
    }

    /// The values of operand number `position` of `id`.
    pub(super) fn read(&mut self, id: InstrId, position: usize, out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
        let operand = self.computation.instructions[id].operands[position];
        let plan = self.plan;
        let map = match plan.read(id, position) {
            Read::Splat => return Ok(plan.splat(operand).map(Operand::Constant).into_iter().collect()),
            Read::Never | Read::Runtime => return Ok(Vec::new()),
            Read::Given => return Ok(self.values[operand.index()].clone()),
            Read::At(map) => map,
        };
        if self.is_in_sight(operand) {
            return Ok(self.values[operand.index()].clone());
        }
        let results = self.bind(map, out)?;
        self.element(operand, &results, out)
    }

    /// The results of a map with its runtime variables bound, each to the element of the program's values that it is.
    pub(super) fn bind(&mut self, map: &IndexingMap, out: &mut Block) -> Result<Vec<Expr>, Diagnostics> {
        let mut numbers = Vec::with_capacity(map.runtime().len());
        for variable in map.runtime() {
            let (owner, access, bounds) = self.start(variable)?;
            let known = self.bound.iter().find(|(of, at, within, _)| *of == owner && at == access && *within == bounds);
            if let Some((_, _, _, number)) = known {
                numbers.push(*number);
                continue;
            }
            let value = self.start_value(owner, access, out)?;
            let binding = self.binding((owner, access, bounds), value);
            numbers.push(binding.variable);
            out.statements.push(Statement::Bind { binding, out_of_bounds: OutOfBounds::Clamp });
        }
        map.results().iter().map(|result| renumbered(result, &numbers)).collect::<Result<_, _>>().map_err(overflow)
    }

    /// The element that a runtime variable is: of which instruction, at which indices, within which bounds.
    pub(super) fn start<'v>(
        &self,
        variable: &'v RuntimeVariable,
    ) -> Result<(InstrId, &'v [Expr], Interval), Diagnostics> {
        let owner = variable.owner().and_then(|owner| usize::try_from(owner.0).ok()).map(InstrId::from_index);
        let bounds = variable.bounds();
        let Some(owner) = owner.filter(|owner| owner.index() < self.computation.instructions.len()) else {
            let message = format!("a start within {bounds} has no instruction that yields it");
            return Err(Diagnostic::new("HLO301", Default::default(), message).into());
        };
        if bounds.hi >= MAX_EXTENT {
            let instruction = &self.computation.instructions[owner];
            let message = format!("its elements are indices within {bounds}, more than 32 bits number");
            return Err(Diagnostic::new("HLO412", instruction.span, message).about(&instruction.name).into());
        }
        Ok((owner, variable.access(), bounds))
    }

    /// The element of an instruction that is a start.
    pub(super) fn start_value(
        &mut self,
        owner: InstrId,
        access: &[Expr],
        out: &mut Block,
    ) -> Result<Operand, Diagnostics> {
        if let Some(scalar) = self.plan.splat(owner) {
            return Ok(Operand::Constant(scalar));
        }
        let ty = element_type(&self.computation.instructions[owner]);
        let values = match self.is_in_sight(owner) {
            true => self.values[owner.index()].clone(),
            false => self.element(owner, access, out)?,
        };
        Ok(values.first().copied().unwrap_or(Operand::Constant(zero(ty))))
    }

    /// The number of a new runtime variable.
    pub(super) fn variable(&mut self) -> u32 {
        self.bindings += 1;
        self.bindings - 1
    }

    /// A new runtime variable for a start, in sight from now on.
    pub(super) fn binding(&mut self, (owner, access, bounds): (InstrId, &[Expr], Interval), value: Operand) -> Binding {
        let variable = self.variable();
        self.bound.push((owner, access.to_vec(), bounds, variable));
        Binding { variable, bounds, value }
    }

    /// The elements of a parameter or of another function's root at `indices`, read at most once in a block.
    fn element(&mut self, id: InstrId, indices: &[Expr], out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
        if let Some((_, _, values)) = self.reads.iter().find(|(of, at, _)| *of == id && at == indices) {
            return Ok(values.clone());
        }
        let instruction = &self.computation.instructions[id];
        let values = if matches!(instruction.op, Op::Parameter { .. }) {
            vec![self.extract(id, indices, out)]
        } else {
            self.call(id, indices, out)?
        };
        self.reads.push((id, indices.to_vec(), values.clone()));
        Ok(values)
    }

    fn extract(&mut self, parameter: InstrId, indices: &[Expr], out: &mut Block) -> Operand {
        let instruction = &self.computation.instructions[parameter];
        let number = match instruction.op {
            Op::Parameter { number } => usize::try_from(number).unwrap_or(0),
            _ => 0,
        };
        let op = ScalarOp::Extract { memory: self.parameters[number], indices: indices.to_vec() };
        self.define(out, &format!("{}.value", instruction.name), element_type(instruction), op)
    }

    fn call(&mut self, id: InstrId, indices: &[Expr], out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
        let instruction = &self.computation.instructions[id];
        let Some((function, _)) = self.plan.home(id) else {
            let message = "no function of the plan computes it; this is a fault of the compiler";
            return Err(Diagnostic::new("HLO413", instruction.span, message).about(&instruction.name).into());
        };
        let values = self.result_values(id, "");
        let function = FunctionId::from_index(function.0 as usize);
        let (indices, arguments) = (indices.to_vec(), Vec::new());
        out.statements.push(Statement::Call { values: values.clone(), function, indices, arguments });
        Ok(values.into_iter().map(Operand::Value).collect())
    }

    /// The type of an operand.
    pub(super) fn type_of(&self, id: InstrId, position: usize) -> ElementType {
        let operand = self.computation.instructions[id].operands[position];
        element_type(&self.computation.instructions[operand])
    }

    pub(super) fn define(&mut self, out: &mut Block, name: &str, ty: ElementType, op: ScalarOp) -> Operand {
        define(&mut self.function, out, name.to_owned(), ty, op)
    }

    /// A block of its own: what it reads is not in sight afterwards.
    pub(super) fn scoped<T>(
        &mut self,
        emit: impl FnOnce(&mut Self, &mut Block) -> Result<T, Diagnostics>,
    ) -> Result<(T, Block), Diagnostics> {
        let (visible, bound) = (self.reads.len(), self.bound.len());
        let mut block = Block::default();
        let result = emit(self, &mut block)?;
        self.reads.truncate(visible);
        self.bound.truncate(bound);
        Ok((result, block))
    }

    /// The domain in which `id` reads operand `position`, as constraints on this function's indices.
    pub(super) fn domain(&self, id: InstrId, position: usize) -> Result<Vec<Constraint>, Diagnostics> {
        let step = operand_map(self.computation, id, position)?;
        let home = self.home(id);
        let at = |expr: &Expr| {
            let substituted = expr.substitute(|variable| match variable {
                Var::Dim(index) => home.results().get(index as usize).cloned(),
                _ => None,
            });
            substituted.map_err(|error| {
                let instruction = &self.computation.instructions[id];
                Diagnostics::from(
                    Diagnostic::new("HLO302", instruction.span, error.to_string()).about(&instruction.name),
                )
            })
        };
        let mut domain = Vec::new();
        for (result, variable) in home.results().iter().zip(step.dims()) {
            domain.push(Constraint { expr: result.clone(), bounds: variable.bounds() });
        }
        for constraint in step.constraints() {
            domain.push(Constraint { expr: at(&constraint.expr)?, bounds: constraint.bounds });
        }
        Ok(domain)
    }
}

/// The expression with runtime variable `k` called `numbers[k]`.
pub(super) fn renumbered(expr: &Expr, numbers: &[u32]) -> Result<Expr, weft_affine::Error> {
    expr.substitute(|variable| match variable {
        Var::Runtime(index) => numbers.get(index as usize).map(|number| Expr::runtime(*number)),
        _ => None,
    })
}

pub(super) fn overflow(error: weft_affine::Error) -> Diagnostics {
    Diagnostic::new("HLO302", Default::default(), error.to_string()).into()
}
