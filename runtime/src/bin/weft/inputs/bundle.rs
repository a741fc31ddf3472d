//! Files of tensors that have names: NumPy's archives and safetensors.

use crate::npy;
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::path::{Path, PathBuf};
use weft_hlo::eval;
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Shape};
use zip::ZipArchive;

/// The files that are open, each read once.
#[derive(Default)]
pub(super) struct Files {
    open: BTreeMap<PathBuf, Bundle>,
}

impl Files {
    /// The file, opened where it is not yet.
    pub(super) fn open(&mut self, path: &Path) -> Result<&mut Bundle, String> {
        Ok(match self.open.entry(path.to_path_buf()) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(closed) => closed.insert(Bundle::open(path)?),
        })
    }
}

/// An open file.
pub(super) struct Bundle {
    file: String,
    held: Held,
}

enum Held {
    Arrays(ZipArchive<File>),
    /// The whole file, which was read and found to be right.
    Tensors(Vec<u8>),
}

impl Bundle {
    /// Opens a file by its extension. The error is a sentence about it.
    fn open(path: &Path) -> Result<Self, String> {
        let file = path.display().to_string();
        let unread = |error: &dyn std::fmt::Display| format!("cannot read {file}: {error}");
        let held = if path.extension().is_some_and(|extension| extension == "npz") {
            let open = File::open(path).map_err(|error| unread(&error))?;
            Held::Arrays(ZipArchive::new(open).map_err(|error| unread(&error))?)
        } else {
            let bytes = std::fs::read(path).map_err(|error| unread(&error))?;
            SafeTensors::deserialize(&bytes).map_err(|error| unread(&error))?;
            Held::Tensors(bytes)
        };
        Ok(Bundle { file, held })
    }

    /// The names of what it holds, in order of the alphabet.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = match &self.held {
            Held::Arrays(archive) => {
                let names = archive.file_names().filter_map(Result::ok);
                names.map(|name| name.trim_end_matches(".npy").to_owned()).collect()
            }
            Held::Tensors(bytes) => SafeTensors::deserialize(bytes)
                .map(|tensors| tensors.names().into_iter().map(ToString::to_string).collect())
                .unwrap_or_default(),
        };
        names.sort();
        names
    }

    /// Whether it holds something of this name.
    pub(super) fn holds(&self, name: &str) -> bool {
        match &self.held {
            Held::Arrays(archive) => archive.index_for_name(&format!("{name}.npy")).is_some(),
            Held::Tensors(bytes) => SafeTensors::deserialize(bytes).is_ok_and(|tensors| tensors.tensor(name).is_ok()),
        }
    }

    /// The tensor of this name, which has to be of this shape.
    pub(super) fn read(&mut self, name: &str, shape: &ArrayShape) -> Result<Literal, String> {
        let what = format!("{name} of {}", self.file);
        match &mut self.held {
            Held::Arrays(archive) => {
                let entry = archive.by_name(&format!("{name}.npy"));
                npy::read_from(entry.map_err(|error| format!("cannot read {what}: {error}"))?, &what, shape)
            }
            Held::Tensors(bytes) => {
                let unread = |error| format!("cannot read {what}: {error}");
                let tensors = SafeTensors::deserialize(bytes).map_err(unread)?;
                let tensor = tensors.tensor(name).map_err(unread)?;
                let wanted = shape.extents.iter().map(|extent| usize::try_from(*extent).unwrap_or(usize::MAX));
                let is_shaped = tensor.shape().iter().copied().eq(wanted);
                let data = element_type(tensor.dtype())
                    .filter(|held| is_shaped && *held == shape.element_type)
                    .and_then(|held| decoded(tensor.data(), held));
                let extents: Vec<String> = tensor.shape().iter().map(ToString::to_string).collect();
                let mismatch = || format!("{what} holds {}[{}]", tensor.dtype(), extents.join(","));
                Ok(Literal { shape: Shape::Array(shape.clone()), data: data.ok_or_else(mismatch)? })
            }
        }
    }
}

/// The HLO type of a type of safetensors, if there is one.
fn element_type(dtype: Dtype) -> Option<ElementType> {
    Some(match dtype {
        Dtype::BOOL => ElementType::Pred,
        Dtype::I8 => ElementType::S8,
        Dtype::I16 => ElementType::S16,
        Dtype::I32 => ElementType::S32,
        Dtype::I64 => ElementType::S64,
        Dtype::U8 => ElementType::U8,
        Dtype::U16 => ElementType::U16,
        Dtype::U32 => ElementType::U32,
        Dtype::U64 => ElementType::U64,
        Dtype::F16 => ElementType::F16,
        Dtype::BF16 => ElementType::Bf16,
        Dtype::F32 => ElementType::F32,
        Dtype::F64 => ElementType::F64,
        Dtype::C64 => ElementType::C64,
        Dtype::F8_E4M3 => ElementType::F8E4M3Fn,
        Dtype::F8_E5M2 => ElementType::F8E5M2,
        _ => return None,
    })
}

/// Elements of these bytes, of which the lowest come first.
fn decoded(bytes: &[u8], element_type: ElementType) -> Option<Data> {
    fn words<const N: usize, T>(bytes: &[u8], word: impl Fn([u8; N]) -> T) -> Vec<T> {
        bytes.chunks_exact(N).filter_map(|chunk| chunk.try_into().ok()).map(word).collect()
    }
    let data = match (element_type, element_type.bits()) {
        (ElementType::Pred, _) => return Some(Data::Pred(bytes.iter().map(|byte| *byte != 0).collect())),
        (ElementType::C64, _) => {
            let part = |bytes: [u8; 4]| f32::from_le_bytes(bytes);
            let parts = words(bytes, part);
            let numbers = parts.chunks_exact(2).map(|pair| num_complex::Complex::new(pair[0], pair[1]));
            return Some(Data::C64(numbers.collect()));
        }
        (_, 8) => Data::U8(bytes.to_vec()),
        (_, 16) => Data::U16(words(bytes, u16::from_le_bytes)),
        (_, 32) => Data::U32(words(bytes, u32::from_le_bytes)),
        (_, 64) => Data::U64(words(bytes, u64::from_le_bytes)),
        _ => return None,
    };
    if data.element_type() == Some(element_type) { Some(data) } else { eval::reinterpreted(&data, element_type) }
}
