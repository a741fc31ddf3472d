//! The functions of one fusion.

use crate::access::{
    Access, Counted, element_count, identity, is_identity, is_long, loop_rounds, operand_access, read_map,
};
use crate::cost::operation_cost;
use crate::hero::hero;
use crate::splat::splats;
use std::fmt;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, Computation, InstrId, Op, Scalar, Shape};
use weft_indexing::IndexingMap;

/// A function of a [`FusionPlan`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A set of instructions emitted as one function: from indices of its roots to the roots' elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name of its first root.
    pub name: String,
    /// The values it returns, all of the same extents; one that is several outputs is returned as often.
    pub roots: Vec<InstrId>,
    /// The extents its indices run over.
    pub extents: Vec<i64>,
    /// The instructions it computes, operands before users; constants written in place are not among them.
    pub members: Vec<InstrId>,
    /// Why it is a function.
    pub reason: String,
    /// How often it runs in one run of the kernel.
    pub evaluations: f64,
}

/// How an instruction reads one operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// The operand is the same constant everywhere ([`splats`]).
    Splat,
    /// Never: no element of the operand is needed.
    Never,
    /// As runtime variables of another operand's map: the starts of a gather or of a dynamic slice.
    Runtime,
    /// At the results of this map from the reading function's indices.
    At(IndexingMap),
}

/// The functions of one fusion, and how they call each other.
#[derive(Clone, Debug)]
pub struct FusionPlan {
    functions: Vec<Function>,
    outputs: Vec<FunctionId>,
    homes: Vec<Option<(FunctionId, IndexingMap)>>,
    blocks: Vec<Option<(InstrId, usize)>>,
    reads: Vec<Vec<Read>>,
    splats: Vec<Option<Scalar>>,
    excess: f64,
    depth: u32,
    repeated_iterations: f64,
}

impl FusionPlan {
    /// Divides the computation of a fusion into functions.
    ///
    /// The roots of equal extents form the first functions. Then, users before operands: an instruction all of whose
    /// users access it in the same block of the same function through the same indices joins them; any other, and
    /// every hero, becomes a function of its own.
    ///
    /// # Errors
    /// Where an instruction has no indexing map (`HLO301`, `HLO302`, `HLO304`, `HLO305`).
    pub fn new(computation: &Computation) -> Result<FusionPlan, Diagnostics> {
        Planner::new(computation).plan()
    }

