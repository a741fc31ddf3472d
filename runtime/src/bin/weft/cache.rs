//! `weft cache`

use crate::args::{CacheAction, Format};
use crate::report::{Failure, Outcome};
use crate::{is_json, output};
use serde_json::json;
use weft_runtime::{Cache, CacheEntry};

pub(crate) const PLACES: &str = "The folder is what WEFT_CACHE_DIR names, else `weft` in the system's place for caches (XDG_CACHE_HOME or ~/.cache, \
                                 LOCALAPPDATA on Windows, ~/Library/Caches on macOS). With an empty WEFT_CACHE_DIR nothing is kept.";

/// `weft cache`
pub(crate) fn cache(action: CacheAction, format: Format) -> Result<Outcome, Failure> {
    let cache = Cache::user().ok_or_else(|| {
        Failure::message("there is no cache: WEFT_CACHE_DIR is empty, or the system names no place for caches")
    })?;
    let path = cache.path().display().to_string();
    let (text, value) = match action {
        CacheAction::Path => (path.clone(), json!({ "path": path })),
        CacheAction::List => {
            let entries = cache.entries()?;
            let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
            let lines: String = entries.iter().map(line).collect();
            let total = format!("{} in {path}, {bytes} bytes of at most {}", counted(entries.len()), Cache::MAX_BYTES);
            let values: Vec<_> = entries
                .iter()
                .map(|it| json!({ "kind": it.kind, "key": it.key, "file": it.file, "bytes": it.bytes }))
                .collect();
            let value = json!({ "path": path, "entries": values, "bytes": bytes, "max_bytes": Cache::MAX_BYTES });
            (lines + &total, value)
        }
        CacheAction::Clear => {
            let count = cache.clear()?;
            (format!("{} removed from {path}", counted(count)), json!({ "path": path, "removed": count }))
        }
    };
    if is_json(format) {
        output::json(&value)?
    } else {
        output::text(&text)?
    }
    Ok(Outcome::Done)
}

fn line(entry: &CacheEntry) -> String {
    let key = entry.key.as_deref().unwrap_or("damaged, or of another version");
    format!("{:>9}  {key}\n", entry.bytes)
}

fn counted(count: usize) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}
