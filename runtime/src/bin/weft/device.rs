//! What `--device` means.

use crate::args::TargetArgs;
use crate::report::Failure;
use crate::target;
use weft_partition::Target;
use weft_runtime::{Device, DeviceOptions, Error, Selection, adapters};

/// Where a program is to run.
pub(crate) enum Place {
    /// On this device.
    Device(Device),
    /// In the reference evaluator; the error says why, where nobody asked for it.
    Evaluator(Option<Error>),
}

/// The place that `--device` of `run` names.
pub(crate) fn place(wanted: &str, memory_budget: Option<u64>) -> Result<Place, Failure> {
    let options = DeviceOptions::default().with_memory_budget(memory_budget);
    match wanted {
        "evaluator" => Ok(Place::Evaluator(None)),
        "auto" => match Device::open(&Selection::Best, &options) {
            Ok(device) => Ok(Place::Device(device)),
            Err(error @ (Error::NoAdapter(_) | Error::NoDevice(_))) => Ok(Place::Evaluator(Some(error))),
            Err(error) => Err(error.into()),
        },
        other => Ok(Place::Device(Device::open(&selection(other), &options)?)),
    }
}

/// What the commands that only compile are to compile for: what `--target` or `--device` names, or else the floor.
pub(crate) fn target(arguments: &TargetArgs) -> Result<Target, Failure> {
    let target = match (&arguments.target, &arguments.device) {
        (Some(word), _) => target::named(word)?,
        (None, Some(wanted)) => {
            let mut found = adapters();
            let chosen = selection(wanted).choose(&found)?;
            found.swap_remove(chosen).target
        }
        (None, None) => Target::default(),
    };
    Ok(arguments.wishes.apply(target))
}

/// The device that a word names.
pub(crate) fn selection(wanted: &str) -> Selection {
    match (wanted, wanted.parse()) {
        ("gpu" | "auto", _) => Selection::Best,
        (_, Ok(index)) => Selection::Index(index),
        _ => Selection::Name(wanted.into()),
    }
}
