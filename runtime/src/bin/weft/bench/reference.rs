//! Kernels written by hand, in the best forms known for software devices, to compare with.

use serde_json::Value;

macro_rules! texts {
    ($($name:literal)*) => {
        /// The files that `index.json` names.
        const TEXTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/bench/reference/", $name))),)*];
    };
}

texts! {
    "bias_gelu.wgsl" "chain10.wgsl" "col_sum_1.wgsl" "col_sum_2.wgsl" "copy.wgsl" "full_sum_1.wgsl" "full_sum_2.wgsl"
    "layernorm_subgroups_of_8.wgsl" "layernorm_tree.wgsl" "matmul1024_registers_4x4.wgsl"
    "matmul1024_subgroups_of_8.wgsl" "max_pool.wgsl" "p0_plus_T_1.wgsl" "p0_plus_T_2.wgsl" "row_sum.wgsl"
    "softmax_subgroups_of_8.wgsl" "softmax_thread_per_row.wgsl" "transpose021.wgsl" "transpose210.wgsl"
    "transpose2d.wgsl" "window_sum.wgsl"
}

/// What each reference runs, and on which buffers.
const INDEX: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/bench/reference/index.json"));

/// The buffer of this name holds zeros: the parameter block that hides constants from the driver.
const PARAMETERS: &str = "P";

/// The name of the yardstick.
pub(super) const COPY: &str = "copy";

/// How a kernel binds a buffer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    ReadWrite,
    Uniform,
}

/// One launch. Binding `k` of group 0 is the `k`-th of its buffers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pass {
    pub(super) wgsl: &'static str,
    pub(super) bindings: Vec<(String, Access)>,
    pub(super) groups: [u32; 3],
}

/// What a buffer holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The argument of this number.
    Argument(usize),
    /// Zeros.
    Parameters,
    /// What passes write, for later passes or as the result.
    Written,
}

/// A buffer of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) role: Role,
}

/// Hand-written kernels that compute what a case does.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reference {
    /// Its name: that of the case, and that of the form where there are several.
    pub(super) name: String,
    /// The form in words.
    pub(super) form: String,
    pub(super) passes: Vec<Pass>,
    pub(super) buffers: Vec<Buffer>,
    /// Which of the buffers holds the result.
    pub(super) output: usize,
}

impl Reference {
    /// All there are.
    ///
    /// # Errors
    /// What is wrong with the index, which a test excludes.
    pub(super) fn all() -> Result<Vec<Reference>, String> {
        read(INDEX)
    }

    /// A dispatch that does next to nothing: what steps of a program are measured by.
    pub(super) fn dispatch() -> Reference {
        let wgsl = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/bench/reference/dispatch.wgsl"));
        let pass = Pass { wgsl, bindings: vec![("x".to_owned(), Access::ReadWrite)], groups: [1, 1, 1] };
        let buffer = Buffer { name: "x".to_owned(), bytes: 256, role: Role::Written };
        let form = "one workgroup, in place".to_owned();
        Reference { name: "bare dispatches".to_owned(), form, passes: vec![pass], buffers: vec![buffer], output: 0 }
    }

    /// Whether it computes what `case` does: the same is computed by what is given as one fusion.
    pub(super) fn is_of(&self, case: &str) -> bool {
        let case = case.strip_suffix("_fused").unwrap_or(case);
        self.name.strip_prefix(case).is_some_and(|form| form.is_empty() || form.starts_with('_'))
    }

    /// The one size of subgroups that it is right for, which its name ends with; `None` where it uses none.
    pub(super) fn subgroup_size(&self) -> Option<u32> {
        self.name.rsplit_once("_subgroups_of_")?.1.parse().ok()
    }
}

/// The references of an index, by name.
fn read(index: &str) -> Result<Vec<Reference>, String> {
    let index: Value = serde_json::from_str(index).map_err(|error| error.to_string())?;
    let entries = index.as_object().ok_or("the index is no object")?;
    let each = |(name, entry): (&String, &Value)| {
        reference(name, entry).ok_or_else(|| format!("the entry of {name} is not understood"))
    };
    entries.iter().map(each).collect()
}

fn reference(name: &str, entry: &Value) -> Option<Reference> {
    let passes: Vec<Pass> = entry["passes"].as_array()?.iter().map(pass).collect::<Option<_>>()?;
    let sizes = entry["buffers"].as_object()?;
    let output = entry["output"].as_str()?;
    // Arguments are what no pass writes, in the order in which passes first bind them.
    let mut buffers: Vec<Buffer> = Vec::new();
    let is_written = |name: &str| {
        let mut bindings = passes.iter().flat_map(|pass| &pass.bindings);
        bindings.any(|(bound, access)| bound == name && *access == Access::ReadWrite)
    };
    let mut arguments = 0;
    for (bound, _) in passes.iter().flat_map(|pass| &pass.bindings) {
        if buffers.iter().any(|buffer| buffer.name == *bound) {
            continue;
        }
        let role = if bound == PARAMETERS {
            Role::Parameters
        } else if is_written(bound) {
            Role::Written
        } else {
            arguments += 1;
            Role::Argument(arguments - 1)
        };
        buffers.push(Buffer { name: bound.clone(), bytes: sizes.get(bound)?.as_u64()?, role });
    }
    let output = buffers.iter().position(|buffer| buffer.name == output && buffer.role == Role::Written)?;
    Some(Reference { name: name.to_owned(), form: entry["form"].as_str()?.to_owned(), passes, buffers, output })
}

