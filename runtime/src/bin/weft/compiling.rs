//! How a program is compiled, as the command line says it.

use crate::args::Passes;
use clap::Args;
use std::collections::BTreeSet;
use weft_runtime::Options;
use weft_runtime::program::Donated;

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
}

impl Compiling {
    /// What the library is asked for.
    pub(crate) fn options(&self, passes: &Passes) -> Options {
        let donated = self.donate.clone().unwrap_or_default();
        Options { host: !self.no_host, donated, ..passes.options() }
    }
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
