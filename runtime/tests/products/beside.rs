//! Results beside those of sums of products, in one kernel with them, that read none of the sums and are of other shapes.

use super::check;
use crate::support;
use weft_partition::Schedule;

/// Dots and convolutions whose sums are in the order of their results and in another, with an operand as it is in other shapes.
#[test]
fn results_that_read_no_sums_may_be_of_other_shapes() {
    let device = support::device();
    let window = |sizes: &str, labels: &str| format!("convolution(a, b), window={{{sizes}}}, dim_labels={labels}");
    let line = ("[1,1,65]", "[1,1,7]", "[1,1,65]", window("size=7 pad=3_3", "bf0_oi0->bf0"));
    let lines = ("[2,16,4]", "[3,4,4]", "[2,4,16]", window("size=3 pad=1_1", "b0f_0io->bf0"));
    let plane = ("[2,6,8,4]", "[3,3,4,4]", "[2,6,8,4]", window("size=3x3 pad=1_1x1_1", "b01f_01io->b01f"));
    let dot = |dimensions: &str| format!("dot(a, b), {dimensions}");
    let square = ("[16,16]", "[16,16]", "[16,16]", dot("lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
    let batch = "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}";
    let batches = ("[2,8,12]", "[2,12,12]", "[2,8,12]", dot(batch));
    let programs = [
        (line.clone(), "[65,1]"),
        (line, "[5,13]"),
        (lines.clone(), "[128]"),
        (lines, "[4,2,16]"),
        (plane.clone(), "[16,24]"),
        (plane, "[2,48,4]"),
        (square, "[256]"),
        (batches, "[16,12]"),
    ];
    let mut tiled = 0;
    for ((a, b, results, sums), other) in programs {
        let of_both = format!("(f32{results}, f32{other})");
        let text = format!(
            "HloModule m\nboth {{\n  a = f32{a} parameter(0)\n  b = f32{b} parameter(1)\n  c = f32{results} {sums}\n  \
             n = f32{other} reshape(a)\n  o = f32{other} negate(n)\n  ROOT r = {of_both} tuple(c, o)\n}}\n\
             ENTRY e {{\n  a = f32{a} parameter(0)\n  b = f32{b} parameter(1)\n  \
             ROOT f = {of_both} fusion(a, b), kind=kOutput, calls=both\n}}\n"
        );
        for schedule in Schedule::ALL {
            let target = device.target().clone().with(|target| target.schedule = Some(schedule));
            let is_tiled = check(&device, &target, &text).unwrap_or_else(|why| panic!("{schedule}: {why}\n{text}"));
            tiled += usize::from(is_tiled);
        }
    }
    assert!(tiled > 8, "{tiled}");
}
