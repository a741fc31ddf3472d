//! Fusions that programs of machine learning hold around reductions, each given as one: their gradients, pairs, several outputs, in all layouts, of all lengths.

use super::{Shaped, check, list, targets};
use crate::count::cases;
use crate::support::device;
use std::fmt::Write;
use weft_hlo::ir::Module;
use weft_hlo::random::{Numbers, Options};

/// The body of a fusion. `T` stands for the type, `E` for the shape of elements, `R` for that of rows, `I` for rows of `s32` and `J` for elements of it, `W` for the shape
/// of what has an element for each of a row; `SUM`, `MAX` and so on for what follows the operands of a reduction, `OVER` for what follows a row that
/// is broadcast over its elements, and `ALONG` for what follows a `W`.
struct Form {
    name: &'static str,
    /// The shapes of the parameters `p0`, `p1`, ….
    parameters: &'static [&'static str],
    body: &'static str,
    /// Shapes and names of outputs.
    outputs: &'static [(&'static str, &'static str)],
}

const FORMS: [Form; 10] = [
    Form {
        name: "softmax",
        parameters: &["E"],
        body: "m = R reduce(p0, least), MAX\nmb = E broadcast(m), OVER\nd = E subtract(p0, mb)\ne = E exponential(d)\n\
               s = R reduce(e, zero), SUM\nsb = E broadcast(s), OVER\nq = E divide(e, sb)",
        outputs: &[("E", "q")],
    },
    Form {
        name: "log_softmax with the logarithm of the sum",
        parameters: &["E"],
        body: "m = R reduce(p0, least), MAX\nmb = E broadcast(m), OVER\nd = E subtract(p0, mb)\ne = E exponential(d)\n\
               s = R reduce(e, zero), SUM\nl = R log(s)\nlb = E broadcast(l), OVER\nq = E subtract(d, lb)\nt = R add(m, l)",
        outputs: &[("E", "q"), ("R", "t")],
    },
    Form {
        name: "gradient of softmax",
        parameters: &["E", "E"],
        body: "a = E multiply(p0, p1)\ns = R reduce(a, zero), SUM\nsb = E broadcast(s), OVER\nd = E subtract(p1, sb)\n\
               g = E multiply(p0, d)",
        outputs: &[("E", "g")],
    },
    Form {
        name: "layernorm",
        parameters: &["E", "W", "W"],
        body: "s = R reduce(p0, zero), SUM\nu = R multiply(s, each)\nub = E broadcast(u), OVER\nd = E subtract(p0, ub)\n\
               dd = E multiply(d, d)\nv = R reduce(dd, zero), SUM\nw = R multiply(v, each)\nk = R add(w, one)\nr = R rsqrt(k)\n\
               rb = E broadcast(r), OVER\nn = E multiply(d, rb)\nsc = E broadcast(p1), ALONG\nof = E broadcast(p2), ALONG\n\
               h = E multiply(n, sc)\no = E add(h, of)",
        outputs: &[("E", "o"), ("R", "u"), ("R", "r")],
    },
    Form {
        name: "gradient of layernorm",
        parameters: &["E", "E", "R", "R", "W"],
        body: "ub = E broadcast(p2), OVER\nrb = E broadcast(p3), OVER\nd = E subtract(p0, ub)\nh = E multiply(d, rb)\n\
               sc = E broadcast(p4), ALONG\ng = E multiply(p1, sc)\ngh = E multiply(g, h)\na = R reduce(g, zero), SUM\n\
               b = R reduce(gh, zero), SUM\nam = R multiply(a, each)\nbm = R multiply(b, each)\namb = E broadcast(am), OVER\n\
               bmb = E broadcast(bm), OVER\nt = E multiply(h, bmb)\nc = E subtract(g, amb)\nf = E subtract(c, t)\n\
               o = E multiply(f, rb)",
        outputs: &[("E", "o")],
    },
    Form {
        name: "moments, with a side output",
        parameters: &["E", "T[]"],
        body: "x2 = E multiply(p0, p0)\ns = R reduce(p0, p1), SUM\nq = R reduce(x2, zero), SUM\nm = R reduce(p0, least), MAX\n\
               n = R reduce(x2, p1), MIN\nsm = R multiply(s, each)\nqm = R sqrt(q)\nmm = R subtract(m, n)",
        outputs: &[("R", "sm"), ("R", "qm"), ("E", "x2"), ("R", "mm"), ("R", "s")],
    },
    Form {
        // Of several NaN it is the first in the order of elements.
        name: "the greatest and where, and the distance to it",
        parameters: &["E"],
        body: "i = J iota(), iota_dimension=LAST\nt = (R, I) reduce(p0, i, least, origin), PAIR\n\
               m = R get-tuple-element(t), index=0\nk = I get-tuple-element(t), index=1\nmb = E broadcast(m), OVER\n\
               d = E subtract(p0, mb)",
        outputs: &[("R", "m"), ("I", "k"), ("E", "d")],
    },
    Form {
        name: "the first that is not the least, in the order of elements",
        parameters: &["J", "J"],
        body: "x = J xor(p0, p1)\nf = I reduce(x, none), FIRST\nfb = J broadcast(f), OVER\nd = J subtract(p0, fb)",
        outputs: &[("I", "f"), ("J", "d")],
    },
    Form {
        name: "truth values of all and of any",
        parameters: &["J"],
        body: "z = s32[] constant(-3)\nzb = J broadcast(z), dimensions={}\nc = B compare(p0, zb), direction=GT\nt = pred[] constant(true)\n\
               f = pred[] constant(false)\na = A reduce(c, t), ALL\nb = A reduce(c, f), ANY\nab = B broadcast(a), OVER\n\
               bb = B broadcast(b), OVER\nx = B xor(c, bb)\no = B or(x, ab)",
        outputs: &[("A", "a"), ("B", "o"), ("A", "b")],
    },
    Form {
        name: "mean and sum of squares in one pass",
        parameters: &["E"],
        body: "zb = E broadcast(zero), dimensions={}\nob = E broadcast(unit), dimensions={}\n\
               t = (R, R, R) reduce(p0, zb, ob, zero, zero, zero), WELFORD\nm = R get-tuple-element(t), index=0\n\
               v = R get-tuple-element(t), index=1\nn = R get-tuple-element(t), index=2",
        outputs: &[("R", "m"), ("R", "v"), ("R", "n")],
    },
];

