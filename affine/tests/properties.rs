//! Properties of expressions and their text, over random expressions.

use proptest::prelude::*;
use weft_affine::{AffineMap, Expr, Interval, Ranges, Var, explain, range_of};

fn variable() -> impl Strategy<Value = Expr> {
    (0..4u32, 0..3).prop_map(|(i, kind)| match kind {
        0 => Expr::range(i),
        1 => Expr::runtime(i),
        _ => Expr::dim(i),
    })
}

fn coefficient() -> impl Strategy<Value = i64> {
    prop_oneof![8 => -12..=12i64, 1 => Just(i64::MAX), 1 => Just(i64::MIN), 1 => any::<i64>()]
}

/// Expressions with any coefficients; operations that overflow leave their left side.
fn expression() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![variable(), coefficient().prop_map(Expr::constant)];
    leaf.prop_recursive(4, 24, 3, |inner| {
        (inner.clone(), inner, coefficient(), 0..5).prop_map(|(a, b, c, operation)| {
            let made = match operation {
                0 => a.checked_add(&b),
                1 => a.checked_sub(&b),
                2 => a.checked_mul(c),
                3 => a.checked_floor_div(c),
                _ => a.checked_modulo(c.checked_abs().unwrap_or(1)),
            };
            made.unwrap_or(a)
        })
    })
}

/// Values that depend on the variable and little else.
fn value(v: Var, seed: i64) -> i64 {
    let (Var::Dim(i) | Var::Range(i) | Var::Runtime(i)) = v;
    (i64::from(i) * 31 + seed * 17) % 23 - 5
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_round_trips(e in expression()) {
        let text = e.to_string();
        let read: Expr = text.parse().expect("what was printed can be read");
        prop_assert_eq!(&read, &e);
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn order_and_equality_agree(a in expression(), b in expression()) {
        prop_assert_eq!(a == b, a.cmp(&b).is_eq());
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a == b, a.to_string() == b.to_string());
    }

    #[test]
    fn sums_commute(a in expression(), b in expression()) {
        prop_assert_eq!(a.checked_add(&b).ok(), b.checked_add(&a).ok());
    }

    #[test]
    fn substitution_is_evaluation(e in expression(), seed in 0..9i64) {
        let constants = e.substitute(|v| Some(Expr::constant(value(v, seed))));
        if let (Ok(direct), Ok(constant)) = (e.evaluate(|v| value(v, seed)), constants) {
            prop_assert_eq!(constant.as_constant(), Some(direct));
        }
    }

    #[test]
    fn every_step_of_a_proof_holds(e in expression(), seed in 0..9i64) {
        let bounds = vec![Interval::new(-5 - 22, 17); 4];
        let ranges = Ranges { dims: bounds.clone(), ranges: bounds.clone(), runtime: bounds };
        let (simple, proof) = explain(&e, &ranges, &[]);
        let at = |e: &Expr| e.evaluate(|v| value(v, seed));
        if let (Ok(a), Ok(b)) = (at(&e), at(&simple)) {
            prop_assert_eq!(a, b, "{}", proof);
            prop_assert!(range_of(&e, &ranges).contains(a));
        }
        prop_assert_eq!(proof.check(), Ok(()), "{:#}", proof);
        for step in proof.steps() {
            if let (Ok(a), Ok(b)) = (at(&step.before), at(&step.after)) {
                prop_assert_eq!(a, b, "{}", step);
            }
        }
    }
}

#[test]
fn affine_maps_compose_and_print() {
    let first: AffineMap = "(d0)[s0]{rt0} -> (d0 + s0, rt0)".parse().unwrap();
    let then: AffineMap = "(a, b)[k] -> (a * 4 + k, b mod 3)".parse().unwrap();
    let both = first.compose(&then).unwrap();
    assert_eq!(both.to_string(), "(d0)[s0, s1]{rt0} -> (d0 * 4 + s0 * 4 + s1, rt0 mod 3)");
    assert_eq!(both.to_string().parse::<AffineMap>().unwrap(), both);
    assert_eq!(AffineMap::identity(2).compose(&both).unwrap_err().code(), "AFF005");
}
