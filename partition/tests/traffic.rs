//! What our kernels move, beside what XLA's fusions of the same programs do.

use crate::corpus::{Program, programs};
use weft_partition::{Launches, Target, fuse_explained};

/// Launches and bytes of one program in both forms.
struct Row {
    name: String,
    ours: Launches,
    theirs: Launches,
}

impl Row {
    /// What of a quantity ours have, for one of theirs; where either has nothing, 1 is added to both.
    fn ratio(&self, quantity: impl Fn(&Launches) -> u64) -> f64 {
        let (ours, theirs) = (quantity(&self.ours), quantity(&self.theirs));
        let more = u64::from(ours == 0 || theirs == 0);
        (ours + more) as f64 / (theirs + more) as f64
    }
}

fn count(launches: &Launches) -> u64 {
    launches.0.len() as u64
}

fn geometric_mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
    (logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp()
}

/// The programs of the corpus, as `weft fuse --target discrete` makes them of what JAX printed, and as XLA made them for its CPU.
fn rows() -> Vec<Row> {
    let target = Target::preset("discrete").expect("there is such a target");
    let row = |Program { name, optimized, theirs }| {
        let fused = fuse_explained(&optimized, &target).unwrap_or_else(|found| panic!("{name}: {found}"));
        Row { name, ours: Launches::of(&fused.module), theirs: Launches::of(&theirs) }
    };
    programs().into_iter().map(row).collect()
}

/// `cargo test -p weft-partition traffic:: -- --nocapture` shows the table.
#[test]
fn kernels_move_less_than_those_of_xla() {
    let rows = rows();
    assert!(rows.len() > 50, "{}", rows.len());
    println!("| Program | Launches | XLA | Ratio | Bytes | XLA | Ratio |\n|---|---:|---:|---:|---:|---:|---:|");
    for row in &rows {
        let Row { name, ours, theirs } = row;
        let (launches, bytes) = (row.ratio(count), row.ratio(Launches::bytes));
        println!(
            "| {name} | {} | {} | {launches:.2} | {} | {} | {bytes:.2} |",
            count(ours),
            count(theirs),
            ours.bytes(),
            theirs.bytes()
        );
    }
    let launches = geometric_mean(rows.iter().map(|row| row.ratio(count)));
    let bytes = geometric_mean(rows.iter().map(|row| row.ratio(Launches::bytes)));
    println!("| geometric mean | | | {launches:.3} | | | {bytes:.3} |");
    assert!(launches < 1.0 && bytes < 1.0, "{launches:.3} as many launches, {bytes:.3} as many bytes");
}
