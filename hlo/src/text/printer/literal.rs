//! Literals in XLA's spelling: `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`, and from four dimensions on with the indices of the
//! inner braces in comments.

use super::float::{push_f32, push_f64, push_small};
use crate::ir::{self, Complex, Data, FloatFormat, Literal, Scalar, Shape};
use std::fmt::{self, Write};

/// How much text is gathered before it is handed on.
const CHUNK: usize = 1 << 14;

/// Writes a literal as it stands in the parentheses of `constant`.
pub(super) fn write_literal(out: &mut dyn Write, literal: &Literal) -> fmt::Result {
    let extents = match &literal.shape {
        Shape::Array(array) => array.extents.as_slice(),
        _ => &[],
    };
    macro_rules! small {
        ($values:expr, $format:expr) => {
            write_array(out, extents, $values, |out, value| push_small(out, $format, value.to_bits()))
        };
    }
    macro_rules! mini {
        ($values:expr, $format:expr) => {{
            let spellings = Spellings::of($format, $values.len());
            write_array(out, extents, $values, |out, value| spellings.push(out, value.to_bits()))
        }};
    }
    match &literal.data {
        Data::Pred(values) if extents.is_empty() => out.write_str(if values == &[true] { "true" } else { "false" }),
        Data::Pred(values) => write_array(out, extents, values, |out, &value| out.push(if value { '1' } else { '0' })),
        Data::S1(values) => write_array(out, extents, values, |out, value| push_signed(out, value.get().into())),
        Data::S2(values) => write_array(out, extents, values, |out, value| push_signed(out, value.get().into())),
        Data::S4(values) => write_array(out, extents, values, |out, value| push_signed(out, value.get().into())),
        Data::S8(values) => write_array(out, extents, values, |out, &value| push_signed(out, value.into())),
        Data::S16(values) => write_array(out, extents, values, |out, &value| push_signed(out, value.into())),
        Data::S32(values) => write_array(out, extents, values, |out, &value| push_signed(out, value.into())),
        Data::S64(values) => write_array(out, extents, values, |out, &value| push_signed(out, value)),
        Data::U1(values) => write_array(out, extents, values, |out, value| push_unsigned(out, value.get().into())),
        Data::U2(values) => write_array(out, extents, values, |out, value| push_unsigned(out, value.get().into())),
        Data::U4(values) => write_array(out, extents, values, |out, value| push_unsigned(out, value.get().into())),
        Data::U8(values) => write_array(out, extents, values, |out, &value| push_unsigned(out, value.into())),
        Data::U16(values) => write_array(out, extents, values, |out, &value| push_unsigned(out, value.into())),
        Data::U32(values) => write_array(out, extents, values, |out, &value| push_unsigned(out, value.into())),
        Data::U64(values) => write_array(out, extents, values, |out, &value| push_unsigned(out, value)),
        Data::F4E2M1Fn(values) => mini!(values, ir::F4E2M1Fn::FORMAT),
        Data::F6E2M3Fn(values) => mini!(values, ir::F6E2M3Fn::FORMAT),
        Data::F6E3M2Fn(values) => mini!(values, ir::F6E3M2Fn::FORMAT),
        Data::F8E3M4(values) => mini!(values, ir::F8E3M4::FORMAT),
        Data::F8E4M3(values) => mini!(values, ir::F8E4M3::FORMAT),
        Data::F8E4M3B11Fnuz(values) => mini!(values, ir::F8E4M3B11Fnuz::FORMAT),
        Data::F8E4M3Fn(values) => mini!(values, ir::F8E4M3Fn::FORMAT),
        Data::F8E4M3Fnuz(values) => mini!(values, ir::F8E4M3Fnuz::FORMAT),
        Data::F8E5M2(values) => mini!(values, ir::F8E5M2::FORMAT),
        Data::F8E5M2Fnuz(values) => mini!(values, ir::F8E5M2Fnuz::FORMAT),
        Data::F8E8M0Fnu(values) => mini!(values, ir::F8E8M0Fnu::FORMAT),
        Data::F16(values) => small!(values, FloatFormat::F16),
        Data::Bf16(values) => small!(values, FloatFormat::BF16),
        Data::F32(values) => write_array(out, extents, values, |out, &value| push_f32(out, value)),
        Data::F64(values) => write_array(out, extents, values, |out, &value| push_f64(out, value)),
        Data::C64(values) => write_array(out, extents, values, |out, value| push_complex(out, value, push_f32)),
        Data::C128(values) => write_array(out, extents, values, |out, value| push_complex(out, value, push_f64)),
        Data::Elided => out.write_str("{...}"),
        Data::Tuple(elements) => {
            out.write_str("( ")?;
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.write_str(", ")?;
                }
                write_literal(out, element)?;
            }
            out.write_str(" )")
        }
    }
}

