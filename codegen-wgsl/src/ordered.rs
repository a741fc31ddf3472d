//! SPIR-V of which a driver keeps to the order: what it computes with floats is marked `NoContraction`.

use crate::Shader;
use crate::validate::{Used, validate};
use naga::back::spv::{Options, WriterFlags, ZeroInitializeWorkgroupMemoryMode, write_vec};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::ModuleInfo;

/// What SPIR-V that goes to a driver as it is has to bring along.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SpirvOptions {
    /// Whether indices are brought within their memories while the kernel runs, all loops end, and workgroup memory is zero at first.
    pub checks: bool,
    /// Whether every loop is made to end, which `checks` includes.
    pub bounds_loops: bool,
    /// Whether the device has subgroups, and so Vulkan 1.1; else the words are SPIR-V 1.0.
    pub has_subgroups: bool,
}

impl Shader {
    /// The SPIR-V words of a kernel for a target with [`no_contraction`](weft_partition::Features::no_contraction), in naga's writing: each sum,
    /// difference, product, quotient, remainder and change of sign of floats is marked `NoContraction`, which forbids a driver to fuse or to reorder it.
    /// Bindings have the numbers that the text gives them.
    ///
    /// # Errors
    /// naga's reason.
    pub fn to_ordered_spirv(&self, options: SpirvOptions) -> Result<Vec<u32>, String> {
        ordered(&self.module, &self.info, options)
    }
}

/// As [`Shader::to_ordered_spirv`], of WGSL that uses no more than every adapter has, with all checks.
///
/// # Errors
/// naga's reason.
pub fn wgsl_to_ordered_spirv(source: &str) -> Result<Vec<u32>, String> {
    let (module, info) = validate(source, Used::default())?;
    ordered(&module, &info, SpirvOptions { checks: true, bounds_loops: true, has_subgroups: false })
}

fn ordered(module: &naga::Module, info: &ModuleInfo, options: SpirvOptions) -> Result<Vec<u32>, String> {
    let (policy, zeros) = match options.checks {
        true => (BoundsCheckPolicy::Restrict, ZeroInitializeWorkgroupMemoryMode::Polyfill),
        false => (BoundsCheckPolicy::Unchecked, ZeroInitializeWorkgroupMemoryMode::None),
    };
    let options = Options {
        lang_version: if options.has_subgroups { (1, 3) } else { (1, 0) },
        flags: WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: policy,
            buffer: policy,
            image_load: policy,
            binding_array: policy,
        },
        zero_initialize_workgroup_memory: zeros,
        force_loop_bounding: options.checks || options.bounds_loops,
        // Bindings are where the text has them.
        fake_missing_bindings: true,
        ..Options::default()
    };
    let words = write_vec(module, info, &options, None).map_err(|error| error.to_string())?;
    mark(&words)
}

/// Words before the first instruction.
const HEADER: usize = 5;

/// `OpDecorate`, and what it marks.
const DECORATE: u32 = 71;
const NO_CONTRACTION: u32 = 42;

/// Marks the results of all arithmetic on floats.
fn mark(words: &[u32]) -> Result<Vec<u32>, String> {
    let (mut at, mut first_declaration, mut marks) = (HEADER, None, Vec::new());
    while let Some(word) = words.get(at) {
        let (opcode, length) = (word & 0xffff, (word >> 16) as usize);
        let Some(instruction) = words.get(at..at + length).filter(|instruction| !instruction.is_empty()) else {
            return Err(format!("word {at} of the SPIR-V begins no instruction"));
        };
        if first_declaration.is_none() && !stands_before_declarations(opcode) {
            first_declaration = Some(at);
        }
        if let (true, [_, _, result, ..]) = (is_float_arithmetic(opcode), instruction) {
            marks.extend([3 << 16 | DECORATE, *result, NO_CONTRACTION]);
        }
        at += length;
    }
    let (before, declarations) = words.split_at(first_declaration.unwrap_or(words.len()));
    Ok([before, &marks, declarations].concat())
}

/// Whether an instruction belongs to the parts of a module before its types: capabilities and extensions, the memory model, entry points, names, marks.
fn stands_before_declarations(opcode: u32) -> bool {
    matches!(opcode, 2..=7 | 10 | 11 | 14..=17 | 71..=75 | 330..=332 | 5632 | 5633)
}

/// Whether an operation is arithmetic on floats, by its number in the specification of SPIR-V, "Arithmetic Instructions".
fn is_float_arithmetic(opcode: u32) -> bool {
    const NEGATE: u32 = 127;
    const ADD: u32 = 129;
    const SUBTRACT: u32 = 131;
    const MULTIPLY: u32 = 133;
    const DIVIDE: u32 = 136;
    const REMAINDER: u32 = 140;
    const MODULO: u32 = 141;
    // Products of vectors and matrices with scalars and with one another, and their dot product.
    const PRODUCTS: std::ops::RangeInclusive<u32> = 142..=148;
    matches!(opcode, NEGATE | ADD | SUBTRACT | MULTIPLY | DIVIDE | REMAINDER | MODULO) || PRODUCTS.contains(&opcode)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = input[id.x];
    let y = vec4<f32>(x, 1f, 2f, 3f) * x;
    output[id.x] = (x + 1e8f) - 1e8f + dot(y, y) / -x;
}
";

    /// The opcode and the words of each instruction.
    fn instructions(words: &[u32]) -> Vec<(u32, &[u32])> {
        let (mut at, mut found) = (HEADER, Vec::new());
        while let Some(word) = words.get(at) {
            let length = (word >> 16) as usize;
            found.push((word & 0xffff, &words[at..at + length]));
            at += length;
        }
        found
    }

    #[test]
    fn arithmetic_of_floats_is_marked_and_nothing_else() {
        let words = wgsl_to_ordered_spirv(TEXT).expect("it is WGSL");
        let all = instructions(&words);
        let is_mark = |(opcode, words): &&(u32, &[u32])| *opcode == DECORATE && words[2] == NO_CONTRACTION;
        let mut marked: Vec<u32> = all.iter().filter(is_mark).map(|(_, words)| words[1]).collect();
        let float = all.iter().filter(|(opcode, _)| is_float_arithmetic(*opcode));
        let mut expected: Vec<u32> = float.map(|(_, words)| words[2]).collect();
        assert!(expected.len() >= 6, "{expected:?}");
        marked.sort_unstable();
        expected.sort_unstable();
        assert_eq!(marked, expected);
        // Marks stand with the other ones, before the first type.
        let last = all.iter().rposition(|it| is_mark(&it)).expect("there are marks");
        assert!(all[..=last].iter().all(|(opcode, _)| stands_before_declarations(*opcode)));
        assert!(all[last + 1..].iter().all(|(opcode, _)| !stands_before_declarations(*opcode)));
    }

    #[test]
    fn words_that_are_no_instructions_are_refused() {
        let words = wgsl_to_ordered_spirv(TEXT).expect("it is WGSL");
        assert!(
            mark(&[&words[..], &[3 << 16 | DECORATE, 1]].concat()).is_err(),
            "the last instruction has a word less"
        );
        assert!(mark(&[&words[..], &[0]].concat()).is_err(), "an instruction has no words");
        assert!(wgsl_to_ordered_spirv("fn main( {").is_err());
    }
}
