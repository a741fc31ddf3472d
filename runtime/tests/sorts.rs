//! Sorts in all forms, to the bit as the evaluator orders elements.

use crate::support::{self, compile};
use std::fmt::Write as _;
use std::sync::LazyLock;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, ElementType, Literal};
use weft_hlo::random::Rng;
use weft_partition::Schedule;
use weft_runtime::{Device, Executable};

/// One device for all tests: some drivers take long to open one.
static DEVICE: LazyLock<Device> = LazyLock::new(support::device);

/// Runs a program with these schedules, with nothing left to the host.
fn check(text: &str, inputs: &[Literal], schedules: &[Schedule]) {
    let module = support::module(text);
    let expected = evaluate(&module, inputs).expect("the evaluator knows it");
    for schedule in schedules.iter().copied() {
        let target = DEVICE.target().clone().with(|target| target.schedule = Some(schedule));
        let program = compile(&module, &target).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let unproved: Vec<_> = program.shaders().iter().flat_map(|shader| shader.proofs().unproved.clone()).collect();
        assert!(unproved.is_empty(), "{unproved:?}\n{text}");
        let executable = Executable::new(&DEVICE, program.clone()).expect("it loads");
        let found = executable.run(inputs).expect("it runs");
        let bytes = |results: &[Literal]| -> Vec<Vec<u8>> {
            results.iter().map(|literal| literal.data.as_bytes().unwrap().to_vec()).collect()
        };
        assert!(
            bytes(&expected) == bytes(&found),
            "{expected:?} became {found:?} on {}, {schedule:?}\n{text}\n{program}",
            DEVICE.info()
        );
    }
}

/// Elements few of which are different; of floats also zeros of both signs, infinities, and one NaN.
fn random(rng: &mut Rng, ty: ElementType, extents: &[i64]) -> Literal {
    let count: i64 = extents.iter().product();
    let bits = ty.bits();
    let all = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let patterns: Vec<u64> = match ty {
        ElementType::Pred => vec![0, 1],
        ElementType::F32 => [0.0, -0.0, 1.5, -1.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-20]
            .map(|value| u64::from(value.to_bits()))
            .to_vec(),
        ElementType::Bf16 => vec![0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0],
        ElementType::F16 => vec![0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00],
        ElementType::F64 => {
            [0.0, -0.0, 1.5, -1.5, f64::INFINITY, f64::NAN, 1.0 + f64::EPSILON].map(f64::to_bits).to_vec()
        }
        _ => vec![0, 1, 2, 3, all, all - 1, all >> 1, (all >> 1) + 1, all / 3],
    };
    let width = (bits as usize).div_ceil(8);
    let mut bytes = Vec::new();
    (0..count).for_each(|_| bytes.extend_from_slice(&patterns[rng.below(patterns.len())].to_le_bytes()[..width]));
    Literal::array(extents, Data::from_bytes(&bytes, ty))
}

/// A program that sorts operands of these types by a comparator that computes `r` of `a0`, `b0`, `a1`, ….
fn sort(types: &[ElementType], extents: &[i64], dimension: usize, comparator: &str) -> String {
    let extents = extents.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let mut text = "HloModule m\n\nbefore {\n".to_owned();
    for (number, ty) in types.iter().enumerate() {
        let (a, b) = (2 * number, 2 * number + 1);
        writeln!(text, "  a{number} = {ty}[] parameter({a})\n  b{number} = {ty}[] parameter({b})").unwrap();
    }
    write!(text, "  {comparator}\n}}\n\nENTRY e {{\n").unwrap();
    for (number, ty) in types.iter().enumerate() {
        writeln!(text, "  x{number} = {ty}[{extents}] parameter({number})").unwrap();
    }
    let shapes: Vec<String> = types.iter().map(|ty| format!("{ty}[{extents}]")).collect();
    let result = if let [one] = &shapes[..] { one.clone() } else { format!("({})", shapes.join(", ")) };
    let names: Vec<String> = (0..types.len()).map(|number| format!("x{number}")).collect();
    let names = names.join(", ");
    write!(text, "  ROOT r = {result} sort({names}), dimensions={{{dimension}}}, to_apply=before\n}}\n").unwrap();
    text
}

/// With both schedules where the first operand is of `f32`, else with one of them.
fn check_sort(rng: &mut Rng, types: &[ElementType], extents: &[i64], dimension: usize, comparator: &str) {
    let inputs: Vec<Literal> = types.iter().map(|ty| random(rng, *ty, extents)).collect();
    check(&sort(types, extents, dimension, comparator), &inputs, &schedules(rng, types[0]));
}

fn schedules(rng: &mut Rng, ty: ElementType) -> Vec<Schedule> {
    match ty {
        ElementType::F32 => Schedule::ALL.to_vec(),
        _ => vec![rng.choose(&Schedule::ALL).unwrap()],
    }
}

