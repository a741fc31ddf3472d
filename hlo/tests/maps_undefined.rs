//! Dependences without an indexing map, and the reasons that are given for them.

use crate::maps_subgraph::{module, named};
use weft_affine::Expr;
use weft_hlo::indexing::{Analysis, CustomCallMaps, Dependence, Direction, ElementMap, Relation, Undefined, physical};
use weft_hlo::ir::{ArrayShape, ElementType, Op};
use weft_indexing::{Error, IndexingMap};

/// The identity from a value to itself has no bounds where an extent is not known.
#[test]
fn values_of_unknown_extents_are_undefined() {
    let module = module(
        "HloModule open
c {
  ROOT p = f32[?,4] parameter(0)
}
ENTRY e {
  p = f32[?,4] parameter(0)
  ROOT x = f32[?,4] call(p), to_apply=c
}",
    );
    let mut analysis = Analysis::new(&module);
    let root = module.entry_computation().root;
    for direction in [Direction::OutputToInput, Direction::InputToOutput] {
        let found = analysis.instruction(module.entry, root, direction);
        assert_eq!(found.dependences[0].relation.undefined(), Some(&Undefined::DynamicExtents));
    }
    let own = analysis.between(module.entry, root, root);
    assert_eq!(own.groups[0].relation.undefined(), Some(&Undefined::DynamicExtents));
}

/// An element of known extents has its map though others of the tuple have none.
#[test]
fn tuple_elements_of_known_extents_have_maps() {
    let module = module(
        "HloModule open
ENTRY e {
  p = (f32[?], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(p), index=1
  ROOT b = f32[?] get-tuple-element(p), index=0
}",
    );
    let mut analysis = Analysis::new(&module);
    for direction in [Direction::OutputToInput, Direction::InputToOutput] {
        let mut own = |name| analysis.instruction(module.entry, named(&module, name), direction).dependences.remove(0);
        assert_eq!(own("a").relation, Relation::from(IndexingMap::identity(&[4])));
        assert_eq!(own("b").relation.undefined(), Some(&Undefined::DynamicExtents));
    }
}

/// Of what nothing is known every array may depend on every other, also through several such steps.
#[test]
fn loops_have_undefined_dependences_between_all_arrays() {
    let module = module(
        "HloModule loops
step {
  ROOT s = (f32[2], f32[3]) parameter(0)
}
ends {
  s = (f32[2], f32[3]) parameter(0)
  ROOT c = pred[] constant(true)
}
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[3] parameter(1)
  t = (f32[2], f32[3]) tuple(a, b)
  x = (f32[2], f32[3]) while(t), condition=ends, body=step
  y = (f32[2], f32[3]) while(x), condition=ends, body=step
  ROOT r = f32[3] get-tuple-element(y), index=1
}",
    );
    for direction in [Direction::OutputToInput, Direction::InputToOutput] {
        let found = Analysis::new(&module).computation(module.entry, direction);
        let reasons: Vec<Option<&Undefined>> = found.dependences.iter().map(|own| own.relation.undefined()).collect();
        assert_eq!(reasons, [Some(&Undefined::Loop); 2], "{direction:?}");
    }
}

