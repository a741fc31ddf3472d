//! What a kernel asks of a device.

use super::{Finding, Findings, elements};
use crate::kernel::{Access, Block, Kernel, Memory, Space, Statement, uniform_bytes};
use std::collections::BTreeSet;
use weft_hlo::ir::ElementType;
use weft_partition::{Form, Target};

/// Bytes of a word.
const WORD_BYTES: i128 = 4;

/// Bytes of a memory of the kernel's own: only buffers are packed.
fn own_bytes(memory: &Memory) -> Option<i128> {
    let form = Form::of(memory.shape.element_type)?;
    elements(&memory.shape.extents).map(|count| count * i128::from(4 * form.parts()))
}

impl Kernel {
    /// Bytes of workgroup memory; `None` where they cannot be counted.
    pub(crate) fn workgroup_bytes(&self) -> Option<i128> {
        let of_matrices = self.in_matrices();
        let mut tiles = self.memories.values().zip(of_matrices).filter(|(memory, _)| memory.space == Space::Workgroup);
        tiles.try_fold(0, |sum, (memory, of_matrices)| {
            let is_half = of_matrices && memory.shape.element_type == ElementType::F16;
            Some(sum + own_bytes(memory)? / if is_half { 2 } else { 1 })
        })
    }

    /// The limits of a target that the kernel would break: bindings and uniforms and their bytes, bytes of workgroup memory and of an invocation's
    /// arrays, invocations of a workgroup, workgroups of a launch, and rounds of loops, called functions counted at each call; and what it needs
    /// that does not work there.
    pub fn exceeds(&self, target: &Target) -> Vec<Finding> {
        let mut findings = Findings(Vec::new());
        let bytes = |memory: &Memory| {
            if !memory.is_buffer() {
                return own_bytes(memory);
            }
            let words = memory.window.as_ref().map_or_else(|| memory.words(), |window| Some(window.size))?;
            Some(i128::from(words) * WORD_BYTES)
        };
        let most = i128::from(target.max_storage_binding_bytes.min(target.max_buffer_bytes));
        let (mut bindings, mut uniforms): (BTreeSet<u32>, BTreeSet<u32>) = Default::default();
        let mut private = Some(0i128);
        for memory in self.memories.values() {
            let bytes = bytes(memory);
            match memory.space {
                Space::Buffer { binding, access: Access::Uniform, .. } => {
                    uniforms.insert(binding);
                    let most = target.max_uniform_binding_bytes.min(target.max_buffer_bytes);
                    if uniform_bytes(memory).is_none_or(|bytes| bytes > most) {
                        let message =
                            format!("{} exceeds the {most} bytes that the target lets a uniform have", memory.shape);
                        findings.add(&format!("%{}", memory.name), message);
                    }
                }
                Space::Buffer { binding, offset, .. } => {
                    bindings.insert(binding);
                    if let Some(number) = self.unaligned(memory, target) {
                        let alignment = target.min_storage_offset_alignment;
                        let message = format!(
                            "window {number} begins at no multiple of the {alignment} bytes that the target asks for"
                        );
                        findings.add(&format!("%{}", memory.name), message);
                    }
                    if bytes.is_none_or(|bytes| bytes + i128::from(offset) > most) {
                        let message =
                            format!("{} exceeds the {most} bytes that the target lets a kernel bind", memory.shape);
                        findings.add(&format!("%{}", memory.name), message);
                    }
                }
                Space::Workgroup | Space::Matrix { .. } => {}
                Space::Thread => private = private.zip(bytes).map(|(sum, bytes)| sum + bytes),
            }
        }
        let mut check = |verb: &str, noun: &str, count: Option<i128>, most: i128| {
            if count.is_none_or(|count| count > most) {
                let count = count.map_or_else(|| "uncountably many".to_owned(), |count| count.to_string());
                findings.add("entry", format!("the kernel {verb} {count} {noun} and the target allows {most}"));
            }
        };
        let count = |bindings: &BTreeSet<u32>| i128::try_from(bindings.len()).ok();
        // Where windows begin is told by a uniform.
        let of_windows = i128::from(self.has_windows());
        check("binds", "buffers", count(&bindings), i128::from(target.max_storage_buffers));
        check(
            "binds",
            "uniforms",
            count(&uniforms).map(|count| count + of_windows),
            i128::from(target.max_uniform_buffers),
        );
        check(
            "takes",
            "bytes of workgroup memory",
            self.workgroup_bytes(),
            i128::from(target.max_workgroup_storage_bytes),
        );
        check("takes", "bytes of arrays in an invocation", private, i128::from(target.max_private_array_bytes));
        let threads = i128::from(self.threads()) / i128::from(self.lanes.max(1));
        let most = target.max_invocations_per_workgroup.min(target.max_workgroup_size_x);
        check("has", "invocations in a workgroup", Some(threads), i128::from(most));
        for groups in self.workgroups() {
            let most = i128::from(target.max_workgroups_per_dimension);
            check("launches", "workgroups along a dimension", Some(i128::from(groups)), most);
        }
        if let Some(limit) = target.max_loop_iterations
            && let Err(least) = self.copies_within(limit)
        {
            let message = format!(
                "its loops make {least} rounds or more for one element, and the device makes {limit}; \
                 the evaluator can run it"
            );
            findings.add("entry", message);
        }
        let needs = |is_needed: fn(&Statement) -> bool| self.bodies().any(|function| any(&function.body, is_needed));
        if target.faults.barriers && needs(exchanges) {
            findings.add("entry", "invocations wait for each other, and barriers do not work on the target".to_owned());
        }
        if target.faults.atomics && needs(updates) {
            findings.add("entry", "elements are updated, and atomic operations do not work on the target".to_owned());
        }
        findings.0
    }

    /// The first window of a memory that begins where the target lets no binding begin.
    fn unaligned(&self, memory: &Memory, target: &Target) -> Option<i64> {
        let window = memory.window.as_ref()?;
        let words = memory.words().unwrap_or(i64::MAX);
        (0..self.windows).find(|number| {
            let first = window.words(*number, words).map(|bound| i128::from(bound.start) * WORD_BYTES);
            first.is_ok_and(|first| first % i128::from(target.min_storage_offset_alignment.max(1)) != 0)
        })
    }
}

/// Whether the invocations of a workgroup exchange something.
fn exchanges(statement: &Statement) -> bool {
    matches!(statement, Statement::Barrier | Statement::Collective { .. } | Statement::Share { .. })
}

/// Whether an element, or a part of a word, is updated whoever else updates it meanwhile.
fn updates(statement: &Statement) -> bool {
    matches!(statement, Statement::Update { .. } | Statement::Merge { .. })
}

/// Whether a block has such a statement, at any depth.
fn any(block: &Block, is_wanted: fn(&Statement) -> bool) -> bool {
    let mut statements = block.statements.iter();
    statements
        .any(|statement| is_wanted(statement) || statement.blocks().into_iter().any(|block| any(block, is_wanted)))
}
