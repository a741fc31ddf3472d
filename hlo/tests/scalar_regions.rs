//! Arrays in computations of elements, written out as scalars.

use crate::count::cases;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Module, Op, Opcode};
use weft_hlo::passes::{Pass, ScalarRegions, expand_scalar_regions};
use weft_hlo::random::{Numbers, Options, inputs, instance};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

/// What stands before the region of each program.
const BEFORE: &str = "HloModule m
lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
second { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
by_second {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  p = s32[] parameter(2)
  q = s32[] parameter(3)
  ROOT c = pred[] compare(p, q), direction=GT
}
scaled { a = f32[3] parameter(0) k = f32[3] constant({1, 10, 100}) ROOT c = f32[3] multiply(a, k) }
folded {
  a = f32[] parameter(0)
  p = f32[3] broadcast(a), dimensions={}
  q = f32[3] call(p), to_apply=scaled
  z = f32[] constant(1)
  ROOT r = f32[] reduce(q, z), dimensions={0}, to_apply=add
}
greatest {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GE
  v = f32[] select(g, a, b)
  w = s32[] select(g, i, j)
  ROOT r = (f32[], s32[]) tuple(v, w)
}
";

/// A program that folds rows of `f32` by a region, of which this is what it computes of `a` and `b`.
fn folding(region: &str) -> String {
    format!(
        "{BEFORE}region {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n{region}}}\n\
         ENTRY e {{\n  x = f32[5,7] parameter(0)\n  z = f32[] constant(0.25)\n  ROOT r = f32[5] reduce(x, z), dimensions={{1}}, to_apply=region\n}}\n"
    )
}

/// Regions that fold, sort or scatter, and the operations that they are made of besides.
const REGIONS: [&str; 11] = [
    // Two sums, of which one is a part of the other's elements.
    "  z = f32[2,3] broadcast(a), dimensions={}\n  w = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})\n  y = f32[2,3] multiply(z, w)
  n = f32[] constant(0)\n  s = f32[] reduce(y, n), dimensions={0,1}, to_apply=add\n  t = f32[2,3] broadcast(s), dimensions={}\n  u = f32[2,3] subtract(t, y)
  v = f32[2] reduce(u, b), dimensions={1}, to_apply=add\n  o = f32[1] slice(v), slice={[1:2]}\n  ROOT r = f32[] reshape(o)\n",
    // The second of three numbers.
    "  p = f32[1] reshape(a)\n  q = f32[1] reshape(b)\n  k = f32[1] constant({0.5})\n  c = f32[3] concatenate(p, q, k), dimensions={0}
  s = f32[3] sort(c), dimensions={0}, to_apply=lt\n  t = f32[1] slice(s), slice={[1:2]}\n  ROOT r = f32[] reshape(t)\n",
    // Several operands, along rows of an array, by the second; elements chosen by what comes out.
    "  p = f32[2,3] broadcast(a), dimensions={}\n  w = f32[2,3] constant({{1, 2, 3}, {3, 1, 2}})\n  q = f32[2,3] multiply(p, w)
  i = s32[2,3] iota(), iota_dimension=1\n  s = (f32[2,3], s32[2,3]) sort(q, i), dimensions={1}, is_stable=true, to_apply=by_second
  v = f32[2,3] get-tuple-element(s), index=0\n  t = f32[3,2] transpose(v), dimensions={1,0}\n  u = f32[3,2] reverse(t), dimensions={0}
  o = f32[1,1] slice(u), slice={[1:2], [0:1]}\n  k = f32[] reshape(o)\n  ROOT r = f32[] subtract(k, b)\n",
    // One element is replaced, where there is such a place.
    "  z = f32[3] broadcast(a), dimensions={}\n  i = s32[] convert(b)\n  j = s32[1] reshape(i)
  s = f32[3] scatter(z, j, b), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=second
  n = f32[] constant(0)\n  ROOT r = f32[] reduce(s, n), dimensions={0}, to_apply=add\n",
    // Windows of two by one that overlap, two of which may be out of bounds, numbered by a batch behind their own dimension.
    "  z = f32[3,2] broadcast(a), dimensions={}\n  i = s32[] convert(b)\n  j = s32[3,2] broadcast(i), dimensions={}
  k = s32[3,2] constant({{0, 0}, {1, 1}, {-1, 0}})\n  l = s32[3,2] add(j, k)\n  y = f32[2,3] broadcast(b), dimensions={}\n  w = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})\n  u = f32[2,3] multiply(y, w)
  s = f32[3,2] scatter(z, l, u), update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=second
  c = f32[3] constant({1, 10, 100})\n  d = f32[3,2] broadcast(c), dimensions={0}\n  m = f32[3,2] multiply(s, d)\n  n = f32[] constant(0)\n  ROOT r = f32[] reduce(m, n), dimensions={0,1}, to_apply=add\n",
    // Padding on both sides and within, and windows that start where values say.
    "  z = f32[3] constant({3, 1, 2})\n  s = f32[3] sort(z), dimensions={0}, to_apply=lt\n  p = f32[8] pad(s, a), padding=1_2_1
  i = s32[] convert(b)\n  w = f32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}\n  u = f32[8] dynamic-update-slice(p, w, i)
  n = f32[] constant(0)\n  ROOT r = f32[] reduce(u, n), dimensions={0}, to_apply=add\n",
    // Gathered, called, mapped and folded with places.
    "  z = f32[3] broadcast(a), dimensions={}\n  c = f32[3] call(z), to_apply=scaled\n  s = f32[3] sort(c), dimensions={0}, to_apply=lt
  i = s32[] convert(b)\n  j = s32[2] broadcast(i), dimensions={}\n  k = s32[2] constant({0, 1})\n  l = s32[2] add(j, k)
  g = f32[2] gather(s, l), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
  h = f32[2] map(g, g), dimensions={0}, to_apply=add\n  o = s32[2] iota(), iota_dimension=0\n  f = f32[] constant(-inf)\n  y = s32[] constant(7)
  m = (f32[], s32[]) reduce(h, o, f, y), dimensions={0}, to_apply=greatest\n  v = f32[] get-tuple-element(m), index=0\n  w = s32[] get-tuple-element(m), index=1
  x = f32[] convert(w)\n  ROOT r = f32[] add(v, x)\n",
    // Nothing to sort, and nothing to scatter.
    "  z = f32[0] constant({})\n  s = f32[0] sort(z), dimensions={0}, to_apply=lt\n  n = f32[] constant(2)
  t = f32[] reduce(s, n), dimensions={0}, to_apply=add\n  u = f32[] add(a, t)\n  ROOT r = f32[] add(u, b)\n",
    // Bits, and a bitcast of one array as another.
    "  c = u32[] bitcast-convert(a)\n  d = u32[2,2] broadcast(c), dimensions={}\n  e = u32[2,2] iota(), iota_dimension=1\n  f = u32[2,2] xor(d, e)
  g = u32[4] reshape(f)\n  h = f32[4] bitcast-convert(g)\n  s = f32[4] sort(h), dimensions={0}, to_apply=lt\n  t = f32[1] slice(s), slice={[3:4]}
  u = f32[] reshape(t)\n  ROOT r = f32[] add(u, b)\n",
    // A byte counts places, and does not have all of them.
    "  z = f32[300] broadcast(a), dimensions={}\n  i = u8[] convert(b)\n  j = u8[1] reshape(i)
  s = f32[300] scatter(z, j, b), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add
  k = s8[] convert(a)\n  w = f32[1] dynamic-slice(s, k), dynamic_slice_sizes={1}\n  ROOT r = f32[] reshape(w)\n",
    // Nothing beside something large, and padding that is too far apart to be counted.
    "  z = f32[0,4294967296,4294967296] constant({})\n  n = f32[] constant(3)\n  t = f32[] reduce(z, n), dimensions={0,1,2}, to_apply=add
  o = f32[1] reshape(a)\n  p = f32[2] pad(o, t), padding=1_0_9223372036854775807\n  s = f32[2] sort(p), dimensions={0}, to_apply=lt
  u = f32[1] slice(s), slice={[0:1]}\n  v = f32[] reshape(u)\n  ROOT r = f32[] add(v, b)\n",
];

