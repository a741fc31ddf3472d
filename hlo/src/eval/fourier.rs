//! Discrete Fourier transforms.
//!
//! A length is transformed factor by factor (Cooley and Tukey, 1965), and where it has a large prime factor as a convolution
//! of a length that has none (Bluestein, 1970). All is computed in `f64` and rounded once.

use super::call::Call;
use super::movement::extents;
use super::product::rounded;
use super::scalar::{ComplexNumber, Number, sin_cos_of_turn};
use super::work::{Stop, Work, elements, splat};
use crate::ir::{Data, FftType};
use num_complex::Complex64;

/// The transform of the last dimensions, as many as there are lengths.
pub(super) fn fft(call: &Call<'_, '_>, kind: FftType, lengths: &[i64]) -> Result<Data, Stop> {
    let (work, mut extents, result) = (call.work(), extents(call.shape(0)), super::movement::extents(call.result()));
    let count: usize = result.iter().product();
    let _held = work.reserve(16 * extents.iter().chain(&[1]).product::<usize>().max(count) as u64)?;
    let mut values = read(work, call.data(0))?;
    if count > 0 {
        let last = extents.len() - 1;
        let outer = (extents.len() - lengths.len()..last).rev();
        let inverse = matches!(kind, FftType::Inverse | FftType::RealInverse);
        if kind == FftType::RealInverse {
            for dimension in outer {
                along(work, &mut values, &extents, dimension, inverse)?;
            }
            values = with_conjugates(&values, extents[last], result[last])?;
            extents[last] = result[last];
            along(work, &mut values, &extents, last, inverse)?;
        } else {
            along(work, &mut values, &extents, last, inverse)?;
            if kind == FftType::RealForward {
                values = values.chunks(extents[last]).flat_map(|line| &line[..result[last]]).copied().collect();
                extents[last] = result[last];
            }
            for dimension in outer {
                along(work, &mut values, &extents, dimension, inverse)?;
            }
        }
    }
    rounded(work, call.result().element_type, values.len(), &|position| {
        Number::Complex(values[position].re, values[position].im)
    })
}

fn read(work: &Work, data: &Data) -> Result<Vec<Complex64>, Stop> {
    let real = |value: f64| Complex64::new(value, 0.0);
    match data {
        Data::F32(values) => work.map(values, |a, r| a.iter().zip(r).for_each(|(&a, r)| *r = real(f64::from(a)))),
        Data::C64(values) => work.map(values, |a, r| a.iter().zip(r).for_each(|(&a, r)| *r = a.wide())),
        Data::F64(values) => work.map(values, |a, r| a.iter().zip(r).for_each(|(&a, r)| *r = real(a))),
        data => Ok(elements::<Complex64>(data).to_vec()),
    }
}

/// The whole of a spectrum whose other half are the conjugates of this one, which is `from` long; of what is its own
/// conjugate only the real part counts.
fn with_conjugates(half: &[Complex64], from: usize, to: usize) -> Result<Vec<Complex64>, Stop> {
    let mut values = splat(half.len() / from * to, Complex64::default())?;
    for (line, half) in values.chunks_mut(to).zip(half.chunks(from)) {
        for (index, value) in line.iter_mut().enumerate() {
            let mirrored = (to - index) % to;
            *value = match index.cmp(&mirrored) {
                std::cmp::Ordering::Less => half[index],
                std::cmp::Ordering::Equal => Complex64::new(half[index].re, 0.0),
                std::cmp::Ordering::Greater => half[mirrored].conj(),
            };
        }
    }
    Ok(values)
}

/// Transforms every line along a dimension in place. There are elements.
fn along(
    work: &Work,
    values: &mut [Complex64],
    extents: &[usize],
    dimension: usize,
    inverse: bool,
) -> Result<(), Stop> {
    let (length, inner) = (extents[dimension], extents[dimension + 1..].iter().product::<usize>());
    let transform = Transform::new(length, inverse);
    work.for_each(values.chunks_mut(length * inner).collect(), &|block: &mut [Complex64]| {
        let mut line = vec![Complex64::default(); length];
        for start in 0..inner {
            work.go_on()?;
            line.iter_mut().zip(block[start..].iter().step_by(inner)).for_each(|(to, &from)| *to = from);
            let transformed = transform.of(&line);
            block[start..].iter_mut().step_by(inner).zip(&transformed).for_each(|(to, &from)| *to = from);
        }
        Ok(())
    })
}

/// The largest prime factor that is summed over directly.
const MAX_DIRECT_FACTOR: usize = 61;

/// `X[k] = sum of x[j] e^(∓2πi jk/n)`, for the inverse with the other sign and divided by `n`.
struct Transform {
    inverse: bool,
    /// `e^(-2πi k/n)` for each `k`.
    roots: Vec<Complex64>,
    /// The prime factors of `n`, ascending.
    factors: Vec<usize>,
    /// How to go about a length with a large prime factor.
    chirp: Option<Box<Chirp>>,
}

