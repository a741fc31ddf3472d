//! Dots in forms for many invocations compute what they did.

use crate::count::cases;
use num_complex::Complex;
use std::fmt::Write as _;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::Literal;
use weft_hlo::passes::{DotForm, thin_dots};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

/// Numbers from a seed, each below a bound.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// An order of so many.
    fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        (1..count).rev().for_each(|last| order.swap(last, self.below(last + 1)));
        order
    }
}

fn list(dimensions: &[usize]) -> String {
    dimensions.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// A dot with so many dimensions of each kind, in any order, and its operands.
fn random(numbers: &mut Numbers, ty: &str, is_thin: bool) -> (String, Vec<Literal>) {
    let mut extents =
        |count: usize, most: usize| -> Vec<usize> { (0..count).map(|_| 1 + numbers.below(most)).collect() };
    let (batch, contracted) = (extents(1, 3), extents(2, 6));
    let (rows, columns) = (extents(2, 4), if is_thin { vec![1] } else { extents(1, 4) });
    let batch = &batch[..numbers.below(2)];
    let contracted: Vec<usize> = contracted.iter().map(|extent| 2 * extent).take(1 + numbers.below(2)).collect();
    let rows = &rows[..numbers.below(3)];
    let columns = &columns[..numbers.below(2)];
    let mut operands = Vec::new();
    let mut text = String::from("HloModule m\n\nENTRY e {\n");
    let (mut dims, mut result) = (Vec::new(), batch.to_vec());
    for (number, free) in [rows, columns].into_iter().enumerate() {
        let all = [batch, &contracted, free].concat();
        // Dimension `order[i]` has the i-th of all extents.
        let order = numbers.order(all.len());
        let mut shape = vec![0; all.len()];
        order.iter().zip(&all).for_each(|(dimension, extent)| shape[*dimension] = *extent);
        let count: usize = shape.iter().product();
        let values: Vec<i32> = (0..count).map(|_| numbers.below(7) as i32 - 3).collect();
        let shape_of_literal: Vec<i64> = shape.iter().map(|extent| *extent as i64).collect();
        let values = values.into_iter();
        operands.push(match ty {
            "s32" => Literal::array(shape_of_literal, values.collect::<Vec<i32>>()),
            "s64" => Literal::array(shape_of_literal, values.map(i64::from).collect::<Vec<i64>>()),
            "f64" => Literal::array(shape_of_literal, values.map(f64::from).collect::<Vec<f64>>()),
            "c64" => {
                let values = values.map(|value| Complex::new(value as f32, (value ^ 1) as f32));
                Literal::array(shape_of_literal, values.collect::<Vec<Complex<f32>>>())
            }
            _ => Literal::array(shape_of_literal, values.map(|value| value as f32).collect::<Vec<f32>>()),
        });
        writeln!(text, "  p{number} = {ty}[{}] parameter({number})", list(&shape)).unwrap();
        let (own_batch, rest) = order.split_at(batch.len());
        dims.push((list(own_batch), list(&rest[..contracted.len()])));
        let mut own = rest[contracted.len()..].to_vec();
        own.sort_unstable();
        result.extend(own.into_iter().map(|dimension| shape[dimension]));
    }
    writeln!(
        text,
        "  ROOT d = {ty}[{}] dot(p0, p1), lhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, rhs_batch_dims={{{}}}, rhs_contracting_dims={{{}}}\n}}",
        list(&result),
        dims[0].0,
        dims[0].1,
        dims[1].0,
        dims[1].1
    )
    .unwrap();
    (text, operands)
}

/// Of whole numbers, whose sums are exact in any order.
#[test]
fn all_forms_compute_the_dot() {
    let mut counts = [0; 3];
    for seed in 0..cases(200) {
        let mut numbers = Numbers(seed);
        let ty = ["f32", "s32", "f32", "s64", "f64", "c64"][numbers.below(6)];
        let is_thin = numbers.below(2) == 0;
        let (text, operands) = random(&mut numbers, ty, is_thin);
        let module = parse(&text).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
        let expected = evaluate(&module, &operands).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
        for (number, form) in [DotForm::Reduced, DotForm::Split(2), DotForm::Split(3)].into_iter().enumerate() {
            let thin = thin_dots(&module, &|_, _| Some(form));
            counts[number] += thin.changes.len();
            verify(&thin.module).unwrap_or_else(|findings| panic!("{findings}\n{}", print(&thin.module)));
            let found = evaluate(&thin.module, &operands)
                .unwrap_or_else(|findings| panic!("{findings}\n{}", print(&thin.module)));
            assert_eq!(found[0], expected[0], "{text}\n{}", print(&thin.module));
        }
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}

#[test]
fn sums_of_narrow_floats_are_wide() {
    let text = "HloModule m\n\nENTRY e {\n  a = bf16[4,64] parameter(0)\n  b = bf16[64] parameter(1)\n  ROOT d = bf16[4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
    let module = parse(text).unwrap();
    for form in [DotForm::Reduced, DotForm::Split(8)] {
        let thin = thin_dots(&module, &|_, _| Some(form));
        assert_eq!(thin.changes.len(), 1);
        assert!(print(&thin.module).contains("f32[4] reduce"), "{}", print(&thin.module));
    }
    // What has no such form stays.
    let of_matrices =
        text.replace("bf16[64] parameter", "bf16[64,2] parameter").replace("ROOT d = bf16[4]", "ROOT d = bf16[4,2]");
    let module = parse(&of_matrices).unwrap();
    assert!(thin_dots(&module, &|_, _| Some(DotForm::Reduced)).changes.is_empty());
    for parts in [-2, 0, 1, 65] {
        assert!(thin_dots(&module, &|_, _| Some(DotForm::Split(parts))).changes.is_empty(), "{parts}");
    }
    // What no number of stretches divides is filled up.
    let filled = thin_dots(&module, &|_, _| Some(DotForm::Split(7)));
    assert!(print(&filled.module).contains("pad("), "{}", print(&filled.module));
}
