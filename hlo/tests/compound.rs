//! Collectives of one device and batch normalization, written out.

use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module, Op};
use weft_hlo::passes::{BatchNormalization, FreeOrder, OneDevice, Pass};
use weft_hlo::random::{Numbers, Options, inputs};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

/// As JAX prints `shard_map` over one device, with a tuple, a broadcast and what nobody sends.
const COLLECTIVES: &str = "HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,6] parameter(0)
  y = s8[3] parameter(1)
  sum = f32[4,6] all-reduce(x), channel_id=1, replica_groups={{0}}, use_global_device_ids=true, to_apply=add
  whole = f32[4,6] all-gather(x), channel_id=1, replica_groups={{0}}, dimensions={0}, use_global_device_ids=true
  all = f32[4,6] all-to-all(sum), replica_groups={}, dimensions={1}
  sent = f32[4,6] collective-permute(x), channel_id=1, source_target_pairs={{0,0}}
  part = f32[4,6] reduce-scatter(x), channel_id=1, replica_groups=[1,1]<=[1], use_global_device_ids=true, dimensions={0}, to_apply=add
  none = s8[3] collective-permute(y), channel_id=1, source_target_pairs={}
  told = s8[3] collective-broadcast(y), replica_groups={{0}}
  both = (f32[4,6], f32[4,6]) all-reduce(whole, part), replica_groups={{0}}, to_apply=add
  first = f32[4,6] get-tuple-element(both), index=0
  p = u32[] partition-id()
  r = u32[] replica-id()
  ROOT t = (f32[4,6], f32[4,6], f32[4,6], s8[3], s8[3], u32[], u32[]) tuple(first, all, sent, none, told, p, r)
}
";

#[test]
fn collectives_of_one_device_are_what_they_are_given() {
    let module = parse(COLLECTIVES).unwrap();
    let given = inputs(&module, 1, &Options::default());
    let expected = evaluate(&module, &given).unwrap();
    let [x, y] = [&given[0], &given[1]];
    assert_eq!(expected[..3], [x.clone(), x.clone(), x.clone()]);
    assert_eq!(expected[3..5], [Literal::array([3], vec![0i8; 3]), y.clone()]);
    let after = OneDevice.run(&module).unwrap().module;
    verify(&after).unwrap();
    let text = print(&after);
    assert!(!["all-", "collective-", "reduce-scatter", "-id("].iter().any(|name| text.contains(name)), "{text}");
    assert_eq!(evaluate(&after, &given).unwrap(), expected);
}

#[test]
fn collectives_of_several_devices_stay() {
    for (from, to) in
        [("HloModule m\n", "HloModule m, num_partitions=2\n"), ("HloModule m\n", "HloModule m, replica_count=2\n")]
    {
        let module =
            parse(&COLLECTIVES.replace(from, to).replace("replica_groups=[1,1]<=[1]", "replica_groups={{0}}")).unwrap();
        assert!(OneDevice.run(&module).unwrap().changes.is_empty());
        let found = evaluate(&module, &inputs(&module, 1, &Options::default())).unwrap_err().to_string();
        assert!(found.contains("all-reduce") && found.contains("other devices"), "{found}");
    }
}

/// As XLA prints what it overlaps with other work, with several operands, and layouts of its own.
const PAIRS: &str = "HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,6] parameter(0)
  y = s8[3] parameter(1)
  b0 = f32[4,6] all-reduce-start(x), replica_groups={{0}}, to_apply=add
  b1 = (f32[4,6], f32[4,6]) all-gather-start(x), replica_groups={{0}}, dimensions={0}
  b2 = (s8[3], s8[3], u32[], u32[]) collective-permute-start(y), source_target_pairs={{0,0}}
  b3 = (s8[3], s8[3], u32[], u32[]) collective-permute-start(y), source_target_pairs={}
  b4 = (f32[4,6], s8[3]) all-reduce-start(x, y), replica_groups={}, to_apply=add
  b5 = ((f32[4,6], s8[3]), (f32[4,6], s8[3])) all-gather-start(x, y), replica_groups={{0}}, dimensions={0}
  b6 = (f32[4,6]{0,1}, f32[4,6], u32[]) copy-start(x)
  d0 = f32[4,6] all-reduce-done(b0)
  d1 = f32[4,6]{0,1} all-gather-done(b1)
  d2 = s8[3] collective-permute-done(b2)
  d3 = s8[3] collective-permute-done(b3)
  d4 = (f32[4,6], s8[3]) all-reduce-done(b4)
  d5 = (f32[4,6], s8[3]) all-gather-done(b5)
  d6 = f32[4,6]{0,1} copy-done(b6)
  d7 = (f32[4,6], s8[3]) collective-permute(x, y), source_target_pairs={}
  e7 = s8[3] get-tuple-element(d7), index=1
  e4 = s8[3] get-tuple-element(d4), index=1
  e5 = f32[4,6] get-tuple-element(d5), index=0
  ROOT t = (f32[4,6], f32[4,6]{0,1}, s8[3], s8[3], s8[3], f32[4,6], f32[4,6]{0,1}, s8[3]) tuple(d0, d1, d2, d3, e4, e5, d6, e7)
}
";

