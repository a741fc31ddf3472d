//! Literals in XLA's spelling: `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`, and from four dimensions on with the indices of the
//! inner braces in comments.

use super::float::push_f32;
use crate::ir::{Data, Literal, Shape};
use std::borrow::Cow;
use std::fmt::{self, Write};

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
        Data::Pred(values) => {
            write_array(out, extents, true, values, |out, &value| out.push(if value { '1' } else { '0' }))
        }
        Data::S32(values) => write_array(out, extents, true, values, |out, &value| {
            if value < 0 {
                out.push('-');
            }
            push_integer(out, value.unsigned_abs());
        }),
        Data::U32(values) => write_array(out, extents, true, values, |out, &value| push_integer(out, value)),
        Data::F32(values) => write_array(out, extents, true, values, |out, &value| push_f32(out, value)),
        Data::Text(text) => out.write_str(text),
        Data::Elided => out.write_str("{...}"),
        Data::Tuple(elements) => {
            out.write_str("(")?;
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.write_str(", ")?;
                }
                write_literal(out, element)?;
            }
            out.write_str(")")
        }
    }
}

/// The canonical text, without comments, of an array whose elements are kept as text.
pub(in crate::text) fn array_text(extents: &[i64], elements: &[Cow<'_, str>]) -> String {
    let mut text = String::new();
    write_array(&mut text, extents, false, elements, |out, element| out.push_str(element))
        .expect("a String takes any text");
    text
}

fn push_integer(out: &mut String, value: u32) {
    let mut buffer = [0u8; 10];
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
    comments: bool,
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
        return write_empty(out, extents, comments);
    }
    let flat = [i64::try_from(elements.len()).unwrap_or(i64::MAX)];
    let extents = if count == Some(elements.len()) && !extents.is_empty() { extents } else { &flat };
    let braces = Braces { extents, comments };
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

/// Writes the braces of an array without elements.
fn write_empty(out: &mut dyn Write, extents: &[i64], comments: bool) -> fmt::Result {
    let depth = extents.iter().position(|&extent| extent == 0).unwrap_or(0);
    let braces = Braces { extents, comments };
    let spelled = extents[..depth].iter().try_fold(1i64, |count, &extent| count.checked_mul(extent));
    let Some(spelled) = spelled.filter(|&count| count <= MAX_EMPTY && count > 0) else {
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
    comments: bool,
}

impl Braces<'_> {
    fn open(&self, out: &mut String, level: usize, indices: &[i64]) {
        out.push('{');
        let rank = self.extents.len();
        if rank == 1 || (level + 1 == rank && self.extents[level] <= 1) {
            return;
        }
        out.push(' ');
        if self.comments && rank > 3 && level > 0 && level + 1 < rank {
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
    use crate::ir::Scalar;

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
        assert_eq!(text(&tuple), "(1, {2})");
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
