//! How a program is compiled, as the command line says it.

use crate::args::Passes;
use crate::progress::Progress;
use clap::Args;
use std::collections::BTreeSet;
use weft_hlo::ir::Module;
use weft_partition::Target;
use weft_runtime::program::Donated;
use weft_runtime::{Cache, Error, Options, Program, Watch, compile_watched};

/// What the compiler may do with a program.
#[derive(Args, Debug)]
pub(crate) struct Compiling {
    /// Refuse a program of which the host would compute something, between kernels, with all of it: what has no kernel
    #[arg(long)]
    pub(crate) no_host: bool,
    /// Let the program put values of its own where these arguments lie: numbers as in `0,2`, elements of tuples counted one by one, or
    /// `all`; besides those that the program itself gives (`input_output_alias`, `buffer_donor`)
    #[arg(long, value_name = "NUMBERS", value_parser = donated)]
    pub(crate) donate: Option<Donated>,
    /// Compile even if the program was compiled before and kept on disk, and keep nothing: see `weft cache`
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Say on standard error how many kernels are compiled and how many rounds of loops are made, a line a second at most, also where that is no
    /// terminal
    #[arg(long)]
    pub(crate) progress: bool,
    /// Refuse a program that takes more device memory than this at its peak, in bytes, or with `KiB`, `MiB` or `GiB` behind the number; `run` frees
    /// idle memory of the device beyond that, too
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) memory_budget: Option<u64>,
}

impl Compiling {
    /// What the library is asked for.
    pub(crate) fn options(&self, passes: &Passes) -> Options {
        let donated = self.donate.clone().unwrap_or_default();
        Options { host: !self.no_host, donated, memory_budget: self.memory_budget, ..passes.options() }
    }

    /// Compiles a module, or takes from the cache what was compiled before, unless something is asked for that is not kept there.
    pub(crate) fn compile(&self, passes: &Passes, module: &Module, target: &Target) -> Result<Compiled, Error> {
        let options = self.options(passes);
        let cache = if self.no_cache || passes.explain { None } else { Cache::user() };
        let progress = Progress::asked_for("compiling", self.progress);
        let watch = progress.watch_device().unwrap_or_else(|| Watch::new(|_| {}));
        match cache {
            Some(cache) => {
                let cached = cache.compile_watched(module, target, &options, &watch)?;
                Ok(Compiled { program: cached.program, is_found: Some(cached.is_found) })
            }
            None => Ok(Compiled { program: compile_watched(module, target, &options, &watch)?, is_found: None }),
        }
    }
}

/// A program, and whether it was found in the cache; `None` where none was looked into.
pub(crate) struct Compiled {
    pub(crate) program: Program,
    pub(crate) is_found: Option<bool>,
}

fn bytes(text: &str) -> Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let unit = units.into_iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (number, shift) = unit.unwrap_or((text, 0));
    let bytes = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| format!("`{text}` is no number of bytes, such as 1000000 or 512MiB"))
}

fn donated(text: &str) -> Result<Donated, String> {
    if text == "all" {
        return Ok(Donated::All);
    }
    let number = |word: &str| {
        word.trim()
            .parse::<usize>()
            .map_err(|_| format!("`{word}` is no number of an argument; `all` means all of them"))
    };
    text.split(',').map(number).collect::<Result<BTreeSet<usize>, String>>().map(Donated::Also)
}
