//! Emission of one function of a plan.

use crate::elemental::{define, element_type, inline_region, scalar_op, zero};
use crate::kernel::Known;
use crate::kernel::{Block, Function, FunctionId, Kernel, Operand, ScalarOp, Statement, TensorId, Value, ValueId};
use std::collections::BTreeMap;
use weft_affine::{Constraint, Expr, Interval, Var};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{Arena, ArenaId, Computation, ElementType, InstrId, Module, Op};
use weft_indexing::IndexingMap;
use weft_partition::{FusionPlan, Read};

/// The function number `index` of a plan; `names` are the names of all of them.
///
/// # Errors
/// `HLO411`, `HLO413` for what cannot be emitted, and the errors of indexing maps.
pub(super) fn emit_function(
    module: &Module,
    computation: &Computation,
    plan: &FusionPlan,
    index: usize,
    planned: &weft_partition::Function,
    names: &[String],
) -> Result<Function, Diagnostics> {
    let mut blocks: BTreeMap<Option<(InstrId, usize)>, Vec<InstrId>> = BTreeMap::new();
    for member in &planned.members {
        blocks.entry(plan.block(*member)).or_default().push(*member);
    }
    let mut emission = Emission {
        module,
        computation,
        plan,
        index,
        blocks,
        function: Function {
            name: names[index].clone(),
            extents: planned.extents.clone(),
            values: Arena::new(),
            body: Block::default(),
        },
        values: vec![Vec::new(); computation.instructions.len()],
        reads: Vec::new(),
    };
    let known = Known::new(&planned.extents);
    let mut body = Block::default();
    emission.members(None, &known, &mut body)?;
    for root in &planned.roots {
        let operands = emission.root(*root, &mut body)?;
        body.results.extend(operands);
    }
    emission.function.body = body;
    Ok(emission.function)
}

struct Emission<'a> {
    module: &'a Module,
    computation: &'a Computation,
    plan: &'a FusionPlan,
    index: usize,
    /// The members of each block, operands before users.
    blocks: BTreeMap<Option<(InstrId, usize)>, Vec<InstrId>>,
    function: Function,
    /// What each instruction emitted so far is.
    values: Vec<Vec<Operand>>,
    /// Elements and calls in sight, so that none is read twice: innermost block last.
    reads: Vec<(InstrId, Vec<Expr>, Vec<Operand>)>,
}

