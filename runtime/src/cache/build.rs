//! Which build of weft this is.

use std::sync::OnceLock;
use std::time::SystemTime;

/// Seconds since 1970 before which a time is no build's: in 2001.
const EARLIEST: u64 = 1_000_000_000;

/// Size and time of the running executable: another build has another. `None` where it cannot be looked at, as when it was replaced.
pub(super) fn identity() -> Option<String> {
    static KNOWN: OnceLock<Option<String>> = OnceLock::new();
    KNOWN.get_or_init(look).clone()
}

fn look() -> Option<String> {
    let metadata = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    let changed = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    // Packages that can be reproduced have one time for all builds.
    if changed.as_secs() < EARLIEST {
        return None;
    }
    Some(format!("{} bytes at {}.{:09}", metadata.len(), changed.as_secs(), changed.subsec_nanos()))
}