/// In order of `a0` and `b0`, of floats in total order.
fn by_first(ty: ElementType, direction: &str) -> String {
    let order = if ty.is_float() { ", type=TOTALORDER" } else { "" };
    format!("ROOT r = pred[] compare(a0, b0), direction={direction}{order}")
}

#[test]
fn short_rows_are_counted() {
    use ElementType::{F32, Pred, S8, U4};
    let mut rng = Rng::new(1);
    check_sort(&mut rng, &[F32, S8], &[3, 5], 1, &by_first(F32, "LT"));
    check_sort(&mut rng, &[U4, Pred], &[7, 3], 0, &by_first(U4, "GT"));
    let code = "m = s8[] maximum(a0, b0)\n  h = pred[] compare(m, a0), direction=EQ\n  n = pred[] compare(a0, b0), direction=NE\n  \
                ROOT r = pred[] and(h, n)";
    check_sort(&mut rng, &[S8], &[13], 0, code);
}

#[test]
fn long_rows_go_by_digits() {
    use ElementType::{Bf16, F16, F32, Pred, S64, U8, U16};
    let mut rng = Rng::new(2);
    check_sort(&mut rng, &[F32], &[2, 257], 1, &by_first(F32, "LT"));
    check_sort(&mut rng, &[F16, ElementType::S32], &[67, 2], 0, &by_first(F16, "GT"));
    check_sort(&mut rng, &[Bf16, U8, Pred], &[300], 0, &by_first(Bf16, "LT"));
    check_sort(&mut rng, &[S64, U16], &[80], 0, &by_first(S64, "LT"));
    check_sort(&mut rng, &[ElementType::F64], &[65], 0, &by_first(ElementType::F64, "LT"));
    let keys = "l = pred[] compare(a0, b0), direction=LT\n  e = pred[] compare(a0, b0), direction=EQ\n  \
                m = pred[] compare(a1, b1), direction=GT, type=TOTALORDER\n  b = pred[] and(e, m)\n  ROOT r = pred[] or(l, b)";
    check_sort(&mut rng, &[U8, F32], &[128], 0, keys);
}

#[test]
fn other_comparators_are_networks() {
    use ElementType::{F32, Pred, S32};
    let mut rng = Rng::new(3);
    let code = "s = s32[] constant(2)\n  x = s32[] shift-right-arithmetic(a0, s)\n  y = s32[] shift-right-arithmetic(b0, s)\n  \
                l = pred[] compare(x, y), direction=GE\n  ROOT r = pred[] not(l)";
    check_sort(&mut rng, &[S32, F32, Pred], &[2, 77], 1, code);
    check_sort(&mut rng, &[S32], &[64 + 1], 0, code);
}

#[test]
fn topk_is_found_in_rounds_or_sorted() {
    let mut rng = Rng::new(4);
    for (ty, length, k, largest) in [
        (ElementType::F32, 100, 5, true),
        (ElementType::F32, 20, 20, false),
        (ElementType::Bf16, 200, 70, true),
        (ElementType::S16, 90, 3, false),
    ] {
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  x = {ty}[3,{length}] parameter(0)\n  \
             ROOT r = ({ty}[3,{k}], s32[3,{k}]) topk(x), k={k}, largest={largest}\n}}\n"
        );
        let input = random(&mut rng, ty, &[3, length]);
        check(&text, &[input], &schedules(&mut rng, ty));
    }
}

/// As JAX prints `approx_max_k` and `approx_min_k` for TPUs, one of them without what it does next; and the call that it makes them of.
#[test]
fn approximate_topk_is_exact() {
    use ElementType::{Bf16, F32, U8};
    let mut rng = Rng::new(5);
    let call = |ty: ElementType, from: &str, places: &str, target: &str, config: &str, dimension: usize| {
        format!(
            "HloModule m\n\nbefore {{\n  a0 = {ty}[] parameter(0)\n  b0 = {ty}[] parameter(1)\n  a1 = s32[] parameter(2)\n  \
             b1 = s32[] parameter(3)\n  {}\n}}\n\nENTRY e {{\n  x = {ty}[{from}] parameter(0)\n  y = s32[{from}] iota(), \
             iota_dimension={dimension}\n  i = {ty}[] constant(0)\n  j = s32[] constant(-1)\n  \
             ROOT r = ({ty}[{places}], s32[{places}]) custom-call(x, y, i, j), custom_call_target=\"{target}\", \
             called_computations={{before}}, backend_config={{\"reduction_dim\": {dimension}, {config}}}\n}}\n",
            by_first(ty, if ty == F32 { "GT" } else { "LT" })
        )
    };
    let ordered = "\"top_k\": 3, \"aggregate_to_topk\": true, \"recall_target\": 0.95";
    let partial = "\"log2_reduction\": 3, \"to_apply_type\": \"comparator\", \"top_k\": 3";
    for (ty, extents, places, target, config, dimension) in [
        (F32, [3, 90], "3,3", "ApproxTopK", ordered, 1),
        (U8, [20, 2], "3,2", "ApproxTopK", ordered, 0),
        (F32, [3, 90], "3,16", "PartialReduce", partial, 1),
        (Bf16, [70, 5], "10,5", "PartialReduce", partial, 0),
    ] {
        let from = format!("{},{}", extents[0], extents[1]);
        let input = random(&mut rng, ty, &extents);
        check(&call(ty, &from, places, target, config, dimension), &[input], &schedules(&mut rng, ty));
    }
}

