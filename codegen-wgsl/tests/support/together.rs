//! Kernels in which invocations do something together, and what they are given.

/// How many of [`FUNCTIONS`], from the first on, combine in any order.
const COMMUTING: usize = 3;

/// Sums, maxima, and functions whose order matters, by name, with the types of their operands and of the tuple they combine.
pub(crate) const FUNCTIONS: [(&str, &[&str], &str); 6] = [
    ("sum", &["s32"], "%2: s32 = add %0, %1 return %2"),
    ("real_sum", &["f32"], "%2: f32 = add %0, %1 return %2"),
    ("maximum", &["f32"], "%2: f32 = maximum %0, %1 return %2"),
    // Whichever comes first.
    ("first", &["u32"], "return %0"),
    // Maps x -> a x + b, of which the first is applied first.
    (
        "affine",
        &["s32", "s32"],
        "%4: s32 = multiply %2, %0 %5: s32 = multiply %2, %1 %6: s32 = add %5, %3 return %4, %6",
    ),
    // The bits that all have, and the last of some numbers.
    ("last", &["u32", "f32"], "%4: u32 = and %0, %2 return %4, %3"),
];

/// How many invocations workgroups have.
const SIZES: [usize; 6] = [1, 2, 31, 64, 100, 256];

/// Parts of workgroups, with how many invocations are whole ones: neighbors and others, a power of two and not, and all.
pub(crate) const PARTS: [(&str, usize); 7] = [
    ("part of 4 apart 1", 4),
    ("part of 32 apart 1", 32),
    ("part of 5 apart 1", 5),
    ("part of 4 apart 8", 32),
    ("part of 5 apart 2", 10),
    ("part of 1 apart 2", 2),
    ("part of 64 apart 1", 64),
];

/// How values are combined; the last in any order.
const COMBINATIONS: [&str; 4] = ["reduce", "scan", "exclusive-scan", "combine"];

/// Calls a test with the name, the text and the operands of collectives of a scope: every two of a combination, a function and a size, or
/// all three together.
pub(crate) fn for_each_collective(scope: &str, all: bool, mut test: impl FnMut(&str, &str, &[Vec<u32>])) {
    let whole = PARTS.iter().find(|(part, _)| *part == scope).map_or(1, |(_, whole)| *whole);
    let sizes: Vec<usize> = SIZES.into_iter().filter(|threads| threads % whole == 0).collect();
    let all = all || sizes.len() == 1;
    for (row, combination) in COMBINATIONS.into_iter().enumerate() {
        let functions = &FUNCTIONS[..if combination == "combine" { COMMUTING } else { FUNCTIONS.len() }];
        for (column, function) in functions.iter().enumerate() {
            let tried = |(place, _): &(usize, &usize)| all || (row + column + place) % 2 == 0;
            for &threads in sizes.iter().enumerate().filter(tried).map(|(_, threads)| threads) {
                let operands: Vec<Vec<u32>> =
                    (0..).zip(function.1).map(|(seed, ty)| words(ty, 2 * threads, seed)).collect();
                let name = format!("{combination} {scope} {} {threads}", function.0);
                test(&name, &collective(combination, scope, *function, threads), &operands);
            }
        }
    }
}

/// A kernel of two workgroups that combines the values of each by a function, twice: first as they are, then what that gave.
pub(crate) fn collective(
    combination: &str,
    scope: &str,
    (name, types, body): (&str, &[&str], &str),
    threads: usize,
) -> String {
    let arity = types.len();
    let list = |parts: Vec<String>| parts.join(", ");
    let buffers = |role: &str, name: &str| -> Vec<String> {
        types.iter().enumerate().map(|(k, ty)| format!("{role} %{name}{k}: {ty}[2, {threads}]")).collect()
    };
    let typed = |first: usize| list(types.iter().enumerate().map(|(k, ty)| format!("%{}: {ty}", first + k)).collect());
    let plain = |first: usize| list((0..arity).map(|k| format!("%{}", first + k)).collect());
    let parameters = list(types.iter().chain(types).enumerate().map(|(k, ty)| format!("%{k}: {ty}")).collect());
    let mut text = format!("kernel @{name}({}) {{\n", list([buffers("in", "x"), buffers("out", "y")].concat()));
    text += &format!("func @{name}(; {parameters}) -> ({}) {{ {body} }}\n", types.join(", "));
    text += &format!("entry groups [2] threads {threads} {{\n");
    for (k, ty) in types.iter().enumerate() {
        text += &format!("%{k}: {ty} = extract %x{k}[d0, d1]\n");
    }
    for (given, made) in [(0, arity), (arity, 2 * arity)] {
        text += &format!("{} = {combination} {scope} @{name} {}\n", typed(made), plain(given));
    }
    for k in 0..arity {
        text += &format!("store %y{k}[d0, d1], %{}\n", 2 * arity + k);
    }
    text + "}\n}\n"
}

