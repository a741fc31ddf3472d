//! Attention as JAX prints it, and its gradient, by either schedule, against the evaluator's bounds.

use crate::bounded::{bounds, difference};
use crate::count::{cases, first_seed};
use crate::near::numbers;
use crate::support::{self, compile};
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module};
use weft_hlo::random::{Numbers, Options, Rng, inputs};
use weft_partition::{Emitter, Schedule, Target, fuse};
use weft_runtime::{Device, Executable};

const PROGRAMS: [(&str, &str); 4] = [
    ("causal", include_str!("../../../partition/tests/attention/causal.hlo")),
    ("grouped", include_str!("../../../partition/tests/attention/grouped.hlo")),
    ("causal gradient", include_str!("../../../partition/tests/attention/causal_gradient.hlo")),
    ("grouped gradient", include_str!("../../../partition/tests/attention/grouped_gradient.hlo")),
];

#[test]
fn attention_agrees_with_the_evaluator() {
    let device = support::device();
    for (name, text) in PROGRAMS {
        let module = support::module(text);
        let arguments = inputs(&module, 1, &Options { numbers: Numbers::Tame, ..Options::default() });
        let expected = bounds(&module, &arguments, device.target()).unwrap_or_else(|found| panic!("{name}: {found}"));
        for schedule in Schedule::ALL {
            let target = device.target().clone().with(|target| target.schedule = Some(schedule));
            let program = compile(&module, &target).unwrap_or_else(|error| panic!("{name}: {error}"));
            for shader in program.shaders() {
                assert!(shader.proofs().are_complete(), "{:?}\n{name}\n{}", shader.proofs(), shader.source);
            }
            let results = Executable::new(&device, program).unwrap().run(&arguments).unwrap();
            for (expected, result) in expected.iter().zip(&results) {
                if let Some((_, found)) = difference(expected, result) {
                    panic!("{name}, {schedule}: {found}");
                }
            }
        }
    }
}

