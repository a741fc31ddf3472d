//! Maps through parts of a computation: producers and consumers, epilogues, several roots, calls, any two instructions.

use weft_affine::Expr;
use weft_hlo::indexing::{
    Analysis, CustomCallMaps, Dependence, Direction, Domains, ElementMap, Group, Relation, Undefined, physical,
};
use weft_hlo::ir::{ArrayShape, ElementType, InstrId, Module, Op};
use weft_hlo::text::parse;
use weft_indexing::{Error, IndexingMap};

fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

fn named(module: &Module, name: &str) -> InstrId {
    let mut all = module.entry_computation().instructions.iter();
    all.find(|(_, instruction)| instruction.name == name).map(|(id, _)| id).expect(name)
}

fn texts(group: &Group) -> Vec<String> {
    group.relation.maps().iter().map(|map| map.map.to_string()).collect()
}

/// A hero with an epilogue of two outputs.
const EPILOGUE: &str = "HloModule epilogue
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  p = f32[4,6,8] parameter(0)
  zero = f32[] constant(0)
  halves = f32[4,6,8] multiply(p, p)
  hero = f32[4,6] reduce(halves, zero), dimensions={2}, to_apply=sum
  turned = f32[6,4] transpose(hero), dimensions={1,0}
  flat = f32[24] reshape(turned)
  cut = f32[4,3] slice(hero), slice={[0:4], [0:6:2]}
  ROOT both = (f32[24], f32[4,3]) tuple(flat, cut)
}";

#[test]
fn an_epilogue_leads_from_the_hero_to_each_root() {
    let module = module(EPILOGUE);
    let (hero, both) = (named(&module, "hero"), named(&module, "both"));
    let found = Analysis::new(&module).between(module.entry, hero, both);
    let maps: Vec<(usize, Vec<String>)> = found.groups.iter().map(|group| (group.to.leaf, texts(group))).collect();
    let first = "(d0, d1) -> (d0 + d1 * 4), domain: d0 in [0, 3], d1 in [0, 5]".to_owned();
    let second = "(d0, d1) -> (d0, d1 floordiv 2), domain: d0 in [0, 3], d1 in [0, 4], d1 mod 2 in [0, 0]".to_owned();
    assert_eq!(maps, [(0, vec![first]), (1, vec![second])]);
}

#[test]
fn several_roots_have_their_own_maps() {
    let module = module(EPILOGUE);
    let roots = ["flat", "cut"].map(|name| named(&module, name));
    let found = Analysis::new(&module).subgraph(module.entry, &roots, Direction::OutputToInput, |_| true);
    let p = named(&module, "p");
    let maps: Vec<Vec<String>> = found.to(p).map(texts).collect();
    assert_eq!(
        maps,
        [
            ["(d0)[s0] -> (d0 mod 4, d0 floordiv 4, s0), domain: d0 in [0, 23], s0 in [0, 7]"],
            ["(d0, d1)[s0] -> (d0, d1 * 2, s0), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 7]"],
        ]
    );
}

#[test]
fn a_producer_and_its_consumer_end_at_their_operands() {
    let module = module(EPILOGUE);
    let pair = ["halves", "hero"].map(|name| named(&module, name));
    let found =
        Analysis::new(&module).subgraph(module.entry, &pair[1..], Direction::OutputToInput, |id| pair.contains(&id));
    let reached: Vec<&str> = found
        .groups
        .iter()
        .map(|group| module.entry_computation().instructions[group.to.instruction].name.as_str())
        .collect();
    assert_eq!(reached, ["hero", "halves", "zero", "p"]);
    let only = Analysis::new(&module)
        .subgraph(module.entry, &pair[1..], Direction::OutputToInput, |id| id == pair[1])
        .to(named(&module, "p"))
        .count();
    assert_eq!(only, 0, "what lies outside is not passed through");
}

#[test]
fn nothing_leads_between_values_that_do_not_meet() {
    let module = module(EPILOGUE);
    let mut analysis = Analysis::new(&module);
    let (flat, cut) = (named(&module, "flat"), named(&module, "cut"));
    assert!(analysis.between(module.entry, flat, cut).groups.is_empty());
    assert!(analysis.between(module.entry, cut, flat).groups.is_empty());
    assert_eq!(texts(&analysis.between(module.entry, cut, cut).groups[0]).len(), 1);
}