/// The regions, for a type.
const REGIONS: &str = "\
sum {\n  a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] add(a, b)\n}
max {\n  a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] maximum(a, b)\n}
min {\n  a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] minimum(a, b)\n}
all {\n  a = pred[] parameter(0)\n  b = pred[] parameter(1)\n  ROOT r = pred[] and(a, b)\n}
any {\n  a = pred[] parameter(0)\n  b = pred[] parameter(1)\n  ROOT r = pred[] or(a, b)\n}
first {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  m = s32[] constant(-2147483648)
  c = pred[] compare(a, m), direction=NE\n  ROOT r = s32[] select(c, a, b)\n}
pair {\n  a = T[] parameter(0)\n  i = s32[] parameter(1)\n  b = T[] parameter(2)\n  k = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GT\n  u = pred[] compare(a, a), direction=NE\n  o = pred[] or(g, u)
  v = T[] select(o, a, b)\n  e = pred[] compare(a, b), direction=EQ\n  l = pred[] compare(i, k), direction=LT
  t = pred[] and(e, l)\n  w = pred[] or(o, t)\n  n = s32[] select(w, i, k)\n  ROOT r = (T[], s32[]) tuple(v, n)\n}
welford {\n  m = T[] parameter(0)\n  s = T[] parameter(1)\n  n = T[] parameter(2)\n  x = T[] parameter(3)\n  y = T[] parameter(4)
  k = T[] parameter(5)\n  c = T[] add(n, k)\n  d = T[] subtract(x, m)\n  f = T[] divide(k, c)\n  df = T[] multiply(d, f)
  u = T[] add(m, df)\n  sy = T[] add(s, y)\n  dd = T[] multiply(d, d)\n  nf = T[] multiply(n, f)\n  g = T[] multiply(dd, nf)
  v = T[] add(sy, g)\n  ROOT r = (T[], T[], T[]) tuple(u, v, c)\n}
";

/// Where the dimensions are that are reduced.
#[derive(Copy, Clone)]
enum Along {
    Rows,
    Columns,
    Middle,
    Apart,
}

