//! Which build of weft this is.

use std::sync::OnceLock;
use std::time::SystemTime;

/// Size and time of the running executable: another build has another. `None` where it cannot be looked at, as when it was replaced.
pub(super) fn identity() -> Option<String> {
    static KNOWN: OnceLock<Option<String>> = OnceLock::new();
    KNOWN.get_or_init(look).clone()
}

fn look() -> Option<String> {
    let metadata = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    let changed = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("{} bytes at {}.{:09}", metadata.len(), changed.as_secs(), changed.subsec_nanos()))
}
