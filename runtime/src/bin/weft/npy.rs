//! NumPy files.

use npyz::{DType, NpyFile, NpyHeader, Order, WriterBuilder};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use weft_hlo::eval;
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Shape};

/// Reads the file as a literal of `shape`; elements end up row-major whatever the file's order.
///
/// The error is a sentence about what the file holds or why it cannot be read.
pub(crate) fn read(path: &Path, shape: &ArrayShape) -> Result<Literal, String> {
    let file = File::open(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    read_from(BufReader::new(file), &path.display().to_string(), shape)
}

/// As [`read`], from a file that is open, with what to call it.
pub(crate) fn read_from(reader: impl Read, name: &str, shape: &ArrayShape) -> Result<Literal, String> {
    from_reader(reader, shape).map_err(|problem| match problem {
        Problem::Io(error) => format!("cannot read {name}: {error}"),
        Problem::Mismatch(found) => format!("{name} holds {found}"),
        Problem::Short { held, expected } => {
            format!("cannot read {name}: the file ends after {held} of {expected} bytes")
        }
        Problem::Long { expected } => {
            format!("cannot read {name}: the file goes on after the {expected} bytes that its header tells of")
        }
    })
}

enum Problem {
    Io(io::Error),
    /// What the file holds instead.
    Mismatch(String),
    /// The file ends before its last element. Bytes of the whole file.
    Short {
        held: u64,
        expected: u64,
    },
    /// Something follows the last element. Bytes that the file should have.
    Long {
        expected: u64,
    },
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Problem::Io(error)
    }
}

/// The file from its first byte, once it is known that its extents can be counted: npyz multiplies them unchecked.
fn checked(mut reader: impl Read) -> io::Result<impl Read> {
    let mut head = vec![0; 10];
    reader.read_exact(&mut head)?;
    let mut length = usize::from(u16::from_le_bytes([head[8], head[9]]));
    // From version 2 on, the header's length takes four bytes.
    if head[6] >= 2 {
        let mut high = [0; 2];
        reader.read_exact(&mut high)?;
        head.extend(high);
        length |= usize::from(u16::from_le_bytes(high)) << 16;
    }
    (&mut reader).take(length as u64).read_to_end(&mut head)?;
    let text = String::from_utf8_lossy(&head);
    let shape = text.split_once("shape").and_then(|(_, rest)| rest.split_once('(')?.1.split_once(')'));
    let extents = shape.map_or("", |(extents, _)| extents).split(',').filter_map(|extent| extent.trim().parse().ok());
    let count = extents.into_iter().try_fold(16u64, |count, extent: u64| count.checked_mul(extent.max(1)));
    match count {
        Some(_) => Ok(io::Cursor::new(head).chain(reader)),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "its extents exceed what can be counted")),
    }
}

/// A reader that counts what it has given.
struct Counted<R> {
    reader: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

fn from_reader(reader: impl Read, shape: &ArrayShape) -> Result<Literal, Problem> {
    let mut reader = Counted { reader: checked(reader)?, bytes: 0 };
    let header = NpyHeader::from_reader(&mut reader)?;
    let size = header.dtype().num_bytes().unwrap_or(0) as u64;
    // The count was checked not to overflow, at up to 16 bytes an element.
    let expected = reader.bytes.saturating_add(header.len().saturating_mul(size));
    let literal = elements_of(NpyFile::with_header(header, &mut reader), shape).map_err(|problem| match problem {
        Problem::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Problem::Short { held: reader.bytes, expected }
        }
        other => other,
    })?;
    match reader.read(&mut [0])? {
        0 => Ok(literal),
        _ => Err(Problem::Long { expected }),
    }
}

fn elements_of(file: NpyFile<impl Read>, shape: &ArrayShape) -> Result<Literal, Problem> {
    let wanted: Vec<u64> = shape.extents.iter().map(|&extent| extent.unsigned_abs()).collect();
    let dtype = file.dtype();
    let held = element_type(&dtype);
    let mismatch = Problem::Mismatch(described(held, &dtype, file.shape()));
    if held.is_none_or(|held| !stands_for(held, shape.element_type)) || file.shape() != wanted {
        return Err(mismatch);
    }
    let order = file.order();
    macro_rules! read {
        ($($variant:ident)*) => {
            match held {
                $(Some(ElementType::$variant) => Data::$variant(row_major(file.into_vec()?, &wanted, order)),)*
                _ => return Err(mismatch),
            }
        };
    }
    let data = read!(Pred S8 S16 S32 S64 U8 U16 U32 U64 F16 F32 F64 C64 C128);
    let data = match shape.element_type {
        // NumPy has no such type: its numbers are given in bytes, its floats as the bits.
        narrow if narrow.is_integer() && held != Some(narrow) => {
            let values = eval::converted(&data, narrow);
            let back = values.as_ref().and_then(|values| eval::converted(values, held?));
            if back != Some(data) {
                return Err(Problem::Mismatch(format!("numbers beyond those of {narrow}")));
            }
            values
        }
        other if held != Some(other) => eval::reinterpreted(&data, other),
        _ => Some(data),
    };
    let data = data.ok_or(mismatch)?;
    Ok(Literal { shape: Shape::Array(shape.clone()), data })
}

