//! The library's functions by name.

use std::collections::HashMap;
use std::sync::OnceLock;

/// One WGSL function.
///
/// It takes and returns plain `f32`, `f64`, `i32`, `u32` or `bool` values; a few helpers of others take or return a `vec2<f32>`, those of
/// indices beyond 32 bits a `vec2<u32>`.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in WGSL, which no other declaration of the shader may have.
    pub name: &'static str,
    /// The functions of this library that it calls.
    pub depends_on: &'static [&'static str],
    /// Its declaration, with a comment on what it computes and where the method comes from.
    pub source: &'static str,
}

impl Function {
    /// The names and types of its parameters, and the type of its result, as its declaration spells them.
    pub fn signature(&self) -> (Vec<(&'static str, &'static str)>, &'static str) {
        let head = self.source.split_once(&format!("fn {}(", self.name)).map_or("", |(_, rest)| rest);
        let (parameters, rest) = head.split_once(") -> ").unwrap_or_default();
        let parameters = parameters.split(", ").filter_map(|parameter| parameter.split_once(": ")).collect();
        (parameters, rest.split_once(" {").unwrap_or_default().0)
    }
}

/// The function called `name`.
pub fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// Every function, in the order of the library's own list.
pub fn all() -> &'static [Function] {
    FUNCTIONS
}

/// The functions called `names` and all that they need: what a function calls stands before it, each function stands
/// once, and the order follows from `names` alone. Names that are not of this library are passed over.
pub fn closure<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'static Function> {
    fn visit(name: &str, found: &mut Vec<&'static Function>) {
        let Some(function) = function(name) else { return };
        if found.contains(&function) {
            return;
        }
        for needed in function.depends_on {
            visit(needed, found);
        }
        found.push(function);
    }
    let mut found = Vec::new();
    for name in names {
        visit(name, &mut found);
    }
    found
}

/// Statements of a function, with those of what it calls, each time that it is named: what becomes of it where calls are written out, as drivers do. 0 for a name
/// that is not of this library.
pub fn statements(name: &str) -> u64 {
    static STATEMENTS: OnceLock<HashMap<&'static str, u64>> = OnceLock::new();
    fn count(function: &Function) -> u64 {
        let is_part_of_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let lines = function.source.lines().filter(|line| !line.trim_start().starts_with("//"));
        let own = lines.clone().flat_map(|line| line.matches(';')).map(|_| 1);
        let words = lines.flat_map(|line| line.split(|char| !is_part_of_name(char)));
        let called = words.filter(|word| function.depends_on.contains(word)).filter_map(self::function).map(count);
        own.chain(called).fold(0, u64::saturating_add)
    }
    let statements =
        STATEMENTS.get_or_init(|| FUNCTIONS.iter().map(|function| (function.name, count(function))).collect());
    statements.get(name).copied().unwrap_or(0)
}

macro_rules! functions {
    ($($name:ident $path:literal [$($needs:ident)*])*) => {
        const FUNCTIONS: &[Function] = &[
            $(Function {
                name: stringify!($name),
                depends_on: &[$(stringify!($needs)),*],
                source: include_str!(concat!($path, ".wgsl")),
            },)*
        ];
    };
}

