//! Sums of products in words of their own compute what they did.

use weft_hlo::eval::evaluate;
use weft_hlo::ir::{ElementType, Op};
use weft_hlo::passes::widen_products;
use weft_hlo::random::{Options, inputs};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

#[test]
fn narrow_results_are_converted_from_the_type_of_their_sums() {
    for ([left, right, result], wide) in [
        (["bf16", "bf16", "bf16"], Some(ElementType::F32)),
        (["f8e4m3fn", "f8e5m2", "f16"], Some(ElementType::F32)),
        (["s8", "s8", "s8"], Some(ElementType::S32)),
        (["s4", "s8", "s4"], Some(ElementType::S32)),
        (["u8", "u4", "u8"], Some(ElementType::U32)),
        (["s8", "u8", "u16"], Some(ElementType::U32)),
        (["s32", "s8", "bf16"], Some(ElementType::F32)),
        (["bf16", "bf16", "f32"], None),
        (["s8", "s8", "s32"], None),
        (["pred", "pred", "pred"], None),
        (["f64", "f64", "f32"], None),
        (["f64", "f64", "bf16"], None),
    ] {
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  a = {left}[5,8] parameter(0)\n  b = {right}[8,3] parameter(1)\n  \
             d = {result}[5,3] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n  \
             x = {left}[2,4,5] reshape(a)\n  y = {right}[2,4,3] reshape(b)\n  \
             c = {result}[2,3,4] convolution(x, y), window={{size=2}}, dim_labels=bf0_0io->bf0\n  \
             ROOT r = ({result}[5,3], {result}[2,3,4]) tuple(d, c)\n}}\n"
        );
        let module = parse(&text).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
        verify(&module).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
        let widened = widen_products(&module, &|_, _| true);
        assert_eq!(widened.changes.len(), if wide.is_some() { 2 } else { 0 }, "{text}");
        verify(&widened.module).unwrap_or_else(|findings| panic!("{findings}\n{}", print(&widened.module)));
        for instruction in widened.module.entry_computation().instructions.values() {
            if let (Op::Dot { .. } | Op::Convolution { .. }, Some(wide)) = (&instruction.op, wide) {
                assert_eq!(instruction.shape.as_array().unwrap().element_type, wide, "{text}");
            }
        }
        for seed in 0..8 {
            let operands = inputs(&module, seed, &Options::default());
            let results = [&module, &widened.module].map(|module| evaluate(module, &operands).unwrap());
            assert_eq!(results[0], results[1], "{}", print(&widened.module));
        }
    }
}