/// Whether an array of NumPy's is taken for one of this type: of the same type, or where NumPy has none of integers of bytes for
/// narrower ones and of unsigned integers for the bits of floats.
fn stands_for(held: ElementType, wanted: ElementType) -> bool {
    use ElementType::{Bf16, F16, S8, U8, U16};
    let bits = |wanted: ElementType| wanted.is_float() && wanted.bits() <= 8;
    held == wanted
        || (held == S8 && wanted.is_signed() && wanted.bits() < 8)
        || (held == U8 && wanted.is_unsigned() && wanted.bits() < 8)
        || (held == U8 && bits(wanted))
        || (held == U16 && matches!(wanted, Bf16 | F16))
}

/// The HLO type of a NumPy type, if there is one.
fn element_type(dtype: &DType) -> Option<ElementType> {
    use npyz::TypeChar;
    let DType::Plain(plain) = dtype else { return None };
    Some(match (plain.type_char(), plain.size_field()) {
        (TypeChar::Bool, 1) => ElementType::Pred,
        (TypeChar::Int, 1) => ElementType::S8,
        (TypeChar::Int, 2) => ElementType::S16,
        (TypeChar::Int, 4) => ElementType::S32,
        (TypeChar::Int, 8) => ElementType::S64,
        (TypeChar::Uint, 1) => ElementType::U8,
        (TypeChar::Uint, 2) => ElementType::U16,
        (TypeChar::Uint, 4) => ElementType::U32,
        (TypeChar::Uint, 8) => ElementType::U64,
        (TypeChar::Float, 2) => ElementType::F16,
        (TypeChar::Float, 4) => ElementType::F32,
        (TypeChar::Float, 8) => ElementType::F64,
        (TypeChar::Complex, 8) => ElementType::C64,
        (TypeChar::Complex, 16) => ElementType::C128,
        _ => return None,
    })
}

fn described(held: Option<ElementType>, dtype: &DType, shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    let name = held.map_or_else(|| format!("NumPy's {}", dtype.descr()), |held| held.to_string());
    format!("{name}[{}]", extents.join(","))
}

/// `values` of a file in `order`, in row-major order.
fn row_major<T: Copy>(values: Vec<T>, extents: &[u64], order: Order) -> Vec<T> {
    if order == Order::C || extents.len() < 2 || values.is_empty() {
        return values;
    }
    // The file's first dimension varies fastest: element (i0, i1, …) stands at i0 + extents[0] * (i1 + …).
    let extents: Vec<usize> = extents.iter().map(|&extent| extent as usize).collect();
    let strides: Vec<usize> = extents
        .iter()
        .scan(1, |stride, &extent| {
            let own = *stride;
            *stride *= extent;
            Some(own)
        })
        .collect();
    let mut index = vec![0; extents.len()];
    let mut reordered = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        reordered.push(values[index.iter().zip(&strides).map(|(index, stride)| index * stride).sum::<usize>()]);
        for dimension in (0..extents.len()).rev() {
            index[dimension] += 1;
            if index[dimension] < extents[dimension] {
                break;
            }
            index[dimension] = 0;
        }
    }
    reordered
}

/// Writes `literal` to `path`, row-major, `pred` as `bool`, types that NumPy lacks as [`written_as`] says.
pub(crate) fn write(path: &Path, literal: &Literal) -> io::Result<()> {
    let mut writer = BufWriter::new(File::create(path)?);
    to_writer(&mut writer, literal)?;
    writer.flush()
}

fn to_writer(writer: &mut impl Write, literal: &Literal) -> io::Result<()> {
    let extents = match &literal.shape {
        Shape::Array(shape) => shape.extents.iter().map(|&extent| extent.unsigned_abs()).collect::<Vec<u64>>(),
        _ => Vec::new(),
    };
    match &literal.data {
        Data::Pred(values) => elements(writer, &extents, values),
        Data::S8(values) => elements(writer, &extents, values),
        Data::S16(values) => elements(writer, &extents, values),
        Data::S32(values) => elements(writer, &extents, values),
        Data::S64(values) => elements(writer, &extents, values),
        Data::U8(values) => elements(writer, &extents, values),
        Data::U16(values) => elements(writer, &extents, values),
        Data::U32(values) => elements(writer, &extents, values),
        Data::U64(values) => elements(writer, &extents, values),
        Data::F16(values) => elements(writer, &extents, values),
        Data::F32(values) => elements(writer, &extents, values),
        Data::F64(values) => elements(writer, &extents, values),
        Data::C64(values) => elements(writer, &extents, values),
        Data::C128(values) => elements(writer, &extents, values),
        data => match data.element_type().and_then(written_as).and_then(|(of, how)| how(data, of)) {
            Some(data) => to_writer(writer, &Literal { shape: literal.shape.clone(), data }),
            None => Err(io::Error::other(format!("{} cannot be written as a NumPy file", literal.shape))),
        },
    }
}

