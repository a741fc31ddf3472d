//! Programs as text and bytes: what is written is read again, and what is wrong is refused, never run and never a panic.

use crate::support::{self, ROUNDS};
use weft_hlo::ir::{Literal, Module, Scalar};
use weft_partition::Target;
use weft_runtime::{Error, Executable, Options, Program, compile_with};

/// The same program from its text; its text is the same again.
pub(crate) fn read_again(program: &Program) -> Program {
    let text = program.text();
    let read = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{}", numbered(&text)));
    assert!(read.text() == text, "{}\nbecame\n{}", numbered(&text), read.text());
    assert_eq!(read.to_string(), program.to_string());
    let sources = |program: &Program| -> Vec<String> { program.shaders().iter().map(|it| it.source.clone()).collect() };
    assert_eq!(sources(&read), sources(program));
    for (read, written) in read.shaders().iter().zip(program.shaders()) {
        assert_eq!(
            (read.proofs(), &read.bindings, &read.structure),
            (written.proofs(), &written.bindings, &written.structure)
        );
    }
    read
}

fn numbered(text: &str) -> String {
    text.lines().enumerate().map(|(number, line)| format!("{:4} {line}\n", number + 1)).collect()
}

fn compiled(module: &Module) -> Program {
    let target = Target::preset("software").expect("there is this preset");
    compile_with(module, &target, &asking()).unwrap_or_else(|error| panic!("{error}"))
}

/// Conditionals ask which branch is taken, however little all of them take.
fn asking() -> Options {
    Options { all_branches: false, ..Options::default() }
}

/// What the host has to compute: an operation without a kernel, with launches on both sides.
const ON_HOST: &str = "HloModule on_host
ENTRY main {
  x = f32[4,4] parameter(0)
  n = f32[4,4] negate(x)
  g = u64[] rng-get-and-update-state(), delta=1
  c = f32[4,4] cholesky(n), lower=true, control-predecessors={x}
  ROOT r = f32[4,4] add(c, x)
}";

