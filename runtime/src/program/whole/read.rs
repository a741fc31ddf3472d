//! Reading all of a program.

use super::line::Line;
use super::steps::Steps;
use super::{FIRST, MAX_DEPTH};
use crate::Error;
use crate::program::check::{Check, Origin};
use crate::program::{Buffer, BufferKind, LoopDecision, Place, Program, front};
use std::str::FromStr;
use weft_codegen_wgsl::{Content, Contents, Held, Shader};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::Module;
use weft_partition::Target;

impl Program {
    /// Reads what [`Program::text`] writes: the same program again, without the findings of passes. The text may come from anywhere. Kernels are
    /// verified, written as WGSL and validated anew; what a device relies on is checked, so a text may be senseless but never harmful. Senseless
    /// is a program that reads a buffer before it writes it: what it finds there is whatever an earlier run on the same device left.
    ///
    /// # Errors
    /// [`Error::ProgramText`] with the first line that is wrong, and why.
    pub fn parse(text: &str) -> Result<Program, Error> {
        read_with(text, Kernels::Told)
    }
}

/// As [`Program::parse`].
impl FromStr for Program {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Program::parse(text)
    }
}

/// Where the kernels of a program are.
pub(crate) enum Kernels {
    /// In the text.
    Told,
    /// Here, from this very build; the text is its own too.
    Given(Vec<Shader>),
}

/// The program of a text.
///
/// # Errors
/// As [`Program::parse`].
pub(crate) fn read_with(text: &str, kernels: Kernels) -> Result<Program, Error> {
    Reader { lines: text.lines().collect(), at: 0, depth: 0 }.program(kernels)
}

/// Lines, of which some are read.
pub(super) struct Reader<'t> {
    lines: Vec<&'t str>,
    at: usize,
    /// How many blocks stand around what is read.
    depth: usize,
}

impl<'t> Reader<'t> {
    /// The line that is next, which stays so; an empty one behind the last.
    pub(super) fn peek(&self) -> Line<'t> {
        Line::new(self.lines.get(self.at).copied().unwrap_or_default(), self.at + 1)
    }

    /// The line that is next, if it begins with this word.
    pub(super) fn accept(&mut self, word: &str) -> Option<Line<'t>> {
        let mut line = self.peek();
        line.accept(word).then(|| {
            self.at += 1;
            line
        })
    }

    /// The line that is next, behind the word that it begins with.
    pub(super) fn expect(&mut self, word: &str) -> Result<Line<'t>, Error> {
        let mut line = self.peek();
        line.expect(word)?;
        self.at += 1;
        Ok(line)
    }

    /// A line that is this and nothing else.
    pub(super) fn expect_line(&mut self, text: &str) -> Result<(), Error> {
        self.expect(text)?.end()
    }

    /// Goes into a block, whose first line was read.
    pub(super) fn enter(&mut self) -> Result<(), Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.peek().error(format!("more than {MAX_DEPTH} blocks stand within one another")));
        }
        self.depth += 1;
        Ok(())
    }

    /// Whether a block ends here, which is left then.
    pub(super) fn leave(&mut self) -> Result<bool, Error> {
        let Some(line) = self.accept("}") else { return Ok(false) };
        self.depth = self.depth.saturating_sub(1);
        line.end().map(|()| true)
    }

    /// The text of another language that stands here, and the number of its first line.
    fn foreign(&mut self) -> (String, usize) {
        let (mut text, first) = (String::new(), self.at + 1);
        while let Some(line) = self.lines.get(self.at).and_then(|line| line.trim_start().strip_prefix('|')) {
            text += line.strip_prefix(' ').unwrap_or(line);
            text.push('\n');
            self.at += 1;
        }
        (text, first)
    }

    /// The module that stands here.
    pub(super) fn module(&mut self) -> Result<Module, Error> {
        let (text, first) = self.foreign();
        weft_hlo::text::parse(&text).map_err(|found| at(first, &found.locate(&text)))
    }

    fn program(mut self, kernels: Kernels) -> Result<Program, Error> {
        let origin = match kernels {
            Kernels::Told => Origin::Foreign,
            Kernels::Given(_) => Origin::Own,
        };
        self.expect_line(FIRST)?;
        let line = self.expect("target")?;
        let target: Target =
            serde_json::from_str(line.remaining()).map_err(|error| line.error(format!("no target: {error}")))?;
        let head = self.expect("module")?;
        head.end()?;
        let module = self.module()?;
        if origin == Origin::Foreign {
            weft_hlo::verify::verify(&module).map_err(|found| head.error(found.to_string()))?;
        }
        let mut program = Program {
            module,
            target,
            shaders: Vec::new(),
            steps: Vec::new(),
            buffers: Vec::new(),
            parameters: Vec::new(),
            constants: Vec::new(),
            results: Vec::new(),
            sizes: Vec::new(),
            temporaries_without_reuse: 0,
            least: 0,
            passes: Vec::new(),
            loops: Vec::new(),
            is_foreign: origin == Origin::Foreign,
        };
        while let Some(line) = self.accept("buffer") {
            program.buffers.push(buffer(line)?);
        }
        while let Some(mut line) = self.accept("parameter") {
            program.parameters.push(line.tensor()?);
            line.end()?;
        }
        while let Some(mut line) = self.accept("constant") {
            program.constants.push((line.site()?, line.tensor()?));
            line.end()?;
        }
        while let Some(mut line) = self.accept("result") {
            program.results.push(line.tensor()?);
            line.end()?;
        }
        while let Some(mut line) = self.accept("sizes") {
            program.sizes.push(line.list(Line::count)?);
            line.end()?;
        }
        let mut line = self.expect("memory")?;
        program.temporaries_without_reuse = line.count()?;
        ["without", "reuse", ","].into_iter().try_for_each(|word| line.expect(word))?;
        program.least = line.count()?;
        line.expect("live")?;
        line.end()?;
        while let Some(mut line) = self.accept("loop") {
            program.loops.push(decision(&mut line)?);
            line.end()?;
        }
        Check { program: &program, origin }.declarations().map_err(|reason| line.error(reason))?;
        program.shaders = match kernels {
            Kernels::Told => self.kernels(&program.target)?,
            Kernels::Given(shaders) => shaders,
        };
        let head = self.peek();
        self.expect_line("steps {")?;
        program.steps = Steps { check: Check { program: &program, origin } }.block(&mut self)?;
        program.check_arenas().map_err(|reason| head.error(reason))?;
        match self.peek() {
            line if self.at < self.lines.len() => Err(line.error("the program has ended before")),
            _ => Ok(program),
        }
    }

    fn kernels(&mut self, target: &Target) -> Result<Vec<Shader>, Error> {
        let (mut told, mut places) = (Vec::new(), Vec::new());
        while let Some(mut line) = self.accept("kernel") {
            line.expect("(")?;
            let contents = if line.accept(")") {
                Vec::new()
            } else {
                let contents = line.list(contents)?;
                line.expect(")")?;
                contents
            };
            line.end()?;
            let (text, first) = self.foreign();
            told.push((text, contents));
            places.push(first);
        }
        let made = front::kernels_of_texts(&told, target).into_iter().zip(places);
        made.map(|(shader, first)| shader.map_err(|found| at(first, &found))).collect()
    }
}

