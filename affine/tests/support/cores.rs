//! Work on many things of one kind, shared out over all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// What is found of each of some things, in any order. Every core takes the next one when it is done, since a few may take as long as
/// all others.
pub(crate) fn on_all_cores<A: Sync, T: Send>(of: &[A], find: impl Fn(&A) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(one) = of.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.push(find(one));
        }
        found
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let found =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        found.flatten().collect()
    })
}
