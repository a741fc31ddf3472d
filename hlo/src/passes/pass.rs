//! The interface of passes, and the record of what one changed.

use crate::diagnostic::Diagnostics;
use crate::ir::Module;

/// A transformation of modules that keeps what they compute.
pub trait Pass: Send + Sync {
    /// The name, as the command line takes it: words with hyphens.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn about(&self) -> &'static str;

    /// The module after it, and what it changed. Where it changed nothing the module is the one given.
    ///
    /// # Errors
    /// If what it would make is too large; the pass says with which code.
    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics>;
}

impl<P: Pass + ?Sized> Pass for &P {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn about(&self) -> &'static str {
        (**self).about()
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        (**self).run(module)
    }
}

/// The result of a pass.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The module.
    pub module: Module,
    /// The changes, in the order of the module given.
    pub changes: Vec<Change>,
}

/// One change, and the rule that allowed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The rule: the equation or the fact that makes both sides equal.
    pub rule: &'static str,
    /// The place of the change, as `computation/instruction` or as a computation alone.
    pub place: String,
}
