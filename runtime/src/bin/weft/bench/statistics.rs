//! What many measurements of one thing say.

/// Quantiles of a set of measurements.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Summary {
    pub(super) median: f64,
    /// A quarter of the measurements lie below it.
    pub(super) lower: f64,
    /// A quarter of the measurements lie above it.
    pub(super) upper: f64,
    pub(super) least: f64,
    pub(super) greatest: f64,
}

impl Summary {
    /// Of at least one measurement, all of them finite.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Summary> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        if sorted.is_empty() || !sorted.iter().all(|value| value.is_finite()) {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        Some(Summary {
            median: quantile(&sorted, 0.5),
            lower: quantile(&sorted, 0.25),
            upper: quantile(&sorted, 0.75),
            least: sorted[0],
            greatest: sorted[sorted.len() - 1],
        })
    }

    /// How wide the middle half of the measurements lies, as a part of the median; 0 where that is 0.
    pub(super) fn spread(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.upper - self.lower) / self.median }
    }
}

/// The value below which this part of `sorted` lies, between two measurements in proportion.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_measurements_in_proportion() {
        let found = Summary::of([4.0, 1.0, 3.0, 2.0]).expect("four measurements");
        assert_eq!(found, Summary { median: 2.5, lower: 1.75, upper: 3.25, least: 1.0, greatest: 4.0 });
        assert_eq!(found.spread(), 0.6);
        let one = Summary::of([7.0]).expect("one measurement");
        assert_eq!((one.median, one.spread()), (7.0, 0.0));
    }

    #[test]
    fn outliers_move_neither_median_nor_spread() {
        let with = |outlier: f64| Summary::of([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, outlier]).expect("measurements");
        assert_eq!((with(1e9).median, with(1e9).spread()), (1.0, 0.0));
    }

    #[test]
    fn nothing_says_nothing() {
        assert_eq!(Summary::of([]), None);
        assert_eq!(Summary::of([1.0, f64::NAN]), None);
        assert_eq!(Summary::of([1.0, f64::INFINITY]), None);
        assert_eq!(Summary::of([0.0, 0.0]).map(|it| it.spread()), Some(0.0));
    }
}
