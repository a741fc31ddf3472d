//! The plan of one fusion: its functions, what its kernel is shaped around, and why.

mod attention;
mod heroes;
mod inlined;
mod planner;
mod product;
mod read;
mod reduced;
mod text;
mod tiled;
mod update_slice;
mod windowed;

use crate::Target;
use crate::attention::Attention;
use crate::hero::{HeroKind, HeroTiling};
use crate::product::Product;
use crate::reduced::Reduced;
use crate::tiling::Tiling;
use crate::transposed::Transposed;
use crate::windowed::Windowed;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, Computation, InstrId, Module, Op, Scalar, Shape};
use weft_indexing::IndexingMap;

pub use attention::{Attended, Divided};
use planner::Planner;
pub(crate) use planner::{Placement, distinct, place};
pub use product::Factors;
pub(crate) use product::MOST_SUMS;
use reduced::Refused;
pub use reduced::Rows;
pub use update_slice::Update;

/// A function of a [`FusionPlan`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A set of instructions emitted as one function: from indices and given values to the elements of its roots.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// A name that no other function of the plan has: that of its first root, numbered where that is taken.
    pub name: String,
    /// The instructions whose elements it is given instead of indices to read them at: the heroes of an epilogue, the
    /// parameters of a computation that is applied to elements.
    pub given: Vec<InstrId>,
    /// The values it returns; one that is several outputs is returned as often.
    pub roots: Vec<Root>,
    /// The extents its indices run over.
    pub extents: Vec<i64>,
    /// The instructions it computes, operands before users; constants written in place are not among them.
    pub members: Vec<InstrId>,
    /// Why it is a function.
    pub reason: String,
    /// How often it runs in one run of the kernel.
    pub evaluations: f64,
}

/// A value that a function returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// The instruction.
    pub instruction: InstrId,
    /// From the function's indices to those of the element it returns: the identity, or a bitcast where a function computes
    /// outputs of several shapes with the same elements in row-major order.
    pub map: IndexingMap,
}

/// How an instruction reads one operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// The operand is the same constant everywhere ([`splats`](crate::splats)).
    Splat,
    /// Never: no element of the operand is needed.
    Never,
    /// As runtime variables of another operand's map: the starts of a gather or of a dynamic slice.
    Runtime,
    /// As the value that the function is given.
    Given,
    /// At the results of this map from the reading function's indices.
    At(IndexingMap),
}

/// How a kernel computes the outputs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Emitter {
    /// Each invocation computes elements of the outputs, independently of the others.
    Loop(Tiling),
    /// Elements of transpositions go from rows to columns through tiles, and on into what computes the outputs.
    Transposed(Transposed),
    /// Workgroups load what the windows of their results have in common into workgroup memory, and fold it from there.
    Windowed(Windowed),
    /// Workgroups fold rows of elements, and compute of the results what is computed for each of these again: [`FusionPlan::passes`].
    Reduced(Reduced),
    /// Invocations compute tiles of the results of dots, and of each what is computed of it: [`FusionPlan::factors`]; rows of them are folded where there are [`FusionPlan::passes`].
    Product(Product),
    /// Invocations go over the keys for rows of queries, and never write scores: [`FusionPlan::attended`].
    Attention(Attention),
    /// Each invocation computes and writes elements of updates, [`FusionPlan::updates`]; the buffers of the outputs hold what is
    /// updated already.
    UpdateSlice(Tiling),
    /// The same with updates each of which goes to a place of its own, [`Update::scattered`].
    Scatter(Tiling),
    /// No kernel: the computation is applied to the elements of others.
    Applied,
}

/// An instruction that a kernel of the fusion could be shaped around.
#[derive(Clone, Debug, PartialEq)]
pub struct Hero {
    /// The instruction.
    pub instruction: InstrId,
    /// What kind of iteration it is.
    pub kind: HeroKind,
    /// The function that computes its elements.
    pub function: FunctionId,
    /// The functions that compute what it reads; the others are members of its own function.
    pub prologues: Vec<FunctionId>,
    /// The functions that are given its elements.
    pub epilogues: Vec<Tail>,
    /// The workgroup that an emitter which tiles would take.
    pub tiling: HeroTiling,
    /// Why the kernel is a loop in spite of it; `None` where it is shaped around it.
    pub why_loop: Option<String>,
}

