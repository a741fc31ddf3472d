//! What a kernel reads of its operands.

use crate::access::{element_count, is_identity};
use crate::plan::{Emitter, FunctionId, FusionPlan, Read};
use crate::transposed::TileOwner;
use crate::{Form, Target};
use std::collections::{BTreeMap, BTreeSet};
use weft_affine::{Atom, Expr, Term, Var};
use weft_hlo::ir::{ArrayShape, Computation, InstrId, Op};
use weft_indexing::{IndexingMap, Launch, MemoryModel, Tensor, operand_utilization};

/// Invocations of a subgroup, as transactions are counted.
const SUBGROUP: u32 = 32;

/// How many times as long as what is read in order a device in software takes for what goes through tiles.
const SOFTWARE_TILED: f64 = 2.0;

/// What a kernel reads of an operand.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct OperandReads {
    /// Bytes for the first time.
    pub(super) first: f64,
    /// Bytes again, and how long the whole device takes for them.
    pub(super) again: f64,
    pub(super) again_nanoseconds: f64,
    /// Elements that are read at places which values tell.
    pub(super) gathered: f64,
}

/// A function that reads an operand, through this map from its indices, so often.
struct Use<'p> {
    function: u32,
    extents: &'p [i64],
    map: Option<&'p IndexingMap>,
    times: f64,
    /// Whether its elements go through a tile, so that it is called for neighbors in the operand.
    is_tiled: bool,
}

impl OperandReads {
    /// What the kernel of a plan reads of each of its operands.
    pub(crate) fn all(
        computation: &Computation,
        plan: &FusionPlan,
        target: &Target,
    ) -> BTreeMap<InstrId, OperandReads> {
        let of = |(operand, uses): (InstrId, Vec<Use<'_>>)| {
            let shape = &computation.instructions[operand].shape;
            let reads = match shape.as_array() {
                Some(array) => of_operand(array, &uses, plan, target),
                None => OperandReads { first: Form::shape_bytes(shape) as f64, ..OperandReads::default() },
            };
            (operand, reads)
        };
        uses(computation, plan).into_iter().map(of).collect()
    }

    /// What is read of an operand by two that become one and read at the same elements.
    pub(crate) fn with(&self, other: &OperandReads) -> OperandReads {
        let more = if self.first + self.again < other.first + other.again { other } else { self };
        *more
    }
}

/// The uses of each operand.
fn uses<'p>(computation: &Computation, plan: &'p FusionPlan) -> BTreeMap<InstrId, Vec<Use<'p>>> {
    let is_parameter = |id: &InstrId| matches!(computation.instructions[*id].op, Op::Parameter { .. });
    let (tiled, loads) = (tiled(plan), loads(plan));
    let mut all: BTreeMap<InstrId, Vec<Use<'p>>> = BTreeMap::new();
    for (number, function) in (0u32..).zip(plan.functions()) {
        let is_tiled = tiled.contains(&FunctionId(number));
        let mut add = |operand: InstrId, map: Option<&'p IndexingMap>, share: f64| {
            let rounds: f64 = map.into_iter().flat_map(IndexingMap::ranges).map(extent).product();
            let times = match loads {
                // What the windows of a workgroup have in common is loaded once.
                Some((of, loads)) if of == FunctionId(number) && rounds > 1.0 => loads,
                _ => function.evaluations * rounds * share,
            };
            let known = all.entry(operand).or_default();
            // What a function reads twice of one element it loads once.
            if !known.iter().any(|one| one.function == number && one.map == map) {
                known.push(Use { function: number, extents: &function.extents, map, times, is_tiled });
            }
        };
        for root in function.roots.iter().filter(|root| is_parameter(&root.instruction)) {
            add(root.instruction, Some(&root.map), 1.0);
        }
        for member in &function.members {
            for (position, operand) in computation.instructions[*member].operands.iter().enumerate() {
                if !is_parameter(operand) {
                    continue;
                }
                let share = share(computation, plan, *member, position);
                match plan.read(*member, position) {
                    Read::At(map) => add(*operand, Some(map), share),
                    Read::Runtime => add(*operand, None, share),
                    Read::Splat | Read::Never | Read::Given => {}
                }
            }
        }
    }
    all
}

/// For how many of the elements of its function an instruction reads this operand: of a concatenation each of them for some, of what is padded for those that are no padding, and so does what is
/// computed for these alone.
fn share(computation: &Computation, plan: &FusionPlan, member: InstrId, position: usize) -> f64 {
    let mut share = 1.0;
    let mut place = Some((member, position));
    while let Some((owner, position)) = place {
        let instruction = &computation.instructions[owner];
        let is_part = match instruction.op {
            Op::Concatenate { .. } => true,
            Op::Pad { .. } => position == 0,
            _ => false,
        };
        if let Some(operand) = instruction.operands.get(position).filter(|_| is_part) {
            let part = element_count(&computation.instructions[*operand].shape);
            share *= (part / element_count(&instruction.shape).max(1.0)).min(1.0);
        }
        place = plan.block(owner);
    }
    share
}

