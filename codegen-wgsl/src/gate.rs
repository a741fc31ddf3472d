//! The kernel that decides on the device whether the launches of a round run.

use crate::kernel::Kernel;
use crate::{Shader, compile_kernel};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::Span;
use weft_partition::Target;

/// A kernel of one invocation that lets launches run, or not, by writing the sizes that they are dispatched by indirectly. So rounds of a loop are
/// handed to a device before it is known whether they will take place.
///
/// Its operands are a `pred[1]`, whether the loop goes on, and a `u32[words]`, the sizes of the launches. Of its results the first two are updated:
/// a `u32[1]` that is 0 until the loop does not go on, and 1 ever after, whatever the first operand is then; and a `u32[1]` to which 1 is added
/// while it goes on. The third, a `u32[words]`, are the sizes while it goes on, and then zeros.
///
/// # Errors
/// As [`compile_kernel`].
pub fn gate(words: u32, target: &Target) -> Result<Shader, Diagnostics> {
    let text = format!(
        "kernel @gate(in %flag: pred[1], in %sizes: u32[{words}], inout %over: u32[1], inout %rounds: u32[1], out %grids: u32[{words}]) {{
          entry groups [1] threads 1 {{
            %0:flag: pred = extract %flag[0]
            %1:stops: u32 = select %0:flag, u32 0, u32 1
            %2:over: u32 = extract %over[0]
            %3:is_over: u32 = or %1:stops, %2:over
            store %over[0], %3:is_over
            %4:round: u32 = subtract u32 1, %3:is_over
            %5:rounds: u32 = extract %rounds[0]
            %6:counted: u32 = add %5:rounds, %4:round
            store %rounds[0], %6:counted
            loop for s0 in [0, {last}] {{
              %7:size: u32 = extract %sizes[s0]
              %8:grid: u32 = multiply %7:size, %4:round
              store %grids[s0], %8:grid
            }}
          }}
        }}",
        last = words.saturating_sub(1),
    );
    let kernel = Kernel::parse(&text).map_err(|error| {
        let message = format!("the gate of a loop is no kernel: {error}; this is a fault of the compiler");
        Diagnostics::from(Diagnostic::new("HLO419", Span::default(), message))
    })?;
    compile_kernel(&kernel, target)
}
