//! Standing in for the window system that the command never uses.

use crate::args::Command;

/// Starts the command over with a runtime directory that holds no compositor, if the environment names no runtime directory.
///
/// wgpu enables Vulkan's extensions for windows in every instance. On those, Mesa's device selection layer asks the Wayland
/// compositor for its device, and where `XDG_RUNTIME_DIR` does not say where to look, libwayland complains on standard
/// error. A directory in which nothing can be found gives the same answer silently. Drivers read the environment of
/// the process, which it cannot change safely once it runs. If starting over fails, the command goes on as it is.
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn ensure(command: &Command) {
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    const VARIABLE: &str = "XDG_RUNTIME_DIR";
    let is_known = std::env::var_os(VARIABLE).is_some_and(|path| Path::new(&path).is_absolute());
    if is_known || !may_ask_devices(command) {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut arguments = std::env::args_os();
    let mut again = std::process::Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // It returns only if it fails.
    let _ = again.args(arguments).env(VARIABLE, "/dev/null").exec();
}

/// Elsewhere window systems are not asked.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn ensure(_: &Command) {}

/// Whether the command may look for devices; the others need not start over.
#[cfg(all(unix, not(target_os = "macos")))]
fn may_ask_devices(command: &Command) -> bool {
    use crate::args::Devices;
    !matches!(
        command,
        Command::Indexing(_)
            | Command::Simplify(_)
            | Command::Map(_)
            | Command::Fmt(_)
            | Command::Verify(_)
            | Command::Specialize(_)
            | Command::ShapeFunctions(_)
            | Command::Opt(_)
            | Command::Cache(_)
            | Command::Devices(Devices { target: Some(_), .. })
    )
}
