//! Flattening keeps the meaning of random modules, and so does printing them.

use crate::count::cases;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module, Op, Opcode};
use weft_hlo::passes::{flatten, flatten_around};
use weft_hlo::random::{Options, inputs, module};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

const SEEDS: u64 = 400;

/// The first difference of two lists of results; layouts do not count.
fn difference(expected: &[Literal], actual: &[Literal]) -> Option<String> {
    if expected.len() != actual.len() {
        return Some(format!("{} results, then {}", expected.len(), actual.len()));
    }
    expected.iter().zip(actual).enumerate().find_map(|(number, (a, b))| {
        let same = a.shape.is_compatible(&b.shape) && a.data == b.data;
        (!same).then(|| format!("result {number}: {:?} became {:?}", a.data, b.data))
    })
}

/// Whether flattening left something it should have taken apart.
fn is_flat(module: &Module) -> Result<(), String> {
    for computation in module.computations.values() {
        for (id, instruction) in computation.instructions.iter() {
            let place = format!("{}/{}", computation.name, instruction.name);
            let elements = instruction.shape.as_tuple().unwrap_or_default();
            if elements.iter().any(|element| element.as_array().is_none()) {
                return Err(format!("{place} is a nested tuple"));
            }
            let is_tuple = instruction.shape.as_tuple().is_some();
            match &instruction.op {
                Op::Call { .. } => return Err(format!("{place} is a call")),
                Op::Tuple if id != computation.root => return Err(format!("{place} is an inner tuple")),
                Op::Parameter { .. } | Op::Copy if is_tuple => return Err(format!("{place} is a tuple")),
                _ => {}
            }
        }
    }
    Ok(())
}

/// How much there is; names and the order of computations change with inlining.
fn size(module: &Module) -> (usize, usize) {
    (module.computations.len(), module.instruction_count())
}

#[test]
fn flattening_keeps_the_results() {
    let options = Options::computed();
    for seed in 0..cases(SEEDS) {
        let module = module(seed, &options);
        let inputs = inputs(&module, seed, &options);
        let flat = flatten(&module).unwrap_or_else(|found| panic!("seed {seed}: {found}\n{}", print(&module)));
        verify(&flat).unwrap_or_else(|found| panic!("seed {seed}: {found}\n{}\n{}", print(&module), print(&flat)));
        is_flat(&flat).unwrap_or_else(|found| panic!("seed {seed}: {found}\n{}", print(&flat)));
        let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        let actual = evaluate(&flat, &inputs).unwrap_or_else(|found| panic!("seed {seed}: {found}\n{}", print(&flat)));
        if let Some(found) = difference(&expected, &actual) {
            panic!("seed {seed}: {found}\n{}\n{}", print(&module), print(&flat));
        }
        let again = flatten(&flat).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        assert_eq!(size(&flat), size(&again), "seed {seed}: flattening twice is not flattening once\n{}", print(&flat));
    }
}

#[test]
fn printing_keeps_the_module() {
    let options = Options::computed();
    for seed in 0..cases(SEEDS) {
        let module = module(seed, &options);
        let text = print(&module);
        let again = parse(&text).unwrap_or_else(|found| panic!("seed {seed}: {found}\n{text}"));
        assert!(again == module, "seed {seed}: read back as another module\n{text}\n{}", print(&again));
    }
}

/// A seed is a module for ever: failures that name a seed can be repeated.
#[test]
fn modules_are_determined_by_their_seed() {
    let options = Options::computed();
    let once = print(&module(7, &options));
    assert_eq!(once, print(&module(7, &options)));
    assert_ne!(once, print(&module(8, &options)));
}

/// NaN inputs and infinities are part of the comparison.
#[test]
fn special_numbers_occur_in_inputs() {
    let options = Options::computed();
    let has_nan =
        |literal: &Literal| matches!(&literal.data, Data::F32(values) if values.iter().any(|value| value.is_nan()));
    let with_nan =
        (0..SEEDS).filter(|&seed| inputs(&module(seed, &options), seed, &options).iter().any(has_nan)).count();
    assert!(with_nan as u64 > SEEDS / 20, "{with_nan}");
}

#[test]
fn computations_called_by_dead_code_are_removed() {
    let text = "HloModule dead
        sum {
            a = f32[] parameter(0)
            b = f32[] parameter(1)
            ROOT s = f32[] add(a, b)
        }
        double {
            a = f32[4] parameter(0)
            ROOT s = f32[4] add(a, a)
        }
        ENTRY main {
            p = f32[4] parameter(0)
            zero = f32[] constant(0)
            dead = f32[] reduce(p, zero), dimensions={0}, to_apply=sum
            dead_too = f32[4] fusion(p), kind=kLoop, calls=double
            ROOT n = f32[4] negate(p)
        }";
    let flat =
        flatten(&parse(text).unwrap_or_else(|found| panic!("{found}"))).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(size(&flat), (1, 2), "{}", print(&flat));
}

