// As keep_chosen().
fn keep_chosen_f64(x: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(x) ^ u64(zeros.zero_chosen));
}
