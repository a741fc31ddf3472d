//! The size of the text grows with the fusion, not with the number of paths through it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support;
use crate::support::{fusions, make};
use std::fmt::Write;
use weft_codegen_wgsl::kernel::{Block, Kernel, Statement};
use weft_hlo::ir::ArenaId;
use weft_hlo::text;
use weft_partition::{Fused, Target};

/// One fusion of `count` diamonds, each the logarithm of the one before, plus that transposed: `2^count` paths.
fn diamonds(count: usize) -> Fused {
    let mut body = String::from("x = f32[8,8] parameter(0)\n");
    for step in 0..count {
        let before = if step == 0 { "x".to_owned() } else { format!("sum{}", step - 1) };
        let root = if step + 1 == count { "ROOT " } else { "" };
        writeln!(body, "log{step} = f32[8,8] log({before})").unwrap();
        writeln!(body, "turned{step} = f32[8,8] transpose(log{step}), dimensions={{1,0}}").unwrap();
        writeln!(body, "{root}sum{step} = f32[8,8] add(log{step}, turned{step})").unwrap();
    }
    let entry = "x = f32[8,8] parameter(0)\nROOT all = f32[8,8] fusion(x), kind=kLoop, calls=diamonds";
    let module = text::parse(&format!("HloModule growth\ndiamonds {{\n{body}}}\nENTRY main {{\n{entry}\n}}")).unwrap();
    Fused::of(module, &Target::default()).unwrap()
}

#[test]
fn text_grows_linearly_with_diamonds() {
    // The fusion is compiled as it stands: fusing would take it apart, because drivers inline its 2^n calls.
    let made = [8, 64, 512].map(|count| {
        let module = diamonds(count);
        assert_eq!(fusions(&module).len(), 1);
        (count, make(&module).unwrap_or_else(|findings| panic!("{findings}")).remove(0))
    });
    let sizes =
        |size: &dyn Fn(&support::Made) -> usize| made.iter().map(|(n, made)| (*n, size(made))).collect::<Vec<_>>();
    let texts = [
        ("kernel", sizes(&|made| made.stages.kernel.to_string().len())),
        ("flat", sizes(&|made| made.stages.flat.to_string().len())),
        ("WGSL", sizes(&|made| made.shader.source.len())),
    ];
    for (stage, sizes) in texts {
        let [(n0, small), (n1, middle), (n2, large)] = sizes[..] else { panic!("three sizes") };
        let first = (middle - small) as f64 / (n1 - n0) as f64;
        let second = (large - middle) as f64 / (n2 - n1) as f64;
        // Only the digits of the names grow.
        assert!(second < first * 1.15, "{stage}: {first:.1} bytes per diamond, then {second:.1}");
        assert!(first < 1200.0, "{stage}: {first:.1} bytes per diamond");
        eprintln!("{stage}: {first:.1} bytes per diamond, then {second:.1}");
    }
}

/// How deep calls are within one another.
fn depth(kernel: &Kernel) -> usize {
    let mut depths = vec![0; kernel.functions.len()];
    fn calls(block: &Block, depths: &[usize]) -> usize {
        let within = |statement: &Statement| {
            let callee = statement.callee().map_or(0, |callee| 1 + depths[callee.index()]);
            statement.blocks().into_iter().map(|block| calls(block, depths)).fold(callee, usize::max)
        };
        block.statements.iter().map(within).max().unwrap_or(0)
    }
    // Callees stand behind their callers.
    let ids: Vec<_> = kernel.functions.ids().collect();
    for id in ids.into_iter().rev() {
        depths[id.index()] = calls(&kernel.functions[id].body, &depths);
    }
    calls(&kernel.entry.body, &depths)
}

/// One fusion of `count` logarithms, each transposed and, from the second on, read in the branch of a concatenation.
fn chain(count: usize, cut: bool) -> Fused {
    let mut body = String::from("x = f32[8,8] parameter(0)\n");
    for step in 0..count {
        let before = if step == 0 { "x".to_owned() } else { format!("turned{}", step - 1) };
        let root = if step + 1 == count { "ROOT " } else { "" };
        if cut && step % 16 == 3 {
            writeln!(body, "part{step} = f32[6,8] slice({before}), slice={{[1:7],[0:8]}}").unwrap();
            writeln!(body, "edge{step} = f32[2,8] slice(x), slice={{[0:2],[0:8]}}").unwrap();
            writeln!(body, "log{step} = f32[8,8] concatenate(part{step}, edge{step}), dimensions={{0}}").unwrap();
        } else {
            writeln!(body, "log{step} = f32[8,8] log({before})").unwrap();
        }
        writeln!(body, "{root}turned{step} = f32[8,8] transpose(log{step}), dimensions={{1,0}}").unwrap();
    }
    let entry = "x = f32[8,8] parameter(0)\nROOT all = f32[8,8] fusion(x), kind=kLoop, calls=chain";
    let module = text::parse(&format!("HloModule growth\nchain {{\n{body}}}\nENTRY main {{\n{entry}\n}}")).unwrap();
    Fused::of(module, &Target::default()).unwrap()
}

#[test]
fn calls_stand_in_a_row() {
    let programs = [("diamonds", diamonds(400)), ("chain", chain(400, false)), ("chain of branches", chain(400, true))];
    for (name, module) in programs {
        let made = make(&module).unwrap_or_else(|findings| panic!("{findings}")).remove(0);
        let (before, after) = (depth(&made.stages.kernel), depth(&made.stages.lowered));
        assert!(after <= 50, "{name}: calls nest {after} deep, {before} before");
        eprintln!("{name}: {after} deep, {before} before, {} bytes", made.shader.source.len());
    }
}

/// What all branches compute alike is computed once, in none of them.
#[test]
fn branches_that_are_alike_are_none() {
    let text = |last: &str| {
        format!(
            "HloModule m\nENTRY main {{\nx = f32[1] parameter(0)\ny = f32[1] parameter(1)\na = f32[1] log(x)\nb = f32[1] multiply(a, x)\n\
             ROOT r = f32[4] concatenate(b, b, b, {last}), dimensions={{0}}\n}}\n"
        )
    };
    for (last, branches, logarithms) in [("b", 0, 1), ("y", 2, 2)] {
        let made = make(&support::verified(&text(last))).unwrap_or_else(|findings| panic!("{findings}")).remove(0);
        let text = made.stages.kernel.to_string();
        let entry = text.find("  entry").unwrap();
        let (functions, _) = text.split_at(entry);
        assert_eq!(
            (functions.matches("= if ").count(), functions.matches("call @").count()),
            (branches, logarithms),
            "{text}"
        );
    }
}
