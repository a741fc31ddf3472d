//! What the cost model says of programs, beside what they take.

use super::row::{Ours, Row};
use super::table::{Table, number};

/// A program whose time is predicted, and was measured.
struct Pair<'r> {
    case: &'r str,
    predicted: f64,
    measured: f64,
}

fn pairs(rows: &[Row]) -> Vec<Pair<'_>> {
    let pair = |row: &'_ Row| -> Option<(f64, f64)> {
        let ours = row.ours.as_ref().ok()?;
        Some((*ours.predicted.as_ref().ok()?, ours.figures.seconds()?.median))
    };
    let known = rows.iter().filter_map(|row| Some((row, pair(row)?)));
    known.map(|(row, (predicted, measured))| Pair { case: &row.name, predicted, measured }).collect()
}

/// Seconds predicted and measured of each program, where both are known, or why nothing is predicted.
pub(super) fn table(rows: &[Row]) -> Table {
    let mut lines = Vec::new();
    for Pair { case, predicted, measured } in pairs(rows) {
        let cells = [predicted * 1e3, measured * 1e3, predicted / measured].map(number);
        lines.push([vec![case.to_owned()], cells.to_vec(), vec![String::new()]].concat());
    }
    for row in rows {
        if let Ok(Ours { predicted: Err(reason), .. }) = &row.ours {
            lines.push(vec![row.name.clone(), String::new(), String::new(), String::new(), reason.clone()]);
        }
    }
    if let Some(correlation) = rank_correlation(rows) {
        let note = format!("rank correlation {correlation:.3}");
        lines.push(vec!["all".to_owned(), String::new(), String::new(), String::new(), note]);
    }
    Table { heading: vec!["cost model", "predicted ms", "measured ms", "ratio", "note"], rows: lines, has_notes: true }
}

/// Spearman's rank correlation of predicted and measured times: 1 where one grows whenever the other does. Equal times share their ranks. `None` for fewer than three programs, and where
/// all of one kind are equal.
pub(super) fn rank_correlation(rows: &[Row]) -> Option<f64> {
    let pairs = pairs(rows);
    if pairs.len() < 3 {
        return None;
    }
    let predicted = ranks(&pairs.iter().map(|pair| pair.predicted).collect::<Vec<f64>>());
    let measured = ranks(&pairs.iter().map(|pair| pair.measured).collect::<Vec<f64>>());
    correlation(&predicted, &measured)
}

/// The place of each value among all, from 1; the mean of their places for equal ones.
fn ranks(values: &[f64]) -> Vec<f64> {
    let place = |value: &f64| {
        let smaller = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        smaller as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(place).collect()
}

/// Pearson's correlation.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (of_one, of_other) = (mean(one), mean(other));
    let mut sums = [0.0; 3];
    for (x, y) in one.iter().zip(other) {
        let (x, y) = (x - of_one, y - of_other);
        sums = [sums[0] + x * y, sums[1] + x * x, sums[2] + y * y];
    }
    let [both, first, second] = sums;
    let scale = (first * second).sqrt();
    (scale > 0.0).then(|| both / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 7.0]), [2.5, 1.0, 2.5, 4.0]);
    }

    #[test]
    fn order_is_what_correlates() {
        let of = |one: &[f64], other: &[f64]| correlation(&ranks(one), &ranks(other));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[1.0, 100.0, 1000.0]), Some(1.0));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]), Some(0.8));
        assert_eq!(of(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
    }
}
