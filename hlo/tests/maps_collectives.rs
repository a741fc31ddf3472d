//! Maps of collectives and of what runs beside other work, against a naive simulation of all devices.
//!
//! `WEFT_CASES=N` tries N times as many programs of each collective, and of several.

mod program;
mod related;
mod world;

use crate::count::cases;
use program::{Array, COLLECTIVES, Program, indices, linear};
use related::Reader;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::indexing::{Analysis, Dependences, Direction, Number, Undefined};
use weft_hlo::ir::Module;
use weft_hlo::random::Rng;
use weft_hlo::text::parse;
use weft_hlo::verify::verify;

fn read(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    verify(&module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    module
}

/// Compares the maps of a program in both directions with what went where.
fn check(program: &Program) {
    let text = program.text();
    let module = read(&text);
    let root = program.arrays.last().expect("there is a parameter");
    let back = Analysis::new(&module).computation(module.entry, Direction::OutputToInput);
    let forth = Analysis::new(&module).computation(module.entry, Direction::InputToOutput);
    let parameters = program.parameter_extents();
    let back = Reader { program, module: &module, found: &back };
    for device in 0..program.world.devices() {
        for index in indices(&root.extents) {
            let mut found = BTreeSet::new();
            for dependence in &back.found.dependences {
                let parameter = dependence.operand.expect("there are no constants");
                let place = |(device, at): (usize, Vec<i64>)| (device, parameter, linear(&parameters[parameter], &at));
                found.extend(back.reached(dependence, device, &index).into_iter().map(place));
            }
            let expected = &root.devices[device][linear(&root.extents, &index)];
            assert!(found == *expected, "{index:?} of {device}: {found:?} for {expected:?}\n{text}\n{:?}", back.found);
        }
    }
    check_forth(program, root, &Reader { program, module: &module, found: &forth }, &parameters);
}

fn check_forth(program: &Program, root: &Array, forth: &Reader<'_>, parameters: &[Vec<i64>]) {
    let mut expected: BTreeMap<(usize, usize, usize), BTreeSet<(usize, usize)>> = BTreeMap::new();
    for (device, cells) in root.devices.iter().enumerate() {
        for (position, cells) in cells.iter().enumerate() {
            cells.iter().for_each(|cell| {
                expected.entry(*cell).or_default().insert((device, position));
            });
        }
    }
    for (parameter, extents) in parameters.iter().enumerate() {
        for device in 0..program.world.devices() {
            for (position, index) in indices(extents).iter().enumerate() {
                let mut found = BTreeSet::new();
                for dependence in forth.found.on(parameter) {
                    let place = |(device, at): (usize, Vec<i64>)| (device, linear(&root.extents, &at));
                    found.extend(forth.reached(dependence, device, index).into_iter().map(place));
                }
                let expected = expected.get(&(device, parameter, position)).cloned().unwrap_or_default();
                let text = program.text();
                assert!(
                    found == expected,
                    "from {index:?} of {device}: {found:?} for {expected:?}\n{text}\n{:?}",
                    forth.found
                );
            }
        }
    }
}

#[test]
fn maps_of_one_collective_lead_to_what_its_members_exchange() {
    let wanted = cases(120);
    for (number, opcode) in (0..).zip(COLLECTIVES) {
        let (mut done, mut seed) = (0, number << 32);
        while done < wanted {
            let mut rng = Rng::new(seed);
            seed += 1;
            let mut program = Program::new(&mut rng);
            if program.add_collective(&mut rng, opcode) {
                check(&program);
                done += 1;
            }
        }
    }
}

#[test]
fn maps_of_several_collectives_compose() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..cases(160) {
        let mut rng = Rng::new(seed);
        let mut program = Program::new(&mut rng);
        program.add_starts(&mut rng);
        for _ in 0..2 + rng.below(3) {
            if rng.chance(35) {
                program.add_local(&mut rng);
            }
            let opcode = COLLECTIVES[rng.below(COLLECTIVES.len())];
            if program.add_collective(&mut rng, opcode) {
                *seen.entry(opcode).or_default() += 1;
            }
        }
        check(&program);
    }
    assert_eq!(seen.len(), COLLECTIVES.len(), "{seen:?}");
}

/// The maps of the root, one a line.
fn lines(found: &Dependences) -> Vec<String> {
    let mut lines = Vec::new();
    for dependence in &found.dependences {
        for map in dependence.relation.maps() {
            let replica = map.replica_id.as_ref().map(|id| format!(", replica_id: {id}")).unwrap_or_default();
            lines.push(format!("{}{replica}", map.map));
        }
        lines.extend(dependence.relation.undefined().map(|reason| format!("UNDEFINED: {reason}")));
    }
    lines
}

fn module_of(header: &str, body: &str) -> Module {
    let add = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}";
    read(&format!("HloModule m{header}\n{add}\nENTRY e {{\n {}\n}}\n", body.replace("; ", "\n ")))
}

