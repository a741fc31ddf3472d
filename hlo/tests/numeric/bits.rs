//! Programs whose results are pinned, bit for bit: what may be folded into a program is the same on every machine.

use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, ElementType, Literal, Scalar};
use weft_hlo::text::parse;

/// Elements of an input.
const COUNT: u64 = 3000;

/// Numbers of all kinds, made of integers only: any bits, some of moderate size, and zeros.
fn input(element_type: ElementType, salt: u64) -> Literal {
    let part = |k: u64| {
        let word = (k + (salt << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let word = (word ^ word >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = word ^ word >> 32;
        match k % 4 {
            0 => f64::from_bits(word),
            1 => f64::from(f32::from_bits(word as u32)),
            2 => ((word >> 40) as f64 - 8_388_608.0) / 4_194_304.0,
            _ => ((word >> 40) as f64 - 8_388_608.0) / 65_536.0,
        }
    };
    let data = match element_type {
        ElementType::C64 | ElementType::C128 => {
            Data::C128((0..COUNT).map(|k| num_complex::Complex::new(part(k), part(k + COUNT + k % 3))).collect())
        }
        _ => Data::F64((0..COUNT).map(part).collect()),
    };
    Literal::array([COUNT as i64], weft_hlo::eval::converted(&data, element_type).unwrap())
}

/// Folds bits into one word (Fowler, Noll and Vo).
struct Fold(u64);

impl Fold {
    fn add(&mut self, bits: u64) {
        for byte in bits.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    /// Of NaNs the sign and the payload are the processor's.
    fn add_f64(&mut self, value: f64) {
        self.add(if value.is_nan() { u64::MAX } else { value.to_bits() });
    }

    fn of(literals: &[Literal]) -> u64 {
        let mut fold = Fold(0xCBF2_9CE4_8422_2325);
        for literal in literals {
            for position in 0..literal.data.len().unwrap() {
                match literal.data.get(position).unwrap() {
                    Scalar::F16(value) => fold.add_f64(value.to_f64()),
                    Scalar::Bf16(value) => fold.add_f64(value.to_f64()),
                    Scalar::F32(value) => fold.add_f64(f64::from(value)),
                    Scalar::F64(value) => fold.add_f64(value),
                    Scalar::C64(value) => {
                        [value.re, value.im].map(f64::from).into_iter().for_each(|part| fold.add_f64(part))
                    }
                    Scalar::C128(value) => [value.re, value.im].into_iter().for_each(|part| fold.add_f64(part)),
                    other => panic!("{other:?}"),
                }
            }
        }
        fold.0
    }
}

/// The entry's lines with their name, for every type.
fn programs() -> Vec<(String, ElementType, String)> {
    let real = [ElementType::F64, ElementType::F32, ElementType::F16, ElementType::Bf16];
    let complex = [ElementType::C64, ElementType::C128];
    let mut programs = Vec::new();
    let mut add = |name: &str, element_type: ElementType, root: &str| {
        let root = root.replace("T[", &format!("{element_type}[")).replace("[N]", &format!("[{COUNT}]"));
        programs.push((format!("{element_type} {name}"), element_type, root));
    };
    let both = [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atanh",
        "cbrt",
        "cosine",
        "cosh",
        "exponential",
        "exponential-minus-one",
        "log",
        "log-plus-one",
        "logistic",
        "negate",
        "rsqrt",
        "sign",
        "sine",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
    ];
    for element_type in real.into_iter().chain(complex) {
        for name in both {
            add(name, element_type, &format!("T[N] {name}(x)"));
        }
        for name in ["add", "atan2", "divide", "multiply", "power", "subtract"] {
            add(name, element_type, &format!("T[N] {name}(x, y)"));
        }
        add("sum", element_type, "T[] reduce(x, o), dimensions={0}, to_apply=sum");
        add("dot", element_type, "T[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}");
        add("sums", element_type, "T[N] reduce-window(x, o), window={size=9 pad=8_0}, to_apply=sum");
    }
    for element_type in real {
        for name in ["abs", "ceil", "erf", "floor", "round-nearest-afz", "round-nearest-even"] {
            add(name, element_type, &format!("T[N] {name}(x)"));
        }
        for name in ["maximum", "minimum", "remainder"] {
            add(name, element_type, &format!("T[N] {name}(x, y)"));
        }
        add("normal", element_type, "T[N] rng(o, e), distribution=rng_normal");
        add("uniform", element_type, "T[N] rng(o, e), distribution=rng_uniform");
    }
    for (element_type, part) in complex.into_iter().zip(["f32", "f64"]) {
        add("abs", element_type, &format!("{part}[N] abs(x)"));
        // Of moderate numbers, or all results are NaN.
        for (length, count) in [(125, 24), (128, 23), (97, 30), (1009, 2)] {
            let moderate = format!("T[{count},{length}] fft(m), fft_type=FFT, fft_length={{{length}}}");
            add(&format!("fft of {length}"), element_type, &format!("{length} {count} {moderate}"));
        }
    }
    programs
}

fn text(element_type: ElementType, root: &str) -> String {
    let shape = format!("{element_type}[{COUNT}]");
    let (root, moderate) = match root.split_once(" fft(m)") {
        None => (root.to_owned(), String::new()),
        Some((head, rest)) => {
            let mut words = head.splitn(3, ' ');
            let (length, count): (usize, usize) =
                (words.next().unwrap().parse().unwrap(), words.next().unwrap().parse().unwrap());
            let part = if element_type == ElementType::C64 { "f32" } else { "f64" };
            let matrix = format!("[{count},{length}]");
            let lines = format!(
                "  i = {part}{matrix} iota(), iota_dimension=1\n  j = {part}{matrix} iota(), iota_dimension=0\n  \
                 p = {part}{matrix} multiply(i, i)\n  q = {part}{matrix} add(p, j)\n  s = {part}{matrix} sine(q)\n  \
                 t = {part}{matrix} cosine(q)\n  m = {element_type}{matrix} complex(s, t)\n"
            );
            (format!("{} fft(m){rest}", words.next().unwrap()), lines)
        }
    };
    format!(
        "HloModule m\n\nsum {{\n  a = {element_type}[] parameter(0)\n  b = {element_type}[] parameter(1)\n  ROOT c = {element_type}[] add(a, b)\n}}\n\n\
         ENTRY e {{\n  x = {shape} parameter(0)\n  y = {shape} parameter(1)\n  o = {element_type}[] constant({zero})\n  \
         e = {element_type}[] constant({one})\n{moderate}  ROOT r = {root}\n}}\n",
        zero = if element_type.is_complex() { "(0, 0)" } else { "0" },
        one = if element_type.is_complex() { "(1, 0)" } else { "1" },
    )
}

/// `WEFT_HLO_BITS=overwrite` writes what is found, where it is meant.
#[test]
fn bits_are_the_same_on_every_machine() {
    let mut found = String::new();
    for (name, element_type, root) in programs() {
        let text = text(element_type, &root);
        let module = parse(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        let inputs = [input(element_type, 1), input(element_type, 2)];
        let results = evaluate(&module, &inputs).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        writeln!(found, "{name}: {:016x}", Fold::of(&results)).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/numeric/bits.txt");
    if std::env::var_os("WEFT_HLO_BITS").is_some_and(|value| value == "overwrite") {
        std::fs::write(path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    let differ: Vec<&str> = found.lines().filter(|line| !expected.lines().any(|known| known == *line)).collect();
    assert!(differ.is_empty() && expected.lines().count() == found.lines().count(), "others:\n{}", differ.join("\n"));
}