#[test]
fn constant_tuples_are_taken_apart() {
    let text = "HloModule constants
        ENTRY main {
            c = (s32[2], (f32[], f32[1])) constant(({1, 2}, (3, {4})))
            d = (f32[], f32[1]) get-tuple-element(c), index=1
            x = f32[1] get-tuple-element(d), index=1
            ROOT t = (f32[1], (s32[2], (f32[], f32[1]))) tuple(x, c)
        }";
    let module = parse(text).unwrap_or_else(|found| panic!("{found}"));
    let flat = flatten(&module).unwrap_or_else(|found| panic!("{found}"));
    verify(&flat).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((is_flat(&flat), size(&flat)), (Ok(()), (1, 4)), "{}", print(&flat));
    let results = evaluate(&flat, &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(difference(&evaluate(&module, &[]).unwrap_or_else(|found| panic!("{found}")), &results), None);
}

/// A callee's bitcast reads its parameter in the parameter's layout, also where the caller's value has another one.
#[test]
fn the_layout_of_a_parameter_is_its_own() {
    let text = "HloModule layouts
        f {
            p = f32[2,3] parameter(0)
            ROOT b = f32[6] bitcast(p)
        }
        ENTRY e {
            x = f32[2,3]{0,1} parameter(0)
            ROOT c = f32[6] call(x), to_apply=f
        }";
    let module = parse(text).unwrap_or_else(|found| panic!("{found}"));
    let inputs = [Literal::array([2, 3], vec![0f32, 1.0, 2.0, 3.0, 4.0, 5.0])];
    let flat = flatten(&module).unwrap_or_else(|found| panic!("{found}"));
    let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
    let actual = evaluate(&flat, &inputs).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(difference(&expected, &actual), None, "{}", print(&flat));
}

/// What is under way is read by what goes on with it and by nothing else; what has an effect stays; what a loop runs keeps its
/// parameters.
#[test]
fn operations_that_cannot_be_flattened_stay() {
    let text = "HloModule around
        twice {
            p = f32[4] parameter(0)
            ROOT s = f32[4] add(p, p)
        }
        less {
            s = ((s32[], f32[4]), s32[]) parameter(0)
            l = (s32[], f32[4]) get-tuple-element(s), index=0
            i = s32[] get-tuple-element(l), index=0
            n = s32[] get-tuple-element(s), index=1
            ROOT l.1 = pred[] compare(i, n), direction=LT
        }
        step {
            s = ((s32[], f32[4]), s32[]) parameter(0)
            l = (s32[], f32[4]) get-tuple-element(s), index=0
            i = s32[] get-tuple-element(l), index=0
            x = f32[4] get-tuple-element(l), index=1
            n = s32[] get-tuple-element(s), index=1
            one = s32[] constant(1)
            j = s32[] add(i, one)
            y = f32[4] call(x), to_apply=twice
            m = (s32[], f32[4]) tuple(j, y)
            ROOT t = ((s32[], f32[4]), s32[]) tuple(m, n)
        }
        ENTRY main {
            p = (f32[4], s32[]) parameter(0)
            x = f32[4] get-tuple-element(p), index=0
            n = s32[] get-tuple-element(p), index=1
            begun = ((f32[4]), f32[4], u32[]) async-start(x), calls=twice
            further = ((f32[4]), f32[4], u32[]) async-update(begun)
            a = f32[4] async-done(further)
            zero = s32[] constant(0)
            inner = (s32[], f32[4]) tuple(zero, a)
            state = ((s32[], f32[4]), s32[]) tuple(inner, n)
            w = ((s32[], f32[4]), s32[]) while(state), condition=less, body=step
            last = (s32[], f32[4]) get-tuple-element(w), index=0
            after = token[] after-all()
            sent = (f32[4], u32[], token[]) send(x, after), channel_id=1
            done = token[] send-done(sent), channel_id=1
            unread = f32[4] negate(x)
            ROOT r = ((s32[], f32[4]), f32[4]) tuple(last, a)
        }";
    let module = parse(text).unwrap_or_else(|found| panic!("{}", found.locate(text)));
    verify(&module).unwrap_or_else(|found| panic!("{}", found.locate(text)));
    assert_eq!(flatten(&module).expect_err("it cannot look through a loop").0[0].code, "HLO311");
    let flat = flatten_around(&module).unwrap_or_else(|found| panic!("{found}"));
    verify(&flat).unwrap_or_else(|found| panic!("{found}\n{}", print(&flat)));
    assert!(parse(&print(&flat)).is_ok_and(|again| again == flat), "{}", print(&flat));
    let entry: Vec<Opcode> = flat.entry_computation().instructions.values().map(|one| one.op.opcode()).collect();
    for stays in ["async-start", "async-update", "async-done", "while", "after-all", "send", "send-done"] {
        assert_eq!(entry.iter().filter(|opcode| opcode.name() == stays).count(), 1, "{stays}: {}", print(&flat));
    }
    assert!(!entry.contains(&Opcode::Negate) && !print(&flat).contains(" call("), "{}", print(&flat));
    assert_eq!(flat.entry_computation().parameters().len(), 2);
    let again = flatten_around(&flat).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(size(&again), size(&flat), "{}\n{}", print(&flat), print(&again));
}

#[test]
fn the_header_speaks_of_leaves_afterwards() {
    let text = "
HloModule m, input_output_alias={ {1}: (0, {1}, may-alias), {0}: (1, {}, must-alias) }, buffer_donor={ (0, {0}) }

ENTRY main {
  t = (f32[4], (s32[2], f32[3])) parameter(0)
  p = f32[4] parameter(1)
  inner = (s32[2], f32[3]) get-tuple-element(t), index=1
  ROOT r = (f32[4], (s32[2], f32[3])) tuple(p, inner)
}";
    let module = parse(text).unwrap();
    verify(&module).unwrap();
    let flat = flatten(&module).unwrap();
    verify(&flat).unwrap_or_else(|found| panic!("{found}\n{}", print(&flat)));
    let header = "input_output_alias={ {1}: (1, {}, may-alias), {2}: (2, {}, may-alias), {0}: (3, {}, must-alias) }, buffer_donor={ (0, {}) }";
    let text = print(&flat);
    assert!(text.lines().next().unwrap().ends_with(header), "{text}");
}