/// How elements become elements of another type.
type Turned = fn(&Data, ElementType) -> Option<Data>;

/// What an array is written as whose type NumPy lacks: narrow integers in bytes, floats as their bits.
fn written_as(element_type: ElementType) -> Option<(ElementType, Turned)> {
    Some(match element_type {
        narrow if narrow.is_signed() => (ElementType::S8, eval::converted),
        narrow if narrow.is_unsigned() => (ElementType::U8, eval::converted),
        ElementType::Bf16 => (ElementType::U16, eval::reinterpreted),
        small if small.is_float() => (ElementType::U8, eval::reinterpreted),
        _ => return None,
    })
}

fn elements<T: npyz::AutoSerialize + Copy>(writer: &mut impl Write, extents: &[u64], values: &[T]) -> io::Result<()> {
    let options = npyz::WriteOptions::new().default_dtype().shape(extents).writer(writer);
    let mut file = options.begin_nd()?;
    file.extend(values.iter().copied())?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(literal: &Literal) {
        let mut bytes = Vec::new();
        to_writer(&mut bytes, literal).expect("memory can be written");
        let shape = literal.shape.as_array().expect("an array");
        let read = from_reader(&bytes[..], shape).ok().expect("what was written can be read");
        assert_eq!(&read, literal);
    }

    #[test]
    fn what_is_written_is_read() {
        round_trip(&Literal::array([2, 3], vec![1.5f32, f32::NAN, f32::NEG_INFINITY, -0.0, 1e-40, 5.0]));
        round_trip(&Literal::array([2], vec![i32::MIN, i32::MAX]));
        round_trip(&Literal::array([1, 1], vec![u32::MAX]));
        round_trip(&Literal::array([3], vec![true, false, true]));
        round_trip(&Literal::array([0, 4], Vec::<f32>::new()));
        round_trip(&Literal::array([], vec![7u32]));
        let every = Data::from(vec![0u8, 1, 1, 0]);
        for &element_type in ElementType::ALL {
            round_trip(&Literal::array([2, 2], eval::converted(&every, element_type).expect("elements are held")));
        }
    }

    #[test]
    fn fortran_order_is_turned() {
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(&[2, 3]).order(Order::Fortran);
        let mut file = options.writer(&mut bytes).begin_nd().expect("a header");
        file.extend([0i32, 10, 1, 11, 2, 12]).expect("elements");
        file.finish().expect("all elements");
        let read = from_reader(&bytes[..], &ArrayShape::new(ElementType::S32, [2, 3])).ok();
        assert_eq!(read, Some(Literal::array([2, 3], vec![0i32, 1, 2, 10, 11, 12])));
    }

    #[test]
    fn another_type_is_named() {
        let mut bytes = Vec::new();
        to_writer(&mut bytes, &Literal::array([2], vec![1i32, 2])).expect("memory can be written");
        match from_reader(&bytes[..], &ArrayShape::new(ElementType::F32, [2, 2])) {
            Err(Problem::Mismatch(found)) => assert_eq!(found, "s32[2]"),
            _ => panic!("an s32[2] is no f32[2,2]"),
        }
    }

    #[test]
    fn extents_beyond_counting_are_errors() {
        for extents in ["4294967296, 4294967296, 4", "18446744073709551615, 0, 18446744073709551615"] {
            let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({extents}), }}\n");
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((header.len() as u16).to_le_bytes());
            bytes.extend(header.bytes());
            assert!(from_reader(&bytes[..], &ArrayShape::new(ElementType::F32, [4])).is_err());
        }
    }

    #[test]
    fn what_is_missing_or_superfluous_is_counted() {
        let mut bytes = Vec::new();
        to_writer(&mut bytes, &Literal::array([4], vec![1.0f32; 4])).expect("memory can be written");
        let (length, shape) = (bytes.len() as u64, ArrayShape::new(ElementType::F32, [4]));
        match from_reader(&bytes[..bytes.len() - 5], &shape) {
            Err(Problem::Short { held, expected }) => assert_eq!((held, expected), (length - 5, length)),
            _ => panic!("five bytes are missing"),
        }
        bytes.push(0);
        match from_reader(&bytes[..], &shape) {
            Err(Problem::Long { expected }) => assert_eq!(expected, length),
            _ => panic!("a byte is superfluous"),
        }
    }

    #[test]
    fn damaged_files_are_errors() {
        let mut bytes = Vec::new();
        to_writer(&mut bytes, &Literal::array([4], vec![1.0f32; 4])).expect("memory can be written");
        for length in 0..bytes.len() {
            assert!(from_reader(&bytes[..length], &ArrayShape::new(ElementType::F32, [4])).is_err());
        }
    }
}
