//! Shaders as bytes, for caches.

use crate::binding::{Binding, Content, Held};
use crate::kernel::Finding;
use crate::shader::{Proofs, Shader};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// A shader as it is stored; all of it, so that nothing has to be made again.
#[derive(Serialize, Deserialize)]
struct Stored<'s> {
    name: Cow<'s, str>,
    source: Cow<'s, str>,
    entry_point: Cow<'s, str>,
    bindings: Vec<StoredBinding<'s>>,
    parameter_binding: u32,
    windows: u32,
    window_binding: Option<u32>,
    workgroup_size: [u32; 3],
    workgroups: [u32; 3],
    structure: Cow<'s, str>,
    kernel: Cow<'s, str>,
    /// Places and messages.
    unproved: Vec<(Cow<'s, str>, Cow<'s, str>)>,
    loops_end: bool,
    module: Cow<'s, naga::Module>,
    info: Cow<'s, naga::valid::ModuleInfo>,
}

#[derive(Serialize, Deserialize)]
struct StoredBinding<'s> {
    name: Cow<'s, str>,
    writable: bool,
    uniform: bool,
    tensors: Vec<StoredHeld>,
    windows: Vec<Range<u64>>,
}

#[derive(Serialize, Deserialize)]
struct StoredHeld {
    content: StoredContent,
    shape: String,
    offset: u64,
}

#[derive(Serialize, Deserialize)]
enum StoredContent {
    Operand(u64),
    Result(u64),
    Updated { result: u64, operand: u64, elements: u64 },
}

impl Shader {
    /// All of it as bytes, which [`from_bytes`](Shader::from_bytes) of the same version of this crate reads.
    ///
    /// # Errors
    /// What the serializer says; nothing that a shader of this crate holds is refused.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let held = |held: &Held| StoredHeld {
            content: match held.content {
                Content::Operand(operand) => StoredContent::Operand(number(operand)),
                Content::Result(result) => StoredContent::Result(number(result)),
                Content::Updated { result, operand, elements } => {
                    StoredContent::Updated { result: number(result), operand: number(operand), elements }
                }
            },
            shape: held.shape.to_string(),
            offset: held.offset,
        };
        let binding = |binding: &'_ Binding| StoredBinding {
            name: Cow::Owned(binding.name.clone()),
            writable: binding.writable,
            uniform: binding.uniform,
            tensors: binding.tensors.iter().map(held).collect(),
            windows: binding.windows.clone(),
        };
        let told = |finding: &'_ Finding| (Cow::Owned(finding.place.clone()), Cow::Owned(finding.message.clone()));
        let stored = Stored {
            name: Cow::Borrowed(&self.name),
            source: Cow::Borrowed(&self.source),
            entry_point: Cow::Borrowed(&self.entry_point),
            bindings: self.bindings.iter().map(binding).collect(),
            parameter_binding: self.parameter_binding,
            windows: self.windows,
            window_binding: self.window_binding,
            workgroup_size: self.workgroup_size,
            workgroups: self.workgroups,
            structure: Cow::Borrowed(&self.structure),
            kernel: Cow::Borrowed(&self.kernel),
            unproved: self.proofs.unproved.iter().map(told).collect(),
            loops_end: self.proofs.loops_end,
            module: Cow::Borrowed(&self.module),
            info: Cow::Borrowed(&self.info),
        };
        postcard::to_stdvec(&stored).map_err(|error| error.to_string())
    }

    /// The shader of bytes that [`to_bytes`](Shader::to_bytes) made. Whatever they say is believed, [proofs](Shader::proofs) above all: they are for
    /// caches that nobody else writes. What comes from elsewhere is read with [`compile_lowered`](crate::compile_lowered).
    ///
    /// # Errors
    /// Why they are no shader, as far as that is seen.
    pub fn from_bytes(bytes: &[u8]) -> Result<Shader, String> {
        let (stored, rest) = postcard::take_from_bytes::<Stored<'_>>(bytes).map_err(|error| error.to_string())?;
        if !rest.is_empty() {
            return Err(format!("{} bytes stand behind the shader", rest.len()));
        }
        let number = |number: u64| usize::try_from(number).map_err(|error| error.to_string());
        let held = |held: StoredHeld| {
            let shape = weft_hlo::text::parse_shape(&held.shape).map_err(|found| found.to_string())?;
            let shape = shape.as_array().cloned().ok_or_else(|| format!("{shape} is no array"))?;
            let content = match held.content {
                StoredContent::Operand(operand) => Content::Operand(number(operand)?),
                StoredContent::Result(result) => Content::Result(number(result)?),
                StoredContent::Updated { result, operand, elements } => {
                    Content::Updated { result: number(result)?, operand: number(operand)?, elements }
                }
            };
            Ok(Held { content, shape, offset: held.offset })
        };
        let binding = |binding: StoredBinding<'_>| {
            let StoredBinding { name, writable, uniform, tensors, windows } = binding;
            let tensors = tensors.into_iter().map(held).collect::<Result<_, String>>()?;
            Ok(Binding { name: name.into_owned(), writable, uniform, tensors, windows })
        };
        let unproved = stored.unproved.into_iter();
        let unproved = unproved
            .map(|(place, message)| Finding { place: place.into_owned(), message: message.into_owned() })
            .collect();
        Ok(Shader {
            name: stored.name.into_owned(),
            source: stored.source.into_owned(),
            entry_point: stored.entry_point.into_owned(),
            bindings: stored.bindings.into_iter().map(binding).collect::<Result<_, String>>()?,
            parameter_binding: stored.parameter_binding,
            windows: stored.windows,
            window_binding: stored.window_binding,
            workgroup_size: stored.workgroup_size,
            workgroups: stored.workgroups,
            structure: stored.structure.into_owned(),
            kernel: stored.kernel.into_owned(),
            proofs: Proofs { unproved, loops_end: stored.loops_end },
            module: stored.module.into_owned(),
            info: stored.info.into_owned(),
        })
    }
}
