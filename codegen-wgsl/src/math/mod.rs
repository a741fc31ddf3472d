//! WGSL functions for what the language lacks or does badly, and how each HLO operation is written with them.
//!
//! WGSL's own `exp`, `log`, `sin` and relatives may be off by many units in the last place, drivers treat NaN,
//! infinities and integer division each in their own way, and all of them reassociate floating-point sums. The
//! functions here compute what HLO means: within a few units in the last place (the bounds stand in the tests of
//! `weft-runtime`), with NaN and infinities in their places. Results and operands below the least normal `f32` may be
//! taken as zero, as WGSL allows.
//!
//! They have no branches but where a rare case costs much more than the others: devices run both sides of a branch that
//! neighbors take differently. Nor do they call WGSL's `min`, `max` and `clamp` on floats: what these make of NaN is open, and llvmpipe
//! has been seen to take some of them for subnormal numbers. Constants stand in constructors (`f32(2.0)`) wherever a vector could not be
//! mixed with a number, so that one text serves both: [`lane_wise`] makes the functions of vectors.
//!
//! Functions of `f64` are for devices that have it and integers of 64 bits. There are none of vectors, and subnormal numbers count as what they are.
//!
//! Each [`Function`] is plain text. A shader that calls some of them contains, in any order:
//!
//! - the [`prelude`]: the parameter block that holds run-time zeros, and `keep`, which hides a value from the driver's
//!   algebra by an exclusive or with one of them;
//! - at the beginning of its entry point, [`zeros`];
//! - the [`closure`] of the names called.
//!
//! Which of them an operation needs is answered by [`unary`], [`binary`], [`compare`], [`convert`], [`encode`] and [`decode`]:
//!
//! ```
//! use weft_codegen_wgsl::math;
//! use weft_hlo::ir::{ElementType, UnaryOp};
//!
//! let call = math::unary(UnaryOp::Exponential, ElementType::F32).expect("exponential takes f32");
//! assert_eq!(call.write(&["x"]), "exp_f32(x)");
//!
//! let mut source = math::prelude(0);
//! for function in math::closure(call.function()) {
//!     source += function.source;
//! }
//! source += &format!(
//!     "@compute @workgroup_size(1) fn main(@builtin(local_invocation_index) lane: u32) {{ {} var x = 1.0; x = exp_f32(x); }}",
//!     math::zeros("lane")
//! );
//! ```

mod call;
mod functions;
mod lanes;
mod small_float;
mod table;

pub use call::Call;
pub use functions::{Function, all, closure, function, statements};
pub use lanes::{LaneWise, components, lane_wise, lane_wise_name};
pub use small_float::{Coding, decode, encode};
pub use table::{binary, compare, convert, unary};

/// The statement that an entry point begins with: it makes the zeros of the [`prelude`] those of the invocation, whose number in its
/// workgroup `lane` is. The number stands before the uniform in each: llvmpipe looks for uniforms in the conditions of loops, and one that it has found when it comes to what is none leads
/// it astray, to the point of a crash.
pub fn zeros(lane: &str) -> String {
    let fields = ["zero", "zero_apart", "zero_chosen", "zero_constant"]
        .map(|zero| format!("({lane} * {ALL_BITS:#x}u) & params.{zero}"));
    format!("zeros = Params({});", fields.join(", "))
}

/// What numbers of invocations are multiplied with (2^32 by the golden ratio): of a product any bit may be set, for all that a driver knows.
const ALL_BITS: u32 = 0x9e37_79b1;

/// The functions that hide, and the zero of each.
const HIDING: [(&str, &str); 3] = [("keep", "zero"), ("keep_apart", "zero_apart"), ("keep_chosen", "zero_chosen")];

/// The declarations that every function here may use: `params`, a uniform block of 16 bytes at `@group(0)
/// @binding(binding)` that the caller fills with zeros, and `keep`, the identity that no driver sees through. `keep_apart`
/// and `keep_chosen` are others: two of one value look different, so that their difference is not taken for zero, and one
/// around the other hides still, as `keep(keep(x))` does not. Constants that must not be seen have a fourth zero.
///
/// The zeros are [made different](zeros) for each invocation: drivers compile a kernel again for the values of uniforms that
/// branches depend on (llvmpipe does, of a branch or an unrolled loop that depends on nothing else), and would know the zeros
/// everywhere then. Each bit of them may be set: NVIDIA's knows that the bits of a number below 1,024 are those of a subnormal `f32`, which is zero to it.
///
/// A driver may take `(x + 1e8) - 1e8` for `x`; it cannot do so for `keep(x + 1e8) - 1e8`. Functions here begin with such
/// arithmetic, so their arguments must be opaque: elements of buffers, or kept where they are computed.
pub fn prelude(binding: u32) -> String {
    let mut text = format!(
        "struct Params {{ zero: u32, zero_apart: u32, zero_chosen: u32, zero_constant: u32 }}
@group(0) @binding({binding}) var<uniform> params: Params;
var<private> zeros: Params;
"
    );
    for (name, zero) in HIDING {
        text += &format!(
            "
fn {name}(x: f32) -> f32 {{
    return bitcast<f32>(bitcast<u32>(x) ^ zeros.{zero});
}}
"
        );
    }
    text
}

#[cfg(test)]
mod tests;
