//! Shapes: what an operation makes of those of its operands.
//!
//! Extents are computed by shape functions, written in a [language of their own](function): the
//! [`standard_library`] has one for each of HLO's operations that have a rule about extents, and there is no other set of
//! rules. Which element types an operation takes and yields, and which attributes are legal, is in this module, a file
//! per family of operations; [`infer`] asks both. The rules are those of XLA's operation semantics document, without its
//! implicit broadcasting, which HLO text does not have. All arithmetic on extents is checked; rank 0 and extent 0 are
//! ordinary.

mod attributes;
mod cache;
mod elementwise;
mod extents;
pub mod function;
mod movement;
mod reduce;
mod standard;
mod structural;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{ArrayShape, Module, Op, Shape, Span};
use crate::verify::code;

pub(crate) use cache::InferenceCache;

pub use attributes::{InstructionAttributes, known_shape};
pub use elementwise::{binary_accepts, unary_accepts};
pub use standard::{infer_extents, specialize_extents, standard_library};

/// The shape that `op` gives its value, without layout.
///
/// `declared` is the shape its text or its maker gives it. Some operations leave part of their result open (`iota`,
/// `broadcast`, `reshape`, `convert`, …); that part is taken from `declared`, after checking that it is possible. The
/// rest of `declared` is not looked at: comparing is up to the caller.
///
/// `module` resolves the computations that `op` names. For an operation without a rule this is
/// `declared` itself.
///
/// # Errors
/// One finding per rule broken, with codes from [`code`], without span and instruction, which the caller knows.
///
/// ```
/// use weft_hlo::ir::{ElementType, Module, Op, Shape};
/// # let module = Module {
/// #     name: String::new(), attributes: vec![], tables: vec![], computations: Default::default(),
/// #     entry: weft_hlo::ir::ArenaId::from_index(0),
/// # };
/// let matrix = Shape::array(ElementType::F32, [2, 3]);
/// let op = Op::Transpose { permutation: vec![1, 0] };
/// let shape = weft_hlo::shape::infer(&module, &op, &[&matrix], &matrix)?;
/// assert_eq!(shape, Shape::array(ElementType::F32, [3, 2]));
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn infer(module: &Module, op: &Op, operands: &[&Shape], declared: &Shape) -> Result<Shape, Diagnostics> {
    infer_cached(&InferenceCache::default(), module, op, operands, declared)
}

/// As [`infer`], for many instructions: equal ones are computed once.
pub(crate) fn infer_cached(
    cache: &InferenceCache,
    module: &Module,
    op: &Op,
    operands: &[&Shape],
    declared: &Shape,
) -> Result<Shape, Diagnostics> {
    let operation = Operation { cache, module, op, operands, declared };
    match op {
        Op::Parameter { .. } => structural::parameter(&operation),
        Op::Constant(literal) => structural::constant(&operation, literal),
        Op::Iota { dimension } => movement::iota(&operation, *dimension),
        Op::Broadcast { dimensions } => movement::broadcast(&operation, dimensions),
        Op::Reshape => movement::reshape(&operation),
        Op::Bitcast => movement::bitcast(&operation),
        Op::Transpose { permutation } => movement::transpose(&operation, permutation),
        Op::Slice { dimensions } => movement::slice(&operation, dimensions),
        Op::Reverse { dimensions } => movement::reverse(&operation, dimensions),
        Op::Concatenate { dimension } => movement::concatenate(&operation, *dimension),
        Op::Pad { padding } => movement::pad(&operation, padding),
        Op::Copy => structural::copy(&operation),
        Op::Convert => elementwise::convert(&operation),
        Op::Compare { order, .. } => elementwise::compare(&operation, *order),
        Op::Select => elementwise::select(&operation),
        Op::Clamp => elementwise::clamp(&operation),
        Op::Unary(op) => elementwise::unary(&operation, *op),
        Op::Binary(op) => elementwise::binary(&operation, *op),
        Op::Reduce { dimensions, to_apply } => reduce::reduce(&operation, dimensions, *to_apply),
        Op::Tuple => structural::tuple(&operation),
        Op::GetTupleElement { index } => structural::get_tuple_element(&operation, *index),
        Op::Call { to_apply } => structural::call(&operation, *to_apply),
        Op::Fusion { calls, .. } => structural::call(&operation, *calls),
        _ => operation.by_extents(),
    }
}

