//! What the tests of this crate share.

use weft_hlo::ir::Module;
use weft_partition::Target;
use weft_runtime::{Device, DeviceOptions, Error, Options, Program, Selection, compile_with};

/// A loop of five rounds with a state, which starts from the argument and is the result.
pub(crate) const ROUNDS: &str = "
HloModule rounds
body {
  s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[64] reverse(x), dimensions={0}
  z = f32[64] subtract(x, y)
  ROOT t = (s32[], f32[64]) tuple(j, z)
}
condition {
  s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[64] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[64]) tuple(zero, x)
  w = (s32[], f32[64]) while(s), condition=condition, body=body
  ROOT r = f32[64] get-tuple-element(w), index=1
}";

/// Compiles without the host's help: what it computed would be compared with itself.
pub(crate) fn compile(module: &Module, target: &Target) -> Result<Program, Error> {
    compile_with(module, target, &Options { host: false, ..Options::default() })
}

/// The adapter that the environment variable `WEFT_TEST_ADAPTER` names, or else the best there is. Without one, tests that need
/// it fail: a skipped test proves nothing. What the user's cache knows of the adapter is left aside.
///
/// With the feature `no-contraction`, and `WEFT_NO_CONTRACTION` in the environment, all tests run on a device that keeps to the order of floats.
pub(crate) fn device() -> Device {
    #[cfg(feature = "no-contraction")]
    if std::env::var_os("WEFT_NO_CONTRACTION").is_some() {
        return ordered_device();
    }
    plain_device()
}

/// The device under test after its self-test, which found that its driver keeps to the order of floats.
#[cfg(feature = "no-contraction")]
pub(crate) fn ordered_device() -> Device {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("weft-no-contraction-{}-{number}", std::process::id()));
    let cache = weft_runtime::Cache::at(&folder);
    let plain = plain_device();
    let tested = plain.self_test().expect("the simplest kernel runs");
    tested.save(&cache, plain.info()).expect("the folder can be written");
    let device = Device::open(&selection(), &DeviceOptions::default().with_cache(Some(cache)));
    let _ = std::fs::remove_dir_all(folder);
    let device = device.expect("it was opened before");
    assert!(device.target().features.no_contraction, "{tested}");
    device
}

fn plain_device() -> Device {
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

/// The target as if the device had no subgroups.
pub(crate) fn without_subgroups(target: Target) -> Target {
    target.with(|target| {
        (target.features.subgroup, target.features.subgroup_barrier) = (None, false);
        target.features.cooperative_matrices.clear();
    })
}

/// A module from text.
pub(crate) fn module(text: &str) -> Module {
    weft_hlo::text::parse(text).map_err(|findings| findings.locate(text).to_string()).expect("the text is a module")
}

/// A module with one computation, given its instructions.
pub(crate) fn entry(instructions: &str) -> Module {
    module(&format!("HloModule test\nENTRY main {{\n{instructions}\n}}\n"))
}
