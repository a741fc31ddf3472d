//! The table of what is hidden from drivers between two operations, `docs/protection.md`, is what the compiler does. `SNAPSHOTS=overwrite` writes it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::pairs::{self, FIRST, NEXT, OTHERS, Operation, why};
use crate::support::{fusions, verified};
use snapbox::{Assert, Data, data::DataFormat};
use std::collections::BTreeSet;
use std::path::Path;
use weft_codegen_wgsl::kernel::{Block, Hiding, Kernel, ScalarOp, Statement};
use weft_codegen_wgsl::lower::Lowering;
use weft_codegen_wgsl::{Target, lowered};
use weft_hlo::text::parse;
use weft_partition::{DeviceKind, fuse};

const HEAD: &str = "# What is hidden from drivers

Drivers compute with floats as with real numbers: sums and products are reassociated, what is equal cancels, zeros are folded with
(`codegen-wgsl/src/lower/protect.rs`). So a value that two neighboring operations could use for that is hidden between them, by an exclusive or with a
zero that only the run knows; nothing else is. Each row is a pair: what computes `a` of the elements `x` and `y`, and what is computed of `a` next. The
columns are what `b` is then, and say how values are hidden: `keep` where they are computed, `apart` from an equal one they are compared with, `-`
not at all.

What is said of choices holds for GPUs, whose drivers make minima and maxima without NaN of them; in software they are bare.

Where a target forbids contraction (`weft --no-contraction`) of a device that contracts, every product under a sum is hidden, too.

Where a device is told to compute in the order that is written (`no_contraction` among the features of a target; feature `no-contraction` of
`weft-runtime`), only zeros are hidden: literal ones, and what a driver can compute. The library's functions hide what they hide in any case.

The table is written by `codegen-wgsl/tests/protection.rs`; `runtime/tests/protection.rs` runs every pair on the device under test, on 1,024 inputs
among which are NaN, infinities, zeros and subnormal numbers, and compares all bits with the evaluator's (but of those marked †, which may be off); with the
feature `no-contraction` a second time, with nothing hidden but zeros.

Programs and functions that once went wrong on a driver, and the tests that hold them (of `runtime/tests`, if nothing else is said):

