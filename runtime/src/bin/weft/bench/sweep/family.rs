//! The programs of a sweep, by rows and columns.

/// A program for arrays of any number of rows and columns.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Family {
    RowSum,
    ColumnSum,
    /// Of rows, given as one fusion.
    Softmax,
    Transpose,
    /// Of all rows with the first 32.
    Product,
}

/// Rows that others are multiplied with.
const FACTORS: i64 = 32;

/// How a program is given.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// As it comes from the compiler before, to be divided into kernels.
    Whole,
    /// Divided into kernels each of which a loop over its results can compute.
    Loops,
}

impl Family {
    pub(super) const ALL: [Family; 5] =
        [Family::RowSum, Family::ColumnSum, Family::Softmax, Family::Transpose, Family::Product];

    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Family::RowSum => "row sum",
            Family::ColumnSum => "column sum",
            Family::Softmax => "softmax",
            Family::Transpose => "transpose",
            Family::Product => "product",
        }
    }

    /// HLO text.
    pub(super) fn text(self, [rows, columns]: [i64; 2], given: Given) -> String {
        let array = format!("f32[{rows},{columns}]");
        let sum = |dimension: usize, results: i64| {
            let reduce = format!("f32[{results}] reduce(x, zero), dimensions={{{dimension}}}, to_apply=sum");
            let body = format!("x = {array} parameter(0)\n  zero = f32[] constant(0)\n  ROOT s = {reduce}");
            one(&body, &array, &format!("f32[{results}]"), given)
        };
        let regions = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\
                       greatest {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] maximum(a, b)\n}\n";
        let programs = match self {
            Family::RowSum => sum(1, rows),
            Family::ColumnSum => sum(0, columns),
            Family::Transpose => {
                let result = format!("f32[{columns},{rows}]");
                let body = format!("x = {array} parameter(0)\n  ROOT t = {result} transpose(x), dimensions={{1,0}}");
                one(&body, &array, &result, given)
            }
            Family::Softmax => softmax(rows, &array, given),
            Family::Product => product([rows, columns], &array, given),
        };
        format!("HloModule sweep\n{regions}{programs}")
    }
}

/// A program of one operation, or of a fusion of it.
fn one(body: &str, array: &str, result: &str, given: Given) -> String {
    match given {
        Given::Whole => format!("ENTRY main {{\n  {body}\n}}\n"),
        Given::Loops => format!(
            "f {{\n  {body}\n}}\nENTRY main {{\n  x = {array} parameter(0)\n  ROOT r = {result} fusion(x), kind=kLoop, calls=f\n}}\n"
        ),
    }
}

fn product([rows, columns]: [i64; 2], array: &str, given: Given) -> String {
    let factors = rows.min(FACTORS);
    let result = format!("f32[{rows},{factors}]");
    let w = format!(
        "x = {array} parameter(0)\n  w = f32[{factors},{columns}] slice(x), slice={{[0:{factors}], [0:{columns}]}}"
    );
    let body = match given {
        Given::Whole => {
            format!("{w}\n  ROOT p = {result} dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}")
        }
        // An invocation adds the products of a result.
        Given::Loops => {
            let products = format!("f32[{rows},{factors},{columns}]");
            format!(
                "{w}\n  xb = {products} broadcast(x), dimensions={{0,2}}\n  wb = {products} broadcast(w), dimensions={{1,2}}\n  \
                 m = {products} multiply(xb, wb)\n  zero = f32[] constant(0)\n  \
                 ROOT p = {result} reduce(m, zero), dimensions={{2}}, to_apply=sum"
            )
        }
    };
    one(&body, array, &result, given)
}

fn softmax(rows: i64, array: &str, given: Given) -> String {
    let row = format!("f32[{rows}]");
    let greatest =
        format!("least = f32[] constant(-inf)\n  m = {row} reduce(x, least), dimensions={{1}}, to_apply=greatest");
    let powers = format!(
        "mb = {array} broadcast(m), dimensions={{0}}\n  d = {array} subtract(x, mb)\n  e = {array} exponential(d)"
    );
    let total = format!("zero = f32[] constant(0)\n  s = {row} reduce(e, zero), dimensions={{1}}, to_apply=sum");
    let parts = format!("sb = {array} broadcast(s), dimensions={{0}}\n  ROOT q = {array} divide(e, sb)");
    let x = format!("x = {array} parameter(0)");
    match given {
        Given::Whole => format!(
            "f {{\n  {x}\n  {greatest}\n  {powers}\n  {total}\n  {parts}\n}}\n\
             ENTRY main {{\n  {x}\n  ROOT r = {array} fusion(x), kind=kLoop, calls=f\n}}\n"
        ),
        Given::Loops => {
            let root = |text: &str, name: &str| text.replace(&format!("\n  {name} = "), &format!("\n  ROOT {name} = "));
            let (first, second) = (root(&greatest, "m"), root(&total, "s"));
            let m = format!("m = {row} parameter(1)");
            let s = format!("s = {row} parameter(2)");
            format!(
                "f {{\n  {x}\n  {first}\n}}\ng {{\n  {x}\n  {m}\n  {powers}\n  {second}\n}}\n\
                 h {{\n  {x}\n  {m}\n  {s}\n  {powers}\n  {parts}\n}}\n\
                 ENTRY main {{\n  {x}\n  m = {row} fusion(x), kind=kLoop, calls=f\n  \
                 s = {row} fusion(x, m), kind=kLoop, calls=g\n  \
                 ROOT r = {array} fusion(x, m, s), kind=kLoop, calls=h\n}}\n"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_hlo::eval::evaluate;
    use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Shape};

    #[test]
    fn both_forms_of_a_program_compute_the_same() {
        let data = Data::F32((0..35).map(|value| value as f32 / 4.0).collect());
        let input = Literal { shape: Shape::Array(ArrayShape::new(ElementType::F32, [5, 7])), data };
        for family in Family::ALL {
            let [whole, loops] = [Given::Whole, Given::Loops].map(|given| {
                let text = family.text([5, 7], given);
                let module = weft_hlo::text::parse(&text).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
                weft_hlo::verify::verify(&module).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
                evaluate(&module, std::slice::from_ref(&input)).unwrap_or_else(|findings| panic!("{findings}\n{text}"))
            });
            assert_eq!(whole, loops, "{}", family.name());
        }
    }
}