#[test]
fn starts_keep_their_instruction_through_calls_and_slices_of_slices() {
    let module = module(
        "HloModule starts
inner {
  a = f32[10] parameter(0)
  at = s32[] parameter(1)
  own = s32[] negate(at)
  first = f32[6] dynamic-slice(a, at), dynamic_slice_sizes={6}
  ROOT second = f32[2] dynamic-slice(first, own), dynamic_slice_sizes={2}
}
ENTRY e {
  p = f32[10] parameter(0)
  q = s32[] parameter(1)
  r = s32[] add(q, q)
  x = f32[2] call(p, r), to_apply=inner
  y = f32[2] call(p, q), to_apply=inner
  z = f32[2] call(p, r), to_apply=inner
  xy = f32[2] add(x, y)
  ROOT xyz = f32[2] add(xy, z)
}",
    );
    let mut analysis = Analysis::new(&module);
    let (root, p) = (named(&module, "xyz"), named(&module, "p"));
    let found = analysis.between(module.entry, root, p);
    let maps = found.groups[0].relation.maps();
    // The value that is computed within is another in each call, even of equal operands.
    assert_eq!(maps.len(), 3);
    let entry = module.entry_computation();
    let owners: Vec<Vec<Vec<&str>>> = maps
        .iter()
        .map(|map| {
            let path = |owner| {
                let mut path = found.owners.path(owner).expect("owners are known").into_iter();
                let first = &entry.instructions[path.next().expect("a path has an end")];
                let within = match first.op {
                    Op::Call { to_apply } => Some(&module.computations[to_apply]),
                    _ => None,
                };
                let rest = path.map(|id| within.expect("calls hold it").instructions[id].name.as_str());
                std::iter::once(first.name.as_str()).chain(rest).collect()
            };
            map.map.runtime().iter().map(|variable| path(variable.owner().expect("all have owners"))).collect()
        })
        .collect();
    for (call, start) in [("x", "r"), ("y", "q"), ("z", "r")] {
        let mut expected = vec![vec![call, "own"], vec![start]];
        let is_it = |owners: &Vec<Vec<&str>>| {
            let mut owners = owners.clone();
            owners.sort_by_key(|path| std::cmp::Reverse(path.len()));
            owners == expected
        };
        assert!(owners.iter().any(is_it), "{call}: {owners:?}");
        expected.clear();
    }
    for map in maps {
        assert_eq!(map.map.results().len(), 1);
        assert_eq!(map.map.runtime().len(), 2, "{}", map.map);
    }
}

#[test]
fn updates_are_left_out_of_their_source() {
    let module = module(
        "HloModule update
ENTRY e {
  p = f32[8] parameter(0)
  u = f32[3] parameter(1)
  at = s32[] parameter(2)
  n = f32[8] negate(p)
  ROOT d = f32[8] dynamic-update-slice(n, u, at)
}",
    );
    let p = named(&module, "p");
    let root = module.entry_computation().root;
    let maps = |domains| {
        let found = Analysis::new(&module).with_domains(domains).between(module.entry, root, p);
        texts(&found.groups[0])
    };
    assert_eq!(maps(Domains::Documented), ["(d0) -> (d0), domain: d0 in [0, 7]"]);
    assert_eq!(
        maps(Domains::Exact),
        [
            "(d0){rt0} -> (d0), domain: d0 in [0, 4], rt0 in [0, 5], d0 - rt0 in [-5, -1]",
            "(d0){rt0} -> (d0), domain: d0 in [3, 7], rt0 in [0, 5], d0 - rt0 in [3, 7]",
        ]
    );
}

#[test]
fn custom_calls_have_the_maps_that_users_give() {
    let module = module(
        "HloModule custom
ENTRY e {
  p = f32[4,4] parameter(0)
  ROOT c = f32[4,4] custom-call(p), custom_call_target=\"mirror\"
}",
    );
    let root = module.entry_computation().root;
    let own = |analysis: &mut Analysis<'_>| analysis.instruction(module.entry, root, Direction::OutputToInput);
    let unknown = own(&mut Analysis::new(&module));
    assert_eq!(unknown.dependences[0].relation.undefined(), Some(&Undefined::CustomCall("mirror".to_owned())));

    let mut known = CustomCallMaps::default();
    known.insert("mirror", |_, _, _| {
        let map: IndexingMap = "(d0, d1) -> (3 - d0, d1), domain: d0 in [0, 3], d1 in [0, 3]".parse().expect("a map");
        let relation = Relation::Maps(vec![ElementMap::exact(map)]);
        vec![Dependence { result: Some(0), operand: Some(0), leaf: Some(0), relation }]
    });
    let found = own(&mut Analysis::new(&module).with_custom_calls(&known));
    let map = &found.dependences[0].relation.maps()[0].map;
    assert_eq!(map.to_string(), "(d0, d1) -> (-d0 + 3, d1), domain: d0 in [0, 3], d1 in [0, 3]");
}

