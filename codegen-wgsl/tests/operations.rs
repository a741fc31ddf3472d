//! Whatever HLO defines on the types of kernels can be written in WGSL, and nothing else.

use weft_codegen_wgsl::math;
use weft_hlo::ir::{BinaryOp, ElementType, UnaryOp};
use weft_hlo::shape::{binary_accepts, unary_accepts};

const TYPES: [ElementType; 4] = [ElementType::Pred, ElementType::S32, ElementType::U32, ElementType::F32];

#[test]
fn the_tables_cover_what_the_verifier_accepts() {
    let mut differences = Vec::new();
    for ty in TYPES {
        for &op in UnaryOp::ALL {
            if math::unary(op, ty).is_some() != unary_accepts(op, ty) {
                differences.push(format!("{} on {ty}: verifier {}", op.name(), unary_accepts(op, ty)));
            }
        }
        for &op in BinaryOp::ALL {
            if math::binary(op, ty).is_some() != binary_accepts(op, ty) {
                differences.push(format!("{} on {ty}: verifier {}", op.name(), binary_accepts(op, ty)));
            }
        }
        for to in TYPES {
            if math::convert(ty, to).is_none() {
                differences.push(format!("convert from {ty} to {to}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