/// How many kernels of a module are attention.
fn attending(module: &Module, target: &Target) -> usize {
    let fused = fuse(module, target).unwrap_or_else(|findings| panic!("{findings}"));
    let plans = fused.module.computations.ids().filter_map(|id| fused.plan(id));
    plans.filter(|plan| matches!(plan.emitter(), Emitter::Attention(_))).count()
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// An operand of a dot: its shape, in any order of its dimensions, and the words that say which of these are of the batch and contracted.
fn operand(rng: &mut Rng, side: &str, ty: &str, [batch, contracted, free]: [&[usize]; 3]) -> (String, String) {
    let all = [batch, contracted, free].concat();
    let mut order: Vec<usize> = (0..all.len()).collect();
    if rng.below(2) == 0 {
        rng.shuffle(&mut order);
        // Free dimensions keep their order in the result.
        let mut next = batch.len() + contracted.len()..all.len();
        let first = next.start;
        order.iter_mut().filter(|it| **it >= first).for_each(|it| *it = next.next().unwrap());
    }
    let extents: Vec<usize> = order.iter().map(|it| all[*it]).collect();
    let at = |range: std::ops::Range<usize>| -> Vec<usize> {
        range.map(|it| order.iter().position(|own| *own == it).unwrap()).collect()
    };
    let (of_batch, summed) = (at(0..batch.len()), at(batch.len()..batch.len() + contracted.len()));
    let words = format!("{side}_batch_dims={{{}}}, {side}_contracting_dims={{{}}}", list(&of_batch), list(&summed));
    (format!("{ty}[{}]", list(&extents)), words)
}

/// Attention of random dimensions, in random order, with masks, biases and caps, of one type or with scores of another, divided before or behind the second dot.
fn random(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let extent = |rng: &mut Rng, most: usize| match rng.below(5) {
        0 => 1,
        1 => [5, 7, 11, 13][rng.below(4)],
        _ => 4 * (1 + rng.below(most / 4)),
    };
    let batch = [vec![], vec![3], vec![2, 2], vec![5]][rng.below(4)].clone();
    let queries = if rng.below(4) == 0 { vec![2, extent(&mut rng, 12)] } else { vec![extent(&mut rng, 40)] };
    let (keys, depth) = (extent(&mut rng, 40).max(2), extent(&mut rng, 20));
    let columns = extent(&mut rng, 24);
    let ty = ["f32", "f32", "bf16", "f16"][rng.below(4)];
    let scores_in = if rng.below(3) == 0 { ty } else { "f32" };
    let is_keys_first = rng.below(3) == 0;
    let (a, b) = if is_keys_first { ("k", "q") } else { ("q", "k") };
    let (left, right) = if is_keys_first { (vec![keys], queries.clone()) } else { (queries.clone(), vec![keys]) };
    let (of_a, words_a) = operand(&mut rng, "lhs", ty, [&batch, &[depth], &left]);
    let (of_b, words_b) = operand(&mut rng, "rhs", ty, [&batch, &[depth], &right]);
    let extents = [batch.clone(), queries.clone(), vec![keys]].concat();
    let rows = [batch.clone(), queries.clone()].concat();
    let (shape, row) = (format!("{scores_in}[{}]", list(&extents)), format!("{scores_in}[{}]", list(&rows)));
    let last = extents.len() - 1;
    let of_rows: Vec<usize> = (0..last).collect();
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "  {line}").unwrap();
    let dotted = [batch.clone(), left, right].concat();
    line(format!("{a} = {of_a} parameter(0)"));
    line(format!("{b} = {of_b} parameter(1)"));
    line(format!("d0 = {scores_in}[{}] dot({a}, {b}), {words_a}, {words_b}", list(&dotted)));
    let turned: Vec<usize> = match is_keys_first {
        true => (0..batch.len()).chain(batch.len() + 1..extents.len()).chain([batch.len()]).collect(),
        false => (0..extents.len()).collect(),
    };
    line(format!("d = {shape} transpose(d0), dimensions={{{}}}", list(&turned)));
    line(format!("c = {scores_in}[] constant(0.25)\n  all_c = {shape} broadcast(c), dimensions={{}}"));
    line(format!("scaled = {shape} multiply(d, all_c)"));
    let mut at = "scaled";
    if rng.below(4) == 0 {
        line(format!("capped = {shape} tanh({at})"));
        at = "capped";
    }
    if rng.below(3) == 0 {
        line(format!("bias = {scores_in}[{keys}] parameter(3)"));
        line(format!("all_bias = {shape} broadcast(bias), dimensions={{{last}}}"));
        line(format!("biased = {shape} add({at}, all_bias)"));
        at = "biased";
    }
    if rng.below(2) == 0 {
        let masked = ["-inf", "-10000"][rng.below(2)];
        let direction = ["GE", "LT"][rng.below(2)];
        let truth = format!("pred[{}]", list(&extents));
        let number = format!("s32[{}]", list(&extents));
        line(format!("i = {number} iota(), iota_dimension={}", last - 1));
        line(format!("j = {number} iota(), iota_dimension={last}"));
        line(format!("g = {truth} compare(i, j), direction={direction}"));
        line(format!("n = {scores_in}[] constant({masked})\n  all_n = {shape} broadcast(n), dimensions={{}}"));
        line(format!("masked = {shape} select(g, {at}, all_n)"));
        at = "masked";
    }
    line(format!("least = {scores_in}[] constant(-inf)\n  zero = f32[] constant(0)"));
    line(format!("m = {row} reduce({at}, least), dimensions={{{last}}}, to_apply=max_{scores_in}"));
    line(format!("all_m = {shape} broadcast(m), dimensions={{{}}}", list(&of_rows)));
    line(format!("x = {shape} subtract({at}, all_m)\n  e = {shape} exponential(x)"));
    line(format!("w = f32[{}] convert(e)", list(&extents)));
    line(format!("t = f32[{}] reduce(w, zero), dimensions={{{last}}}, to_apply=add", list(&rows)));
    line(format!("t2 = {row} convert(t)\n  all_t = {shape} broadcast(t2), dimensions={{{}}}", list(&of_rows)));
    let is_late = rng.below(3) == 0;
    line(format!("p = {shape} divide(e, all_t)"));
    line(format!("p2 = {ty}[{}] convert({})", list(&extents), if is_late { "e" } else { "p" }));
    let (of_v, words_v) = operand(&mut rng, "lhs", ty, [&batch, &[keys], &[columns]]);
    line(format!("v = {of_v} parameter(2)"));
    let of_batch: Vec<usize> = (0..batch.len()).collect();
    let words_p = format!("rhs_batch_dims={{{}}}, rhs_contracting_dims={{{last}}}", list(&of_batch));
    let flipped = |words: &str, one: &str, other: &str| words.replace(one, other);
    let is_first = rng.below(2) == 0;
    let (result, words) = match is_first {
        true => {
            let words = [flipped(&words_p, "rhs", "lhs"), flipped(&words_v, "lhs", "rhs")];
            ([batch.clone(), queries.clone(), vec![columns]].concat(), words)
        }
        false => ([batch.clone(), vec![columns], queries.clone()].concat(), [words_v, words_p]),
    };
    let operands = if is_first { "p2, v" } else { "v, p2" };
    let shape = format!("f32[{}]", list(&result));
    line(format!("r = {shape} dot({operands}), {}, {}", words[0], words[1]));
    let mut of_row: Vec<usize> = (0..batch.len()).collect();
    of_row.extend((0..queries.len()).map(|it| batch.len() + usize::from(!is_first) + it));
    line(format!("t3 = f32[{}] convert(t2)", list(&rows)));
    line(format!("u = {shape} broadcast(t3), dimensions={{{}}}", list(&of_row)));
    line(format!("o = {shape} divide(r, u)"));
    let result_of = if is_late { "o" } else { "r" };
    match rng.below(3) {
        0 => line(format!("ROOT z = {shape} negate({result_of})")),
        1 => {
            let mut order: Vec<usize> = (0..result.len()).collect();
            rng.shuffle(&mut order);
            let turned: Vec<usize> = order.iter().map(|it| result[*it]).collect();
            let order = list(&order);
            line(format!("ROOT z = f32[{}] transpose({result_of}), dimensions={{{order}}}", list(&turned)));
        }
        _ => line(format!("ROOT z = {ty}[{}] convert({result_of})", list(&result))),
    }
    let regions: String = ["f32", "bf16", "f16"]
        .iter()
        .map(|ty| {
            format!(
                "max_{ty} {{ a = {ty}[] parameter(0)\n b = {ty}[] parameter(1)\n ROOT c = {ty}[] maximum(a, b) }}\n"
            )
        })
        .collect();
    let add = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }";
    format!("HloModule m\n{regions}{add}\nENTRY e {{\n{text}}}\n")
}