/// A function that computes outputs from the elements of a hero.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// The function.
    pub function: FunctionId,
    /// From the indices of the hero's elements to those of the function.
    pub map: IndexingMap,
}

/// A pass over the elements of rows.
///
/// The functions of elements have the indices `(o, r, i)` of [`Reduced`], those of rows `(o, i)`. What a function is [given](Function::given) are the results of
/// reductions that passes before have folded, and the values of other functions of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// The functions of rows that are called first, operands before users.
    pub rows: Vec<FunctionId>,
    /// The functions that are called for each element, operands before users. Of functions that are called in several passes the first stores outputs; where
    /// values are [kept](Reduced::is_kept) each is called in one.
    pub elements: Vec<FunctionId>,
    /// What is folded.
    pub folds: Vec<Folded>,
    /// What is scanned: functions of elements that are given these are called with what the elements up to theirs come to. Where several invocations share a row, an earlier pass
    /// has folded what each of them has.
    pub scans: Vec<Folded>,
}

/// A reduction or a scan that a kernel is shaped around.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded {
    /// The instruction.
    pub reduction: InstrId,
    /// How it scans, if it is a scan.
    pub scan: Option<Scanned>,
    /// The function of elements that yields what it folds.
    pub function: FunctionId,
    /// The function of rows that yields those initial values that are no constants.
    pub initial: Option<FunctionId>,
    /// The neutral tuple of its region.
    pub neutral: Vec<Scalar>,
    /// For a sum of exponentials of the elements less a maximum of these that the same pass folds, this maximum: the function is given what it has come to, and whenever it
    /// grows, the sum is multiplied by the exponential of by how much less it was. The function is none of the [elements](Pass::elements) of the pass.
    pub online: Option<InstrId>,
}

/// How a scan folds the elements of a row.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// Whether a result folds the elements from its own to the last, not those from the first to its own.
    pub is_reversed: bool,
    /// Whether it leaves its own element out.
    pub is_exclusive: bool,
}

/// The functions of one fusion, how they call each other, and how a kernel computes its outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct FusionPlan {
    functions: Vec<Function>,
    outputs: Vec<FunctionId>,
    starts: Vec<FunctionId>,
    updates: Vec<Update>,
    passes: Vec<Pass>,
    factors: Vec<Factors>,
    tails: Vec<Tail>,
    rows: Option<IndexingMap>,
    attended: Option<Attended>,
    emitter: Emitter,
    why: String,
    heroes: Vec<Hero>,
    homes: Vec<Option<(FunctionId, IndexingMap)>>,
    blocks: Vec<Option<(InstrId, usize)>>,
    reads: Vec<Vec<Read>>,
    splats: Vec<Option<Scalar>>,
    excess: f64,
    depth: u32,
    repeated_iterations: f64,
}

impl FusionPlan {
    /// Divides the computation of a fusion into functions, and decides how a kernel computes them.
    ///
    /// The roots whose elements are the same in row-major order (equal up to bitcast) form the first functions. Then, users before
    /// operands: an instruction all of whose users access it in the same block of the same function through the same map, compared
    /// as a function, joins them; any other, and every hero, becomes a function of its own. A hero whose only reader is a function of
    /// outputs, at the element that it computes, is given to it as a value.
    ///
    /// Where reductions of rows that are long enough are computed, and all outputs are of their elements or of their results, the kernel is shaped around
    /// these: functions are those of elements and of rows, each called once, and given what others compute. `module` has the regions.
    ///
    /// Where reductions fold all columns of dots that fit in a workgroup, and all outputs are of the sums or of rows, the kernel is shaped around both: elements are given the sums.
    ///
    /// Where there are dots of results enough for tiles, and all outputs are computed of these element by element, in whatever order, the kernel is shaped around them: the functions of
    /// outputs are given their results, and there are two of the elements of the operands of each.
    ///
    /// Where every output is a dynamic-update-slice of a parameter, or the only root a scatter into parameters that needs no order, and nothing else reads of that parameter what may have been
    /// replaced already, the first functions compute the updates, and others where these start.
    ///
    /// # Errors
    /// Where an instruction has no indexing map (`HLO301`, `HLO302`, `HLO304`, `HLO305`).
    pub fn new(module: &Module, computation: &Computation, target: &Target) -> Result<FusionPlan, Diagnostics> {
        Planner::new(computation).plan(module, target)
    }

