//! Specialization of modules with unknown extents.
//!
//! The oracle for real programs is what they were: every extent of a static program is opened, and giving its parameters
//! their shapes must bring all of it back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{Module, Op, Shape};
use weft_hlo::passes::specialize;
use weft_hlo::shape::standard_library;
use weft_hlo::text::{PrintOptions, parse, print_with};

fn given(shapes: &[(&str, &str)]) -> BTreeMap<String, Shape> {
    let shape = |text: &str| {
        let text = format!("HloModule m\nENTRY e {{\n  ROOT x = {text} parameter(0)\n}}\n");
        parse(&text).unwrap().entry_computation().result_shape().clone()
    };
    shapes.iter().map(|(name, text)| ((*name).to_owned(), shape(text))).collect()
}

/// The specialized module in the short form, or the findings.
fn specialized(text: &str, shapes: &[(&str, &str)]) -> String {
    let module = parse(text).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    match specialize(&module, &given(shapes), standard_library()) {
        Ok(module) => print_with(&module, &PrintOptions::short()),
        Err(findings) => findings.locate(text).to_string(),
    }
}

const MODEL: &str = "HloModule m, entry_computation_layout={(f32[<=64,3]{1,0}, f32[3,4]{1,0})->f32[<=256]{0}}

r {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}

ENTRY e {
  x = f32[<=64,3]{1,0} parameter(0)
  w = f32[3,4]{1,0} parameter(1)
  d = f32[<=64,4]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  zs = f32[<=64,4]{1,0} broadcast(z), dimensions={}
  m = f32[<=64,4]{1,0} maximum(d, zs)
  t = f32[<=64]{0} reduce(m, z), dimensions={1}, to_apply=r
  ts = f32[<=64,4]{1,0} broadcast(t), dimensions={0}
  s = f32[<=64,4]{1,0} subtract(m, ts)
  ROOT f = f32[<=256]{0} reshape(s)
}

";

#[test]
fn a_batch_size_reaches_every_value() {
    let expected = MODEL.replace("<=64", "5").replace("<=256", "20");
    assert_eq!(specialized(MODEL, &[("x", "f32[5,3]")]), expected);
}

#[test]
fn contradictory_extents_are_refused() {
    for (shapes, expected) in [
        (&[("y", "f32[5,3]")][..], "9:7: HLO320: e: the entry computation has no parameter y"),
        (&[("x", "f32[5,4]")], "10:3: HLO320: e/x: parameter x has the shape f32[<=64,3]{1,0} and cannot be f32[5,4]"),
        (
            &[("x", "f32[65,3]")],
            "10:3: HLO320: e/x: parameter x has the shape f32[<=64,3]{1,0} and cannot be f32[65,3]",
        ),
        (&[("x", "s32[5,3]")], "10:3: HLO320: e/x: parameter x has the shape f32[<=64,3]{1,0} and cannot be s32[5,3]"),
        (
            &[],
            "10:3: HLO321: e/x: the extent of dimension 0 of f32[<=64,3] does not follow from the shapes that are given\n\
             14:3: HLO321: e/zs: the extent of dimension 0 of f32[<=64,4] does not follow from the shapes that are given",
        ),
    ] {
        assert_eq!(specialized(MODEL, shapes), expected);
    }
    // The reshape then needs more elements than its bound allows.
    let tight = MODEL.replace("<=256", "<=100");
    assert_eq!(
        specialized(&tight, &[("x", "f32[30,3]")]),
        "19:3: HLO322: e/f: an extent is 120, and may be from 0 to 100"
    );
}

