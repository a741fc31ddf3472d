//! Words that move as they are.

use super::elements::{Elements, word};
use super::{Packed, Pass};
use crate::kernel::{Function, Known, MemoryId, Operand, ScalarOp, Statement, Value, ValueId};
use weft_affine::{Error, Expr};
use weft_hlo::ir::{ArenaId, BinaryOp, ElementType};
use weft_partition::Form;

/// The form of the elements of a word that moves, which stands for as many lanes of them as fill it; no other value is of a packed type.
fn form_of(value: &Value) -> Option<Form> {
    Form::of(value.element_type).filter(|form| form.is_packed() && value.element_type != ElementType::Pred)
}

/// For each value of a function the form of the elements that it moves as a word, and the values as words.
pub(super) fn words_of(function: &mut Function) -> Vec<Option<Form>> {
    let forms = function.values.values().map(form_of).collect();
    for value in function.values.values_mut().filter(|value| form_of(value).is_some()) {
        (value.element_type, value.lanes) = (ElementType::U32, 1);
    }
    forms
}

/// What multiplies an element into every place of a word.
fn repeated(form: Form) -> u32 {
    u32::MAX / (u32::MAX >> (32 - form.stored_bits()))
}

impl Pass<'_> {
    /// The form of the elements of a word that moves.
    pub(super) fn moves(&self, operand: Operand) -> Option<Form> {
        match operand {
            Operand::Value(value) => *self.moved.get(value.index())?,
            Operand::Constant(_) => None,
        }
    }

    /// An operation on words that move, or that makes one; `None` for any other.
    pub(super) fn moved(
        &mut self,
        value: ValueId,
        op: &ScalarOp,
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<Option<ScalarOp>, Error> {
        let name = self.function.values[value].name.clone();
        let form = self.moves(Operand::Value(value));
        let mut elements = Elements { name, lanes: 1, pass: self, out };
        Ok(match (op, form) {
            (ScalarOp::Extract { memory, indices }, Some(_)) => {
                match (elements.pass.packed[memory.index()], &indices[..]) {
                    (Some(packed), [position]) => Some(elements.read_word(*memory, packed, position, known)?),
                    _ => None,
                }
            }
            (ScalarOp::Splat { operand: Operand::Constant(scalar) }, Some(form)) => {
                let lowest = u128::from(u32::MAX >> (32 - form.stored_bits()));
                let bits = i64::try_from(scalar.bits() & lowest).unwrap_or(0);
                let index = Expr::constant(bits * i64::from(repeated(form)));
                Some(ScalarOp::Index { index, element_type: ElementType::U32 })
            }
            (ScalarOp::Splat { operand }, Some(form)) => {
                let bits = elements.placed(form, *operand, 0);
                Some(ScalarOp::Binary { op: BinaryOp::Multiply, operands: [bits, word(repeated(form))] })
            }
            (ScalarOp::Compose { operands }, Some(form)) => Some(elements.packed(form, operands)),
            (ScalarOp::Lane { operand, lane }, None) => match elements.pass.moves(*operand) {
                Some(form) => {
                    let register = elements.pass.function.values[value].element_type;
                    Some(elements.element(register, form.stored_bits(), form, *operand, *lane))
                }
                None => None,
            },
            _ => None,
        })
    }
}

impl Elements<'_, '_> {
    /// The elements that fill a word, from any position on: where they begin within a word, they lie in two.
    fn read_word(
        &mut self,
        memory: MemoryId,
        packed: Packed,
        position: &Expr,
        known: &Known,
    ) -> Result<ScalarOp, Error> {
        let index = Self::word_index(packed, position, known)?;
        let Some(place) = self.first_place(packed, position, known)? else {
            return Ok(ScalarOp::Extract { memory, indices: vec![index] });
        };
        let last = position.checked_add_constant(packed.per_word() - 1)?;
        let next = Self::word_index(packed, &last, known)?;
        let [first, second] = [index, next]
            .map(|index| self.define(ElementType::U32, 1, ScalarOp::Extract { memory, indices: vec![index] }));
        let operands = match place.as_constant().and_then(|place| u32::try_from(place).ok()) {
            Some(place) => [
                self.binary(BinaryOp::ShiftRightLogical, 1, first, word(place)),
                self.binary(BinaryOp::ShiftLeft, 1, second, word(32 - place)),
            ],
            None => {
                let place =
                    self.define(ElementType::U32, 1, ScalarOp::Index { index: place, element_type: ElementType::U32 });
                let low = self.binary(BinaryOp::ShiftRightLogical, 1, first, place);
                // By 32 less the place, in two steps: a shift by 32 leaves the word as it is.
                let rest = self.binary(BinaryOp::Xor, 1, place, word(31));
                let high = self.binary(BinaryOp::ShiftLeft, 1, second, word(1));
                [low, self.binary(BinaryOp::ShiftLeft, 1, high, rest)]
            }
        };
        Ok(ScalarOp::Binary { op: BinaryOp::Or, operands })
    }
}
