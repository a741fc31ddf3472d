//! Time by the device's own clock.

use weft_runtime::{Device, Error};

/// Bytes of a timestamp.
const BYTES: u64 = size_of::<u64>() as u64;

/// Two places for timestamps on a device that can write them: one in front of some commands, one behind them.
pub(super) struct Timestamps {
    device: Device,
    places: wgpu::QuerySet,
    /// Where the device leaves both.
    resolved: wgpu::Buffer,
    /// Where the host reads them.
    readable: wgpu::Buffer,
}

impl Timestamps {
    /// `None` where the device writes no timestamps.
    pub(super) fn new(device: &Device) -> Option<Timestamps> {
        let gpu = device.wgpu_device();
        let has_them = gpu.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        has_them.then(|| {
            let buffer = |usage: wgpu::BufferUsages| {
                let label = Some("timestamps");
                gpu.create_buffer(&wgpu::BufferDescriptor { label, size: 2 * BYTES, usage, mapped_at_creation: false })
            };
            Timestamps {
                device: device.clone(),
                places: gpu.create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("timestamps"),
                    ty: wgpu::QueryType::Timestamp,
                    count: 2,
                }),
                resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
                readable: buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
            }
        })
    }

    /// Runs what `record` records, in one submission, and waits for it. Seconds between the moment at which the device begins with it and that at which
    /// it has done all of it; `None` if `record` says that its commands cannot be recorded together.
    ///
    /// # Errors
    /// Whatever the device or `record` reports.
    pub(super) fn seconds<T>(
        &self,
        record: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<T, Error>,
    ) -> Result<Option<f64>, Error> {
        let what = "reading timestamps";
        let gpu = self.device.wgpu_device();
        let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.mark(&mut encoder, 0);
        let recorded = match record(&mut encoder) {
            Ok(recorded) => recorded,
            Err(Error::NotRecordable { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.mark(&mut encoder, 1);
        encoder.resolve_query_set(&self.places, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, 2 * BYTES);
        self.device.wgpu_queue().submit([encoder.finish()]);
        let failed = |message: String| Error::Internal { what: what.into(), message };
        let (told, outcome) = std::sync::mpsc::channel();
        self.readable.map_async(wgpu::MapMode::Read, .., move |outcome| {
            // Nobody listens any more where waiting failed.
            let _ = told.send(outcome);
        });
        self.device.wait(what)?;
        let mapped = outcome.recv().map_err(|error| failed(error.to_string()))?;
        mapped.map_err(|error| failed(error.to_string()))?;
        let mapped = self.readable.get_mapped_range(..).map_err(|error| failed(error.to_string()))?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&mapped);
        drop(mapped);
        self.readable.unmap();
        drop(recorded);
        let period = f64::from(self.device.wgpu_queue().get_timestamp_period());
        let [before, after] = ticks[..] else { return Ok(None) };
        Ok(Some(after.saturating_sub(before) as f64 * period / 1e9))
    }

    /// Records that the time is written down once all commands in front are done.
    fn mark(&self, encoder: &mut wgpu::CommandEncoder, place: u32) {
        let query_set = &self.places;
        let writes = match place {
            0 => wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(place),
                end_of_pass_write_index: None,
            },
            _ => wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: None,
                end_of_pass_write_index: Some(place),
            },
        };
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes: Some(writes) };
        drop(encoder.begin_compute_pass(&descriptor));
    }
}
