//! What the tests of this crate share.

use weft_hlo::ir::Module;
use weft_partition::Target;
use weft_runtime::{Device, DeviceOptions, Error, Options, Program, Selection, compile_with};

/// Compiles without the host's help: what it computed would be compared with itself.
pub(crate) fn compile(module: &Module, target: &Target) -> Result<Program, Error> {
    compile_with(module, target, &Options { host: false, ..Options::default() })
}

/// The adapter that the environment variable `WEFT_TEST_ADAPTER` names, or else the best there is. Without one, tests that need
/// it fail: a skipped test proves nothing. What the user's cache knows of the adapter is left aside.
pub(crate) fn device() -> Device {
    Device::open(&selection(), &DeviceOptions::default().with_cache(None))
        .map_err(|error| error.to_string())
        .expect("tests of kernels need an adapter; on Debian/Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1")
}

/// The adapter that tests are to run on.
pub(crate) fn selection() -> Selection {
    std::env::var("WEFT_TEST_ADAPTER").map_or(Selection::Best, Selection::Name)
}

/// A device that validates everything and executes nothing; it needs no driver.
pub(crate) fn noop() -> Device {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    Device::from_wgpu(device, queue)
}

/// A module from text.
pub(crate) fn module(text: &str) -> Module {
    weft_hlo::text::parse(text).map_err(|findings| findings.locate(text).to_string()).expect("the text is a module")
}

/// A module with one computation, given its instructions.
pub(crate) fn entry(instructions: &str) -> Module {
    module(&format!("HloModule test\nENTRY main {{\n{instructions}\n}}\n"))
}