/// `jk = (j² + k² - (k - j)²) / 2` makes the sum a convolution with `e^(πi j²/n)`.
pub(crate) struct Chirp {
    /// `e^(-πi j²/n)` for each `j`.
    waves: Vec<Complex64>,
    /// The transform of the conjugate waves on both sides of 0, of a length that is a power of 2.
    spectrum: Vec<Complex64>,
    forward: Transform,
}

impl Transform {
    fn new(length: usize, inverse: bool) -> Self {
        let factors = factors(length);
        let large = factors.last().is_some_and(|&factor| factor > MAX_DIRECT_FACTOR);
        Transform {
            inverse,
            roots: (0..length).map(|k| turn(k, length)).collect(),
            factors,
            chirp: large.then(|| Box::new(Chirp::new(length))),
        }
    }

    fn of(&self, line: &[Complex64]) -> Vec<Complex64> {
        if !self.inverse {
            return self.forward(line);
        }
        // The conjugate of the transform of the conjugates has the other sign.
        let conjugates: Vec<Complex64> = line.iter().map(Complex64::conj).collect();
        self.forward(&conjugates).into_iter().map(|value| value.conj() / line.len() as f64).collect()
    }

    fn forward(&self, line: &[Complex64]) -> Vec<Complex64> {
        if let Some(chirp) = &self.chirp {
            return chirp.transform(line);
        }
        let mut result = vec![Complex64::default(); line.len()];
        self.part(line, 0, 1, &mut result, &self.factors);
        result
    }

    /// The transform of `line[at]`, `line[at + stride]`, …, as many as there is room for.
    fn part(&self, line: &[Complex64], at: usize, stride: usize, result: &mut [Complex64], factors: &[usize]) {
        let Some((&factor, rest)) = factors.split_first() else {
            result[0] = line[at];
            return;
        };
        let (n, length) = (self.roots.len(), result.len() / factor);
        for residue in 0..factor {
            let part = &mut result[residue * length..][..length];
            self.part(line, at + residue * stride, stride * factor, part, rest);
        }
        let mut turned = vec![Complex64::default(); factor];
        for k in 0..length {
            for (residue, turned) in turned.iter_mut().enumerate() {
                // The root for 1/(length * factor) is that for stride/n, as n = stride * length * factor.
                *turned = result[residue * length + k] * self.roots[residue * k * stride];
            }
            for quarter in 0..factor {
                result[quarter * length + k] = (0..factor)
                    .map(|residue| turned[residue] * self.roots[(residue * quarter % factor) * (n / factor)])
                    .sum();
            }
        }
    }
}

impl Chirp {
    /// For lines of this length.
    pub(crate) fn new(length: usize) -> Self {
        // Squares modulo 2n, as the wave repeats after that.
        let square = |j: usize| ((j as u128 * j as u128) % (2 * length as u128)) as usize;
        let waves: Vec<Complex64> = (0..length).map(|j| turn(square(j), 2 * length)).collect();
        let forward = Transform::new((2 * length - 1).next_power_of_two(), false);
        let mut kernel = vec![Complex64::default(); forward.roots.len()];
        for (j, wave) in waves.iter().enumerate() {
            kernel[j] = wave.conj();
            let mirrored = (kernel.len() - j) % kernel.len();
            kernel[mirrored] = wave.conj();
        }
        Chirp { waves, spectrum: forward.forward(&kernel), forward }
    }

    /// `e^(-πi j²/n)` for each `j` below `n`.
    pub(crate) fn waves(&self) -> &[Complex64] {
        &self.waves
    }

    /// The transform of the conjugate waves on both sides of 0, of the least power of 2 that is at least `2n - 1`.
    pub(crate) fn spectrum(&self) -> &[Complex64] {
        &self.spectrum
    }

    fn transform(&self, line: &[Complex64]) -> Vec<Complex64> {
        let mut turned = vec![Complex64::default(); self.spectrum.len()];
        turned.iter_mut().zip(line.iter().zip(&self.waves)).for_each(|(to, (a, wave))| *to = a * wave);
        // The inverse is taken by conjugates, which saves a second table.
        let product: Vec<Complex64> =
            self.forward.forward(&turned).iter().zip(&self.spectrum).map(|(a, b)| (a * b).conj()).collect();
        let convolved = self.forward.forward(&product);
        let scale = 1.0 / self.spectrum.len() as f64;
        convolved.iter().zip(&self.waves).map(|(a, wave)| a.conj() * wave * scale).collect()
    }
}

/// `e^(-2πi k/n)`, for `k` below `n`.
fn turn(k: usize, n: usize) -> Complex64 {
    let (sin, cos) = sin_cos_of_turn(k as u64, n as u64);
    Complex64::new(cos, -sin)
}

/// The prime factors, ascending.
fn factors(mut number: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut factor = 2;
    while factor * factor <= number {
        while number.is_multiple_of(factor) {
            factors.push(factor);
            number /= factor;
        }
        factor += 1;
    }
    if number > 1 {
        factors.push(number);
    }
    factors
}
