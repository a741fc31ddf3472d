//! WGSL identifiers from HLO names.

use super::pairs;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Hands out identifiers that are legal, not reserved, and unique.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Those of the scope around, shared by all within it.
    outer: Rc<HashSet<String>>,
    taken: HashSet<String>,
    /// For each name that was wanted more than once here the last number that made a name of it: all before are taken.
    numbers: HashMap<String, u32>,
}

impl Names {
    /// Identifiers of module scope: what the writer and the library declare is taken already.
    pub(crate) fn globals() -> Self {
        let mut names = Names::default();
        let declared = [
            "params",
            "zeros",
            "Params",
            "window",
            "Window",
            "keep",
            "keep_apart",
            "keep_chosen",
            "main",
            "group",
            "lane",
            "member",
            "members",
            "subgroup",
            "subgroups",
        ];
        names.taken.extend(declared.iter().map(|name| (*name).to_owned()));
        names.taken.extend(pairs::NAMES.map(str::to_owned));
        names.taken.extend(crate::math::all().iter().map(|function| function.name.to_owned()));
        names
    }

    /// A scope within this one, in which nothing more is named.
    pub(crate) fn into_outer(mut self) -> Self {
        self.taken.extend(self.outer.iter().cloned());
        Names { outer: Rc::new(self.taken), ..Names::default() }
    }

    /// An identifier as close to `wanted` as possible.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let base = identifier(wanted);
        if !self.outer.contains(&base) && self.taken.insert(base.clone()) {
            return base;
        }
        // Two underscores in a row are reserved in GLSL.
        let stem = base.trim_end_matches('_').to_owned();
        let number = self.numbers.entry(base).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{stem}_{number}");
            if !self.outer.contains(&name) && self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// `wanted` with every character that WGSL does not allow replaced, away from reserved words and built-ins.
fn identifier(wanted: &str) -> String {
    let mut name: String =
        wanted.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic()) || (name.starts_with('_') && name.len() > 1);
    if !starts_well {
        name.insert(0, 'v');
    }
    if is_variable(&name) || is_reserved(&name) || is_of_lanes(&name) {
        name.push('_');
        name.push('v');
    }
    name
}