/// Comparators that fold arrays, and computations of elements that fold, sort, or scatter: twice a sum and a number, the second of three numbers, and one element of three replaced where there is such a place.
#[test]
fn what_holds_arrays_where_elements_are_computed_runs_on_the_device() {
    let folds = "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  p = s32[] parameter(2)
  q = s32[] parameter(3)
  z = f32[] constant(0)
  w = f32[4] constant({1, -2, 3, 4})
  va = f32[4] broadcast(a), dimensions={}
  vb = f32[4] broadcast(b), dimensions={}
  ua = f32[4] multiply(va, w)
  ub = f32[4] multiply(vb, w)
  ka = f32[] reduce(ua, z), dimensions={0}, to_apply=add
  kb = f32[] reduce(ub, z), dimensions={0}, to_apply=add
  ROOT c = pred[] compare(ka, kb), direction=GT
}
ENTRY e {
  x = f32[300] parameter(0)
  i = s32[300] iota(), iota_dimension=0
  ROOT s = (f32[300], s32[300]) sort(x, i), dimensions={0}, is_stable=true, to_apply=less
}";
    let sorts = "HloModule m\nlt { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
second {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  p = s32[1] reshape(a)
  q = s32[1] reshape(b)
  k = s32[1] constant({1})
  c = s32[3] concatenate(p, q, k), dimensions={0}
  s = s32[3] sort(c), dimensions={0}, to_apply=lt
  t = s32[1] slice(s), slice={[1:2]}
  ROOT r = s32[] reshape(t)
}
ENTRY e {
  o = s32[9] parameter(0)
  i = s32[40,1] parameter(1)
  u = s32[40] parameter(2)
  ROOT s = s32[9] scatter(o, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second
}";
    let scatters = "HloModule m\nset { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }
one {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  z = s32[3] broadcast(a), dimensions={}
  i = s32[1] reshape(b)
  s = s32[3] scatter(z, i, b), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=set
  t = s32[1] slice(s), slice={[1:2]}
  ROOT r = s32[] reshape(t)
}
ENTRY e {
  x = s32[5,20] parameter(0)
  z = s32[] constant(7)
  ROOT s = s32[5] reduce(x, z), dimensions={1}, to_apply=one
}";
    let reduces = "HloModule m\nadd { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
ge { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }
twice {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  z = s32[] constant(1)
  va = s32[2,2] broadcast(a), dimensions={}
  vb = s32[2,2] broadcast(b), dimensions={}
  w = s32[2,2] constant({{1, -2}, {3, -1}})
  ua = s32[2,2] multiply(va, w)
  v = s32[2,2] add(ua, vb)
  s = s32[] reduce(v, z), dimensions={0,1}, to_apply=add
  t = s32[] add(s, s)
  ROOT r = s32[] add(t, b)
}
ENTRY e {
  x = s32[5,20] parameter(0)
  z = s32[] constant(7)
  m = s32[5,20] map(x, x), dimensions={0,1}, to_apply=twice
  f = s32[5] reduce(x, z), dimensions={1}, to_apply=twice
  w = s32[5,7] reduce-window(x, z), window={size=1x3 stride=1x3 pad=0_0x0_1}, to_apply=twice
  s = s32[5,20] select-and-scatter(x, w, z), window={size=1x3 stride=1x3 pad=0_0x0_1}, select=ge, scatter=twice
  ROOT t = (s32[5,20], s32[5], s32[5,7], s32[5,20]) tuple(m, f, w, s)
}";
    let mut rng = Rng::new(8);
    let mut small = |extents: &[i64]| {
        Literal::array(extents, (0..extents.iter().product()).map(|_| rng.below(5) as i32 - 1).collect::<Vec<_>>())
    };
    let floats = Literal::array([300], (0..300).map(|at| ((at * 37) % 101) as f32 - 50.0).collect::<Vec<_>>());
    let all = [Schedule::Software, Schedule::Gpu];
    check(folds, &[floats], &all);
    check(sorts, &[small(&[9]), small(&[40, 1]), small(&[40])], &all);
    check(scatters, &[small(&[5, 20])], &all);
    check(reduces, &[small(&[5, 20])], &all);
}
