//! `weft bench --calibrate`: what memory, arithmetic and launches cost on a device.

use super::kernel::Kernels;
use super::reference::{COPY, Reference};
use super::rounds::{Budget, Contestant, WARM_UP_TIME, measure};
use super::statistics::Summary;
use super::timestamps::Timestamps;
use crate::random::{self, Distribution};
use crate::report::Failure;
use std::time::Duration;
use weft_hlo::ir::{ArrayShape, ElementType};
use weft_partition::{Target, fuse_explained};
use weft_runtime::program::compile_fused;
use weft_runtime::{Device, DeviceBuffer, Executable, Options};

/// Dispatches that are timed, and those that are taken off as what a run takes besides.
const DISPATCHES: [u32; 2] = [100, 1100];

/// Functions of each element that the program which computes adds up: none needs another, so that none waits.
const FUNCTIONS: usize = 32;

/// Elements of that program.
const ELEMENTS: i64 = 1 << 18;

/// The target of a device, with what was measured on it: the median of so many rounds each, by its own clock where it has one.
///
/// - [`dram_bytes_per_second`](weft_partition::Hardware::dram_bytes_per_second): what the copy of `weft bench` moves;
/// - [`launch_nanoseconds`](weft_partition::Hardware::launch_nanoseconds): what a dispatch more takes in a pass of small dispatches;
/// - [`clock_hertz`](weft_partition::Hardware::clock_hertz): the cycles by which a sum of transcendental functions takes the time that it takes, given the cores and lanes of the target.
///
/// # Errors
/// Whatever the device reports.
pub(super) fn calibrated(device: &Device, rounds: u32) -> Result<Target, Failure> {
    let target = device.target().clone();
    let launch = dispatch(device, rounds)?;
    let bytes_per_second = copy(device, rounds)?;
    let faster = functions(device, &target, rounds, launch, bytes_per_second)?;
    Ok(target.with(|target| {
        let hardware = &mut target.hardware;
        hardware.launch_nanoseconds = (launch * 1e9).round().clamp(1.0, f64::from(u32::MAX)) as u32;
        hardware.dram_bytes_per_second = bytes_per_second.round().max(1.0) as u64;
        hardware.clock_hertz = (hardware.clock_hertz as f64 * faster).round().max(1.0) as u64;
    }))
}

/// Seconds of a dispatch among others.
fn dispatch(device: &Device, rounds: u32) -> Result<f64, Failure> {
    let reference = Reference::dispatch();
    let mut seconds = [0.0; 2];
    for (count, seconds) in DISPATCHES.into_iter().zip(&mut seconds) {
        let kernels = Kernels::new(device, &reference, &[]).map_err(Failure::message)?.times(count);
        *seconds = median(device, rounds, &kernels.contestant())?;
    }
    Ok(((seconds[1] - seconds[0]) / f64::from(DISPATCHES[1] - DISPATCHES[0])).max(1e-9))
}

/// Bytes a second that the copy reads and writes.
fn copy(device: &Device, rounds: u32) -> Result<f64, Failure> {
    let references = Reference::all().map_err(Failure::message)?;
    let is_copy = |reference: &&Reference| reference.name == COPY;
    let reference = references.iter().find(is_copy).ok_or_else(|| Failure::message("there is no copy"))?;
    let bytes = reference.buffers[reference.output].bytes;
    let shape = ArrayShape::new(ElementType::F32, [bytes as i64 / 4]);
    let input = random::literal(0, 0, COPY, &shape, Distribution::default())?;
    let argument = DeviceBuffer::upload(device, &input)?;
    let kernels = Kernels::new(device, reference, &[argument]).map_err(Failure::message)?;
    let seconds = median(device, rounds, &kernels.contestant())?;
    Ok(2.0 * bytes as f64 / seconds)
}

/// How many times as fast the device computes as the cost model says of its target.
fn functions(
    device: &Device,
    target: &Target,
    rounds: u32,
    launch: f64,
    bytes_per_second: f64,
) -> Result<f64, Failure> {
    let shape = format!("f32[{ELEMENTS}]");
    let mut text = format!("HloModule functions\nENTRY e {{\n  x = {shape} parameter(0)\n  sum0 = {shape} negate(x)\n");
    for number in 1..=FUNCTIONS {
        let (root, before) = (if number == FUNCTIONS { "ROOT " } else { "" }, number - 1);
        text += &format!(
            "  c{number} = f32[] constant({number})\n  b{number} = {shape} broadcast(c{number}), dimensions={{}}\n  \
             m{number} = {shape} multiply(x, b{number})\n  v{number} = {shape} logistic(m{number})\n  \
             {root}sum{number} = {shape} add(sum{before}, v{number})\n"
        );
    }
    text += "}\n";
    let module = weft_hlo::text::parse(&text).map_err(|findings| Failure::message(findings.to_string()))?;
    let fused = fuse_explained(&module, target).map_err(|findings| Failure::message(findings.to_string()))?;
    let estimates = fused.fusions().filter_map(|site| fused.estimate(site, target));
    let predicted: f64 = estimates.map(|estimate| estimate.compute_nanoseconds / 1e9).sum();
    let program = compile_fused(fused, target, &Options::default())?;
    let executable = Executable::new(device, program)?;
    let shape = ArrayShape::new(ElementType::F32, [ELEMENTS]);
    let input = random::literal(0, 0, "functions", &shape, Distribution::default())?;
    let argument = DeviceBuffer::upload(device, &input)?;
    let run = Contestant::new(|| {
        executable.execute(std::slice::from_ref(&argument))?;
        device.wait("computing")
    });
    let run = run.recorded(|encoder| executable.record(encoder, vec![(&argument).into()]));
    let seconds = median(device, rounds, &run)?;
    let besides = launch + 8.0 * ELEMENTS as f64 / bytes_per_second;
    let computing = (seconds - besides).max(seconds / 10.0);
    Ok(predicted / computing)
}

/// The median of the seconds that a run takes, after those that warm up: on the device, where that tells.
fn median(device: &Device, rounds: u32, run: &Contestant<'_>) -> Result<f64, Failure> {
    let budget = Budget { rounds: rounds as usize, time: Duration::MAX, warm_up: WARM_UP_TIME };
    let timestamps = Timestamps::new(device);
    let samples = measure(std::slice::from_ref(run), budget, timestamps.as_ref())?;
    let seconds = samples.iter().flatten().map(|sample| sample.device.unwrap_or(sample.wall));
    Summary::of(seconds).map(|seconds| seconds.median).ok_or_else(|| Failure::message("nothing was measured"))
}
