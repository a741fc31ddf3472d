//! What the tests of the command share.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own for each test, removed with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("weft-cli-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("the temporary folder can be written");
        path.display().to_string()
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub(crate) fn npy<T: npyz::AutoSerialize + Copy>(
        &self,
        name: &str,
        shape: &[u64],
        order: npyz::Order,
        values: &[T],
    ) -> String {
        use npyz::WriterBuilder;
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order).writer(&mut bytes);
        let mut file = options.begin_nd().expect("memory can be written");
        file.extend(values.iter().copied()).expect("memory can be written");
        file.finish().expect("the number of elements is right");
        self.file(name, bytes)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind harms no test.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The command, which keeps nothing on disk.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.env("WEFT_CACHE_DIR", "");
    command
}

pub(crate) fn weft(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the command starts")
}

pub(crate) fn fed(arguments: &[&str], input: &str) -> Output {
    let mut command = command();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    match child.stdin.take().expect("it is piped").write_all(input.as_bytes()) {
        // Arguments that do not go together are told before anything is read.
        Err(closed) if closed.kind() == ErrorKind::BrokenPipe => {}
        written => written.expect("it reads its input"),
    }
    child.wait_with_output().expect("it ends")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("results are text")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are text")
}
