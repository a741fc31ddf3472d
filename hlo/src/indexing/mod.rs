//! Indexing maps of operations, computations and fusions.
//!
//! A map says which elements of an operand an operation reads to compute one element of its output, or, in the other
//! direction, which elements of the output are computed from one element of the operand. Maps are those of XLA's document
//! "Indexing analysis": dimension variables are the index mapped from, range variables run over the elements that belong to
//! it (the reduced dimensions of a reduce), runtime variables are values that only the running program knows (the
//! starts of a dynamic slice), and the domain says for which indices there is anything at all (each operand of a
//! concatenate has its own part).
//!
//! ```
//! use weft_hlo::{indexing, text};
//!
//! let module = text::parse(
//!     "HloModule m\nENTRY e {\n p = f32[20] parameter(0)\n ROOT b = f32[10,20,30] broadcast(p), dimensions={1}\n}",
//! )?;
//! let root = module.entry_computation().root;
//! let found = indexing::Analysis::new(&module).instruction(module.entry, root, indexing::Direction::OutputToInput);
//! assert_eq!(
//!     found.dependences[0].relation.maps()[0].map.to_string(),
//!     "(d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]"
//! );
//! # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
//! ```
//!
//! [`Analysis::instruction`] gives the maps of one instruction, [`Analysis::computation`] those of a computation from its root to
//! its parameters, [`Analysis::subgraph`] those of any part of a computation, [`Analysis::between`] those between two
//! instructions; maps through several operations are composed, simplified and distinct. Where several results are computed
//! together by one computation (a variadic `reduce`, `scatter` or `sort`), each depends on all operands.
//!
//! Where the text tells the value of a runtime variable, because what it reads is a constant, an `iota`, or made of them by
//! operations that [`KnownValues`] follows, composed and simplified maps have that value in its place: the slice of ten elements
//! from 42 on reads `d0 + 42`, not `d0 + rt0`.
//!
//! # What has no map
//!
//! | Operation | [`Undefined`] |
//! |---|---|
//! | `while` | `Loop` |
//! | `custom-call` without maps of the user's ([`CustomCallMaps`]) | `CustomCall` |
//! | `infeed`, `outfeed`, `send`, `send-done`, `recv`, `recv-done` | `Outside` |
//! | `ragged-all-to-all` | `RaggedExchange` |
//! | collectives whose groups name axes of a mesh, or all replicas where their number is not said; `collective-permute` in place | `Mesh`, `Members`, `InPlace` |
//! | anything of extents that are not known | `DynamicExtents` |
//! | what exceeds 64 bits, or [`MAX_MAPS`] maps of one value | `Overflow`, `TooManyMaps` |
//! | maps of the user's that do not fit the custom call, or modules that were not verified | `Misfit` |
//!
//! # Maps that lead to more than is read
//!
//! They say so, with the reason ([`ElementMap::coarse`]); all others lead to the elements that are read and to no others. What an
//! operation gives to a computation that it applies is read, whatever the computation makes of it: a `scatter` whose
//! computation overwrites reads the element that it overwrites, with [`Domains::Exact`] too.
//!
//! | Operation | Read are fewer elements, because |
//! |---|---|
//! | `cholesky`, `triangular-solve` | one triangle of a matrix is not read, and solutions depend on a part of the others |
//! | `sort` of several operands | a comparator may look at some of them only |
//! | `scan`, `rng-bit-generator` | what a step, or the generator, makes of what it is given is not looked into |
//! | `select-and-scatter` | which element a window chooses is known only at run time; a window of one element compares nothing |
//! | `ragged-dot` | which group an index belongs to is known only at run time |
//! | `ragged-dot`, `scaled-dot` in forms that are the target's choice | how sizes and scales belong to elements is not said |
//! | `conditional` | one branch runs |
//! | `pad`, the padding value | elements that the operand fills do not read it |
//! | `dynamic-update-slice` with [`Domains::Documented`] | what is updated is not read from the source, and nothing else from the update |