/// Of what share of an operand the elements lie that are read again before others are, where windows overlap: as many rows as a window has, along the first dimension that it has some of.
fn in_windows(map: &IndexingMap, extents: &[i64]) -> f64 {
    let mut share = 1.0;
    for (result, extent) in map.results().iter().zip(extents) {
        let variables = result.variables();
        let is_over = variables.iter().any(|variable| matches!(variable, Var::Dim(_)));
        let rounds = variables.iter().filter_map(|variable| match variable {
            Var::Range(range) => map.ranges().get(*range as usize).map(self::extent),
            _ => None,
        });
        let rounds: f64 = rounds.product();
        if is_over && rounds > 1.0 {
            return share * (rounds / (*extent as f64).max(1.0)).min(1.0);
        }
        if !is_over {
            return 1.0;
        }
        share /= (*extent as f64).max(1.0);
    }
    1.0
}

fn extent(variable: &weft_indexing::Variable) -> f64 {
    (variable.bounds().hi - variable.bounds().lo + 1).max(0) as f64
}

/// The functions whose elements go from rows to columns through tiles.
fn tiled(plan: &FusionPlan) -> BTreeSet<FunctionId> {
    match plan.emitter() {
        Emitter::Transposed(_) => {
            let heroes = plan.heroes().iter().filter(|hero| hero.why_loop.is_none());
            heroes.flat_map(|hero| hero.prologues.iter().copied().chain([hero.function])).collect()
        }
        // Workgroups fill tiles along what lies side by side.
        Emitter::Product(product) if product.tiles == TileOwner::Workgroup => {
            plan.factors().iter().flat_map(|factors| [factors.lhs, factors.rhs]).collect()
        }
        Emitter::Attention(attention) if attention.tiles == TileOwner::Workgroup => {
            plan.attended().into_iter().flat_map(|it| [it.query, it.key, it.value]).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// The function of windows that overlap, and how many elements of an operand workgroups load for these.
fn loads(plan: &FusionPlan) -> Option<(FunctionId, f64)> {
    let Emitter::Windowed(windowed) = plan.emitter() else { return None };
    let hero = plan.heroes().iter().find(|hero| hero.why_loop.is_none())?;
    Some((hero.function, windowed.loads() as f64))
}

/// What is read of an operand.
fn of_operand(array: &ArrayShape, uses: &[Use<'_>], plan: &FusionPlan, target: &Target) -> OperandReads {
    let hardware = &target.hardware;
    let whole = Form::tensor_bytes(array).unwrap_or(0) as f64;
    let elements: f64 = array.extents.iter().map(|extent| *extent as f64).product();
    if elements <= 0.0 {
        return OperandReads::default();
    }
    let element_bytes = whole / elements;
    let read: f64 = uses.iter().map(|one| one.times).sum();
    let touched = touched(array, uses).unwrap_or(elements).min(read).min(elements);
    let mut first = touched * element_bytes;
    // Where one use is of neighbors, the others find what it has fetched; a small operand is in a cache at once.
    if whole > f64::from(hardware.l1_bytes_per_core) {
        let waste = uses.iter().map(|one| waste(one, array, element_bytes, target)).fold(f64::INFINITY, f64::min);
        first *= waste.clamp(1.0, f64::from(hardware.dram_transaction_bytes) / element_bytes.max(0.125));
    }
    // Tiles of registers are four rows of four elements: of what is fetched a part waits for the next tile, in a cache or not.
    if target.is_software() && uses.iter().any(|one| one.is_tiled) {
        first *= SOFTWARE_TILED;
    }
    let again = (read - touched).max(0.0) * element_bytes;
    let windows = uses.iter().map(|one| one.map.map_or(1.0, |map| in_windows(map, &array.extents)));
    let in_use = windows.fold(0.0, f64::max) * touched * element_bytes;
    let speed = speed_of_level(held(in_use, uses, plan, target), target);
    let is_gathered = |one: &&Use<'_>| one.map.is_some_and(|map| !map.runtime().is_empty());
    let gathered = uses.iter().filter(is_gathered).map(|one| one.times).sum();
    OperandReads { first, again, again_nanoseconds: 1e9 * again / speed, gathered }
}

/// Bytes of an operand that are in use at one time: in a core, and in all of them. Where workgroups fold rows, and read it as elements of these, those of the rows of a workgroup.
fn held(bytes: f64, uses: &[Use<'_>], plan: &FusionPlan, target: &Target) -> [f64; 2] {
    let Emitter::Reduced(reduced) = plan.emitter() else { return [bytes, bytes] };
    let count = |extents: &[i64]| extents.iter().copied().fold(1, i64::saturating_mul);
    if !uses.iter().all(|one| count(one.extents) == reduced.elements()) {
        return [bytes, bytes];
    }
    let [inner, outer] = reduced.workgroups();
    let workgroup = bytes / (inner as f64 * outer as f64).max(1.0);
    [workgroup, workgroup * f64::from(target.hardware.cores)]
}

/// Elements that are read at all, at most.
fn touched(array: &ArrayShape, uses: &[Use<'_>]) -> Option<f64> {
    let is_whole =
        |one: &Use<'_>| one.map.is_some_and(|map| is_identity(map) && one.extents == array.extents.as_slice());
    if uses.iter().any(is_whole) {
        return None;
    }
    // Maps of different functions have nothing to do with one another.
    let mut all = 0.0;
    for one in uses {
        let map = one.map.filter(|map| map.runtime().is_empty())?;
        let found = operand_utilization(std::slice::from_ref(map), &array.extents).ok()?;
        all += found.union.used.greatest() as f64;
    }
    Some(all)
}

/// Nanoseconds for so many reads of an array of so many bytes at places that values tell: of each a transaction is paid, with the cache that holds the array, or else with memory.
pub(crate) fn gathered_nanoseconds(bytes: f64, reads: f64, target: &Target) -> f64 {
    let hardware = &target.hardware;
    let moved = reads * f64::from(hardware.dram_transaction_bytes);
    1e9 * moved / speed_of_level([bytes, bytes], target)
}

/// Bytes per second of the nearest level that holds so many bytes, of those in use in a core and in all of them.
fn speed_of_level([of_core, of_all]: [f64; 2], target: &Target) -> f64 {
    let hardware = &target.hardware;
    let memory = hardware.dram_bytes_per_second as f64;
    let second = memory * f64::from(hardware.l2_speed_percent) / 100.0;
    if of_core <= f64::from(hardware.l1_bytes_per_core) {
        second * f64::from(hardware.l1_speed_percent) / 100.0
    } else if of_all <= hardware.l2_bytes as f64 {
        second
    } else {
        memory
    }
}

/// How many times as many bytes as are used are fetched.
fn waste(one: &Use<'_>, array: &ArrayShape, element_bytes: f64, target: &Target) -> f64 {
    let Some(map) = one.map.filter(|_| !one.is_tiled) else { return 1.0 };
    if reads_neighbors(one.extents, map) || target.is_software() && loops_over_neighbors(map) {
        return 1.0;
    }
    transactions(one.extents, map, array, element_bytes, target).unwrap_or(1.0)
}

/// Whether neighbors along the last dimension surely read one element, or neighbors.
fn reads_neighbors(extents: &[i64], map: &IndexingMap) -> bool {
    let Some(last) = extents.iter().rposition(|extent| *extent > 1) else { return true };
    let Ok(last) = u32::try_from(last) else { return false };
    let last = Var::Dim(last);
    let depends = |expr: &Expr| expr.variables().contains(&last);
    let is_plain = |term: &Term| match term.atom.argument() {
        None => term.atom != Atom::Var(last) || term.coefficient == 1,
        Some(argument) => !depends(argument),
    };
    let Some((minor, others)) = map.results().split_last() else { return true };
    minor.terms().iter().all(is_plain) && !others.iter().any(depends)
}

/// Whether a loop reads neighbors in rounds that follow one another: an invocation of a device in software finds in its core's cache what it has fetched before.
fn loops_over_neighbors(map: &IndexingMap) -> bool {
    let is_round = |term: &Term| term.coefficient == 1 && matches!(term.atom, Atom::Var(Var::Range(_)));
    map.results().last().is_some_and(|minor| minor.terms().iter().any(is_round))
}

/// As [`waste`], counted.
fn transactions(
    extents: &[i64],
    map: &IndexingMap,
    array: &ArrayShape,
    element_bytes: f64,
    target: &Target,
) -> Option<f64> {
    let segment = target.hardware.dram_transaction_bytes;
    let model = MemoryModel::try_new(SUBGROUP, segment, segment, 16).ok()?;
    let count = extents.iter().copied().fold(1, i64::saturating_mul);
    let threads = crate::access::row_major(&[count], extents).ok()?;
    // An element of less than a byte is read with its neighbors.
    let tensor = Tensor::try_new(&array.extents, (element_bytes.ceil() as u32).max(1)).ok()?;
    let found = threads.then(map).ok()?.coalescing(&tensor, &Launch::of_thread(Var::Dim(0)), &model).ok()?;
    let totals = *found.reads?.totals.known()?;
    let efficiency = totals.efficiency(segment)?;
    Some(efficiency.denominator() as f64 / (efficiency.numerator() as f64).max(1.0))
}
