//! How long kernels are once drivers write functions in place of their calls.

use crate::fuse::target;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Op};
use weft_hlo::text::{parse, print};
use weft_partition::{Budget, fuse_explained};

/// Values that are padded apart and laid into each other, as scans of any operation are printed: an element has one way through the kernel, and the code has all of them, twice as many at
/// each level. Kernels stay short where drivers write functions in place of calls, in a fusion of the program, too.
#[test]
fn code_of_all_ways_is_bounded() {
    let body: String = (0..12)
        .map(|level| {
            let (own, next) = (2 << level, 4 << level);
            format!(
                "  d{level} = f32[{own}] add(x{level}, x{level})\n  a{level} = f32[{next}] pad(x{level}, z), padding=0_1_1\n  \
                 b{level} = f32[{next}] pad(d{level}, z), padding=1_0_1\n  x{} = f32[{next}] add(a{level}, b{level})\n",
                level + 1
            )
        })
        .collect();
    let given = format!(
        "HloModule m\nf {{\n  x0 = f32[2] parameter(0)\n  z = f32[] constant(0)\n{body}  ROOT r = f32[8192] negate(x12)\n}}\n\
         ENTRY e {{\n  x0 = f32[2] parameter(0)\n  ROOT c = f32[8192] fusion(x0), kind=kLoop, calls=f\n}}\n"
    );
    let free = given.replace("f {\n", "ENTRY f {\n");
    let free = &free[..free.find("ENTRY e").unwrap_or(free.len())];
    let x = [Literal::array([2], vec![1.0f32, 3.0])];
    for text in [given.as_str(), free] {
        let module = parse(text).unwrap_or_else(|found| panic!("{found}"));
        let fused = fuse_explained(&module, &target(8)).unwrap_or_else(|found| panic!("{found}"));
        let mut kernels = 0;
        for site in fused.fusions() {
            let Some(Op::Fusion { calls, .. }) = fused.instruction(site).map(|it| &it.op) else { continue };
            let plan = fused.plan(*calls).unwrap_or_else(|| panic!("it has a plan"));
            let inlined = plan.inlined_instructions(&fused.module.computations[*calls]);
            assert!(inlined <= Budget::default().inlined_per_kernel as f64, "{inlined}: {}", print(&fused.module));
            kernels += 1;
        }
        assert!((2..=6).contains(&kernels), "{kernels}: {}", print(&fused.module));
        assert_eq!(evaluate(&fused.module, &x).unwrap(), evaluate(&module, &x).unwrap());
    }
}