#[test]
fn pairs_of_one_device_end_as_they_begin() {
    let module = parse(PAIRS).unwrap();
    let given = inputs(&module, 1, &Options::default());
    let expected = evaluate(&module, &given).unwrap();
    let [x, y] = [&given[0], &given[1]];
    let zeros = Literal::array([3], vec![0i8; 3]);
    let data = |results: &[Literal]| results.iter().map(|result| result.data.clone()).collect::<Vec<_>>();
    let wanted = [x, x, y, &zeros, y, x, x, &zeros].map(Literal::clone);
    assert_eq!(data(&expected), data(&wanted));
    let after = OneDevice.run(&module).unwrap().module;
    verify(&after).unwrap();
    let text = print(&after);
    assert!(!["-start(", "-done(", "-permute("].iter().any(|name| text.contains(name)), "{text}");
    assert_eq!(evaluate(&after, &given).unwrap(), expected);
}

/// Where others depend on when a pair begins or ends it stays, both halves of it.
#[test]
fn pairs_whose_order_is_part_of_the_program_stay() {
    for (half, name) in [("b1", "all-gather-start(x)"), ("d1", "all-gather-done(b1)")] {
        let (before, after) = PAIRS.split_once(name).unwrap();
        let (line, after) = after.split_once('\n').unwrap();
        let order = if half == "b1" { "x" } else { "d0" };
        let module = parse(&format!("{before}{name}{line}, control-predecessors={{{order}}}\n{after}")).unwrap();
        let given = inputs(&module, 1, &Options::default());
        let rewritten = OneDevice.run(&module).unwrap().module;
        verify(&rewritten).unwrap();
        let text = print(&rewritten);
        assert!(["all-gather-start(%x)", "all-gather-done(%b1)"].iter().all(|name| text.contains(name)), "{text}");
        assert_eq!(evaluate(&rewritten, &given).unwrap(), evaluate(&module, &given).unwrap());
    }
}

#[test]
fn pairs_with_other_devices_are_refused() {
    for (from, to) in [
        ("all-reduce-start(x), replica_groups={{0}}", "all-reduce-start(x), replica_groups={{0,1}}"),
        ("source_target_pairs={{0,0}}", "source_target_pairs={{0,1}}"),
    ] {
        let module = parse(&PAIRS.replace(from, to)).unwrap();
        let found = evaluate(&module, &inputs(&module, 1, &Options::default())).unwrap_err().to_string();
        assert!(found.contains("HLO201") && found.contains("other devices"), "{found}");
    }
}

/// The rows that parts write, told without a loop over rows.
fn placed(input: &[f32], output: &[f32], columns: usize, parts: &[[i64; 3]]) -> Vec<f32> {
    let (given, made) = (input.len() / columns, output.len() / columns);
    let mut placed = output.to_vec();
    for &[from, size, to] in parts {
        for row in 0..size.min(given as i64) {
            let (source, target) = (from + row, to + row);
            if from >= 0 && to >= 0 && source < given as i64 && target < made as i64 {
                for column in 0..columns {
                    placed[target as usize * columns + column] = input[source as usize * columns + column];
                }
            }
        }
    }
    placed
}

