//! Specialization: gives a module whose extents are partly unknown the extents of one run.
//!
//! Every extent that is not static, `?` or `<=N`, is an unknown. What the parameters are given, what each operation's
//! [shape function](crate::shape) demands, and that what is handed to a computation is what it takes, are equations
//! between them; they are solved in passes over the instructions until nothing new follows. So also the extents of a
//! `broadcast` or a `reshape` come out, which follow from what the value is used for rather than from its operand.

mod equations;
mod instance;
mod rebuild;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{ArrayShape, Instruction, Module, Op, Shape, Span};
use crate::shape::function::Library;
use crate::verify::verify;
use equations::Equations;
use instance::Instances;
use std::collections::BTreeMap;

/// Something is wrong with what a parameter is given.
const PARAMETER: &str = "HLO320";
/// An extent does not follow from what is given.
const OPEN: &str = "HLO321";
/// An extent exceeds its bound, or is negative.
const BOUND: &str = "HLO322";
/// Specializing would make too many copies of computations.
const COPIES: &str = "HLO323";

/// The module as plain static HLO, with the entry's parameters of the shapes in `given`, by name. A parameter that is not
/// named keeps the extents it has; where these are unknown, they must follow from the others.
///
/// `library` has the shape functions; [`standard_library`](crate::shape::standard_library) has those of HLO's operations.
/// A computation that is called with different extents is copied for each. The result verifies.
///
/// # Errors
/// `HLO320` for a shape that its parameter cannot have, `HLO321` for an extent that does not follow (such as one that
/// depends on values at run time), `HLO322` for one beyond its bound, `HLO323` if there would be more than 65,536 copies of
/// computations, and what the verifier finds wrong with the specialized module.
///
/// ```
/// use std::collections::BTreeMap;
/// use weft_hlo::ir::{ElementType, Shape};
/// use weft_hlo::{passes, shape, text};
///
/// let module = text::parse(
///     "HloModule m\n\nENTRY e {\n  x = f32[?,3] parameter(0)\n  ROOT y = f32[?,3] negate(x)\n}\n",
/// )?;
/// let given = BTreeMap::from([("x".to_owned(), Shape::array(ElementType::F32, [5, 3]))]);
/// let module = passes::specialize(&module, &given, shape::standard_library())?;
/// assert_eq!(module.entry_computation().result_shape().to_string(), "f32[5,3]");
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn specialize(module: &Module, given: &BTreeMap<String, Shape>, library: &Library) -> Result<Module, Diagnostics> {
    check_given(module, given)?;
    let instances = Instances::new(module)?;
    let mut equations = Equations::new(module, &instances);
    equations.give(given);
    equations.solve(library);
    let specialized = rebuild::rebuild(module, &instances, &mut equations)?;
    verify(&specialized)?;
    Ok(specialized)
}

/// Whether every shape in `given` is one that the parameter may have.
fn check_given(module: &Module, given: &BTreeMap<String, Shape>) -> Result<(), Diagnostics> {
    let entry = module.entry_computation();
    let mut findings = Vec::new();
    for (name, shape) in given {
        let parameter = entry
            .instructions
            .values()
            .find(|instruction| instruction.name == *name && matches!(instruction.op, Op::Parameter { .. }));
        let Some(parameter) = parameter else {
            let message = format!("the entry computation has no parameter {name}");
            findings.push(Diagnostic::new(PARAMETER, entry.span, message).about(&entry.name));
            continue;
        };
        if !admits(&parameter.shape, shape) {
            let message = format!("parameter {name} has the shape {} and cannot be {shape}", parameter.shape);
            findings.push(finding(PARAMETER, &entry.name, parameter, message));
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(Diagnostics(findings)) }
}

/// Whether a static shape is one of those that `declared` stands for.
fn admits(declared: &Shape, given: &Shape) -> bool {
    let (declared, given) = (declared.leaves(), given.leaves());
    declared.len() == given.len()
        && declared.into_iter().zip(given).all(|(declared, given)| match (declared, given) {
            (Shape::Array(declared), Shape::Array(given)) => array_admits(declared, given),
            (declared, given) => declared == given,
        })
}

fn array_admits(declared: &ArrayShape, given: &ArrayShape) -> bool {
    declared.element_type == given.element_type
        && declared.rank() == given.rank()
        && given.dynamic.is_empty()
        && given.extents.iter().enumerate().all(|(dimension, &extent)| {
            let limit = declared.extents[dimension];
            if declared.is_open(dimension) { limit < 0 || extent <= limit } else { extent == limit }
        })
}

fn finding(code: &'static str, computation: &str, instruction: &Instruction, message: String) -> Diagnostic {
    Diagnostic::new(code, instruction.span, message).about(format!("{computation}/{}", instruction.name))
}

/// A finding about the module as a whole.
fn refusal(code: &'static str, message: String) -> Diagnostics {
    Diagnostic::new(code, Span::default(), message).into()
}
