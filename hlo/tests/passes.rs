//! Each pass on small modules, as text before and after, and the values of random modules, which every pass keeps.
//!
//! The cases of a pass are blocks of `tests/passes/NAME.txt`, with a line `====` between them: a line `# name`, a module, a
//! line `----`, and what the pass leaves when it has run, with dead code dropped, until nothing changes; or `unchanged`.
//! `SNAPSHOTS=overwrite` rewrites the latter part.

use crate::count::cases;
use crate::random_modules::all_same;
use crate::values;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Module, Op, Opcode};
use weft_hlo::passes::{DeadCode, Optimized, PASSES, Pass, Pipeline, pass_named, select_branches};
use weft_hlo::random::{self, Options};
use weft_hlo::text::{PrintOptions, parse, print, print_with};
use weft_hlo::verify::verify;

/// Inputs that each case is evaluated on.
const INPUTS: u64 = 6;
/// Random modules for each pass.
const SEEDS: u64 = 150;

/// The files of cases, with the passes they are called after.
fn files() -> Vec<(PathBuf, &'static dyn Pass)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let pass = |path: &Path| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        pass_named(name).unwrap_or_else(|| panic!("no pass is called {name}"))
    };
    paths.into_iter().map(|path| (path.clone(), pass(&path))).collect()
}

/// A pass until nothing changes.
fn fixed_point(pass: &'static dyn Pass, module: &Module) -> Result<Optimized, String> {
    let optimized = Pipeline::new().with(pass).with(DeadCode).run(module).map_err(|found| found.to_string())?;
    if !optimized.is_fixed_point {
        return Err("the pass does not come to an end".to_owned());
    }
    verify(&optimized.module).map_err(|found| format!("{found}\n{}", print(&optimized.module)))?;
    Ok(optimized)
}

/// The values of a module; `None` if the evaluator does not know an operation.
fn values_of(module: &Module, inputs: &[Literal]) -> Result<Option<Vec<Literal>>, String> {
    match evaluate(module, inputs) {
        Ok(values) => Ok(Some(values)),
        Err(found) if found.0.iter().all(|finding| ["HLO201", "HLO203"].contains(&finding.code)) => Ok(None),
        Err(found) => Err(found.to_string()),
    }
}

/// What is wrong with the values of what a pass made of a module, if anything.
fn compare(expected: &[Literal], after: &Module, inputs: &[Literal]) -> Result<(), String> {
    let actual = evaluate(after, inputs).map_err(|found| format!("{found}\n{}", print(after)))?;
    if !all_same(expected, &actual) {
        return Err(format!("{expected:?} became {actual:?} for {inputs:?}\n{}", print(after)));
    }
    Ok(())
}

/// The text of a module without its header.
fn body(module: &Module) -> String {
    let text = print_with(module, &PrintOptions::short());
    text.split_once("\n\n").map_or(text.as_str(), |(_, body)| body).trim_end().to_owned()
}

#[test]
fn passes_do_what_the_cases_say() {
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    let (mut wrong, mut not_evaluated) = (String::new(), Vec::new());
    for (path, pass) in files() {
        let (file, mut names) = (fs::read_to_string(&path).unwrap(), BTreeSet::new());
        let mut rewritten = Vec::new();
        for block in file.split("\n====\n") {
            let (head, rest) = block.trim().split_once('\n').expect("a case begins with its name");
            let name = head.strip_prefix("# ").expect("a name stands behind a #");
            let (text, expected) = rest.split_once("\n----\n").expect("`----` stands between before and after");
            assert!(names.insert(name.to_owned()), "{}: two cases are called {name}", pass.name());
            let before = parse(text).unwrap_or_else(|found| panic!("{name}: {found}"));
            verify(&before).unwrap_or_else(|found| panic!("{name}: {found}"));
            let after = fixed_point(pass, &before).unwrap_or_else(|found| panic!("{name}: {found}"));
            let is_changed = after.runs.iter().any(|run| run.pass == pass.name() && !run.changes.is_empty());
            let found = if is_changed { body(&after.module) } else { "unchanged".to_owned() };
            // Where rounding may change, inputs have to be chosen with care; a test of its own has them.
            let is_exact = PASSES.iter().any(|exact| exact.name() == pass.name());
            for seed in 0..if is_exact { INPUTS } else { 0 } {
                let inputs = values::inputs(&before, seed);
                match values_of(&before, &inputs).unwrap_or_else(|found| panic!("{name}: {found}")) {
                    None => not_evaluated.push(name.to_owned()),
                    // What is left as it was has the values it had.
                    Some(_) if after.module == before => {}
                    Some(expected) => {
                        compare(&expected, &after.module, &inputs).unwrap_or_else(|found| panic!("{name}: {found}"))
                    }
                }
            }
            if found != expected.trim_end() {
                writeln!(wrong, "{name}:\nfound\n{found}\nexpected\n{expected}\n").unwrap();
            }
            rewritten.push(format!("# {name}\n{text}\n----\n{found}\n"));
        }
        if overwrite {
            fs::write(&path, rewritten.join("\n====\n")).unwrap();
        }
    }
    not_evaluated.dedup();
    println!("not evaluated: {}", not_evaluated.join(", "));
    assert!(overwrite || wrong.is_empty(), "{wrong}");
}

