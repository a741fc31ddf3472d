//! Lowerings of the kernel IR, each from kernel to kernel.

mod accumulators;
mod flatten;
mod inline;
mod legalize;
mod protect;

use crate::kernel::Kernel;
pub use accumulators::split_accumulators;
pub use flatten::flatten;
pub(crate) use flatten::indices_at;
pub use inline::inline;
pub use legalize::legalize;
pub use protect::protect;
use std::fmt;
use std::str::FromStr;

/// One lowering. The kernels between them are the stages of a compilation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lowering {
    /// Functions of values are written in place of their calls: [`inline`].
    Inlined,
    /// Long loops that fold one operation have several accumulators: [`split_accumulators`].
    Split,
    /// Operations that WGSL does not have become those that it has: [`legalize`].
    Legal,
    /// Memories are indexed by row-major positions: [`flatten`].
    Flat,
    /// Floats are hidden from the algebra of drivers: [`protect`].
    Protected,
}

impl Lowering {
    /// All of them, in the order in which kernels go through them.
    pub const ALL: [Lowering; 5] =
        [Lowering::Inlined, Lowering::Split, Lowering::Legal, Lowering::Flat, Lowering::Protected];

    /// The name of the stage that it leads to.
    pub fn name(self) -> &'static str {
        match self {
            Lowering::Inlined => "inlined",
            Lowering::Split => "split",
            Lowering::Legal => "legal",
            Lowering::Flat => "flat",
            Lowering::Protected => "protected",
        }
    }

    /// The kernel after this lowering.
    ///
    /// # Errors
    /// As [`flatten`] and [`split_accumulators`].
    pub fn apply(self, kernel: &Kernel) -> Result<Kernel, weft_affine::Error> {
        match self {
            Lowering::Inlined => Ok(inline(kernel)),
            Lowering::Split => split_accumulators(kernel),
            Lowering::Legal => Ok(legalize(kernel)),
            Lowering::Flat => flatten(kernel),
            Lowering::Protected => Ok(protect(kernel)),
        }
    }
}

impl fmt::Display for Lowering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Lowering {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Lowering::ALL.into_iter().find(|lowering| lowering.name() == name);
        known.ok_or_else(|| {
            format!("there is no lowering '{name}'; there are: {}", Lowering::ALL.map(Lowering::name).join(", "))
        })
    }
}