/// Positions in memory go with indices, by the layouts of both.
#[test]
fn physical_maps_lead_to_the_same_elements() {
    let module = module(
        "HloModule layouts
ENTRY e {
  p = f32[2,3,4]{0,2,1} parameter(0)
  ROOT t = f32[4,2,3]{1,0,2} transpose(p), dimensions={2,0,1}
}",
    );
    let entry = module.entry_computation();
    let root = &entry.instructions[entry.root];
    let (output, input) = (
        root.shape.as_array().expect("an array"),
        entry.instructions[root.operands[0]].shape.as_array().expect("an array"),
    );
    let found = Analysis::new(&module).instruction(module.entry, entry.root, Direction::OutputToInput);
    let map = &found.dependences[0].relation.maps()[0].map;
    let positions = physical(map, output, input).expect("the layouts have no tiles");
    // From the fastest dimension on.
    let position = |extents: &[i64], order: &[usize], index: &[i64]| {
        order.iter().rev().fold(0, |sum, &dimension| sum * extents[dimension] + index[dimension])
    };
    for point in map.points() {
        let read = map.evaluate(&point.dims, &[], &[]).expect("small numbers");
        let from = position(&output.extents, &[1, 0, 2], &point.dims);
        let to = position(&input.extents, &[0, 2, 1], &read);
        assert_eq!(positions.evaluate(&[from], &[], &[]), Ok(vec![to]), "{positions}");
    }
}

