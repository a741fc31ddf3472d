//! The verifier: whether a module means something.
//!
//! It checks structure (operands before users, callees before callers, parameters numbered, roots and names), the
//! shape of every value against the [shape function](crate::shape) of its operation, layouts, the signatures of called
//! computations and the module's entry layout. It reports everything it finds, in the order of the module, each finding
//! with a [code], the instruction and its span.
//!
//! Operations and element types that are read and printed without being understood are findings of their own
//! (`HLO190` and up); [`Options::allow_unknown`] leaves them out, to check only what has a rule.

pub mod code;
mod entry_layout;
mod leaves;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Arena, ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op, Shape, Span};
use crate::shape::{check_bounded, infer};
use std::collections::BTreeSet;

/// What the verifier lets pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether operations, element types and dynamic dimensions that no rule covers are let pass unchecked.
    pub allow_unknown: bool,
}

/// Checks the whole module; what no rule covers is a finding.
///
/// # Errors
/// All findings.
pub fn verify(module: &Module) -> Result<(), Diagnostics> {
    verify_with(module, &Options::default())
}

/// Checks the whole module.
///
/// # Errors
/// All findings.
pub fn verify_with(module: &Module, options: &Options) -> Result<(), Diagnostics> {
    let mut verifier = Verifier { module, options, findings: Vec::new() };
    verifier.module();
    if verifier.findings.is_empty() { Ok(()) } else { Err(Diagnostics(verifier.findings)) }
}

struct Verifier<'a> {
    module: &'a Module,
    options: &'a Options,
    findings: Vec<Diagnostic>,
}

impl Verifier<'_> {
    fn module(&mut self) {
        let mut names = BTreeSet::new();
        for (id, computation) in self.module.computations.iter() {
            if !names.insert(computation.name.as_str()) {
                let message = format!("the module has two computations of the name {}", computation.name);
                self.findings.push(Diagnostic::new(code::NAME, computation.span, message).about(&computation.name));
            }
            self.computation(id, computation);
        }
        match self.module.computations.get(self.module.entry) {
            None => {
                self.findings.push(Diagnostic::new(code::ROOT, Span::default(), "the module has no entry computation"));
            }
            Some(entry) => {
                if let Some(message) = entry_layout::mismatch(self.module, entry) {
                    self.findings.push(Diagnostic::new(code::ENTRY_LAYOUT, entry.span, message).about(&entry.name));
                }
            }
        }
    }

    fn computation(&mut self, id: ComputationId, computation: &Computation) {
        let mut names = BTreeSet::new();
        for (instr, instruction) in computation.instructions.iter() {
            let place = Place { computation, instruction };
            if !names.insert(instruction.name.as_str()) {
                let message = format!("the computation has two instructions of the name {}", instruction.name);
                self.findings.push(place.finding(code::NAME, message));
            }
            self.instruction(id, instr, &place);
        }
        self.parameters(computation);
        if computation.instructions.get(computation.root).is_none() {
            let message = format!("{} has no root", computation.name);
            self.findings.push(Diagnostic::new(code::ROOT, computation.span, message).about(&computation.name));
        }
    }

    /// Numbers are 0, 1, 2, … once each. Reported where a number is wrong; a gap is reported at the number after it.
    fn parameters(&mut self, computation: &Computation) {
        for (expected, id) in computation.parameters().into_iter().enumerate() {
            let instruction = &computation.instructions[id];
            let Op::Parameter { number } = instruction.op else { continue };
            if i64::try_from(expected) != Ok(number) {
                let message = format!(
                    "parameters are numbered 0, 1, 2, … once each; this one has number {number} where {expected} is next"
                );
                self.findings.push(Place { computation, instruction }.finding(code::PARAMETER_NUMBERS, message));
                // The numbers after a gap or a repetition are all shifted; one finding says it.
                return;
            }
        }
    }

    fn instruction(&mut self, computation_id: ComputationId, id: InstrId, place: &Place<'_>) {
        let instruction = place.instruction;
        for leaf in instruction.shape.leaves() {
            if let Some((code, message)) = leaves::fault(leaf) {
                self.findings.push(place.finding(code, message));
            }
        }
        let operands = self.operands(id, place);
        self.callees(computation_id, place);
        if !self.options.allow_unknown
            && let Some((code, message)) = leaves::unknown(instruction, operands.as_deref().unwrap_or_default())
        {
            self.findings.push(place.finding(code, message));
        }
        // Without sound operands nothing follows from them.
        let Some(operands) = operands else { return };
        if leaves::is_dynamic(instruction, &operands) {
            // Of bounded extents only what is wrong for all of them is found here; the rest is known when they are.
            if let Err(found) = check_bounded(self.module, &instruction.op, &operands, &instruction.shape) {
                self.findings.extend(place.of(found));
            }
            return;
        }
        match infer(self.module, &instruction.op, &operands, &instruction.shape) {
            Err(found) => self.findings.extend(place.of(found)),
            Ok(shape) if !shape.is_compatible(&instruction.shape) => {
                let declared = instruction.shape.without_layout();
                let message = format!("{} yields {shape}, the text says {declared}", instruction.op.opcode());
                self.findings.push(place.finding(code::RESULT_SHAPE, message));
            }
            Ok(_) => {}
        }
    }

    /// The shapes of the operands, if all of them precede the instruction.
    fn operands<'a>(&mut self, id: InstrId, place: &Place<'a>) -> Option<Vec<&'a Shape>> {
        let mut shapes = Vec::with_capacity(place.instruction.operands.len());
        for (position, &operand) in place.instruction.operands.iter().enumerate() {
            match place.computation.instructions.get(operand) {
                Some(instruction) if operand < id => shapes.push(&instruction.shape),
                found => {
                    let name = found.map_or("an instruction that does not exist", |other| other.name.as_str());
                    let message = format!("operand {position} must precede its user, and is {name}");
                    self.findings.push(place.finding(code::OPERAND_ORDER, message));
                }
            }
        }
        (shapes.len() == place.instruction.operands.len()).then_some(shapes)
    }

    fn callees(&mut self, caller: ComputationId, place: &Place<'_>) {
        for callee in place.instruction.op.called_computations() {
            if callee < caller && callee.index() < self.module.computations.len() {
                continue;
            }
            let name = name_of(&self.module.computations, callee);
            let message = format!("a computation that is called must precede its caller; {name} does not");
            self.findings.push(place.finding(code::CALL_ORDER, message));
        }
    }
}

fn name_of(computations: &Arena<ComputationId, Computation>, id: ComputationId) -> &str {
    computations.get(id).map_or("a computation that does not exist", |computation| computation.name.as_str())
}

/// An instruction and where it stands.
struct Place<'a> {
    computation: &'a Computation,
    instruction: &'a Instruction,
}

impl Place<'_> {
    fn name(&self) -> String {
        format!("{}/{}", self.computation.name, self.instruction.name)
    }

    /// Findings of a rule, which does not know where.
    fn of(&self, found: Diagnostics) -> impl Iterator<Item = Diagnostic> {
        let (span, name) = (self.instruction.span, self.name());
        found.0.into_iter().map(move |finding| Diagnostic { span, ..finding.about(name.clone()) })
    }

    fn finding(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.instruction.span, message).about(self.name())
    }
}
