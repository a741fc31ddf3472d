//! The walk from users to producers that decides what is a kernel.

mod times;

use super::candidate::{Candidate, Move};
use super::given::name_in;
use super::group::Group;
use super::leaves::Leaves;
use super::ordered_kernels;
use super::prologues::Prologues;
use super::{Decision, Grouping, Verdict, results, scans};
use crate::access::{
    Access, Counted, MAX_DEPTH, element_count, identity, is_bitcast, is_loop, operand_access, reads_at_values,
};
use crate::contraction::branches;
use crate::cost::{Budget, operation_cost};
use crate::legal::{Support, is_control_flow, supports};
use crate::plan::{FunctionId, Placement, distinct, leaf_extents, place, roots};
use crate::scan::Scan;
use crate::scattered::{is_replaced, written_in_place};
use crate::transposed::Transposed;
use crate::{Site, Target};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op, Scalar, Shape};

/// What each instruction of the entry computation has become.
pub(super) struct Greedy {
    /// The kernels, in the order of their first roots.
    pub(super) groups: Vec<Group>,
}

/// A kernel to be, of one root.
struct Kernel {
    /// The instruction whose value it writes.
    root: InstrId,
    /// As of a [`Group`].
    members: BTreeSet<InstrId>,
    inputs: BTreeSet<InstrId>,
    results: usize,
    /// The scans that it is shaped around are like this one.
    scan: Option<InstrId>,
    /// Elements the kernel walks over: those of its output, or of the input that it reduces.
    elements: f64,
    excess: f64,
    /// Its instructions, once its functions are written in place of their calls.
    inlined: f64,
}

/// Decides what every instruction of a program becomes.
///
/// # Errors
/// `HLO404` for an instruction that needs more buffers than the target lets a kernel bind.
pub(super) fn decide(
    module: &Module,
    program: ComputationId,
    (target, budget, grouping): (&Target, &Budget, Grouping),
    asked: &BTreeMap<Site, String>,
    (decisions, candidates): (&mut Vec<Decision>, &mut Vec<Candidate>),
) -> Result<Greedy, Diagnostics> {
    let entry = &module.computations[program];
    let (supports, splats) = (supports(module, entry, target), written_in_place(module, entry));
    let mut is_output = vec![false; entry.instructions.len()];
    roots(entry).into_iter().for_each(|root| is_output[root.index()] = true);
    let is_read = |id: InstrId| {
        let roots_kernel = is_loop(&entry.instructions[id].op);
        is_output[id.index()] || roots_kernel || supports[id.index()] != Support::Compiled
    };
    let prologues = Prologues::of(entry, target, is_read);
    let mut walk = Walk {
        module,
        program,
        entry,
        leaves: Leaves::new(entry, is_read, |id| splats[id.index()].is_some()),
        supports,
        target,
        budget,
        grouping,
        asked,
        users: entry.users(),
        splats,
        transposed: computed_of_transpositions(entry, target),
        ordered: ordered_kernels::transposed(entry, target),
        prologues,
        scans: scans::shaping(module, entry, target),
        is_output,
        homes: vec![IndexMap::new(); entry.instructions.len()],
        readers: vec![Vec::new(); entry.instructions.len()],
        kernels: Vec::new(),
        copies: Vec::new(),
        decisions,
        candidates,
    };
    for id in entry.instructions.ids().rev() {
        walk.visit(id)?;
    }
    let mut kernels = walk.kernels;
    kernels.sort_by_key(|kernel| kernel.root);
    let group = |Kernel { root, members, inputs, .. }| Group { roots: vec![root], members, inputs };
    Ok(Greedy { groups: kernels.into_iter().map(group).collect() })
}

