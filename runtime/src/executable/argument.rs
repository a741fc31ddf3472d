//! What a program is run on.

use crate::DeviceBuffer;

/// A tensor that a program is given.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// It stays as it is. Where the program takes [donations](crate::program::Donated) of this parameter, it is copied first.
    Borrowed(&'a DeviceBuffer),
    /// Its memory is the program's: where that takes donations of this parameter, values of the program are put there, results among them. Nothing
    /// else may use that memory, so this is the last clone of the buffer, and no result of another run shares it. A buffer that was made
    /// elsewhere ([`DeviceBuffer::from_wgpu`]) stays its owner's and is copied, and so is what commands use that were recorded and are not known to be done
    /// ([`Executable::record`](crate::Executable::record)), and what lies in an arena with others ([`DeviceBuffer::offset`]).
    Donated(DeviceBuffer),
}

impl Argument<'_> {
    /// The tensor.
    pub fn buffer(&self) -> &DeviceBuffer {
        match self {
            Argument::Borrowed(buffer) => buffer,
            Argument::Donated(buffer) => buffer,
        }
    }
}

impl<'a> From<&'a DeviceBuffer> for Argument<'a> {
    fn from(buffer: &'a DeviceBuffer) -> Self {
        Argument::Borrowed(buffer)
    }
}

impl From<DeviceBuffer> for Argument<'_> {
    fn from(buffer: DeviceBuffer) -> Self {
        Argument::Donated(buffer)
    }
}
