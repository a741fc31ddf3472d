// Six words of the binary digits of 2 / pi from bit `shift` of word `first` on, of at most 32; two words of zeros stand before the point. The
// table is read in one place: drivers write it out wherever it is.
fn two_over_pi_f64(first: u32, shift: u32) -> array<u32, 6> {
    var words = array<u32, 39>(
        0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
        0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
        0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
        0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
        0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u);
    let at = min(first, 32u);
    let w0 = words[at];
    let w1 = words[at + 1u];
    let w2 = words[at + 2u];
    let w3 = words[at + 3u];
    let w4 = words[at + 4u];
    let w5 = words[at + 5u];
    let w6 = words[at + 6u];
    // A shift by 32 is written as two, for WGSL has none.
    let left = 31u - shift;
    return array<u32, 6>(
        (w0 << shift) | ((w1 >> 1u) >> left), (w1 << shift) | ((w2 >> 1u) >> left), (w2 << shift) | ((w3 >> 1u) >> left),
        (w3 << shift) | ((w4 >> 1u) >> left), (w4 << shift) | ((w5 >> 1u) >> left), (w5 << shift) | ((w6 >> 1u) >> left));
}