#[test]
fn passes_keep_the_values_of_random_modules() {
    let options = Options::computed();
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..cases(SEEDS) {
        let module = random::module(seed, &options);
        let inputs = random::inputs(&module, seed, &options);
        let expected = values_of(&module, &inputs).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        for &pass in PASSES {
            let after = fixed_point(pass, &module)
                .unwrap_or_else(|found| panic!("seed {seed}, {}: {found}\n{}", pass.name(), print(&module)));
            for run in after.runs.iter().filter(|run| run.pass == pass.name()) {
                run.rules().into_iter().for_each(|(rule, count)| *rules.entry(rule).or_default() += count);
            }
            let Some(expected) = expected.as_ref().filter(|_| after.module != module) else { continue };
            compare(expected, &after.module, &inputs)
                .unwrap_or_else(|found| panic!("seed {seed}, {}: {found}\n{}", pass.name(), print(&module)));
        }
    }
    rules.iter().for_each(|(rule, count)| println!("{count:6} {rule}"));
}

/// Conditionals whose branches are all computed yield what they yielded, whatever a branch that is not taken computes.
#[test]
fn branches_that_are_all_computed_keep_the_values_of_random_modules() {
    let mut options = Options { nesting: 3, ..Options::computed() };
    options.operations.extend([Opcode::Conditional; 60]);
    let conditionals = |module: &Module| {
        let instructions = module.computations.values().flat_map(|computation| computation.instructions.values());
        instructions.filter(|instruction| matches!(instruction.op, Op::Conditional { .. })).count()
    };
    let (mut selected, mut kept) = (0, 0);
    for seed in 0..cases(SEEDS) {
        let module = random::module(seed, &options);
        let inputs = random::inputs(&module, seed, &options);
        let Ok(Some(expected)) = values_of(&module, &inputs) else { panic!("seed {seed} is not evaluated") };
        let after = select_branches(&module, &mut |_, _| true);
        verify(&after.module).unwrap_or_else(|found| panic!("seed {seed}: {found}\n{}", print(&after.module)));
        compare(&expected, &after.module, &inputs)
            .unwrap_or_else(|found| panic!("seed {seed}: {found}\n{}", print(&module)));
        assert_eq!(conditionals(&after.module) + after.changes.len(), conditionals(&module), "seed {seed}");
        selected += after.changes.len();
        kept += conditionals(&after.module);
        let none = select_branches(&module, &mut |_, _| false);
        assert_eq!((none.module == module, none.changes.len()), (true, 0), "seed {seed}");
    }
    println!("{selected} conditionals select, {kept} stay");
    assert!(selected > 0);
}

/// The texts of the corpus come to a fixed point too, under the passes that have cases.
#[test]
fn programs_come_to_a_fixed_point() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let programs = fs::read_dir(corpus).unwrap().flat_map(|program| fs::read_dir(program.unwrap().path()).unwrap());
    let mut paths: Vec<PathBuf> = programs.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "hlo"));
    paths.sort();
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for path in paths {
        let module = parse(&fs::read_to_string(&path).unwrap()).unwrap();
        for (_, pass) in files() {
            let after = fixed_point(pass, &module)
                .unwrap_or_else(|found| panic!("{}, {}: {found}", path.display(), pass.name()));
            let count = counts.entry(pass.name()).or_default();
            *count = (count.0 + module.instruction_count(), count.1 + after.module.instruction_count());
        }
    }
    counts.iter().for_each(|(pass, (before, after))| println!("{pass}: {before} instructions, then {after}"));
}
