//! Reading operations on scalars, and what they are of.

use super::{FunctionReader, Use, value_id};
use crate::kernel::{Hiding, Operand, ScalarOp};
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, Scalar, UnaryOp};

impl FunctionReader<'_, '_> {
    /// An operation and its operands.
    pub(super) fn op(&mut self) -> Result<ScalarOp, Diagnostic> {
        let cursor = &mut self.reader.cursor;
        if cursor.accept_word("index") {
            let element_type = self.reader.element_type()?;
            return Ok(ScalarOp::Index { index: self.parenthesized()?, element_type });
        }
        if cursor.accept_word("extract") {
            let (memory, indices) = self.element()?;
            return Ok(ScalarOp::Extract { memory, indices });
        }
        if cursor.accept_word("compare") {
            let direction = cursor.word("a direction such as `EQ`", ComparisonDirection::from_name)?;
            let order = ComparisonType::from_name(cursor.peek_word());
            if let Some(order) = order {
                cursor.expect_word(order.name())?;
            }
            return Ok(ScalarOp::Compare { direction, order, operands: self.some_operands()? });
        }
        let sums = [("multiply-add", false), ("multiply-add-at-once", true)];
        if let Some((_, is_one)) = sums.into_iter().find(|(word, _)| cursor.accept_word(word)) {
            return Ok(ScalarOp::MultiplyAdd { operands: self.some_operands()?, is_one });
        }
        if cursor.accept_word("select") {
            return Ok(ScalarOp::Select { operands: self.some_operands()? });
        }
        if cursor.accept_word("clamp") {
            return Ok(ScalarOp::Clamp { operands: self.some_operands()? });
        }
        if cursor.accept_word("bitcast") {
            let to = self.reader.element_type()?;
            return Ok(ScalarOp::Bitcast { to, operand: self.operand()? });
        }
        if cursor.accept_word("convert") {
            let to = self.reader.element_type()?;
            return Ok(ScalarOp::Convert { to, operand: self.operand()? });
        }
        if cursor.accept_word("complex") {
            return Ok(ScalarOp::Complex { operands: self.some_operands()? });
        }
        if cursor.accept_word("real") {
            return Ok(ScalarOp::Real { operand: self.operand()? });
        }
        if cursor.accept_word("imag") {
            return Ok(ScalarOp::Imag { operand: self.operand()? });
        }
        if cursor.accept_word("encode") {
            let to = self.reader.element_type()?;
            return Ok(ScalarOp::Encode { to, operand: self.operand()? });
        }
        if cursor.accept_word("decode") {
            let from = self.reader.element_type()?;
            return Ok(ScalarOp::Decode { from, operand: self.operand()? });
        }
        if cursor.accept_word("join") {
            return Ok(ScalarOp::Join { operands: self.some_operands()? });
        }
        if let Some(is_high) = [("low", false), ("high", true)].into_iter().find(|(word, _)| cursor.accept_word(word)) {
            return Ok(ScalarOp::Half { operand: self.operand()?, is_high: is_high.1 });
        }
        if cursor.accept_word("reduce-precision") {
            let bits = |word: &str| {
                let (exponent_bits, mantissa_bits) = word.strip_prefix('e')?.split_once('m')?;
                Some((exponent_bits.parse().ok()?, mantissa_bits.parse().ok()?))
            };
            let (exponent_bits, mantissa_bits) = cursor.word("bits of exponent and mantissa, `e5m10`", bits)?;
            return Ok(ScalarOp::ReducePrecision { operand: self.operand()?, exponent_bits, mantissa_bits });
        }
        if let Some(hiding) = Hiding::ALL.into_iter().find(|hiding| hiding.name() == cursor.peek_word()) {
            cursor.expect_word(hiding.name())?;
            return Ok(ScalarOp::Keep { operand: self.operand()?, hiding });
        }
        if cursor.accept_word("splat") {
            return Ok(ScalarOp::Splat { operand: self.operand()? });
        }
        if cursor.accept_word("compose") {
            return Ok(ScalarOp::Compose { operands: self.operands()? });
        }
        if cursor.accept_word("lane") {
            let lane = cursor.number("the number of a lane")?;
            return Ok(ScalarOp::Lane { operand: self.operand()?, lane });
        }
        if cursor.accept_word("pack") {
            return Ok(ScalarOp::Pack { operands: self.some_operands()? });
        }
        if cursor.accept_word("packed-dot") {
            let signed = |word: &str| match word.parse() {
                Ok(ElementType::S8) => Some(true),
                Ok(ElementType::U8) => Some(false),
                _ => None,
            };
            let is_signed = cursor.word("`s8` or `u8`", signed)?;
            return Ok(ScalarOp::PackedDot { operands: self.some_operands()?, is_signed });
        }
        if cursor.accept_word("member") {
            let number = cursor.number("the number of an invocation")?;
            cursor.expect_word("apart")?;
            let apart = cursor.word("how far apart they are", |word| word.parse().ok().filter(|apart| *apart > 0))?;
            return Ok(ScalarOp::Member { operand: self.operand()?, number, apart });
        }
        if let Some(op) = UnaryOp::from_name(cursor.peek_word()) {
            cursor.expect_word(op.name())?;
            return Ok(ScalarOp::Unary { op, operand: self.operand()? });
        }
        let op = cursor.word("an operation", BinaryOp::from_name)?;
        Ok(ScalarOp::Binary { op, operands: self.some_operands()? })
    }