/// Of what nothing is known is undefined in both directions, or, where no element passes on either side of it, in none.
#[test]
fn dependences_without_elements_are_not_undefined() {
    let defined = "  z = f32[] constant(0)\n";
    let cases: [(&str, bool); 5] = [
        ("  c = f32[4] custom-call(p), custom_call_target=\"t\"\n  ROOT r = f32[4] negate(c)\n", true),
        ("  n = f32[0] slice(p), slice={[4:4]}\n  ROOT r = f32[4] custom-call(n), custom_call_target=\"t\"\n", false),
        ("  ROOT r = f32[0] custom-call(p), custom_call_target=\"t\"\n", false),
        (
            "  w = f32[6] pad(p, z), padding=2_0\n  s = f32[2] slice(w), slice={[0:2]}\n  \
             ROOT r = f32[4] custom-call(s), custom_call_target=\"t\"\n",
            false,
        ),
        (
            "  c = f32[4] custom-call(p), custom_call_target=\"t\"\n  w = f32[6] pad(c, z), padding=2_0\n  \
             s = f32[2] slice(w), slice={[0:2]}\n  ROOT r = f32[2] negate(s)\n",
            false,
        ),
    ];
    for (body, is_undefined) in cases {
        let text = format!("HloModule m\nENTRY e {{\n  p = f32[4] parameter(0)\n{defined}{body}}}");
        let module = module(&text);
        for direction in [Direction::OutputToInput, Direction::InputToOutput] {
            let found = Analysis::new(&module).computation(module.entry, direction);
            let reasons: Vec<Option<&Undefined>> =
                found.dependences.iter().map(|own| own.relation.undefined()).collect();
            let expected = Undefined::CustomCall("t".to_owned());
            let expected = if is_undefined { vec![Some(&expected)] } else { Vec::new() };
            assert_eq!(reasons, expected, "{direction:?}: {body}");
        }
    }
}

/// What is reached through more maps than the limit is undefined, and what is not stays known.
#[test]
fn too_many_maps_are_undefined() {
    let mut text = String::from("HloModule many\nENTRY e {\n  x0 = f32[1024] parameter(0)\n");
    for k in 0..10 {
        let (next, shift) = (k + 1, 1 << k);
        text += &format!(
            "  c{k} = f32[1024] slice(x{k}), slice={{[0:1024]}}\n  l{k} = f32[{shift}] slice(c{k}), slice={{[0:{shift}]}}\n  \
             r{k} = f32[{}] slice(c{k}), slice={{[{shift}:1024]}}\n  m{k} = f32[1024] concatenate(r{k}, l{k}), dimensions={{0}}\n  \
             x{next} = f32[1024] add(x{k}, m{k})\n",
            1024 - shift
        );
    }
    text += "  ROOT r = f32[1024] negate(x10)\n}";
    let module = module(&text);
    let root = module.entry_computation().root;
    let mut analysis = Analysis::new(&module);
    let far = analysis.between(module.entry, root, named(&module, "x0"));
    assert_eq!(far.groups[0].relation.undefined(), Some(&Undefined::TooManyMaps));
    let near = analysis.between(module.entry, root, named(&module, "x8"));
    assert!(near.groups[0].relation.undefined().is_none());
}

/// The map through a custom call of f32[4,4] whose user says this one of it, and whose value is negated.
fn given(map: IndexingMap) -> Undefined {
    let module = module(
        "HloModule custom
ENTRY e {
  p = f32[4,4] parameter(0)
  c = f32[4,4] custom-call(p), custom_call_target=\"mine\"
  ROOT n = f32[4,4] negate(c)
}",
    );
    let mut known = CustomCallMaps::default();
    known.insert("mine", move |_, _, _| {
        let relation = Relation::Maps(vec![ElementMap::exact(map.clone())]);
        vec![Dependence { result: Some(0), operand: Some(0), leaf: Some(0), relation }]
    });
    let found = Analysis::new(&module).with_custom_calls(&known).computation(module.entry, Direction::OutputToInput);
    found.dependences[0].relation.undefined().expect("the map does not fit").clone()
}

