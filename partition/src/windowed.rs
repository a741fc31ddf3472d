//! Kernels that are tiled around windows that overlap.

use crate::plan::leaf_extents;
use crate::{Form, Target};
use std::fmt;
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{Computation, ElementType, InstrId, Op, Scalar, WindowDimension};

/// Windows that overlap, of which a workgroup loads what those of its results cover into workgroup memory, once, before its invocations fold them.
///
/// What is loaded is a box of the operand: the tile of its indexing map for a box of results ([`SymbolicTile`](weft_indexing::SymbolicTile)), or the least box around it where that has
/// gaps. What lies beyond the operand is [filled](Self::fillers) with what the region's neutral tuple has, so that invocations need no tests.
///
/// # Formulae
/// A workgroup has 32 results side by side, fewer where that is more than there are or than memory holds. Then the dimension is doubled, again and again, that leaves the fewest elements to be
/// loaded by all workgroups together, up to 256 results, or 1,024 where 2^16 invocations are left then. The boxes of all operands take half of the target's workgroup memory at most, so that
/// a core can run a second workgroup while one waits. An invocation folds a result after the other, or side by side those that share words.
///
/// It pays where windows read at least one and a half times as many elements as are loaded, and a core's cache does not hold four times as much as a workgroup loads, for the workgroups that it runs at once; else a loop is as
/// good, whose invocations read neighbors as vectors. Measured on an NVIDIA H100: 3 × 3 windows two apart take a fourth of the time in a loop, windows of 9 in a row 0.84 of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Windowed {
    /// Invocations of a workgroup.
    pub threads: u32,
    /// Results, neighbors, that an invocation computes at a time: 1, or where they share words 4 and at least those of a word.
    pub unit: i64,
    /// The dimensions of the results, which are those of the operands.
    pub dimensions: Vec<WindowedDimension>,
    /// For each operand what lies where it has no element.
    pub fillers: Vec<Scalar>,
}

/// A dimension of windows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WindowedDimension {
    /// Results along it.
    pub results: i64,
    /// Elements of an operand along it.
    pub elements: i64,
    /// Results of a workgroup along it.
    pub tile: i64,
    /// How windows move along it.
    pub window: WindowDimension,
}

/// Results of a workgroup side by side at first, and of an invocation and a workgroup at most.
const SIDE_BY_SIDE: i64 = 32;
const MOST_EACH: i64 = 4;
const MOST_THREADS: i64 = 256;

/// Invocations of a workgroup at least, and of a launch that are enough for each to have several results.
const LEAST_THREADS: i64 = 64;
const ENOUGH: i64 = 1 << 16;

/// Workgroups that a core runs at once: a cache that holds what their windows cover makes tiles idle.
const CACHED: i64 = 4;

/// Elements that the invocations of a workgroup store to tiles and read from them at most: the proof that all they read is there runs through each.
const MOST_ACCESSES: i64 = 1 << 18;

const TOO_LARGE: Error = Error::Overflow { what: "the place of a window" };

/// Elements that share a word at most where they are computed.
const MOST_PER_WORD: i64 = 4;

impl WindowedDimension {
    /// From one element that is loaded to the next.
    fn step(&self) -> i64 {
        let WindowDimension { size, stride, window_dilation, base_dilation, .. } = self.window;
        match base_dilation {
            1 if size == 1 => stride,
            1 => greatest_divisor(stride, window_dilation),
            _ => 1,
        }
    }

    /// How far behind an element of the operand the first place of the first window lies, for a base with holes.
    fn phase(&self) -> i64 {
        self.window.padding_low.wrapping_neg().rem_euclid(self.window.base_dilation)
    }

    /// Elements that the windows of a workgroup's results cover along it; `None` beyond 64 bits.
    fn covered(&self) -> Option<i64> {
        let WindowDimension { size, stride, window_dilation, base_dilation, .. } = self.window;
        let last = (self.tile - 1).checked_mul(stride)?.checked_add((size - 1).checked_mul(window_dilation)?)?;
        Some(last.checked_add(self.phase())? / base_dilation.checked_mul(self.step())? + 1)
    }

    /// Elements of a workgroup's box along it.
    pub fn loaded(&self) -> i64 {
        self.covered().unwrap_or(i64::MAX)
    }

    /// Workgroups along it.
    pub fn workgroups(&self) -> i64 {
        (self.results + self.tile - 1) / self.tile
    }

