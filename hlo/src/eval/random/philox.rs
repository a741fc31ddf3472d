//! Philox with four words of 32 bits and 10 rounds.

/// What the first and the third word are multiplied by.
const FACTORS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What is added to the words of the key between rounds: the golden ratio and the square root of 3, less 1.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Four random words. Both arguments have their lower words first.
pub(super) fn philox(key: u64, counter: u128) -> [u32; 4] {
    let mut key = [key as u32, (key >> 32) as u32];
    let mut words = [counter as u32, (counter >> 32) as u32, (counter >> 64) as u32, (counter >> 96) as u32];
    for _ in 0..10 {
        let products = [FACTORS[0] * u64::from(words[0]), FACTORS[1] * u64::from(words[2])];
        words = [
            (products[1] >> 32) as u32 ^ words[1] ^ key[0],
            products[1] as u32,
            (products[0] >> 32) as u32 ^ words[3] ^ key[1],
            products[0] as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    words
}
