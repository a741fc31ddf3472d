//! Threefry with two words of 32 bits and 20 rounds.

/// How far the second word is rotated, by round; the pattern repeats.
const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
/// What a key of zeros is masked with: the parity constant of Skein.
const PARITY: u32 = 0x1BD1_1BDA;

/// Two random words. Both arguments have their lower word first.
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