fn pass(entry: &Value) -> Option<Pass> {
    let file = entry["wgsl"].as_str()?;
    let (_, wgsl) = TEXTS.iter().find(|(name, _)| *name == file)?;
    let binding = |binding: &Value| {
        let (name, access) = binding.as_str()?.rsplit_once(':')?;
        let access = match access {
            "r" => Access::Read,
            "w" => Access::ReadWrite,
            "u" => Access::Uniform,
            _ => return None,
        };
        Some((name.to_owned(), access))
    };
    let bindings = entry["bindings"].as_array()?.iter().map(binding).collect::<Option<_>>()?;
    let groups = entry["groups"].as_array()?;
    let group = |dimension: usize| u32::try_from(groups.get(dimension)?.as_u64()?).ok();
    Some(Pass { wgsl, bindings, groups: [group(0)?, group(1)?, group(2)?] })
}

#[cfg(test)]
mod tests {
    use super::super::case::CASES;
    use super::*;
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    #[test]
    fn the_index_names_every_file_and_every_reference_a_case() {
        let all = Reference::all().expect("the index is understood");
        for (file, text) in TEXTS {
            let used = all.iter().flat_map(|reference| &reference.passes).any(|pass| pass.wgsl == *text);
            assert!(used, "{file} is of no reference");
        }
        for reference in &all {
            let cases = CASES.iter().filter(|(case, _)| !case.ends_with("_fused") && reference.is_of(case)).count();
            assert_eq!(cases, usize::from(reference.name != COPY), "{}", reference.name);
        }
    }

    #[test]
    fn arguments_are_those_of_the_case() {
        for reference in Reference::all().expect("the index is understood") {
            let Some((_, text)) = CASES.iter().find(|(case, _)| reference.is_of(case)) else { continue };
            let module = weft_hlo::text::parse(text).expect("cases are programs");
            let entry = module.entry_computation();
            let expected: Vec<u64> = (entry.parameters().into_iter())
                .filter_map(|id| weft_runtime::program::tensor_bytes(entry.instructions[id].shape.as_array()?))
                .collect();
            let mut arguments: Vec<(usize, u64)> = (reference.buffers.iter())
                .filter_map(|buffer| match buffer.role {
                    Role::Argument(number) => Some((number, buffer.bytes)),
                    _ => None,
                })
                .collect();
            arguments.sort_unstable();
            let found: Vec<u64> = arguments.into_iter().map(|(_, bytes)| bytes).collect();
            assert_eq!(found, expected, "{}", reference.name);
        }
    }

    #[test]
    fn naga_accepts_every_kernel_as_the_index_binds_it() {
        for reference in Reference::all().expect("the index is understood") {
            for pass in &reference.passes {
                let module = naga::front::wgsl::parse_str(pass.wgsl)
                    .unwrap_or_else(|error| panic!("{}: {}", reference.name, error.emit_to_string(pass.wgsl)));
                let capabilities = match reference.subgroup_size() {
                    Some(_) => Capabilities::SUBGROUP,
                    None => Capabilities::empty(),
                };
                Validator::new(ValidationFlags::all(), capabilities)
                    .validate(&module)
                    .unwrap_or_else(|error| panic!("{}: {error}", reference.name));
                let mut spaces: Vec<(u32, Access)> = (module.global_variables.iter())
                    .filter_map(|(_, variable)| {
                        let access = match variable.space {
                            naga::AddressSpace::Uniform => Access::Uniform,
                            naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => {
                                Access::ReadWrite
                            }
                            naga::AddressSpace::Storage { .. } => Access::Read,
                            _ => return None,
                        };
                        Some((variable.binding.as_ref()?.binding, access))
                    })
                    .collect();
                spaces.sort_unstable_by_key(|(binding, _)| *binding);
                let expected: Vec<(u32, Access)> = (0..).zip(pass.bindings.iter().map(|(_, access)| *access)).collect();
                assert_eq!(spaces, expected, "{}", reference.name);
            }
        }
    }

    #[test]
    fn an_index_is_read_by_its_roles() {
        let text = r#"{"case_form": {"form": "words", "output": "o", "buffers": {"P": 16, "a": 64, "b": 32, "t": 8, "o": 4},
            "passes": [
                {"wgsl": "col_sum_1.wgsl", "bindings": ["b:u", "a:r", "t:w", "P:u"], "groups": [2, 3, 1]},
                {"wgsl": "col_sum_2.wgsl", "bindings": ["t:r", "o:w"], "groups": [1, 1, 1]}]}}"#;
        let found = read(text).expect("it is understood").remove(0);
        let roles: Vec<(&str, u64, Role)> =
            found.buffers.iter().map(|buffer| (buffer.name.as_str(), buffer.bytes, buffer.role)).collect();
        assert_eq!(
            roles,
            [
                ("b", 32, Role::Argument(0)),
                ("a", 64, Role::Argument(1)),
                ("t", 8, Role::Written),
                ("P", 16, Role::Parameters),
                ("o", 4, Role::Written)
            ]
        );
        assert_eq!((found.output, found.passes[0].groups), (4, [2, 3, 1]));
        assert!(found.is_of("case") && !found.is_of("cas") && !found.is_of("case_form_2"));
    }

    #[test]
    fn what_is_wrong_with_an_index_is_told() {
        for (text, words) in [
            ("[]", "no object"),
            (r#"{"a": {"passes": []}}"#, "the entry of a"),
            (
                r#"{"a": {"form": "", "output": "x", "buffers": {"x": 4}, "passes": [
                    {"wgsl": "copy.wgsl", "bindings": ["x:r"], "groups": [1, 1, 1]}]}}"#,
                "the entry of a",
            ),
        ] {
            let message = read(text).expect_err("it is not understood");
            assert!(message.contains(words), "{message}");
        }
    }
}
