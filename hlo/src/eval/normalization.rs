//! Batch normalization: training, inference and gradient.
//!
//! Computed in `f64`, sums in row-major order, and rounded once at the end. The variance is that of the batch itself, the
//! mean of the squares of what differs from the mean. Of no elements mean and variance are NaN.

use super::call::Call;
use super::movement::{Walk, extents, row_major_strides};
use super::product::{bytes_of, reader, rounded};
use super::scalar::Number;
use super::work::{PIECE, Stop};
use crate::ir::{ArrayShape, Data};

const VERIFIED: &str = "the verifier has seen to the types of batch normalization";

/// The operand normalized, with its means and variances.
pub(super) fn training(call: &Call<'_, '_>, epsilon: f32, feature: usize) -> Result<Vec<Data>, Stop> {
    let features = Features::new(call, feature);
    let _bytes = call.work().reserve(bytes_of::<[f64; 4]>(features.count))?;
    let x = features.numbers(0);
    let means = features.sums(|_, position| x(position))?;
    let means: Vec<f64> = means.into_iter().map(|sum| sum / features.size as f64).collect();
    let squares = features.sums(|feature, position| {
        let apart = x(position) - means[feature];
        apart * apart
    })?;
    let variances: Vec<f64> = squares.into_iter().map(|sum| sum / features.size as f64).collect();
    let (scale, offset) = (features.numbers(1), features.numbers(2));
    let normalized = features.normalized([&scale, &offset, &|at| means[at], &|at| variances[at]], epsilon)?;
    Ok(vec![normalized, features.per_feature(&means)?, features.per_feature(&variances)?])
}

/// The operand normalized by means and variances that are given.
pub(super) fn inference(call: &Call<'_, '_>, epsilon: f32, feature: usize) -> Result<Data, Stop> {
    let features = Features::new(call, feature);
    let [scale, offset, mean, variance] = [1, 2, 3, 4].map(|position| features.numbers(position));
    features.normalized([&scale, &offset, &mean, &variance], epsilon)
}

/// The gradients by the operand, by the scales and by the offsets.
pub(super) fn gradient(call: &Call<'_, '_>, epsilon: f32, feature: usize) -> Result<Vec<Data>, Stop> {
    let features = Features::new(call, feature);
    let _bytes = call.work().reserve(bytes_of::<[f64; 4]>(features.count))?;
    let [x, scale, mean, variance, gradient] = [0, 1, 2, 3, 4].map(|position| features.numbers(position));
    let spread = |feature: usize| variance(feature) + f64::from(epsilon);
    let offsets = features.sums(|_, position| gradient(position))?;
    let products = features.sums(|feature, position| gradient(position) * (x(position) - mean(feature)))?;
    let scales: Vec<f64> = products.iter().enumerate().map(|(at, product)| product / spread(at).sqrt()).collect();
    // scale / sqrt(variance + epsilon) * (dy - mean(dy) - (x - mean) * mean(dy * (x - mean)) / (variance + epsilon))
    let size = features.size as f64;
    let operand = features.elements(|at, position| {
        let along = (x(position) - mean(at)) * (products[at] / size) / spread(at);
        scale(at) / spread(at).sqrt() * (gradient(position) - offsets[at] / size - along)
    })?;
    Ok(vec![operand, features.per_feature(&scales)?, features.per_feature(&offsets)?])
}

/// An array, one dimension of which is that of its features.
struct Features<'c, 'a> {
    call: &'c Call<'c, 'a>,
    shape: &'a ArrayShape,
    /// How many features there are.
    count: usize,
    /// How many elements each has.
    size: usize,
    /// How far apart neighbouring features lie.
    stride: usize,
    /// The other dimensions.
    others: (Vec<usize>, Vec<isize>),
}

type Numbers<'f> = &'f (dyn Fn(usize) -> f64 + Sync);

impl<'c, 'a> Features<'c, 'a> {
    fn new(call: &'c Call<'c, 'a>, feature: usize) -> Self {
        let shape = call.shape(0);
        let count = extents(call.shape(1))[0];
        let (mut extents, mut strides) = (extents(shape), row_major_strides(&extents(shape)));
        extents.remove(feature);
        let stride = strides.remove(feature) as usize;
        let size = if shape.extents.contains(&0) { 0 } else { extents.iter().product() };
        Features { call, shape, count, size, stride, others: (extents, strides) }
    }

    /// The elements of the operand at a position, by their positions.
    fn numbers(&self, position: usize) -> impl Fn(usize) -> f64 + Sync + use<'c, 'a> {
        let read = reader(self.shape.element_type);
        let data = self.call.data(position);
        move |at| match read(data, at) {
            Number::Real(value) => value,
            _ => unreachable!("{VERIFIED}"),
        }
    }

    /// For each feature the sum over its elements of what a function of feature and position gives.
    fn sums(&self, term: impl Fn(usize, usize) -> f64 + Sync) -> Result<Vec<f64>, Stop> {
        self.call.work().fill_by(self.count, PIECE / self.size.max(1), |start, sums| {
            for (offset, sum) in sums.iter_mut().enumerate() {
                let feature = start + offset;
                let mut walk = Walk::new(&self.others.0, &self.others.1, (feature * self.stride) as isize, 0);
                *sum = (0..self.size).fold(0.0, |sum, _| sum + term(feature, walk.step()));
            }
        })
    }

    /// An array like the operand, of what a function of feature and position gives.
    fn elements(&self, value: impl Fn(usize, usize) -> f64 + Sync) -> Result<Data, Stop> {
        let count = extents(self.shape).iter().product();
        rounded(self.call.work(), self.shape.element_type, count, &|position| {
            Number::Real(value(position / self.stride % self.count, position))
        })
    }

    /// `(x - mean) / sqrt(variance + epsilon) * scale + offset`.
    fn normalized(&self, [scale, offset, mean, variance]: [Numbers<'_>; 4], epsilon: f32) -> Result<Data, Stop> {
        let x = self.numbers(0);
        self.elements(|at, position| {
            (x(position) - mean(at)) / (variance(at) + f64::from(epsilon)).sqrt() * scale(at) + offset(at)
        })
    }

    /// One number for each feature.
    fn per_feature(&self, numbers: &[f64]) -> Result<Data, Stop> {
        rounded(self.call.work(), self.shape.element_type, self.count, &|at| Number::Real(numbers[at]))
    }
}