    /// Whether the boxes of all workgroups begin alike, between the same elements of a base with holes.
    fn begins_alike(&self) -> bool {
        let advance = self.tile.checked_mul(self.window.stride);
        self.workgroups() <= 1 || advance.is_some_and(|advance| advance % self.window.base_dilation == 0)
    }

    /// The index in an operand of a place in the box of a workgroup, which may lie beyond the operand.
    ///
    /// # Errors
    /// If it leaves 64 bits.
    pub fn operand_index(&self, workgroup: &Expr, place: &Expr) -> Result<Expr, Error> {
        let WindowDimension { stride, padding_low, base_dilation, .. } = self.window;
        let advance = self.tile.checked_mul(stride).ok_or(TOO_LARGE)?;
        let first = padding_low.checked_neg().ok_or(TOO_LARGE)?.div_euclid(base_dilation);
        let begin = workgroup.checked_mul(advance / base_dilation)?.checked_add_constant(first)?;
        begin.checked_add_scaled(place, self.step())
    }

    /// The place in the box of a workgroup that a tap of the window of a result has, and what holds where there is one.
    ///
    /// # Errors
    /// If it leaves 64 bits.
    pub fn place(&self, result: &Expr, tap: &Expr) -> Result<(Expr, Option<Constraint>), Error> {
        let WindowDimension { stride, window_dilation, base_dilation, .. } = self.window;
        let step = self.step();
        if base_dilation == 1 {
            let (result, tap) = (result.checked_mul(stride / step)?, tap.checked_mul(window_dilation / step)?);
            return Ok((result.checked_add(&tap)?, None));
        }
        let place = result.checked_mul(stride)?.checked_add_scaled(tap, window_dilation)?;
        let place = place.checked_add_constant(self.phase())?;
        let whole = Constraint { expr: place.checked_modulo(base_dilation)?, bounds: Interval::point(0) };
        Ok((place.checked_floor_div(base_dilation)?, Some(whole)))
    }

    /// Whether a window covers something beyond the operand, or what is there leaves 64 bits.
    fn pads(&self) -> bool {
        let WindowDimension { size, stride, padding_low, window_dilation, base_dilation, .. } = self.window;
        let ends = || {
            let last = (self.results - 1).checked_mul(stride)?.checked_add((size - 1).checked_mul(window_dilation)?)?;
            Some((last.checked_sub(padding_low)?, (self.elements - 1).checked_mul(base_dilation)?))
        };
        padding_low > 0 || ends().is_none_or(|(last, most)| last > most)
    }
}

impl Windowed {
    /// The tiles of a `reduce-window` for a GPU, or why a loop is as good. `neutral` is the region's neutral tuple, or why it has none; `results` are the types that the kernel writes.
    pub(crate) fn of(
        computation: &Computation,
        id: InstrId,
        neutral: Result<Vec<Scalar>, String>,
        results: &[ElementType],
        target: &Target,
    ) -> Result<Windowed, String> {
        let instruction = &computation.instructions[id];
        let Op::ReduceWindow { window, .. } = &instruction.op else {
            return Err("no emitter is built for windows that are no reduce-window".to_owned());
        };
        let operands = &instruction.operands[..instruction.operands.len() / 2];
        let (extents, read) =
            (leaf_extents(&instruction.shape), leaf_extents(&computation.instructions[operands[0]].shape));
        let mut types = Vec::with_capacity(operands.len());
        for operand in operands {
            types.extend(computation.instructions[*operand].shape.as_array().map(|array| array.element_type));
        }
        if let Some(ty) = types.iter().find(|ty| Form::of(**ty).is_none_or(|form| form.parts() != 1)) {
            return Err(format!("tiles have elements of a word or less each, and not of {ty}"));
        }
        let unit = unit(results)?;
        let dimensions: Vec<WindowedDimension> = (window.dimensions.iter().zip(extents.iter().zip(&read)))
            .map(|(window, (&results, &elements))| WindowedDimension { results, elements, tile: 1, window: *window })
            .collect();
        if dimensions.len() != extents.len() || dimensions.is_empty() || extents.contains(&0) || read.contains(&0) {
            return Err("it has no elements".to_owned());
        }
        if dimensions.iter().any(|own| own.window.reversal) {
            return Err("its windows are mirrored".to_owned());
        }
        let minor = extents[extents.len() - 1];
        if minor % unit != 0 {
            return Err(format!("rows of {minor} results end within words"));
        }
        let is_padded = dimensions.iter().any(WindowedDimension::pads);
        let fillers = match neutral {
            Ok(neutral) => neutral,
            Err(why) if is_padded => return Err(format!("its windows are padded, and {why}")),
            Err(_) => types.iter().map(|ty| Scalar::from_bits(0, *ty)).collect(),
        };
        let mut windowed = Windowed { threads: 1, unit, dimensions, fillers };
        windowed.share_out(target)?;
        windowed.pays(target)?;
        let limit = i64::from(target.max_workgroups_per_dimension);
        let groups = windowed.workgroups();
        match groups.iter().any(|groups| *groups > limit) {
            true => Err(format!("its tiles are {groups:?}, and the target launches {limit} along each dimension")),
            false => Ok(windowed),
        }
    }

