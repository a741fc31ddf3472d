//! What the tests of this crate share.

#![allow(clippy::panic, reason = "a test fails by panicking")]

#[path = "../../../affine/tests/support/cores.rs"]
mod cores;
pub(crate) mod count;
pub(crate) mod lockstep;
pub(crate) mod machine;
pub(crate) mod pairs;
pub(crate) mod together;

pub(crate) use cores::on_all_cores;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use weft_codegen_wgsl::kernel::{Kernel, Statement};
use weft_codegen_wgsl::lower::Lowering;
use weft_codegen_wgsl::{Shader, Site, Target, compile, kernel, lower, lowered};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::text;
use weft_hlo::verify::verify;
use weft_partition::{DeviceKind, Fused, fuse};

/// Every text of the corpus as `program/file`, sorted.
pub(crate) fn corpus() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/corpus");
    let mut files = Vec::new();
    for program in fs::read_dir(root).expect("the corpus is there") {
        let program = program.expect("the corpus can be listed").path();
        for file in fs::read_dir(&program).expect("a program's folder can be listed") {
            let file = file.expect("a program's folder can be listed").path();
            if file.extension().is_some_and(|extension| extension == "hlo") {
                let part = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
                let name = format!("{}/{}", part(&program).unwrap_or_default(), part(&file).unwrap_or_default());
                files.push((name, file));
            }
        }
    }
    files.sort();
    files
}

/// The fusions of a fused module.
pub(crate) fn fusions(fused: &Fused) -> Vec<Site> {
    fused.fusions().collect()
}

/// A text read and fused.
pub(crate) fn fused(text: &str) -> Result<Fused, Diagnostics> {
    fuse(&text::parse(text)?, &Target::default())
}

/// A text written for a test, and therefore verified; fused.
pub(crate) fn verified(text: &str) -> Fused {
    let module = text::parse(text).unwrap_or_else(|findings| panic!("{findings}"));
    verify(&module).unwrap_or_else(|findings| panic!("{findings}"));
    fuse(&module, &Target::default()).unwrap_or_else(|findings| panic!("{findings}"))
}

/// A device in software: its kernels are loops, which can be run one invocation at a time.
fn software() -> Target {
    Target::default().with(|target| target.kind = DeviceKind::Software)
}

/// A text read and fused for a device in software. What is one kernel on GPUs would be loops within loops there.
pub(crate) fn fused_for_software(text: &str) -> Result<Fused, Diagnostics> {
    fuse(&text::parse(text)?, &software())
}

/// What is found of each text of the corpus.
fn of_corpus<T: Send>(find: impl Fn(&str, &Path) -> T + Sync) -> Vec<T> {
    on_all_cores(&corpus(), |(name, path)| find(name, path))
}

/// What is made of each text of the corpus, or why it cannot be fused: several tests look at it.
pub(crate) static COMPILED: LazyLock<Vec<(String, Result<Compiled, Diagnostics>)>> = LazyLock::new(|| {
    of_corpus(|name, path| {
        let compiled = fused(&fs::read_to_string(path).expect("the corpus can be read")).map(|module| {
            let made = make(&module).unwrap_or_else(|findings| panic!("{name}: {findings}"));
            Compiled { module, made }
        });
        (name.to_owned(), compiled)
    })
});

/// A fused module, and what is made of each fusion, in their order.
pub(crate) struct Compiled {
    pub(crate) module: Fused,
    pub(crate) made: Vec<Made>,
}

/// The kernels of each text of the corpus that can be fused, for a device in software: several tests look at them. Of fusions that are alike
/// the first.
pub(crate) static IN_LOOPS: LazyLock<Vec<(String, Vec<Stages>)>> = LazyLock::new(|| {
    let found = of_corpus(|name, path| {
        let module = fused_for_software(&fs::read_to_string(path).expect("the corpus can be read")).ok()?;
        let module = in_loops(module);
        let sites = fusions(&module);
        let firsts = module.alike(&sites).into_iter().enumerate().filter(|(own, first)| own == first);
        // What places of a workgroup combine is run side by side by the tests of `weft-runtime`.
        let is_alone = |stages: &Result<Stages, Diagnostics>| {
            let combines = |statement: &Statement| matches!(statement, Statement::Collective { .. });
            stages.as_ref().is_ok_and(|it| !it.kernel.entry.body.statements.iter().any(combines))
        };
        let stages = firsts.map(|(own, _)| stages(&module, sites[own])).filter(|it| it.is_err() || is_alone(it));
        Some((
            name.to_owned(),
            stages.collect::<Result<_, _>>().unwrap_or_else(|findings| panic!("{name}: {findings}")),
        ))
    });
    found.into_iter().flatten().collect()
});

/// The same fusions for a device in software.
pub(crate) fn in_loops(fused: Fused) -> Fused {
    Fused::of(fused.module, &software()).unwrap_or_else(|findings| panic!("{findings}"))
}

/// The kernel of one fusion at some stages.
pub(crate) struct Stages {
    pub(crate) kernel: Kernel,
    pub(crate) flat: Kernel,
    /// As it is before [`Lowering::Vectorized`].
    pub(crate) before_vectors: Kernel,
    /// After all lowerings.
    pub(crate) lowered: Kernel,
}

/// Everything made of one fusion.
pub(crate) struct Made {
    pub(crate) stages: Stages,
    pub(crate) shader: Shader,
}

fn stages(fused: &Fused, site: Site) -> Result<Stages, Diagnostics> {
    let target = Target::default();
    let kernel = kernel(fused, site, &target)?;
    let flat = lower::flatten(&kernel).expect("positions fit 64 bits");
    let mut stages = lowered(fused, site, &target, Lowering::LAST)?;
    let mut after = |last: Lowering| {
        let stage = stages.iter().position(|(lowering, _)| *lowering == last).expect("there is such a lowering");
        stages.swap_remove(stage).1
    };
    Ok(Stages { kernel, flat, before_vectors: after(Lowering::Merged), lowered: after(Lowering::LAST) })
}

/// The kernels of a fused module at some stages.
pub(crate) fn all_stages(fused: &Fused) -> Result<Vec<Stages>, Diagnostics> {
    fusions(fused).into_iter().map(|site| stages(fused, site)).collect()
}

/// Every kernel of a fused module.
pub(crate) fn make(fused: &Fused) -> Result<Vec<Made>, Diagnostics> {
    let one = |site: Site| Ok(Made { stages: stages(fused, site)?, shader: compile(fused, site, &Target::default())? });
    fusions(fused).into_iter().map(one).collect()
}
