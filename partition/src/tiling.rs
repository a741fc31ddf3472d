//! How the elements of a kernel are shared out among invocations: formulae of shapes and the target.

use crate::{DeviceKind, Target};

/// Elements from which on a workgroup is given [`MANY_THREADS`] invocations; with fewer, smaller groups occupy more cores.
const MANY_ELEMENTS: i64 = 1 << 16;
const MANY_THREADS: u32 = 256;
const FEW_THREADS: u32 = 64;

/// Elements from which on an invocation of a software device, or one that writes packed elements, computes [`FEW_ELEMENTS`], which become a
/// vector where they lie side by side.
const FEW_FOR_VECTORS: i64 = 64;
const FEW_ELEMENTS: u32 = 4;

/// Elements from which on an invocation of a software device computes [`SOFTWARE_ELEMENTS`]: starting one costs it as much as a
/// chain of ten operations, and its cores are few. Measured on llvmpipe with 16.7 million elements, as multiples of a copy: 2.0 with
/// one element, 1.3 with 4, 1.2 with 8 and 16; neighbors instead of elements a launch apart: 1.55 with 4.
const MANY_FOR_SOFTWARE: i64 = 1 << 20;
const SOFTWARE_ELEMENTS: u32 = 8;

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

impl Tiling {
    /// The launch of a loop over `elements` elements: 256 invocations a workgroup from 2^16 elements on and 64 before, or as many
    /// as the target allows. One element each; on software devices 4 from 64 elements on and 8 from 2^20 on, in a fusion without heroes
    /// (`is_straight`): loops share out what starting costs by themselves, and transpositions take up to three times as long on
    /// llvmpipe with elements a launch apart. Where results are packed (`is_packed`), 4 on every device, so that an invocation writes whole words: from
    /// 64 elements on in a fusion without heroes, else only where 2^16 elements leave enough invocations.
    pub fn of_loop(elements: i64, is_straight: bool, is_packed: bool, target: &Target) -> Tiling {
        let preferred = if elements >= MANY_ELEMENTS { MANY_THREADS } else { FEW_THREADS };
        let most = target.max_invocations_per_workgroup.min(target.max_workgroup_size_x);
        let for_words = if is_straight { FEW_FOR_VECTORS } else { MANY_ELEMENTS };
        let each = match elements {
            _ if is_packed && elements >= for_words && (target.kind != DeviceKind::Software || !is_straight) => {
                FEW_ELEMENTS
            }
            _ if !is_straight || target.kind != DeviceKind::Software => 1,
            MANY_FOR_SOFTWARE.. => SOFTWARE_ELEMENTS,
            FEW_FOR_VECTORS.. => FEW_ELEMENTS,
            _ => 1,
        };
        Tiling { threads: preferred.min(most).max(1), elements: each }
    }
}
