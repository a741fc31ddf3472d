//! What can go wrong between a module and its numbers.

use std::fmt;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::ArrayShape;

/// Why a program could not be compiled, loaded or run.
///
/// [`code`](Error::code) is stable; the wording is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program is wrong, or holds something that has no kernel yet. Each finding has a code and a place of its own.
    #[error("{0}")]
    Program(Diagnostics),
    /// A tensor is larger than the device can hold in one buffer.
    #[error("RUN001: {tensor} takes {bytes} bytes, more than the {limit} bytes of one buffer on this device")]
    BufferTooLarge {
        /// Name and shape of the tensor.
        tensor: String,
        /// Bytes it takes on the device; `u64::MAX` where they cannot be counted.
        bytes: u64,
        /// Bytes the device allows.
        limit: u64,
    },
    /// A value of the entry computation has no form on a device (a type without kernels, a tuple, a token).
    #[error("RUN002: {value} has no form on a device: {reason}")]
    NoDeviceForm {
        /// Name and shape of the value.
        value: String,
        /// Why.
        reason: String,
    },
    /// A run of the program takes more memory than it may ([`Options::memory_budget`](crate::Options::memory_budget)).
    #[error("RUN003: {program} takes {peak} bytes at its peak, more than its budget of {budget}; its largest tensors are {}", Sizes(.largest))]
    OverBudget {
        /// The name of the program.
        program: String,
        /// Bytes that a run takes at most.
        peak: u64,
        /// Bytes that it may take.
        budget: u64,
        /// Names and shapes of the largest tensors with their bytes, the largest first.
        largest: Vec<(String, u64)>,
    },
    /// There is no adapter at all.
    #[error("RUN010: no GPU adapter was found{}", .0.suffix())]
    NoAdapter(Advice),
    /// No adapter answers to what was asked for.
    #[error("RUN011: no adapter is {asked}; there are: {}", Listed(.available))]
    AdapterNotFound {
        /// What was asked for.
        asked: String,
        /// The names of those there are, by index.
        available: Vec<String>,
    },
    /// The adapter refused to give a device.
    #[error("RUN012: the adapter gave no device: {0}")]
    NoDevice(String),
    /// The program was compiled for more than the device offers.
    #[error("RUN013: the program was compiled for {what} of {asked}, the device offers {offered}")]
    TargetMismatch {
        /// Which limit.
        what: &'static str,
        /// What the program may use.
        asked: u64,
        /// What the device has.
        offered: u64,
    },
    /// The program was compiled for a feature that the device lacks.
    #[error("RUN014: the program was compiled for the feature {feature}, which the device lacks")]
    FeatureMissing {
        /// Its name in [`Features`](weft_partition::Features), or in [`Faults`](weft_partition::Faults) of what does not work there.
        feature: String,
    },
    /// No device can be as the target says.
    #[error("{code}: {0}", code = .0.code())]
    Target(weft_partition::TargetError),
    /// The device's API refused a command: a fault of a kernel or of this crate.
    #[error("RUN020: {what}: the device refused: {message}")]
    Validation {
        /// What was being done.
        what: String,
        /// The refusal.
        message: String,
    },
    /// The device has no memory left.
    #[error("RUN021: {what}: the device is out of memory")]
    OutOfMemory {
        /// What was being done.
        what: String,
    },
    /// The driver failed.
    #[error("RUN022: {what}: the driver failed: {message}")]
    Internal {
        /// What was being done.
        what: String,
        /// What it said.
        message: String,
    },
    /// The device is gone (reset, unplugged, destroyed); a new one has to be made.
    #[error("RUN023: the device is lost: {0}")]
    DeviceLost(String),
    /// Another number of inputs was given than there are parameters.
    #[error("RUN030: the program takes {expected} inputs, {given} were given")]
    InputCount {
        /// The number of parameters.
        expected: usize,
        /// The number of inputs.
        given: usize,
    },
    /// An input is not of its parameter's type and extents.
    #[error("RUN031: parameter {number} ({name}) is {expected}, {given} was given")]
    InputMismatch {
        /// The parameter, from 0.
        number: usize,
        /// Its name.
        name: String,
        /// What it has to be.
        expected: String,
        /// What was given.
        given: String,
    },
    /// An argument cannot be donated.
    #[error("RUN033: argument {number} cannot be donated: {reason}")]
    Donation {
        /// The argument, from 0.
        number: usize,
        /// Why.
        reason: String,
    },
    /// A run cannot be a part of what others submit.
    #[error("RUN034: {program} cannot be recorded into an encoder: {reason}")]
    NotRecordable {
        /// The name of the program.
        program: String,
        /// Which step needs the host, and for what.
        reason: String,
    },
    /// A buffer belongs to another device than it was used with.
    #[error("RUN032: {0} lies on another device")]
    ForeignBuffer(String),
    /// A line of a program's text is wrong ([`Program::parse`](crate::Program::parse)).
    #[error("RUN050: line {line}: {reason}")]
    ProgramText {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Bytes are no program ([`Program::from_bytes`](crate::Program::from_bytes)).
    #[error("RUN051: the bytes are no program: {0}")]
    ProgramBytes(String),
    /// Bytes are a program of another version.
    #[error("RUN052: the program was written by {found}, this is {own}: compile it again")]
    ProgramVersion {
        /// What wrote it.
        found: String,
        /// What reads it.
        own: String,
    },
    /// A [`Cache`](crate::Cache) cannot be read or written. Nothing depends on it but time.
    #[error("RUN040: {what}: {message}")]
    Cache {
        /// What was being done, with the folder.
        what: String,
        /// What the system said.
        message: String,
    },
}