/// The first of the findings in a text that begins in this line.
fn at(first: usize, findings: &Diagnostics) -> Error {
    let finding = findings.0.first();
    let line = finding.and_then(|finding| finding.position).map_or(1, |(line, _)| line);
    let reason = finding.map_or_else(String::new, |finding| format!("{}: {}", finding.code, finding.message));
    Error::ProgramText { line: first + line - 1, reason }
}

fn buffer(mut line: Line<'_>) -> Result<Buffer, Error> {
    let bytes = line.count()?;
    let kind = if line.accept("parameter") {
        BufferKind::Parameter(line.count()?)
    } else if line.accept("donated") {
        BufferKind::Donated(line.count()?)
    } else if line.accept("constant") {
        BufferKind::Constant(line.count()?)
    } else if line.accept("sizes") {
        BufferKind::Sizes(line.count()?)
    } else if line.accept("result") {
        BufferKind::Result
    } else {
        line.expect("temporary")?;
        BufferKind::Temporary
    };
    let place = if line.accept("in") {
        line.expect("arena")?;
        let arena = line.count()?;
        line.expect("at")?;
        Some(Place { arena, offset: line.count()? })
    } else {
        None
    };
    line.end()?;
    Ok(Buffer { kind, bytes, place })
}

fn decision(line: &mut Line<'_>) -> Result<LoopDecision, Error> {
    let name = line.name()?;
    let is_kernel = line.accept("kernel");
    if !is_kernel {
        line.expect("steps")?;
    }
    Ok(LoopDecision { name, is_kernel, reason: line.name()? })
}

fn contents(line: &mut Line<'_>) -> Result<Contents, Error> {
    if !line.accept("[") {
        return content(line).map(Contents::Tensor);
    }
    let tensors = line.list(held)?;
    line.expect("]")?;
    Ok(Contents::Arena(tensors))
}

fn held(line: &mut Line<'_>) -> Result<Held, Error> {
    let content = content(line)?;
    let shape = line.shape()?;
    line.expect("at")?;
    Ok(Held { content, shape, offset: line.count()? })
}

fn content(line: &mut Line<'_>) -> Result<Content, Error> {
    if line.accept("operand") {
        return line.count().map(Content::Operand);
    }
    if line.accept("result") {
        return line.count().map(Content::Result);
    }
    line.expect("updated")?;
    let result = line.count()?;
    line.expect("from")?;
    let operand = line.count()?;
    line.expect("by")?;
    Ok(Content::Updated { result, operand, elements: line.count()? })
}
