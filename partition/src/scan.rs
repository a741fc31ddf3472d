//! Scans: windows that grow with the element.

use crate::Target;
use crate::form::Form;
use weft_hlo::ir::{Arena, ArrayShape, ComputationId, ElementType, InstrId, Instruction, Op, WindowDimension};

/// A scan of fewer elements is a loop over each window: on average it reads an element so often as a kernel that shares them reads and writes one.
const FEW: i64 = 4;

/// Elements that all windows fold together up to which no block is worth its launches.
pub(crate) const FEW_ROUNDS: i64 = 1 << 18;

/// Lines that occupy a device in software, on which an invocation scans a line by itself, and elements that all windows fold together before fewer lines are scanned sooner than
/// these: a line of 64. Windows over 512 elements take llvmpipe 1.2 ms, one invocation that scans them 0.2 with its launch.
const OCCUPIED: i64 = 32;
const FEW_IN_SOFTWARE: i64 = 1 << 12;

/// Elements of a line that one invocation folds one after the other: no longer chain of floats is added up, and lines of which elements lie apart have to be enough
/// of them to occupy a GPU.
pub(crate) const MAX_CHAIN: i64 = 1024;
const MAX_COLUMN: i64 = 256;

/// Elements of a line that a workgroup of a GPU scans: 1,024 invocations of 4, or fewer with more each.
const MAX_ROW: i64 = 4096;

/// A `reduce-window` whose window is as long as the dimension that it moves along, so that each result folds all elements up to its own, or all from its own on: cumulative
/// sums, products, maxima. It moves along one dimension, by single elements.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scan {
    /// The extents of what is scanned.
    pub(crate) extents: Vec<i64>,
    pub(crate) element_types: Vec<ElementType>,
    pub(crate) dimension: usize,
    /// Whether results fold all elements from their own on.
    pub(crate) is_reversed: bool,
    /// Result `i` folds the elements before number `i + ahead`; of a reversed one, those from number `i + ahead` on.
    pub(crate) ahead: i64,
    /// Elements of the result along the dimension.
    pub(crate) results: i64,
    pub(crate) to_apply: ComputationId,
}

impl Scan {
    /// The scan that an instruction is, of whatever length.
    pub(crate) fn of(instructions: &Arena<InstrId, Instruction>, instruction: &Instruction) -> Option<Scan> {
        let Op::ReduceWindow { window, to_apply } = &instruction.op else { return None };
        let operands = instruction.operands.get(..instruction.operands.len() / 2)?;
        let arrays: Option<Vec<_>> = operands.iter().map(|id| instructions[*id].shape.as_array()).collect();
        let arrays = arrays?;
        let extents = arrays.first()?.extents.clone();
        let is_static = |array: &&weft_hlo::ir::ArrayShape| array.dynamic.is_empty() && array.extents == extents;
        if !arrays.iter().all(is_static) || extents.contains(&0) {
            return None;
        }
        let mut moved = window.dimensions.iter().enumerate().filter(|(_, own)| **own != WindowDimension::default());
        let (dimension, own) = moved.next()?;
        let is_dense = own.stride == 1 && own.window_dilation == 1 && own.base_dilation == 1 && !own.reversal;
        if moved.next().is_some() || !is_dense {
            return None;
        }
        // Result `i` folds the elements of [i - low, i - low + size) that there are.
        let (extent, low, size) = (*extents.get(dimension)?, own.padding_low, own.size);
        let results = extent.checked_add(low)?.checked_add(own.padding_high)?.checked_sub(size)?.checked_add(1)?;
        let begins_at_first = results - 1 <= low && results.checked_add(size - low)? - 1 <= extent;
        let ends_at_last = low <= 0 && size.checked_sub(low)? >= extent && results - 1 - low <= extent;
        let (is_reversed, ahead) = match (begins_at_first, ends_at_last) {
            _ if results < 2 => return None,
            (true, _) => (false, size - low),
            (false, true) => (true, -low),
            (false, false) => return None,
        };
        let element_types = arrays.iter().map(|array| array.element_type).collect();
        Some(Scan { extents, element_types, dimension, is_reversed, ahead, results, to_apply: *to_apply })
    }

    /// Elements along the dimension.
    pub(crate) fn extent(&self) -> i64 {
        self.extents[self.dimension]
    }

    /// Whether results leave their own elements out, if there is one result for each element, and it folds those up to its own or those before, in its direction; `None` of other scans.
    pub(crate) fn is_exclusive(&self) -> Option<bool> {
        let left_out = if self.is_reversed { self.ahead } else { 1 - self.ahead };
        (self.results == self.extent() && (0..2).contains(&left_out)).then_some(left_out == 1)
    }

    /// How many lines of elements are scanned, each by itself; the most there can be where 64 bits do not count them.
    pub(crate) fn lines(&self) -> i64 {
        let others = self.extents.iter().enumerate().filter(|(dimension, _)| *dimension != self.dimension);
        others.fold(1, |all, (_, extent)| all.saturating_mul(*extent))
    }

    /// How many elements lie between two that follow one another in a line.
    pub(crate) fn minor(&self) -> i64 {
        self.extents[self.dimension + 1..].iter().fold(1, |all, extent| all.saturating_mul(*extent))
    }

    /// How many elements all windows fold together at most.
    pub(crate) fn rounds(&self) -> i64 {
        self.lines().saturating_mul(self.extent()).saturating_mul(self.extent())
    }

    /// The longest line that a kernel scans as a whole on a target: an invocation of a device in software, and of a GPU where elements lie apart; a workgroup where they are neighbors.
    pub(crate) fn longest(minor: i64, target: &Target) -> i64 {
        match (target.is_software(), minor) {
            (true, _) => MAX_CHAIN,
            (false, 1) => MAX_ROW,
            (false, _) => MAX_COLUMN,
        }
    }

    /// Whether kernels are shaped around scans of these elements on a target, or why they are not.
    pub(crate) fn is_shaping(&self, target: &Target) -> Result<(), String> {
        if target.faults.barriers && !target.is_software() && self.minor() == 1 {
            return Err("barriers do not work on the target".to_owned());
        }
        let bytes = |ty: &ElementType| Form::tensor_bytes(&ArrayShape::new(*ty, self.extents.clone()));
        let (bytes, most) =
            (self.element_types.iter().filter_map(bytes).max().unwrap_or(0), target.max_storage_binding_bytes);
        if bytes > most {
            return Err(format!("a kernel binds {most} bytes of a tensor, which has {bytes}"));
        }
        Ok(())
    }

    /// Whether a kernel is shaped around this scan on a target, if its region is a monoid's, or why it is a loop over windows.
    pub(crate) fn pays(&self, target: &Target) -> Result<(), String> {
        self.is_shaping(target)?;
        let (extent, lines) = (self.extent(), self.lines());
        if self.is_exclusive().is_none() {
            return Err("not every element has a result that folds those up to it".to_owned());
        }
        if extent < FEW {
            return Err(format!("lines of {extent} are short"));
        }
        let longest = Scan::longest(self.minor(), target);
        if extent > longest {
            return Err(format!("lines of {extent} are longer than {longest}"));
        }
        if target.is_software() && lines < OCCUPIED && self.rounds() <= FEW_IN_SOFTWARE {
            return Err(format!("{lines} lines occupy too few invocations of a device in software"));
        }
        Ok(())
    }
}