/// For each instruction of elementwise operations over a transposition that is tiled, the transposition.
fn computed_of_transpositions(entry: &Computation, target: &Target) -> Vec<Option<InstrId>> {
    let mut of: Vec<Option<InstrId>> = vec![None; entry.instructions.len()];
    for (id, instruction) in entry.instructions.iter() {
        if instruction.op.opcode().is_elementwise() {
            let is_tiled = |operand: InstrId| {
                let transposes = matches!(entry.instructions[operand].op, Op::Transpose { .. });
                (transposes && Transposed::of(entry, operand, &[], target).is_ok()).then_some(operand)
            };
            of[id.index()] =
                instruction.operands.iter().find_map(|operand| of[operand.index()].or_else(|| is_tiled(*operand)));
        }
    }
    of
}

struct Walk<'a> {
    module: &'a Module,
    program: ComputationId,
    entry: &'a Computation,
    supports: Vec<Support>,
    target: &'a Target,
    budget: &'a Budget,
    grouping: Grouping,
    leaves: Leaves,
    asked: &'a BTreeMap<Site, String>,
    users: Vec<Vec<InstrId>>,
    splats: Vec<Option<Scalar>>,
    /// For each instruction that an element of a transposition through tiles is computed into, such a transposition.
    transposed: Vec<Option<InstrId>>,
    /// For each instruction whether it is transposed for tiles of a convolution.
    ordered: Vec<bool>,
    prologues: Prologues,
    /// For each instruction the scan that it is, if kernels are shaped around it.
    scans: Vec<Option<Scan>>,
    is_output: Vec<bool>,
    /// For each fused instruction the kernels it is in and where in each.
    homes: Vec<IndexMap<usize, Counted>>,
    /// For each instruction the kernels that have read it from a buffer, each as often as it has been given that input.
    readers: Vec<Vec<usize>>,
    kernels: Vec<Kernel>,
    /// For each function, in the order of their numbers, how often its code is written in its kernel, where functions stand in place of calls.
    copies: Vec<f64>,
    decisions: &'a mut Vec<Decision>,
    candidates: &'a mut Vec<Candidate>,
}

/// What fusing a producer into one kernel would do there.
struct Offer {
    kernel: usize,
    home: Counted,
    inputs: BTreeSet<InstrId>,
    evaluations: f64,
    /// Whether it would be computed more often than it has elements, where values of the program say.
    is_gathered_again: bool,
}

