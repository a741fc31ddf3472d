//! Elements as words: code that only moves elements is compiled for each word size, not for each element type.

use super::{Data, ElementType, NativeType, Scalar, for_each_element_type};
use bytemuck::Pod;
use std::fmt::Debug;

/// A word that elements are held in: so many bytes of any pattern.
pub(crate) trait Word: Pod + Default + PartialEq + Debug + Send + Sync {
    /// The elements of an array, if they are held in such words.
    fn slice(words: Words<'_>) -> Option<&[Self]>;

    /// As elements of a type that is held in such words; where a type has fewer bits, those above are passed over.
    fn data(words: Vec<Self>, element_type: ElementType) -> Data;

    /// The bits, the lowest ones of the result.
    fn bits(self) -> u128;

    /// The lowest bits.
    fn of_bits(bits: u128) -> Self;
}

/// An element as the word that holds it, and back.
pub(super) trait Held: NativeType {
    /// The word.
    type Word: Word;

    /// The word. Integers of fewer bits are extended by their sign.
    fn word(self) -> Self::Word;

    /// The element; bits above its own are passed over, and a `pred` is true unless all are 0.
    fn of_word(word: Self::Word) -> Self;
}

macro_rules! words {
    ($($variant:ident $word:ty, |$from:ident| $bits:expr, |$to:ident| $of_bits:expr;)*) => {
        /// The elements of an array as words.
        #[derive(Copy, Clone)]
        pub(crate) enum Words<'a> {
            $($variant(&'a [$word]),)*
        }

        /// Words that become elements.
        enum Made {
            $($variant(Vec<$word>),)*
        }

        $(impl Word for $word {
            #[inline]
            fn slice(words: Words<'_>) -> Option<&[Self]> {
                match words {
                    Words::$variant(words) => Some(words),
                    _ => None,
                }
            }
            fn data(words: Vec<Self>, element_type: ElementType) -> Data {
                data(Made::$variant(words), element_type)
            }
            #[inline]
            fn bits(self) -> u128 {
                let $from = self;
                $bits
            }
            #[inline]
            fn of_bits($to: u128) -> Self {
                $of_bits
            }
        })*
    };
}

words! {
    U8 u8, |word| u128::from(word), |bits| bits as u8;
    U16 u16, |word| u128::from(word), |bits| bits as u16;
    U32 u32, |word| u128::from(word), |bits| bits as u32;
    U64 u64, |word| u128::from(word), |bits| bits as u64;
    // The parts of complex numbers.
    U32x2 [u32; 2], |parts| u128::from(parts[0]) | u128::from(parts[1]) << 32, |bits| [bits as u32, (bits >> 32) as u32];
    U64x2 [u64; 2], |parts| u128::from(parts[0]) | u128::from(parts[1]) << 64, |bits| [bits as u64, (bits >> 64) as u64];
}

/// `$body` with `$words` for the elements as a slice of words, whose type is `$W`.
macro_rules! words_of {
    ($given:expr, $words:pat_param, $W:ident => $body:expr) => {
        $crate::ir::words_of!(@ $given, $words, $W, $body;
            U8 u8, U16 u16, U32 u32, U64 u64, U32x2 [u32; 2], U64x2 [u64; 2])
    };
    (@ $given:expr, $words:pat_param, $W:ident, $body:expr; $($variant:ident $word:ty),*) => {
        match $given {
            $($crate::ir::Words::$variant($words) => {
                #[allow(dead_code, reason = "not every body names the type")]
                type $W = $word;
                $body
            })*
        }
    };
}

pub(crate) use words_of;

/// The type of words that is called so.
macro_rules! word {
    (U8) => {
        u8
    };
    (U16) => {
        u16
    };
    (U32) => {
        u32
    };
    (U64) => {
        u64
    };
    (U32x2) => {
        [u32; 2]
    };
    (U64x2) => {
        [u64; 2]
    };
}

macro_rules! held {
    ($($variant:ident $name:literal $bits:literal $kind:ident $owner:ident[$native:ty] $word:ident [$($format:tt)*];)*) => {
        $(impl Held for $native {
            type Word = word!($word);
            #[inline]
            fn word(self) -> Self::Word {
                to_word!($kind $owner, self)
            }
            #[inline]
            fn of_word(word: Self::Word) -> Self {
                of_word!($kind $owner, word)
            }
        })*

        fn data(words: Made, element_type: ElementType) -> Data {
            match (element_type, words) {
                $((ElementType::$variant, Made::$word(words)) => {
                    Data::$variant(of_words!($kind $owner, words))
                })*
                _ => unreachable!("words are of the size that the type is held in"),
            }
        }

        impl Data {
            /// The elements as words, where they are held.
            pub(crate) fn words(&self) -> Option<Words<'_>> {
                Some(match self {
                    $(Data::$variant(values) => Words::$word(bytemuck::cast_slice(values)),)*
                    Data::Elided | Data::Tuple(_) => return None,
                })
            }

            /// No elements, as words of the size that a type is held in.
            pub(crate) fn no_words(element_type: ElementType) -> Words<'static> {
                match element_type {
                    $(ElementType::$variant => Words::$word(&[]),)*
                }
            }
        }

        impl Scalar {
            /// The bits of the word that holds the element, the lowest ones of the result.
            pub(crate) fn word(self) -> u128 {
                match self {
                    $(Scalar::$variant(value) => value.word().bits(),)*
                }
            }

            /// The element of a type that is held in the word with these bits, of which those above its own are passed over.
            pub(crate) fn of_word(bits: u128, element_type: ElementType) -> Self {
                match element_type {
                    $(ElementType::$variant => Scalar::$variant(Held::of_word(Word::of_bits(bits))),)*
                }
            }
        }
    };
}