/// The maps of the root instruction, in both directions.
fn of_root(header: &str, body: &str) -> [Vec<String>; 2] {
    let module = module_of(header, body);
    let root = module.entry_computation().root;
    [Direction::OutputToInput, Direction::InputToOutput]
        .map(|direction| lines(&Analysis::new(&module).instruction(module.entry, root, direction)))
}

/// The maps of the start that the root ends.
fn of_start(body: &str) -> Vec<String> {
    let module = module_of("", body);
    let entry = module.entry_computation();
    let start = entry.instructions[entry.root].operands[0];
    lines(&Analysis::new(&module).instruction(module.entry, start, Direction::OutputToInput))
}

/// The maps of the entry, in both directions.
fn of_entry(header: &str, body: &str) -> [Vec<String>; 2] {
    let module = module_of(header, body);
    [Direction::OutputToInput, Direction::InputToOutput]
        .map(|direction| lines(&Analysis::new(&module).computation(module.entry, direction)))
}

#[test]
fn collectives_have_the_documented_text() {
    let p = "p = f32[4] parameter(0)";
    let cases = [
        (
            format!("{p}; ROOT r = f32[8] all-gather(p), replica_groups={{{{0,1}},{{2,3}}}}, dimensions={{0}}"),
            ["(d0) -> (d0 mod 4), domain: d0 in [0, 7], replica_id: replica_groups={{0,1},{2,3}}[d0 floordiv 4]"].to_vec(),
            ["(d0)[s0]{rt0} -> (d0 + rt0 * 4), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 1], replica_id: replica_groups={{0,1},{2,3}}[s0]"].to_vec(),
        ),
        (
            format!("{p}; ROOT r = f32[8] all-gather(p), replica_groups=[1,2]<=[2], dimensions={{0}}"),
            ["(d0) -> (d0 mod 4), domain: d0 in [0, 7], replica_id: d0 floordiv 4"].to_vec(),
            ["(d0)[s0]{rt0} -> (d0 + rt0 * 4), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 1], replica_id: s0"].to_vec(),
        ),
        (
            format!("{p}; ROOT r = f32[4] all-reduce(p), channel_id=1, replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true, to_apply=add"),
            ["(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3], replica_id: device replica_groups=[2,4]<=[4,2]T(1,0)[s0]"].to_vec(),
            ["(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3], replica_id: device replica_groups=[2,4]<=[4,2]T(1,0)[s0]"].to_vec(),
        ),
        (
            format!("{p}; ROOT r = f32[2] reduce-scatter(p), replica_groups={{{{1,0}}}}, dimensions={{0}}, to_apply=add"),
            ["(d0)[s0]{rt0} -> (d0 + rt0 * 2), domain: d0 in [0, 1], s0 in [0, 1], rt0 in [0, 1], replica_id: replica_groups={{1,0}}[s0]"].to_vec(),
            ["(d0) -> (d0 mod 2), domain: d0 in [0, 3], replica_id: replica_groups={{1,0}}[d0 floordiv 2]"].to_vec(),
        ),
        (
            format!("{p}; ROOT r = f32[4] all-to-all(p), channel_id=1, replica_groups={{{{0,1}}}}, dimensions={{0}}"),
            ["(d0){rt0} -> (rt0 * 2 + d0 mod 2), domain: d0 in [0, 3], rt0 in [0, 1], replica_id: partition d0 floordiv 2"].to_vec(),
            ["(d0){rt0} -> (rt0 * 2 + d0 mod 2), domain: d0 in [0, 3], rt0 in [0, 1], replica_id: partition d0 floordiv 2"].to_vec(),
        ),
        (
            format!("{p}; q = f32[4] parameter(1); ROOT r = (f32[4], f32[4]) all-to-all(p, q), replica_groups={{{{0,1}}}}"),
            [
                "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 1], rt0 in [0, 0], replica_id: 0",
                "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 1], rt0 in [1, 1], replica_id: 0",
                "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 1], rt0 in [0, 0], replica_id: 1",
                "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 1], rt0 in [1, 1], replica_id: 1",
            ].to_vec(),
            [
                "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 1], rt0 in [0, 0], replica_id: 0",
                "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 1], rt0 in [0, 0], replica_id: 1",
                "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 1], rt0 in [1, 1], replica_id: 0",
                "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 1], rt0 in [1, 1], replica_id: 1",
            ].to_vec(),
        ),
        (
            format!("{p}; ROOT r = f32[4] collective-permute(p), source_target_pairs={{{{0,1}},{{1,2}}}}"),
            ["(d0) -> (d0), domain: d0 in [0, 3], replica_id: source_target_pairs={{0,1},{1,2}}[source]"].to_vec(),
            ["(d0) -> (d0), domain: d0 in [0, 3], replica_id: source_target_pairs={{0,1},{1,2}}[target]"].to_vec(),
        ),
        (
            format!("{p}; ROOT r = f32[4] collective-broadcast(p), replica_groups={{{{2,1}},{{0}}}}"),
            ["(d0) -> (d0), domain: d0 in [0, 3], replica_id: replica_groups={{2,1},{0}}[0]"].to_vec(),
            ["(d0)[s0]{rt0} -> (d0), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 1], rt0 in [0, 0], replica_id: replica_groups={{2,1},{0}}[s0]"].to_vec(),
        ),
    ];
    for (body, back, forth) in cases {
        assert_eq!(of_root("", &body), [back, forth], "{body}");
    }
}