    /// The plan that is shaped around attention, or why there is none.
    pub(crate) fn of_attention(
        module: &Module,
        computation: &Computation,
        target: &Target,
    ) -> Result<Result<FusionPlan, String>, Diagnostics> {
        match Planner::new(computation).plan_attention(module, target) {
            Ok(plan) => Ok(Ok(plan)),
            Err(Refused::Reason(reason)) => Ok(Err(reason)),
            Err(Refused::Undefined(findings)) => Err(findings),
        }
    }

    /// The plan that is shaped around sums of products whose rows are folded, or why there is none.
    pub(crate) fn of_rows_of_sums(
        module: &Module,
        computation: &Computation,
        target: &Target,
    ) -> Result<Result<FusionPlan, String>, Diagnostics> {
        match Planner::new(computation).plan_rows_of_sums(module, target) {
            Ok(plan) => Ok(Ok(plan)),
            Err(Refused::Reason(reason)) => Ok(Err(reason)),
            Err(Refused::Undefined(findings)) => Err(findings),
        }
    }

    /// The plan of a fusion by which every element of its results is computed by itself, also where updates would do, or tiles: for kernels that hold what is updated
    /// where nothing lies yet.
    ///
    /// # Errors
    /// As [`FusionPlan::new`].
    pub fn of_loop(computation: &Computation, target: &Target) -> Result<FusionPlan, Diagnostics> {
        Planner::new(computation).plan_loop(None, None, target)
    }

    /// The plan of a computation that is applied to elements: one function that is given its parameters.
    ///
    /// # Errors
    /// As [`FusionPlan::new`].
    pub fn of_applied(computation: &Computation) -> Result<FusionPlan, Diagnostics> {
        Planner::new(computation).plan_applied()
    }

    /// Reads what [`text`](Self::text) writes: the functions, what each holds and why. Maps follow from the computation; those
    /// of the text are checked.
    ///
    /// # Errors
    /// `HLO405` for a text that is no plan of this computation, with the line; the errors of [`FusionPlan::new`].
    pub fn parse(
        text: &str,
        module: &Module,
        computation: &Computation,
        target: &Target,
    ) -> Result<FusionPlan, Diagnostics> {
        read::parse(text, module, computation, target)
    }

    /// The functions; those that compute the fusion's outputs come first, callers before callees.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function of an id.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The functions that compute the fusion's outputs, or their updates: each is a root of exactly one of them, in the order of the
    /// outputs.
    pub fn outputs(&self) -> &[FunctionId] {
        &self.outputs
    }

    /// What the outputs are where only updates are written ([`Emitter::UpdateSlice`], [`Emitter::Scatter`]): one for each output, in their order.
    pub fn updates(&self) -> &[Update] {
        &self.updates
    }

    /// The function that yields where updates start, for an instruction that is no parameter and no constant written in place.
    pub fn start(&self, id: InstrId) -> Option<FunctionId> {
        self.starts.iter().find(|start| self.function(**start).roots.iter().any(|root| root.instruction == id)).copied()
    }

    /// The passes over the elements of rows, where the kernel is shaped around reductions ([`Emitter::Reduced`]), or around sums of products whose rows it folds ([`FusionPlan::rows_of_sums`]).
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// The sums of products that the kernel is shaped around ([`Emitter::Product`]), which the functions of outputs are given, in the order of the computation.
    pub fn factors(&self) -> &[Factors] {
        &self.factors
    }