#[test]
fn ragged_exchanges_of_one_device_place_what_they_are_given() {
    let sets: [(&str, &[[i64; 3]]); 7] = [
        ("s32", &[[1, 3, 2]]),
        ("s32", &[[0, 2, 4], [2, 1, 0]]),
        ("s8", &[[0, 3, 1], [1, 2, 2], [4, 1, 7]]),
        ("s64", &[[3, 9, 1], [-1, 2, 0], [0, 2, -1], [0, 1 << 40, 6]]),
        ("u32", &[[0, 0xffff_ffff, 0], [0xffff_fffe, 3, 1]]),
        ("s32", &[[2, -3, 1], [i64::from(i32::MIN), 1, 0], [0, i64::from(i32::MAX), 5]]),
        ("s32", &[]),
    ];
    for (given, made, columns) in [(5, 8, 3), (1, 2, 1), (0, 4, 2), (4, 0, 2)] {
        for (ty, parts) in sets {
            let list = |at: usize| parts.iter().map(|part| part[at].to_string()).collect::<Vec<_>>().join(",");
            let count = parts.len();
            let text = format!(
                "HloModule m\nENTRY e {{\n  x = f32[{given},{columns}] parameter(0)\n  y = f32[{made},{columns}] parameter(1)\n  \
                 f = {ty}[{count}] constant({{{}}})\n  s = {ty}[{count}] constant({{{}}})\n  t = {ty}[{count}] constant({{{}}})\n  \
                 ROOT r = f32[{made},{columns}] ragged-all-to-all(x, y, f, s, t, s), replica_groups={{{{0}}}}\n}}\n",
                list(0),
                list(1),
                list(2)
            );
            let module = parse(&text).unwrap();
            let operands = inputs(&module, 7, &Options { numbers: Numbers::Small, ..Options::default() });
            let floats = |literal: &Literal| match &literal.data {
                Data::F32(numbers) => numbers.clone(),
                data => panic!("{data:?} are no f32"),
            };
            let expected = placed(&floats(&operands[0]), &floats(&operands[1]), columns, parts);
            assert_eq!(floats(&evaluate(&module, &operands).unwrap()[0]), expected, "{text}");
            let after = OneDevice.run(&module).unwrap().module;
            verify(&after).unwrap();
            assert!(!print(&after).contains("ragged-"), "{}", print(&after));
            assert_eq!(floats(&evaluate(&after, &operands).unwrap()[0]), expected, "{}", print(&after));
        }
    }
}

/// A module of one of the three operations over these extents.
fn normalized(operation: &str, ty: &str, extents: &[i64], feature: usize) -> Module {
    let list = extents.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let (x, f) = (format!("{ty}[{list}]"), format!("{ty}[{}]", extents[feature]));
    let (more, result, operands) = match operation {
        "training" => ("", format!("({x}, {f}, {f})"), "x, a, b"),
        "inference" => ("  m = F parameter(3)\n  v0 = F parameter(4)\n", x.clone(), "x, a, b, m, v"),
        _ => (
            "  m = F parameter(2)\n  v0 = F parameter(3)\n  g = X parameter(4)\n",
            format!("({x}, {f}, {f})"),
            "x, a, m, v, g",
        ),
    };
    let offset = if operation == "grad" { "" } else { "  b = F parameter(2)\n" };
    let variance = if more.is_empty() { "" } else { "  v = F abs(v0)\n" };
    let text = format!(
        "HloModule m\nENTRY e {{\n  x = X parameter(0)\n  a = F parameter(1)\n{offset}{more}{variance}  \
         ROOT n = {result} batch-norm-{operation}({operands}), epsilon=0.01, feature_index={feature}\n}}\n"
    );
    parse(&text.replace("X ", &format!("{x} ")).replace("F ", &format!("{f} ")))
        .unwrap_or_else(|found| panic!("{found}\n{text}"))
}

fn numbers(literal: &Literal) -> Vec<f64> {
    match &literal.data {
        Data::F32(numbers) => numbers.iter().map(|number| f64::from(*number)).collect(),
        Data::F64(numbers) => numbers.clone(),
        Data::Bf16(numbers) => numbers.iter().map(|number| f64::from(*number)).collect(),
        Data::F16(numbers) => numbers.iter().map(|number| f64::from(*number)).collect(),
        Data::Tuple(elements) => elements.iter().flat_map(numbers).collect(),
        data => panic!("{data:?} are no floats"),
    }
}