impl Walk<'_> {
    fn visit(&mut self, id: InstrId) -> Result<(), Diagnostics> {
        if let Support::Stays(reason) = &self.supports[id.index()] {
            if let Some((_, reason)) = reason.clone() {
                self.decide(id, Verdict::Stays, format!("not yet compiled: {reason}"));
            } else if is_control_flow(&self.entry.instructions[id].op) {
                let asked = self.asked.get(&Site { computation: self.program, instruction: id });
                let why = asked.map(|asked| format!("; {asked}")).unwrap_or_default();
                self.decide(id, Verdict::Stays, format!("what it runs is fused by itself{why}"));
            }
            return Ok(());
        }
        if self.users[id.index()].is_empty() && !self.is_output[id.index()] {
            return Ok(());
        }
        if self.splats[id.index()].is_some() && !self.is_output[id.index()] && !self.is_read_whole(id) {
            return Ok(());
        }
        let refusal = match self.must_materialize(id) {
            Some(reason) => reason,
            None => match self.offers(id)? {
                Ok(offers) => {
                    let compared = self.compared(id, &offers);
                    let refusal = self.refused_for_time(id, &offers, compared);
                    self.consider(id, &offers, compared, refusal.clone());
                    match refusal {
                        None => {
                            self.accept(id, offers);
                            return Ok(());
                        }
                        Some(reason) => reason,
                    }
                }
                Err(reason) => {
                    let candidate = Candidate {
                        kind: Move::IntoUsers,
                        kernels: vec![name_in(self.module, self.program, id)],
                        nanoseconds: None,
                        is_taken: false,
                        reason: reason.clone(),
                    };
                    self.candidates.push(candidate);
                    reason
                }
            },
        };
        self.decide(id, Verdict::Kernel, refusal);
        self.materialize(id)
    }

    fn decide(&mut self, id: InstrId, verdict: Verdict, reason: String) {
        let instruction = name_in(self.module, self.program, id);
        self.decisions.push(Decision { instruction, verdict, reason });
    }

    /// Whether something that is no kernel of ours takes this value as an operand: a fusion that the program brought along, or what
    /// stays as it is.
    fn is_read_whole(&self, id: InstrId) -> bool {
        self.reader(id, |support| matches!(support, Support::Stays(_))).is_some()
    }

    /// A user that is set apart in this way.
    fn reader(&self, id: InstrId, is_meant: impl Fn(&Support) -> bool) -> Option<&Instruction> {
        let user = self.users[id.index()].iter().find(|user| is_meant(&self.supports[user.index()]));
        user.map(|user| &self.entry.instructions[*user])
    }

    fn must_materialize(&self, id: InstrId) -> Option<String> {
        if let Support::Alone((_, reason)) = &self.supports[id.index()] {
            return Some(format!("not yet compiled: {reason}"));
        }
        if self.is_output[id.index()] {
            return Some("it is an output".to_owned());
        }
        if self.grouping == Grouping::Alone {
            return Some("nothing is fused, as was asked for".to_owned());
        }
        match self.entry.instructions[id].op {
            Op::ReduceWindow { .. } if self.scans[id.index()].is_some() => {}
            Op::Reduce { .. } | Op::ReduceWindow { .. } => return Some("a reduction roots its kernel".to_owned()),
            Op::Scatter { .. } => return Some("a scatter roots its kernel".to_owned()),
            Op::Dot { .. } | Op::Convolution { .. } => return Some("a sum of products roots its kernel".to_owned()),
            _ => {}
        }
        if self.ordered[id.index()] {
            return Some("tiles of a convolution read it side by side".to_owned());
        }
        if let Some(reader) = self.reader(id, |support| matches!(support, Support::Stays(_))) {
            return Some(match reader.op {
                Op::Fusion { .. } => "a fusion of the program reads it".to_owned(),
                _ => format!("{} reads it, which stays as it is", reader.name),
            });
        }
        let reader = self.reader(id, |support| matches!(support, Support::Alone(_)))?;
        Some(format!("{} reads it, which is not yet compiled", reader.name))
    }

    /// Why a value may not be in the same kernel as its root, where one of the two can be compiled and the other cannot.
    fn is_set_apart(&self, id: InstrId, root: InstrId) -> Option<String> {
        let (own, other) = (self.supports[id.index()].reason(), self.supports[root.index()].reason());
        let root = &self.entry.instructions[root].name;
        match (own, other) {
            (Some((_, reason)), None) => Some(format!("not yet compiled, as the kernel of {root} is: {reason}")),
            (None, Some((_, reason))) => Some(format!("the kernel of {root} is not yet compiled: {reason}")),
            _ => None,
        }
    }

    /// What fusing `id` into the kernels of all its users would do, or why it may not be.
    fn offers(&mut self, id: InstrId) -> Result<Result<Vec<Offer>, String>, Diagnostics> {
        let instruction = &self.entry.instructions[id];
        let mut accesses: IndexMap<usize, Vec<Counted>> = IndexMap::new();
        for &user in &self.users[id.index()] {
            for (&kernel, home) in &self.homes[user.index()] {
                for (position, operand) in self.entry.instructions[user].operands.iter().enumerate() {
                    // What reads through values of the program reads those, too.
                    let Instruction { op, operands, .. } = &self.entry.instructions[user];
                    let is_start = reads_at_values(op, position, operands.len());
                    if *operand != id && !is_start {
                        continue;
                    }
                    if *operand == id && is_replaced(self.module, self.entry, user, position)
                        || self.updates_in_place((kernel, user), position, instruction)
                    {
                        let root = &self.entry.instructions[user].name;
                        return Ok(Err(format!("{root} updates it where it lies")));
                    }
                    let is_scanned = position < self.entry.instructions[user].operands.len() / 2;
                    if *operand == id && is_scanned && self.scans[user.index()].is_some() {
                        // It goes over the elements once, whatever its window is.
                        accesses.entry(kernel).or_default().push(home.clone());
                        continue;
                    }
                    let Some(read) = operand_access(self.entry, user, home, position)? else { continue };
                    let starts = read.runtime.into_iter().filter(|(owner, _)| *owner == id).map(|(_, start)| start);
                    let mut own = (*operand == id).then_some(read.access);
                    if let (Some(own), Some(evaluations)) = (&mut own, self.prologues.evaluations(id, user, position)) {
                        own.evaluations = evaluations;
                    }
                    for access in own.into_iter().chain(starts) {
                        accesses.entry(kernel).or_default().push(access);
                    }
                }
            }
        }
        if let Some(scan) = &self.scans[id.index()]
            && let Err(reason) = self.joins_as_scan(id, scan, &accesses)
        {
            return Ok(Err(reason));
        }
        let elements = element_count(&instruction.shape);
        let mut spared = elements;
        let mut offers = Vec::new();
        for (kernel, accesses) in accesses {
            let is_gathered = accesses.iter().any(|counted| !counted.access.map.runtime().is_empty());
            let home = match place(self.entry, id, &accesses, false) {
                Placement::Own { .. } if self.scans[id.index()].is_some() => accesses[0].clone(),
                Placement::Join(home) => home,
                Placement::Own { evaluations, depth, .. } => {
                    let of_callers = |counted: &&Counted| self.copies[counted.access.function.0 as usize];
                    let copies = distinct(&accesses).iter().map(of_callers).sum();
                    self.own_function(id, evaluations, depth, copies)
                }
            };
            let state = &self.kernels[kernel];
            if let Some(reason) = self.is_set_apart(id, state.root) {
                return Ok(Err(reason));
            }
            if home.access.depth > MAX_DEPTH {
                let (root, depth) = (&self.entry.instructions[state.root].name, home.access.depth);
                return Ok(Err(format!("in the kernel of {root} it would stand in {depth} branches and loops")));
            }
            if let Some(reason) = self.branches_in_tiles(id, state) {
                return Ok(Err(reason));
            }
            let is_again = operation_cost(&instruction.op) > 0.0 && home.evaluations > elements;
            if let Some(of) = self.prologues.once_in(id, state.root).filter(|_| is_again) {
                let [root, of] = [state.root, of].map(|id| &self.entry.instructions[id].name);
                return Ok(Err(format!("the tiles of {root} would compute it again, and the kernel of {of} can once")));
            }
            let inputs = self.inputs_with(state, id);
            let limit = self.target.max_storage_buffers as usize;
            let buffers = inputs.len() + state.results;
            let grows = inputs.len() > state.inputs.len();
            if buffers > limit && grows {
                let root = &self.entry.instructions[state.root].name;
                let reason = format!("in the kernel of {root} it would need {buffers} buffers of {limit}");
                return Ok(Err(reason));
            }
            if state.members.len() >= self.budget.instructions_per_kernel {
                let root = &self.entry.instructions[state.root].name;
                let most = self.budget.instructions_per_kernel;
                return Ok(Err(format!("the kernel of {root} has {most} instructions already")));
            }
            let inlined = state.inlined + self.copies[home.access.function.0 as usize];
            if inlined > self.budget.inlined_per_kernel as f64 {
                let (root, most) = (&self.entry.instructions[state.root].name, self.budget.inlined_per_kernel);
                let reason = format!(
                    "the kernel of {root} would have {inlined:.0} instructions without calls, more than {most}"
                );
                return Ok(Err(reason));
            }
            if let Some(transposition) = self.transposed[id.index()]
                && home.evaluations > elements
                && !is_loop(&self.entry.instructions[state.root].op)
            {
                let root = &self.entry.instructions[state.root].name;
                let transposition = &self.entry.instructions[transposition].name;
                return Ok(Err(format!(
                    "in the kernel of {root} it would be computed again of {transposition}, which a kernel transposes through tiles once"
                )));
            }
            // The first evaluation of each element, in whichever kernel, is not recomputation.
            let mut again = (home.evaluations - spared).max(0.0);
            spared = (spared - home.evaluations).max(0.0);
            if self.prologues.is_of_tiles(id, state.root) {
                // By the time that it takes.
                again = 0.0;
            }
            let evaluations = again * operation_cost(&instruction.op);
            let excess = (state.excess + evaluations) / state.elements.max(1.0);
            if evaluations > 0.0 && excess > self.budget.excess_per_element {
                let root = &self.entry.instructions[state.root].name;
                let most = self.budget.excess_per_element;
                let reason = format!(
                    "in the kernel of {root} recomputation would reach {excess:.1} units per element, more than {most}"
                );
                return Ok(Err(reason));
            }
            let is_gathered_again = is_gathered && home.evaluations > elements;
            offers.push(Offer { kernel, home, inputs, evaluations, is_gathered_again });
        }
        Ok(Ok(offers))
    }

    /// Why a device in software does not compute an instruction for tiles of sums of products: it [branches].
    fn branches_in_tiles(&self, id: InstrId, state: &Kernel) -> Option<String> {
        let is_meant =
            branches(&self.entry.instructions[id].op) && self.target.is_software() && self.prologues.feeds_tiles(id);
        let sum = state.members.iter().find(|member| self.prologues.branches(**member)).filter(|_| is_meant)?;
        Some(format!(
            "it branches, in the code for each element of the tiles of {}",
            self.entry.instructions[*sum].name
        ))
    }

    /// Whether a scan may be computed where it is read: in one kernel, at the elements that this computes, each once.
    fn joins_as_scan(&self, id: InstrId, scan: &Scan, accesses: &IndexMap<usize, Vec<Counted>>) -> Result<(), String> {
        let instructions = &self.entry.instructions;
        let Some((kernel, accesses)) = accesses.first().filter(|_| accesses.len() == 1) else {
            return Err("several kernels read the scan".to_owned());
        };
        let (number, kernel) = (kernel, &self.kernels[*kernel]);
        let root = &instructions[kernel.root];
        let extents = leaf_extents(&root.shape);
        let own = self.homes[kernel.root.index()].get(number).map(|home| home.access.function);
        let is_at_element = |Counted { access, .. }: &Counted| {
            let is_plain = access.block.is_none() && !access.is_guarded && access.map.runtime().is_empty();
            is_plain && own == Some(access.function) && is_bitcast(&access.map, &extents, &scan.extents)
        };
        if matches!(root.shape, Shape::Tuple(_)) || matches!(instructions[id].shape, Shape::Tuple(_)) {
            return Err("a scan of several arrays roots its kernel".to_owned());
        }
        if matches!(root.op, Op::DynamicUpdateSlice) || !accesses.iter().all(is_at_element) {
            return Err(format!("{} reads the scan at other elements than its own", root.name));
        }
        let alike = |other: &Scan| {
            (&other.extents, other.dimension, other.is_reversed) == (&scan.extents, scan.dimension, scan.is_reversed)
        };
        match kernel.scan.and_then(|other| self.scans[other.index()].as_ref()) {
            Some(other) if !alike(other) => Err(format!("the kernel of {} scans along other lines", root.name)),
            _ => Ok(()),
        }
    }

    /// Whether `user` roots a kernel that writes another update into what this update leaves: two small kernels, where one would compute
    /// every element.
    fn updates_in_place(&self, (kernel, user): (usize, InstrId), position: usize, producer: &Instruction) -> bool {
        let is_update = |op: &Op| matches!(op, Op::DynamicUpdateSlice);
        let both = is_update(&producer.op) && is_update(&self.entry.instructions[user].op);
        both && position == 0 && self.kernels[kernel].root == user
    }

    /// What the kernel would read if it computed `id` itself.
    fn inputs_with(&self, kernel: &Kernel, id: InstrId) -> BTreeSet<InstrId> {
        let mut inputs = kernel.inputs.clone();
        inputs.remove(&id);
        inputs.extend(self.buffer_operands(id).filter(|operand| !kernel.members.contains(operand)));
        inputs
    }

    /// The operands of `id` that are read through buffers unless they are fused.
    fn buffer_operands(&self, id: InstrId) -> impl Iterator<Item = InstrId> {
        let operands = self.entry.instructions[id].operands.iter().copied();
        operands.filter(|operand| self.splats[operand.index()].is_none())
    }

    fn own_function(&mut self, id: InstrId, evaluations: f64, depth: u32, copies: f64) -> Counted {
        let function = FunctionId(u32::try_from(self.copies.len()).unwrap_or(u32::MAX));
        self.copies.push(copies);
        let map = identity(&leaf_extents(&self.entry.instructions[id].shape));
        Counted { access: Access { function, block: None, depth, is_guarded: false, map }, evaluations }
    }

    fn accept(&mut self, id: InstrId, offers: Vec<Offer>) {
        let roots: Vec<&str> =
            offers.iter().map(|offer| self.entry.instructions[self.kernels[offer.kernel].root].name.as_str()).collect();
        let reason = match roots.as_slice() {
            [] => "none of its elements is needed".to_owned(),
            roots => format!("into {}", roots.join(", ")),
        };
        for offer in offers {
            let kernel = &mut self.kernels[offer.kernel];
            kernel.members.insert(id);
            if self.scans[id.index()].is_some() {
                kernel.scan = Some(id);
            }
            kernel.inputs = offer.inputs;
            kernel.excess += offer.evaluations;
            kernel.inlined += self.copies[offer.home.access.function.0 as usize];
            self.homes[id.index()].insert(offer.kernel, offer.home);
            self.note_readers(id, offer.kernel);
        }
        // Kernels to which nothing was offered read none of its elements; it gets no buffer for their sake.
        for kernel in std::mem::take(&mut self.readers[id.index()]) {
            self.kernels[kernel].inputs.remove(&id);
        }
        self.decide(id, Verdict::Fused, reason);
    }

    /// Remembers that a kernel reads the operands of an instruction, which it computes.
    fn note_readers(&mut self, id: InstrId, kernel: usize) {
        let operands: Vec<InstrId> = self.buffer_operands(id).collect();
        operands.into_iter().for_each(|operand| self.readers[operand.index()].push(kernel));
    }

    fn materialize(&mut self, id: InstrId) -> Result<(), Diagnostics> {
        let instruction = &self.entry.instructions[id];
        let elements = element_count(&instruction.shape);
        let inputs: BTreeSet<InstrId> = self.buffer_operands(id).collect();
        let read = results::read_of(self.entry, &self.users, id);
        let results = read.map_or(instruction.shape.leaves().len(), |read| read.len());
        let (buffers, limit) = (inputs.len() + results, self.target.max_storage_buffers as usize);
        if buffers > limit && self.supports[id.index()] == Support::Compiled {
            let message = format!("it needs {buffers} buffers and the target lets a kernel bind {limit}");
            return Err(Diagnostic::new("HLO404", instruction.span, message).about(&instruction.name).into());
        }
        let home = self.own_function(id, elements, 0, 1.0);
        self.homes[id.index()].insert(self.kernels.len(), home);
        self.note_readers(id, self.kernels.len());
        // A product reads each element many times: what is computed of it is computed again each time.
        let walked = match is_loop(&instruction.op) {
            true => inputs
                .iter()
                .map(|input| element_count(&self.entry.instructions[*input].shape))
                .fold(elements, f64::max),
            false => elements,
        };
        let members = BTreeSet::from([id]);
        let scan = self.scans[id.index()].as_ref().map(|_| id);
        self.kernels.push(Kernel {
            root: id,
            members,
            inputs,
            results,
            scan,
            elements: walked,
            excess: 0.0,
            inlined: 1.0,
        });
        Ok(())
    }
}
