//! What is read at places that values tell.

use crate::fuse::read;
use crate::scans::checked;
use weft_hlo::ir::{Literal, Op};
use weft_partition::{Fused, Target, Verdict};

/// Elements of a table that is computed of `leaves` arrays, at so many places.
fn gathered(leaves: usize, places: i64) -> (String, Vec<Literal>) {
    let computed = ["t = s32[1000] negate(a)", "t = s32[1000] add(a, b)"][leaves - 1];
    let text = format!(
        "HloModule m
        ENTRY main {{
            a = s32[1000] parameter(0)
            b = s32[1000] parameter(1)
            i = s32[{places},1] parameter(2)
            {computed}
            ROOT r = s32[{places}] gather(t, i), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, \
             index_vector_dim=1, slice_sizes={{1}}
        }}"
    );
    let table = |factor: i32| Literal::array([1000], (0..1000).map(|k| k * factor - 3000).collect::<Vec<i32>>());
    let starts: Vec<i32> = (0..places).map(|k| (k * 7919 % 1100 - 50) as i32).collect();
    (text, vec![table(3), table(7), Literal::array([places, 1], starts)])
}

fn kernels(fused: &Fused) -> usize {
    let instructions = fused.module.entry_computation().instructions.values();
    instructions.filter(|instruction| matches!(instruction.op, Op::Fusion { .. })).count()
}

/// Of two arrays that would be read in place of the one that is computed of them, far more often than it has elements, one is made first, and why is told. What is read once in a while, or
/// computed of one array, is computed where it is read.
#[test]
fn what_would_be_gathered_again_and_again_is_a_kernel() {
    let target = Target::preset("software").unwrap();
    for (leaves, places, expected) in [(2, 1 << 20, 2), (1, 1 << 20, 1), (2, 500, 1)] {
        let (text, inputs) = gathered(leaves, places);
        let fused = checked(&read(&text), &inputs, &target);
        assert_eq!(kernels(&fused), expected, "{leaves} {places}: {:#?}", fused.decisions);
        let told = fused.decisions.iter().any(|decision| {
            let is_meant = decision.instruction == "t" && decision.verdict == Verdict::Kernel;
            is_meant && decision.reason.contains("where values say it would be computed again and again")
        });
        assert_eq!(told, expected == 2, "{:#?}", fused.decisions);
    }
}
