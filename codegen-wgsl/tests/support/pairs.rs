//! Neighboring operations on floats: which there are, in HLO, and why a value between two of them is hidden or is not.

/// What an operation yields or takes, to algebra.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// An addition or a subtraction.
    Sum,
    /// A product.
    Product,
    /// A quotient.
    Quotient,
    /// The negative.
    Negative,
    /// A relation.
    Relation,
    /// One of several values, or a function of one that algebra leaves alone.
    Choice,
    /// A function that is written as arithmetic.
    Function,
}

/// An operation: its name in the table, the instructions that compute `NAME` with `A` for an operand and `B` for the other one, and its class.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) class: Class,
    /// What it means for `f32`; `None` where an error is allowed.
    pub(crate) meaning: Option<fn(f32, f32) -> f32>,
}

const fn operation(
    name: &'static str,
    text: &'static str,
    class: Class,
    meaning: Option<fn(f32, f32) -> f32>,
) -> Operation {
    Operation { name, text, class, meaning }
}

fn maximum(a: f32, b: f32) -> f32 {
    // Of zeros the positive one is greater.
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else if a > b || a == b && b.is_sign_negative() {
        a
    } else {
        b
    }
}

/// What comes first, of `x` and `y`.
pub(crate) const FIRST: [Operation; 13] = [
    operation("x + y", "NAME = T add(A, B)", Class::Sum, Some(|a, b| a + b)),
    operation("x - y", "NAME = T subtract(A, B)", Class::Sum, Some(|a, b| a - b)),
    operation("x * y", "NAME = T multiply(A, B)", Class::Product, Some(|a, b| a * b)),
    operation("x * 3", "NAME = T multiply(A, three)", Class::Product, Some(|a, _| a * 3.0)),
    operation("x / y", "NAME = T divide(A, B)", Class::Quotient, Some(|a, b| a / b)),
    operation("-x", "NAME = T negate(A)", Class::Negative, Some(|a, _| -a)),
    operation("abs x", "NAME = T abs(A)", Class::Choice, Some(|a, _| a.abs())),
    operation("floor x", "NAME = T floor(A)", Class::Choice, Some(|a, _| a.floor())),
    operation("max(x, y)", "NAME = T maximum(A, B)", Class::Choice, Some(maximum)),
    operation(
        "x < y ? x : y",
        "NAMEp = P compare(A, B), direction=LT\n  NAME = T select(NAMEp, A, B)",
        Class::Choice,
        Some(|a, b| if a < b { a } else { b }),
    ),
    operation(
        "convert",
        "NAMEi = I convert(A)\n  NAME = T convert(NAMEi)",
        Class::Choice,
        // Saturated, and of NaN 0.
        Some(|a, _| a as i32 as f32),
    ),
    operation("sqrt x", "NAME = T sqrt(A)", Class::Function, Some(|a, _| a.sqrt())),
    operation("exp x", "NAME = T exponential(A)", Class::Function, None),
];

/// What comes next, of the value `A` of the first and something else.
pub(crate) const NEXT: [Operation; 14] = [
    operation("a + b", "NAME = T add(A, B)", Class::Sum, Some(|a, b| a + b)),
    operation("a - b", "NAME = T subtract(A, B)", Class::Sum, Some(|a, b| a - b)),
    operation("b - a", "NAME = T subtract(B, A)", Class::Sum, Some(|a, b| b - a)),
    operation("a * b", "NAME = T multiply(A, B)", Class::Product, Some(|a, b| a * b)),
    operation("a / b", "NAME = T divide(A, B)", Class::Quotient, Some(|a, b| a / b)),
    operation("b / a", "NAME = T divide(B, A)", Class::Quotient, Some(|a, b| b / a)),
    operation("-a", "NAME = T negate(A)", Class::Negative, Some(|a, _| -a)),
    operation("abs a", "NAME = T abs(A)", Class::Choice, Some(|a, _| a.abs())),
    operation("floor a", "NAME = T floor(A)", Class::Choice, Some(|a, _| a.floor())),
    operation("max(a, b)", "NAME = T maximum(A, B)", Class::Choice, Some(maximum)),
    operation(
        "a < b",
        "NAMEp = P compare(A, B), direction=LT\n  NAME = T convert(NAMEp)",
        Class::Relation,
        Some(|a, b| f32::from(a < b)),
    ),
    operation(
        "a == b",
        "NAMEp = P compare(A, B), direction=EQ\n  NAME = T convert(NAMEp)",
        Class::Relation,
        Some(|a, b| f32::from(a == b)),
    ),
    operation(
        "b < 1 ? a : b",
        "NAMEp = P compare(B, one), direction=LT\n  NAME = T select(NAMEp, A, B)",
        Class::Choice,
        Some(|a, b| if b < 1.0 { a } else { b }),
    ),
    operation("sqrt a", "NAME = T sqrt(A)", Class::Function, Some(|a, _| a.sqrt())),
];