fn check(module: &Module, arguments: &[Literal]) -> Module {
    verify(module).unwrap_or_else(|findings| panic!("{findings}"));
    let after = ScalarRegions.run(module).unwrap().module;
    verify(&after).unwrap_or_else(|findings| panic!("{findings}\n{}", print(&after)));
    let (expected, found) = (evaluate(module, arguments).unwrap(), evaluate(&after, arguments).unwrap());
    assert!(found == expected, "{}\n{found:?}\n{expected:?}", print(&after));
    assert!(ScalarRegions.run(&after).unwrap().changes.is_empty(), "{}", print(&after));
    after
}

/// Whether no computation but the entry holds an array.
fn has_scalars_alone(module: &Module) -> bool {
    let others = module.computations.iter().filter(|(id, _)| *id != module.entry);
    let mut shapes =
        others.flat_map(|(_, computation)| computation.instructions.values()).flat_map(|it| it.shape.leaves());
    shapes.all(|leaf| leaf.as_array().is_some_and(|array| array.rank() == 0))
}

#[test]
fn regions_of_arrays_are_code_of_scalars() {
    for region in REGIONS {
        let module = parse(&folding(region)).unwrap_or_else(|error| panic!("{error}\n{region}"));
        for seed in 0..20 {
            // NaN has no place among numbers that `lt` compares.
            let numbers = if seed % 2 == 0 { Numbers::Small } else { Numbers::Tame };
            let arguments = inputs(&module, seed, &Options { numbers, ..Options::default() });
            let after = check(&module, &arguments);
            assert!(has_scalars_alone(&after), "{}", print(&after));
        }
    }
}

