//! The files of a cache: a header, the key, the content.
//!
//! | Bytes | Hold |
//! |---|---|
//! | 0 to 7 | `weft\0\r\n\x1a`, which no text and no transfer of text yields |
//! | 8 to 11 | the [version](VERSION) of this form |
//! | 12 to 15 | the length of the key, in bytes |
//! | 16 to 23 | the checksum of kind, key and content: FNV-1a of 64 bits |
//! | 24 to 24 + length | the key, as UTF-8 |
//! | the rest | the content |
//!
//! Numbers are little-endian.

const MAGIC: &[u8; 8] = b"weft\0\r\n\x1a";

/// The version of the form of files. Files of others are as if they were not there.
const VERSION: u32 = 1;

const HEADER: usize = 24;

const SUFFIX: &str = ".weft";

/// What an entry holds. The content's own form is versioned by the key.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What an adapter was found to do.
    SelfTest,
    /// A program with its kernels.
    Program,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::SelfTest, Kind::Program];

    /// Its name, with which the names of files begin.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::SelfTest => "self-test",
            Kind::Program => "program",
        }
    }
}

/// A file that was read.
pub(super) struct Entry<'f> {
    pub(super) key: &'f str,
    pub(super) content: &'f [u8],
}

/// The name of the file for a key: its kind and a hash of 128 bits.
pub(super) fn file_name(kind: Kind, key: &str) -> String {
    format!("{}-{:032x}{SUFFIX}", kind.name(), fingerprint(key.as_bytes()))
}

/// The kind of entry that a file of this name is; `None` if it is none.
pub(super) fn kind_of(file: &str) -> Option<Kind> {
    let stem = file.strip_suffix(SUFFIX)?;
    let (kind, hash) = stem.rsplit_once('-')?;
    let is_hash = hash.len() == 32 && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    Kind::ALL.into_iter().find(|known| known.name() == kind).filter(|_| is_hash)
}

/// The bytes of an entry.
pub(super) fn encode(kind: Kind, key: &str, content: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEADER + key.len() + content.len());
    file.extend(MAGIC);
    file.extend(VERSION.to_le_bytes());
    file.extend(u32::try_from(key.len()).unwrap_or(u32::MAX).to_le_bytes());
    file.extend(checksum(kind, key, content).to_le_bytes());
    file.extend(key.as_bytes());
    file.extend(content);
    file
}

/// What the bytes of a file hold; `None` if they are no entry of this kind and version, or damaged.
pub(super) fn decode(kind: Kind, file: &[u8]) -> Option<Entry<'_>> {
    let (header, rest) = file.split_at_checked(HEADER)?;
    let word = |at: usize| Some(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?));
    if !header.starts_with(MAGIC) || word(8)? != VERSION {
        return None;
    }
    let (key, content) = rest.split_at_checked(usize::try_from(word(12)?).ok()?)?;
    let key = std::str::from_utf8(key).ok()?;
    let expected = u64::from_le_bytes(header.get(16..24)?.try_into().ok()?);
    (checksum(kind, key, content) == expected).then_some(Entry { key, content })
}

fn checksum(kind: Kind, key: &str, content: &[u8]) -> u64 {
    let bytes = [kind.name().as_bytes(), &[0], key.as_bytes(), &[0], content];
    bytes
        .into_iter()
        .flatten()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// FNV-1a of 128 bits.
pub(super) fn fingerprint(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_are_published() {
        assert_eq!(fingerprint(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(fingerprint(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    }

    #[test]
    fn entries_are_read_as_they_were_written_and_no_damaged_one_is() {
        let file = encode(Kind::SelfTest, "key", b"content");
        let entry = decode(Kind::SelfTest, &file).expect("it is whole");
        assert_eq!((entry.key, entry.content), ("key", &b"content"[..]));
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 0x10;
            assert!(decode(Kind::SelfTest, &damaged).is_none(), "byte {at}");
            assert!(decode(Kind::SelfTest, &file[..at]).is_none(), "the first {at} bytes");
        }
        let name = file_name(Kind::SelfTest, "key");
        assert_eq!(kind_of(&name), Some(Kind::SelfTest));
        assert_eq!((kind_of("self-test.weft"), kind_of("notes.txt"), kind_of(&name[1..])), (None, None, None));
    }
}
