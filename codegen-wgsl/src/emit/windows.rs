//! Launches in several dispatches, where a tensor is larger than what a kernel may bind.
//!
//! Invocations are numbered through all dispatches, so a dispatch computes a stretch of the outputs. Of each tensor that is too large the
//! stretch is bound that the dispatch uses, as ranges of indices tell it. The longest stretch is taken for which all of these are small
//! enough. Where there is none, because an operand is read all over in every dispatch, that operand is bound [in parts](super::parts).

use super::parts::{Parts, in_parts};
use crate::kernel::{Kernel, Memory, MemoryId, Reach, Space, Window};
use std::collections::{BTreeMap, BTreeSet};
use weft_affine::{Expr, Interval, Ranges, simplify};
use weft_partition::{Target, Tiling};

/// Dispatches of one launch at most.
const MAX_WINDOWS: i64 = 1 << 10;

/// Bytes of a word.
const WORD_BYTES: i64 = 4;

/// Words that a window begins at a multiple of at least: those of a vector.
const LANES: i64 = 4;

/// How the elements of outputs are shared out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Division {
    /// Among the invocations of a workgroup.
    pub(super) tiling: Tiling,
    /// How many workgroups a dispatch has at most; `None` where one dispatch has them all.
    pub(super) workgroups: Option<u64>,
}

impl Division {
    /// Everything in one dispatch.
    pub(super) fn whole(tiling: Tiling) -> Self {
        Division { tiling, workgroups: None }
    }

    /// So many elements to a dispatch: in whole workgroups, or else in one smaller one.
    fn into_stretches(elements: i64, tiling: Tiling) -> Self {
        let elements = u64::try_from(elements).unwrap_or(0);
        let of_workgroup = |tiling: Tiling| u64::from(tiling.threads) * u64::from(tiling.elements.max(1));
        let tiling = if elements >= of_workgroup(tiling) {
            tiling
        } else {
            let threads = u32::try_from(elements).map_or(tiling.threads, |elements| elements.min(tiling.threads));
            Tiling { threads, elements: 1 }
        };
        Division { tiling, workgroups: Some((elements / of_workgroup(tiling)).max(1)) }
    }
}

/// The kernel with windows of what is more than the target lets a kernel bind; the kernel itself where nothing is, or why there are no
/// windows. `make` makes the kernel for another division of its launch.
pub(super) fn with_windows(
    kernel: Kernel,
    tiling: Tiling,
    target: &Target,
    make: impl Fn(Division) -> Result<Kernel, String>,
) -> Result<Kernel, String> {
    let most = target.max_storage_binding_bytes.min(target.max_buffer_bytes);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let bytes = |memory: &Memory| memory.words().map_or(i64::MAX, |words| words.saturating_mul(WORD_BYTES));
    let is_large = |memory: &Memory| memory.is_buffer() && bytes(memory) > most;
    let Some(largest) = kernel.memories.values().filter(|memory| is_large(memory)).max_by_key(|memory| bytes(memory))
    else {
        return Ok(kernel);
    };
    let refusal = format!("{} exceeds the {most} bytes that the target lets a kernel bind", largest.shape);
    let refused = |why: String| Err(format!("{refusal}, and {why}"));
    let invocations: i64 = kernel.entry.extents.iter().product();
    let mut stretch = invocations.saturating_mul(i64::from(tiling.elements.max(1)));
    // The longest that the outputs allow.
    for memory in kernel.memories.values().filter(|memory| memory.is_writable() && is_large(memory)) {
        let elements = memory.shape.element_count().unwrap_or(i64::MAX);
        let part = i128::from(elements) * i128::from(most) / i128::from(bytes(memory));
        stretch = stretch.min(i64::try_from(part).unwrap_or(i64::MAX));
    }
    let alignment = (i64::from(target.min_storage_offset_alignment) / WORD_BYTES).max(LANES);
    let room = Room { alignment, most: most / WORD_BYTES, bindings: target.max_storage_buffers as usize };
    let mut last = "there is nothing to divide".to_owned();
    // Windows of everything cost no more bindings; what is read all over has none.
    for in_parts in [false, true] {
        let mut stretch = stretch;
        while stretch > 0 {
            let divided = make(Division::into_stretches(stretch, tiling))?;
            if divided.windows > MAX_WINDOWS {
                break;
            }
            let large = |id: MemoryId| is_large(&divided.memories[id]);
            let Some(reach) = Reach::of(&divided, &large) else {
                return refused("it is read at too many places to follow".to_owned());
            };
            let windows = windows(&divided, &reach, &large, &room);
            match divided_by(&divided, windows, in_parts, &room) {
                Ok(kernel) => return Ok(kernel),
                Err(why) => last = format!("{stretch} elements of what is computed take {why}"),
            }
            stretch /= 2;
        }
    }
    refused(last)
}

/// What a target lets a kernel bind.
struct Room {
    /// Words that bindings begin at multiples of.
    alignment: i64,
    /// Words of a binding.
    most: i64,
    /// How many there may be.
    bindings: usize,
}