/// A branch by the argument, and a loop whose rounds nobody knows, so large that the device decides about them.
const DECIDED: &str = "HloModule decided
up { p = f32[20000] parameter(0)  ROOT r = f32[20000] add(p, p) }
down { p = f32[20000] parameter(0)  ROOT r = f32[20000] negate(p) }
body {
  s = (s32[], f32[20000], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[20000] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[20000] reverse(x), dimensions={0}
  z = f32[20000] subtract(x, y)
  ROOT t = (s32[], f32[20000], s32[]) tuple(j, z, n)
}
condition {
  s = (s32[], f32[20000], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=2
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY main {
  p = pred[] parameter(0)
  n = s32[] parameter(1)
  x = f32[20000] parameter(2)
  c = f32[20000] conditional(p, x, x), true_computation=up, false_computation=down
  zero = s32[] constant(0)
  s = (s32[], f32[20000], s32[]) tuple(zero, c, n)
  w = (s32[], f32[20000], s32[]) while(s), condition=condition, body=body
  ROOT r = f32[20000] get-tuple-element(w), index=1
}";

/// Two steps of the host that read one constant of 81 elements, with a launch between them.
fn sorted_twice() -> String {
    let numbers: Vec<String> = (0..81).map(|number| format!("{}", (number * 37) % 81)).collect();
    format!(
        "HloModule sorted_twice
less {{ a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] parameter(2)  d = f32[] parameter(3)
  e = f32[1] reshape(a)  f = f32[1] reshape(b)  v = f32[2] concatenate(e, f), dimensions={{0}}  i = f32[2] constant({{1, -1}})
  m = f32[] dot(v, i), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}  z = f32[] constant(0)
  ROOT l = pred[] compare(m, z), direction=LT }}
ENTRY main {{
  x = f32[81] parameter(0)
  c = f32[81] constant({{{}}})
  s = (f32[81], f32[81]) sort(x, c), dimensions={{0}}, to_apply=less
  v = f32[81] get-tuple-element(s), index=1
  n = f32[81] negate(v)
  t = (f32[81], f32[81]) sort(n, c), dimensions={{0}}, to_apply=less
  ROOT r = f32[81] get-tuple-element(t), index=1
}}",
        numbers.join(", ")
    )
}

#[test]
fn constants_that_several_host_steps_read_are_held_once() {
    let module = support::module(&sorted_twice());
    let device = support::device();
    let program = compile_with(&module, device.target(), &asking()).unwrap_or_else(|error| panic!("{error}"));
    let given: Vec<_> = program.host_steps().map(|step| step.constants.clone()).collect();
    assert!(given.len() == 2 && given[0].len() == 1 && given[0] == given[1], "{program}");
    let text = program.text();
    assert_eq!(text.matches("74, 30").count(), 1, "{text}");
    let read = read_again(&program);
    let x: Vec<f32> = (0..81u8).map(|number| f32::from(number % 10)).collect();
    let inputs = [Literal::array([81], x)];
    let expected = weft_hlo::eval::evaluate(&module, &inputs).expect("the evaluator knows it");
    for program in [program, read] {
        let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(executable.run(&inputs).unwrap_or_else(|error| panic!("{error}")), expected);
    }
    // A constant that is not there, and one of another shape.
    let place = text.split(" given ").nth(1).and_then(|rest| rest.split(" ->").next()).expect("it is told").to_owned();
    for other in ["at 999 0", "at 0 0"] {
        let wrong = text.replace(&format!(" given {place} ->"), &format!(" given {other} ->"));
        assert!(matches!(Program::parse(&wrong), Err(Error::ProgramText { .. })), "{other}");
    }
}

/// So many loops, each the body of the next, each of one round.
fn nested(count: usize) -> String {
    let mut text = String::from("HloModule nested\n");
    for level in 0..count {
        let inner = match level.checked_sub(1) {
            None => "  y = f32[4] add(x, x)".to_owned(),
            Some(inner) => format!(
                "  s = (s32[], f32[4]) tuple(zero, x)
  w = (s32[], f32[4]) while(s), condition=condition_{inner}, body=body_{inner}
  y = f32[4] get-tuple-element(w), index=1"
            ),
        };
        text += &format!(
            "body_{level} {{
  state = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[4] get-tuple-element(state), index=1
  zero = s32[] constant(0)
  one = s32[] constant(1)
  j = s32[] add(i, one)
{inner}
  ROOT t = (s32[], f32[4]) tuple(j, y)
}}
condition_{level} {{
  state = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  most = s32[] constant(1)
  ROOT l = pred[] compare(i, most), direction=LT
}}
"
        );
    }
    let outer = count - 1;
    text + &format!(
        "ENTRY main {{
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[4]) tuple(zero, x)
  w = (s32[], f32[4]) while(s), condition=condition_{outer}, body=body_{outer}
  ROOT y = f32[4] get-tuple-element(w), index=1
}}
"
    )
}

#[test]
fn loops_within_one_another_are_read_again_as_deep_as_they_are_compiled() {
    let device = support::device();
    let options = Options { optimize: false, whole_loops: false, ..Options::default() };
    let compiled = |count| compile_with(&support::module(&nested(count)), device.target(), &options);
    let program = read_again(&compiled(64).unwrap_or_else(|error| panic!("{error}")));
    assert!(program.text().matches("while ").count() == 64, "{program}");
    let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
    let results = executable.run(&[Literal::array([4], vec![1.0f32, 2.0, 3.0, 4.0])]);
    assert_eq!(results.unwrap_or_else(|error| panic!("{error}")), [Literal::array([4], vec![2.0f32, 4.0, 6.0, 8.0])]);
    let error = compiled(65).expect_err("they stand too deep in one another");
    assert!(error.to_string().contains("RUN004"), "{error}");
}

#[test]
fn programs_of_every_kind_of_step_are_read_again() {
    for text in [ROUNDS, ON_HOST, DECIDED] {
        let program = compiled(&support::module(text));
        assert_eq!(read_again(&program).explanation(), program.explanation());
    }
    assert!(!compiled(&support::module(ROUNDS)).loops().is_empty());
    let text = compiled(&support::module(DECIDED)).text();
    assert!(text.contains("gate ") && text.contains("conditional "), "{text}");
    assert!(compiled(&support::module(ON_HOST)).text().contains("reason HLO"));
}

