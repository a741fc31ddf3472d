//! The verifier.
//!
//! It checks structure (operands before users, callees before callers, parameters numbered, roots and names), every
//! operation against its [rule](self#rules), layouts, the pairing of asynchronous operations, control
//! predecessors, and the header. It reports everything it finds, in the order of the module, each finding with a [code],
//! the instruction and its span. Operands are taken for what the text says they are, right or wrong; what else follows
//! only from another finding is not reported.
//!
//! It knows every operation and every element type; whether something can be evaluated or compiled is no question of
//! meaning and is answered by [`eval::check`](crate::eval::check) and by the compiler. Time and memory are linear in the
//! module and the signatures of its calls.
//!
//! # Rules
//!
//! The rules of `rules/` are those of XLA's operation semantics document: number, kinds and element types of operands,
//! legality of attributes as far as no rank or extent decides it, signatures of computations, types of results. All rules
//! about ranks and extents are those of the [shape functions](crate::shape), and extents follow from them; the few
//! operations that have none ([`Library::without`](crate::shape::function::Library::without)) yield what the text gives
//! them, custom calls unless [`verify_by`] is given a function for their target. HLO text has no implicit broadcasting and
//! no implicit conversions, and the rules have none but for products (`dot`, `convolution`): their factors become numbers of
//! the result's kind, an integer a float or a complex number, never the other way round.
//!
//! The codes of findings, and what each means, are the constants of [`code`].

mod extents;
mod header;
mod inference;
mod order;
mod pairing;
mod rules;
mod shapes;

pub use crate::diagnostic::code;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Arena, ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op, Shape, Span};
use crate::shape::function::Library;
use crate::shape::{InferenceCache, InstructionAttributes, called_result, standard_library};
use extents::{Extents, agree, extents};
pub(crate) use inference::{ShapeInference, Unknown};
use rules::{Expected, Rule};
use shapes::ShortShape;
use std::collections::HashSet;

/// Checks the whole module.
///
/// # Errors
/// All findings.
pub fn verify(module: &Module) -> Result<(), Diagnostics> {
    verify_by(module, standard_library())
}

/// As [`verify`], with extents by the functions of `library`: a clone of the
/// [standard library](crate::shape::standard_library) that has functions for custom calls checks these too.
///
/// # Errors
/// All findings.
///
/// ```
/// use weft_hlo::{shape, text, verify};
///
/// let mut library = shape::standard_library().clone();
/// library.extend_from_text(
///     "shape.function_library @mine {
///        func.func @halves(%x: !shape.value_shape) -> !shape.shape {
///          %zero = shape.const_size 0
///          %two = shape.const_size 2
///          %shape = shape.shape_of %x
///          %extent = shape.get_extent %shape, %zero
///          %rest = shape.mod %extent, %two
///          %even = shape.meet %rest, %zero, error=\"the extent must be even\"
///          %half = shape.div %extent, %two
///          %result = shape.from_extents %half
///          return %result
///        }
///      } mapping { halves = @halves }",
/// )?;
/// let verify = |operand: u32, result: u32| {
///     let call = format!("f32[{result}] custom-call(x), custom_call_target=\"halves\"");
///     let module = text::parse(&format!("ENTRY e {{\n  x = f32[{operand}] parameter(0)\n  ROOT y = {call}\n}}\n"))?;
///     verify::verify_by(&module, &library)
/// };
/// assert_eq!(verify(6, 3), Ok(()));
/// assert_eq!(verify(6, 4).unwrap_err().0[0].message, "custom-call yields f32[3], the text says f32[4]");
/// assert_eq!(
///     verify(5, 2).unwrap_err().0[0].message,
///     "custom-call: the extent must be even; the operand has extents [5]"
/// );
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn verify_by(module: &Module, library: &Library) -> Result<(), Diagnostics> {
    let parameters = module.computations.values().map(Computation::parameters).collect();
    let mut verifier = Verifier { module, parameters, cache: InferenceCache::new(library), findings: Vec::new() };
    verifier.module();
    if verifier.findings.is_empty() { Ok(()) } else { Err(Diagnostics(verifier.findings)) }
}

struct Verifier<'a> {
    module: &'a Module,
    /// The parameters of each computation, by number.
    parameters: Vec<Vec<InstrId>>,
    cache: InferenceCache<'a>,
    findings: Vec<Diagnostic>,
}