/// The elements of an array.
fn elements(literal: &Literal) -> Vec<f64> {
    let count = literal.data.len().unwrap_or(0);
    (0..count).filter_map(|position| numbers(literal.data.get(position)?)?.first().copied()).collect()
}

/// Whether results are what is expected, to so many times the greatest of it, and the same elements are no numbers.
fn agrees(expected: &Literal, found: &Literal, tolerance: f64) -> Result<(), String> {
    let (expected, found) = (elements(expected), elements(found));
    let scale = expected.iter().filter(|one| one.is_finite()).fold(0.0f64, |most, one| most.max(one.abs()));
    for (position, (one, other)) in expected.iter().zip(&found).enumerate() {
        let is_same = one == other || one.is_nan() && other.is_nan() || (one - other).abs() <= tolerance * scale;
        if !is_same {
            return Err(format!("element {position} is {one} and became {other}"));
        }
    }
    Ok(())
}

/// What is rounded before it is divided is as far off as what is rounded behind it.
fn tolerance(text: &str) -> f64 {
    match (text.contains("bf16["), text.contains(" f16[")) {
        (true, _) => 2f64.powi(-5),
        (_, true) => 2f64.powi(-8),
        _ => 2e-5,
    }
}

fn check(device: &Device, target: &Target, text: &str, arguments: &[Literal]) -> Result<usize, String> {
    let module = &support::module(text);
    let program = compile(module, target).map_err(|error| error.to_string())?;
    if let Some(shader) = program.shaders().iter().find(|shader| !shader.proofs().are_complete()) {
        return Err(format!("{:?}", shader.proofs()));
    }
    let expected = evaluate(module, arguments).map_err(|error| error.to_string())?;
    let results =
        Executable::new(device, program).and_then(|it| it.run(arguments)).map_err(|error| error.to_string())?;
    for (expected, result) in expected.iter().zip(&results) {
        agrees(expected, result, tolerance(text))?;
    }
    Ok(attending(module, target))
}

#[test]
fn random_attention_agrees_with_the_evaluator() {
    let device = support::device();
    for schedule in Schedule::ALL {
        let target = device.target().clone().with(|target| target.schedule = Some(schedule));
        let (mut in_one, mut report) = (0, String::new());
        let (first, count) = (first_seed(), cases(4));
        for seed in first..first + count {
            let text = random(seed);
            let arguments =
                inputs(&support::module(&text), seed, &Options { numbers: Numbers::Tame, ..Options::default() });
            match check(&device, &target, &text, &arguments) {
                Ok(kernels) => in_one += kernels as u64,
                Err(why) => writeln!(report, "seed {seed}: {why}\n{text}").unwrap(),
            }
        }
        assert!(report.is_empty(), "{schedule}: {report}");
        assert!(in_one * 2 >= count, "{schedule}: {in_one} of {count} are one kernel");
    }
}