    /// The functions; those that compute the fusion's outputs come first, callers before callees.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function of an id.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The functions that compute the fusion's outputs: each is a root of exactly one of them, in the order of the outputs.
    pub fn outputs(&self) -> &[FunctionId] {
        &self.outputs
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

    /// The constant that every element of an instruction is, if it is one ([`splats`]).
    pub fn splat(&self, id: InstrId) -> Option<Scalar> {
        self.splats[id.index()]
    }

    /// Units of work ([`operation_cost`]) per element of the output that exist only because values are computed more
    /// often than they have elements.
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

    /// The plan as text: each function with its members and the reason it exists.
    pub fn text(&self, computation: &Computation) -> String {
        PlanText { plan: self, computation }.to_string()
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

/// Where an instruction goes, given all the ways it is accessed.
pub(crate) enum Placement {
    /// With its users.
    Join(Counted),
    /// Into a function of its own, for this reason.
    Own { reason: String, evaluations: f64, depth: u32 },
}

/// Decides between joining the users and a function of one's own. `accesses` is not empty.
pub(crate) fn place(computation: &Computation, id: InstrId, accesses: &[Counted], sole_root: bool) -> Placement {
    let mut distinct: Vec<&Counted> = Vec::new();
    for counted in accesses {
        if !distinct.iter().any(|seen| seen.access == counted.access) {
            distinct.push(counted);
        }
    }
    let evaluations = distinct.iter().map(|counted| counted.evaluations).sum();
    let depth = distinct.iter().map(|counted| counted.access.depth).max().unwrap_or(0);
    if distinct.len() > 1 {
        let reason = format!("its users access it in {} different ways", distinct.len());
        return Placement::Own { reason, evaluations, depth };
    }
    if let Some(reason) = hero(computation, id).filter(|_| !sole_root) {
        return Placement::Own { reason: reason.to_owned(), evaluations, depth };
    }
    if !distinct[0].access.map.runtime().is_empty() {
        let reason = "it is accessed at indices that are values of the program".to_owned();
        return Placement::Own { reason, evaluations, depth };
    }
    if is_long(&distinct[0].access) {
        let reason = "the indices it is accessed at have become long".to_owned();
        return Placement::Own { reason, evaluations, depth };
    }
    Placement::Join(distinct[0].clone())
}

struct Planner<'m> {
    computation: &'m Computation,
    functions: Vec<Function>,
    homes: Vec<Option<Counted>>,
    accesses: Vec<Vec<Counted>>,
    reads: Vec<Vec<Read>>,
    splats: Vec<Option<Scalar>>,
    excess: f64,
    depth: u32,
    repeated_iterations: f64,
    /// Elements of the largest output.
    outputs: f64,
}

impl<'m> Planner<'m> {
    fn new(computation: &'m Computation) -> Self {
        let count = computation.instructions.len();
        Planner {
            computation,
            functions: Vec::new(),
            homes: vec![None; count],
            accesses: vec![Vec::new(); count],
            reads: vec![Vec::new(); count],
            splats: splats(computation),
            excess: 0.0,
            depth: 0,
            repeated_iterations: 0.0,
            outputs: 1.0,
        }
    }

    fn add_function(&mut self, root: InstrId, extents: Vec<i64>, reason: String, evaluations: f64) -> FunctionId {
        let id = FunctionId(u32::try_from(self.functions.len()).unwrap_or(u32::MAX));
        let name = self.computation.instructions[root].name.clone();
        self.functions.push(Function { name, roots: vec![root], extents, members: Vec::new(), reason, evaluations });
        id
    }

    fn plan(mut self) -> Result<FusionPlan, Diagnostics> {
        let outputs = self.add_outputs();
        self.outputs = self.functions.iter().map(|function| function.evaluations).fold(1.0, f64::max);
        let is_root_tuple =
            |id: InstrId| id == self.computation.root && self.computation.instructions[id].op == Op::Tuple;
        let ids: Vec<InstrId> = self.computation.instructions.ids().rev().filter(|id| !is_root_tuple(*id)).collect();
        for id in ids {
            self.visit(id)?;
        }
        for (id, home) in self.computation.instructions.ids().zip(&self.homes) {
            if let Some(home) = home {
                self.functions[home.access.function.0 as usize].members.push(id);
            }
        }
        let elements = outputs.iter().map(|id| self.functions[id.0 as usize].evaluations).fold(1.0, f64::max);
        let blocks = self.homes.iter().map(|home| home.as_ref().and_then(|home| home.access.block)).collect();
        let homes = self.homes.into_iter().map(|home| home.map(|home| (home.access.function, home.access.map)));
        Ok(FusionPlan {
            functions: self.functions,
            outputs,
            homes: homes.collect(),
            blocks,
            reads: self.reads,
            splats: self.splats,
            excess: self.excess / elements,
            depth: self.depth,
            repeated_iterations: self.repeated_iterations / elements,
        })
    }

    /// One function for each group of roots with the same extents.
    fn add_outputs(&mut self) -> Vec<FunctionId> {
        let mut outputs: Vec<FunctionId> = Vec::new();
        for root in roots(self.computation) {
            let shape = &self.computation.instructions[root].shape;
            let extents = leaf_extents(shape);
            let same = outputs.iter().find(|id| self.functions[id.0 as usize].extents == extents).copied();
            let function = match same {
                Some(function) => {
                    self.functions[function.0 as usize].roots.push(root);
                    function
                }
                None => {
                    let evaluations = element_count(shape);
                    let reason = "it computes an output".to_owned();
                    let function = self.add_function(root, extents.clone(), reason, evaluations);
                    outputs.push(function);
                    function
                }
            };
            let evaluations = self.functions[function.0 as usize].evaluations;
            let access = Access { function, block: None, depth: 0, map: identity(&extents) };
            self.accesses[root.index()].push(Counted { access, evaluations });
        }
        outputs
    }

    fn visit(&mut self, id: InstrId) -> Result<(), Diagnostics> {
        let computation = self.computation;
        let instruction = &computation.instructions[id];
        let accesses = std::mem::take(&mut self.accesses[id.index()]);
        let is_output = accesses.iter().any(|counted| {
            let function = &self.functions[counted.access.function.0 as usize];
            function.roots.contains(&id)
        });
        let is_immediate = self.splats[id.index()].is_some() && !is_output;
        if accesses.is_empty() || is_immediate || matches!(instruction.op, Op::Parameter { .. }) {
            return Ok(());
        }
        let sole_root = accesses.iter().all(|counted| {
            let function = &self.functions[counted.access.function.0 as usize];
            let is_alone = function.roots.iter().all(|root| *root == id);
            counted.access.block.is_none() && is_alone && is_identity(&counted.access.map)
        });
        let home = match place(computation, id, &accesses, sole_root) {
            Placement::Join(home) => home,
            Placement::Own { reason, evaluations, depth } => {
                let extents = leaf_extents(&instruction.shape);
                let map = identity(&extents);
                let function = self.add_function(id, extents, reason, evaluations);
                Counted { access: Access { function, block: None, depth, map }, evaluations }
            }
        };
        self.depth = self.depth.max(home.access.depth);
        let rounds = loop_rounds(computation, instruction);
        if rounds > 1.0 && home.evaluations > self.outputs {
            self.repeated_iterations += home.evaluations * rounds;
        }
        let again = (home.evaluations - element_count(&instruction.shape)).max(0.0);
        self.excess += again * operation_cost(&instruction.op);
        for (position, &operand) in instruction.operands.iter().enumerate() {
            let constant = self.splats[operand.index()].is_some();
            // Where an update that is one constant goes is told by values all the same.
            if constant && !(instruction.op == Op::DynamicUpdateSlice && position == 1) {
                self.reads[id.index()].push(Read::Splat);
                continue;
            }
            let read = match operand_access(computation, id, &home, position)? {
                None if read_map(computation, id, position)?.is_none() => Read::Runtime,
                None => Read::Never,
                Some(read) => {
                    for (owner, counted) in read.runtime {
                        if self.splats[owner.index()].is_none() {
                            self.accesses[owner.index()].push(counted);
                        }
                    }
                    let map = read.access.access.map.clone();
                    if constant {
                        Read::Splat
                    } else {
                        self.accesses[operand.index()].push(read.access);
                        Read::At(map)
                    }
                }
            };
            self.reads[id.index()].push(read);
        }
        self.homes[id.index()] = Some(home);
        Ok(())
    }
}

struct PlanText<'p> {
    plan: &'p FusionPlan,
    computation: &'p Computation,
}

impl fmt::Display for PlanText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |id: &InstrId| format!("%{}", self.computation.instructions[*id].name);
        for function in &self.plan.functions {
            let roots: Vec<String> = function.roots.iter().map(name).collect();
            let extents: Vec<String> = function.extents.iter().map(i64::to_string).collect();
            writeln!(f, "function {} [{}] -> {}", function.name, extents.join(","), roots.join(", "))?;
            writeln!(f, "  why: {}", function.reason)?;
            for member in &function.members {
                let instruction = &self.computation.instructions[*member];
                write!(
                    f,
                    "  %{} = {} {}",
                    instruction.name,
                    instruction.shape.without_layout(),
                    instruction.op.name()
                )?;
                for (position, operand) in instruction.operands.iter().enumerate() {
                    let separator = if position == 0 { "(" } else { ", " };
                    write!(f, "{separator}{}", name(operand))?;
                    let home = self.plan.home(*operand).map(|(function, _)| function);
                    let here = self.plan.home(*member).map(|(function, _)| function);
                    if let Read::At(map) = self.plan.read(*member, position)
                        && (home.is_none() || home != here)
                    {
                        let results: Vec<String> = map.results().iter().map(ToString::to_string).collect();
                        write!(f, "[{}]", results.join(", "))?;
                    }
                }
                writeln!(f, "{}", if instruction.operands.is_empty() { "()" } else { ")" })?;
            }
        }
        Ok(())
    }
}