    /// From the indices `(o, r, c)` of [sums](FusionPlan::factors) to the `(o, r, i)` of the functions of elements that [passes](FusionPlan::passes) call, where the kernel folds rows of sums: functions of rows have the first and the last
    /// of these. An element is given the sums there, and all columns of a row lie with one workgroup.
    pub fn rows_of_sums(&self) -> Option<&IndexingMap> {
        self.rows.as_ref()
    }

    /// What the kernel has for the parts of attention ([`Emitter::Attention`]).
    pub fn attended(&self) -> Option<&Attended> {
        self.attended.as_ref()
    }

    /// The functions of outputs that go over the [sums](FusionPlan::factors) in another order than row-major; of [attention](FusionPlan::attended) all of them, from its indices `(o, q, c)`.
    pub fn tails(&self) -> &[Tail] {
        &self.tails
    }

    /// How a kernel computes the outputs.
    pub fn emitter(&self) -> Emitter {
        self.emitter.clone()
    }

    /// Why it is that emitter.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The instructions that a kernel could be shaped around, in the order of the computation.
    pub fn heroes(&self) -> &[Hero] {
        &self.heroes
    }

    /// The function that computes an instruction, and the map from that function's indices to the instruction's;
    /// `None` for parameters, constants written in place and what is never read.
    pub fn home(&self, id: InstrId) -> Option<(FunctionId, &IndexingMap)> {
        self.homes[id.index()].as_ref().map(|(function, map)| (*function, map))
    }

    /// The innermost block an instruction is evaluated in: the operand of a concatenate or pad, or the loop (operand 0)
    /// of a reduce; `None` for a function's outermost block.
    pub fn block(&self, id: InstrId) -> Option<(InstrId, usize)> {
        self.blocks[id.index()]
    }

    /// How instruction `id` reads its operand number `operand`.
    pub fn read(&self, id: InstrId, operand: usize) -> &Read {
        &self.reads[id.index()][operand]
    }

    /// The constant that every element of an instruction is, if it is one ([`splats`](crate::splats)).
    pub fn splat(&self, id: InstrId) -> Option<Scalar> {
        self.splats[id.index()]
    }

    /// Units of work ([`operation_cost`](crate::operation_cost)) per element of the output, or of the rows that a kernel is shaped around, that exist only because values are
    /// computed more often than they have elements.
    pub fn excess_per_element(&self) -> f64 {
        self.excess
    }

    /// How many branches and loops stand in one another at most, calls looked through.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Rounds per element of the output that loops make which an element runs more than once, all together; a kernel
    /// whose every loop runs once per element has none.
    pub fn repeated_iterations(&self) -> f64 {
        self.repeated_iterations
    }

    /// Instructions of the kernel of a computation once its functions are written in place of their calls, as drivers do, without those of computations that operations apply to elements.
    pub fn inlined_instructions(&self, computation: &Computation) -> f64 {
        inlined::instructions(self, computation)
    }

    /// The plan as text: how the kernel computes the outputs, its heroes, and each function with its members and the reason it
    /// exists. [`FusionPlan::parse`] reads it.
    ///
    /// ```text
    /// plan loop threads=64 elements=1
    ///   why: no hero is worth more than a loop
    /// output function add [20,20] -> %add
    ///   why: it computes an output
    ///   %add = f32[20,20] add(%log[d0, d1], %transpose[d0, d1])
    /// ```
    pub fn text(&self, computation: &Computation) -> String {
        text::PlanText { plan: self, computation }.to_string()
    }
}

/// The roots of a fusion's computation: the operands of a tuple, or the root itself.
pub(crate) fn roots(computation: &Computation) -> Vec<InstrId> {
    let root = &computation.instructions[computation.root];
    if root.op == Op::Tuple { root.operands.clone() } else { vec![computation.root] }
}

/// The extents of an array; of a tuple, those of its first array.
pub(crate) fn leaf_extents(shape: &Shape) -> Vec<i64> {
    shape.leaves().first().and_then(|leaf| leaf.as_array()).map(|array| array.extents.clone()).unwrap_or_default()
}
