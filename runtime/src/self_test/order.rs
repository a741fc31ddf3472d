//! What a driver's algebra does to sums and products.

use super::Answer;
use super::arithmetic;
use super::kernel::{Numbers, Writing, each_as, is_same};
use crate::{Device, Error};

/// Triples of the test of contraction.
const SAMPLE: usize = 256;

/// Whether products are rounded before something is added to them. The sum is that of a product and the negative of its rounded value, which is
/// zero, or the product's error if the two are fused.
pub(super) async fn products_apart(device: &Device, writing: Writing) -> Result<Answer, Error> {
    const FORMS: [(&str, &str); 8] = [
        ("x * y + z", "x * y + z"),
        ("z + x * y", "z + x * y"),
        ("x * y - (-z)", "x * y - w"),
        ("w - x * y", "w - x * y"),
        ("a product with a name", "named(x, y, z)"),
        ("a product of a function", "product(x, y) + z"),
        ("vectors", "(vec4<f32>(x, y, x, x) * vec4<f32>(y, x, y, y) + vec4<f32>(z, z, z, z)).y"),
        ("a loop", "summed(x, y, z)"),
    ];
    const FUNCTIONS: &str = "fn named(x: f32, y: f32, z: f32) -> f32 { let p = x * y; return p + z; }\n\
        fn product(x: f32, y: f32) -> f32 { return x * y; }\n\
        fn summed(x: f32, y: f32, z: f32) -> f32 {\n\
        var sum = z; for (var k = 0u; k < arrayLength(&input) / arrayLength(&input); k++) { sum = sum + x * y; } return sum; }";
    let mut numbers = Numbers::new();
    let triples: Vec<[f32; 3]> = (0..SAMPLE)
        .map(|_| {
            let [x, y] = [numbers.float(), numbers.float()];
            [x, y, -(x * y)]
        })
        .collect();
    let mut body = "let x = bitcast<f32>(a);\nlet y = bitcast<f32>(b);\nlet z = bitcast<f32>(c);\n\
                    let w = bitcast<f32>(c ^ 0x80000000u);\n"
        .to_owned();
    for (number, (_, text)) in FORMS.iter().enumerate() {
        body += &format!("output[at + {number}u] = bitcast<u32>({text});\n");
    }
    let input = triples.iter().flatten().map(|value| value.to_bits()).collect();
    let found = each_as(device, writing, FUNCTIONS, &body, [3, FORMS.len()], input).await?;
    let is_fused =
        |number: usize| found.iter().skip(number).step_by(FORMS.len()).any(|bits| f32::from_bits(*bits) != 0.0);
    let fused: Vec<String> = FORMS
        .iter()
        .enumerate()
        .filter(|(number, _)| is_fused(*number))
        .map(|(_, (name, _))| (*name).to_owned())
        .collect();
    Ok(Answer::of_wrong(&fused, FORMS.len()))
}

/// Whether `fma` rounds once: the product and its rounded value, taken from it, leave what the rounding lost, and a third number comes out as it does exactly.
pub(super) async fn products_fused(device: &Device) -> Result<Answer, Error> {
    const FORMS: [(&str, &str); 3] = [
        ("fma(x, y, z)", "fma(x, y, z)"),
        ("fma(-x, y, -z)", "-fma(-x, y, -z)"),
        ("vectors", "fma(vec4<f32>(x, y, x, x), vec4<f32>(y, x, y, y), vec4<f32>(z, z, z, z)).y"),
    ];
    let mut numbers = Numbers::new();
    let triples: Vec<[f32; 3]> = (0..SAMPLE)
        .flat_map(|_| {
            let [x, y] = [numbers.float(), numbers.float()];
            [[x, y, -(x * y)], [x, y, x * y * numbers.float()]]
        })
        .collect();
    let mut body = "let x = bitcast<f32>(a);\nlet y = bitcast<f32>(b);\nlet z = bitcast<f32>(c);\n".to_owned();
    for (number, (_, text)) in FORMS.iter().enumerate() {
        body += &format!("output[at + {number}u] = bitcast<u32>({text});\n");
    }
    let input = triples.iter().flatten().map(|value| value.to_bits()).collect();
    let found = each_as(device, Writing::Plain, "", &body, [3, FORMS.len()], input).await?;
    let is_right = |number: usize| {
        let found = found.iter().skip(number).step_by(FORMS.len());
        triples.iter().zip(found).all(|([x, y, z], bits)| is_same(f32::from_bits(*bits), x.mul_add(*y, *z)))
    };
    let wrong: Vec<String> =
        (0..FORMS.len()).filter(|number| !is_right(*number)).map(|number| FORMS[number].0.to_owned()).collect();
    Ok(Answer::of_wrong(&wrong, FORMS.len()))
}