impl fmt::Display for Scalar {
    /// The spelling of HLO text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_literal(f, &Literal::scalar(*self))
    }
}

/// The numbers of a format of at most 8 bits.
struct Spellings {
    format: FloatFormat,
    /// The spelling of each pattern of bits, where there are enough elements for that to pay; else empty.
    patterns: Vec<String>,
}

impl Spellings {
    /// For so many elements.
    fn of(format: FloatFormat, elements: usize) -> Self {
        let mut spellings = Spellings { format, patterns: Vec::new() };
        if elements >= 1 << format.bits() {
            let spelled = |bits| {
                let mut text = String::new();
                push_small(&mut text, format, bits);
                text
            };
            spellings.patterns = (0..1 << format.bits()).map(spelled).collect();
        }
        spellings
    }

    fn push(&self, out: &mut String, bits: u8) {
        match self.patterns.get(usize::from(bits)) {
            Some(text) => out.push_str(text),
            None => push_small(out, self.format, bits.into()),
        }
    }
}

fn push_complex<T: Copy>(out: &mut String, value: &Complex<T>, push: fn(&mut String, T)) {
    out.push('(');
    push(out, value.re);
    out.push_str(", ");
    push(out, value.im);
    out.push(')');
}

fn push_signed(out: &mut String, value: i64) {
    if value < 0 {
        out.push('-');
    }
    push_unsigned(out, value.unsigned_abs());
}