    /// Chooses the results of a workgroup, and its invocations.
    fn share_out(&mut self, target: &Target) -> Result<(), String> {
        let bytes = i64::from(target.max_workgroup_storage_bytes) / 2;
        let last = self.dimensions.len() - 1;
        for (number, own) in self.dimensions.iter_mut().enumerate() {
            if number == last {
                own.tile = SIDE_BY_SIDE.max(self.unit);
                while own.tile / 2 >= own.results.max(self.unit) {
                    own.tile /= 2;
                }
            }
            while !own.begins_alike() {
                if own.tile > MOST_THREADS {
                    let holes = own.window.base_dilation;
                    return Err(format!("tiles begin at different places between elements that are {holes} apart"));
                }
                own.tile *= 2;
            }
        }
        while self.bytes() > bytes && self.dimensions[last].tile / 2 >= self.unit.max(8) {
            self.dimensions[last].tile /= 2;
            if !self.dimensions[last].begins_alike() {
                break;
            }
        }
        if self.bytes() > bytes {
            let (tile, loaded) = (list(self.tile().iter()), self.bytes());
            return Err(format!(
                "the windows of {tile} results cover {loaded} bytes, and half of the workgroup memory has {bytes}"
            ));
        }
        let all = self.results();
        let most =
            if all / MOST_EACH >= ENOUGH { MOST_THREADS * MOST_EACH } else { MOST_THREADS } * self.unit.min(MOST_EACH);
        while let Some(larger) = self.larger(most, bytes) {
            *self = larger;
        }
        let allowed = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x)).max(1);
        let units = self.tile().iter().product::<i64>() / self.unit;
        let threads = units.min(MOST_THREADS).min(1 << allowed.ilog2());
        if threads < LEAST_THREADS {
            return Err(format!("tiles of {} results are few", list(self.tile().iter())));
        }
        if self.accesses() > MOST_ACCESSES {
            return Err(format!(
                "invocations read {} elements of a tile, more than are looked through",
                self.accesses()
            ));
        }
        self.threads = u32::try_from(threads).unwrap_or(1);
        Ok(())
    }

    /// The same with twice as many results of a workgroup along the dimension that leaves the fewest elements to be loaded, if that are no more than now, and fewer where invocations have
    /// several results.
    fn larger(&self, most: i64, bytes: i64) -> Option<Windowed> {
        let tile: i64 = self.tile().iter().product();
        let doubled = (0..self.dimensions.len()).rev().filter_map(|number| {
            let mut larger = self.clone();
            let own = &mut larger.dimensions[number];
            own.tile *= 2;
            (self.dimensions[number].workgroups() > 1 && own.begins_alike() && larger.bytes() <= bytes)
                .then_some(larger)
        });
        let best = doubled.min_by_key(Windowed::loads)?;
        let is_better =
            if tile < MOST_THREADS * self.unit { best.loads() <= self.loads() } else { best.loads() < self.loads() };
        (2 * tile <= most && best.accesses() <= MOST_ACCESSES && is_better).then_some(best)
    }

    /// Why a loop is as good.
    fn pays(&self, target: &Target) -> Result<(), String> {
        let (reads, loads) = (self.reads(), self.loads());
        if 2 * reads < 3 * loads {
            return Err(format!("its windows read {reads} elements, and tiles of them would load {loads}"));
        }
        let (bytes, cache) = (self.bytes(), i64::from(target.hardware.l1_bytes_per_core));
        if bytes.saturating_mul(CACHED) <= cache {
            return Err(format!(
                "the windows of a workgroup cover {bytes} bytes, of which a core's cache of {cache} holds {CACHED} times as many"
            ));
        }
        Ok(())
    }

    /// How many results there are.
    pub fn results(&self) -> i64 {
        self.dimensions.iter().map(|own| own.results).fold(1, i64::saturating_mul)
    }

    /// Extents of a workgroup's results.
    pub fn tile(&self) -> Vec<i64> {
        self.dimensions.iter().map(|own| own.tile).collect()
    }

    /// Extents of what a workgroup loads of an operand.
    pub fn loaded(&self) -> Vec<i64> {
        self.dimensions.iter().map(WindowedDimension::loaded).collect()
    }

    /// Elements that all workgroups load of an operand, those beyond it included.
    pub fn loads(&self) -> i128 {
        let along = |own: &WindowedDimension| i128::from(own.workgroups()).saturating_mul(i128::from(own.loaded()));
        self.dimensions.iter().map(along).fold(1, i128::saturating_mul)
    }

    /// Elements that the windows of all results have, those beyond the operand included.
    pub fn reads(&self) -> i128 {
        let along = |own: &WindowedDimension| i128::from(own.results).saturating_mul(i128::from(own.window.size));
        let holes =
            self.dimensions.iter().map(|own| i128::from(own.window.base_dilation)).fold(1, i128::saturating_mul);
        self.dimensions.iter().map(along).fold(1, i128::saturating_mul) / holes.max(1)
    }

    /// Elements of tiles that the invocations of a workgroup store and read.
    fn accesses(&self) -> i64 {
        let product = |numbers: &mut dyn Iterator<Item = i64>| numbers.fold(1, i64::saturating_mul);
        let read = product(&mut self.dimensions.iter().map(|own| own.tile.saturating_mul(own.window.size)));
        let stored = product(&mut self.dimensions.iter().map(WindowedDimension::loaded));
        i64::try_from(self.fillers.len()).unwrap_or(i64::MAX).saturating_mul(read.saturating_add(stored))
    }

    /// Bytes of workgroup memory: a word for each element.
    pub fn bytes(&self) -> i64 {
        let operands = i64::try_from(self.fillers.len()).unwrap_or(i64::MAX);
        self.dimensions.iter().map(WindowedDimension::loaded).fold(4 * operands, i64::saturating_mul)
    }

    /// Workgroups along the last dimension, along the one before, and along all others together.
    pub fn workgroups(&self) -> [i64; 3] {
        let mut along = self.dimensions.iter().rev().map(WindowedDimension::workgroups);
        let (last, before) = (along.next().unwrap_or(1), along.next().unwrap_or(1));
        [last, before, along.fold(1, i64::saturating_mul)]
    }
}

