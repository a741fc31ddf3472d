//! Loops that are one kernel: a workgroup makes their rounds, and what is carried from round to round stays in its memory.

mod cost;
mod places;
mod walk;

use crate::{Form, Fused, FusionPlan, Site, Target, Tiling};
use cost::Round;
pub(crate) use cost::{operations, serial_nanoseconds, units};
use places::Places;
use std::collections::BTreeSet;
use walk::{Value, Walk};
use weft_hlo::ir::{ArrayShape, Computation, InstrId, Op};

/// A `while` that one workgroup runs as one kernel, round after round: the steps of a round, and where their values lie.
///
/// A loop is one if
/// - its condition and its body consist of fusions that have kernels, of constants and of what names their values, of conditionals, and of loops whose number
///   of rounds is known, of the same: nothing that the host computes stands in them, and no loop that might not end within a dispatch;
/// - what it carries and what a round makes of it fits in the workgroup memory of the target, an element of whatever type in whole words, where
///   what a round needs no longer leaves its place to others;
/// - what it reads from outside, what it carries and its flag are no more buffers than a kernel may bind;
/// - a round takes a workgroup no longer than its launches would take ([`nanoseconds`](Self::nanoseconds)).
///
/// A round of so many units of work, the rounds of loops in it and the longest of branches included, ([`operation_cost`](crate::operation_cost), and one for each element that is moved) in `k` launches is taken to
/// take a workgroup of `n` invocations `8 units / min(n, lanes of a core) + 128 k` cycles, since nothing hides what its operations wait for, and its
/// launches `k` times what a launch takes besides its work, and `units / (2 lanes of all cores)` cycles; of a conditional the host reads which branch is
/// taken, in 65 µs, and a loop in it is one launch where that takes less.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopPlan {
    /// What rounds read and do not change.
    pub read: Vec<Outside>,
    /// What is carried from round to round; what the body passes on as it is is read instead.
    pub carried: Vec<Carried>,
    /// The memory of the workgroup: what is carried first, in its order, then what rounds make.
    pub tiles: Vec<ArrayShape>,
    /// What computes the condition; nothing where the number of rounds is known.
    pub condition: Vec<RoundStep>,
    /// The tile of the condition's one `pred`; `None` where the number of rounds is known.
    pub flag: Option<usize>,
    /// What computes a round.
    pub body: Vec<RoundStep>,
    /// How many rounds there are, where that is known.
    pub trip_count: Option<u64>,
    /// Invocations of the workgroup: 1 where everything is a scalar, else as many as the largest of what is computed has elements, in whole powers
    /// of two, at least 64 but on software devices, at most 256.
    pub threads: u32,
    /// Nanoseconds that a round is taken to take.
    pub nanoseconds: u64,
    /// Nanoseconds that its launches are taken to take.
    pub launched_nanoseconds: u64,
    /// How many rounds a dispatch makes at most: those of half the time that a dispatch may take on the target, or of 50 milliseconds.
    pub rounds: u32,
}

/// What a loop reads from outside.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// A leaf of the loop's operand, left to right.
    Leaf(usize),
    /// A constant.
    Constant(Site),
}

/// An array that a loop carries from round to round.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Which leaf of the loop's operand, and of its result.
    pub leaf: usize,
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: ArrayShape,
    /// What a round makes of it.
    pub next: Place,
    /// Whether a kernel reads it in one buffer and writes it to another: what lies packed, for parts of a word belong to several invocations, and what begins
    /// as a constant, which would have to be copied, if a kernel may bind so many buffers. Else it is updated in place.
    pub apart: bool,
}

/// Where a value lies that a round reads.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In this tile.
    Tile(usize),
    /// In the buffer of this of [`LoopPlan::read`].
    Read(usize),
}

/// A step of a round.
#[derive(Clone, Debug, PartialEq)]
pub enum RoundStep {
    /// Values are computed.
    Fusion(FusionStep),
    /// Steps are taken over and over, a known number of times.
    Loop(LoopStep),
    /// The steps of one of several branches are taken.
    Choice(ChoiceStep),
}

/// A fusion of a round.
#[derive(Clone, Debug, PartialEq)]
pub struct FusionStep {
    /// The fusion.
    pub fusion: Site,
    /// Its plan as a loop over all elements of its results.
    pub plan: Box<FusionPlan>,
    /// Where its operands lie.
    pub operands: Vec<Place>,
    /// The tiles that its results are made in.
    pub results: Vec<usize>,
}

