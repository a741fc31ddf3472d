//! Reading steps.

use super::code::code;
use super::line::Line;
use super::read::Reader;
use crate::Error;
use crate::program::check::Check;
use crate::program::{Ahead, Conditional, Copy, Draw, Exchange, Gate, Host, Launch, Step, Updated, While};
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::Span;

/// Reads steps of a program and checks each.
pub(super) struct Steps<'p> {
    pub(super) check: Check<'p>,
}

impl Steps<'_> {
    /// The steps of a block, behind its first line.
    pub(super) fn block(&self, reader: &mut Reader<'_>) -> Result<Vec<Step>, Error> {
        reader.enter()?;
        let mut steps = Vec::new();
        while !reader.leave()? {
            steps.push(self.step(reader)?);
        }
        Ok(steps)
    }

    fn step(&self, reader: &mut Reader<'_>) -> Result<Step, Error> {
        let first = reader.peek();
        let refused = |reason: String| first.error(reason);
        if let Some(mut line) = reader.accept("launch") {
            let launch = launch(&mut line)?;
            self.check.launch(&launch).map_err(refused)?;
            return Ok(Step::Launch(launch));
        }
        if let Some(mut line) = reader.accept("copy") {
            let from = line.tensor()?;
            line.expect("->")?;
            let copy = Copy { from, to: line.tensor()? };
            line.end()?;
            self.check.copy(&copy).map_err(refused)?;
            return Ok(Step::Copy(copy));
        }
        if let Some(mut line) = reader.accept("draw") {
            let name = line.name()?;
            line.expect("by")?;
            let delta = line.integer()?;
            line.expect("->")?;
            let draw = Draw { name, delta, output: line.tensor()? };
            line.end()?;
            self.check.draw(&draw).map_err(refused)?;
            return Ok(Step::Draw(draw));
        }
        if let Some(line) = reader.accept("while") {
            let step = self.repeated(line, reader)?;
            self.check.repeated(&step).map_err(refused)?;
            return Ok(Step::While(Box::new(step)));
        }
        if let Some(line) = reader.accept("conditional") {
            let step = self.conditional(line, reader)?;
            self.check.conditional(&step).map_err(refused)?;
            return Ok(Step::Conditional(step));
        }
        let Some(line) = reader.accept("host") else {
            return Err(refused("expected `launch`, `copy`, `draw`, `while`, `conditional` or `host`".to_owned()));
        };
        let step = host(line, reader)?;
        self.check.host(&step).map_err(refused)?;
        Ok(Step::Host(step))
    }

    fn repeated(&self, mut line: Line<'_>, reader: &mut Reader<'_>) -> Result<While, Error> {
        let name = line.name()?;
        let trip_count = if line.accept("rounds") { Some(line.count()?) } else { None };
        let flag = if line.accept("flag") { Some(line.tensor()?) } else { None };
        let carried = line.tensors()?;
        let mut ahead = if line.accept("ahead") { Some(Ahead::Kept(line.count()?)) } else { None };
        line.expect("{")?;
        line.end()?;
        reader.enter()?;
        if let Some(mut line) = reader.accept("gate") {
            let gate = gate(&mut line)?;
            if ahead.replace(Ahead::Gated(Box::new(gate))).is_some() {
                return Err(line.error("rounds are handed over in one way"));
            }
        }
        reader.expect_line("condition {")?;
        let condition = self.block(reader)?;
        reader.expect_line("body {")?;
        let body = self.block(reader)?;
        let mut exchanges = Vec::new();
        if let Some(mut line) = reader.accept("exchange") {
            exchanges = line.list(exchange)?;
            line.end()?;
        }
        if !reader.leave()? {
            return Err(reader.peek().error("expected `}`"));
        }
        Ok(While { name, trip_count, condition, flag, carried, body, exchanges, ahead })
    }

    fn conditional(&self, mut line: Line<'_>, reader: &mut Reader<'_>) -> Result<Conditional, Error> {
        let name = line.name()?;
        line.expect("by")?;
        let selector = line.tensor()?;
        line.expect("->")?;
        let outputs = line.tensors()?;
        line.expect("because")?;
        let why = line.name()?;
        line.expect("{")?;
        line.end()?;
        reader.enter()?;
        let mut branches = Vec::new();
        while !reader.leave()? {
            reader.expect_line("branch {")?;
            branches.push(self.block(reader)?);
        }
        Ok(Conditional { name, selector, branches, outputs, why })
    }
}

fn launch(line: &mut Line<'_>) -> Result<Launch, Error> {
    let name = line.name()?;
    let fusion = line.site()?;
    line.expect("kernel")?;
    let shader = line.count()?;
    line.expect("groups")?;
    let workgroups = [line.count()?, line.count()?, line.count()?];
    line.expect("windows")?;
    let windows = line.count()?;
    line.expect("nanoseconds")?;
    let nanoseconds = line.count()?;
    let inputs = line.tensors()?;
    line.expect("->")?;
    let outputs = line.tensors()?;
    let updated = if line.accept("updated") { line.list(updated)? } else { Vec::new() };
    line.end()?;
    Ok(Launch { name, fusion, shader, workgroups, nanoseconds, windows, inputs, outputs, updated })
}

fn updated(line: &mut Line<'_>) -> Result<Updated, Error> {
    let output = line.count()?;
    line.expect("by")?;
    Ok(Updated { output, bytes: line.count()? })
}

fn exchange(line: &mut Line<'_>) -> Result<Exchange, Error> {
    let buffer = line.buffer()?;
    line.expect("<-")?;
    Ok(Exchange { buffer, with: line.buffer()? })
}

fn gate(line: &mut Line<'_>) -> Result<Gate, Error> {
    let most = line.count()?;
    line.expect("launch")?;
    let launch = launch(line)?;
    let [over, rounds, grids] = launch.outputs.as_slice() else {
        return Err(line.error("a gate makes three tensors"));
    };
    let [over, rounds, grids] = [over, rounds, grids].map(Clone::clone);
    Ok(Gate { launch, over, rounds, grids, most })
}

fn host(mut line: Line<'_>, reader: &mut Reader<'_>) -> Result<Host, Error> {
    let inputs = line.tensors()?;
    let constants = if line.accept("given") { line.list(Line::site)? } else { Vec::new() };
    line.expect("->")?;
    let outputs = line.tensors()?;
    line.expect("{")?;
    line.end()?;
    let mut reasons = Vec::new();
    while let Some(mut line) = reader.accept("reason") {
        let (word, _) = line.remaining().split_once(' ').unwrap_or_default();
        let code = code(word).ok_or_else(|| line.error("expected a code, such as HLO401"))?;
        line.expect(word)?;
        let instruction = line.name()?;
        reasons.push(Diagnostic::new(code, Span::default(), line.name()?).about(instruction));
        line.end()?;
    }
    let module = reader.module()?;
    reader.expect_line("}")?;
    Ok(Host { reasons, module, inputs, constants, outputs })
}
