//! How the elements of a kernel are shared out among invocations: formulae of shapes and the target.

use crate::hero::HeroKind;
use crate::plan::Hero;
use crate::runs::Runs;
use crate::transposed::side_by_side;
use crate::{Form, Target, operation_cost};
use weft_hlo::ir::{ArrayShape, Computation, Instruction, Op};

/// Elements from which on a workgroup is given [`MANY_THREADS`] invocations; with fewer, smaller groups occupy more cores.
const MANY_ELEMENTS: i64 = 1 << 16;
const MANY_THREADS: u32 = 256;
const FEW_THREADS: u32 = 64;

/// Words from which on an invocation of a software device writes [`FEW_ELEMENTS`], which become a vector where they lie side by side; elements from
/// which on one that writes packed elements computes so many, or as many as fill a word.
const FEW_FOR_VECTORS: i64 = 64;
const FEW_ELEMENTS: u32 = 4;

/// Words from which on an invocation of a software device writes [`SOFTWARE_ELEMENTS`]: starting one costs it as much as a
/// chain of ten operations, and its cores are few. Measured on llvmpipe with 16.7 million elements, as multiples of a copy: 2.0 with
/// one element, 1.3 with 4, 1.2 with 8 and 16; neighbors instead of elements a launch apart: 1.55 with 4.
const MANY_FOR_SOFTWARE: i64 = 1 << 20;
const SOFTWARE_ELEMENTS: u32 = 8;

/// Words from which on an invocation of a GPU computes [`FEW_ELEMENTS`] side by side, which are read and written as vectors, and share what their windows have in common: 2^16 invocations are left.
/// Measured on an NVIDIA H100, of the time with one element each: sums of two arrays 0.91, what is sliced, padded and concatenated 0.76, gathered rows of 256 0.48; with 8 elements as with 4.
const ENOUGH_FOR_GPUS: i64 = FEW_ELEMENTS as i64 * MANY_ELEMENTS;

/// As [`SOFTWARE_ELEMENTS`], where elements are gathered: an invocation reads its indices once for so many. Rows of 256 gathered out of 65,536, of the
/// processor time with 8: 0.87 with 16 on llvmpipe and 1.02 with 32, on SwiftShader 0.96 and 0.83; with 4 it is 1.26 on llvmpipe.
const GATHERED_ELEMENTS: u32 = 16;

/// Units of [`operation_cost`] of a function that is no arithmetic. Measured on llvmpipe with one element an invocation instead of 4: the exponential of `c128[131072]` has its first result after 5.8 s instead of 24,
/// and takes 0.79 of the time then; of `c64` 0.5 s instead of 2.1, and as long.
const LONG_UNITS: f64 = 8.0;

/// The launch of a loop: each invocation computes so many elements of each output, a launch apart, so that neighboring invocations
/// touch neighboring elements at all times; or, where the code generator finds that they lie side by side in operands too, four of them
/// as one vector.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Invocations of a workgroup.
    pub threads: u32,
    /// Elements of an output that one invocation computes.
    pub elements: u32,
}

/// What the elements of a loop are computed by.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// No hero.
    Straight,
    /// No hero, but elements gathered at places that values tell.
    Gathered,
    /// No hero, but functions of complex numbers, of hundreds of operations each: machine code of several elements an invocation takes drivers a time that grows faster than they do.
    Long,
    /// Scatters of rows in order: an invocation goes through the rows that are for its elements.
    Ordered,
    /// Reductions of columns alone, with as many elements side by side as a multiple of 4.
    Columns,
    /// Transpositions alone that keep elements side by side, as many as vectors and words of results hold.
    Runs,
    /// Windows alone, with as many results side by side as a multiple of 4, or in one row.
    Windows,
    /// Other heroes.
    Heroes,
}

impl Space {
    /// That of a loop over a computation, around these heroes, of results of which so many elements fill a word.
    pub(crate) fn of(computation: &Computation, heroes: &[Hero], results: &[Form]) -> Space {
        let is_column = |hero: &Hero| matches!(hero.kind, HeroKind::ColumnReduction { minor, .. } if minor % i64::from(FEW_ELEMENTS) == 0);
        let whole = results.iter().map(|form| form.per_word()).max().unwrap_or(1).max(FEW_ELEMENTS);
        let keeps_runs = |hero: &Hero| {
            let run = side_by_side(computation, hero.instruction)
                .filter(|_| matches!(hero.kind, HeroKind::Transposition { .. }));
            run.is_some_and(|run| run % i64::from(whole) == 0)
        };
        if computation.instructions.values().any(|it| Runs::of(computation, it).is_some()) {
            return Space::Ordered;
        }
        if heroes.is_empty() {
            if computation.instructions.values().any(is_long) {
                return Space::Long;
            }
            let gathers = computation.instructions.values().any(|it| matches!(it.op, Op::Gather { .. }));
            return if gathers { Space::Gathered } else { Space::Straight };
        }
        let is_window = |hero: &Hero| matches!(hero.kind, HeroKind::Window { .. });
        let arrays = computation.instructions[computation.root].shape.leaves();
        let mut arrays = arrays.into_iter().filter_map(|leaf| leaf.as_array());
        let has_neighbors = |array: &ArrayShape| match array.extents.as_slice() {
            [_] => true,
            extents => extents.last().is_some_and(|minor| minor % i64::from(FEW_ELEMENTS) == 0),
        };
        match () {
            () if heroes.iter().all(is_column) => Space::Columns,
            () if heroes.iter().all(keeps_runs) => Space::Runs,
            () if heroes.iter().all(is_window) && arrays.all(has_neighbors) => Space::Windows,
            () => Space::Heroes,
        }
    }
}