/// What to do about a missing adapter; empty where nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice(pub String);

impl Advice {
    /// What brings a software adapter onto this system.
    pub(crate) fn for_this_system() -> Self {
        let text = if cfg!(target_os = "linux") {
            "on Debian/Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1"
        } else {
            ""
        };
        Advice(text.to_string())
    }

    fn suffix(&self) -> String {
        if self.0.is_empty() { String::new() } else { format!("; {}", self.0) }
    }
}

/// Names, each with its bytes.
struct Sizes<'a>(&'a [(String, u64)]);

impl fmt::Display for Sizes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = self.0.iter().map(|(name, bytes)| format!("{name} ({bytes} bytes)")).collect();
        f.write_str(&each.join(", "))
    }
}

struct Listed<'a>(&'a [String]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{index} {name}")?;
        }
        Ok(())
    }
}

impl Error {
    /// A stable code: that of the first finding for [`Error::Program`], that of the error for [`Error::Target`], else `RUN0xx`: `RUN00x` from compiling,
    /// `RUN01x` from finding a device, `RUN02x` from the device, `RUN03x` from the inputs, `RUN04x` from the disk,
    /// `RUN05x` from reading a program.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Program(findings) => findings.0.first().map_or("RUN000", |finding| finding.code),
            Error::BufferTooLarge { .. } => "RUN001",
            Error::NoDeviceForm { .. } => "RUN002",
            Error::OverBudget { .. } => "RUN003",
            Error::NoAdapter(_) => "RUN010",
            Error::AdapterNotFound { .. } => "RUN011",
            Error::NoDevice(_) => "RUN012",
            Error::TargetMismatch { .. } => "RUN013",
            Error::FeatureMissing { .. } => "RUN014",
            Error::Target(error) => error.code(),
            Error::Validation { .. } => "RUN020",
            Error::OutOfMemory { .. } => "RUN021",
            Error::Internal { .. } => "RUN022",
            Error::DeviceLost(_) => "RUN023",
            Error::InputCount { .. } => "RUN030",
            Error::InputMismatch { .. } => "RUN031",
            Error::ForeignBuffer(_) => "RUN032",
            Error::Donation { .. } => "RUN033",
            Error::NotRecordable { .. } => "RUN034",
            Error::Cache { .. } => "RUN040",
            Error::ProgramText { .. } => "RUN050",
            Error::ProgramBytes(_) => "RUN051",
            Error::ProgramVersion { .. } => "RUN052",
        }
    }

    /// The findings with their places, where the program is at fault.
    pub fn findings(&self) -> Option<&Diagnostics> {
        match self {
            Error::Program(findings) => Some(findings),
            _ => None,
        }
    }

    pub(crate) fn too_large(name: &str, shape: &ArrayShape, bytes: Option<u64>, limit: u64) -> Self {
        Error::BufferTooLarge { tensor: format!("{name} {shape}"), bytes: bytes.unwrap_or(u64::MAX), limit }
    }

    /// An error of wgpu, while doing `what`.
    pub(crate) fn from_wgpu(what: &str, error: &wgpu::Error) -> Self {
        let what = what.to_string();
        match error {
            wgpu::Error::OutOfMemory { .. } => Error::OutOfMemory { what },
            wgpu::Error::Validation { description, .. } => Error::Validation { what, message: description.clone() },
            wgpu::Error::Internal { description, .. } => Error::Internal { what, message: description.clone() },
        }
    }
}

impl From<Diagnostics> for Error {
    fn from(findings: Diagnostics) -> Self {
        Error::Program(findings)
    }
}

impl From<weft_partition::TargetError> for Error {
    fn from(error: weft_partition::TargetError) -> Self {
        Error::Target(error)
    }
}

impl From<Diagnostic> for Error {
    fn from(finding: Diagnostic) -> Self {
        Error::Program(finding.into())
    }
}