/// What is reached through more maps than the limit is undefined, and what is not stays known.
#[test]
fn too_many_maps_are_a_reason() {
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

/// The identity from a value to itself has no bounds where an extent is not known.
#[test]
fn values_of_unknown_extents_have_no_maps() {
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

/// What is read exactly in one place and maybe in another is read.
#[test]
fn a_map_that_is_exact_somewhere_is_exact() {
    let module = module(
        "HloModule twice
ENTRY e {
  p = f32[6] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  d = f32[6] dynamic-update-slice(p, u, i)
  ROOT r = f32[6] add(d, p)
}",
    );
    let mut analysis = Analysis::new(&module);
    let found = analysis.between(module.entry, named(&module, "r"), named(&module, "p"));
    let [map] = found.groups[0].relation.maps() else { panic!("{:?}", found.groups) };
    assert_eq!(map.coarse, None);
}

/// Wide tuples are put together and taken apart array by array: what is reached from one array takes no look at the others.
#[test]
fn arrays_pass_through_wide_tuples_on_their_own() {
    let arrays = 2_000;
    let list = |name: &str| (0..arrays).map(|k| format!("{name}{k}")).collect::<Vec<_>>().join(", ");
    let shapes = vec!["f32[4]"; arrays].join(", ");
    let lines = |line: &dyn Fn(usize) -> String| (0..arrays).map(line).collect::<String>();
    let text = format!(
        "HloModule wide\nENTRY e {{\n  p = (s32[], ({shapes})) parameter(0)\n  \
         inner = ({shapes}) get-tuple-element(p), index=1\n{}  t = ({shapes}) tuple({})\n{}  \
         ROOT r = ({shapes}) tuple({})\n}}",
        lines(&|k| format!("  g{k} = f32[4] get-tuple-element(inner), index={k}\n")),
        list("g"),
        lines(&|k| format!("  h{k} = f32[4] get-tuple-element(t), index={k}\n")),
        list("h"),
    );
    let module = module(&text);
    let (p, root) = (named(&module, "p"), module.entry_computation().root);
    let mut analysis = Analysis::new(&module);
    for direction in [Direction::OutputToInput, Direction::InputToOutput] {
        let found = analysis.computation(module.entry, direction);
        let pairs: Vec<(Option<usize>, Option<usize>)> =
            found.dependences.iter().map(|own| (own.result, own.leaf)).collect();
        // The first array of the parameter is a number that nobody takes.
        assert_eq!(pairs, (0..arrays).map(|k| (Some(k), Some(k + 1))).collect::<Vec<_>>(), "{direction:?}");
        let from = if direction == Direction::OutputToInput { root } else { p };
        let reached = analysis.subgraph(module.entry, &[from], direction, |_| true);
        let unused = usize::from(from == p);
        assert_eq!(reached.groups.len(), arrays * 6 + unused, "{direction:?}");
        assert!(reached.groups.iter().all(|group| group.relation.maps().len() == 1));
    }
    let instructions = |analysis: &mut Analysis<'_>, direction| -> usize {
        let ids = module.entry_computation().instructions.ids();
        ids.map(|id| analysis.instruction(module.entry, id, direction).dependences.len()).sum()
    };
    for direction in [Direction::OutputToInput, Direction::InputToOutput] {
        assert_eq!(instructions(&mut analysis, direction), arrays * 5, "{direction:?}");
    }
}

/// Of what nothing is known every array may depend on every other, also through several such steps.
#[test]
fn loops_lead_from_every_array_to_every_other() {
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

/// An element of known extents has its map though others of the tuple have none.
#[test]
fn an_element_counts_on_its_own() {
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

/// Of what nothing is known is undefined in both directions, or, where no element passes on either side of it, in none.
#[test]
fn what_no_element_passes_is_undefined_in_no_direction() {
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
fn what_went_wrong_is_the_reason() {
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
fn errors_keep_their_kind() {
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

/// The maps of the root to parameter 0.
fn to_first(module: &Module, domains: Domains) -> Vec<String> {
    let found = Analysis::new(module).with_domains(domains).computation(module.entry, Direction::OutputToInput);
    let maps = found.on(0).flat_map(|own| own.relation.maps());
    let mut texts: Vec<String> = maps.map(|map| map.map.to_string()).collect();
    texts.sort();
    texts
}

#[test]
fn starts_that_the_text_tells_are_numbers() {
    let slice = |starts: &str, start: &str| {
        let text = format!(
            "HloModule m\nENTRY e {{\n p = f32[100] parameter(0)\n {starts}\n \
             d = f32[10] dynamic-slice(p, {start}), dynamic_slice_sizes={{10}}\n ROOT root = f32[10] negate(d)\n}}"
        );
        to_first(&module(&text), Domains::Documented).join("; ")
    };
    let from = |start: &str| format!("(d0) -> (d0{start}), domain: d0 in [0, 9]");
    assert_eq!(slice("c = s32[] constant(42)", "c"), from(" + 42"));
    // The start is clamped, so that the slice lies within the array.
    assert_eq!(slice("c = s32[] constant(95)", "c"), from(" + 90"));
    assert_eq!(slice("c = s8[] constant(-3)", "c"), from(""));
    assert_eq!(
        slice("c = u64[] constant(18446744073709551615)", "c"),
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]"
    );
    let chain = "i = s32[2,6] iota(), iota_dimension=1\n t = s32[6,2] transpose(i), dimensions={1,0}\n \
        r = s32[6,2] reverse(t), dimensions={0}\n s = s32[1,1] slice(r), slice={[1:2], [1:2]}\n \
        n = s32[] reshape(s)\n w = s64[] convert(n)\n";
    assert_eq!(slice(chain, "w"), from(" + 4"));
    assert_eq!(slice(&format!("{chain} k = s64[] constant(9)\n m = s64[] multiply(w, k)"), "m"), from(" + 36"));
    // -4 as an index from the end, as NumPy counts.
    let wrapped = "i = s32[] constant(-24)\n zero = s32[] constant(0)\n n = s32[] constant(100)\n \
        is = pred[] compare(i, zero), direction=LT\n sum = s32[] add(i, n)\n w = s32[] select(is, sum, i)";
    assert_eq!(slice(wrapped, "w"), from(" + 76"));
    // 100 + 100 is -56 in eight bits.
    assert_eq!(
        slice("c = s8[] constant(100)\n s = s8[] add(c, c)", "s"),
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]"
    );
}

#[test]
fn indices_that_the_text_tells_are_expressions() {
    let gather = |indices: &str| {
        let text = format!(
            "HloModule m\nENTRY e {{\n p = f32[10,4] parameter(0)\n {indices}\n \
             g = f32[6,4] gather(p, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, \
             index_vector_dim=1, slice_sizes={{1,4}}\n ROOT n = f32[6,4] negate(g)\n}}"
        );
        to_first(&module(&text), Domains::Documented).join("; ")
    };
    let rows = |row: &str| format!("(d0, d1) -> ({row}, d1), domain: d0 in [0, 5], d1 in [0, 3]");
    assert_eq!(gather("i = s32[6] iota(), iota_dimension=0"), rows("d0"));
    assert_eq!(gather("i = s32[6] constant({9, 7, 5, 3, 1, -1})"), rows_of_runtime());
    assert_eq!(gather("i = s32[6] constant({10, 8, 6, 4, 2, 0})"), rows_of_runtime());
    assert_eq!(gather("i = s32[6] constant({5, 4, 3, 2, 1, 0})"), rows("-d0 + 5"));
    assert_eq!(gather("i = s32[6] constant({14, 13, 12, 11, 10, 9})"), rows("9"), "all are clamped to the last row");
    assert_eq!(gather("i = s32[6] constant({5, 4, 3, 2, 1, 1})"), rows_of_runtime());
    let repeated =
        "a = s32[3] iota(), iota_dimension=0\n b = s32[3,2] broadcast(a), dimensions={0}\n i = s32[6] reshape(b)";
    assert_eq!(gather(repeated), rows("d0 floordiv 2"));
    let far = "a = s32[6] iota(), iota_dimension=0\n k = s32[] constant(3)\n b = s32[6] broadcast(k), dimensions={}\n i = s32[6] multiply(a, b)";
    assert_eq!(gather(far), rows_of_runtime(), "the last two are clamped, the others are not");
}

/// A gather of rows of which not one expression says which.
fn rows_of_runtime() -> String {
    "(d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 5], d1 in [0, 3], rt0 in [0, 9]".to_owned()
}

#[test]
fn updates_at_indices_beyond_the_array_are_dropped() {
    let scatter = |start: &str| {
        let text = format!(
            "HloModule m\nassign {{\n a = f32[] parameter(0)\n ROOT b = f32[] parameter(1)\n}}\nENTRY e {{\n \
             u = f32[1,3] parameter(0)\n p = f32[9] parameter(1)\n i = s32[1,1] constant({{{{{start}}}}})\n \
             s = f32[9] scatter(p, i, u), update_window_dims={{1}}, inserted_window_dims={{}}, \
             scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=assign\n ROOT n = f32[9] negate(s)\n}}"
        );
        to_first(&module(&text), Domains::Documented)
    };
    assert_eq!(scatter("4"), ["(d0) -> (0, d0 - 4), domain: d0 in [4, 6]"]);
    assert_eq!(scatter("7"), [""; 0], "the window does not lie within");
}

#[test]
fn callers_tell_what_their_callees_read() {
    let text = "HloModule m\nf {\n x = f32[100] parameter(0)\n i = s32[6] parameter(1)\n \
        c = s32[1] slice(i), slice={[2:3]}\n s = s32[] reshape(c)\n \
        ROOT d = f32[10] dynamic-slice(x, s), dynamic_slice_sizes={10}\n}\nENTRY e {\n p = f32[100] parameter(0)\n \
        q = s32[6] parameter(1)\n k = s32[6] constant({0, 7, 14, 21, 28, 35})\n \
        a = f32[10] fusion(p, k), kind=kLoop, calls=f\n b = f32[10] fusion(p, q), kind=kLoop, calls=f\n \
        ROOT s = f32[10] add(a, b)\n}";
    let module = module(text);
    let unknown = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]";
    assert_eq!(to_first(&module, Domains::Documented), ["(d0) -> (d0 + 14), domain: d0 in [0, 9]", unknown]);
    // What an instruction's map is on its own, and simplified.
    let mut analysis = Analysis::new(&module);
    let a = named(&module, "a");
    let mut found = analysis.instruction(module.entry, a, Direction::OutputToInput);
    let Relation::Maps(maps) = &mut found.dependences[0].relation else { panic!("{found:?}") };
    assert_eq!(maps[0].map.to_string(), unknown);
    analysis.simplify(module.entry, &found.owners, &mut maps[0]);
    assert_eq!(maps[0].map.to_string(), "(d0) -> (d0 + 14), domain: d0 in [0, 9]");
}
