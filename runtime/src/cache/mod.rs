//! What is kept on disk from one process to the next: one folder of files, each of which can be made again.
//!
//! Here alone the library touches files and looks at the environment. A [`Cache`] is asked by key; whatever is missing, damaged, or of another
//! version is as if it had never been written. Several processes may use one folder at a time.

mod build;
mod entry;
mod folder;
mod programs;

use crate::Error;
pub(crate) use entry::Kind;
use entry::{decode, encode, file_name, fingerprint, kind_of};
pub use programs::Cached;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// A folder in which results are kept that take long to find: what an adapter can do ([`SelfTest`](crate::SelfTest)), and programs
/// ([`compile`](Cache::compile)).
///
/// Entries are found by what they were made from, checked when they are read, and written whole or not at all. If the folder has
/// more bytes than it may, those that were not used for longest go first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    max_bytes: u64,
}

/// A file of a [`Cache`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheEntry {
    /// What it holds, in one word: `self-test`, `program`.
    pub kind: &'static str,
    /// What it was made from; `None` if the file is damaged or of another version, and is going to be replaced.
    pub key: Option<String>,
    /// The file's name in the folder.
    pub file: String,
    /// The file's size in bytes.
    pub bytes: u64,
}

/// How old a temporary file is that no process writes any more.
const ABANDONED: Duration = Duration::from_secs(3600);

impl Cache {
    /// The bytes that a folder has at most, unless [`with_max_bytes`](Cache::with_max_bytes) says otherwise: 256 MiB.
    pub const MAX_BYTES: u64 = 256 << 20;

    /// The user's folder: what the environment variable `WEFT_CACHE_DIR` names, else `weft` in the system's place for caches, which is
    /// `XDG_CACHE_HOME` or `~/.cache`, on Windows `LOCALAPPDATA`, on macOS `~/Library/Caches`. `None` where there is no such place, or
    /// `WEFT_CACHE_DIR` is empty. Nothing is created before something is written.
    pub fn user() -> Option<Cache> {
        folder::user().map(Cache::at)
    }

    /// The cache in this folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: folder.into(), max_bytes: Self::MAX_BYTES }
    }

    /// The same with so many bytes at most, all entries together. The newest entry stays, whatever its size.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Cache {
        Cache { max_bytes, ..self }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// All entries, by their files' names.
    ///
    /// # Errors
    /// [`Error::Cache`] if the folder is there and cannot be read.
    pub fn entries(&self) -> Result<Vec<CacheEntry>, Error> {
        let mut found = Vec::new();
        for (path, metadata) in self.files()? {
            let file = name_of(&path);
            let Some(kind) = kind_of(&file) else { continue };
            let content = fs::read(&path).ok();
            let key = content.and_then(|content| decode(kind, &content).map(|entry| entry.key.to_owned()));
            found.push(CacheEntry { kind: kind.name(), key, file, bytes: metadata.len() });
        }
        found.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(found)
    }

    /// Removes all entries, and says how many there were. Other files of the folder stay.
    ///
    /// # Errors
    /// [`Error::Cache`] if the folder cannot be read or a file cannot be removed.
    pub fn clear(&self) -> Result<usize, Error> {
        let mut count = 0;
        for (path, metadata) in self.files()? {
            let name = name_of(&path);
            if kind_of(&name).is_none() && !(is_temporary(&name) && is_abandoned(&metadata)) {
                continue;
            }
            match fs::remove_file(&path) {
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => {
                    removed.map_err(|error| self.error("removing a file of", &error))?;
                    count += usize::from(!is_temporary(&name));
                }
            }
        }
        Ok(count)
    }

    /// What is kept of this kind for this key.
    pub(crate) fn read(&self, kind: Kind, key: &str) -> Option<Vec<u8>> {
        let path = self.folder.join(file_name(kind, key));
        if !is_written_by_user_alone(&path) {
            return None;
        }
        let content = fs::read(&path).ok()?;
        let found = decode(kind, &content).filter(|entry| entry.key == key)?.content.to_vec();
        // So that what is used stays longest. Where the file cannot be marked it goes sooner, and is made again.
        let _ = fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(found)
    }

    /// Keeps this content, in place of what was kept for the key.
    ///
    /// # Errors
    /// [`Error::Cache`] if the folder cannot be written.
    pub(crate) fn write(&self, kind: Kind, key: &str, content: &[u8]) -> Result<(), Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = file_name(kind, key);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!("{name}.{}-{number}.tmp", std::process::id()));
        let write = || {
            self.create()?;
            create_file(&temporary)?.write_all(&encode(kind, key, content))?;
            // Whoever reads meanwhile finds the old file or the new one.
            fs::rename(&temporary, self.folder.join(&name))
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&temporary);
            self.error("writing", &error)
        })?;
        self.shrink(&name);
        Ok(())
    }

    /// Makes the folder, for this user alone.
    fn create(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(&self.folder)
    }

    /// Whether the folder is the user's and nobody else may put files into it, as far as the system tells; so it is of a folder that is not there yet.
    fn is_private(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let Ok(folder) = fs::metadata(&self.folder) else { return true };
            // What is made now belongs to the user.
            let made = self.folder.join(format!("owner.{}.tmp", std::process::id()));
            let owner = create_file(&made).and_then(|file| file.metadata()).map(|file| file.uid());
            let _ = fs::remove_file(&made);
            is_written_by_user_alone(&self.folder) && owner.is_ok_and(|owner| owner == folder.uid())
        }
        #[cfg(not(unix))]
        true
    }

    /// Removes entries until the folder has no more bytes than it may, but for the newest, and what interrupted processes left.
    fn shrink(&self, newest: &str) {
        // Nobody waits for this: what is left now is found by the next one who writes.
        let Ok(files) = self.files() else { return };
        let mut entries = Vec::new();
        let mut bytes = 0u64;
        for (path, metadata) in files {
            let name = name_of(&path);
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if kind_of(&name).is_some() {
                bytes = bytes.saturating_add(metadata.len());
                if name != newest {
                    entries.push((used, path, metadata.len()));
                }
            } else if is_temporary(&name) && is_abandoned(&metadata) {
                let _ = fs::remove_file(&path);
            }
        }
        entries.sort();
        for (_, path, size) in entries {
            if bytes <= self.max_bytes {
                break;
            }
            if fs::remove_file(&path).is_ok() {
                bytes = bytes.saturating_sub(size);
            }
        }
    }

    /// The files of the folder; none where there is no folder.
    fn files(&self) -> Result<Vec<(PathBuf, fs::Metadata)>, Error> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| self.error("reading", &error))?,
        };
        // What vanishes meanwhile was removed by another process.
        let files = entries.flatten().filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)));
        Ok(files.filter(|(_, metadata)| metadata.is_file()).collect())
    }

    fn error(&self, what: &str, error: &io::Error) -> Error {
        Error::Cache { what: format!("{what} {}", self.folder.display()), message: error.to_string() }
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether whoever wrote the file has had time to finish.
fn is_abandoned(metadata: &fs::Metadata) -> bool {
    metadata.modified().is_ok_and(|used| used.elapsed().is_ok_and(|age| age > ABANDONED))
}

fn is_temporary(name: &str) -> bool {
    name.strip_suffix(".tmp").and_then(|name| name.rsplit_once('.')).is_some_and(|(name, _)| kind_of(name).is_some())
}

#[cfg(test)]
mod tests;

/// A new file that only the user may read and write.
fn create_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Whether no other user may write a file or folder, as far as the system tells.
fn is_written_by_user_alone(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let shared = 0o022;
        fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & shared == 0)
    }
    #[cfg(not(unix))]
    path.exists()
}
