//! Elements on their way from and to words.

use super::{Packed, Pass};
use crate::kernel::{Kernel, Known, MemoryId, Operand, ScalarOp, Statement, Value};
use weft_affine::{Error, Expr};
use weft_hlo::ir::{ArenaId, BinaryOp, ComparisonDirection, ElementType, FloatFormat, Scalar};
use weft_partition::Form;

/// Some elements, side by side, on their way from or to memory.
pub(super) struct Elements<'e, 'p> {
    pub(super) name: String,
    pub(super) lanes: u32,
    pub(super) pass: &'e mut Pass<'p>,
    pub(super) out: &'e mut Vec<Statement>,
}

pub(super) fn word(value: u32) -> Operand {
    Operand::Constant(Scalar::U32(value))
}

impl Elements<'_, '_> {
    pub(super) fn define(&mut self, element_type: ElementType, lanes: u32, op: ScalarOp) -> Operand {
        let value = self.pass.function.values.push(Value { name: self.name.clone(), element_type, lanes });
        self.out.push(Statement::Let { value, op });
        Operand::Value(value)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, lanes: u32, a: Operand, b: Operand) -> Operand {
        let element_type = Kernel::operand_type(self.pass.function, a);
        self.define(element_type, lanes, ScalarOp::Binary { op, operands: [a, b] })
    }

    /// The place of the first element within its word, if it is not the lowest.
    pub(super) fn first_place(&self, packed: Packed, position: &Expr, known: &Known) -> Result<Option<Expr>, Error> {
        let place = position.checked_modulo(packed.per_word())?.checked_mul(i64::from(packed.form.stored_bits()))?;
        let place = known.simplified(&place);
        Ok((place.as_constant() != Some(0)).then_some(place))
    }

    pub(super) fn word_index(packed: Packed, position: &Expr, known: &Known) -> Result<Expr, Error> {
        Ok(known.simplified(&position.checked_floor_div(packed.per_word())?))
    }

    /// What reads elements into registers.
    pub(super) fn read(
        &mut self,
        memory: MemoryId,
        packed: Packed,
        position: &Expr,
        known: &Known,
    ) -> Result<ScalarOp, Error> {
        let lanes = self.lanes;
        let index = Self::word_index(packed, position, known)?;
        let words = packed.whole_words(lanes).unwrap_or(1);
        let mut own: Vec<Operand> = Vec::with_capacity(words as usize);
        if words > 1 && self.pass.vectors[memory.index()] {
            let vector = self.define(ElementType::U32, words, ScalarOp::Extract { memory, indices: vec![index] });
            for lane in 0..words {
                own.push(self.define(ElementType::U32, 1, ScalarOp::Lane { operand: vector, lane }));
            }
        } else {
            for further in 0..words {
                let indices = vec![index.checked_add_constant(i64::from(further))?];
                own.push(self.define(ElementType::U32, 1, ScalarOp::Extract { memory, indices }));
            }
        }
        // Elements that fill no word lie in one, from any of their places on.
        let per_word = packed.form.per_word();
        let mut first = 0;
        if lanes < per_word
            && let Some(index) = self.first_place(packed, position, known)?
        {
            match index.as_constant().and_then(|place| u32::try_from(place).ok()) {
                Some(place) => first = place / packed.form.stored_bits(),
                None => {
                    let place = ScalarOp::Index { index, element_type: ElementType::U32 };
                    let place = self.define(ElementType::U32, 1, place);
                    own[0] = self.binary(BinaryOp::ShiftRightLogical, 1, own[0], place);
                }
            }
        }
        // A float of six bits takes eight, of which two say nothing.
        let bits = match FloatFormat::of(packed.element_type) {
            Some(_) => packed.element_type.bits(),
            None => packed.form.stored_bits(),
        };
        let register = packed.form.register();
        if lanes == 1 {
            return Ok(self.element(register, bits, packed.form, own[0], first));
        }
        let mut operands = Vec::with_capacity(lanes as usize);
        for lane in first..first + lanes {
            let whole = own[(lane / per_word) as usize];
            let element = self.element(register, bits, packed.form, whole, lane % per_word);
            operands.push(self.define(register, 1, element));
        }
        Ok(ScalarOp::Compose { operands })
    }