/// Tiles of eight queries and eight keys, which only more products have than those of random programs: the last queries and keys fill none.
#[test]
fn large_tiles_of_invocations_agree_with_the_evaluator() {
    let device = support::device();
    let target = device.target().clone().with(|target| target.schedule = Some(Schedule::Software));
    let text = include_str!("../../bench/attention.hlo").replace("1024", "133").replace("64]", "32]");
    let module = support::module(&text);
    let fused = fuse(&module, &target).unwrap_or_else(|findings| panic!("{findings}"));
    let sides = fused.module.computations.ids().find_map(|id| match fused.plan(id)?.emitter() {
        Emitter::Attention(attention) => Some((attention.rows, attention.across)),
        _ => None,
    });
    assert_eq!(sides, Some((8, 8)), "{}", fused.module);
    let arguments = inputs(&module, 1, &Options { numbers: Numbers::Tame, ..Options::default() });
    check(&device, &target, &text, &arguments).unwrap_or_else(|why| panic!("{why}"));
}

/// Tiles fit, with those in which maxima and sums of one type or of two are folded, whatever memory workgroups have.
#[test]
fn tiles_fit_in_the_memory_of_workgroups() {
    let whole = include_str!("../../bench/attention.hlo");
    let own = (0..3).map(random);
    let texts: Vec<String> = ["f32", "bf16"].map(|ty| whole.replace("f32", ty)).into_iter().chain(own).collect();
    let mut in_one = 0;
    for kibibytes in [16, 20, 24, 28, 32, 40, 48, 64] {
        let target = Target::preset("discrete").expect("there is such a preset");
        let target = target.with(|target| target.max_workgroup_storage_bytes = kibibytes << 10);
        for text in &texts {
            let module = support::module(text);
            compile(&module, &target).unwrap_or_else(|error| panic!("{kibibytes} KiB: {error}\n{text}"));
            in_one += attending(&module, &target);
        }
    }
    assert!(in_one > 16, "{in_one} are one kernel");
}

/// What a program takes at once grows with the sequence, and not with its square, where attention is one kernel: on any device by its own schedule, and by
/// the other one where the cost model says so.
#[test]
fn memory_grows_with_the_sequence() {
    let text = include_str!("../../bench/attention.hlo");
    let device = support::device();
    for schedule in Schedule::ALL {
        let target = device.target().clone().with(|target| target.schedule = Some(schedule));
        let of = |length: usize| support::module(&text.replace("1024", &length.to_string()));
        let is_one = [512, 1024, 2048].iter().all(|length| attending(&of(*length), &target) == 1);
        assert!(is_one || schedule != device.target().effective_schedule(), "{schedule}");
        if !is_one {
            continue;
        }
        let peak = |length: usize| {
            let module = of(length);
            compile(&module, &target).unwrap_or_else(|error| panic!("{error}")).peak_bytes()
        };
        let first = peak(512);
        assert_eq!([peak(1024), peak(2048)], [2 * first, 4 * first], "{schedule}");
    }
}

/// Scores that are no numbers, infinite, or all negative infinities, in a row or in a block of one.
#[test]
fn infinite_scores_are_what_the_program_says() {
    let device = support::device();
    let text = "HloModule m
        max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }
        add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }
        ENTRY e {
          q = f32[8,4] parameter(0)
          k = f32[72,4] parameter(1)
          v = f32[72,8] parameter(2)
          bias = f32[8,72] parameter(3)
          d = f32[8,72] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
          s = f32[8,72] add(d, bias)
          least = f32[] constant(-inf)
          zero = f32[] constant(0)
          m = f32[8] reduce(s, least), dimensions={1}, to_apply=max
          all_m = f32[8,72] broadcast(m), dimensions={0}
          x = f32[8,72] subtract(s, all_m)
          e = f32[8,72] exponential(x)
          t = f32[8] reduce(e, zero), dimensions={1}, to_apply=add
          all_t = f32[8,72] broadcast(t), dimensions={0}
          p = f32[8,72] divide(e, all_t)
          ROOT r = f32[8,8] dot(p, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        }";
    let module = support::module(text);
    let mut arguments = inputs(&module, 1, &Options { numbers: Numbers::Tame, ..Options::default() });
    let Data::F32(bias) = &mut arguments[3].data else { panic!("{text}") };
    for (position, value) in bias.iter_mut().enumerate() {
        let (row, key) = (position / 72, position % 72);
        *value = match row {
            0 => f32::NEG_INFINITY,
            1 if key < 65 => f32::NEG_INFINITY,
            2 if key > 3 => f32::NEG_INFINITY,
            3 if key == 40 => f32::INFINITY,
            4 if key == 40 => f32::NAN,
            5 if key % 2 == 0 => -1e30,
            6 => -1e38,
            _ => 0.0,
        };
    }
    for schedule in Schedule::ALL {
        let target = device.target().clone().with(|target| target.schedule = Some(schedule));
        let kernels = check(&device, &target, text, &arguments).unwrap_or_else(|why| panic!("{schedule}: {why}"));
        assert_eq!(kernels, 1, "{schedule}");
    }
}