| pattern | test |
|---|---|
| `(x + 1e8) - 1e8` is `x` | `drivers::sums_are_not_reassociated` |
| `x - x` and `x / x` are constants, `f(x) - f(x)` is 0 | `drivers::equal_values_are_not_taken_for_one` |
| `x <= y ? x : y` is a minimum that drops NaN, also where both are hidden alike (NVIDIA) | `drivers::comparisons_with_nan_hold_when_they_are_negated` |
| `0 / 0` is 1 where both zeros are hidden alike (NVIDIA) | `drivers::zeros_are_not_folded_with` |
| `x * 0`, `x + 0`, `0 - x` are folded, also of zeros that were computed | `drivers::zeros_are_not_folded_with`, `computed_zeros_are_not_folded_with` |
| likewise of zeros that a function returns | `drivers::zeros_that_functions_return_are_not_folded_with` |
| likewise of narrow floats that are constants, or choices of them | `drivers::narrow_zeros_are_not_folded_with` |
| `x / 3` is a product with the inverse | `drivers::quotients_by_constants_are_no_products` |
| the zeros of `keep` are known from a uniform | `drivers::uniforms_do_not_tell_what_is_hidden` |
| `x + 1 > 1` is `x > 0` | `drivers::sums_are_not_compared_by_a_term` |
| the value of a loop joins the sum behind it | `drivers::what_a_loop_leaves_is_hidden` |
| a loop's first sum is folded with its zero | `drivers::accumulators_do_not_start_from_a_zero_to_fold_with` |
| functions compute with arguments that a driver sees through: `acosh(x + 1)`, `log-plus-one(x - 1)` | `drivers::functions_take_their_arguments_as_they_are`, `functions_take_each_others_values`, `functions_near_their_zeros_are_right` |
| `x != x` is false for NaN, `!(x < y)` becomes `x >= y` | `drivers::comparisons_with_nan_hold_when_they_are_negated`, `codegen-wgsl/src/math/tests.rs` `nan_is_told_by_bits` |
| minima and maxima lose NaN, or tell zeros apart by their order | `math::functions_of_two_numbers_are_accurate`, `codegen-wgsl/src/math/tests.rs` `least_and_greatest_floats_are_selected` |
| built-in functions are off: `exp`, `log` near 1 and below 0, `tanh` near 0 and far out, `asin`, `sin`, `sign` of NaN | `math::functions_of_one_number_are_accurate` |
| `pow(0, 0)`, `atan2(0, 0)`, `%` | `math::functions_of_two_numbers_are_accurate` |
| integers by 0, the least one by -1, shifts by 32 and more | `math::whole_numbers_of_two_operands_are_exact` |
| conversions of NaN, infinities and what is too large to integers | `math::conversions_are_exact`, `types::conversions_between_all_types_are_exact` |
| subnormal numbers are flushed by some operations and not by others | `drivers::subnormal_numbers_are_kept_or_flushed_and_nothing_between` |
| literals that a language refuses: infinities, NaN, the least `i32` | `codegen-wgsl/src/wgsl/scalar.rs` `literals_are_within_the_type` |
| a serial sum of 16.7 million numbers is 4 % off | `reductions::a_sum_of_many_numbers_is_exact_to_the_last_digits` |
| sums of narrow floats stay where they are | `reductions::sums_of_narrow_floats_are_rounded_once` |
| a read moves across a write, or into a loop | `codegen-wgsl/src/wgsl/inline.rs` `no_read_is_moved_across_a_write`, `a_read_stays_out_of_loops_and_branches` |
| loops end after 65,535 rounds | `drivers::long_loops_are_run_to_their_end`, `rounds_are_counted_through_calls` |
| grids of unequal rows take twice the time | `codegen-wgsl/src/emit/grid.rs` `rows_are_equally_long`, `drivers::grids_of_three_dimensions_cover_everything` |
| calls that nest deeply take long to compile | `codegen-wgsl/tests/growth.rs` `calls_stand_in_a_row` |
| names make pipelines different | `codegen-wgsl/src/kernel/structure.rs` `names_play_no_part`, `run::equal_kernels_share_a_pipeline` |
| what two kernels need is read by both, to save a write | `partition/tests/fuse.rs` `what_two_kernels_need_is_read_by_no_more_than_both` |
| sine, cosine and negated sine of one value are three kernels | `partition/tests/fuse.rs` `functions_of_one_value_are_a_kernel_each_at_most` |
| a failed read leaves its staging buffer mapped | `device::a_failed_read_leaves_nothing_mapped_behind` |

";

/// How values are hidden in the kernel of a program.
fn hidden(text: &str, target: &Target) -> BTreeSet<&'static str> {
    let fused = verified(text);
    let mut found = BTreeSet::new();
    for site in fusions(&fused) {
        let stages = lowered(&fused, site, target, Lowering::Protected).unwrap();
        let kernel: &Kernel = &stages.last().unwrap().1;
        kernel.functions.values().for_each(|function| collect(&function.body, &mut found));
        collect(&kernel.entry.body, &mut found);
    }
    found
}

fn collect(block: &Block, found: &mut BTreeSet<&'static str>) {
    for statement in &block.statements {
        if let Statement::Let { op: ScalarOp::Keep { hiding, .. }, .. } = statement {
            found.insert(if *hiding == Hiding::Apart { "apart" } else { "keep" });
        }
        statement.blocks().into_iter().for_each(|block| collect(block, found));
    }
}

/// One operation after another, as a program.
fn program(first: &Operation, next: &Operation, other: &str) -> String {
    let other = if other == "A" { "a" } else { other };
    let a = first.write("a", ["x", "y"], 64);
    let r = next.write("r", ["a", other], 64).replace("  r = ", "  ROOT r = ");
    format!("HloModule pair\nENTRY e {{\n{}{a}{r}}}\n", pairs::operands(64))
}

fn cell(first: &Operation, next: &Operation, other: &str, target: &Target) -> String {
    let hidden = hidden(&program(first, next, other), target);
    if hidden.is_empty() { "-".to_owned() } else { hidden.into_iter().collect::<Vec<_>>().join(", ") }
}