/// Whether the writer calls a variable so: an index (`d0`), a loop's (`s1`), a runtime variable (`rt2`), or an index that has a name (`at3`). They are
/// the only other identifiers in a function. None of them is a type's, as `i32` would be.
fn is_variable(name: &str) -> bool {
    let mut numbers = ["d", "s", "rt", "at"].into_iter().filter_map(|prefix| name.strip_prefix(prefix));
    numbers.any(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// Whether a function of the library has this name where it takes vectors.
fn is_of_lanes(name: &str) -> bool {
    let stem = name.strip_suffix("_x4").or_else(|| name.strip_suffix("_x2"));
    stem.is_some_and(|stem| crate::math::function(stem).is_some() || stem.starts_with("keep"))
}

fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Keywords, reserved words, predeclared types and built-in functions of WGSL (specification, sections 15 to 17), and
/// words that other shading languages reserve.
const RESERVED: &[&str] = &[
    "A",
    "B",
    "C",
    "NULL",
    "Self",
    "abs",
    "abstract",
    "acos",
    "acosh",
    "active",
    "alias",
    "alignas",
    "alignof",
    "all",
    "any",
    "array",
    "arrayLength",
    "as",
    "asin",
    "asinh",
    "asm",
    "asm_fragment",
    "async",
    "atan",
    "atan2",
    "atanh",
    "atomic",
    "atomicAdd",
    "atomicAnd",
    "atomicCompareExchangeWeak",
    "atomicLoad",
    "atomicMax",
    "atomicMin",
    "atomicOr",
    "atomicStore",
    "atomicXor",
    "attribute",
    "auto",
    "await",
    "become",
    "bitcast",
    "bool",
    "break",
    "buffer",
    "case",
    "cast",
    "catch",
    "ceil",
    "clamp",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "coherent",
    "column_major",
    "common",
    "compile",
    "compile_fragment",
    "concept",
    "const",
    "const_assert",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "continuing",
    "coopLoad",
    "coopLoadT",
    "coopMultiplyAdd",
    "coopStore",
    "coopStoreT",
    "coop_mat16x16",
    "coop_mat8x8",
    "cos",
    "cosh",
    "countLeadingZeros",
    "countOneBits",
    "countTrailingZeros",
    "crate",
    "cross",
    "debugger",
    "decltype",
    "default",
    "degrees",
    "delete",
    "demote",
    "demote_to_helper",
    "determinant",
    "diagnostic",
    "discard",
    "distance",
    "do",
    "dot",
    "dpdx",
    "dpdy",
    "dynamic_cast",
    "else",
    "enable",
    "enum",
    "exp",
    "exp2",
    "explicit",
    "export",
    "extends",
    "extern",
    "external",
    "extractBits",
    "f16",
    "f32",
    "f64",
    "faceForward",
    "fallthrough",
    "false",
    "filter",
    "final",
    "finally",
    "firstLeadingBit",
    "firstTrailingBit",
    "floor",
    "fma",
    "fn",
    "for",
    "fract",
    "frexp",
    "friend",
    "from",
    "fxgroup",
    "fwidth",
    "get",
    "goto",
    "groupshared",
    "half",
    "highp",
    "i16",
    "i32",
    "if",
    "impl",
    "implements",
    "import",
    "inline",
    "insertBits",
    "instanceof",
    "interface",
    "inverse",
    "inverseSqrt",
    "layout",
    "ldexp",
    "length",
    "let",
    "log",
    "log2",
    "loop",
    "lowp",
    "macro",
    "macro_rules",
    "mat2x2",
    "mat3x3",
    "mat4x4",
    "match",
    "max",
    "mediump",
    "meta",
    "min",
    "mix",
    "mod",
    "modf",
    "module",
    "move",
    "mut",
    "mutable",
    "namespace",
    "new",
    "nil",
    "noexcept",
    "noinline",
    "nointerpolation",
    "non_coherent",
    "noncoherent",
    "noperspective",
    "normalize",
    "null",
    "nullptr",
    "of",
    "operator",
    "out",
    "override",
    "package",
    "packoffset",
    "pass",
    "patch",
    "pixelfragment",
    "pow",
    "precise",
    "precision",
    "premerge",
    "priv",
    "private",
    "protected",
    "ptr",
    "pub",
    "public",
    "quantizeToF16",
    "radians",
    "readonly",
    "ref",
    "reflect",
    "refract",
    "regardless",
    "register",
    "reinterpret_cast",
    "require",
    "requires",
    "resource",
    "restrict",
    "return",
    "reverseBits",
    "round",
    "sampler",
    "saturate",
    "select",
    "self",
    "set",
    "shared",
    "sign",
    "sin",
    "sinh",
    "sizeof",
    "smooth",
    "smoothstep",
    "snorm",
    "sqrt",
    "static",
    "static_assert",
    "static_cast",
    "std",
    "step",
    "storage",
    "storageBarrier",
    "struct",
    "subgroupMax",
    "subgroupShuffle",
    "subgroupShuffleUp",
    "subroutine",
    "super",
    "switch",
    "tan",
    "tanh",
    "target",
    "template",
    "texture_1d",
    "texture_2d",
    "texture_3d",
    "this",
    "thread_local",
    "throw",
    "trait",
    "transpose",
    "true",
    "trunc",
    "try",
    "type",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "u16",
    "u32",
    "union",
    "unless",
    "unorm",
    "unsafe",
    "unsized",
    "use",
    "using",
    "var",
    "varying",
    "vec2",
    "vec3",
    "vec4",
    "virtual",
    "volatile",
    "wgsl",
    "where",
    "while",
    "with",
    "workgroup",
    "workgroupBarrier",
    "workgroupUniformLoad",
    "writeonly",
    "yield",
];

#[cfg(test)]
mod tests {
    use super::{Names, RESERVED, is_reserved, is_variable};

    #[test]
    fn names_become_identifiers() {
        let mut names = Names::default();
        let taken: Vec<String> = ["add.1", "add_1", "max", "d0", "1x", "_", "a..b", "é", "rt7", "at3", "i32"]
            .iter()
            .map(|name| names.take(name))
            .collect();
        assert_eq!(taken, ["add_1", "add_1_2", "max_v", "d0_v", "v1x", "v_", "a_b", "v_2", "rt7_v", "at3_v", "i32_v"]);
    }

    /// A kernel of many indices has one of every number.
    #[test]
    fn no_variable_is_called_as_a_type() {
        for name in
            ["d", "s", "rt", "at"].iter().flat_map(|prefix| (0..200).map(move |number| format!("{prefix}{number}")))
        {
            assert!(is_variable(&name) && !is_reserved(&name), "{name}");
        }
    }

    #[test]
    fn each_reserved_word_stands_once() {
        let unique: std::collections::HashSet<_> = RESERVED.iter().collect();
        assert_eq!(unique.len(), RESERVED.len());
    }
}
