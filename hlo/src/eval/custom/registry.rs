//! The registry of custom call targets.

use super::{lapack, top_k};
use crate::ir::selection::Selection;
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

    /// An integer in a `backend_config` that is a dictionary: of `{uplo = 76 : ui8}` the option `uplo` is 76. An option that is
    /// `true` is 1, one that is `false` 0.
    pub fn option(&self, name: &str) -> Option<i64> {
        let dictionary = self.backend_config()?.trim().strip_prefix('{')?.strip_suffix('}')?;
        let entries = dictionary.split(',').filter_map(|entry| entry.split_once('='));
        let (_, value) = entries.into_iter().find(|(key, _)| key.trim() == name)?;
        match value.split(':').next()?.trim() {
            "true" => Some(1),
            "false" => Some(0),
            number => number.parse().ok(),
        }
    }
}

pub(in crate::eval) type Function = dyn Fn(&CustomCall<'_>, &[Literal]) -> Result<Vec<Literal>, String> + Send + Sync;

/// The semantics of custom calls: for each target a function from the operands, those of tuples left to right, to the
/// arrays of the result, likewise.
///
/// A function that returns an error, or other shapes than the instruction declares, ends the evaluation with the error
/// `HLO212`; a target that is not registered is refused before anything is computed, with `HLO201`.
///
/// The [default](CustomCalls::default) has what JAX prints for CPUs, and its approximate selections:
///
/// - `TopK`, the largest elements of the last dimension with their indices: NaN is the largest, the earlier of equals first;
/// - `ApproxTopK` and `PartialReduce`, the best elements of lines by any comparator; see below;
/// - LAPACK's routines as `jax.numpy.linalg`, `jax.scipy.linalg` and `jax.lax.linalg` ask for them, on the last two dimensions;
///   see below;
/// - what only says where a value is to be, which on one device is the value: `Sharding`, `SPMDFullToShardShape`,
///   `SPMDShardToFullShape`, `annotate_device_placement`, `MoveToHost` and `MoveToDevice`.
///
/// # Approximate selections
///
/// Both take arrays of the same extents and an initial value for each, call a comparator as `sort` does, and have a `backend_config`
/// with the dimension `reduction_dim`; results are exact, which is a valid answer to an approximate question.
///
/// - `ApproxTopK` with `aggregate_to_topk` gives the `top_k` elements that a stable sort by the comparator puts first, in its order.
/// - `PartialReduce`, and `ApproxTopK` without `aggregate_to_topk`, give as many elements as the shape of the result says, at least
///   `top_k`. Of `n` places, place `i` has the best of the elements at `i`, `i + n`, `i + 2 n`, …, of equal ones the first, and where
///   there are none the initial value. With `log2_reduction` `d`, at most `2^d` elements may fall to a place.
///
/// `recall_target`, `reduction_input_size_override` and `is_fallback` change nothing: by them whoever wrote the program has chosen the number
/// of places `n`, which the shape of the result says. At places that are random an element of the `k` best is lost where one of the `k - 1` others
/// falls to its place and is better, so the expected recall is at least `(1 - 1/n)^(k-1)`, and a recall of `r` takes `n ≥ 1 / (1 - r^(1/(k-1)))`, about
/// `(k-1) / (1-r)`, places (Chern and others, *TPU-KNN: K Nearest Neighbor Search at Peak FLOP/s*, 2022); JAX rounds up so that each place has
/// `2^d` elements. A place here has the best of those that fall to it and of no others, so what is found for a shape is what that bound is of. A `to_apply_type` other than `comparator` is
/// refused, as is an extent that is not known.
///
/// # LAPACK
///
/// Each routine `R` is the target `lapack_?R_ffi`, with `s`, `d`, `c` and `z` in place of `?`; complex matrices have those
/// after a slash.
///
/// | Routine | Options | Operands | Results |
/// |---|---|---|---|
/// | `potrf` | `uplo` | a | Cholesky's factor, `info` |
/// | `trsm` | `side`, `uplo`, `trans_x`, `diag` | a, b | the solution of a triangular system |
/// | `getrf` | | a | `l u`, pivots, `info` |
/// | `geqrf` | | a | `r` and reflections, `tau` |
/// | `geqp3` | | a, columns to come first | `r` and reflections of permuted columns, the permutation, `tau` |
/// | `orgqr` / `ungqr` | | reflections, `tau` | the first columns of their product `q` |
/// | `ormqr` / `unmqr` | `left`, `transpose` | reflections, `tau`, c | `q c`, `qᴴ c`, `c q` or `c qᴴ` |
/// | `gtsv` | | diagonals below, on, above; b | those of the factor, the solution of a tridiagonal system, `info` |
/// | `gesdd`, `gesvd` | `mode` | a | a, singular values, left vectors, adjoint right vectors, `info` |
/// | `syevd` / `heevd` | `mode`, `uplo` | a | eigenvectors, eigenvalues, `info` |
/// | `sytrd` / `hetrd` | `uplo` | a | reflections, the diagonal, what is beside it, `tau`, `info` |
/// | `gehrd` | `low`, `high` | a | Hessenberg's form and reflections, `tau`, `info` |
/// | `geev` | `compute_left`, `compute_right` | a | eigenvalues, left eigenvectors, right eigenvectors, `info` |
/// | `gees` | `mode`, `sort` | a | Schur's form, its vectors, eigenvalues, how many of them were selected, `info` |
///
/// The target `tridiagonal_solve_perturbed_ffi`, of all four types, takes what `gtsv` takes and gives the solution alone, for a
/// singular matrix that of one whose zero pivots are made a little more: by the type's epsilon times the largest element on the
/// diagonal or above it.
///
/// Pivots, reflections and their signs are LAPACK's. Real eigenvalues of `geev` and `gees` are two results, real and imaginary
/// parts; of a pair the one with the positive imaginary part comes first. Their order is LAPACK's up to what rounding decides.
/// What LAPACK leaves open is chosen: the first of the largest elements of an eigenvector of `syevd`, of a left singular vector
/// and of a complex eigenvector of `geev` is real and positive; what is not asked for is zeros. `sort = 83 : ui8`, which wants a
/// function of the host's, is refused. A matrix with elements that are no finite numbers has NaN for eigenvalues, singular
/// values and their vectors, and `info` is -4; where iterations do not end, it is 1.
///
/// All is computed in `f64`, or pairs of it, by operations that are the same on every machine, and rounded once to the type.
///
/// # Example
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
    meanings: BTreeMap<String, Meaning>,
}

/// What a target means.
#[derive(Clone)]
pub(in crate::eval) enum Meaning {
    Function(Arc<Function>),
    /// The best elements of lines, by the comparator that is called.
    Selection,
}

impl CustomCalls {
    /// Without any target.
    pub fn none() -> Self {
        CustomCalls { meanings: BTreeMap::new() }
    }

    /// Lets a function stand for a target, in place of what did before.
    pub fn register(
        &mut self,
        target: impl Into<String>,
        function: impl Fn(&CustomCall<'_>, &[Literal]) -> Result<Vec<Literal>, String> + Send + Sync + 'static,
    ) {
        self.meanings.insert(target.into(), Meaning::Function(Arc::new(function)));
    }

    /// The targets, in alphabetical order.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.meanings.keys().map(String::as_str)
    }

    pub(in crate::eval) fn get(&self, target: &str) -> Option<&Meaning> {
        self.meanings.get(target)
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
        calls.register("TopK", top_k::top_k);
        for target in Selection::TARGETS {
            calls.meanings.insert(target.to_owned(), Meaning::Selection);
        }
        lapack::register(&mut calls);
        calls
    }
}

impl fmt::Debug for CustomCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.targets()).finish()
    }
}
