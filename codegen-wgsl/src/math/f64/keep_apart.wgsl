// As keep_apart().
fn keep_apart_f64(x: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(x) ^ u64(zeros.zero_apart));
}
