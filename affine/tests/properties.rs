//! Properties of expressions and their text, over random expressions.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
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
    let both = first.then(&then).unwrap();
    assert_eq!(both.to_string(), "(d0)[s0, s1]{rt0} -> (d0 * 4 + s0 * 4 + s1, rt0 mod 3)");
    assert_eq!(both.to_string().parse::<AffineMap>().unwrap(), both);
    assert_eq!(AffineMap::identity(2).then(&both).unwrap_err().code(), "AFF005");
}

/// An expression as it is written.
#[derive(Clone, Debug)]
enum Written {
    Number(u32),
    Variable(u32),
    Sign(Box<Written>),
    Operation(Box<Written>, &'static str, Box<Written>),
}

use Written::{Number, Operation, Sign, Variable};

fn operation(left: Written, operator: &'static str, right: Written) -> Written {
    Operation(Box::new(left), operator, Box::new(right))
}

/// Any text of the grammar over `d0` to `d3`, with small numbers.
fn written() -> impl Strategy<Value = Written> {
    let number = || (0..12u32).prop_map(Number);
    let signed = move || prop_oneof![number(), number().prop_map(|n| Sign(Box::new(n)))];
    let constant = move || {
        let of_two = (signed(), prop_oneof![Just("+"), Just("-"), Just("*")], signed());
        prop_oneof![4 => signed(), 1 => of_two.prop_map(|(a, operator, b)| operation(a, operator, b))]
    };
    let positive = || (1..12u32).prop_map(Number);
    let divisor = move || prop_oneof![3 => positive(), 1 => positive().prop_map(|n| Sign(Box::new(n)))];
    let leaf = prop_oneof![2 => (0..4u32).prop_map(Variable), 1 => number()];
    leaf.prop_recursive(5, 24, 2, move |inner| {
        let x = || inner.clone();
        prop_oneof![
            3 => x().prop_map(|x| Sign(Box::new(x))),
            2 => (x(), x()).prop_map(|(a, b)| operation(a, "+", b)),
            2 => (x(), x()).prop_map(|(a, b)| operation(a, "-", b)),
            1 => (x(), constant()).prop_map(|(a, b)| operation(a, "*", b)),
            2 => (constant(), x()).prop_map(|(a, b)| operation(a, "*", b)),
            2 => (x(), divisor()).prop_map(|(a, b)| operation(a, "floordiv", b)),
            1 => (x(), divisor()).prop_map(|(a, b)| operation(a, "ceildiv", b)),
            2 => (x(), positive()).prop_map(|(a, b)| operation(a, "mod", b)),
        ]
    })
}

impl Written {
    /// How tightly it binds: 0 sums, 1 products, 2 what has a sign or nothing in front.
    fn level(&self) -> u8 {
        match self {
            Operation(_, "+" | "-", _) => 0,
            Operation(..) => 1,
            Number(_) | Variable(_) | Sign(_) => 2,
        }
    }

    /// The text in a place for what binds at least as tightly as `place`; `also` says of further parts that they have
    /// parentheses.
    fn text(&self, place: u8, also: &mut dyn FnMut(&Written) -> bool) -> String {
        let wants = also(self);
        let bare = match self {
            Number(n) => n.to_string(),
            Variable(i) => format!("d{i}"),
            Sign(x) => format!("-{}", x.text(2, also)),
            Operation(a, operator, b) => {
                let level = self.level();
                let (left, right) = (a.text(level, also), b.text(level + 1, also));
                match (a.as_ref(), b.as_ref()) {
                    (Number(_), Variable(_)) if *operator == "*" && !left.ends_with(')') && !right.starts_with('(') => {
                        format!("{left}{right}")
                    }
                    _ => format!("{left} {operator} {right}"),
                }
            }
        };
        if self.level() < place || wants { format!("({bare})") } else { bare }
    }

    /// The value at a point, by the meaning of each operation.
    fn value(&self, point: &[i128]) -> i128 {
        match self {
            Number(n) => i128::from(*n),
            Variable(i) => point[*i as usize],
            Sign(x) => -x.value(point),
            Operation(a, operator, b) => {
                let (a, b) = (a.value(point), b.value(point));
                let floor = |a: i128, b: i128| if b > 0 { a.div_euclid(b) } else { (-a).div_euclid(-b) };
                match *operator {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "floordiv" => floor(a, b),
                    "ceildiv" => -floor(-a, b),
                    _ => a - b * floor(a, b),
                }
            }
        }
    }

    /// True where a sign stands before a product whose value it would change, were the sign that of the whole.
    fn has_sign_in_front_of_a_division(&self) -> bool {
        fn starts_with_sign(x: &Written) -> bool {
            match x {
                Sign(_) => true,
                Operation(a, ..) if x.level() == 1 => starts_with_sign(a),
                _ => false,
            }
        }
        match self {
            Number(_) | Variable(_) => false,
            Sign(x) => x.has_sign_in_front_of_a_division(),
            Operation(a, operator, b) => {
                (matches!(*operator, "floordiv" | "ceildiv" | "mod") && starts_with_sign(a))
                    || a.has_sign_in_front_of_a_division()
                    || b.has_sign_in_front_of_a_division()
            }
        }
    }
}

/// Whatever parentheses a text has beyond those it needs, it is read as one expression, whose values are those that the
/// operations have, each on its own.
#[test]
fn the_reader_agrees_with_itself() {
    let (mut runner, strategy) = (TestRunner::deterministic(), written());
    let (mut signs, mut redundant) = (0, 0);
    for case in 0..10_000usize {
        let tree = strategy.new_tree(&mut runner).expect("every draw is taken").current();
        let least = tree.text(0, &mut |_| false);
        let all = tree.text(0, &mut |part| !matches!(part, Number(_) | Variable(_)));
        let mut coin = case;
        let some = tree.text(0, &mut |_| {
            coin = coin.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            coin >> 61 == 0
        });
        let read = |text: &str| text.parse::<Expr>().unwrap_or_else(|error| panic!("{text}: {error}"));
        let e = read(&least);
        for other in [&all, &some] {
            assert_eq!(read(other), e, "{least}\n{other}");
        }
        assert_eq!(read(&e.to_string()), e, "{least}");
        for point in [[0, 1, 2, 3], [-7, 5, -1, 40], [13, -22, 8, -3], [101, 64, -65, 1]] {
            let value = e.evaluate(|v| match v {
                Var::Dim(i) => point[i as usize],
                _ => 0,
            });
            assert_eq!(value.map(i128::from), Ok(tree.value(&point.map(i128::from))), "{least} at {point:?}");
        }
        signs += usize::from(tree.has_sign_in_front_of_a_division());
        redundant += usize::from(all != least);
    }
    assert!(signs > 1_000 && redundant > 6_000, "{signs} signs before divisions, {redundant} redundant parentheses");
}