    fn some_operands<const N: usize>(&mut self) -> Result<[Operand; N], Diagnostic> {
        let place = self.reader.cursor.place();
        let operands = self.operands()?;
        <[Operand; N]>::try_from(operands).map_err(|found| {
            self.reader.cursor.error_at(place, format!("expected {N} operands, found {}", found.len()))
        })
    }

    pub(super) fn operands(&mut self) -> Result<Vec<Operand>, Diagnostic> {
        let mut operands = vec![self.operand()?];
        while self.reader.cursor.accept(",") {
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    /// A value, or a constant.
    pub(super) fn operand(&mut self) -> Result<Operand, Diagnostic> {
        let cursor = &mut self.reader.cursor;
        let place = cursor.place();
        if cursor.peek_is("%") {
            let (number, name) = cursor.value()?;
            self.uses.push(Use { number, name, place });
            return Ok(Operand::Value(value_id(number)));
        }
        let scalar = if cursor.accept_word("true") {
            Scalar::Pred(true)
        } else if cursor.accept_word("false") {
            Scalar::Pred(false)
        } else if cursor.accept_word("s32") {
            Scalar::S32(cursor.number("a signed integer of 32 bits")?)
        } else if cursor.accept_word("u32") {
            Scalar::U32(cursor.number("an unsigned integer of 32 bits")?)
        } else if cursor.accept_word("f32") {
            Scalar::F32(self.float()?)
        } else if let Ok(element_type) = cursor.peek_word().parse() {
            cursor.word("a type", |_| Some(()))?;
            self.bits(element_type)?
        } else {
            return Err(cursor.expected("a value or a constant"));
        };
        Ok(Operand::Constant(scalar))
    }

    /// `bits(0x3c00)`: an element by its bits.
    fn bits(&mut self, element_type: ElementType) -> Result<Scalar, Diagnostic> {
        let cursor = &mut self.reader.cursor;
        cursor.expect_word("bits")?;
        cursor.expect("(")?;
        let bits = |word: &str| {
            let bits = u128::from_str_radix(word.strip_prefix("0x")?, 16).ok()?;
            Some(Scalar::from_bits(bits, element_type)).filter(|scalar| scalar.bits() == bits)
        };
        let scalar = cursor.word("the bits of an element, as `0x3c00`", bits)?;
        cursor.expect(")")?;
        Ok(scalar)
    }

    /// A number, `inf`, `-inf`, or a NaN by its bits, as `nan(0x7fc00000)`.
    fn float(&mut self) -> Result<f32, Diagnostic> {
        let cursor = &mut self.reader.cursor;
        if cursor.accept_word("nan") {
            cursor.expect("(")?;
            let bits = |word: &str| {
                let bits = u32::from_str_radix(word.strip_prefix("0x")?, 16).ok()?;
                Some(f32::from_bits(bits)).filter(|value| value.is_nan())
            };
            let value = cursor.word("the bits of a NaN, as `0x7fc00000`", bits)?;
            cursor.expect(")")?;
            return Ok(value);
        }
        let number = |word: &str| word.parse::<f32>().ok().filter(|value| !value.is_nan());
        cursor.word("a number, `inf`, `-inf` or `nan(BITS)`", number)
    }
}
