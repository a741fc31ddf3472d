use super::*;
use weft_hlo::ir::ElementType;
use weft_partition::CooperativeMatrix;

fn all(answer: impl Fn(Test) -> Answer) -> SelfTest {
    SelfTest { answers: Test::ALL.into_iter().map(answer).collect() }
}

fn holds() -> SelfTest {
    all(|_| Answer::Holds(String::new()))
}

#[test]
fn tests_stand_in_their_order_and_have_names_of_their_own() {
    let names: std::collections::BTreeSet<&str> = Test::ALL.iter().map(|test| test.name()).collect();
    assert_eq!(names.len(), Test::ALL.len());
    for (position, test) in Test::ALL.into_iter().enumerate() {
        assert_eq!(test as usize, position, "{}", test.name());
        assert!(test.decides().is_some() != test.remark().is_some(), "{}", test.name());
    }
}

#[test]
fn answers_come_back_from_text() {
    let mixed = all(|test| match test as usize % 3 {
        0 => Answer::Holds(if (test as usize).is_multiple_of(2) { String::new() } else { "of 8: and 16".to_owned() }),
        1 => Answer::Fails("1 of 2: x / 3".to_owned()),
        _ => Answer::Skipped("the adapter has no shader_f64".to_owned()),
    });
    let text = mixed.to_string();
    assert_eq!(text.parse(), Ok(mixed));
    for damaged in [
        text.replace("weft self-test", "weft other-test"),
        text.replace(&format!("self-test {}", SelfTest::VERSION), "self-test 0"),
        text.replacen("holds", "may hold", 1),
        text.lines().take(5).collect::<Vec<_>>().join("\n"),
        format!("{text}more: holds\n"),
        String::new(),
    ] {
        assert!(damaged.parse::<SelfTest>().is_err(), "{damaged}");
    }
}

#[test]
fn what_fails_is_switched_off_and_nothing_else() {
    let with_all = Target::preset("discrete").expect("there is such a preset").with(|it| {
        it.features.subgroup_barrier = true;
        it.features.shader_f64 = true;
        it.features.float32_atomics = true;
        it.features.cooperative_matrices = vec![CooperativeMatrix::new([16; 3], ElementType::F16, ElementType::F32)];
    });
    let mut known = with_all.clone();
    holds().apply(&mut known);
    let expected = with_all.clone().with(|it| {
        (it.arithmetic.exact_division, it.arithmetic.exact_sqrt) = (true, true);
        it.arithmetic.exact_fma = true;
        (it.arithmetic.contraction, it.arithmetic.flushes_denormals) = (false, Some(false));
        it.features.no_contraction = cfg!(feature = "no-contraction");
    });
    assert_eq!(known, expected);
    for test in Test::ALL {
        let answers = all(|other| match other == test {
            true => Answer::Fails("so it is".to_owned()),
            false => Answer::Holds(String::new()),
        });
        let mut target = with_all.clone();
        answers.apply(&mut target);
        assert_eq!(target.check(), Ok(()), "{}", test.name());
        // Of two answers one decides.
        let is_left_out = test == Test::NoContraction && !cfg!(feature = "no-contraction");
        let is_decided = test.decides().is_some() && test != Test::DenormalsFlushed && !is_left_out;
        assert_eq!(target != known, is_decided, "{}", test.name());
    }
    let mut target = with_all.clone();
    all(|_| Answer::Skipped("it was late".to_owned())).apply(&mut target);
    assert_eq!(target, with_all);
}