#[test]
fn the_table_is_what_the_compiler_does() {
    // Corrections of quotients are hidden as other arithmetic is.
    let target = Target::default()
        .with(|target| (target.arithmetic.exact_division, target.arithmetic.exact_sqrt) = (true, true));
    let mut text = HEAD.to_owned();
    text += "| `a` | next | `b`: ";
    text += &OTHERS.map(|(name, _)| name).join(" | ");
    text += &format!(" | why |\n|{}\n", "---|".repeat(OTHERS.len() + 3));
    for first in &FIRST {
        for next in &NEXT {
            let mut cells: Vec<String> = Vec::new();
            for (_, other) in OTHERS {
                cells.push(if next.is_binary() || cells.is_empty() {
                    cell(first, next, other, &target)
                } else {
                    String::new()
                });
            }
            let why = why(first.class, next.class);
            // Of functions that may be off the bits are not compared.
            let mark = if first.meaning.is_some() && next.meaning.is_some() { "" } else { "†" };
            text += &format!("| `{}`{mark} | `{}` | {} | {why} |\n", first.name, next.name, cells.join(" | "));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/protection.md");
    let expected = Data::read_from(&path, Some(DataFormat::Text)).raw();
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(text), expected);
}

/// Of a device that computes in the order that is written.
#[test]
fn zeros_alone_are_hidden_from_drivers_that_keep_to_the_order() {
    let ordered = Target::default().with(|target| {
        (target.kind, target.features.no_contraction) = (DeviceKind::Software, true);
        (target.arithmetic.exact_division, target.arithmetic.exact_sqrt) = (true, true);
    });
    for first in &FIRST {
        for next in &NEXT {
            for (_, other) in OTHERS {
                assert_eq!(cell(first, next, other, &ordered), "-", "{} and {}", first.name, next.name);
            }
        }
    }
    let text = |operation: &str| {
        format!(
            "HloModule zeros\nENTRY e {{\n  x = f32[64] parameter(0)\n  z = f32[] constant(0)\n  \
             zeros = f32[64] broadcast(z), dimensions={{}}\n  i = f32[64] iota(), iota_dimension=0\n  ROOT r = f32[64] {operation}\n}}\n"
        )
    };
    for operation in ["add(x, zeros)", "multiply(x, zeros)", "subtract(zeros, x)", "multiply(x, i)"] {
        assert_eq!(hidden(&text(operation), &ordered), BTreeSet::from(["keep"]), "{operation}");
    }
    assert_eq!(hidden(&text("maximum(x, zeros)"), &ordered), BTreeSet::new());
    // Of what is compared the one that is chosen would be a minimum or a maximum without NaN on others.
    let ordered = ordered.with(|target| target.kind = DeviceKind::Discrete);
    assert_eq!(hidden(&text("maximum(x, zeros)"), &ordered), BTreeSet::from(["apart"]));
}

#[test]
fn products_are_hidden_from_sums_where_contraction_is_forbidden() {
    let forbidden = |contracts: bool| {
        Target::default().with(|target| (target.forbid_contraction, target.arithmetic.contraction) = (true, contracts))
    };
    let product = FIRST.iter().find(|operation| operation.name == "x * y").unwrap();
    for next in NEXT.iter().filter(|operation| ["a + b", "a - b", "b - a"].contains(&operation.name)) {
        assert_eq!(cell(product, next, "z", &Target::default()), "-", "{}", next.name);
        assert_eq!(cell(product, next, "z", &forbidden(false)), "-", "{}: the device rounds twice", next.name);
        assert!(cell(product, next, "z", &forbidden(true)).contains("keep"), "{}", next.name);
    }
    // In a sum of products as well.
    let dot = "HloModule dot\nc {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\
               ENTRY e {\n  x = f32[8,99] parameter(0)\n  y = f32[8,99] parameter(1)\n  p = f32[8,99] multiply(x, y)\n  \
               z = f32[] constant(0)\n  ROOT r = f32[8] reduce(p, z), dimensions={1}, to_apply=c\n}\n";
    let kept = |target: &Target| {
        // One loop, whose rounds add products.
        let target = &target.clone().with(|target| target.faults.barriers = true);
        let fused = fuse(&parse(dot).unwrap(), target).unwrap();
        let stages = lowered(&fused, fusions(&fused)[0], target, Lowering::Protected).unwrap();
        stages.last().unwrap().1.to_string().matches("= keep ").count()
    };
    assert!(kept(&forbidden(true)) > kept(&Target::default()), "{}", kept(&Target::default()));
}
