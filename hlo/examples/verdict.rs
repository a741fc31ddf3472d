//! Parses and verifies the texts of standard input, each after a line with its length in bytes, and prints a line for
//! each: `ok`, or the findings joined by ` | `.
//!
//! `tests/jaxlib/compare.py` compares these verdicts with those of XLA's own reader.

use std::io::{BufRead, Read, Write};
use weft_hlo::text::parse;
use weft_hlo::verify::verify;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut text = vec![0; line.trim().parse()?];
        input.read_exact(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let findings = match parse(&text) {
            Ok(module) => verify(&module).map_err(|found| ("verify", found.0)),
            Err(found) => Err(("parse", found.0)),
        };
        match findings {
            Ok(()) => writeln!(output, "ok")?,
            Err((stage, found)) => {
                let found: Vec<String> = found.iter().map(|found| found.to_string().replace('\n', " ")).collect();
                writeln!(output, "{stage}: {}", found.join(" | "))?;
            }
        }
        output.flush()?;
    }
}