/// Checks the extents of an operation some of which are only bounded (`<=N`): what is wrong whatever they turn out to be.
///
/// # Errors
/// The first rule that is surely broken.
pub fn check_bounded(module: &Module, op: &Op, operands: &[&Shape], declared: &Shape) -> Result<(), Diagnostics> {
    Operation { cache: &InferenceCache::default(), module, op, operands, declared }.sure_error()
}

/// What a rule looks at.
struct Operation<'a> {
    cache: &'a InferenceCache,
    module: &'a Module,
    op: &'a Op,
    operands: &'a [&'a Shape],
    declared: &'a Shape,
}

impl<'a> Operation<'a> {
    /// Refuses any other number of operands.
    fn expect_operands(&self, count: usize) -> Result<(), Diagnostics> {
        if self.operands.len() == count {
            return Ok(());
        }
        let plural = if count == 1 { "operand" } else { "operands" };
        refuse(
            code::OPERAND_COUNT,
            format!("{} takes {count} {plural} and has {}", self.op.opcode(), self.operands.len()),
        )
    }

    /// The operands, all of which must be arrays, and `count` of them.
    fn arrays<const COUNT: usize>(&self) -> Result<[&'a ArrayShape; COUNT], Diagnostics> {
        self.expect_operands(COUNT)?;
        let arrays = self.all_arrays()?;
        Ok(std::array::from_fn(|position| arrays[position]))
    }

    /// The operands, all of which must be arrays.
    fn all_arrays(&self) -> Result<Vec<&'a ArrayShape>, Diagnostics> {
        let mut findings = Findings::default();
        let mut arrays = Vec::with_capacity(self.operands.len());
        for (position, shape) in self.operands.iter().enumerate() {
            match shape.as_array() {
                Some(array) => arrays.push(array),
                None => findings.add(
                    code::ELEMENT_TYPE,
                    format!("operand {position} of {} must be an array and is {shape}", self.op.opcode()),
                ),
            }
        }
        findings.unless_any(arrays)
    }

    /// The declared shape, which must be an array.
    fn declared_array(&self) -> Result<&'a ArrayShape, Diagnostics> {
        match self.declared.as_array() {
            Some(array) => Ok(array),
            None => refuse(
                code::RESULT_SHAPE,
                format!("{} yields an array, the declared shape is {}", self.op.opcode(), self.declared),
            ),
        }
    }
}

/// Findings gathered while a rule goes through dimensions or operands.
#[derive(Default)]
struct Findings(Vec<Diagnostic>);

impl Findings {
    fn add(&mut self, code: &'static str, message: String) {
        self.0.push(Diagnostic::new(code, Span::default(), message));
    }

    /// `value`, or what was found.
    fn unless_any<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.0.is_empty() { Ok(value) } else { Err(Diagnostics(self.0)) }
    }

    /// What a rule independent of the others yields, or what was found by all of them.
    fn and<T>(mut self, other: Result<T, Diagnostics>) -> Result<T, Diagnostics> {
        match other {
            Ok(value) => self.unless_any(value),
            Err(found) => {
                self.0.extend(found.0);
                Err(Diagnostics(self.0))
            }
        }
    }
}

/// One finding.
fn refuse<T>(code: &'static str, message: String) -> Result<T, Diagnostics> {
    Err(Diagnostic::new(code, Span::default(), message).into())
}

/// Extents as text spells them.
fn show(extents: &[i64]) -> String {
    let parts: Vec<String> = extents.iter().map(i64::to_string).collect();
    format!("[{}]", parts.join(","))
}

/// The dimension as an index into `rank` dimensions.
fn dimension_index(dimension: i64, rank: usize) -> Option<usize> {
    usize::try_from(dimension).ok().filter(|&index| index < rank)
}

/// Checks that `dimensions` are dimensions of an array of `rank`, none of them twice; what they are called in a
/// finding is `name`.
fn distinct_dimensions(findings: &mut Findings, name: &str, dimensions: &[i64], rank: usize) -> Vec<Option<usize>> {
    let mut seen = vec![false; rank];
    dimensions
        .iter()
        .map(|&dimension| {
            let index = dimension_index(dimension, rank);
            match index {
                None => findings.add(code::ATTRIBUTE, format!("{name} names dimension {dimension} of rank {rank}")),
                Some(index) if std::mem::replace(&mut seen[index], true) => {
                    findings.add(code::ATTRIBUTE, format!("{name} names dimension {dimension} twice"));
                }
                Some(_) => {}
            }
            index
        })
        .collect()
}
