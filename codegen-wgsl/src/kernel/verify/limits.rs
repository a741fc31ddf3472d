//! What a kernel asks of a device.

use super::{Finding, Findings, elements};
use crate::kernel::{Access, Kernel, Memory, Space, uniform_bytes};
use std::collections::BTreeSet;
use weft_partition::{Form, Target};

impl Kernel {
    /// The limits of a target that the kernel would break: bindings and uniforms and their bytes, bytes of workgroup memory and of an invocation's
    /// arrays, invocations of a workgroup, workgroups of a launch, and rounds of loops, called functions counted at each call.
    pub fn exceeds(&self, target: &Target) -> Vec<Finding> {
        let mut findings = Findings(Vec::new());
        let bytes = |memory: &Memory| {
            let form = Form::of(memory.shape.element_type)?;
            // Only buffers are packed.
            if !memory.is_buffer() {
                return elements(&memory.shape.extents).map(|count| count * i128::from(4 * form.parts()));
            }
            form.bytes(u64::try_from(elements(&memory.shape.extents)?).ok()?).map(i128::from)
        };
        let most = i128::from(target.max_storage_binding_bytes.min(target.max_buffer_bytes));
        let (mut bindings, mut uniforms): (BTreeSet<u32>, BTreeSet<u32>) = Default::default();
        let (mut shared, mut private) = (Some(0i128), Some(0i128));
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
                    if bytes.is_none_or(|bytes| bytes + i128::from(offset) > most) {
                        let message =
                            format!("{} exceeds the {most} bytes that the target lets a kernel bind", memory.shape);
                        findings.add(&format!("%{}", memory.name), message);
                    }
                }
                Space::Workgroup => shared = shared.zip(bytes).map(|(sum, bytes)| sum + bytes),
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
        check("binds", "buffers", count(&bindings), i128::from(target.max_storage_buffers));
        check("binds", "uniforms", count(&uniforms), i128::from(target.max_uniform_buffers));
        check("takes", "bytes of workgroup memory", shared, i128::from(target.max_workgroup_storage_bytes));
        check("takes", "bytes of arrays in an invocation", private, i128::from(target.max_private_array_bytes));
        let threads = i128::from(self.threads());
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
        findings.0
    }
}
