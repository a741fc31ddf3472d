//! What a file holds that is to be run or compiled: a module, or a program that was compiled before.

use crate::args::{File, Passes};
use crate::compiling::Compiling;
use crate::report::Failure;
use crate::source::{self, Source};
use std::sync::Arc;
use weft_hlo::ir::Module;
use weft_runtime::Program;

/// What may be given besides HLO.
pub(crate) const FILES: &str = "FILE may also be a compiled program, as `weft compile --output` and `--whole` write it; then nothing is compiled. \
                                What is compiled is kept on disk and taken from there the next time (`weft cache`), unless --no-cache is given.";

/// A module or a program, with its text for what is told of it.
pub(crate) struct Loaded {
    pub(crate) source: Arc<Source>,
    pub(crate) held: Held,
}

/// What was read.
pub(crate) enum Held {
    /// HLO, which the verifier accepts.
    Module(Box<Module>),
    /// What `weft compile` wrote, as bytes or as text.
    Program(Box<Program>),
}

impl Loaded {
    /// Reads the file, or standard input for `-`.
    pub(crate) fn read(file: &File) -> Result<Loaded, Failure> {
        let (name, bytes) = source::bytes(file)?;
        if Program::is_program(&bytes) {
            let program = Program::from_bytes(&bytes)?;
            // Places in HLO are all that a source is asked for.
            return Ok(Loaded::of(Source::given(&name, ""), program));
        }
        let source = Source::of(name, bytes)?;
        if source.text.starts_with("weft program") {
            let program = Program::parse(&source.text)?;
            return Ok(Loaded::of(source, program));
        }
        let module = source.parse_valid()?;
        Ok(Loaded { source, held: Held::Module(Box::new(module)) })
    }

    fn of(source: Arc<Source>, program: Program) -> Loaded {
        Loaded { source, held: Held::Program(Box::new(program)) }
    }

    /// The module: as it was written, or as the program was compiled from it.
    pub(crate) fn module(&self) -> &Module {
        match &self.held {
            Held::Module(module) => module,
            Held::Program(program) => program.module(),
        }
    }

    /// Refuses what says how to compile, where that is done.
    pub(crate) fn check(&self, passes: &Passes, compiling: &Compiling, names_target: bool) -> Result<(), Failure> {
        let asked = [
            (names_target, "--target, --device of `compile`, --schedule, --no-contraction and --fast-scatter"),
            (passes.no_opt, "--no-opt"),
            (passes.explain, "--explain"),
            (compiling.no_host, "--no-host"),
            (compiling.donate.is_some(), "--donate"),
        ];
        match (&self.held, asked.into_iter().find(|(is_asked, _)| *is_asked)) {
            (Held::Program(_), Some((_, option))) => {
                let name = &self.source.name;
                Err(Failure::Misuse(format!("{name} is compiled already; for {option} take the module")))
            }
            _ => Ok(()),
        }
    }
}