macro_rules! to_word {
    (pred foreign, $value:expr) => {
        u8::from($value)
    };
    (signed own, $value:expr) => {
        $value.get().cast_unsigned()
    };
    (unsigned own, $value:expr) => {
        $value.get()
    };
    (signed foreign, $value:expr) => {
        $value.cast_unsigned()
    };
    (unsigned foreign, $value:expr) => {
        $value
    };
    (float $owner:ident, $value:expr) => {
        $value.to_bits()
    };
    (complex foreign, $value:expr) => {
        bytemuck::cast($value)
    };
}

macro_rules! of_word {
    (pred foreign, $word:expr) => {
        $word != 0
    };
    (signed own, $word:expr) => {
        Self::wrapping($word.cast_signed())
    };
    (unsigned own, $word:expr) => {
        Self::wrapping($word)
    };
    (signed foreign, $word:expr) => {
        $word.cast_signed()
    };
    (unsigned foreign, $word:expr) => {
        $word
    };
    (float $owner:ident, $word:expr) => {
        Self::from_bits($word)
    };
    (complex foreign, $word:expr) => {
        bytemuck::cast($word)
    };
}

/// The elements take the place of the words: where every pattern is an element, as they are.
macro_rules! of_words {
    (pred foreign, $words:expr) => {
        $words.into_iter().map(Held::of_word).collect()
    };
    ($kind:ident own, $words:expr) => {
        $words.into_iter().map(Held::of_word).collect()
    };
    ($kind:ident foreign, $words:expr) => {
        bytemuck::cast_vec($words)
    };
}

for_each_element_type! { held }

impl Scalar {
    /// The bits of the element, the lowest ones of the result; the others are 0. A `pred` is 0 or 1, a complex number's real part stands
    /// below its imaginary part.
    pub fn bits(self) -> u128 {
        self.word() & (u128::MAX >> (128 - self.element_type().bits()))
    }

    /// The element of a type with these bits; those above the type's are passed over, and a `pred` is true unless all of its byte are 0.
    pub fn from_bits(bits: u128, element_type: ElementType) -> Self {
        Scalar::of_word(bits, element_type)
    }
}

impl Data {
    /// The elements of an array as they lie in memory, in the byte order of the machine; `None` where they are not held. Elements of
    /// less than eight bits take a byte each, an integer extended to it by its sign.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        words_of!(self.words()?, words, W => Some(bytemuck::cast_slice(words)))
    }

    /// An array of as many elements as whole ones lie in `bytes`; the inverse of [`as_bytes`](Self::as_bytes). Bits above an element's own
    /// are passed over, and a `pred` is true unless its byte is 0.
    pub fn from_bytes(bytes: &[u8], element_type: ElementType) -> Data {
        words_of!(Data::no_words(element_type), _, W => {
            let whole = bytes.len() / size_of::<W>() * size_of::<W>();
            W::data(bytemuck::pod_collect_to_vec(&bytes[..whole]), element_type)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_their_bytes() {
        for &element_type in ElementType::ALL {
            let elements = (0..100u128).map(|k| Scalar::from_bits(k.wrapping_mul(0x9e37_79b9_7f4a_7c15), element_type));
            let mut data = Data::filled(Scalar::from_bits(0, element_type), 100);
            for (position, element) in elements.enumerate() {
                data.set(position, element);
                assert_eq!(Scalar::from_bits(element.bits(), element_type), element, "{element_type}");
            }
            let bytes = data.as_bytes().unwrap();
            assert_eq!(Data::from_bytes(bytes, element_type), data, "{element_type}");
        }
        assert_eq!(Data::Elided.as_bytes(), None);
    }

    /// Every pattern of one and two bytes, and some of more: the element held in a word has the word's lowest bits.
    #[test]
    fn words_become_elements_and_come_back() {
        for &element_type in ElementType::ALL {
            let mask = u128::MAX >> (128 - element_type.bits());
            let words: Vec<u128> =
                (0..1u128 << 16).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)).collect();
            for bits in words.iter().copied().chain(0..256) {
                let element = Scalar::of_word(bits, element_type);
                let expected =
                    if element_type == ElementType::Pred { u128::from(bits as u8 != 0) } else { bits & mask };
                assert_eq!(element.word() & mask, expected, "{element_type} {bits:#x}");
                assert_eq!(Scalar::of_word(element.word(), element_type), element, "{element_type} {bits:#x}");
            }
            words_of!(Data::no_words(element_type), none, W => {
                assert!(none.is_empty());
                let data = W::data(words.iter().map(|&bits| W::of_bits(bits)).collect(), element_type);
                let held = W::slice(data.words().unwrap()).unwrap();
                for (position, &bits) in words.iter().enumerate() {
                    let element = Scalar::of_word(bits, element_type);
                    assert_eq!(data.get(position), Some(element), "{element_type} {bits:#x}");
                    assert_eq!(held[position].bits(), element.word(), "{element_type} {bits:#x}");
                }
            });
        }
    }
}