#[test]
fn programs_that_were_read_run_as_those_that_were_compiled() {
    let device = support::device();
    let module = support::module(DECIDED);
    let program = compile_with(&module, device.target(), &asking()).expect("it compiles");
    let read = Program::from_bytes(&program.to_bytes()).expect("it was written just now");
    let x: Vec<f32> = (0u16..20000).map(f32::from).collect();
    for (up, rounds) in [(true, 0), (false, 3), (true, 9)] {
        let inputs = [
            Literal::scalar(Scalar::Pred(up)),
            Literal::scalar(Scalar::S32(rounds)),
            Literal::array([20000], x.clone()),
        ];
        let [compiled, read] = [&program, &read].map(|program| {
            let executable = Executable::new(&device, program.clone()).unwrap_or_else(|error| panic!("{error}"));
            executable.run(&inputs).unwrap_or_else(|error| panic!("{error}"))
        });
        assert_eq!(compiled, read);
    }
}

#[test]
fn damaged_bytes_are_refused() {
    let program = compiled(&support::entry("x = f32[4] parameter(0)\nROOT y = f32[4] negate(x)"));
    let bytes = program.to_bytes();
    assert_eq!(bytes, Program::from_bytes(&bytes).expect("they are whole").to_bytes());
    let code = |bytes: &[u8]| Program::from_bytes(bytes).expect_err("they are damaged").code();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(["RUN051", "RUN052"].contains(&code(&damaged)), "byte {at}");
        assert_eq!(code(&bytes[..at]), "RUN051", "the first {at} bytes");
    }
    assert_eq!(code(&[&bytes[..], b"\n"].concat()), "RUN051");
    assert_eq!(code(&[0x5a; 1000]), "RUN051");
    let mut other = bytes;
    other[8] = 2;
    let error = Program::from_bytes(&other).expect_err("it is of another form");
    assert_eq!(
        error.to_string(),
        "RUN052: the program was written by form 2 of programs, this is form 1 of programs: compile it again"
    );
}

/// The line and the reason for which a text is refused.
fn refusal(text: &str) -> (usize, String) {
    match Program::parse(text).map(|read| read.text()) {
        Err(Error::ProgramText { line, reason }) => (line, reason),
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn wrong_lines_are_told() {
    let text = compiled(&support::entry("x = f32[40] parameter(0)\nROOT y = f32[40] negate(x)")).text();
    let line =
        |part: &str| 1 + text.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}\n{text}"));
    let cases = [
        ("weft program 1", "weft program 7", "expected `weft program 1`"),
        ("target {", "target {\"speed\":1,", "no target: unknown field `speed`"),
        ("negate(", "negtae(", "HLO010"),
        ("buffer 256 parameter 0", "buffer 250 parameter 0", "no multiple of 256"),
        ("buffer 256 parameter 0", "buffer 256 parameter 1", "not that of what it is said to hold"),
        ("parameter b0 f32[40]", "parameter b1 f32[40]", "not that of what it is said to hold"),
        ("kernel (operand 0, result 0)", "kernel (operand 0)", "is in no buffer that is told of"),
        ("launch ", "lunch ", "expected `launch`"),
        ("kernel 0 groups", "kernel 9 groups", "there is no kernel 9"),
        ("windows 1", "windows 2", "kernel 0 is another launch's"),
        ("-> (b1 ", "-> (b0 ", "steps may not write b0"),
        ("-> (b1 ", "-> (b7 ", "there is no buffer b7"),
        ("  launch ", "  launch \"unfinished", "expected"),
    ];
    for (from, to, reason) in cases {
        let (at, why) = refusal(&text.replacen(from, to, 1));
        assert!(why.contains(reason), "{from} -> {to}: {at}: {why}");
        if !reason.starts_with("not ") && !reason.starts_with("no multiple") && !reason.starts_with("is in no buffer") {
            assert_eq!(at, line(from), "{from} -> {to}: {why}");
        }
    }
    // What a device would be made to do is proved anew.
    let (_, why) = refusal(&text.replacen("store %", "store %x[0], f32 0.0 store %", 1));
    assert!(why.contains("HLO4"), "{why}");
}

#[test]
fn kernels_that_are_not_proved_and_names_that_are_code_are_refused() {
    let text = compiled(&support::entry("x = f32[40] parameter(0)\nROOT y = f32[40] negate(x)")).text();
    let kernel = &text[text.find("| kernel").expect("there is a kernel")..];
    let name = kernel.split_once("out %").and_then(|(_, rest)| rest.split_once(':')).expect("it writes something").0;
    let injected = text.replace(&format!("%{name}"), "%\"y: array<f32>; var<private> z\"");
    assert!(refusal(&injected).1.contains("is no name in WGSL"), "{}", refusal(&injected).1);
    let threads = kernel.split_once(" threads ").and_then(|(_, rest)| rest.split_once(' ')).expect("it has some").0;
    let many = text.replacen(&format!(" threads {threads} "), " threads 4000000000000 ", 1);
    assert!(refusal(&many).1.contains("HLO417"), "{}", refusal(&many).1);
    // A kernel over fewer elements than it is told to have writes beyond them.
    let smaller: String = text
        .lines()
        .map(|line| if line.starts_with("| kernel") { line.replace("[40]", "[4]") + "\n" } else { format!("{line}\n") })
        .collect();
    assert!(refusal(&smaller).1.contains("HLO419"), "{}", refusal(&smaller).1);
}

/// Numbers that look random, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from((self.0 >> 33) % bound.max(1) as u64).expect("it is small")
    }
}