/// Something that algebra would simplify: how it is written, with `K` for what hides a value and `A` for what hides one apart from an equal one, and what
/// it means.
type Form = (&'static str, fn(f32, f32) -> f32);

const FORMS: [Form; 14] = [
    ("K(x + 1e8f) - 1e8f", |x, _| (x + 1e8) - 1e8),
    ("K(x - 1e8f) + 1e8f", |x, _| (x - 1e8) + 1e8),
    ("K(x + y) - y", |x, y| (x + y) - y),
    ("x - K(x - y)", |x, y| x - (x - y)),
    ("K(x * y) / A(y)", |x, y| (x * y) / y),
    ("K(x * 3f) / 3f", |x, _| (x * 3.0) / 3.0),
    ("x / K(3f)", |x, _| x / 3.0),
    ("x / K(10f)", |x, _| x / 10.0),
    ("x - A(x)", |x, _| x + -x),
    ("x / A(x)", |x, _| if x.is_finite() && x != 0.0 { 1.0 } else { f32::NAN }),
    ("x * K(0f)", |x, _| x * 0.0),
    ("x + K(0f)", |x, _| x + 0.0),
    ("K(0f) - x", |x, _| 0.0 - x),
    ("K(x * y) + K(x * 0.1f)", |x, y| x * y + x * 0.1),
];

/// What is hidden in the forms.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Hidden {
    Nothing,
    /// Literal zeros.
    Zeros,
    /// All that the compiler hides.
    All,
}

impl Hidden {
    fn write(self, form: &str) -> String {
        match self {
            Hidden::Nothing => form.replace("K(", "(").replace("A(", "("),
            Hidden::Zeros => form.replace("K(0f)", "keep(0f)").replace("K(", "(").replace("A(", "("),
            Hidden::All => form.replace("K(", "keep(").replace("A(", "keep_apart("),
        }
    }
}

/// Operands of the forms: special values in all pairs, and others.
fn operands() -> Vec<[f32; 2]> {
    let mut numbers = Numbers::new();
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0, 3.0, 1e-3];
    let mut pairs: Vec<[f32; 2]> = special.iter().flat_map(|x| special.iter().map(|y| [*x, *y])).collect();
    pairs.extend((0..192).map(|_| [numbers.float(), numbers.float()]));
    pairs
}

/// What each form yields at all operands, form by form.
async fn results(device: &Device, writing: Writing, hidden: Hidden) -> Result<Vec<Vec<f32>>, Error> {
    let mut body = "let x = bitcast<f32>(a);\nlet y = bitcast<f32>(b);\n".to_owned();
    for (number, (text, _)) in FORMS.iter().enumerate() {
        body += &format!("output[at + {number}u] = bitcast<u32>({});\n", hidden.write(text));
    }
    let input = operands().iter().flatten().map(|value| value.to_bits()).collect();
    let found = each_as(device, writing, "", &body, [2, FORMS.len()], input).await?;
    let of = |number: usize| found.iter().skip(number).step_by(FORMS.len()).map(|bits| f32::from_bits(*bits)).collect();
    Ok((0..FORMS.len()).map(of).collect())
}

/// The forms that some operands make wrong.
fn misread(found: &[Vec<f32>], is_right: impl Fn(usize, usize, f32, f32) -> bool) -> Vec<String> {
    let pairs = operands();
    let mut wrong = Vec::new();
    for (number, ((text, meaning), found)) in FORMS.iter().zip(found).enumerate() {
        let mut results = pairs.iter().zip(found).enumerate();
        if results.any(|(at, ([x, y], found))| !is_right(number, at, *found, meaning(*x, *y))) {
            wrong.push(text.replace(['K', 'A'], ""));
        }
    }
    wrong
}

/// Whether sums and products mean what is written.
pub(super) async fn kept(device: &Device) -> Result<Answer, Error> {
    let found = results(device, Writing::Plain, Hidden::Nothing).await?;
    Ok(Answer::of_wrong(&misread(&found, |_, _, found, expected| is_same(found, expected)), FORMS.len()))
}

/// Whether they do where values are hidden.
pub(super) async fn protected(device: &Device) -> Result<Answer, Error> {
    let found = results(device, Writing::Plain, Hidden::All).await?;
    let is_right =
        |number: usize, _, found: f32, expected: f32| arithmetic::is_nearly(FORMS[number].0, found, expected);
    Ok(Answer::of_wrong(&misread(&found, is_right), FORMS.len()))
}

/// Whether they do, and comparisons with NaN as well, where float operations are marked `NoContraction` and zeros alone are hidden.
pub(super) async fn no_contraction(device: &Device) -> Result<Answer, Error> {
    let others = [
        products_apart(device, Writing::Ordered).await?,
        arithmetic::nan(device, Writing::Ordered).await?,
        arithmetic::nan_bits(device, Writing::Ordered).await?,
    ];
    if let Some(failing) = others.into_iter().find(Answer::fails) {
        return Ok(failing);
    }
    let found = results(device, Writing::Ordered, Hidden::Zeros).await?;
    // A quotient is what the device makes of two numbers of which it knows nothing.
    let hidden = results(device, Writing::Ordered, Hidden::All).await?;
    let is_right = |number: usize, at: usize, found: f32, expected: f32| {
        let is_quotient = FORMS[number].0.contains('/');
        is_same(found, if is_quotient { hidden[number][at] } else { expected })
    };
    Ok(Answer::of_wrong(&misread(&found, is_right), FORMS.len()))
}