#[test]
fn batch_normalization_is_made_of_sums() {
    let shapes: [(&[i64], usize); 6] =
        [(&[8, 5], 1), (&[8, 5], 0), (&[2, 3, 4, 5], 3), (&[2, 3, 4, 5], 1), (&[7], 0), (&[0, 3], 1)];
    let options = Options { numbers: Numbers::Small, ..Options::default() };
    for operation in ["training", "inference", "grad"] {
        for (ty, close) in [("f32", 1e-4), ("f64", 1e-11), ("bf16", 4e-2), ("f16", 6e-3)] {
            for (extents, feature) in shapes {
                let module = normalized(operation, ty, extents, feature);
                verify(&module).unwrap();
                let given = inputs(&module, 5, &options);
                let after = BatchNormalization.run(&module).unwrap().module;
                verify(&after).unwrap_or_else(|found| panic!("{found}\n{}", print(&after)));
                let is_left = |op: &Op| op.opcode().name().starts_with("batch-norm");
                assert!(!after.entry_computation().instructions.values().any(|it| is_left(&it.op)));
                let [expected, found] = [&module, &after].map(|it| evaluate(it, &given).unwrap());
                for (expected, found) in expected.iter().zip(&found) {
                    assert_eq!(expected.shape, found.shape);
                    let [expected, found] = [expected, found].map(numbers);
                    let finite = expected.iter().filter(|number| number.is_finite());
                    let scale = finite.fold(1.0, |most: f64, number| most.max(number.abs()));
                    for (a, b) in expected.iter().zip(&found) {
                        let is_close = a == b || (a - b).abs() <= close * scale || a.is_nan() && b.is_nan();
                        assert!(is_close, "{operation} {ty} {extents:?}: {b} is not {a}");
                    }
                }
            }
        }
    }
}

/// An order that shows in no result is dropped, one of side effects is kept, in what is called, too.
#[test]
fn an_order_is_kept_where_it_shows() {
    let text = "HloModule m\nf {\n  p = f32[3] parameter(0)\n  n = f32[3] negate(p)\n  ROOT e = f32[3] sine(p), control-predecessors={n}\n}\nENTRY e {\n  \
                x = f32[3] parameter(0)\n  c = f32[3] call(x), to_apply=f\n  \
                ROOT a = f32[3] add(c, x), control-predecessors={c}\n}\n";
    let after = FreeOrder.run(&parse(text).unwrap()).unwrap();
    assert_eq!(after.changes.len(), 2);
    assert!(!print(&after.module).contains("control-predecessors"));
    let printed = text.replace(
        "  c = f32[3] call",
        "  t = token[] after-all()\n  o = token[] outfeed(x, t), outfeed_shape=f32[3]\n  c = f32[3] call",
    );
    let after = FreeOrder.run(&parse(&printed).unwrap()).unwrap();
    assert_eq!(after.changes.len(), 1, "{}", print(&after.module));
    assert!(print(&after.module).contains("control-predecessors={c}"), "{}", print(&after.module));
    let printed = text.replace(
        "  n = f32[3] negate(p)",
        "  t = token[] after-all()\n  o = token[] outfeed(p, t), outfeed_shape=f32[3]\n  n = f32[3] negate(p)",
    );
    assert!(FreeOrder.run(&parse(&printed).unwrap()).unwrap().changes.is_empty());
    let pairs = PAIRS
        .replace("d6 = f32[4,6]{0,1} copy-done(b6)", "d6 = f32[4,6]{0,1} copy-done(b6), control-predecessors={d0}");
    let after = FreeOrder.run(&parse(&pairs).unwrap()).unwrap();
    assert!(!print(&OneDevice.run(&after.module).unwrap().module).contains("-done("));
    let several = pairs.replace("HloModule m\n", "HloModule m, replica_count=2\n");
    assert!(FreeOrder.run(&parse(&several).unwrap()).unwrap().changes.is_empty());
}

