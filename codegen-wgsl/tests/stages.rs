//! Each lowering from text to text: `tests/stages/NAME/CASE.before` and `.after`. `SNAPSHOTS=overwrite` regenerates what comes after.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use snapbox::{Assert, Data, data::DataFormat};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use weft_codegen_wgsl::Target;
use weft_codegen_wgsl::kernel::Kernel;
use weft_codegen_wgsl::lower::Lowering;

fn folder(lowering: Lowering) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stages").join(lowering.name())
}

/// The cases of a lowering by name.
fn cases(lowering: Lowering) -> BTreeSet<String> {
    let files = fs::read_dir(folder(lowering)).unwrap_or_else(|error| panic!("{lowering}: {error}"));
    files.map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

/// The target of a case: the default one, or the preset that the first lines name, `// preset NAME`, with as many rounds of loops
/// or uniforms as they allow, `// max_loop_iterations N`, `// max_uniform_buffers N`, what numbers of 64 bits take, `// features f64`, few registers, `// registers few`, memory accessed lane by lane, `// access serial`, and loops for what subgroups multiply, `// matrices emulated`.
fn target(text: &str) -> Target {
    let mut target = Target::default();
    for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
        match line.split_once(' ') {
            Some(("preset", name)) => target = Target::preset(name).unwrap(),
            Some(("max_loop_iterations", number)) => target.max_loop_iterations = Some(number.parse().unwrap()),
            Some(("features", "f64")) => (target.features.shader_f64, target.features.shader_int64) = (true, true),
            Some(("registers", "few")) => target.hardware.few_registers = true,
            Some(("access", "serial")) => target.hardware.serial_access = true,
            Some(("matrices", "emulated")) => target.emulate_matrices = true,
            Some(("max_uniform_buffers", number)) => target.max_uniform_buffers = number.parse().unwrap(),
            _ => {}
        }
    }
    target
}

#[test]
fn lowerings_do_what_their_files_say() {
    for lowering in Lowering::ALL {
        let cases = cases(lowering);
        assert!(!cases.is_empty(), "{lowering} has cases");
        for case in cases {
            let path = folder(lowering).join(&case);
            let text = fs::read_to_string(path.with_extension("before")).unwrap();
            let before = Kernel::parse(&text).unwrap_or_else(|found| panic!("{lowering}/{case}: {found}"));
            before.verify().unwrap_or_else(|found| panic!("{lowering}/{case}: {found:?}"));
            let after = lowering.apply(&before, &target(&text)).unwrap();
            after.verify().unwrap_or_else(|found| panic!("{lowering}/{case} after: {found:?}"));
            let text = after.to_string();
            assert_eq!(Kernel::parse(&text).as_ref(), Ok(&after), "{lowering}/{case} is read back");
            let expected = Data::read_from(&path.with_extension("after"), Some(DataFormat::Text)).raw();
            Assert::new().action_env("SNAPSHOTS").eq(Data::text(text), expected);
        }
    }
}

#[test]
fn lowerings_have_names() {
    for lowering in Lowering::ALL {
        assert_eq!(lowering.name().parse(), Ok(lowering));
    }
    let names = "inlined, split, typed, legal, flat, merged, moved, uniform, vectorized, matrices, collectives, words, held, \
                 peeled, registers, shared, protected, unrolled, neighbors, hoisted, lanes, paired, rolled";
    assert!("tiled".parse::<Lowering>().unwrap_err().contains(names));
}

/// What WGSL says of the rounds of loops that stay loops.
#[test]
fn rounds_of_rolled_loops_are_hidden() {
    for (case, condition) in [("few_rounds", "s0 < (16u ^ zeros.zero_constant);"), ("many_rounds", "s0 < 32u;")] {
        let text = fs::read_to_string(folder(Lowering::Rolled).join(case).with_extension("after")).unwrap();
        let source = weft_codegen_wgsl::wgsl::write(&Kernel::parse(&text).unwrap()).unwrap();
        assert!(source.contains(condition), "{source}");
    }
}