/// A loop within a round.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopStep {
    /// How many rounds it makes.
    pub rounds: u32,
    /// What it carries from one to the next.
    pub carried: Vec<InnerCarried>,
    /// What it does in each.
    pub body: Vec<RoundStep>,
}

/// An array that a loop within a round carries.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InnerCarried {
    /// What it begins with.
    pub initial: Place,
    /// Where it lies, and where what is left of it lies behind the loop.
    pub tile: usize,
    /// What a round of that loop makes of it.
    pub next: Place,
}

/// Branches within a round.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceStep {
    /// What decides: one `pred`, whose truth takes the first of two branches, or one `s32`, the number of the branch; a number that there is no branch for
    /// takes the last.
    pub selector: Place,
    /// Whether it is a `pred`.
    pub is_pred: bool,
    /// The branches.
    pub branches: Vec<BranchStep>,
    /// The tiles that what the branches yield is copied to.
    pub results: Vec<usize>,
}

/// One of several branches.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchStep {
    /// What it does.
    pub steps: Vec<RoundStep>,
    /// What it yields, a value for each result.
    pub results: Vec<Place>,
}

/// Rounds of a dispatch at most, however little they cost.
const MAX_ROUNDS: u64 = 1 << 24;

/// Milliseconds that a dispatch may take where nobody watches.
const MILLISECONDS: u32 = 100;

impl LoopPlan {
    /// The plan of a loop of a fused program.
    ///
    /// # Errors
    /// Why the loop is no kernel.
    pub fn new(fused: &Fused, site: Site, target: &Target) -> Result<LoopPlan, String> {
        let instruction = fused.instruction(site).ok_or("there is no such instruction")?;
        let Op::While { condition, body } = instruction.op else { return Err("it is no loop".to_owned()) };
        let trip_count = fused.trip_counts.get(&site).copied();
        let refused: BTreeSet<Site> = fused.uncompiled.iter().map(|one| one.site).collect();
        let mut walk = Walk::new(fused, target, refused);
        let state: Vec<Value> = (0..instruction.shape.leaves().len()).map(Value::Leaf).collect();
        let (body, next) = walk.block(body, &state)?;
        let (condition, flag) = match trip_count {
            Some(_) => (Vec::new(), None),
            None => {
                let (steps, flag) = walk.block(condition, &state)?;
                (steps, Some(*flag.first().ok_or("its condition has no value")?))
            }
        };
        let next: Vec<Value> = next.into_iter().map(|next| walk.known(next)).collect();
        let flag = flag.map(|flag| walk.known(flag));
        let mut shapes = Vec::new();
        for leaf in instruction.shape.leaves() {
            let shape = leaf.as_array().ok_or("it carries something that is no array")?;
            shapes.push(ArrayShape { layout: None, ..shape.clone() });
        }
        let is_carried = |leaf: usize| next.get(leaf).is_some_and(|next| *next != Value::Leaf(leaf));
        let carried: Vec<usize> = (0..shapes.len()).filter(|leaf| is_carried(*leaf)).collect();
        let mut places = Places::new(&walk, &shapes, &carried);
        if places.tiles().iter().any(|shape| shape.element_count().is_none_or(|count| count == 0)) {
            return Err("it carries an array without elements".to_owned());
        }
        let after_condition: Vec<Value> = flag.into_iter().collect();
        let (condition, _) = places.steps(condition, &after_condition)?;
        let flag = match flag.map(|flag| places.place(flag)).transpose()? {
            None => None,
            Some(Place::Tile(tile)) => Some(tile),
            Some(Place::Read(_)) => return Err("no round changes its condition".to_owned()),
        };
        let (body, _) = places.steps(body, &next)?;
        let names = |leaf: usize| format!("{}{{{leaf}}}", instruction.name);
        let constants = constant_leaves(&fused.module.computations[site.computation], site.instruction);
        let mut with_next = |leaf: usize| {
            let (name, shape, next) = (names(leaf), shapes[leaf].clone(), places.place(next[leaf])?);
            let apart = is_packed(&shape) || constants.contains(&leaf);
            Ok(Carried { leaf, name, shape, next, apart })
        };
        let mut carried = carried.into_iter().map(&mut with_next).collect::<Result<Vec<Carried>, String>>()?;
        if carried.is_empty() {
            return Err("it carries nothing".to_owned());
        }
        let (tiles, read) = places.finish();
        let (threads, nanoseconds, launched_nanoseconds) =
            judged(fused, &tiles, (&condition, &body), &carried, target)?;
        if buffers(&read, &carried, flag.is_some()) > target.max_storage_buffers as usize {
            carried.iter_mut().for_each(|carried| carried.apart = is_packed(&carried.shape));
        }
        within_limits(&tiles, &read, &carried, flag.is_some(), target)?;
        let milliseconds = u64::from(target.max_dispatch_milliseconds.unwrap_or(MILLISECONDS));
        let most = milliseconds * 500_000;
        if nanoseconds > most {
            return Err(format!("a round takes {nanoseconds} ns in one workgroup, and a dispatch may take {most}"));
        }
        let rounds = (most / nanoseconds.max(1)).clamp(1, MAX_ROUNDS);
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        Ok(LoopPlan {
            read,
            carried,
            tiles,
            condition,
            flag,
            body,
            trip_count,
            threads,
            nanoseconds,
            launched_nanoseconds,
            rounds,
        })
    }