/// Whether an instruction is a function of complex numbers that is no arithmetic.
fn is_long(instruction: &Instruction) -> bool {
    let arrays = instruction.shape.leaves().into_iter().filter_map(|leaf| leaf.as_array());
    let is_complex = arrays.into_iter().any(|array| array.element_type.is_complex());
    is_complex
        && matches!(instruction.op, Op::Unary(_) | Op::Binary(_))
        && operation_cost(&instruction.op) >= LONG_UNITS
}

impl Tiling {
    /// The launch of a loop over `elements` elements of results of these forms: 256 invocations a workgroup from 2^16 elements on and 64
    /// before, or as many as the target allows. One element each; on GPUs 4 from 2^18 words on, in a fusion without heroes, of transpositions that keep them side by side, and of windows; one of functions of complex numbers; on software devices as many as lie in 4 words from 64 words on, and in 8 from
    /// 2^20 on, or 16 where elements are gathered, in a fusion without heroes; 4 of columns that are reduced and of scatters of rows in order, which are read as vectors, and of windows, whose neighbors share elements, on GPUs from 2^18 on: other loops share out what starting costs by themselves, and transpositions take up to
    /// three times as long on llvmpipe with elements a launch apart. Words are counted in the result that packs the fewest elements into one. Where a result is
    /// packed, on every device at least 4, and as many as fill a word, so that an invocation writes whole words: from 64 elements on in a fusion without heroes, else
    /// only where 2^16 elements leave enough invocations.
    pub(crate) fn of_loop(elements: i64, space: Space, results: &[Form], target: &Target) -> Tiling {
        let preferred = if elements >= MANY_ELEMENTS { MANY_THREADS } else { FEW_THREADS };
        let most = target.max_invocations_per_workgroup.min(target.max_workgroup_size_x);
        let per_word = results.iter().map(|form| form.per_word()).min().unwrap_or(1);
        let is_straight = matches!(space, Space::Straight | Space::Gathered | Space::Runs);
        let is_vectors = matches!(space, Space::Columns | Space::Windows | Space::Ordered);
        let for_words = if is_straight { FEW_FOR_VECTORS } else { MANY_ELEMENTS };
        let is_packed = elements >= for_words && results.iter().any(|form| form.is_packed());
        let whole_words = if is_packed { FEW_ELEMENTS.max(per_word) } else { 1 };
        let each = match elements / i64::from(per_word) {
            FEW_FOR_VECTORS.. if is_vectors && target.is_software() => FEW_ELEMENTS.max(whole_words),
            ENOUGH_FOR_GPUS.. if space == Space::Windows || is_straight && !target.is_software() => {
                FEW_ELEMENTS.max(whole_words)
            }
            _ if !is_straight || !target.is_software() => whole_words,
            MANY_FOR_SOFTWARE.. if space == Space::Gathered => GATHERED_ELEMENTS * per_word,
            MANY_FOR_SOFTWARE.. => SOFTWARE_ELEMENTS * per_word,
            FEW_FOR_VECTORS.. => FEW_ELEMENTS * per_word,
            _ => whole_words,
        };
        Tiling { threads: preferred.min(most).max(1), elements: each }
    }

    /// The invocations of a workgroup that makes all rounds of a loop of which a step computes so many elements at most: 1 for scalars, else the next
    /// power of two, up to 256 or what the target allows, and at least 64 but on software devices, where those that have nothing to do cost as much as others.
    pub(crate) fn of_rounds(widest: i64, target: &Target) -> u32 {
        if widest <= 1 {
            return 1;
        }
        let least = if target.is_software() { 2 } else { FEW_THREADS };
        let most = target.max_invocations_per_workgroup.min(target.max_workgroup_size_x).max(1);
        let widest = u32::try_from(widest.min(i64::from(MANY_THREADS))).unwrap_or(MANY_THREADS);
        widest.next_power_of_two().max(least).min(most)
    }
}
