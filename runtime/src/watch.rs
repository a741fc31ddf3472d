//! How far long work has come.

use std::fmt;
use std::sync::Arc;

/// How far a compilation or a run has come.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'p> {
    /// So many kernels of a program are compiled.
    Kernels {
        /// How many.
        done: usize,
        /// How many there will be.
        all: usize,
    },
    /// So many rounds of a loop are handed to the device, which may be behind.
    Rounds {
        /// The name of the loop.
        name: &'p str,
        /// How many, of this time that the loop is run.
        done: u64,
        /// How many there will be, where that is known.
        all: Option<u64>,
    },
}

impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Progress::Kernels { done, all } => write!(f, "{done} of {all} kernels"),
            Progress::Rounds { name, done, all: Some(all) } => write!(f, "{name}: {done} of {all} rounds"),
            Progress::Rounds { name, done, all: None } => write!(f, "{name}: {done} rounds"),
        }
    }
}

type Callback = dyn Fn(&Progress<'_>) + Send + Sync;

/// A callback that is told how far a [compilation](crate::compile_watched) or [runs](crate::Executable::watched) have come, from whatever thread
/// does the work, which waits for it meanwhile.
#[derive(Clone)]
pub struct Watch(Arc<Callback>);

impl Watch {
    /// One that calls this.
    pub fn new(tell: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        Watch(Arc::new(tell))
    }

    pub(crate) fn tell(&self, progress: &Progress<'_>) {
        (self.0)(progress);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}
