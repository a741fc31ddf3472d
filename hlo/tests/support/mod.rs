//! The corpus, for the tests: programs, their inputs and XLA's outputs.
#![allow(dead_code, reason = "each test binary uses the part it needs")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot read its data fails")]

use std::fs;
use std::path::{Path, PathBuf};
use weft_hlo::ir::{Data, Literal, Module};

/// One program of the corpus.
pub(crate) struct Program {
    /// The name of its folder.
    pub(crate) name: String,
    folder: PathBuf,
}

/// The forms a program may be stored in.
pub(crate) const FORMS: [&str; 3] = ["unoptimized", "unoptimized_generic", "optimized_cpu"];

/// All programs, by name.
pub(crate) fn corpus() -> Vec<Program> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/corpus");
    let mut programs: Vec<Program> = fs::read_dir(&root)
        .unwrap_or_else(|error| panic!("{}: {error}", root.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|folder| Program { name: folder.file_name().unwrap().to_string_lossy().into_owned(), folder })
        .collect();
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    programs
}

impl Program {
    /// The program of this name.
    pub(crate) fn named(name: &str) -> Program {
        corpus().into_iter().find(|program| program.name == name).unwrap_or_else(|| panic!("no program {name}"))
    }

    /// The text of a form, if the program is stored in it.
    pub(crate) fn text(&self, form: &str) -> Option<String> {
        let path = self.folder.join(format!("{form}.hlo"));
        path.exists().then(|| fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// The module of a form, if the program is stored in it.
    pub(crate) fn module(&self, form: &str) -> Option<Module> {
        let text = self.text(form)?;
        Some(weft_hlo::text::parse(&text).unwrap_or_else(|found| panic!("{}/{form}: {found}", self.name)))
    }

    /// The inputs, if all of them are of types that literals hold.
    pub(crate) fn inputs(&self) -> Option<Vec<Literal>> {
        self.arrays("in")
    }

    /// XLA's outputs, if all of them are of types that literals hold.
    pub(crate) fn outputs(&self) -> Option<Vec<Literal>> {
        self.arrays("out")
    }

    /// The input with this number, if it is of a type that literals hold.
    pub(crate) fn input(&self, number: usize) -> Option<Literal> {
        read_npy(&self.folder.join(format!("in_{number}.npy")))
    }

    /// XLA's output with this number, if it is of a type that literals hold.
    pub(crate) fn output(&self, number: usize) -> Option<Literal> {
        read_npy(&self.folder.join(format!("out_{number}.npy")))
    }

    fn arrays(&self, prefix: &str) -> Option<Vec<Literal>> {
        (0..)
            .map(|number| self.folder.join(format!("{prefix}_{number}.npy")))
            .take_while(|path| path.exists())
            .map(|path| read_npy(&path))
            .collect()
    }
}

/// The array in a file, if its type is one that literals hold.
pub(crate) fn read_npy(path: &Path) -> Option<Literal> {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = npyz::NpyFile::new(&bytes[..]).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(file.order(), npyz::Order::C, "{}", path.display());
    let extents: Vec<i64> = file.shape().iter().map(|&extent| i64::try_from(extent).unwrap()).collect();
    let data = match file.dtype().descr().trim_matches('\'') {
        "|b1" => Data::Pred(file.into_vec().unwrap()),
        "<i4" => Data::S32(file.into_vec().unwrap()),
        "<u4" => Data::U32(file.into_vec().unwrap()),
        "<f4" => Data::F32(file.into_vec().unwrap()),
        _ => return None,
    };
    Some(Literal::array(extents, data))
}

/// How far numbers may lie apart.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Tolerance {
    /// As a part of the expected number.
    pub(crate) relative: f32,
    /// As a part of the largest expected number.
    pub(crate) of_largest: f32,
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance { relative: 1e-4, of_largest: 1e-5 }
    }
}

/// Whether `actual` is `expected`: integers and `pred` exactly, `f32` within the tolerance.
pub(crate) fn compare(expected: &Literal, actual: &Literal, tolerance: Tolerance) -> Result<(), String> {
    if !expected.shape.is_compatible(&actual.shape) {
        return Err(format!("shapes differ: {} expected, {} given", expected.shape, actual.shape));
    }
    let (Data::F32(wanted), Data::F32(given)) = (&expected.data, &actual.data) else {
        let differ = (0..expected.data.len().unwrap_or(0))
            .find(|&position| expected.data.get(position) != actual.data.get(position));
        return match differ {
            None => Ok(()),
            Some(position) => Err(format!(
                "element {position}: {:?} expected, {:?} given",
                expected.data.get(position),
                actual.data.get(position)
            )),
        };
    };
    let largest = wanted.iter().filter(|value| value.is_finite()).fold(0f32, |largest, value| largest.max(value.abs()));
    for (position, (&wanted, &given)) in wanted.iter().zip(given).enumerate() {
        let allowed = (tolerance.relative * wanted.abs()).max(tolerance.of_largest * largest);
        let near = wanted == given
            || (wanted.is_nan() && given.is_nan())
            || (wanted.is_finite() && (wanted - given).abs() <= allowed);
        if !near {
            return Err(format!("element {position}: {wanted} expected, {given} given"));
        }
    }
    Ok(())
}