/// Operations and computations that begin and end, with and without computations of their own.
const BEGUN: &str = "HloModule m\nbefore {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=LT\n}\n\
    add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\
    work {\n  x = f32[6] parameter(0)\n  y = f32[6] parameter(1)\n  c = f32[6] add(x, y)\n  ROOT t = (f32[6], f32[6]) tuple(c, y)\n}\n\
    halved {\n  x = f32[6] parameter(0)\n  h = f32[] constant(0.5)\n  b = f32[6] broadcast(h), dimensions={}\n  ROOT m = f32[6] multiply(x, b)\n}\nENTRY e {\n  \
    x = f32[6] parameter(0)\n  y = f32[6] parameter(1)\n  \
    b0 = ((f32[6]), f32[6], s32[]) sort-start(x), dimensions={0}, to_apply=before\n  \
    b1 = ((f32[6], f32[6]), (f32[6], f32[6]), u32[2]) async-start(x, y), calls=work\n  \
    b2 = ((f32[6]), f32[6], u32[]) call-start(y), to_apply=halved\n  \
    b3 = ((f32[6]), f32[6]) reduce-scatter-start(y), replica_groups={{0}}, dimensions={0}, to_apply=add\n  \
    g0 = ((f32[6]), f32[6], s32[]) sort-update(b0)\n  h0 = ((f32[6]), f32[6], s32[]) sort-update(g0)\n  \
    g1 = ((f32[6], f32[6]), (f32[6], f32[6]), u32[2]) async-update(b1)\n  \
    d0 = f32[6] sort-done(h0)\n  d1 = (f32[6], f32[6]) async-done(g1)\n  d2 = f32[6] call-done(b2)\n  \
    d3 = f32[6] reduce-scatter-done(b3)\n  ROOT r = (f32[6], (f32[6], f32[6]), f32[6], f32[6]) tuple(d0, d1, d2, d3)\n}\n";

#[test]
fn what_begins_and_ends_is_called() {
    let module = parse(BEGUN).unwrap();
    let given = [[3.0f32, -1.0, 2.0, 0.0, 5.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]];
    let inputs = given.map(|values| Literal::array([6], values.to_vec()));
    let expected = [
        [-1.0f32, 0.0, 2.0, 3.0, 4.0, 5.0],
        [4.0, 1.0, 5.0, 4.0, 10.0, 10.0],
        given[1],
        [0.5, 1.0, 1.5, 2.0, 2.5, 3.0],
        given[1],
    ]
    .map(|values| Literal::array([6], values.to_vec()));
    assert_eq!(evaluate(&module, &inputs).unwrap(), expected);
    let longhand = module.longhand().into_owned();
    verify(&longhand).unwrap_or_else(|found| panic!("{found}\n{}", print(&longhand)));
    assert!(!print(&longhand).contains("sort-") && print(&longhand).contains("async-update"), "{}", print(&longhand));
    assert!(matches!(longhand.longhand(), std::borrow::Cow::Borrowed(_)));
    assert_eq!(evaluate(&longhand, &inputs).unwrap(), expected);
    let called = OneDevice.run(&module).unwrap().module;
    verify(&called).unwrap_or_else(|found| panic!("{found}\n{}", print(&called)));
    assert!(!print(&called).contains("async") && !print(&called).contains("-done"), "{}", print(&called));
    assert_eq!(evaluate(&called, &inputs).unwrap(), expected);
    assert!(OneDevice.run(&called).unwrap().changes.is_empty());
}

/// What says something of the operation goes with it, ends of something else are refused as they are written, and results without elements stand for tokens.
#[test]
fn what_begins_is_the_operation_as_it_was() {
    let text = "HloModule m\nENTRY e {\n  x = f32[2,2] parameter(0)\n  \
                a = ((f32[2,2]), (f32[2,2], s32[]), (token[], s32[])) custom-call-start(x), custom_call_target=\"lapack_spotrf_ffi\", \
                backend_config={uplo = 85 : ui8}\n  ROOT d = (f32[2,2], s32[]) custom-call-done(a)\n}\n";
    let plain = "HloModule m\nENTRY e {\n  x = f32[2,2] parameter(0)\n  \
                 ROOT d = (f32[2,2], s32[]) custom-call(x), custom_call_target=\"lapack_spotrf_ffi\", backend_config={uplo = 85 : ui8}\n}\n";
    let inputs = [Literal::array([2, 2], vec![4.0f32, 1.0, 2.0, 9.0])];
    let [module, plain] = [text, plain].map(|text| parse(text).unwrap_or_else(|found| panic!("{found}\n{text}")));
    let expected = evaluate(&plain, &inputs).unwrap();
    assert_eq!(evaluate(&module, &inputs).unwrap(), expected);
    let called = OneDevice.run(&module).unwrap().module;
    verify(&called).unwrap_or_else(|found| panic!("{found}\n{}", print(&called)));
    assert!(!print(&called).contains("async-"), "{}", print(&called));
    assert_eq!(evaluate(&called, &inputs).unwrap(), expected);
    let text = "ENTRY e {\n  x = f32[3] parameter(0)\n  a = ((f32[3]), f32[3], s32[]) negate-start(x)\n  ROOT d = f32[3] abs-done(a)\n}\n";
    let found = evaluate(&parse(text).unwrap(), &[Literal::array([3], vec![1.0f32, 2.0, 3.0])]).unwrap_err();
    assert_eq!(found.0[0].code, "HLO120", "{found}");
}

