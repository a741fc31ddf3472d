//! Literals in XLA's spelling: `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`, and from four dimensions on with the indices of the
//! inner braces in comments.

use super::float::{push_f32, push_f64, push_small};
use crate::ir::{Complex, Data, FloatFormat, Literal, Scalar, Shape, Word, Words, words_of};
use std::fmt::{self, Write};
use std::ops::Range;

/// How much text is gathered before it is handed on.
const CHUNK: usize = 1 << 14;

/// Writes a literal as it stands in the parentheses of `constant`.
pub(super) fn write_literal(out: &mut dyn Write, literal: &Literal) -> fmt::Result {
    let extents = match &literal.shape {
        Shape::Array(array) => array.extents.as_slice(),
        _ => &[],
    };
    match &literal.data {
        Data::Pred(values) if extents.is_empty() => out.write_str(if values == &[true] { "true" } else { "false" }),
        Data::Pred(values) => write_array(out, extents, values, |out, &value| out.push(if value { '1' } else { '0' })),
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
        data => write_words(out, extents, data),
    }
}

/// Writes integers and small floats by their words.
fn write_words(out: &mut dyn Write, extents: &[i64], data: &Data) -> fmt::Result {
    let (Some(element_type), Some(words)) = (data.element_type(), data.words()) else { return Ok(()) };
    match (FloatFormat::of(element_type), words) {
        (Some(format), Words::U8(values)) => {
            let spellings = Spellings::of(format, values.len());
            write_array(out, extents, values, |out, &bits| spellings.push(out, bits))
        }
        (Some(format), words) => words_of!(words, values, W => {
            write_array(out, extents, values, |out, value| push_small(out, format, value.bits() as u16))
        }),
        (None, words) => {
            let is_signed = element_type.is_signed();
            words_of!(words, values, W => {
                let unused = u128::BITS - 8 * size_of::<W>() as u32;
                write_array(out, extents, values, |out, value| match is_signed {
                    true => push_signed(out, ((value.bits() << unused) as i128 >> unused) as i64),
                    false => push_unsigned(out, value.bits() as u64),
                })
            })
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
    write_rows(out, extents, elements.len(), &mut |out, chunk, row| {
        for (position, value) in elements[row].iter().enumerate() {
            if position > 0 {
                chunk.push_str(", ");
            }
            write(chunk, value);
            if chunk.len() > CHUNK {
                out.write_str(chunk)?;
                chunk.clear();
            }
        }
        Ok(())
    })
}

/// Writes the elements at some positions, which follow each other between two braces: to a chunk of text, and that where it is full.
type WriteRow<'a> = dyn FnMut(&mut dyn Write, &mut String, Range<usize>) -> fmt::Result + 'a;

/// As [`write_array`], whatever the elements are.
fn write_rows(out: &mut dyn Write, extents: &[i64], held: usize, write: &mut WriteRow<'_>) -> fmt::Result {
    let mut chunk = String::with_capacity(64);
    let count = extents.iter().try_fold(1usize, |count, &extent| count.checked_mul(usize::try_from(extent).ok()?));
    if extents.is_empty() && held == 1 {
        write(out, &mut chunk, 0..1)?;
        return out.write_str(&chunk);
    }
    if held == 0 && extents.contains(&0) {
        return write_empty(out, extents);
    }
    let flat = [i64::try_from(held).unwrap_or(i64::MAX)];
    let extents = if count == Some(held) && !extents.is_empty() { extents } else { &flat };
    let braces = Braces { extents };
    let rank = extents.len();
    let inner = usize::try_from(extents[rank - 1]).unwrap_or(usize::MAX).max(1);
    let mut indices = vec![0i64; rank.saturating_sub(1)];
    for row in 0..held.div_ceil(inner) {
        let from = if row > 0 { braces.advance(&mut chunk, &mut indices) } else { 0 };
        for level in from..rank {
            braces.open(&mut chunk, level, &indices);
        }
        write(out, &mut chunk, row * inner..held.min((row + 1) * inner))?;
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