#[test]
fn computations_are_copied_for_each_of_their_shapes() {
    let text = "HloModule m

f {
  p = f32[<=9]{0} parameter(0)
  ROOT n = f32[<=9]{0} negate(p)
}

c {
  p = (s32[], f32[<=9]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] constant(3)
  ROOT l = pred[] compare(i, k), direction=LT
}

b {
  p = (s32[], f32[<=9]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[<=9]{0} get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[<=9]{0} fusion(x), kind=kLoop, calls=f
  ROOT t = (s32[], f32[<=9]{0}) tuple(j, y)
}

ENTRY e {
  x = f32[<=9]{0} parameter(0)
  y = f32[<=9]{0} parameter(1)
  u = f32[<=9]{0} call(x), to_apply=f
  v = f32[<=9]{0} call(y), to_apply=f
  o = s32[] constant(0)
  t = (s32[], f32[<=9]{0}) tuple(o, u)
  w = (s32[], f32[<=9]{0}) while(t), condition=c, body=b
  r = f32[<=9]{0} get-tuple-element(w), index=1
  ROOT q = f32[<=9]{0} concatenate(r, v), dimensions={0}
}
";
    let found = specialized(text, &[("x", "f32[2]"), ("y", "f32[4]")]);
    assert!(!found.contains("<="), "{found}");
    for line in [
        "  ROOT n = f32[2]{0} negate(p)",
        "  ROOT n = f32[4]{0} negate(p)",
        "  w = (s32[], f32[2]{0}) while(t), condition=c, body=b",
        "  ROOT q = f32[6]{0} concatenate(r, v), dimensions={0}",
    ] {
        assert_eq!(found.lines().filter(|found| *found == line).count(), 1, "{line}\n{found}");
    }
    // The loop's body and the first call share a copy.
    assert_eq!(found.lines().filter(|line| line.starts_with("f")).count(), 2, "{found}");
}

/// Whether the result's extents follow from the operands' alone.
fn follows(op: &Op) -> bool {
    !matches!(op, Op::Constant(_) | Op::Iota { .. } | Op::Broadcast { .. } | Op::Reshape | Op::Bitcast)
        && !matches!(op, Op::CustomCall { .. } | Op::Rng { .. } | Op::RngBitGenerator { .. })
        && !matches!(op, Op::Call { .. } | Op::Fusion { .. })
}

/// The module with the extents of the values chosen only bounded.
fn opened(module: &Module, chosen: fn(&Op) -> bool) -> Module {
    let mut module = module.clone();
    for computation in module.computations.values_mut() {
        for instruction in computation.instructions.values_mut().filter(|instruction| chosen(&instruction.op)) {
            open(&mut instruction.shape);
        }
    }
    module
}

fn open(shape: &mut Shape) {
    match shape {
        Shape::Array(array) => {
            array.dynamic = (0..array.rank()).collect();
            array.extents.iter_mut().for_each(|extent| *extent = extent.saturating_mul(2).max(1));
        }
        Shape::Tuple(elements) => elements.iter_mut().for_each(open),
        _ => {}
    }
}

/// The opened program, given the shapes of its parameters.
fn reopened(module: &Module, chosen: fn(&Op) -> bool) -> Result<Module, Diagnostics> {
    let entry = module.entry_computation();
    let parameters = entry.parameters().into_iter().map(|id| &entry.instructions[id]);
    let given = parameters.map(|parameter| (parameter.name.clone(), parameter.shape.clone())).collect();
    specialize(&opened(module, chosen), &given, standard_library())
}

fn assert_same_shapes(found: &Module, original: &Module, name: &str) {
    for computation in found.computations.values() {
        let original = original.computations.values().find(|original| original.name == computation.name).unwrap();
        assert_eq!(computation.instructions.len(), original.instructions.len(), "{name}");
        for (found, original) in computation.instructions.values().zip(original.instructions.values()) {
            assert_eq!(found.shape, original.shape, "{name}: {}", found.name);
        }
    }
}

/// The texts of the corpus.
fn programs() -> Vec<(String, String)> {
    let mut programs = Vec::new();
    for program in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")).unwrap() {
        for file in fs::read_dir(program.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "hlo") {
                programs.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    programs.sort();
    programs
}

#[test]
fn programs_are_recovered_from_their_parameter_shapes() {
    for (name, text) in programs() {
        let module = parse(&text).unwrap();
        let found = reopened(&module, follows).unwrap_or_else(|findings| panic!("{name}:\n{findings}"));
        assert_same_shapes(&found, &module, &name);
    }
}

#[test]
fn extents_that_nothing_determines_are_reported() {
    let (mut back, mut open) = (0, 0);
    for (name, text) in programs() {
        let module = parse(&text).unwrap();
        match reopened(&module, |op| !matches!(op, Op::Constant(_))) {
            Ok(found) => {
                assert_same_shapes(&found, &module, &name);
                back += 1;
            }
            Err(findings) => {
                for finding in &findings.0 {
                    assert_eq!(finding.code, "HLO321", "{name}: {finding}");
                    let (computation, instruction) = finding.instruction.split_once('/').unwrap();
                    let computation = module.computations.values().find(|it| it.name == computation).unwrap();
                    let instruction = computation.instructions.values().find(|it| it.name == instruction).unwrap();
                    let handed = matches!(instruction.op, Op::Parameter { .. } | Op::Call { .. } | Op::Fusion { .. });
                    assert!(handed || !follows(&instruction.op), "{name}: {finding}");
                }
                open += 1;
            }
        }
    }
    println!("{back} programs came back, {open} have extents that nothing asks for");
    assert!(back >= 40, "only {back} programs came back");
}

#[test]
fn maps_are_of_static_shapes() {
    let module = parse("HloModule m\nENTRY e {\n  x = f32[?] parameter(0)\n  ROOT y = f32[?] negate(x)\n}\n").unwrap();
    let maps = |module: &Module| {
        let entry = module.entry_computation();
        operand_map(entry, entry.root, 0).map(|map| map.to_string())
    };
    assert_eq!(maps(&module).unwrap_err().0[0].code, "HLO304");
    let module = specialize(&module, &given(&[("x", "f32[7]")]), standard_library()).unwrap();
    assert_eq!(maps(&module).unwrap(), "(d0) -> (d0), domain: d0 in [0, 6]");
}