#[test]
fn a_gathered_scatter_reads_the_element_itself_on_all_members() {
    let body = "p = f32[4] parameter(0); s = f32[2] reduce-scatter(p), replica_groups={{0,1},{2,3}}, dimensions={0}, to_apply=add; \
                ROOT g = f32[4] all-gather(s), replica_groups={{0,1},{2,3}}, dimensions={0}";
    let expected = "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 1], replica_id: replica_groups={{0,1},{2,3}}[s0]";
    assert_eq!(of_entry("", body), [vec![expected.to_owned()], vec![expected.to_owned()]]);
}

#[test]
fn exchanges_of_different_groups_follow_each_other() {
    let body = "p = f32[4] parameter(0); g = f32[8] all-gather(p), replica_groups={{0,1},{2,3}}, dimensions={0}; \
                ROOT r = f32[8] collective-permute(g), source_target_pairs={{0,2}}";
    let expected = "(d0) -> (d0 mod 4), domain: d0 in [0, 7], \
                    replica_id: source_target_pairs={{0,2}}[source] then replica_groups={{0,1},{2,3}}[d0 floordiv 4]";
    assert_eq!(of_entry("", body)[0], [expected]);
}

#[test]
fn a_start_on_another_replica_is_another_value() {
    let body = "p = f32[8] parameter(0); t = s32[] parameter(1); near = f32[4] dynamic-slice(p, t), dynamic_slice_sizes={4}; \
                g = f32[8] all-gather(near), replica_groups={{0,1}}, dimensions={0}; \
                ROOT far = f32[4] dynamic-slice(g, t), dynamic_slice_sizes={4}";
    let module = module_of("", body);
    let found = Analysis::new(&module).computation(module.entry, Direction::OutputToInput);
    let map = &found.on(0).next().expect("the array is read").relation.maps()[0].map;
    let sources: Vec<_> = map.runtime().iter().filter_map(|own| found.owners.source(own.owner()?)).collect();
    assert_eq!(sources.len(), 2, "{map}");
    assert_eq!(sources[0].path, sources[1].path);
    assert!(sources.iter().all(|source| source.number == Number::Element));
    assert_eq!((sources[0].exchanges.len(), sources[1].exchanges.len()), (0, 1));
    // Which member is asked says whose start it is.
    assert_eq!(map.runtime()[1].access().len(), 1, "{map:?}");
}

#[test]
fn unknown_exchanges_are_undefined() {
    let reduced = "p = f32[4] parameter(0); ROOT r = f32[4] all-reduce(p), replica_groups={}, to_apply=add";
    assert_eq!(of_root("", reduced)[0], [format!("UNDEFINED: {}", Undefined::Members)]);
    let known = "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 7], replica_id: s0";
    assert_eq!(of_root(", replica_count=8", reduced)[0], [known]);
    let moved = "p = f32[4] parameter(0); q = f32[8] parameter(1); t = s32[] parameter(2); \
                 ROOT r = f32[8] collective-permute(p, q, t, t), source_target_pairs={{0,1}}, slice_sizes={{4}}";
    assert!(of_root("", moved)[0].iter().all(|line| *line == format!("UNDEFINED: {}", Undefined::InPlace)));
    let sent =
        "p = f32[4] parameter(0); t = token[] after-all(); ROOT s = (f32[4], u32[], token[]) send(p, t), channel_id=1";
    assert!(of_root("", sent)[0].iter().all(|line| *line == format!("UNDEFINED: {}", Undefined::Outside)));
}

#[test]
fn async_starts_pass_their_operands_on() {
    let body = "p = f32[4] parameter(0); s = (f32[4], f32[8]) all-gather-start(p), replica_groups={{0,1}}, dimensions={0}; ROOT r = f32[8] all-gather-done(s)";
    let expected =
        ["(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (d0 mod 4), domain: d0 in [0, 7], replica_id: d0 floordiv 4"];
    assert_eq!(of_start(body), expected);
    let body = "p = f32[6,8] parameter(0); s = ((f32[6,8]), f32[3,8], s32[]) slice-start(p), slice={[3:6], [0:8]}; ROOT r = f32[3,8] slice-done(s)";
    let expected = [
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 5], d1 in [0, 7]",
        "(d0, d1) -> (d0 + 3, d1), domain: d0 in [0, 2], d1 in [0, 7]",
    ];
    assert_eq!(of_start(body), expected);
    let body = "p = f32[4] parameter(0); s = (f32[4], f32[4], u32[]) copy-start(p); ROOT r = f32[4] copy-done(s)";
    let expected = "(d0) -> (d0), domain: d0 in [0, 3]";
    assert_eq!(of_entry("", body), [vec![expected.to_owned()], vec![expected.to_owned()]]);
}