/// What has side effects is not called at another time, nor is what an order with others names.
#[test]
fn what_begins_with_side_effects_stays() {
    let text = "HloModule m\nwork {\n  x = f32[3] parameter(0)\n  t = token[] after-all()\n  o = token[] outfeed(x, t), outfeed_shape=f32[3]\n  \
                ROOT n = f32[3] negate(x)\n}\nENTRY e {\n  x = f32[3] parameter(0)\n  \
                s = ((f32[3]), f32[3], u32[]) async-start(x), calls=work\n  ROOT d = f32[3] async-done(s)\n}\n";
    assert!(OneDevice.run(&parse(text).unwrap()).unwrap().changes.is_empty());
    let text = "HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  g = u64[] rng-get-and-update-state(), delta=1\n  \
                s = ((f32[3]), f32[3], u32[]) negate-start(x)\n  u = ((f32[3]), f32[3], u32[]) negate-update(s)\n  \
                ROOT d = f32[3] negate-done(u), control-predecessors={g}\n}\n";
    let made = OneDevice.run(&parse(text).unwrap()).unwrap().module;
    verify(&made).unwrap_or_else(|found| panic!("{found}\n{}", print(&made)));
}

/// What a token orders is read instead of what it orders it as, where nothing has side effects, and where layouts are the same.
#[test]
fn tokens_order_nothing_without_side_effects() {
    let text = "HloModule m\nENTRY e {\n  x = f32[3,2] parameter(0)\n  t = token[] after-all()\n  d = f32[3,2] add-dependency(x, t)\n  \
                n = f32[3,2] negate(d)\n  c = f32[3,2]{0,1} add-dependency(n, t)\n  s = f32[3,2]{0,1} sine(c)\n  \
                ROOT r = f32[3,2]{0,1} add-dependency(s, t)\n}\n";
    let after = FreeOrder.run(&parse(text).unwrap()).unwrap();
    assert_eq!(after.changes.len(), 3, "{:?}", after.changes);
    let entry = after.module.entry_computation();
    assert_eq!(entry.instructions[entry.root].name, "s");
    let printed = print(&after.module);
    assert!(printed.contains("negate(%x)") && printed.contains("copy(%n)"), "{printed}");
    verify(&after.module).unwrap_or_else(|found| panic!("{found}\n{printed}"));
    assert!(FreeOrder.run(&after.module).unwrap().changes.is_empty());
    let effect = text.replace("  n = f32", "  o = token[] outfeed(x, t), outfeed_shape=f32[3,2]\n  n = f32");
    assert!(FreeOrder.run(&parse(&effect).unwrap()).unwrap().changes.is_empty());
}

/// What only reads a collective may have an order beside side effects: the collective is what it was given all the same.
#[test]
fn collectives_that_ordered_instructions_read_are_what_they_are_given() {
    let text = "HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  g = u64[] rng-get-and-update-state(), delta=1\n  \
                b = (f32[3], f32[3]) all-gather-start(x), replica_groups={{0}}, dimensions={0}\n  d = f32[3] all-gather-done(b)\n  \
                ROOT n = f32[3] negate(d), control-predecessors={x}\n}\n";
    let ordered = FreeOrder.run(&parse(text).unwrap()).unwrap();
    assert!(ordered.changes.is_empty());
    let text = print(&OneDevice.run(&ordered.module).unwrap().module);
    assert!(text.contains("negate(x)") || text.contains("negate(%x)"), "{text}");
}