/// The kernel with windows, where those that would be too large may be parts; or what is too large.
fn divided_by(
    kernel: &Kernel,
    windows: Vec<(MemoryId, Result<Window, String>)>,
    may_have_parts: bool,
    room: &Room,
) -> Result<Kernel, String> {
    let mut divided: BTreeMap<MemoryId, Parts> = BTreeMap::new();
    let mut found: Vec<(MemoryId, Window)> = Vec::new();
    for (id, window) in windows {
        let memory = &kernel.memories[id];
        match window {
            Ok(window) => found.push((id, window)),
            Err(why) if !may_have_parts || kernel.may_change(id) => return Err(why),
            Err(why) => {
                divided.insert(id, Parts::of(memory, room.alignment, room.most).ok_or(why)?);
            }
        }
    }
    let (mut kernel, become_of) = in_parts(kernel, &divided).map_err(|error| error.to_string())?;
    for (id, window) in found {
        kernel.memories[become_of[&id]].window = Some(window);
    }
    let binding = |memory: &Memory| match memory.space {
        Space::Buffer { binding, .. } => Some(binding),
        Space::Workgroup | Space::Thread | Space::Matrix { .. } => None,
    };
    let bindings = kernel.memories.values().filter_map(binding).collect::<BTreeSet<u32>>().len();
    if bindings > room.bindings {
        let parts: i64 = divided.values().map(|parts| parts.count()).sum();
        return Err(format!("{parts} parts of what is read, {bindings} bindings where {} are allowed", room.bindings));
    }
    Ok(kernel)
}

/// For each memory that is too large the window that a dispatch binds of it, or the one that would be too large.
fn windows(
    kernel: &Kernel,
    reach: &Reach<'_>,
    is_large: &dyn Fn(MemoryId) -> bool,
    room: &Room,
) -> Vec<(MemoryId, Result<Window, String>)> {
    let mut windows = Vec::new();
    for (id, memory) in kernel.memories.iter().filter(|(id, _)| is_large(*id)) {
        // What lies in one buffer is bound together.
        let binding = |other: &Memory| match other.space {
            Space::Buffer { binding, .. } => Some(binding),
            Space::Workgroup | Space::Thread | Space::Matrix { .. } => None,
        };
        let together: Vec<MemoryId> =
            kernel.memories.iter().filter(|(_, other)| binding(other) == binding(memory)).map(|(id, _)| id).collect();
        let used = |number: i64| {
            together
                .iter()
                .map(|id| reach.within(*id, number))
                .fold(NOTHING, |all, one| Interval { lo: all.lo.min(one.lo), hi: all.hi.max(one.hi) })
        };
        let used: Vec<Interval> = (0..kernel.windows).map(used).collect();
        let window = window(&used, memory.words().unwrap_or(i64::MAX), room.alignment)
            .ok_or_else(|| format!("positions of %{} beyond 64 bits", memory.name))
            .and_then(|window| match window.size > room.most {
                true => Err(format!("{} words of %{}", window.size, memory.name)),
                false => Ok(window),
            });
        windows.push((id, window));
    }
    windows
}

const NOTHING: Interval = Interval { lo: i64::MAX, hi: i64::MIN };

/// The smallest window found that holds these words, one interval for each dispatch, and begins at multiples of `alignment` on a line;
/// `None` if a position leaves 64 bits.
fn window(used: &[Interval], words: i64, alignment: i64) -> Option<Window> {
    // A dispatch that uses nothing may bind anything.
    let points = (0..).zip(used.iter().copied());
    let mut points: Vec<(i64, Interval)> = points.filter(|(_, used)| used.lo <= used.hi).collect();
    if points.is_empty() {
        points.push((0, Interval::point(0)));
    }
    let (first, last) = (points.first()?, points.last()?);
    let middle = points.len() / 2;
    let (before, after) = (points.get(middle.saturating_sub(1))?, points.get(middle)?);
    let slopes = [(first, last), (before, after)].map(|(from, to)| (to.1.lo - from.1.lo, to.0 - from.0));
    let lines = slopes.into_iter().chain([(0, 1)]).filter(|(_, run)| *run > 0);
    let numbers = Interval::of_extent(i64::try_from(used.len()).ok()?);
    let windows = lines.filter_map(|slope| on_line((&points, numbers), slope, words, alignment));
    windows.min_by_key(|window| window.size)
}

/// The window that begins on a line of this rise and run, as far up as the positions allow.
fn on_line(
    (points, numbers): (&[(i64, Interval)], Interval),
    (rise, run): (i64, i64),
    words: i64,
    alignment: i64,
) -> Option<Window> {
    let (rise, run) = (rise / gcd(rise, run), run / gcd(rise, run));
    let mut base = i64::MAX;
    for (number, used) in points {
        base = base.min(used.lo.checked_mul(run)?.checked_sub(number.checked_mul(rise)?)?);
    }
    let line = Expr::dim(0).checked_mul(rise).ok()?.checked_add_constant(base).ok()?;
    let aligned = line.checked_floor_div(run.checked_mul(alignment)?).ok()?.checked_mul(alignment).ok()?;
    let ranges = Ranges { dims: vec![numbers], ranges: Vec::new(), runtime: Vec::new() };
    let mut window = Window { first: simplify(&aligned, &ranges, &[]), size: 0 };
    for (number, used) in points {
        let start = window.words(*number, words).ok()?.start;
        window.size = window.size.max(used.hi.checked_sub(start)?.checked_add(1)?);
    }
    // Whole vectors.
    window.size = window.size.checked_add(LANES - 1)? / LANES * LANES;
    Some(window)
}

/// The greatest divisor of two numbers, of which the second is positive.
fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.saturating_abs(), b);
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}
