//! Debug.
#![allow(clippy::all, reason = "x")]
use weft_affine::*;
fn main() {
    let e: Expr = std::env::args().nth(1).unwrap().parse().unwrap();
    let iv: Vec<Interval> = std::env::args()
        .skip(2)
        .map(|a| {
            let (x, y) = a.split_once(',').unwrap();
            Interval::new(x.parse().unwrap(), y.parse().unwrap())
        })
        .collect();
    let (r, p) = explain(&e, &Ranges::of_dims(iv.clone()), &[]);
    println!("{p}\n cost {} -> {}", e.cost(), r.cost());
    let t = std::time::Instant::now();
    let n = if cfg!(debug_assertions) { 100 } else { 10000 };
    for _ in 0..n {
        std::hint::black_box(simplify(&e, &Ranges::of_dims(iv.clone()), &[]));
    }
    println!("{:?} each", t.elapsed() / n);
}