impl Emission<'_> {
    /// Emits the members of a block.
    fn members(&mut self, block: Option<(InstrId, usize)>, known: &Known, out: &mut Block) -> Result<(), Diagnostics> {
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
            Op::Reduce { dimensions, to_apply } => self.reduce(id, dimensions, *to_apply, known, out),
            Op::GetTupleElement { index } => {
                let all = self.read(id, 0, out)?;
                let element = usize::try_from(*index).ok().and_then(|index| all.get(index)).copied();
                Ok(vec![element.unwrap_or(Operand::Constant(zero(ty)))])
            }
            _ => {
                let mut operands = Vec::with_capacity(instruction.operands.len());
                for position in 0..instruction.operands.len() {
                    operands.push(self.read_one(id, position, out)?);
                }
                if let Some(op) = scalar_op(instruction, &operands) {
                    return Ok(vec![self.define(out, &instruction.name, ty, op)]);
                }
                if let (Op::Bitcast | Op::BitcastConvert, [operand]) = (&instruction.op, operands.as_slice())
                    && Kernel::operand_type(&self.function, *operand) != ty
                {
                    let op = ScalarOp::Bitcast { operand: *operand, to: ty };
                    return Ok(vec![self.define(out, &instruction.name, ty, op)]);
                }
                if (instruction.op.opcode().only_moves_data() || instruction.op == Op::BitcastConvert)
                    && operands.len() == 1
                {
                    return Ok(operands);
                }
                let message = format!("'{}' cannot be emitted in a kernel yet", instruction.op.name());
                Err(Diagnostic::new("HLO413", instruction.span, message).about(&instruction.name).into())
            }
        }
    }

    /// The map from this function's indices to those of a member.
    fn home(&self, id: InstrId) -> IndexingMap {
        let home = self.plan.home(id).expect("members of a function have a home in it");
        home.1.clone()
    }

    /// The values a root returns.
    fn root(&mut self, id: InstrId, out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
        let home = self.plan.home(id);
        if let Some((function, _)) = home
            && function.0 as usize == self.index
        {
            return Ok(self.values[id.index()].clone());
        }
        // An output that other functions read through other indices is a function itself.
        let extents = self.function.extents.clone();
        let map = IndexingMap::identity(&extents);
        Ok(self.element(id, map.results(), out))
    }

    /// The operand number `position` of `id`, which has a single value.
    fn read_one(&mut self, id: InstrId, position: usize, out: &mut Block) -> Result<Operand, Diagnostics> {
        let values = self.read(id, position, out)?;
        let operand = self.computation.instructions[id].operands[position];
        let ty = element_type(&self.computation.instructions[operand]);
        Ok(values.first().copied().unwrap_or(Operand::Constant(zero(ty))))
    }

    /// The values of operand number `position` of `id`.
    fn read(&mut self, id: InstrId, position: usize, out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
        let operand = self.computation.instructions[id].operands[position];
        let map = match self.plan.read(id, position) {
            Read::Splat => return Ok(self.plan.splat(operand).map(Operand::Constant).into_iter().collect()),
            Read::Never => return Ok(Vec::new()),
            Read::At(map) => map,
        };
        let here = self.plan.home(operand).is_some_and(|(function, _)| function.0 as usize == self.index);
        if here && !self.values[operand.index()].is_empty() {
            return Ok(self.values[operand.index()].clone());
        }
        let results = map.results().to_vec();
        Ok(self.element(operand, &results, out))
    }

    /// The elements of a parameter or of another function's root at `indices`, read at most once in a block.
    fn element(&mut self, id: InstrId, indices: &[Expr], out: &mut Block) -> Vec<Operand> {
        if let Some((_, _, values)) = self.reads.iter().find(|(of, at, _)| *of == id && at == indices) {
            return values.clone();
        }
        let instruction = &self.computation.instructions[id];
        let values = if matches!(instruction.op, Op::Parameter { .. }) {
            vec![self.extract(id, indices, out)]
        } else {
            self.call(id, indices, out)
        };
        self.reads.push((id, indices.to_vec(), values.clone()));
        values
    }

    fn extract(&mut self, parameter: InstrId, indices: &[Expr], out: &mut Block) -> Operand {
        let instruction = &self.computation.instructions[parameter];
        let number = match instruction.op {
            Op::Parameter { number } => usize::try_from(number).unwrap_or(0),
            _ => 0,
        };
        let op = ScalarOp::Extract { tensor: TensorId::from_index(number), indices: indices.to_vec() };
        self.define(out, &format!("{}.value", instruction.name), element_type(instruction), op)
    }

    fn call(&mut self, id: InstrId, indices: &[Expr], out: &mut Block) -> Vec<Operand> {
        let instruction = &self.computation.instructions[id];
        let Some((function, _)) = self.plan.home(id) else {
            return vec![Operand::Constant(zero(element_type(instruction)))];
        };
        let values: Vec<ValueId> = instruction
            .shape
            .leaves()
            .into_iter()
            .filter_map(|leaf| leaf.as_array())
            .map(|array| {
                let value = Value { name: instruction.name.clone(), element_type: array.element_type };
                self.function.values.push(value)
            })
            .collect();
        let function = FunctionId::from_index(function.0 as usize);
        out.statements.push(Statement::Call { values: values.clone(), function, indices: indices.to_vec() });
        values.into_iter().map(Operand::Value).collect()
    }

    fn define(&mut self, out: &mut Block, name: &str, ty: ElementType, op: ScalarOp) -> Operand {
        define(&mut self.function, out, name.to_owned(), ty, op)
    }

    /// A block of its own: what it reads is not in sight afterwards.
    fn scoped<T>(
        &mut self,
        emit: impl FnOnce(&mut Self, &mut Block) -> Result<T, Diagnostics>,
    ) -> Result<(T, Block), Diagnostics> {
        let visible = self.reads.len();
        let mut block = Block::default();
        let result = emit(self, &mut block)?;
        self.reads.truncate(visible);
        Ok((result, block))
    }

    /// The domain in which `id` reads operand `position`, as constraints on this function's indices.
    fn domain(&self, id: InstrId, position: usize) -> Result<Vec<Constraint>, Diagnostics> {
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

    fn concatenate(&mut self, id: InstrId, known: &Known, out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
        let instruction = &self.computation.instructions[id];
        let Op::Concatenate { dimension } = instruction.op else { return Ok(Vec::new()) };
        let along = usize::try_from(dimension).unwrap_or(0);
        let index = self.home(id).results()[along].clone();
        let mut parts = Vec::new();
        for position in 0..instruction.operands.len() {
            if *self.plan.read(id, position) != Read::Never {
                let start = operand_map(self.computation, id, position)?.dims()[along].bounds().lo;
                parts.push((position, start));
            }
        }
        if parts.is_empty() {
            return Ok(vec![Operand::Constant(zero(element_type(instruction)))]);
        }
        self.branch(id, &index, &parts, known, out)
    }

    /// Chooses among operands, given with the position along `index` where each starts, by halving: `n` operands nest
    /// no deeper than the logarithm of `n`.
    fn branch(
        &mut self,
        id: InstrId,
        index: &Expr,
        parts: &[(usize, i64)],
        known: &Known,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        let (before, after) = parts.split_at(parts.len() / 2);
        let (Some(_), Some((_, start))) = (before.first(), after.first()) else {
            let (position, _) = parts[0];
            self.members(Some((id, position)), known, out)?;
            return Ok(vec![self.read_one(id, position, out)?]);
        };
        let range = known.range(index);
        // What is known may already decide: of the tail of a roll only one operand is left.
        if range.hi < *start {
            return self.branch(id, index, before, known, out);
        }
        if range.lo >= *start {
            return self.branch(id, index, after, known, out);
        }
        let condition = vec![Constraint { expr: index.clone(), bounds: Interval::new(range.lo, start - 1) }];
        let (inner, outer) = (known.when(&condition), known.unless(&condition));
        let (_, then) = self.scoped(|this, block| {
            block.results = this.branch(id, index, before, &inner, block)?;
            Ok(())
        })?;
        let (_, otherwise) = self.scoped(|this, block| {
            block.results = this.branch(id, index, after, &outer, block)?;
            Ok(())
        })?;
        let instruction = &self.computation.instructions[id];
        Ok(vec![self.if_else(&instruction.name, element_type(instruction), condition, then, otherwise, out)])
    }

    fn pad(&mut self, id: InstrId, known: &Known, out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
        let instruction = &self.computation.instructions[id];
        let ty = element_type(instruction);
        let padding = self.read_one(id, 1, out)?;
        if *self.plan.read(id, 0) == Read::Never {
            return Ok(vec![padding]);
        }
        let condition = known.open(&self.domain(id, 0)?);
        if condition.is_empty() {
            self.members(Some((id, 0)), known, out)?;
            return Ok(vec![self.read_one(id, 0, out)?]);
        }
        let inner = known.when(&condition);
        let (_, then) = self.scoped(|this, block| {
            this.members(Some((id, 0)), &inner, block)?;
            block.results = vec![this.read_one(id, 0, block)?];
            Ok(())
        })?;
        let otherwise = Block { statements: Vec::new(), results: vec![padding] };
        Ok(vec![self.if_else(&instruction.name, ty, condition, then, otherwise, out)])
    }

    fn if_else(
        &mut self,
        name: &str,
        element_type: ElementType,
        condition: Vec<Constraint>,
        then: Block,
        otherwise: Block,
        out: &mut Block,
    ) -> Operand {
        let value = self.function.values.push(Value { name: name.to_owned(), element_type });
        out.statements.push(Statement::If { values: vec![value], condition, then, otherwise });
        Operand::Value(value)
    }

    fn reduce(
        &mut self,
        id: InstrId,
        dimensions: &[i64],
        region: weft_hlo::ir::ComputationId,
        known: &Known,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        let computation = self.computation;
        let instruction = &computation.instructions[id];
        let inputs = instruction.operands.len() / 2;
        let mut init = Vec::with_capacity(inputs);
        for position in inputs..2 * inputs {
            init.push(self.read_one(id, position, out)?);
        }
        if (0..inputs).any(|position| *self.plan.read(id, position) == Read::Never) {
            return Ok(init);
        }
        let from = computation.instructions[instruction.operands[0]].shape.as_array();
        let from = from.map(|array| array.extents.as_slice()).unwrap_or_default();
        let mut sorted = dimensions.to_vec();
        sorted.sort_unstable();
        let reduced: Vec<usize> = sorted.iter().filter_map(|dimension| usize::try_from(*dimension).ok()).collect();
        let extents: Vec<i64> = reduced.iter().filter_map(|dimension| from.get(*dimension).copied()).collect();
        let shapes = instruction.shape.leaves();
        let types: Vec<ElementType> =
            shapes.iter().filter_map(|leaf| leaf.as_array()).map(|array| array.element_type).collect();
        let mut named = |suffix: &str| -> Vec<ValueId> {
            let values =
                types.iter().map(|ty| Value { name: format!("{}{suffix}", instruction.name), element_type: *ty });
            values.map(|value| self.function.values.push(value)).collect()
        };
        let accumulators = named(".acc");
        let values = named("");
        let inner = known.in_loop(&extents);
        let region = &self.module.computations[region];
        let (_, body) = self.scoped(|this, block| {
            this.members(Some((id, 0)), &inner, block)?;
            let mut arguments: Vec<Operand> = accumulators.iter().map(|value| Operand::Value(*value)).collect();
            for position in 0..inputs {
                arguments.push(this.read_one(id, position, block)?);
            }
            block.results = inline_region(&mut this.function, block, region, &arguments)?;
            Ok(())
        })?;
        out.statements.push(Statement::Loop { values: values.clone(), extents, init, accumulators, body });
        Ok(values.into_iter().map(Operand::Value).collect())
    }
}