mod analysis;
mod asynchronous;
mod calls;
mod collective;
mod compose;
mod context;
mod convolution;
mod dot;
mod dynamic;
mod gather;
mod known;
mod links;
mod movement;
mod operation;
mod owners;
mod physical;
mod reduction;
mod relation;
mod replica;
mod reshape;
mod subgraph;
mod walk;
mod window;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Computation, InstrId, Op};
use weft_indexing::IndexingMap;

pub use analysis::{Analysis, Dependences};
pub use calls::{CustomCallMaps, CustomCallRule};
pub use known::KnownValues;
pub use owners::{Number, Owners, Source};
pub use physical::physical;
pub use relation::{Dependence, Direction, Domains, ElementMap, Relation, Undefined};
pub use replica::{Exchange, ExchangeStep, Ids, Participants, ReplicaId};
pub use subgraph::{Endpoint, Group, Subgraph};

/// The limit on distinct maps through which one value is reached; beyond, the analysis gives up.
///
/// A chain of `n` diamonds reads its parameter through up to `2^n` maps; kernels never need them all at once.
pub const MAX_MAPS: usize = 256;

/// The one map from the value of one operation, of a tuple the first array that is computed from it, to its operand number
/// `operand`, with [`Domains::Exact`]; not for operations that call computations with whole values, nor for those that read an
/// operand through several maps.
///
/// # Errors
/// `HLO301` where there is no such map, `HLO302` where index arithmetic exceeds 64 bits, `HLO304` where an extent is not
/// known, `HLO305` where attributes and shapes do not fit each other, as they may in a module that was not verified.
pub fn operand_map(computation: &Computation, id: InstrId, operand: usize) -> Result<IndexingMap, Diagnostics> {
    let context = context::InstructionContext::new(computation, id, Direction::OutputToInput, Domains::Exact);
    let refused = |code: &'static str, reason: String| {
        let instruction = context.instruction;
        Err(Diagnostic::new(code, instruction.span, reason).about(&instruction.name).into())
    };
    let none = |reason: &str| {
        refused("HLO301", format!("'{}' has no one indexing map: {reason}", context.instruction.op.name()))
    };
    if matches!(
        context.instruction.op,
        Op::Fusion { .. }
            | Op::Call { .. }
            | Op::Conditional { .. }
            | Op::CustomCall { .. }
            | Op::AsyncStart { .. }
            | Op::AsyncShorthand { operation: Some(_), .. }
    ) {
        return none("it calls a computation");
    }
    let found = match operation::operation(&context) {
        Ok(found) => found,
        Err(reason) => return refused(reason.code(), reason.to_string()),
    };
    let own = found.iter().find(|own| own.operand == Some(operand));
    match own.map(|own| own.relation.maps()) {
        Some([one]) => Ok(one.map.clone()),
        Some(several) => none(&format!("it reads its operand through {}", several.len())),
        None => none("its value is not computed from that operand"),
    }
}

/// From an index of the updates of a `scatter` to the element of its operands that the update is for. What the runtime variables stand for are the starts of windows; where
/// one is out of bounds, the window is left out.
///
/// # Errors
/// `HLO301` for other operations, `HLO302` where index arithmetic exceeds 64 bits.
pub fn scattered_map(computation: &Computation, id: InstrId) -> Result<IndexingMap, Diagnostics> {
    let context = context::InstructionContext::new(computation, id, Direction::InputToOutput, Domains::Exact);
    let instruction = context.instruction;
    let refused = |code: &'static str, reason: String| {
        Err(Diagnostic::new(code, instruction.span, reason).about(&instruction.name).into())
    };
    if !matches!(instruction.op, Op::Scatter { .. }) {
        return refused("HLO301", format!("'{}' is no scatter", instruction.op.name()));
    }
    match gather::scattered(&context) {
        Ok(map) => Ok(map),
        Err(reason) => refused(reason.code(), reason.to_string()),
    }
}