/// Whatever goes wrong with index arithmetic is the reason that is given, with a code of its own kind.
#[test]
fn reasons_name_what_fails() {
    let misfit = |reason: &Undefined, words: &str| {
        assert!(matches!(reason, Undefined::Misfit(_)), "{reason:?}");
        assert_eq!((reason.code(), reason.to_string().as_str()), ("HLO305", words));
    };
    let overflow = |reason: &Undefined, part: &'static str| {
        assert_eq!(reason, &Undefined::Overflow { what: part });
        assert_eq!(reason.code(), "HLO302");
        assert_eq!(reason.to_string(), format!("the index arithmetic of this shape exceeds 64 bits in {part}"));
    };
    // Maps that users give for custom calls: of another rank, undefined, too large.
    let flat: IndexingMap = "(d0) -> (d0, 0), domain: d0 in [0, 3]".parse().expect("a map");
    misfit(&given(flat), "a map does not fit: results of the first map: expected 1, found 2");
    misfit(&given(IndexingMap::undefined()), "a map does not fit: the map is undefined");
    let steep =
        IndexingMap::of_extents(&[4, 4], &[], vec![Expr::dim(0), Expr::dim(1).checked_mul(i64::MAX).expect("it fits")])
            .expect("the results are over these variables");
    let shifted = IndexingMap::of_extents(&[4, 4], &[], vec![Expr::dim(0), Expr::constant(2)]).expect("d0 is there");
    assert_eq!(Undefined::from(shifted.then(&steep).expect_err("twice the largest number")), {
        Undefined::Overflow { what: "a coefficient" }
    });

    // Positions in memory: of another rank, undefined, uncountable.
    let array = |extents: &[i64]| ArrayShape::new(ElementType::F32, extents);
    let identity = IndexingMap::identity(&[4, 4]);
    let reason = physical(&identity, &array(&[4, 4]), &array(&[4])).expect_err("of one dimension");
    assert!(reason.to_string().starts_with("a map does not fit: results of the first map: "), "{reason}");
    let reason = physical(&IndexingMap::undefined(), &array(&[4]), &array(&[4])).expect_err("nothing is known");
    misfit(&reason, "a map does not fit: the map is undefined");
    let reason = physical(&identity, &array(&[i64::MAX, 4]), &array(&[4, 4])).expect_err("of more than 64 bits");
    overflow(&reason, "the number of elements of a shape");

    // Attributes and shapes of modules that nobody verified.
    let root = |text: &str, change: &dyn Fn(&mut Op), direction| {
        let mut module = module(&format!("HloModule m\nENTRY e {{\n{text}\n}}"));
        let entry = module.entry;
        let id = module.entry_computation().root;
        change(&mut module.computations[entry].instructions[id].op);
        let found = Analysis::new(&module).instruction(entry, id, direction);
        found.dependences[0].relation.undefined().expect("it has no map").clone()
    };
    let nothing = |_: &mut Op| {};
    let slice = "  p = f32[9] parameter(0)\n  ROOT s = f32[3] slice(p), slice={[0:9:3]}";
    let still = |op: &mut Op| {
        if let Op::Slice { dimensions } = op {
            dimensions[0].stride = 0;
        }
    };
    misfit(&root(slice, &still, Direction::InputToOutput), "a map does not fit: division by zero");
    let reshape = "  p = f32[9] parameter(0)\n  ROOT r = f32[2,3] reshape(p)";
    let words = "a map does not fit: elements of a reshape: expected 9, found 6";
    misfit(&root(reshape, &nothing, Direction::OutputToInput), words);
    let pad = "  p = f32[1] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[1] pad(p, z), padding=0_0_9223372036854775807";
    overflow(&root(pad, &nothing, Direction::OutputToInput), "the padding");
}

/// Errors of the algebra come as what they are.
#[test]
fn errors_of_the_algebra_keep_their_kind() {
    let misfits = [
        weft_affine::Error::ZeroDivisor,
        weft_affine::Error::BadModulus { modulus: -3 },
        weft_affine::Error::Unbound { variable: "d3".to_owned() },
    ];
    for error in misfits {
        let reason = Undefined::from(error.clone());
        assert_eq!(reason, Undefined::Misfit(error.clone().into()));
        assert!(
            reason.to_string().ends_with(&error.to_string()) && !reason.to_string().contains("64 bits"),
            "{reason}"
        );
    }
    for error in [Error::Undefined, Error::RuntimeVariables, Error::Arity { what: "results", expected: 1, found: 2 }] {
        assert_eq!(Undefined::from(error.clone()), Undefined::Misfit(error));
    }
    let overflow = weft_affine::Error::Overflow { what: "a sum" };
    assert_eq!(Undefined::from(Error::from(overflow)), Undefined::Overflow { what: "a sum" });
}
