//! A program on a device that somebody else opened, on a buffer of theirs.

use weft_hlo::ir::{ArrayShape, ElementType, Literal};
use weft_runtime::{Device, DeviceBuffer, Executable, compile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let wanted = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
    let (gpu, queue) = pollster::block_on(adapter.request_device(&wanted))?;
    let theirs = gpu.create_buffer(&wgpu::BufferDescriptor {
        label: Some("theirs"),
        size: 16,
        usage: wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::UNIFORM
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let numbers: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|number| number.to_ne_bytes()).collect();
    queue.write_buffer(&theirs, 0, &numbers);

    let device = Device::from_wgpu(gpu, queue);
    let module = weft_hlo::text::parse(
        "HloModule negate
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }",
    )?;
    let executable = Executable::new(&device, compile(&module, device.target())?)?;
    let x = DeviceBuffer::from_wgpu(&device, theirs, ArrayShape::new(ElementType::F32, [4]))?;
    // The result is one of their buffers too: `wgpu_buffer` binds it to kernels of their own.
    let y = executable.execute(&[x])?.remove(0);
    assert_eq!(y.download()?, Literal::array([4], vec![-1.0f32, -2.0, -3.0, -4.0]));
    Ok(())
}
