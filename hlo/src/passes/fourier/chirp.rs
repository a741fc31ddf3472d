//! Transforms of lengths with large prime factors.

use super::lines::Lines;
use super::parts::{Parts, sliced, zero};
use super::roots;
use crate::eval::Chirp;
use crate::passes::build::Build;
use crate::passes::rebuild::Rebuild;

/// The transforms along a dimension: since `jk = (j² + k² - (k - j)²) / 2` they are a convolution of `x[j] e^(-πi j²/n)` with
/// `e^(πi j²/n)`, computed by transforms of a power of 2 that is at least `2n - 1`, and multiplied by `e^(-πi k²/n)`. Both
/// waves and the spectrum of one are constants.
pub(super) fn transform(
    rebuild: &mut Rebuild<'_>,
    values: Parts,
    dimension: usize,
    (inverse, scale): (bool, f64),
) -> Option<Parts> {
    let given = rebuild.array(values.re).clone();
    let length = given.extents[dimension];
    let padded = i32::try_from(u32::try_from(2 * length - 1).ok()?.checked_next_power_of_two()?).ok()?.into();
    let chirp = Chirp::new(usize::try_from(length).ok()?);
    let (real, along) = (given.element_type, [dimension as i64]);
    // The conjugate of the transform of the conjugates has the other sign.
    let values = if inverse { values.conjugated(rebuild) } else { values };
    let waves = roots::complex(rebuild, real, &[length], chirp.waves().iter().map(|wave| (wave.re, wave.im)));
    let before = waves.each(rebuild, |rebuild, part| rebuild.broadcast(part, &along, given.extents.clone()));
    let mut filled = given.extents.clone();
    filled[dimension] = padded - length;
    let turned = values.times(rebuild, before);
    let turned = turned.each(rebuild, |rebuild, part| {
        let zeros = zero(rebuild, real, filled.clone());
        rebuild.concatenated(vec![part, zeros], dimension)
    });
    let spectrum = Lines { length: padded, inverse: false }.transform(rebuild, turned, dimension)?;
    let extents = rebuild.array(spectrum.re).extents.clone();
    let other = chirp.spectrum().iter().map(|value| (value.re, value.im));
    let other = roots::complex(rebuild, real, &[padded], other);
    let other = other.each(rebuild, |rebuild, part| rebuild.broadcast(part, &along, extents.clone()));
    let both = spectrum.times(rebuild, other);
    let convolved = Lines { length: padded, inverse: true }.transform(rebuild, both, dimension)?;
    let convolved = convolved.each(rebuild, |rebuild, part| sliced(rebuild, part, dimension, (0, length, 1)));
    let scaled = chirp.waves().iter().map(|wave| (wave.re * scale, wave.im * scale));
    let after = roots::complex(rebuild, real, &[length], scaled);
    let after = after.each(rebuild, |rebuild, part| rebuild.broadcast(part, &along, given.extents.clone()));
    let transformed = convolved.times(rebuild, after);
    Some(if inverse { transformed.conjugated(rebuild) } else { transformed })
}