    /// The register of a type that one element of a word is, of whose bits so many count.
    pub(super) fn element(
        &mut self,
        register: ElementType,
        bits: u32,
        form: Form,
        whole: Operand,
        place: u32,
    ) -> ScalarOp {
        let stored = form.stored_bits();
        let is_last = place + 1 == form.per_word();
        let mask = u32::MAX >> (32 - bits);
        match register {
            ElementType::S32 => {
                let [unused, above] = [32 - stored, 32 - stored * (place + 1)]
                    .map(|places| Operand::Constant(Scalar::S32(i32::try_from(places).unwrap_or(0))));
                let mut signed = self.define(register, 1, ScalarOp::Bitcast { operand: whole, to: register });
                if !is_last {
                    signed = self.binary(BinaryOp::ShiftLeft, 1, signed, above);
                }
                ScalarOp::Binary { op: BinaryOp::ShiftRightArithmetic, operands: [signed, unused] }
            }
            ElementType::Pred => {
                let masked = self.binary(BinaryOp::And, 1, whole, word(mask << (stored * place)));
                ScalarOp::Compare { direction: ComparisonDirection::Ne, order: None, operands: [masked, word(0)] }
            }
            _ if is_last && bits == stored => {
                ScalarOp::Binary { op: BinaryOp::ShiftRightLogical, operands: [whole, word(stored * place)] }
            }
            _ => {
                let down = match place {
                    0 => whole,
                    _ => self.binary(BinaryOp::ShiftRightLogical, 1, whole, word(stored * place)),
                };
                ScalarOp::Binary { op: BinaryOp::And, operands: [down, word(mask)] }
            }
        }
    }

    /// The bits of one element in a register at a place of a word that is 0 elsewhere.
    pub(super) fn placed(&mut self, form: Form, register: Operand, place: u32) -> Operand {
        let (to, stored) = (ElementType::U32, form.stored_bits());
        let mut bits = match Kernel::operand_type(self.pass.function, register) {
            ElementType::Pred => self.define(to, 1, ScalarOp::Convert { operand: register, to }),
            ElementType::S32 => {
                let bits = self.define(to, 1, ScalarOp::Bitcast { operand: register, to });
                // What is above the last element is shifted out.
                let is_last = place > 0 && place + 1 == form.per_word();
                if is_last { bits } else { self.binary(BinaryOp::And, 1, bits, word(u32::MAX >> (32 - stored))) }
            }
            _ => register,
        };
        if place > 0 {
            bits = self.binary(BinaryOp::ShiftLeft, 1, bits, word(stored * place));
        }
        bits
    }

    /// What makes a word of elements in registers, as many as fill it or fewer.
    pub(super) fn packed(&mut self, form: Form, registers: &[Operand]) -> ScalarOp {
        let (mut whole, mut last) = (word(0), word(0));
        for (register, place) in registers.iter().zip(0..) {
            whole = match place {
                0 | 1 => last,
                _ => self.binary(BinaryOp::Or, 1, whole, last),
            };
            last = self.placed(form, *register, place);
        }
        ScalarOp::Binary { op: BinaryOp::Or, operands: [whole, last] }
    }

    /// Stores elements of registers.
    pub(super) fn write(
        &mut self,
        memory: MemoryId,
        packed: Packed,
        position: &Expr,
        registers: Operand,
        known: &Known,
    ) -> Result<(), Error> {
        let lanes = self.lanes;
        let in_words = packed.fills_words(position, lanes, known);
        if lanes == 1 {
            return self.write_one(memory, packed, position, registers, in_words, known);
        }
        let registers: Vec<Operand> = (0..lanes).map(|lane| self.lane(registers, lane)).collect();
        if !in_words {
            for (lane, register) in (0..).zip(registers) {
                let position = position.checked_add_constant(lane)?;
                self.write_one(memory, packed, &position, register, false, known)?;
            }
            return Ok(());
        }
        let per_word = packed.form.per_word() as usize;
        let mut whole = Vec::with_capacity(registers.len() / per_word);
        for registers in registers.chunks(per_word) {
            let op = self.packed(packed.form, registers);
            whole.push(self.define(ElementType::U32, 1, op));
        }
        let index = Self::word_index(packed, position, known)?;
        if whole.len() > 1 && self.pass.vectors[memory.index()] {
            let lanes = u32::try_from(whole.len()).unwrap_or(1);
            let value = self.define(ElementType::U32, lanes, ScalarOp::Compose { operands: whole });
            self.out.push(Statement::Store { memory, indices: vec![index], value });
            return Ok(());
        }
        for (further, value) in (0..).zip(whole) {
            let indices = vec![index.checked_add_constant(further)?];
            self.out.push(Statement::Store { memory, indices, value });
        }
        Ok(())
    }

    /// One lane of registers.
    fn lane(&mut self, operand: Operand, lane: u32) -> Operand {
        match operand {
            Operand::Constant(_) => operand,
            Operand::Value(_) => {
                let register = Kernel::operand_type(self.pass.function, operand);
                self.define(register, 1, ScalarOp::Lane { operand, lane })
            }
        }
    }

    fn write_one(
        &mut self,
        memory: MemoryId,
        packed: Packed,
        position: &Expr,
        register: Operand,
        is_word: bool,
        known: &Known,
    ) -> Result<(), Error> {
        let indices = vec![Self::word_index(packed, position, known)?];
        let bits = self.placed(packed.form, register, 0);
        if is_word {
            self.out.push(Statement::Store { memory, indices, value: bits });
            return Ok(());
        }
        let place = self.first_place(packed, position, known)?.unwrap_or_else(|| Expr::constant(0));
        self.out.push(Statement::Merge { memory, indices, place, value: bits });
        Ok(())
    }
}