impl Verifier<'_> {
    fn module(&mut self) {
        let mut names = HashSet::with_capacity(self.module.computations.len());
        let mut entry_is_sound = true;
        let mut shared = pairing::shared(self.module).into_iter().peekable();
        for (id, computation) in self.module.computations.iter() {
            if !names.insert(computation.name.as_str()) {
                let message = format!("the module has two computations of the name {}", computation.name);
                self.findings.push(Diagnostic::new(code::NAME, computation.span, message).about(&computation.name));
            }
            let faulty = self.computation(id, computation);
            if id == self.module.entry {
                let mut signature = self.parameters[id.index()].iter().chain([&computation.root]);
                entry_is_sound = !signature.any(|id| faulty.get(id.index()).is_none_or(|faulty| *faulty));
            }
            let mut ordered = Vec::new();
            order::control(computation, &mut ordered);
            pairing::check(self.module, computation, &faulty, &mut ordered);
            ordered
                .extend(std::iter::from_fn(|| shared.next_if(|(owner, _)| *owner == id)).map(|(_, finding)| finding));
            self.findings.extend(ordered.into_iter().map(|(id, code, message)| {
                Location { computation, instruction: &computation.instructions[id] }.finding(code, message)
            }));
        }
        match self.module.computations.get(self.module.entry) {
            None => {
                self.findings.push(Diagnostic::new(code::ROOT, Span::default(), "the module has no entry computation"));
            }
            Some(entry) => {
                // Of a signature that is wrong already the header may well say something else.
                let layout = header::mismatch(self.module, entry).filter(|_| entry_is_sound);
                let layout = layout.map(|message| (code::ENTRY_LAYOUT, message));
                let faults = layout.into_iter().chain(header::faults(self.module, entry));
                self.findings.extend(
                    faults.map(|(code, message)| Diagnostic::new(code, entry.span, message).about(&entry.name)),
                );
            }
        }
    }

    /// Checks a computation by itself; which of its instructions something was found about.
    fn computation(&mut self, id: ComputationId, computation: &Computation) -> Vec<bool> {
        let mut faulty = Vec::with_capacity(computation.instructions.len());
        let mut names = HashSet::with_capacity(computation.instructions.len());
        let mut possible = Vec::with_capacity(computation.instructions.len());
        for (instr, instruction) in computation.instructions.iter() {
            let place = Location { computation, instruction };
            let before = self.findings.len();
            if !names.insert(instruction.name.as_str()) {
                let message = format!("the computation has two instructions of the name {}", instruction.name);
                self.findings.push(place.finding(code::NAME, message));
            }
            possible.push(self.shape(&place));
            let operands = self.operands(instr, &place);
            let callable = self.callees(id, &place);
            // From operands and computations that do not exist, and from shapes that cannot, nothing follows.
            let sound = callable
                && possible[instr.index()]
                && instruction
                    .operands
                    .iter()
                    .all(|operand| possible.get(operand.index()).is_some_and(|possible| *possible));
            if let Some(operands) = operands.filter(|_| sound) {
                self.instruction(&operands, &place);
            }
            faulty.push(self.findings.len() > before);
        }
        if let Some(parameter) = self.parameters(id, computation) {
            faulty[parameter.index()] = true;
        }
        if computation.instructions.get(computation.root).is_none() {
            let message = format!("{} has no root", computation.name);
            self.findings.push(Diagnostic::new(code::ROOT, computation.span, message).about(&computation.name));
        }
        faulty
    }

    /// Numbers are 0, 1, 2, … once each. Reported where a number is wrong; a gap is reported at the number after it.
    fn parameters(&mut self, id: ComputationId, computation: &Computation) -> Option<InstrId> {
        for (expected, &id) in self.parameters[id.index()].iter().enumerate() {
            let instruction = &computation.instructions[id];
            let Op::Parameter { number } = instruction.op else { continue };
            if i64::try_from(expected) != Ok(number) {
                let message = format!(
                    "parameters are numbered 0, 1, 2, … once each; this one has number {number} where {expected} is next"
                );
                self.findings.push(Location { computation, instruction }.finding(code::PARAMETER_NUMBERS, message));
                // The numbers after a gap or a repetition are all shifted; one finding says it.
                return Some(id);
            }
        }
        None
    }

    /// Whether a value of this shape can exist.
    fn shape(&mut self, place: &Location<'_>) -> bool {
        let before = self.findings.len();
        let faults = place.instruction.shape.leaves().into_iter().filter_map(shapes::fault);
        self.findings.extend(faults.map(|(code, message)| place.finding(code, message)));
        self.findings.len() == before
    }

    /// Checks an instruction against the rule of its operation and the extents that follow.
    fn instruction(&mut self, operands: &[&Shape], place: &Location<'_>) {
        let found = instruction_faults(self.module, &self.parameters, &self.cache, place.instruction, operands);
        self.findings.extend(found.into_iter().map(|(code, message)| place.finding(code, message)));
    }

    /// The shapes of the operands, if all of them precede the instruction.
    fn operands<'a>(&mut self, id: InstrId, place: &Location<'a>) -> Option<Vec<&'a Shape>> {
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

    /// Whether all computations that are called can be.
    fn callees(&mut self, caller: ComputationId, place: &Location<'_>) -> bool {
        let mut callable = true;
        let mut called = place.instruction.op.called_computations();
        called.sort_unstable();
        called.dedup();
        for callee in called {
            match self.module.computations.get(callee).filter(|_| callee < caller) {
                // That it has no root is reported where it stands.
                Some(computation) => callable &= computation.instructions.get(computation.root).is_some(),
                None => {
                    callable = false;
                    let name = name_of(&self.module.computations, callee);
                    let message = format!("a computation that is called must precede its caller; {name} does not");
                    self.findings.push(place.finding(code::CALL_ORDER, message));
                }
            }
        }
        callable
    }
}