    /// Why the loop is a kernel, as a reader is told.
    pub fn why(&self) -> String {
        let LoopPlan { nanoseconds, launched_nanoseconds, .. } = self;
        format!("a round takes one workgroup {nanoseconds} ns, and {launched_nanoseconds} ns in launches")
    }
}

/// The invocations of the workgroup, and the nanoseconds of a round there and in launches.
fn judged(
    fused: &Fused,
    tiles: &[ArrayShape],
    (condition, body): (&[RoundStep], &[RoundStep]),
    carried: &[Carried],
    target: &Target,
) -> Result<(u32, u64, u64), String> {
    let mut round = Round::of(fused, tiles, condition)?;
    round.add(Round::of(fused, tiles, body)?);
    for Carried { shape, .. } in carried {
        round.add_moved(shape.element_count().unwrap_or(i64::MAX));
    }
    let threads = Tiling::of_rounds(round.widest, target);
    let (apart, together) = (round.launched(threads, target), round.together(threads, target));
    if together > apart {
        return Err(format!("a round takes {apart} ns in launches and {together} ns in one workgroup"));
    }
    Ok((threads, together, apart))
}

/// Whether tiles and buffers are within a target's limits.
fn within_limits(
    tiles: &[ArrayShape],
    read: &[Outside],
    carried: &[Carried],
    has_flag: bool,
    target: &Target,
) -> Result<(), String> {
    let bytes = |shape: &ArrayShape| {
        let parts = Form::of(shape.element_type).map(Form::parts)?;
        let elements = u64::try_from(shape.element_count()?).ok()?;
        elements.checked_mul(4 * u64::from(parts))
    };
    let most = u64::from(target.max_workgroup_storage_bytes);
    match tiles.iter().try_fold(0u64, |sum, shape| sum.checked_add(bytes(shape)?)) {
        Some(sum) if sum <= most => {}
        Some(sum) => {
            return Err(format!("a round holds {sum} bytes and a workgroup of the target {most}"));
        }
        None => return Err("what a round holds cannot be counted".to_owned()),
    }
    let buffers = buffers(read, carried, has_flag);
    if buffers > target.max_storage_buffers as usize {
        let most = target.max_storage_buffers;
        return Err(format!("its kernel would bind {buffers} buffers and the target allows {most}"));
    }
    Ok(())
}

/// How many buffers the kernel binds.
fn buffers(read: &[Outside], carried: &[Carried], has_flag: bool) -> usize {
    let of_carried = carried.iter().map(|carried| if carried.apart { 2 } else { 1 });
    read.len() + of_carried.sum::<usize>() + usize::from(has_flag)
}

fn is_packed(shape: &ArrayShape) -> bool {
    Form::of(shape.element_type).is_some_and(Form::is_packed)
}

/// The leaves of a loop's operand that are constants.
fn constant_leaves(computation: &Computation, id: InstrId) -> BTreeSet<usize> {
    let mut leaves = BTreeSet::new();
    let mut pending: Vec<InstrId> = computation.instructions[id].operands.iter().rev().copied().collect();
    let mut next = 0;
    while let Some(id) = pending.pop() {
        let instruction = &computation.instructions[id];
        match instruction.op {
            Op::Tuple => pending.extend(instruction.operands.iter().rev()),
            Op::Constant(_) => {
                leaves.insert(next);
                next += instruction.shape.leaves().len();
            }
            _ => next += instruction.shape.leaves().len(),
        }
    }
    leaves
}
