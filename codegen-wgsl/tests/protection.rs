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

const HEAD: &str = "# What is hidden from drivers

Drivers compute with floats as with real numbers: sums and products are reassociated, what is equal cancels, zeros are folded with
(`codegen-wgsl/src/lower/protect.rs`). So a value that two neighboring operations could use for that is hidden between them, by an exclusive or with a
zero that only the run knows; nothing else is. Each row is a pair: what computes `a` of the elements `x` and `y`, and what is computed of `a` next. The
columns are what `b` is then, and say how values are hidden: `keep` where they are computed, `apart` from an equal one they are compared with, `-`
not at all.

Where a target forbids contraction (`weft --no-contraction`) of a device that contracts, every product under a sum is hidden, too.

The table is written by `codegen-wgsl/tests/protection.rs`; `runtime/tests/protection.rs` runs every pair on the device under test, on 1,024 inputs
among which are NaN, infinities, zeros and subnormal numbers, and compares all bits with the evaluator's (but of those marked †, which may be off).

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
        let fused = verified(dot);
        let stages = lowered(&fused, fusions(&fused)[0], target, Lowering::Protected).unwrap();
        stages.last().unwrap().1.to_string().matches("= keep ").count()
    };
    assert!(kept(&forbidden(true)) > kept(&Target::default()), "{}", kept(&Target::default()));
}
