//! The evaluator, operation by operation, against values written by hand and formulae written naively.

use proptest::prelude::*;
use weft_hlo::eval::{Config, check, evaluate, evaluate_with};
use weft_hlo::ir::{Data, Literal, Module, Scalar};
use weft_hlo::text::parse;

fn module(text: &str) -> Module {
    parse(&format!("HloModule test\n\n{text}\n")).unwrap_or_else(|found| panic!("{text}\n{found}"))
}

fn run(text: &str, inputs: &[Literal]) -> Vec<Literal> {
    evaluate(&module(text), inputs).unwrap_or_else(|found| panic!("{text}\n{found}"))
}

/// The result of an entry made of these lines, the last of which is the root.
fn entry(lines: &str, inputs: &[Literal]) -> Literal {
    let (rest, root) = lines.trim().rsplit_once('\n').unwrap_or(("", lines.trim()));
    run(&format!("ENTRY main {{\n{rest}\nROOT {}\n}}", root.trim()), inputs).swap_remove(0)
}

fn f32s(extents: &[i64], values: &[f32]) -> Literal {
    Literal::array(extents, values.to_vec())
}

fn s32s(extents: &[i64], values: &[i32]) -> Literal {
    Literal::array(extents, values.to_vec())
}

/// 0, 1, 2, … under these extents.
fn counting(extents: &[i64]) -> Literal {
    s32s(extents, &(0..extents.iter().product::<i64>() as i32).collect::<Vec<_>>())
}

#[test]
fn iota_counts_along_its_dimension() {
    assert_eq!(entry("i = s32[2,3]{1,0} iota(), iota_dimension=0", &[]), s32s(&[2, 3], &[0, 0, 0, 1, 1, 1]));
    assert_eq!(entry("i = f32[2,3]{1,0} iota(), iota_dimension=1", &[]), f32s(&[2, 3], &[0., 1., 2., 0., 1., 2.]));
    assert_eq!(entry("i = u32[0,3]{1,0} iota(), iota_dimension=1", &[]), Literal::array([0, 3], Vec::<u32>::new()));
}

#[test]
fn broadcast_repeats() {
    let x = s32s(&[2], &[1, 2]);
    let rows =
        entry("x = s32[2]{0} parameter(0)\nb = s32[2,3]{1,0} broadcast(x), dimensions={0}", std::slice::from_ref(&x));
    assert_eq!(rows, s32s(&[2, 3], &[1, 1, 1, 2, 2, 2]));
    let columns = entry("x = s32[2]{0} parameter(0)\nb = s32[3,2]{1,0} broadcast(x), dimensions={1}", &[x]);
    assert_eq!(columns, s32s(&[3, 2], &[1, 2, 1, 2, 1, 2]));
    let scalar = entry("c = pred[] constant(true)\nb = pred[2]{0} broadcast(c), dimensions={}", &[]);
    assert_eq!(scalar, Literal::array([2], vec![true, true]));
    let swapped =
        entry("x = s32[2,3]{1,0} parameter(0)\nb = s32[3,2]{1,0} broadcast(x), dimensions={1,0}", &[counting(&[2, 3])]);
    assert_eq!(swapped, s32s(&[3, 2], &[0, 3, 1, 4, 2, 5]));
}

#[test]
fn reshape_keeps_and_transpose_moves() {
    let x = [counting(&[2, 3])];
    let reshaped = entry("x = s32[2,3]{1,0} parameter(0)\nr = s32[3,1,2]{2,1,0} reshape(x)", &x);
    assert_eq!(reshaped, counting(&[3, 1, 2]));
    let transposed = entry("x = s32[2,3]{1,0} parameter(0)\nt = s32[3,2]{1,0} transpose(x), dimensions={1,0}", &x);
    assert_eq!(transposed, s32s(&[3, 2], &[0, 3, 1, 4, 2, 5]));
}

