//! The counter-based generators Threefry and Philox (Salmon et al., *Parallel Random Numbers: As Easy as 1, 2, 3*, 2011).

/// How far the second word is rotated, by round; the pattern repeats.
const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
/// What a key of zeros is masked with: the parity constant of Skein.
const PARITY: u32 = 0x1BD1_1BDA;

/// Threefry with two words of 32 bits and 20 rounds. Key and counter have their lower word first.
pub(super) fn threefry(key: u64, counter: u64) -> [u32; 2] {
    let key = [key as u32, (key >> 32) as u32];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    let mut x = (counter as u32).wrapping_add(keys[0]);
    let mut y = ((counter >> 32) as u32).wrapping_add(keys[1]);
    for round in 0..20 {
        x = x.wrapping_add(y);
        y = y.rotate_left(ROTATIONS[round % 8]) ^ x;
        // After every four rounds a part of the key comes in.
        if round % 4 == 3 {
            let group = round / 4 + 1;
            x = x.wrapping_add(keys[group % 3]);
            y = y.wrapping_add(keys[(group + 1) % 3]).wrapping_add(group as u32);
        }
    }
    [x, y]
}

/// What the first and the third word are multiplied by.
const FACTORS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What is added to the words of the key between rounds: the golden ratio and the square root of 3, less 1.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Philox with four words of 32 bits and 10 rounds. Key and counter have their lower words first.
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