/// Results that an invocation computes side by side, so that it writes whole words.
fn unit(results: &[ElementType]) -> Result<i64, String> {
    let mut unit = 1;
    for ty in results {
        let Some(form) = Form::of(*ty).filter(|form| form.is_packed()) else { continue };
        let per_word = i64::from(form.per_word());
        if per_word > MOST_PER_WORD {
            return Err(format!("a word has {per_word} elements of {ty}"));
        }
        unit = MOST_PER_WORD;
    }
    Ok(unit)
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    if a % b == 0 { b } else { greatest_divisor(b, a % b) }
}

fn list<T: ToString>(numbers: impl Iterator<Item = T>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" × ")
}

/// What a workgroup loads and for which results, in words.
impl Windowed {
    /// `a workgroup loads 9 × 9 × 32 elements once for the windows of 4 × 4 × 32 results, which read 4608`
    pub(crate) fn told(&self) -> String {
        let own = self.dimensions.iter().map(|own| own.tile.saturating_mul(own.window.size));
        let (loaded, tile) = (list(self.loaded().iter()), list(self.tile().iter()));
        let (bytes, reads) = (self.bytes(), own.fold(1, i64::saturating_mul));
        format!(
            "a workgroup loads {loaded} elements, {bytes} bytes, once for the windows of {tile} results, which read {reads}"
        )
    }
}

impl fmt::Display for Windowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.unit == 1 { String::new() } else { format!(" by {}", self.unit) };
        write!(f, "threads={} results={:?}{unit} loaded={:?}", self.threads, self.tile(), self.loaded())
    }
}
