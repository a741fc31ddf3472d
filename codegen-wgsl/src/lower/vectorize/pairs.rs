//! Elements that take two words: the words of several are vectors.

use super::Refusal;
use super::function::Growing;
use super::steps::Step;
use crate::kernel::{MemoryId, Operand, ScalarOp, Statement};
use weft_affine::Expr;

/// Words of an element.
const HALVES: u32 = 2;

impl Growing<'_, '_> {
    /// Two statements that read both halves of the same elements, or store them, as statements of two vectors, which hold the halves in turns.
    /// Whether they are that.
    pub(super) fn pair(&mut self, statements: [&Statement; 2], out: &mut Vec<Statement>) -> Result<bool, Refusal> {
        match statements {
            [
                Statement::Let { value: low, op: ScalarOp::Extract { memory, indices } },
                Statement::Let { value: high, op: ScalarOp::Extract { memory: other, indices: others } },
            ] if memory == other => {
                let Some(first) = self.whole(*memory, indices, others)? else { return Ok(false) };
                let mut vectors = Vec::with_capacity(HALVES as usize);
                for index in self.vectors_from(&first)? {
                    self.pass.gains.vectors += 1;
                    let op = ScalarOp::Extract { memory: *memory, indices: vec![index] };
                    vectors.push(self.push(Operand::Value(*low), self.lanes(), op, out));
                }
                for (value, half) in [low, high].into_iter().zip(0..) {
                    let of_vector = self.lanes();
                    let mut lanes = Vec::with_capacity(of_vector as usize);
                    for lane in 0..of_vector {
                        let word = lane * HALVES + half;
                        let op =
                            ScalarOp::Lane { operand: vectors[(word / of_vector) as usize], lane: word % of_vector };
                        lanes.push(self.push(Operand::Value(*value), 1, op, out));
                    }
                    self.compose(*value, lanes, out);
                }
                Ok(true)
            }
            [
                Statement::Store { memory, indices, value: low },
                Statement::Store { memory: other, indices: others, value: high },
            ] if memory == other => {
                let Some(first) = self.whole(*memory, indices, others)? else { return Ok(false) };
                for (index, vector) in self.vectors_from(&first)?.into_iter().zip(0..) {
                    let lanes = self.lanes();
                    let mut operands = Vec::with_capacity(lanes as usize);
                    for lane in 0..lanes {
                        let word = vector * lanes + lane;
                        let half = if word.is_multiple_of(HALVES) { low } else { high };
                        operands.push(self.lane(*half, word / HALVES, out));
                    }
                    let value = self.push(*low, lanes, ScalarOp::Compose { operands }, out);
                    out.push(Statement::Store { memory: *memory, indices: vec![index], value });
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The index of the first word of elements, both halves of which are accessed, the low ones first; `None` if it is otherwise, or the
    /// memory holds no vectors.
    fn whole(&self, memory: MemoryId, low: &[Expr], high: &[Expr]) -> Result<Option<Expr>, Refusal> {
        let ([low], [high]) = (low, high) else { return Ok(None) };
        let [low, high] = [self.stepped(low)?, self.stepped(high)?];
        let is_whole = (low.step, high.step) == (Step::Halves(0), Step::Halves(1)) && self.holds_vectors(memory);
        let is_next = high.first().checked_sub(low.first())?.as_constant() == Some(1);
        Ok((is_whole && is_next).then(|| low.first().clone()))
    }

    /// Where the vectors of elements begin.
    fn vectors_from(&self, first: &Expr) -> Result<Vec<Expr>, Refusal> {
        let next = first.checked_add_constant(i64::from(self.lanes()))?;
        Ok(vec![first.clone(), next])
    }
}