/// Appends an integer.
pub(super) fn push_unsigned(out: &mut String, value: u64) {
    let mut buffer = [0u8; 20];
    let mut start = buffer.len();
    let mut rest = value;
    loop {
        start -= 1;
        buffer[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.push_str(str::from_utf8(&buffer[start..]).unwrap_or("0"));
}

/// Writes elements between the braces of their dimensions. Elements that are not as many as the extents say, which no
/// valid literal has, are written as a flat list.
fn write_array<T>(
    out: &mut dyn Write,
    extents: &[i64],
    elements: &[T],
    mut write: impl FnMut(&mut String, &T),
) -> fmt::Result {
    let mut chunk = String::with_capacity(64);
    let count = extents.iter().try_fold(1usize, |count, &extent| count.checked_mul(usize::try_from(extent).ok()?));
    if extents.is_empty() && elements.len() == 1 {
        write(&mut chunk, &elements[0]);
        return out.write_str(&chunk);
    }
    if elements.is_empty() && extents.contains(&0) {
        return write_empty(out, extents);
    }
    let flat = [i64::try_from(elements.len()).unwrap_or(i64::MAX)];
    let extents = if count == Some(elements.len()) && !extents.is_empty() { extents } else { &flat };
    let braces = Braces { extents };
    let rank = extents.len();
    let inner = usize::try_from(extents[rank - 1]).unwrap_or(usize::MAX).max(1);
    let mut indices = vec![0i64; rank.saturating_sub(1)];
    for (row, values) in elements.chunks(inner).enumerate() {
        let from = if row > 0 { braces.advance(&mut chunk, &mut indices) } else { 0 };
        for level in from..rank {
            braces.open(&mut chunk, level, &indices);
        }
        for (position, value) in values.iter().enumerate() {
            if position > 0 {
                chunk.push_str(", ");
            }
            write(&mut chunk, value);
            if chunk.len() > CHUNK {
                out.write_str(&chunk)?;
                chunk.clear();
            }
        }
        braces.close(&mut chunk, rank - 1);
    }
    for level in (0..rank - 1).rev() {
        braces.close(&mut chunk, level);
    }
    out.write_str(&chunk)
}

/// How many empty braces are spelled out for an array without elements; `{}` stands for more.
const MAX_EMPTY: i64 = 1 << 12;

/// How many empty braces an array without elements has, if they are spelled out.
pub(in crate::text) fn spelled_empty(extents: &[i64]) -> Option<i64> {
    let outer = extents.iter().take_while(|&&extent| extent != 0);
    let count = outer.into_iter().try_fold(1i64, |count, &extent| count.checked_mul(extent))?;
    (count <= MAX_EMPTY && count > 0).then_some(count)
}

/// Writes the braces of an array without elements.
fn write_empty(out: &mut dyn Write, extents: &[i64]) -> fmt::Result {
    let depth = extents.iter().position(|&extent| extent == 0).unwrap_or(0);
    let braces = Braces { extents };
    let Some(spelled) = spelled_empty(extents) else {
        return out.write_str("{}");
    };
    let mut chunk = String::new();
    let mut indices = vec![0i64; depth];
    for item in 0..spelled {
        let from = if item > 0 { braces.advance(&mut chunk, &mut indices) } else { 0 };
        for level in from..=depth {
            braces.open(&mut chunk, level, &indices);
        }
        braces.close(&mut chunk, depth);
    }
    for level in (0..depth).rev() {
        braces.close(&mut chunk, level);
    }
    out.write_str(&chunk)
}

/// The spelling of the braces around the items of each dimension.
struct Braces<'e> {
    extents: &'e [i64],
}

impl Braces<'_> {
    fn open(&self, out: &mut String, level: usize, indices: &[i64]) {
        out.push('{');
        let rank = self.extents.len();
        if rank == 1 || (level + 1 == rank && self.extents[level] <= 1) {
            return;
        }
        out.push(' ');
        if rank > 3 && level > 0 && level + 1 < rank {
            let index = indices.get(level - 1).copied().unwrap_or(0);
            write!(out, "/*i{}={index}*/ ", level - 1).expect("a String takes any text");
        }
    }

    fn close(&self, out: &mut String, level: usize) {
        let rank = self.extents.len();
        if rank > 1 && (level + 1 < rank || self.extents[level] > 1) {
            out.push(' ');
        }
        out.push('}');
    }

    /// Steps to the next item at the depth of `indices`: closes what is complete and returns the level from which
    /// braces open again.
    fn advance(&self, out: &mut String, indices: &mut [i64]) -> usize {
        let mut level = indices.len();
        while level > 0 {
            level -= 1;
            indices[level] += 1;
            if indices[level] < self.extents[level] {
                break;
            }
            indices[level] = 0;
            self.close(out, level);
        }
        out.push_str(", ");
        level + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(literal: &Literal) -> String {
        let mut out = String::new();
        write_literal(&mut out, literal).unwrap();
        out
    }

    #[test]
    fn literals_are_spelled_as_xla_does() {
        assert_eq!(text(&Literal::scalar(Scalar::Pred(true))), "true");
        assert_eq!(text(&Literal::array([2], vec![true, false])), "{1, 0}");
        assert_eq!(text(&Literal::array([2, 2], vec![1i32, -2, 3, i32::MIN])), "{ { 1, -2 }, { 3, -2147483648 } }");
        assert_eq!(text(&Literal::array([2, 1], vec![1u32, u32::MAX])), "{ {1}, {4294967295} }");
        assert_eq!(text(&Literal::array([2, 1, 2], vec![1f32, 2., 3., 4.])), "{ { { 1, 2 } }, { { 3, 4 } } }");
        assert_eq!(
            text(&Literal::array([1, 2, 1, 1], vec![2f32, 3.])),
            "{ { /*i0=0*/ { /*i1=0*/ {2} }, { /*i1=1*/ {3} } } }"
        );
        let tuple = Literal::tuple(vec![Literal::scalar(Scalar::S32(1)), Literal::array([1], vec![2f32])]);
        assert_eq!(text(&tuple), "( 1, {2} )");
    }

    #[test]
    fn arrays_without_elements_keep_their_braces() {
        assert_eq!(text(&Literal::array([0], Vec::<f32>::new())), "{}");
        assert_eq!(text(&Literal::array([2, 0], Vec::<f32>::new())), "{ {}, {} }");
        assert_eq!(text(&Literal::array([0, 2], Vec::<f32>::new())), "{  }");
        assert_eq!(text(&Literal::array([i64::MAX, 0], Vec::<f32>::new())), "{}");
    }

    #[test]
    fn elements_that_do_not_fit_the_shape_are_still_printed() {
        let literal = Literal { shape: Shape::array(crate::ir::ElementType::F32, [2, 2]), data: vec![1f32].into() };
        assert_eq!(text(&literal), "{1}");
    }
}
