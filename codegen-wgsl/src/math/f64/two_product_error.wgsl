// x y - product, for the rounded product: by halves of the significands, whose products are exact (Dekker).
fn two_product_error_f64(x: f64, y: f64, product: f64) -> f64 {
    let x_high = bitcast<f64>(bitcast<u64>(x) & 0xfffffffff8000000lu);
    let y_high = bitcast<f64>(bitcast<u64>(y) & 0xfffffffff8000000lu);
    let x_low = keep_f64(x - x_high);
    let y_low = keep_f64(y - y_high);
    let across = keep_f64(keep_f64(x_high * y_low) + keep_f64(x_low * y_high));
    return keep_f64(keep_f64(keep_f64(x_high * y_high) - product) + across) + keep_f64(x_low * y_low);
}
