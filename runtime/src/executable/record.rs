//! Programs as a part of what a caller records.

use super::{Argument, Executable};
use crate::device::Waiting;
use crate::executable::run::Run;
use crate::program::{Program, Step};
use crate::{DeviceBuffer, Error};

impl Executable {
    /// Records a run into `encoder`, which belongs to the device's `wgpu` device and is submitted by its owner; no pass may be open in it. The
    /// results are there once that is done. Nobody else is given the memory of the run until then, or until `encoder` is given up; what is donated
    /// meanwhile of that memory is copied.
    ///
    /// # Errors
    /// As [`execute_with_async`](Executable::execute_with_async), and [`Error::NotRecordable`] where steps depend on values that the host has to
    /// look at: loops whose rounds are not known, conditionals, what the host computes.
    pub async fn record_async(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        inputs: Vec<Argument<'_>>,
    ) -> Result<Vec<DeviceBuffer>, Error> {
        check_recordable(self.program())?;
        self.check_arguments(&inputs)?;
        Run::new(self, inputs, Waiting::Elsewhere, false).await?.record_into(encoder).await
    }

    /// [`record_async`](Executable::record_async), waiting for the device to accept the commands.
    ///
    /// # Errors
    /// As there.
    #[cfg(feature = "blocking")]
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        inputs: Vec<Argument<'_>>,
    ) -> Result<Vec<DeviceBuffer>, Error> {
        pollster::block_on(self.record_async(encoder, inputs))
    }
}

/// Whether nothing that a program does depends on what the host sees meanwhile.
fn check_recordable(program: &Program) -> Result<(), Error> {
    let step = crate::program::step::all(program.steps()).find_map(|step| match step {
        Step::While(step) if step.trip_count.is_none() => {
            Some(format!("the number of rounds of the loop {} is known only when it runs", step.name))
        }
        Step::Conditional(step) => Some(format!("the branch of {} is known only when it runs", step.name)),
        Step::Host(step) => Some(format!("the host computes {}", step.operations().join(", "))),
        _ => None,
    });
    step.map_or(Ok(()), |reason| Err(Error::NotRecordable { program: program.name().to_owned(), reason }))
}