#[test]
fn bitcast_follows_layouts() {
    let x = [counting(&[2, 3])];
    let flat = entry("x = s32[2,3]{0,1} parameter(0)\nb = s32[6]{0} bitcast(x)", &x);
    assert_eq!(flat, s32s(&[6], &[0, 3, 1, 4, 2, 5]));
    let transposed = entry("x = s32[2,3]{1,0} parameter(0)\nb = s32[3,2]{0,1} bitcast(x)", &x);
    assert_eq!(transposed, s32s(&[3, 2], &[0, 3, 1, 4, 2, 5]));
    let inserted = entry("x = s32[2,3]{1,0} parameter(0)\nb = s32[1,3,1,2]{1,3,0,2} bitcast(x)", &x);
    assert_eq!(inserted, s32s(&[1, 3, 1, 2], &[0, 3, 1, 4, 2, 5]));
    let retyped = entry("x = f32[1]{0} parameter(0)\nb = u32[1]{0} bitcast(x)", &[f32s(&[1], &[1.0])]);
    assert_eq!(retyped, Literal::array([1], vec![0x3f80_0000u32]));
}

#[test]
fn slice_and_reverse() {
    let x = [counting(&[3, 4])];
    let sliced = entry("x = s32[3,4]{1,0} parameter(0)\ns = s32[2,2]{1,0} slice(x), slice={[1:3], [0:4:3]}", &x);
    assert_eq!(sliced, s32s(&[2, 2], &[4, 7, 8, 11]));
    let empty = entry("x = s32[3,4]{1,0} parameter(0)\ns = s32[0,4]{1,0} slice(x), slice={[3:3], [0:4]}", &x);
    assert_eq!(empty, counting(&[0, 4]));
    let far = "x = s32[3,4]{1,0} parameter(0)\n\
               s = s32[1,1]{1,0} slice(x), slice={[2:3:9223372036854775807], [1:4:9223372036854775807]}";
    assert_eq!(entry(far, &x), s32s(&[1, 1], &[9]));
    let reversed = entry("x = s32[3,4]{1,0} parameter(0)\nr = s32[3,4]{1,0} reverse(x), dimensions={0}", &x);
    assert_eq!(reversed, s32s(&[3, 4], &[8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]));
}

#[test]
fn concatenate_joins() {
    let inputs = [counting(&[2, 1]), counting(&[2, 0]), counting(&[2, 2])];
    let text = "a = s32[2,1]{1,0} parameter(0)\nb = s32[2,0]{1,0} parameter(1)\nc = s32[2,2]{1,0} parameter(2)\n\
                j = s32[2,4]{1,0} concatenate(a, b, c, a), dimensions={1}";
    assert_eq!(entry(text, &inputs), s32s(&[2, 4], &[0, 0, 1, 0, 1, 2, 3, 1]));
    let text = "a = s32[2,2]{1,0} parameter(0)\nj = s32[4,2]{1,0} concatenate(a, a), dimensions={0}";
    assert_eq!(entry(text, &[counting(&[2, 2])]), s32s(&[4, 2], &[0, 1, 2, 3, 0, 1, 2, 3]));
}

