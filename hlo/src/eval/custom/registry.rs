//! Which functions stand for which targets.

use super::{lapack, selection};
use crate::ir::{ArrayShape, Instruction, Literal, Op, Shape};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A custom call as its function sees it.
#[derive(Copy, Clone, Debug)]
pub struct CustomCall<'a> {
    instruction: &'a Instruction,
}

impl<'a> CustomCall<'a> {
    pub(super) fn new(instruction: &'a Instruction) -> Self {
        CustomCall { instruction }
    }

    /// The whole instruction, with all that the text says of it.
    pub fn instruction(&self) -> &'a Instruction {
        self.instruction
    }

    /// The name that the function is registered for.
    pub fn target(&self) -> &'a str {
        match &self.instruction.op {
            Op::CustomCall { custom_call_target, .. } => custom_call_target,
            _ => "",
        }
    }

    /// The shapes of the arrays to return: those of a tuple from left to right, tokens left out.
    pub fn results(&self) -> Vec<&'a ArrayShape> {
        self.instruction.shape.leaves().into_iter().filter_map(Shape::as_array).collect()
    }

    /// The `backend_config` as in the text.
    pub fn backend_config(&self) -> Option<&'a str> {
        let attribute = self.instruction.attributes.iter().find(|attribute| attribute.name == "backend_config");
        attribute.map(|attribute| attribute.value.as_str())
    }

    /// An integer in a `backend_config` that is a dictionary: of `{uplo = 76 : ui8}` the option `uplo` is 76.
    pub fn option(&self, name: &str) -> Option<i64> {
        let dictionary = self.backend_config()?.trim().strip_prefix('{')?.strip_suffix('}')?;
        let entries = dictionary.split(',').filter_map(|entry| entry.split_once('='));
        let (_, value) = entries.into_iter().find(|(key, _)| key.trim() == name)?;
        value.split(':').next()?.trim().parse().ok()
    }
}

type Function = dyn Fn(&CustomCall<'_>, &[Literal]) -> Result<Vec<Literal>, String> + Send + Sync;

/// What custom calls mean: for each target a function of the operands, those of tuples left to right, to the arrays of the
/// result, likewise.
///
/// A function that returns an error, or other shapes than the instruction declares, ends the evaluation with the error
/// `HLO212`; a target that is not registered is refused before anything is computed, with `HLO201`.
///
/// The [default](CustomCalls::default) has what JAX prints for CPUs:
///
/// - `TopK`, the largest elements of the last dimension with their indices: NaN is the largest, the earlier of equals first;
/// - LAPACK's routines, each for `s`, `d`, `c` and `z` in place of `?`, on the last two dimensions: `lapack_?potrf_ffi`,
///   `lapack_?trsm_ffi`, `lapack_?getrf_ffi`, `lapack_?geqrf_ffi`, `lapack_?orgqr_ffi` (`ungqr` of complex matrices),
///   `lapack_?gesdd_ffi`, `lapack_?gesvd_ffi` and, with the feature `linalg`, `lapack_?syevd_ffi` (`heevd`). Pivots, signs and
///   failures are reported as LAPACK reports them. The signs of eigenvectors and of singular vectors are free: here the
///   first of the largest elements of each eigenvector, and of each left singular vector, is real and positive;
/// - what only says where a value is to be, which on one device is the value: `Sharding`, `SPMDFullToShardShape`,
///   `SPMDShardToFullShape`, `annotate_device_placement`, `MoveToHost` and `MoveToDevice`.
///
/// ```
/// use weft_hlo::eval::{Config, CustomCalls, evaluate_with};
/// use weft_hlo::ir::{Data, Literal};
///
/// let text = r#"
/// HloModule m
///
/// ENTRY main {
///   x = f32[2]{0} parameter(0)
///   ROOT y = f32[2]{0} custom-call(x), custom_call_target="halve"
/// }
/// "#;
/// let module = weft_hlo::text::parse(text)?;
/// let mut custom_calls = CustomCalls::default();
/// custom_calls.register("halve", |_, operands| match &operands[0].data {
///     Data::F32(values) => Ok(vec![Literal::array([2], values.iter().map(|value| value / 2.0).collect::<Vec<_>>())]),
///     _ => Err("takes f32".to_owned()),
/// });
/// let config = Config { custom_calls, ..Config::default() };
/// let results = evaluate_with(&module, &[Literal::array([2], vec![1.0f32, 3.0])], &config)?;
/// assert_eq!(results, [Literal::array([2], vec![0.5f32, 1.5])]);
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
#[derive(Clone)]
pub struct CustomCalls {
    functions: BTreeMap<String, Arc<Function>>,
}

impl CustomCalls {
    /// Without any target.
    pub fn none() -> Self {
        CustomCalls { functions: BTreeMap::new() }
    }

    /// Lets a function stand for a target, in place of what did before.
    pub fn register(
        &mut self,
        target: impl Into<String>,
        function: impl Fn(&CustomCall<'_>, &[Literal]) -> Result<Vec<Literal>, String> + Send + Sync + 'static,
    ) {
        self.functions.insert(target.into(), Arc::new(function));
    }

    /// The targets, in alphabetical order.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    pub(super) fn get(&self, target: &str) -> Option<&Function> {
        self.functions.get(target).map(|function| &**function)
    }
}

impl Default for CustomCalls {
    fn default() -> Self {
        let mut calls = CustomCalls::none();
        for target in [
            "Sharding",
            "SPMDFullToShardShape",
            "SPMDShardToFullShape",
            "annotate_device_placement",
            "MoveToHost",
            "MoveToDevice",
        ] {
            calls.register(target, |_, operands| Ok(operands.to_vec()));
        }
        calls.register("TopK", selection::top_k);
        lapack::register(&mut calls);
        calls
    }
}

impl fmt::Debug for CustomCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.targets()).finish()
    }
}
