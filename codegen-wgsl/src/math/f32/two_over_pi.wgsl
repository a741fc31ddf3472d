// Word i of the binary digits of 2 / pi, with a word of zeros before the point.
fn two_over_pi_u32(i: u32) -> u32 {
    var words = array<u32, 8>(
        0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
    return words[min(i, 7u)];
}
