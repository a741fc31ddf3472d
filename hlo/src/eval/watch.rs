//! Progress reports and interruption of an evaluation.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The progress of an evaluation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The number of instructions begun, the next one included; those of a computation count at every call.
    pub instructions: u64,
    /// The computation that runs.
    pub computation: &'a str,
    /// The instruction that comes next.
    pub instruction: &'a str,
    /// The bytes of all values alive.
    pub bytes: u64,
}

type ProgressCallback = dyn Fn(&Progress<'_>) -> ControlFlow<()> + Send + Sync;

/// A callback that an evaluation reports its progress to, and that may interrupt it.
///
/// ```
/// use std::ops::ControlFlow;
/// use weft_hlo::eval::Watch;
///
/// // Stops before the thousandth instruction.
/// let watch = Watch::new(|progress| match progress.instructions {
///     1000.. => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// });
/// # let _ = watch;
/// ```
#[derive(Clone)]
pub struct Watch(Arc<ProgressCallback>);

impl Watch {
    /// Calls `tell` before every instruction; where it breaks, the evaluation ends with the error `HLO209`.
    pub fn new(tell: impl Fn(&Progress<'_>) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Watch(Arc::new(tell))
    }

    pub(super) fn tell(&self, progress: &Progress<'_>) -> ControlFlow<()> {
        (self.0)(progress)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// A switch that stops an evaluation, also within an instruction that takes long.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A switch that is off.
    pub fn new() -> Self {
        Interrupt::default()
    }

    /// Turns it on: evaluations with this switch end with the error `HLO209`.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is on.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