/// So many words that are elements of a type, small numbers that sums of floats are exact for.
pub(crate) fn words(ty: &str, count: usize, seed: u32) -> Vec<u32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    let word = |_| {
        let drawn = next();
        match ty {
            "f32" => f32::from(i8::try_from(drawn % 23).unwrap_or_default() - 11).to_bits(),
            "s32" => (drawn % 7).wrapping_sub(3),
            _ => drawn,
        }
    };
    (0..count).map(word).collect()
}

/// Kernels of other constructs by name: several in one kernel, in loops, under conditions, beside tiles of the kernel's own.
pub(crate) const CONSTRUCTS: [(&str, &str); 4] = [
    // In a loop, with a scan after a reduction.
    (
        "rounds",
        "kernel @rounds(in %x: s32[4, 100], out %y: s32[4, 100]) {
          func @add(; %0: s32, %1: s32) -> (s32) { %2: s32 = add %0, %1 return %2 }
          func @max(; %0: s32, %1: s32) -> (s32) { %2: s32 = maximum %0, %1 return %2 }
          entry groups [1] threads 100 {
            %7: s32 = loop for s0 in [0, 3] with %0: s32 = s32 0 {
              %1: s32 = extract %x[s0, d1]
              %2: s32 = reduce workgroup @max %1
              %3: s32 = scan workgroup @add %1
              %4: s32 = subtract %3, %2
              %5: s32 = add %4, %0
              store %y[s0, d1], %5
              %6: s32 = reduce workgroup @add %5
              yield %6
            }
          }
        }",
    ),
    // As long as any invocation has something to do: each halves its number in its own time.
    (
        "while",
        "kernel @while(in %x: s32[64], out %y: s32[64]) {
          func @or(; %0: pred, %1: pred) -> (pred) { %2: pred = or %0, %1 return %2 }
          func @add(; %0: s32, %1: s32) -> (s32) { %2: s32 = add %0, %1 return %2 }
          entry groups [1] threads 64 {
            %0: s32 = extract %x[d1]
            %12: s32, %13: s32 = while with %1: s32 = %0, %2: s32 = s32 0 {
              %3: pred = compare GT %1, s32 0
              %4: pred = reduce workgroup @or %3
              yield %4
            } do {
              %5: s32 = subtract %1, s32 1
              %6: s32 = maximum %5, s32 0
              %7: pred = compare GT %1, s32 0
              %8: s32 = if %7 { yield s32 1 } else { yield s32 0 }
              %9: s32 = reduce workgroup @add %8
              %10: s32 = add %2, %9
              yield %6, %10
            }
            %11: s32 = add %12, %13
            store %y[d1], %11
          }
        }",
    ),
    // One workgroup of two, and then only where a value that all agree on says so.
    (
        "conditions",
        "kernel @conditions(in %x: s32[2, 32], out %y: s32[2, 32]) {
          func @add(; %0: s32, %1: s32) -> (s32) { %2: s32 = add %0, %1 return %2 }
          entry groups [2] threads 32 {
            %0: s32 = extract %x[d0, d1]
            %1: s32 = if d0 in [1, 1] {
              %2: s32 = reduce workgroup @add %0
              %3: pred = compare NE %2, s32 1000000
              %4: s32 = if %3 {
                %5: s32 = exclusive-scan workgroup @add %0
                yield %5
              } else {
                yield %2
              }
              yield %4
            } else {
              yield %0
            }
            store %y[d0, d1], %1
          }
        }",
    ),
    // Beside a tile of the kernel's own, whose name the stage would choose.
    (
        "beside",
        "kernel @beside(in %x: f32[64], out %y: f32[64]) {
          tile %shared_f32: f32[64]
          func @max(; %0: f32, %1: f32) -> (f32) { %2: f32 = maximum %0, %1 return %2 }
          entry groups [1] threads 64 {
            %0: f32 = extract %x[d1]
            store %shared_f32[d1], %0
            barrier
            %1: f32 = extract %shared_f32[63 - d1]
            %2: f32 = subtract %0, %1
            %3: f32 = scan workgroup @max %2
            store %y[d1], %3
          }
        }",
    ),
];