/// A module of one fusion. Where layouts are turned, the first dimension of each array is the one whose elements lie side by side.
fn form(form: &Form, ty: &str, along: Along, beside: usize, length: usize, is_turned: bool) -> String {
    let (extents, reduced) = match along {
        Along::Rows => (vec![beside, length], vec![1]),
        Along::Columns => (vec![length, beside], vec![0]),
        Along::Middle => (vec![3, length, beside], vec![1]),
        Along::Apart => (vec![3, beside, length], vec![0, 2]),
    };
    let kept: Vec<usize> = (0..extents.len()).filter(|dimension| !reduced.contains(dimension)).collect();
    let of = |dimensions: &[usize]| -> Vec<usize> { dimensions.iter().map(|dimension| extents[*dimension]).collect() };
    let turned = |rank: usize| match is_turned {
        true => format!("{{{}}}", list(&(0..rank).collect::<Vec<_>>())),
        false => String::new(),
    };
    let array = |ty: &str, dimensions: &[usize]| format!("{ty}[{}]{}", list(&of(dimensions)), turned(dimensions.len()));
    let all: Vec<usize> = (0..extents.len()).collect();
    let words = [
        ("E", array(ty, &all)),
        ("R", array(ty, &kept)),
        ("J", array("s32", &all)),
        ("I", array("s32", &kept)),
        ("B", array("pred", &all)),
        ("A", array("pred", &kept)),
        ("W", array(ty, &reduced)),
        ("OVER", format!("dimensions={{{}}}", list(&kept))),
        ("ALONG", format!("dimensions={{{}}}", list(&reduced))),
        ("T", ty.to_owned()),
        ("LAST", reduced[reduced.len() - 1].to_string()),
    ];
    let fold = |name: &str| format!("dimensions={{{}}}, to_apply={}", list(&reduced), name.to_lowercase());
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let filled = |text: &str| -> String {
        let mut filled = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()).max(1);
            let (word, after) = rest.split_at(end);
            match words.iter().find(|(name, _)| *name == word) {
                Some((_, text)) => filled.push_str(text),
                None if ["SUM", "MAX", "MIN", "ALL", "ANY", "FIRST", "PAIR", "WELFORD"].contains(&word) => {
                    filled.push_str(&fold(word));
                }
                None => filled.push_str(word),
            }
            rest = after;
        }
        filled
    };
    let count: usize = of(&reduced).iter().product();
    let shapes: Vec<String> = form.outputs.iter().map(|(shape, _)| filled(shape)).collect();
    let names: Vec<&str> = form.outputs.iter().map(|(_, name)| *name).collect();
    let parameters: String =
        (0..).zip(form.parameters).map(|(n, shape)| format!("  p{n} = {} parameter({n})\n", filled(shape))).collect();
    let operands: Vec<String> = (0..form.parameters.len()).map(|number| format!("p{number}")).collect();
    let each = 1.0 / f64::from(u32::try_from(count.max(1)).expect("rows are short"));
    let mut text = format!("HloModule m\n{}f {{\n{parameters}", filled(REGIONS));
    let mut constants = Vec::new();
    for (name, value) in [("zero", "0"), ("least", "-inf"), ("unit", "1")] {
        constants.push(format!("{name} = {ty}[] constant({value})"));
    }
    constants.push(format!("fraction = {ty}[] constant({each:e})"));
    constants.push("origin = s32[] constant(0)".to_owned());
    constants.push("none = s32[] constant(-2147483648)".to_owned());
    let tuple = format!("({})", shapes.join(", "));
    constants.push(format!("each = {} broadcast(fraction), dimensions={{}}", filled("R")));
    constants.push(format!("one = {} broadcast(unit), dimensions={{}}", filled("R")));
    for line in constants.iter().map(String::as_str).chain(filled(form.body).lines()) {
        writeln!(text, "  {line}").expect("strings can be written to");
    }
    write!(
        text,
        "  ROOT outputs = {tuple} tuple({})\n}}\nENTRY e {{\n{parameters}  ROOT c = {tuple} fusion({}), kind=kLoop, calls=f\n}}\n",
        names.join(", "),
        operands.join(", "),
    )
    .expect("strings can be written to");
    text
}

fn parsed(text: &str) -> Module {
    weft_hlo::text::parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

/// Lengths of rows: none, one, primes, powers of two and their neighbors, those of one round and of several.
const LENGTHS: [usize; 20] = [0, 1, 2, 3, 7, 31, 32, 33, 64, 97, 127, 128, 129, 255, 257, 512, 1000, 1023, 1025, 2049];

#[test]
fn forms_agree_with_the_evaluator() {
    let device = device();
    let (mut report, mut failures, mut shaped) = (String::new(), 0, [Shaped::default(); 3]);
    let count = usize::try_from(cases(3)).expect("there are not so many cases");
    let all = [Along::Rows, Along::Columns, Along::Middle, Along::Apart];
    for (number, own) in FORMS.iter().enumerate() {
        for turn in 0..count {
            let any = turn + number;
            let length = LENGTHS[(turn * 7 + number * 3) % LENGTHS.len()];
            let ty = ["f32", "f16", "f32", "bf16"][any % 4];
            let beside = if length > 512 { [1, 3][turn % 2] } else { [1, 5, 64, 9][(any / 3) % 4] };
            let text = form(own, ty, all[(any + any / 4) % 4], beside, length, turn % 3 == 2);
            let module = parsed(&text);
            let numbers = if any % 3 == 1 { Numbers::Any } else { Numbers::Small };
            let options = Options { numbers, ..Options::default() };
            for (target, of_target) in targets(&device).iter().zip(&mut shaped) {
                match check(&device, target, &module, &options, turn as u64) {
                    Ok(own) => of_target.kernels += own.kernels,
                    Err(found) => {
                        failures += 1;
                        if failures <= 3 {
                            let (name, schedule) = (own.name, target.effective_schedule());
                            write!(report, "{name}, turn {turn}, {schedule}: {found}\n{text}\n")
                                .expect("strings can be written to");
                        }
                    }
                }
            }
        }
    }
    println!("{shaped:?}");
    assert!(failures == 0, "{failures} differ\n{report}");
}

#[test]
fn forms_are_one_kernel_each() {
    let device = device();
    let [gpu, ..] = targets(&device);
    let options = Options { numbers: Numbers::Small, ..Options::default() };
    // Also of a length that neither vectors nor the stretches of ordered rows divide evenly.
    for (own, length) in FORMS.iter().flat_map(|own| [(own, 300), (own, 301)]) {
        let module = parsed(&form(own, "f32", Along::Rows, 24, length, false));
        let shaped = check(&device, &gpu, &module, &options, 1).unwrap_or_else(|found| panic!("{}: {found}", own.name));
        assert_eq!(shaped.kernels, 1, "{}", own.name);
    }
}
