//! What emitters of tiles append to blocks of the entry, whatever their tiles are of.

use crate::kernel::{Block, Condition, Known, Operand, ScalarOp, Statement, Value, ValueId};
use weft_affine::{Constraint, Error, Expr};
use weft_hlo::ir::{Arena, BinaryOp, ElementType};

/// An emitter that appends statements to the entry of a kernel.
pub(super) trait Statements: Sized {
    /// The values of the entry.
    fn values(&mut self) -> &mut Arena<ValueId, Value>;

    /// The type of an operand.
    fn type_of(&mut self, operand: Operand) -> ElementType {
        match operand {
            Operand::Value(value) => self.values()[value].element_type,
            Operand::Constant(scalar) => scalar.element_type(),
        }
    }

    /// Values of the types of others.
    fn named(&mut self, name: &str, like: &[Operand]) -> Vec<ValueId> {
        let mut named = Vec::with_capacity(like.len());
        for operand in like {
            let ty = self.type_of(*operand);
            named.push(self.values().push(Value::scalar(name, ty)));
        }
        named
    }

    /// Appends an operation.
    fn define(&mut self, ty: ElementType, op: ScalarOp, name: &str, block: &mut Block) -> Operand {
        let value = self.values().push(Value::scalar(name, ty));
        block.statements.push(Statement::Let { value, op });
        Operand::Value(value)
    }

    /// Appends an operation on two values of its type.
    fn binary(&mut self, op: BinaryOp, operands: [Operand; 2], name: &str, block: &mut Block) -> Operand {
        let ty = self.type_of(operands[0]);
        self.define(ty, ScalarOp::Binary { op, operands }, name, block)
    }

    /// A value in another type, or as it is if that is its own.
    fn converted(&mut self, operand: Operand, to: ElementType, name: &str, block: &mut Block) -> Operand {
        match self.type_of(operand) == to {
            true => operand,
            false => self.define(to, ScalarOp::Convert { operand, to }, name, block),
        }
    }

    /// Appends a loop of so many rounds that carries values, each round told its number and what they are; one round is no loop.
    fn looped(
        &mut self,
        rounds: i64,
        init: Vec<Operand>,
        known: &Known,
        block: &mut Block,
        emit: impl FnOnce(&mut Self, &Expr, Vec<Operand>, &Known, &mut Block) -> Result<Vec<Operand>, Error>,
    ) -> Result<Vec<Operand>, Error> {
        match rounds {
            0 => return Ok(init),
            1 => return emit(self, &Expr::constant(0), init, known, block),
            _ => {}
        }
        let round = Expr::range(u32::try_from(known.loops()).unwrap_or(u32::MAX));
        let [accumulators, values] = ["acc", "sum"].map(|name| self.named(name, &init));
        let carried = accumulators.iter().copied().map(Operand::Value).collect();
        let mut body = Block::default();
        body.results = emit(self, &round, carried, &known.in_loop(&[rounds]), &mut body)?;
        let results = values.iter().copied().map(Operand::Value).collect();
        block.statements.push(Statement::Loop { values, extents: vec![rounds], init, accumulators, body });
        Ok(results)
    }

    /// Appends what replaces values where tests hold; elsewhere these stay.
    fn where_holds(
        &mut self,
        open: Vec<Constraint>,
        (name, elsewhere): (&str, Vec<Operand>),
        known: &Known,
        block: &mut Block,
        emit: impl FnOnce(&mut Self, Vec<Operand>, &Known, &mut Block) -> Result<Vec<Operand>, Error>,
    ) -> Result<Vec<Operand>, Error> {
        if open.is_empty() {
            return emit(self, elsewhere, known, block);
        }
        if open.iter().any(|test| test.bounds.is_empty()) {
            return Ok(elsewhere);
        }
        let mut then = Block::default();
        then.results = emit(self, elsewhere.clone(), &known.when(&open), &mut then)?;
        let values = self.named(name, &elsewhere);
        let results = values.iter().copied().map(Operand::Value).collect();
        let otherwise = Block { statements: Vec::new(), results: elsewhere };
        block.statements.push(Statement::If { values, condition: Condition::Indices(open), then, otherwise });
        Ok(results)
    }
}