functions! {
    acos_f32 "f32/acos" [asin_polynomial_f32 nan_f32]
    acosh_f32 "f32/acosh" [log1p_f32 nan_f32 is_nan_f32]
    asin_f32 "f32/asin" [asin_polynomial_f32 copy_sign_f32 nan_f32]
    asin_polynomial_f32 "f32/asin_polynomial" []
    asinh_f32 "f32/asinh" [log1p_f32 copy_sign_f32]
    atan2_f32 "f32/atan2" [atan_unit_f32 copy_sign_f32 nan_f32 is_nan_f32]
    atan_unit_f32 "f32/atan_unit" []
    atanh_f32 "f32/atanh" [log1p_f32 copy_sign_f32 infinity_f32 nan_f32]
    cbrt_f32 "f32/cbrt" [normal_bits_f32 copy_sign_f32 scale_f32 is_finite_f32]
    copy_sign_f32 "f32/copy_sign" []
    cos_f32 "f32/cos" [reduce_quadrant_f32 cos_polynomial_f32 sin_polynomial_f32 nan_f32 is_finite_f32]
    cos_polynomial_f32 "f32/cos_polynomial" []
    cosh_f32 "f32/cosh" [half_exp_f32]
    erf_f32 "f32/erf" [copy_sign_f32 exp_inner_f32 is_nan_f32]
    exp_f32 "f32/exp" [exp_inner_f32 infinity_f32 is_nan_f32]
    exp_inner_f32 "f32/exp_inner" [exponential_polynomial_f32]
    expm1_f32 "f32/expm1" [whole_f32 exponential_polynomial_f32 infinity_f32 is_nan_f32]
    exponential_polynomial_f32 "f32/exponential_polynomial" []
    u32_to_f32 "f32/from_u32" []
    half_exp_f32 "f32/half_exp" [exponential_polynomial_f32 whole_f32 infinity_f32 is_nan_f32]
    infinity_f32 "f32/infinity" []
    is_finite_f32 "f32/is_finite" []
    is_nan_f32 "f32/is_nan" []
    log_f32 "f32/log" [log_polynomial_f32 significand_f32 significand_exponent_f32 nan_f32 infinity_f32]
    log1p_f32 "f32/log1p" [significand_exponent_f32 significand_f32 log_polynomial_f32 nan_f32 infinity_f32 is_nan_f32]
    log2_parts_f32 "f32/log2_parts" [significand_f32 significand_exponent_f32 truncate_significand_f32]
    log_polynomial_f32 "f32/log_polynomial" []
    logistic_f32 "f32/logistic" [exp_f32]
    max_f32 "f32/max" [is_nan_f32 total_order_f32]
    min_f32 "f32/min" [is_nan_f32 total_order_f32]
    nan_f32 "f32/nan" []
    ne_f32 "f32/ne" [is_nan_f32]
    normal_bits_f32 "f32/normal_bits" []
    power_f32 "f32/power" [infinity_f32 power_positive_f32 nan_f32 is_nan_f32]
    power_positive_f32 "f32/power_positive" [log2_parts_f32 truncate_significand_f32 scale_f32
        exponential_polynomial_f32 whole_f32 infinity_f32]
    reduce_precision_f32 "f32/reduce_precision" []
    reduce_quadrant_f32 "f32/reduce_quadrant" [whole_f32 reduce_quadrant_large_f32]
    reduce_quadrant_large_f32 "f32/reduce_quadrant_large" [multiply_high_u32]
    remainder_f32 "f32/remainder" [nan_f32]
    round_away_f32 "f32/round_away" [copy_sign_f32]
    rsqrt_f32 "f32/rsqrt" [nan_f32 copy_sign_f32 infinity_f32]
    scale_f32 "f32/scale" []
    sign_f32 "f32/sign" [copy_sign_f32 is_nan_f32]
    significand_f32 "f32/significand" [normal_bits_f32]
    significand_exponent_f32 "f32/significand_exponent" [normal_bits_f32]
    sin_f32 "f32/sin" [reduce_quadrant_f32 sin_polynomial_f32 cos_polynomial_f32 nan_f32 is_finite_f32]
    sin_polynomial_f32 "f32/sin_polynomial" []
    sinh_f32 "f32/sinh" [half_exp_f32 copy_sign_f32]
    sqrt_f32 "f32/sqrt" [nan_f32]
    tan_f32 "f32/tan" [reduce_quadrant_f32 nan_f32 is_finite_f32]
    tanh_f32 "f32/tanh" [exp_inner_f32 copy_sign_f32 is_nan_f32]
    f32_to_bool "f32/to_bool" []
    f32_to_i32 "f32/to_i32" [is_nan_f32]
    f32_to_u32 "f32/to_u32" []
    total_order_f32 "f32/total_order" []
    truncate_significand_f32 "f32/truncate_significand" []
    whole_f32 "f32/whole" []
    abs_f64 "f64/abs" []
    acos_f64 "f64/acos" [asin_rational_f64 is_nan_f64 keep_f64 nan_f64]
    acosh_f64 "f64/acosh" [is_nan_f64 keep_f64 log_f64 log1p_f64 nan_f64]
    asin_f64 "f64/asin" [asin_rational_f64 copy_sign_f64 is_nan_f64 keep_f64 nan_f64]
    asin_rational_f64 "f64/asin_rational" []
    asinh_f64 "f64/asinh" [copy_sign_f64 is_nan_f64 keep_f64 log_f64 log1p_f64]
    atan2_f64 "f64/atan2" [atan_positive_f64 copy_sign_f64 high_f64 is_nan_f64 keep_f64 nan_f64]
    atan_positive_f64 "f64/atan_positive" [keep_f64]
    atanh_f64 "f64/atanh" [copy_sign_f64 infinity_f64 is_nan_f64 keep_f64 log1p_f64 nan_f64]
    cbrt_f64 "f64/cbrt" [copy_sign_f64 high_f64 is_finite_f64 is_nan_f64 join_f64 keep_f64]
    ceil_f64 "f64/ceil" []
    copy_sign_f64 "f64/copy_sign" []
    cos_f64 "f64/cos" [cos_polynomial_f64 high_f64 is_finite_f64 join_f64 low_f64 nan_f64 reduce_quadrant_f64
        sin_polynomial_f64]
    cos_polynomial_f64 "f64/cos_polynomial" [keep_f64]
    cosh_f64 "f64/cosh" [exp_scaled_f64]
    erf_f64 "f64/erf" [copy_sign_f64 erf_far_f64 erf_middle_f64 erf_near_f64 is_nan_f64]
    erf_far_f64 "f64/erf_far" [exp_f64 keep_f64]
    erf_middle_f64 "f64/erf_middle" []
    erf_near_f64 "f64/erf_near" []
    exp_f64 "f64/exp" [exp_scaled_f64]
    exp_parts_f64 "f64/exp_parts" [keep_f64]
    exp_scaled_f64 "f64/exp_scaled" [exp_parts_f64 is_nan_f64 keep_f64 scale_f64]
    expm1_f64 "f64/expm1" [exp_parts_f64 is_nan_f64 join_f64 keep_f64]
    floor_f64 "f64/floor" []
    high_f64 "f64/high" []
    infinity_f64 "f64/infinity" []
    is_finite_f64 "f64/is_finite" [high_f64]
    is_nan_f64 "f64/is_nan" []
    join_f64 "f64/join" []
    keep_f64 "f64/keep" []
    keep_apart_f64 "f64/keep_apart" []
    keep_chosen_f64 "f64/keep_chosen" []
    log_f64 "f64/log" [infinity_f64 is_finite_f64 is_nan_f64 keep_f64 log_polynomial_f64 nan_f64 significand_f64]
    log1p_f64 "f64/log1p" [infinity_f64 is_finite_f64 is_nan_f64 keep_f64 log_polynomial_f64 nan_f64 significand_f64]
    log_polynomial_f64 "f64/log_polynomial" [keep_f64]
    log_sum_f64 "f64/log_sum" [keep_f64 product_of_sums_f64 significand_f64 two_product_error_f64 two_sum_f64]
    logistic_f64 "f64/logistic" [exp_f64]
    low_f64 "f64/low" []
    nan_f64 "f64/nan" []
    ne_f64 "f64/ne" [is_nan_f64]
    power_f64 "f64/power" [high_f64 infinity_f64 is_finite_f64 is_nan_f64 nan_f64 power_positive_f64]
    power_positive_f64 "f64/power_positive" [copy_sign_f64 exp_parts_f64 keep_f64 log_sum_f64
        product_of_sums_f64 scale_f64]
    product_of_sums_f64 "f64/product_of_sums" [keep_f64 two_product_error_f64]
    reduce_precision_f64 "f64/reduce_precision" []
    reduce_quadrant_f64 "f64/reduce_quadrant" [keep_f64 reduce_quadrant_large_f64 two_sum_f64]
    reduce_quadrant_large_f64 "f64/reduce_quadrant_large" [high_f64 join_f64 low_f64 product_of_sums_f64
        two_over_pi_f64]
    remainder_f64 "f64/remainder" [nan_f64]
    round_f64 "f64/round" [copy_sign_f64]
    round_away_f64 "f64/round_away" [copy_sign_f64]
    rsqrt_f64 "f64/rsqrt" [copy_sign_f64 infinity_f64 nan_f64]
    scale_f64 "f64/scale" [join_f64 keep_f64]
    significand_f64 "f64/significand" [high_f64 join_f64 low_f64]
    sin_f64 "f64/sin" [cos_polynomial_f64 high_f64 is_finite_f64 join_f64 low_f64 nan_f64 reduce_quadrant_f64
        sin_polynomial_f64]
    sin_polynomial_f64 "f64/sin_polynomial" [keep_f64]
    sinh_f64 "f64/sinh" [copy_sign_f64 exp_scaled_f64 expm1_f64 is_nan_f64 keep_f64]
    sqrt_f64 "f64/sqrt" [nan_f64]
    tan_f64 "f64/tan" [high_f64 is_finite_f64 join_f64 keep_f64 low_f64 nan_f64 reduce_quadrant_f64]
    tanh_f64 "f64/tanh" [copy_sign_f64 expm1_f64 is_nan_f64]
    two_over_pi_f64 "f64/two_over_pi" []
    two_product_error_f64 "f64/two_product_error" [keep_f64]
    two_sum_f64 "f64/two_sum" [keep_f64]
    abs_i32 "i32/abs" []
    divide_i32 "i32/divide" []
    negate_i32 "i32/negate" []
    power_i32 "i32/power" [power_u32]
    remainder_i32 "i32/remainder" []
    shift_left_i32 "i32/shift_left" []
    shift_right_arithmetic_i32 "i32/shift_right_arithmetic" []
    shift_right_logical_i32 "i32/shift_right_logical" []
    divide_u32 "u32/divide" []
    multiply_high_u32 "u32/multiply_high" []
    negate_u32 "u32/negate" []
    power_u32 "u32/power" []
    remainder_u32 "u32/remainder" []
    shift_left_u32 "u32/shift_left" []
    shift_right_arithmetic_u32 "u32/shift_right_arithmetic" []
    shift_right_logical_u32 "u32/shift_right_logical" []
    add_wide "wide/add" []
    at_most_wide "wide/at_most" []
    digit_wide "wide/digit" []
    divide_wide "wide/divide" [digit_wide]
    multiply_wide "wide/multiply" [multiply_high_u32]
    decode_bf16 "small/decode_bf16" []
    decode_f8e8m0fnu "small/decode_f8e8m0fnu" []
    decode_small_float "small/decode" []
    encode_bf16 "small/encode_bf16" []
    encode_f8e8m0fnu "small/encode_f8e8m0fnu" []
    encode_small_float "small/encode" []
    ge_bool "bool/ge" []
    gt_bool "bool/gt" []
    le_bool "bool/le" []
    lt_bool "bool/lt" []
}
