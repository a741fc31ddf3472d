//! What an execution leaves behind for the next one: memory of temporaries, and what launches bound there.

use super::recorder::Bound;
use crate::buffer::{Keeper, Stretch};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Sets that are kept at most: as many executions in flight have what they need at once.
const MOST: usize = 8;

/// Bytes of temporaries that are kept at most in a set. More goes back to the device's pool, where other programs find it; what is saved here is work for
/// each launch, which large tensors outweigh.
const MOST_BYTES: u64 = 64 << 20;

/// What one execution needs besides arguments, constants and results.
#[derive(Debug, Default)]
pub(super) struct Set {
    /// The memory of each arena, and of each temporary that lies in none; `None` for other buffers, and where a result took it along.
    pub(super) arenas: Vec<Option<Stretch>>,
    pub(super) buffers: Vec<Option<Stretch>>,
    /// What launches bound that use nothing but that, constants, and the sizes of launches.
    pub(super) bound: Bound,
}

impl Set {
    /// The addresses of the buffers that its memory is of.
    pub(super) fn addresses(&self) -> BTreeSet<usize> {
        let all = self.arenas.iter().chain(&self.buffers).flatten();
        all.map(|stretch| Arc::as_ptr(&stretch.memory).addr()).collect()
    }

    fn bytes(&self) -> u64 {
        let all = self.arenas.iter().chain(&self.buffers).flatten();
        let mut seen = BTreeSet::new();
        let fresh = all.filter(|stretch| seen.insert(Arc::as_ptr(&stretch.memory).addr()));
        fresh.map(|stretch| stretch.buffer().size()).fold(0, u64::saturating_add)
    }
}

/// The sets that no execution uses.
#[derive(Debug, Default)]
pub(super) struct Sets {
    idle: Mutex<Vec<Set>>,
}

impl Sets {
    /// One that was kept, or an empty one.
    pub(super) fn take(&self) -> Set {
        self.idle.lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default()
    }

    /// Keeps a set, all of whose work is queued: whatever uses it next is queued behind that.
    pub(super) fn keep(&self, set: Set) {
        if set.bytes() > MOST_BYTES {
            return;
        }
        if let Ok(mut idle) = self.idle.lock()
            && idle.len() < MOST
        {
            idle.push(set);
        }
    }
}

impl Keeper for Sets {
    fn release(&self) {
        let kept = self.idle.lock().map(|mut idle| std::mem::take(&mut *idle));
        drop(kept);
    }
}
