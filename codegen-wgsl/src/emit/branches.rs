//! Emission of operations whose operand depends on where an element lies: concatenate, pad, dynamic-update-slice.

use super::function::Emission;
use crate::elemental::{element_type, zero};
use crate::kernel::{Block, Condition, Known, Operand, Statement, Value, ValueId};
use std::collections::HashMap;
use weft_affine::{Constraint, Expr, Interval};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{ElementType, InstrId, Op};
use weft_indexing::IndexingMap;
use weft_partition::Read;

impl Emission<'_, '_, '_> {
    pub(super) fn concatenate(
        &mut self,
        id: InstrId,
        known: &Known,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
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

    pub(super) fn pad(&mut self, id: InstrId, known: &Known, out: &mut Block) -> Result<Vec<Operand>, Diagnostics> {
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

    /// One of two blocks. Where both do the same, that is done in any case: besides being shorter, SwiftShader's compiler takes time by the power of the
    /// length of what both branches compute alike.
    fn if_else(
        &mut self,
        name: &str,
        element_type: ElementType,
        condition: Vec<Constraint>,
        then: Block,
        otherwise: Block,
        out: &mut Block,
    ) -> Operand {
        if let ([value], true) = (then.results.as_slice(), are_alike(&then, &otherwise)) {
            let value = *value;
            out.statements.extend(then.statements);
            return value;
        }
        let value = self.function.values.push(Value::scalar(name, element_type));
        let condition = Condition::Indices(condition);
        out.statements.push(Statement::If { values: vec![value], condition, then, otherwise });
        Operand::Value(value)
    }

    /// The operand, but for a box at a place that values tell, which is the update.
    pub(super) fn update_slice(
        &mut self,
        id: InstrId,
        known: &Known,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        let plan = self.plan;
        let (map, extents) = match (plan.read(id, 0), plan.read(id, 1)) {
            // An update without elements changes nothing.
            (_, Read::Never) => {
                self.members(Some((id, 0)), known, out)?;
                return Ok(vec![self.read_one(id, 0, out)?]);
            }
            _ => (self.place(id, 1)?, self.extents_of(id, 1)),
        };
        let indices = self.bind(&map, out)?;
        let within = |(index, extent): (Expr, &i64)| Constraint { expr: index, bounds: Interval::of_extent(*extent) };
        let inside: Vec<Constraint> = indices.into_iter().zip(&extents).map(within).collect();
        let mut known = known.clone();
        for statement in &out.statements {
            if let Statement::Bind { binding, .. } = statement {
                known.bind(binding);
            }
        }
        let condition = known.open(&inside);
        let (_, then) = self.scoped(|this, block| {
            this.members(Some((id, 1)), &known.when(&condition), block)?;
            block.results = vec![this.read_one(id, 1, block)?];
            Ok(())
        })?;
        let (_, otherwise) = self.scoped(|this, block| {
            this.members(Some((id, 0)), &known.unless(&condition), block)?;
            block.results = vec![this.read_one(id, 0, block)?];
            Ok(())
        })?;
        let instruction = &self.computation.instructions[id];
        Ok(vec![self.if_else(&instruction.name, element_type(instruction), condition, then, otherwise, out)])
    }

    fn extents_of(&self, id: InstrId, position: usize) -> Vec<i64> {
        let operand = self.computation.instructions[id].operands[position];
        let array = self.computation.instructions[operand].shape.as_array();
        array.map(|array| array.extents.clone()).unwrap_or_default()
    }

    /// The map from this function's indices to where `id` reads operand `position`, whether it is constant or not.
    pub(super) fn place(&self, id: InstrId, position: usize) -> Result<IndexingMap, Diagnostics> {
        let step = operand_map(self.computation, id, position)?;
        let map = self.home(id).then(&step).map_err(|error| {
            let instruction = &self.computation.instructions[id];
            Diagnostic::new("HLO302", instruction.span, error.to_string()).about(&instruction.name)
        })?;
        Ok(map)
    }
}

/// Whether two blocks without blocks of their own are the same but for what their values are called.
fn are_alike(one: &Block, other: &Block) -> bool {
    let mut names: HashMap<ValueId, Operand> = HashMap::new();
    let renamed = |operand: &mut Operand, names: &HashMap<ValueId, Operand>| {
        if let Operand::Value(value) = operand {
            *operand = names.get(value).copied().unwrap_or(*operand);
        }
    };
    let is_alike = |(one, other): (&Statement, &Statement)| {
        let mut copy = other.clone();
        if !matches!(copy, Statement::Let { .. } | Statement::Call { .. }) {
            return false;
        }
        copy.operands_mut().into_iter().for_each(|operand| renamed(operand, &names));
        for (own, wanted) in copy.defines_mut().into_iter().zip(one.defines()) {
            names.insert(*own, Operand::Value(wanted));
            *own = wanted;
        }
        copy == *one
    };
    if one.statements.len() != other.statements.len() || !one.statements.iter().zip(&other.statements).all(is_alike) {
        return false;
    }
    let mut results = other.results.clone();
    results.iter_mut().for_each(|operand| renamed(operand, &names));
    results == one.results
}