/// What the next operation takes besides.
pub(crate) const OTHERS: [(&str, &str); 4] =
    [("another element", "z"), ("an operand of the first", "x"), ("the value itself", "A"), ("a constant", "half")];

impl Operation {
    /// Whether it takes another operand.
    pub(crate) fn is_binary(&self) -> bool {
        self.text.contains('B')
    }

    /// The instructions that compute `name` of two operands, of vectors of so many elements.
    pub(crate) fn write(&self, name: &str, [a, b]: [&str; 2], count: usize) -> String {
        let mut text = String::from("  ");
        // Letters of the text that stand for something: those of operations are small.
        let mut rest = self.text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_uppercase()) {
            text += &rest[..at];
            rest = &rest[at..];
            let (word, put) = match rest {
                it if it.starts_with("NAME") => ("NAME", name.to_owned()),
                it if it.starts_with("LT") || it.starts_with("EQ") => (&it[..2], it[..2].to_owned()),
                it if it.starts_with('A') => ("A", a.to_owned()),
                it if it.starts_with('B') => ("B", b.to_owned()),
                it if it.starts_with('T') => ("T", format!("f32[{count}]")),
                it if it.starts_with('P') => ("P", format!("pred[{count}]")),
                _ => ("I", format!("s32[{count}]")),
            };
            text += &put;
            rest = &rest[word.len()..];
        }
        text + rest + "\n"
    }
}

/// What stands before the operations: elements `x`, `y` and `z`, and constants.
pub(crate) fn operands(count: usize) -> String {
    let element = |number: usize, name: &str| format!("  {name} = f32[{count}] parameter({number})\n");
    let constant = |name: &str, value: &str| {
        format!("  {name}c = f32[] constant({value})\n  {name} = f32[{count}] broadcast({name}c), dimensions={{}}\n")
    };
    ["x", "y", "z"].iter().enumerate().map(|(number, name)| element(number, name)).collect::<String>()
        + &constant("one", "1")
        + &constant("three", "3")
        + &constant("half", "0.5")
}

/// Why a value between two operations is hidden, or need not be.
pub(crate) fn why(first: Class, next: Class) -> &'static str {
    use Class::{Choice, Function, Negative, Product, Quotient, Relation, Sum};
    match (first, next) {
        (Sum, Sum) => "sums are reassociated, and what is equal cancels",
        (Product, Sum) => {
            "bare, for a fused multiply-add; hidden where the two share a factor, which would be drawn out"
        }
        (Quotient, Sum) => "quotients are products with inverses, which share them",
        (Negative, Sum | Negative) => {
            "a sign moves through sums, where zeros have others then, and cancels what is equal"
        }
        (Sum, Negative) => "the sign moves into the sum, where zeros have others then",
        (Product | Quotient, Negative) => "the sign moves into a factor, and from there on",
        (Sum, Product | Quotient) => "products are distributed over sums",
        (Product | Quotient, Product | Quotient) => "products are reassociated, and what is equal cancels",
        (Negative, Product | Quotient) => "two signs cancel, and what is equal does",
        (Sum, Relation) => "a comparison with a term becomes one of the other with zero",
        (Product, Relation) => "a comparison with a factor becomes one of the other with one",
        (_, Relation) => "an equal value is hidden apart from it: NaN is not equal to itself",
        (Choice | Function, Sum | Product | Quotient | Negative) => {
            "it may be known, or be one of two that are: zeros are folded with, and equal values cancel"
        }
        (_, Function) if matches!(first, Sum | Product | Quotient | Negative) => {
            "hidden from functions that are written as arithmetic"
        }
        (Sum | Product | Quotient | Negative, Choice) => {
            "algebra knows nothing of the two together, unless it is compared"
        }
        (_, Choice | Function) => "algebra knows nothing of the two together",
        (Relation, _) => "a truth value is no float",
    }
}