/// What is wrong with an instruction of these operands: by the rule of its operation, and by the extents that follow.
/// `parameters` are those of each computation of the module, by number.
fn instruction_faults(
    module: &Module,
    parameters: &[Vec<InstrId>],
    cache: &InferenceCache<'_>,
    instruction: &Instruction,
    operands: &[&Shape],
) -> Vec<(&'static str, String)> {
    let (op, declared) = (&instruction.op, &instruction.shape);
    let mut rule = Rule { module, parameters, instruction, op, operands, declared, findings: Vec::new(), sound: true };
    let expected = rules::check(&mut rule);
    let Rule { findings: mut found, sound, .. } = rule;
    let called = called_result(module, op);
    let partitions = module.num_partitions().unwrap_or(1);
    let asked = InstructionAttributes { op, operands, declared, called, partitions };
    let differs = !expected.admits(declared);
    // Where the text has another kind of value, there are no extents to compare.
    let other_kind = match &expected {
        Expected::Same(_) => differs,
        Expected::Tuple(_) => declared.as_tuple().is_none(),
        _ => false,
    };
    let asks = sound && !other_kind;
    let agrees = !asks || (!differs && agree(cache, &asked));
    let known = if agrees { Extents::Open } else { extents(cache, &asked) };
    let yielded = match known {
        Extents::Known(shape) if differs || !shape.is_compatible(declared) => {
            // Where the text has another kind of value, there are no extents to put into the shape expected.
            let shape = expected.of_extents(&shape);
            Some(if expected.admits(&shape) { ShortShape(&shape).to_string() } else { expected.to_string() })
        }
        Extents::Known(_) => None,
        Extents::Apart(shape) => {
            Some(if expected.admits(&shape) { ShortShape(&shape).to_string() } else { expected.to_string() })
        }
        Extents::Refused(refused) => {
            found.extend(refused.0.into_iter().map(|finding| (finding.code, finding.message)));
            differs.then(|| expected.to_string())
        }
        Extents::Open => differs.then(|| expected.to_string()),
    };
    if let Some(yielded) = yielded {
        let declared = ShortShape(declared);
        let message = format!("{} yields {yielded}, the text says {declared}", op.name());
        found.push((code::RESULT_SHAPE, message));
    }
    // A number that is wrong twice in one attribute is one finding.
    found.dedup();
    found
}

fn name_of(computations: &Arena<ComputationId, Computation>, id: ComputationId) -> &str {
    computations.get(id).map_or("a computation that does not exist", |computation| computation.name.as_str())
}

/// An instruction and where it stands.
struct Location<'a> {
    computation: &'a Computation,
    instruction: &'a Instruction,
}

impl Location<'_> {
    fn name(&self) -> String {
        format!("{}/{}", self.computation.name, self.instruction.name)
    }

    fn finding(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.instruction.span, message).about(self.name())
    }
}
