// The number itself, which no driver sees through: as keep().
fn keep_f64(x: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(x) ^ u64(zeros.zero));
}
