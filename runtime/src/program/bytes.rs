//! Programs as bytes: a header, then the [text](Program::text).
//!
//! | Bytes | Hold |
//! |---|---|
//! | 0 to 7 | `wprog\r\n\x1a`, which no transfer of text leaves as it is |
//! | 8 to 11 | the [version](FORMAT) of this form |
//! | 12 to 15 | the length of weft's version, in bytes |
//! | 16 to 23 | the length of the text, in bytes |
//! | 24 to 31 | the checksum of all that follows, and of the numbers before it: FNV-1a of 64 bits |
//! | 32 to 32 + length | weft's version |
//! | the rest | the text, as UTF-8 |
//!
//! Numbers are little-endian. The checksum finds damage; who means harm can make one. So what is read is believed no more than text is.

use super::Program;
use crate::Error;

/// What the bytes of a program begin with.
const MAGIC: &[u8; 8] = b"wprog\r\n\x1a";

/// The version of the form.
const FORMAT: u32 = 1;

const HEADER: usize = 32;

/// The version of this crate: what the kernel IR means may change with it.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Program {
    /// The program as bytes, for files and other processes; [`from_bytes`](Program::from_bytes) of the same version of weft reads them. The same program
    /// gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let text = self.text();
        let mut bytes = Vec::with_capacity(HEADER + VERSION.len() + text.len());
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(u32::try_from(VERSION.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend((text.len() as u64).to_le_bytes());
        let sum = checksum([&bytes, VERSION.as_bytes(), text.as_bytes()]);
        bytes.extend(sum.to_le_bytes());
        bytes.extend(VERSION.as_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }

    /// Whether bytes begin as those of a program do.
    pub fn is_program(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// The program of bytes that [`to_bytes`](Program::to_bytes) made. They may come from anywhere: as with [`parse`](Program::parse), kernels are
    /// verified and written anew, so that whatever the bytes are, no device does harm for them.
    ///
    /// # Errors
    /// [`Error::ProgramBytes`] if they are no program, cut off or damaged; [`Error::ProgramVersion`] if another version of weft wrote them;
    /// [`Error::ProgramText`] for what is wrong with the program.
    pub fn from_bytes(bytes: &[u8]) -> Result<Program, Error> {
        let refused = |reason: &str| Error::ProgramBytes(reason.to_owned());
        if !Program::is_program(bytes) {
            return Err(refused("they do not begin as a program does"));
        }
        let cut_off = || refused("they are cut off");
        let (header, rest) = bytes.split_at_checked(HEADER).ok_or_else(cut_off)?;
        let word = |at: usize| header.get(at..at + 4).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes);
        let long = |at: usize| header.get(at..at + 8).and_then(|long| long.try_into().ok()).map(u64::from_le_bytes);
        let format = word(8).ok_or_else(cut_off)?;
        if format != FORMAT {
            let [found, own] = [format, FORMAT].map(|format| format!("form {format} of programs"));
            return Err(Error::ProgramVersion { found, own });
        }
        let length = word(12).and_then(|length| usize::try_from(length).ok()).ok_or_else(cut_off)?;
        let (version, text) = rest.split_at_checked(length).ok_or_else(cut_off)?;
        if long(16) != u64::try_from(text.len()).ok() {
            return Err(refused("they are cut off, or more than one program"));
        }
        if long(24) != Some(checksum([&header[..24], version, text])) {
            return Err(refused("they are damaged"));
        }
        if version != VERSION.as_bytes() {
            let found = format!("weft {}", String::from_utf8_lossy(version));
            return Err(Error::ProgramVersion { found, own: format!("weft {VERSION}") });
        }
        Program::parse(std::str::from_utf8(text).map_err(|_| refused("their text is no UTF-8"))?)
    }
}

/// FNV-1a of 64 bits.
fn checksum(parts: [&[u8]; 3]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    parts.into_iter().flatten().fold(0xcbf2_9ce4_8422_2325, mix)
}