/// Comparators that fold, and that look up what they compare.
#[test]
fn comparators_of_arrays_are_code_of_scalars() {
    for key in [
        "  k{n} = f32[] call({x}), to_apply=folded\n",
        "  p{n} = f32[4] broadcast({x}), dimensions={}\n  q{n} = f32[4] constant({1, -2, 3, 4})\n  u{n} = f32[4] multiply(p{n}, q{n})\n  k{n} = f32[] reduce(u{n}, z), dimensions={0}, to_apply=add\n",
        "  i{n} = s32[] convert({x})\n  q{n} = f32[4] constant({1, -2, 3, 4})\n  w{n} = f32[1] dynamic-slice(q{n}, i{n}), dynamic_slice_sizes={1}\n  k{n} = f32[] reshape(w{n})\n",
    ] {
        let keys = ["a", "b"].map(|x| key.replace("{n}", &format!("_{x}")).replace("{x}", x)).concat();
        let text = format!(
            "{BEFORE}region {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  p = s32[] parameter(2)\n  q = s32[] parameter(3)\n  z = f32[] constant(0)\n{keys}  ROOT c = pred[] compare(k_a, k_b), direction=LT\n}}\n\
             ENTRY e {{\n  x = f32[40] parameter(0)\n  i = s32[40] iota(), iota_dimension=0\n  ROOT s = (f32[40], s32[40]) sort(x, i), dimensions={{0}}, is_stable=true, to_apply=region\n}}\n"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for seed in 0..10 {
            let after = check(&module, &inputs(&module, seed, &Options::default()));
            assert!(has_scalars_alone(&after), "{}", print(&after));
        }
    }
}

/// Random regions, those that have such a form.
#[test]
fn random_regions_are_the_same_bits() {
    let options = Options { elements: 40, ..Options::default() };
    let mut made = 0;
    for opcode in [Opcode::Map, Opcode::Reduce, Opcode::Scatter, Opcode::Scan] {
        for seed in 0..cases(2000) {
            let Some(module) = instance(seed, opcode, &options) else { continue };
            if !ScalarRegions.run(&module).unwrap().changes.is_empty() {
                check(&module, &inputs(&module, seed, &options));
                made += 1;
            }
        }
    }
    assert!(made > 20, "{made}");
}

#[test]
fn what_is_long_or_loops_stays() {
    let many = "  z = f32[600] broadcast(a), dimensions={}\n  s = f32[600] sort(z), dimensions={0}, to_apply=lt\n  t = f32[1] slice(s), slice={[1:2]}\n  ROOT r = f32[] reshape(t)\n";
    let dot = "  z = f32[2] broadcast(a), dimensions={}\n  s = f32[2] sort(z), dimensions={0}, to_apply=lt\n  ROOT r = f32[] dot(s, s), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n";
    let nothing = "  ROOT r = f32[] add(a, b)\n";
    // As many applications as there are paths, each of which writes nothing.
    let paths: Vec<String> = (1..40).map(|at| format!("step{at} {{ a = f32[] parameter(0)  b = f32[] call(a), to_apply=step{}  ROOT c = f32[] call(b), to_apply=step{} }}\n", at - 1, at - 1)).collect();
    let region = "  z = f32[2] broadcast(a), dimensions={}\n  s = f32[2] sort(z), dimensions={0}, to_apply=lt\n  t = f32[1] slice(s), slice={[1:2]}\n  u = f32[] reshape(t)\n  ROOT r = f32[] call(u), to_apply=step39\n";
    let text = folding(region).replacen(
        "greatest {",
        &format!("step0 {{ ROOT a = f32[] parameter(0) }}\n{}greatest {{", paths.concat()),
        1,
    );
    assert!(ScalarRegions.run(&parse(&text).unwrap()).unwrap().changes.is_empty());
    for region in [many, dot, nothing] {
        let module = parse(&folding(region)).unwrap_or_else(|error| panic!("{error}\n{region}"));
        assert!(ScalarRegions.run(&module).unwrap().changes.is_empty(), "{region}");
    }
    // What is not meant stays, but for comparators.
    let module = parse(&folding(REGIONS[0])).unwrap();
    assert!(expand_scalar_regions(&module, &|_| false).changes.is_empty());
    assert_eq!(expand_scalar_regions(&module, &|id| module.computations[id].name == "region").changes.len(), 1);
    // A sort of whole arrays is none of elements.
    let whole = parse(&format!(
        "{BEFORE}ENTRY e {{\n  x = f32[9] parameter(0)\n  ROOT s = f32[9] sort(x), dimensions={{0}}, to_apply=lt\n}}\n"
    ))
    .unwrap();
    assert!(whole.entry_computation().instructions.values().any(|it| matches!(it.op, Op::Sort { .. })));
    assert!(ScalarRegions.run(&whole).unwrap().changes.is_empty());
}