/// A text with one thing changed: a line gone, twice or elsewhere, a character or a number another, or the end cut off.
fn mutated(text: &str, numbers: &mut Numbers) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (one, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
    match numbers.below(7) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(other, lines[one].clone()),
        2 => lines.swap(one, other),
        3 => lines.truncate(one),
        4 => {
            let digits: Vec<usize> =
                lines[one].char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
            if let Some(at) = digits.get(numbers.below(digits.len())) {
                let number = ["9", "0", "18446744073709551615", "-1", "4294967296"][numbers.below(5)];
                lines[one].replace_range(*at..=*at, number);
            }
        }
        5 => {
            let places: Vec<usize> = lines[one].char_indices().map(|(at, _)| at).collect();
            if let Some(at) = places.get(numbers.below(places.len())) {
                let put = ["{", "}", "\"", "|", "é", " ", "b", ")", ","][numbers.below(9)];
                lines[one].insert_str(*at, put);
            }
        }
        _ => {
            let places: Vec<(usize, char)> = lines[one].char_indices().collect();
            if let Some((at, c)) = places.get(numbers.below(places.len())) {
                lines[one].replace_range(*at..*at + c.len_utf8(), "");
            }
        }
    }
    lines.join("\n")
}

#[test]
fn no_text_does_harm() {
    let mut numbers = Numbers(19);
    for text in [ROUNDS, ON_HOST, DECIDED] {
        let text = compiled(&support::module(text)).text();
        for _ in 0..120 {
            let mut changed = mutated(&text, &mut numbers);
            if numbers.below(2) == 0 {
                changed = mutated(&changed, &mut numbers);
            }
            // Whatever is accepted is a program, so it can be written.
            if let Ok(read) = Program::parse(&changed) {
                Program::parse(&read.text()).unwrap_or_else(|error| panic!("{error}\n{}", numbered(&read.text())));
            }
        }
    }
    for text in ["", "\n", "weft program 1", "}", "weft program 1\ntarget {}\nmodule\n"] {
        refusal(text);
    }
    let deep = format!(
        "weft program 1\ntarget {{}}\nmodule\n| HloModule m\n| ENTRY e {{ ROOT x = f32[] parameter(0) }}\n\
        buffer 256 parameter 0\nparameter b0 f32[] \"x\"\nmemory 0 without reuse, 0 live\nsteps {{\n{}",
        "while \"w\" rounds 1 () {\ncondition {\n}\nbody {\n".repeat(100_000)
    );
    assert!(refusal(&deep).1.contains("129 blocks"), "{}", refusal(&deep).1);
}
