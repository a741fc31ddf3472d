//! The corpus, for the tests: programs, their inputs and XLA's outputs.
#![allow(dead_code, reason = "each test binary uses the part it needs")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot read its data fails")]

use std::fs;
use std::path::{Path, PathBuf};
use weft_hlo::ir::{Data, ElementType, Literal, Module, Scalar};

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

    /// The inputs.
    pub(crate) fn inputs(&self) -> Vec<Literal> {
        (0..self.count("in")).map(|number| self.input(number)).collect()
    }

    /// XLA's outputs.
    pub(crate) fn outputs(&self) -> Vec<Literal> {
        (0..self.count("out")).map(|number| self.output(number)).collect()
    }

    /// The input with this number.
    pub(crate) fn input(&self, number: usize) -> Literal {
        self.array("in", number, number)
    }

    /// XLA's output with this number.
    pub(crate) fn output(&self, number: usize) -> Literal {
        self.array("out", number, self.count("in") + number)
    }

    fn count(&self, prefix: &str) -> usize {
        (0..).take_while(|number| self.folder.join(format!("{prefix}_{number}.npy")).exists()).count()
    }

    /// The array in a file, which is the one at `position` of those that `meta.json` describes.
    fn array(&self, prefix: &str, number: usize, position: usize) -> Literal {
        let meta = fs::read_to_string(self.folder.join("meta.json")).unwrap();
        let types = meta.split("\"dtype\": \"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default());
        let array = read_npy(&self.folder.join(format!("{prefix}_{number}.npy")));
        // NumPy has no such type, so that its bits are stored.
        match (types.collect::<Vec<_>>().get(position), &array.data) {
            (Some(&"bfloat16"), Data::U16(bits)) => {
                let extents = array.shape.as_array().unwrap().extents.clone();
                Literal::array(extents, bits.iter().map(|&bits| half::bf16::from_bits(bits)).collect::<Vec<_>>())
            }
            _ => array,
        }
    }
}

/// The array in a file.
pub(crate) fn read_npy(path: &Path) -> Literal {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = npyz::NpyFile::new(&bytes[..]).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(file.order(), npyz::Order::C, "{}", path.display());
    let extents: Vec<i64> = file.shape().iter().map(|&extent| i64::try_from(extent).unwrap()).collect();
    let data = match file.dtype().descr().trim_matches('\'') {
        "|b1" => Data::Pred(file.into_vec().unwrap()),
        "|i1" => Data::S8(file.into_vec().unwrap()),
        "<i2" => Data::S16(file.into_vec().unwrap()),
        "<i4" => Data::S32(file.into_vec().unwrap()),
        "<i8" => Data::S64(file.into_vec().unwrap()),
        "|u1" => Data::U8(file.into_vec().unwrap()),
        "<u2" => Data::U16(file.into_vec().unwrap()),
        "<u4" => Data::U32(file.into_vec().unwrap()),
        "<u8" => Data::U64(file.into_vec().unwrap()),
        "<f2" => Data::F16(file.into_vec().unwrap()),
        "<f4" => Data::F32(file.into_vec().unwrap()),
        "<f8" => Data::F64(file.into_vec().unwrap()),
        "<c8" => Data::C64(file.into_vec().unwrap()),
        "<c16" => Data::C128(file.into_vec().unwrap()),
        other => panic!("{}: {other}", path.display()),
    };
    Literal::array(extents, data)
}

/// How far numbers may lie apart.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Tolerance {
    /// As a part of the expected number.
    pub(crate) relative: f64,
    /// As a part of the largest expected number.
    pub(crate) of_largest: f64,
}

impl Tolerance {
    /// What rounding leaves of a type's precision in programs such as those of the corpus.
    pub(crate) fn of(element_type: ElementType) -> Tolerance {
        let relative = match element_type {
            ElementType::F64 | ElementType::C128 => 1e-10,
            ElementType::F16 => 4e-3,
            ElementType::Bf16 => 3e-2,
            _ => 1e-4,
        };
        Tolerance { relative, of_largest: relative / 10.0 }
    }
}

/// Whether `actual` is `expected`: integers and `pred` exactly, floats within the tolerance of their type.
pub(crate) fn compare(expected: &Literal, actual: &Literal) -> Result<(), String> {
    compare_within(expected, actual, 0.0)
}

/// As [`compare`], where floats may also be four times as far from one another as `expected` is, at most, from the precise values.
pub(crate) fn compare_by(expected: &Literal, actual: &Literal, precise: &Literal) -> Result<(), String> {
    let pairs = elements(&expected.data).into_iter().zip(elements(&precise.data));
    let distances = pairs.filter_map(|(a, b)| Some((number(a)? - number(b)?).norm())).filter(|it| it.is_finite());
    compare_within(expected, actual, 4.0 * distances.fold(0.0, f64::max))
}

fn elements(data: &Data) -> Vec<Scalar> {
    (0..data.len().unwrap_or(0)).filter_map(|position| data.get(position)).collect()
}

fn compare_within(expected: &Literal, actual: &Literal, forgiven: f64) -> Result<(), String> {
    if !expected.shape.is_compatible(&actual.shape) {
        return Err(format!("shapes differ: {} expected, {} given", expected.shape, actual.shape));
    }
    let Some(element_type) = expected.data.element_type() else { return Err("there are no elements".to_owned()) };
    let (wanted, given) = (elements(&expected.data), elements(&actual.data));
    let tolerance = Tolerance::of(element_type);
    let finite =
        wanted.iter().filter_map(|&element| number(element)).map(|z| z.norm()).filter(|length| length.is_finite());
    let largest = finite.fold(0f64, f64::max);
    for (position, (wanted, given)) in wanted.into_iter().zip(given).enumerate() {
        let near = match (number(wanted), number(given)) {
            (Some(wanted), Some(given)) => {
                let allowed = (tolerance.relative * wanted.norm()).max(tolerance.of_largest * largest).max(forgiven);
                let near = |wanted: f64, given: f64| {
                    wanted == given || (wanted.is_nan() && given.is_nan()) || (wanted - given).abs() <= allowed
                };
                near(wanted.re, given.re) && near(wanted.im, given.im)
            }
            _ => wanted == given,
        };
        if !near {
            return Err(format!("element {position}: {wanted:?} expected, {given:?} given"));
        }
    }
    Ok(())
}

/// A float or a complex number.
fn number(element: Scalar) -> Option<num_complex::Complex64> {
    Some(match element {
        Scalar::F16(value) => f64::from(value).into(),
        Scalar::Bf16(value) => f64::from(value).into(),
        Scalar::F32(value) => f64::from(value).into(),
        Scalar::F64(value) => value.into(),
        Scalar::C64(value) => num_complex::Complex64::new(value.re.into(), value.im.into()),
        Scalar::C128(value) => value,
        _ => return None,
    })
}