/// Updates of few elements by many invocations, by name; what they leave behind is the same in whatever order they come.
pub(crate) const UPDATES: [(&str, &str); 7] = [
    ("s32 sum", "s32; %2: s32 = add %1, %0 return %2"),
    ("u32 least", "u32; %2: u32 = minimum %0, %1 return %2"),
    ("s32 most", "s32; %2: s32 = maximum %0, %1 return %2"),
    ("u32 differences", "u32; %2: u32 = xor %0, %1 return %2"),
    ("f32 sum", "f32; %2: f32 = add %0, %1 return %2"),
    ("f32 most", "f32; %2: f32 = maximum %0, %1 return %2"),
    // Sums modulo 97.
    (
        "custom",
        "u32; %2: u32 = add %0, %1 %3: pred = compare GE %2, u32 97 %4: u32 = subtract %2, u32 97
         %5: u32 = select %3, %4, %2 return %5",
    ),
];

/// A kernel that updates five elements of a buffer from 20 workgroups of 64: where, the operand says; nothing is done where it is out of bounds.
pub(crate) fn scatter(update: &str) -> String {
    let (ty, body) = update.split_once("; ").expect("a type and a body");
    format!(
        "kernel @scatter(in %i: s32[1280], in %x: {ty}[1280], inout %y: {ty}[5]) {{
          func @f(; %0: {ty}, %1: {ty}) -> ({ty}) {{ {body} }}
          entry groups [20] threads 64 {{
            %0: s32 = extract %i[d0 * 64 + d1]
            %1: {ty} = extract %x[d0 * 64 + d1]
            if bind rt0 in [0, 4] = %0 {{ update %y[rt0] by @f %1 }}
          }}
        }}"
    )
}

/// The same for a tile, which goes to a buffer at last.
pub(crate) fn histogram(update: &str) -> String {
    let (ty, body) = update.split_once("; ").expect("a type and a body");
    let zero = if ty == "f32" { "f32 0.0".to_owned() } else { format!("{ty} 0") };
    format!(
        "kernel @histogram(in %i: s32[1280], in %x: {ty}[1280], out %y: {ty}[20, 5]) {{
          tile %t: {ty}[5]
          func @f(; %0: {ty}, %1: {ty}) -> ({ty}) {{ {body} }}
          entry groups [20] threads 64 {{
            if d1 in [0, 4] {{ store %t[d1], {zero} }}
            barrier
            %0: s32 = extract %i[d0 * 64 + d1]
            %1: {ty} = extract %x[d0 * 64 + d1]
            if bind rt0 in [0, 4] = %0 {{ update %t[rt0] by @f %1 }}
            barrier
            if d1 in [0, 4] {{ %2: {ty} = extract %t[d1] store %y[d0, d1], %2 }}
          }}
        }}"
    )
}

/// The places that such a kernel updates: most are elements, some out of bounds.
pub(crate) fn places() -> Vec<u32> {
    (0..1280u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 20) % 7)
        .map(|place| place.wrapping_sub(1))
        .collect()
}

/// Operands of such a kernel: small, and less than 97.
pub(crate) fn given(ty: &str) -> Vec<u32> {
    let mut words = words(ty, 1280, 5);
    if ty == "u32" {
        words.iter_mut().for_each(|word| *word %= 97);
    }
    words
}
