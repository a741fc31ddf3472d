//! Convolutions with transposed kernels compute what they did.

use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Module, Op};
use weft_hlo::passes::order_kernels;
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

fn literal(module: &Module, parameter: usize) -> Literal {
    let entry = module.entry_computation();
    let shape = entry.instructions[entry.parameters()[parameter]].shape.as_array().unwrap().clone();
    let count: i64 = shape.extents.iter().product();
    let values: Vec<f32> = (0..count).map(|at| ((at * 7 + 3 * parameter as i64) % 11 - 5) as f32).collect();
    Literal::array(shape.extents, values)
}

#[test]
fn features_of_the_output_become_the_last_dimension() {
    for (x, w, y, rest, is_changed) in [
        ("[2,3,5,6]", "[4,3,2,3]", "[2,4,4,4]", "window={size=2x3}, dim_labels=bf01_oi01->bf01", true),
        ("[2,5,6,6]", "[3,2,4,6]", "[2,3,5,4]", "window={size=3x2}, dim_labels=b01f_01oi->b01f", true),
        (
            "[2,5,4]",
            "[2,6,3]",
            "[2,3,6]",
            "window={size=3 rhs_reversal=1}, dim_labels=b0f_io0->b0f, feature_group_count=2",
            true,
        ),
        ("[4,5,2]", "[2,6,3]", "[2,3,6]", "window={size=3}, dim_labels=b0f_io0->b0f, batch_group_count=2", true),
        ("[2,5,4]", "[3,4,6]", "[2,3,6]", "window={size=3}, dim_labels=b0f_0io->b0f", false),
    ] {
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  x = f32{x} parameter(0)\n  w = f32{w} parameter(1)\n  ROOT y = f32{y} convolution(x, w), {rest}\n}}\n"
        );
        let module = parse(&text).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
        verify(&module).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
        let ordered = order_kernels(&module, &|_, _| true);
        assert_eq!(ordered.changes.len(), usize::from(is_changed), "{text}");
        verify(&ordered.module).unwrap_or_else(|findings| panic!("{findings}\n{}", print(&ordered.module)));
        let operands = [literal(&module, 0), literal(&module, 1)];
        let results = [&module, &ordered.module].map(|module| evaluate(module, &operands).unwrap());
        assert_eq!(results[0], results[1], "{}", print(&ordered.module));
        for instruction in ordered.module.entry_computation().instructions.values() {
            if let Op::Convolution { dim_labels, .. } = &instruction.op {
                let rank = 2 + dim_labels.kernel_spatial.len() as i64;
                assert_eq!(dim_labels.kernel_output_feature, rank - 1, "{text}");
            }
        }
    }
}