#[test]
fn pad_around_between_and_inward() {
    let pad = |extents: &str, padding: &str| {
        let text = format!(
            "x = s32[3]{{0}} parameter(0)\nv = s32[] constant(-9)\np = s32[{extents}]{{0}} pad(x, v), padding={padding}"
        );
        match entry(&text, &[s32s(&[3], &[1, 2, 3])]).data {
            Data::S32(values) => values,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pad("6", "1_2"), [-9, 1, 2, 3, -9, -9]);
    assert_eq!(pad("5", "0_0_1"), [1, -9, 2, -9, 3]);
    assert_eq!(pad("1", "-1_-1"), [2]);
    assert_eq!(pad("4", "-1_0_1"), [-9, 2, -9, 3]);
    assert_eq!(pad("4", "-1_-2_2"), [-9, -9, 2, -9]);
    assert_eq!(pad("4", "-3_4"), [-9, -9, -9, -9]);
    assert_eq!(pad("0", "-1_-2"), []);
    let text = "x = f32[0,2]{1,0} parameter(0)\nv = f32[] constant(7)\n\
                p = f32[1,2]{1,0} pad(x, v), padding=1_0x0_0";
    assert_eq!(entry(text, &[f32s(&[0, 2], &[])]), f32s(&[1, 2], &[7., 7.]));
}

#[test]
fn select_and_clamp() {
    let text = "c = pred[3]{0} constant({1, 0, 1})\na = s32[3]{0} constant({1, 2, 3})\nb = s32[3]{0} constant({4, 5, 6})\n\
                s = s32[3]{0} select(c, a, b)";
    assert_eq!(entry(text, &[]), s32s(&[3], &[1, 5, 3]));
    let text =
        "l = f32[] constant(-1)\nx = f32[4]{0} parameter(0)\nh = f32[] constant(2)\nc = f32[4]{0} clamp(l, x, h)";
    let clamped = entry(text, &[f32s(&[4], &[-5., 0.5, 9., f32::NAN])]);
    assert_eq!(clamped, f32s(&[4], &[-1., 0.5, 2., f32::NAN]));
    // Where the bounds cross, the upper one wins.
    let text = "l = s32[1]{0} constant({5})\nx = s32[1]{0} constant({4})\nh = s32[1]{0} constant({3})\n\
                c = s32[1]{0} clamp(l, x, h)";
    assert_eq!(entry(text, &[]), s32s(&[1], &[3]));
}

#[test]
fn compare_and_convert() {
    let text = "x = f32[3]{0} parameter(0)\ny = f32[3]{0} parameter(1)\n\
                c = pred[3]{0} compare(x, y), direction=LT, type=TOTALORDER";
    let inputs = [f32s(&[3], &[-0.0, 1., f32::INFINITY]), f32s(&[3], &[0., 1., f32::NAN])];
    assert_eq!(entry(text, &inputs), Literal::array([3], vec![true, false, true]));
    let text = "x = f32[4]{0} parameter(0)\nc = s32[4]{0} convert(x)";
    let converted = entry(text, &[f32s(&[4], &[-1.9, 3e9, f32::NAN, f32::NEG_INFINITY])]);
    assert_eq!(converted, s32s(&[4], &[-1, i32::MAX, 0, i32::MIN]));
}

const SUM: &str = "sum {\na = s32[] parameter(0)\nb = s32[] parameter(1)\nROOT s = s32[] add(a, b)\n}\n";

#[test]
fn reduce_folds_any_dimensions() {
    let sum = |result: &str, dimensions: &str| {
        let text = format!(
            "{SUM}ENTRY main {{\nx = s32[2,3,2]{{2,1,0}} parameter(0)\nz = s32[] constant(100)\n\
             ROOT r = s32[{result}] reduce(x, z), dimensions={dimensions}, to_apply=sum\n}}"
        );
        run(&text, &[counting(&[2, 3, 2])]).swap_remove(0)
    };
    assert_eq!(sum("3,2", "{0}"), s32s(&[3, 2], &[106, 108, 110, 112, 114, 116]));
    assert_eq!(sum("2,2", "{1}"), s32s(&[2, 2], &[106, 109, 124, 127]));
    assert_eq!(sum("3", "{0,2}"), s32s(&[3], &[114, 122, 130]));
    assert_eq!(sum("3", "{2,0}"), s32s(&[3], &[114, 122, 130]));
    assert_eq!(sum("", "{0,1,2}"), Literal::scalar(Scalar::S32(166)));
    assert_eq!(sum("2,3,2", "{}"), s32s(&[2, 3, 2], &(100..112).collect::<Vec<_>>()));
}

#[test]
fn reduce_of_nothing_is_the_initial_value() {
    let text = format!(
        "{SUM}ENTRY main {{\nx = s32[0,2]{{1,0}} parameter(0)\nz = s32[] constant(5)\n\
         r = s32[2]{{0}} reduce(x, z), dimensions={{0}}, to_apply=sum\n\
         e = s32[0]{{0}} reduce(x, z), dimensions={{1}}, to_apply=sum\n\
         ROOT t = (s32[2]{{0}}, s32[0]{{0}}) tuple(r, e)\n}}"
    );
    assert_eq!(run(&text, &[counting(&[0, 2])]), [s32s(&[2], &[5, 5]), s32s(&[0], &[])]);
}

#[test]
fn reduce_applies_its_computation_in_order() {
    // acc * 10 + x, so that the order shows; the call and the tuple are looked through.
    let text = "shift {\na = s32[] parameter(0)\nten = s32[] constant(10)\nROOT m = s32[] multiply(a, ten)\n}\n\
                step {\na = s32[] parameter(0)\nb = s32[] parameter(1)\nc = s32[] call(a), to_apply=shift\n\
                t = (s32[], s32[]) tuple(c, b)\nd = s32[] get-tuple-element(t), index=0\n\
                e = s32[] get-tuple-element(t), index=1\nROOT s = s32[] add(d, e)\n}\n\
                ENTRY main {\nx = s32[2,2]{1,0} parameter(0)\nz = s32[] constant(0)\n\
                ROOT r = s32[] reduce(x, z), dimensions={0,1}, to_apply=step\n}";
    assert_eq!(run(text, &[s32s(&[2, 2], &[1, 2, 3, 4])]), [Literal::scalar(Scalar::S32(1234))]);
}

#[test]
fn reduce_of_several_operands() {
    // Swaps its accumulators, to show that results are not overwritten while they are read.
    let text = "swap {\na = s32[] parameter(0)\nb = f32[] parameter(1)\nx = s32[] parameter(2)\ny = f32[] parameter(3)\n\
                p = s32[] convert(b)\nq = f32[] convert(a)\nr = s32[] add(p, x)\ns = f32[] add(q, y)\n\
                ROOT t = (s32[], f32[]) tuple(r, s)\n}\n\
                ENTRY main {\nx = s32[1,3]{1,0} parameter(0)\ny = f32[1,3]{1,0} parameter(1)\n\
                i = s32[] constant(0)\nj = f32[] constant(1)\n\
                ROOT r = (s32[1]{0}, f32[1]{0}) reduce(x, y, i, j), dimensions={1}, to_apply=swap\n}";
    let results = run(text, &[s32s(&[1, 3], &[10, 20, 30]), f32s(&[1, 3], &[1., 2., 3.])]);
    // (0, 1) -> (11, 1) -> (21, 13) -> (43, 24)
    assert_eq!(results, [s32s(&[1], &[43]), f32s(&[1], &[24.])]);
}

#[test]
fn tuples_calls_and_fusions() {
    let text = "both {\np = (s32[2]{0}, (f32[])) parameter(0)\na = s32[2]{0} get-tuple-element(p), index=0\n\
                n = s32[2]{0} negate(a)\ninner = (f32[]) get-tuple-element(p), index=1\n\
                ROOT t = ((f32[]), s32[2]{0}, s32[2]{0}) tuple(inner, n, a)\n}\n\
                one {\nq = s32[2]{0} parameter(0)\nROOT m = s32[2]{0} multiply(q, q)\n}\n\
                ENTRY main {\np = (s32[2]{0}, (f32[])) parameter(0)\n\
                c = ((f32[]), s32[2]{0}, s32[2]{0}) call(p), to_apply=both\n\
                g = s32[2]{0} get-tuple-element(c), index=1\n\
                f = s32[2]{0} fusion(g), kind=kLoop, calls=one\n\
                ROOT r = (((f32[]), s32[2]{0}, s32[2]{0}), s32[2]{0}) tuple(c, f)\n}";
    let x = s32s(&[2], &[3, 4]);
    let y = Literal::scalar(Scalar::F32(0.5));
    let expected = [y.clone(), s32s(&[2], &[-3, -4]), x.clone(), s32s(&[2], &[9, 16])];
    assert_eq!(run(text, &[x, y]), expected);
}

#[test]
fn deep_calls_do_not_use_the_stack() {
    let mut text = String::from("fun0 {\nROOT x = s32[] parameter(0)\n}\n");
    for depth in 1..20_000 {
        text +=
            &format!("fun{depth} {{\nx = s32[] parameter(0)\nROOT c = s32[] call(x), to_apply=fun{}\n}}\n", depth - 1);
    }
    text += "ENTRY main {\nx = s32[] parameter(0)\nROOT c = s32[] call(x), to_apply=fun19999\n}";
    let x = Literal::scalar(Scalar::S32(7));
    assert_eq!(run(&text, std::slice::from_ref(&x)), [x]);
}

/// 64 computations, each of which calls the one before it twice.
fn diamonds() -> String {
    let mut text =
        String::from("fun0 {\na = s32[] parameter(0)\nb = s32[] parameter(1)\nROOT c = s32[] add(a, b)\n}\n");
    for depth in 1..64 {
        text += &format!(
            "fun{depth} {{\na = s32[] parameter(0)\nb = s32[] parameter(1)\nc = s32[] call(a, b), to_apply=fun{0}\n\
             ROOT d = s32[] call(c, b), to_apply=fun{0}\n}}\n",
            depth - 1
        );
    }
    text
}

#[test]
fn calls_in_reductions_are_bounded() {
    let text = diamonds()
        + "ENTRY main {\nx = s32[2]{0} parameter(0)\nz = s32[] constant(0)\n\
           ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=fun63\n}";
    let found = check(&module(&text), &Config::default()).unwrap_err();
    assert_eq!(found.0[0].code, "HLO207", "{found}");
}

#[test]
fn calls_are_bounded() {
    let text = diamonds() + "ENTRY main {\nx = s32[] parameter(0)\nROOT r = s32[] call(x, x), to_apply=fun63\n}";
    let found = check(&module(&text), &Config::default()).unwrap_err();
    assert_eq!(found.0[0].code, "HLO207", "{found}");
}

#[test]
fn values_are_freed_after_their_last_use() {
    let mut text = String::from("ENTRY main {\nx0 = f32[1000]{0} parameter(0)\n");
    for step in 1..100 {
        text += &format!("x{step} = f32[1000]{{0}} negate(x{})\n", step - 1);
    }
    text += "ROOT r = f32[1000]{0} negate(x99)\n}";
    let input = f32s(&[1000], &[1.0; 1000]);
    let module = module(&text);
    // Operand and result of one instruction.
    let inputs = [input];
    let results = evaluate_with(&module, &inputs, &Config { byte_limit: 8000, ..Config::default() }).unwrap();
    assert_eq!(results, inputs);
    let found = evaluate_with(&module, &inputs, &Config { byte_limit: 7999, ..Config::default() }).unwrap_err();
    assert_eq!(found.0[0].code, "HLO205", "{found}");
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    let huge = [
        "f32[1152921504606846976]",
        "f32[4611686018427387904]",
        "pred[1099511627776,8388607]",
        "s32[2147483648,4294967295]",
    ];
    for shape in huge {
        let element_type = shape.split_once('[').unwrap().0;
        let zero = if element_type == "pred" { "false" } else { "0" };
        let text = format!(
            "ENTRY main {{\nc = {element_type}[] constant({zero})\nROOT b = {shape} broadcast(c), dimensions={{}}\n}}"
        );
        let found = evaluate(&module(&text), &[]).unwrap_err();
        assert_eq!(found.0[0].code, "HLO205", "{found}");
    }
    // Nothing is computed along extents that are large beside a 0.
    let text = "ENTRY main {\nc = f32[] constant(0)\n\
                b = f32[4611686018427387904,0,4611686018427387904] broadcast(c), dimensions={}\n\
                t = f32[0,4611686018427387904,4611686018427387904] transpose(b), dimensions={1,0,2}\n\
                n = f32[0,4611686018427387904,4611686018427387904] negate(t)\n\
                ROOT r = f32[0,4611686018427387904,1] slice(n), slice={[0:0], [0:4611686018427387904], [5:6]}\n}";
    assert_eq!(run(text, &[])[0].data, Data::F32(vec![]));
}

#[test]
fn what_is_not_understood_is_named() {
    let cases = [
        (
            "x = f32[2]{0} parameter(0)\nROOT s = f32[2]{0} custom-call(x), custom_call_target=\"mine\"",
            "HLO201",
            "mine",
        ),
        ("x = f32[<=2]{0} parameter(0)\nROOT s = f32[<=2]{0} negate(x)", "HLO202", "bounded"),
        ("x = c64[2]{0} parameter(0)\nROOT s = c64[2]{0} maximum(x, x)", "HLO202", "no order"),
        ("ROOT x = f32[2]{0} constant({...})", "HLO203", "large constants"),
    ];
    for (body, code, word) in cases {
        let text = format!(
            "less {{\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = pred[] compare(a, b), direction=LT\n}}\n\
             ENTRY main {{\n{body}\n}}"
        );
        let found = check(&module(&text), &Config::default()).unwrap_err();
        assert!(found.0.iter().all(|finding| finding.code == code && finding.message.contains(word)), "{found}");
    }
}

/// Extents with few elements, and a permutation of their dimensions.
fn extents_and_permutation() -> impl Strategy<Value = (Vec<i64>, Vec<usize>)> {
    proptest::collection::vec(0i64..5, 0..5).prop_flat_map(|extents| {
        let identity: Vec<usize> = (0..extents.len()).collect();
        (Just(extents), Just(identity).prop_shuffle())
    })
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// The index with a row-major number.
fn index_of(mut number: usize, extents: &[i64]) -> Vec<usize> {
    let mut index = vec![0; extents.len()];
    for (place, &extent) in index.iter_mut().zip(extents).rev() {
        *place = number % extent as usize;
        number /= extent as usize;
    }
    index
}

fn number_of(index: &[usize], extents: &[i64]) -> usize {
    index.iter().zip(extents).fold(0, |number, (&place, &extent)| number * extent as usize + place)
}

proptest! {
    #[test]
    fn transpose_reads_the_permuted_index((extents, permutation) in extents_and_permutation()) {
        let target: Vec<i64> = permutation.iter().map(|&source| extents[source]).collect();
        let text = format!(
            "x = s32[{}] parameter(0)\nt = s32[{}] transpose(x), dimensions={{{}}}",
            list(&extents), list(&target), list(&permutation)
        );
        let Data::S32(values) = entry(&text, &[counting(&extents)]).data else { panic!("not s32") };
        for (number, &value) in values.iter().enumerate() {
            let index = index_of(number, &target);
            let mut source = vec![0; extents.len()];
            permutation.iter().zip(index).for_each(|(&dimension, place)| source[dimension] = place);
            prop_assert_eq!(value as usize, number_of(&source, &extents));
        }
    }

    #[test]
    fn bitcast_to_the_transposed_layout_is_transpose((extents, permutation) in extents_and_permutation()) {
        let target: Vec<i64> = permutation.iter().map(|&source| extents[source]).collect();
        // Memory stays: result dimension i is operand dimension permutation[i], so the operand's dimensions in memory
        // order, minor first, have these numbers in the result.
        let layout: Vec<usize> = (0..extents.len())
            .rev()
            .map(|source| permutation.iter().position(|&other| other == source).unwrap())
            .collect();
        let text = |op: &str, layout: &str| format!(
            "x = s32[{}] parameter(0)\nt = s32[{}]{layout} {op}", list(&extents), list(&target)
        );
        let layout = if layout.is_empty() { String::new() } else { format!("{{{}}}", list(&layout)) };
        let transposed = text(&format!("transpose(x), dimensions={{{}}}", list(&permutation)), "");
        let inputs = [counting(&extents)];
        prop_assert_eq!(entry(&text("bitcast(x)", &layout), &inputs).data, entry(&transposed, &inputs).data);
    }

    #[test]
    fn slice_is_undone_by_pad(extent in 1i64..30, start in 0i64..30, length in 0i64..30, stride in 1i64..6) {
        let start = start.min(extent);
        let limit = (start + length).min(extent);
        let kept = (limit - start + stride - 1) / stride;
        let covered = if kept == 0 { 0 } else { (kept - 1) * stride + 1 };
        let text = format!(
            "x = s32[{extent}] parameter(0)\nv = s32[] constant(-1)\n\
             s = s32[{kept}] slice(x), slice={{[{start}:{limit}:{stride}]}}\n\
             p = s32[{extent}] pad(s, v), padding={start}_{}_{}", extent - start - covered, stride - 1
        );
        let Data::S32(values) = entry(&text, &[counting(&[extent])]).data else { panic!("not s32") };
        for (position, &value) in values.iter().enumerate() {
            let offset = position as i64 - start;
            let inside = offset >= 0 && (position as i64) < limit && offset % stride == 0;
            prop_assert_eq!(value, if inside { position as i32 } else { -1 });
        }
    }
}

#[test]
fn a_token_may_come_after_arrays_and_tuples() {
    let lines = "x = f32[2] parameter(0)\ny = f32[3] parameter(1)\np = (f32[3], f32[2]) tuple(y, x)\n\
                 t = token[] after-all(x, p)\nz = f32[2] add-dependency(x, t)";
    let [x, y] = [f32s(&[2], &[1., 2.]), f32s(&[3], &[3., 4., 5.])];
    assert_eq!(entry(lines, &[x.clone(), y]), x);
}
