//! The programs of the corpus, and what kernels are shaped around there.

use std::path::Path;
use weft_hlo::ir::Module;
use weft_hlo::passes::Pipeline;
use weft_hlo::text::parse;
use weft_partition::{Emitter, HeroKind, Target, fuse_explained};

/// A program of the corpus.
pub(crate) struct Program {
    pub(crate) name: String,
    /// As JAX printed it, after the passes of `weft opt`.
    pub(crate) optimized: Module,
    /// As XLA made it for its CPU.
    pub(crate) theirs: Module,
}

/// The programs of the corpus, by name.
pub(crate) fn programs() -> Vec<Program> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/corpus");
    let mut programs = Vec::new();
    for folder in std::fs::read_dir(corpus).expect("the corpus lies beside this crate").flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        let module = |form: &str| -> Option<Module> {
            let text = std::fs::read_to_string(folder.path().join(format!("{form}.hlo"))).ok()?;
            Some(parse(&text).unwrap_or_else(|found| panic!("{name}/{form}: {found}")))
        };
        let (Some(written), Some(theirs)) = (module("unoptimized"), module("optimized_cpu")) else { continue };
        let optimized = Pipeline::default().run(&written).unwrap_or_else(|found| panic!("{name}: {found}")).module;
        programs.push(Program { name, optimized, theirs });
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    programs
}

/// Every transposition, reduction, scan, dot and convolution that could shape a kernel does, or its plan says why not; `cargo test -p weft-partition corpus:: -- --nocapture` shows the reasons.
#[test]
fn heroes_shape_kernels_or_say_why_not() {
    // In software an invocation folds a row by itself, which is a loop.
    // On cards rows of small dots are folded in the dots' kernels, which leaves fewer kernels.
    for (preset, least) in [("discrete", 190), ("software", 120)] {
        let target = Target::preset(preset).expect("there is such a target");
        let (mut shaped, mut loops) = (0, 0);
        for Program { name, optimized, .. } in programs() {
            let fused = fuse_explained(&optimized, &target).unwrap_or_else(|found| panic!("{name}: {found}"));
            for plan in fused.module.computations.ids().filter_map(|id| fused.plan(id)) {
                let emitter = plan.emitter();
                let is_shaped = matches!(
                    emitter,
                    Emitter::Reduced(_) | Emitter::Transposed(_) | Emitter::Windowed(_) | Emitter::Product(_)
                );
                assert!(!plan.why().is_empty(), "{preset} {name}: {emitter:?}");
                shaped += usize::from(is_shaped);
                for hero in plan.heroes() {
                    let is_meant = matches!(
                        hero.kind,
                        HeroKind::RowReduction { .. }
                            | HeroKind::ColumnReduction { .. }
                            | HeroKind::Transposition { .. }
                            | HeroKind::Scan { .. }
                            | HeroKind::Product { .. }
                    );
                    let Some(why) = hero.why_loop.as_deref() else {
                        assert!(is_shaped || !is_meant, "{preset} {name}: {} has no reason: {emitter:?}", hero.kind);
                        continue;
                    };
                    println!("{preset} {name}: {}: {why}", hero.kind);
                    loops += usize::from(is_meant);
                    assert!(!is_meant || why != "no emitter is built for it yet", "{preset} {name}: {}", hero.kind);
                }
            }
        }
        println!("{preset}: {shaped} kernels are shaped around heroes, {loops} heroes are loops");
        assert!(shaped >= least, "{preset}: {shaped}");
    }
}
