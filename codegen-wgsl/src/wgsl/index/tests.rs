//! Printed indices and conditions are evaluated as WGSL means them and compared with the expressions themselves.

use super::{Variables, condition, exact_index, index, summand};
use crate::kernel::Known;
use proptest::prelude::*;
use weft_affine::{Atom, Constraint, Expr, Interval, Term, Var};

/// Evaluates the expressions this module writes: `u32` arithmetic that wraps, shifts and masks, comparisons, and several of them with `&` between.
struct Wgsl<'t> {
    tokens: Vec<&'t str>,
    next: usize,
    variables: &'t dyn Fn(&str) -> u32,
}

impl<'t> Wgsl<'t> {
    fn new(text: &'t str, variables: &'t dyn Fn(&str) -> u32) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                c if c.is_ascii_alphanumeric() => {
                    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
                }
                '<' if rest.starts_with("<u32>") => 5,
                '=' | '<' | '>' => 2,
                _ => 1,
            };
            tokens.push(&rest[..length]);
            rest = rest[length..].trim_start();
        }
        Wgsl { tokens, next: 0, variables }
    }

    fn peek(&self) -> &'t str {
        self.tokens.get(self.next).copied().unwrap_or("")
    }

    fn take(&mut self) -> &'t str {
        self.next += 1;
        self.tokens[self.next - 1]
    }

    fn number(mut self) -> u32 {
        let value = self.bits();
        assert_eq!(self.next, self.tokens.len(), "{:?}", self.tokens);
        value
    }

    fn truth(mut self) -> bool {
        let mut value = true;
        while self.begins_test() {
            assert_eq!(self.take(), "(");
            value &= self.relation();
            assert_eq!(self.take(), ")");
            if self.next == self.tokens.len() {
                return value;
            }
            assert_eq!(self.take(), "&");
        }
        value &= self.relation();
        assert_eq!(self.next, self.tokens.len(), "{:?}", self.tokens);
        value
    }

    /// Whether a test in parentheses comes next: what they hold is a relation.
    fn begins_test(&self) -> bool {
        let mut depth = 0;
        for token in &self.tokens[self.next..] {
            match *token {
                "(" => depth += 1,
                ")" => depth -= 1,
                "==" | "<=" | ">=" | "at_most_wide" if depth == 1 => return true,
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        false
    }

    fn relation(&mut self) -> bool {
        if matches!(self.peek(), "true" | "false") {
            return self.take() == "true";
        }
        if self.peek() == "at_most_wide" {
            let [x, y] = self.arguments(Self::pair);
            return x <= y;
        }
        let left = self.sum();
        let relation = self.take();
        let right = self.sum();
        match relation {
            "==" => left == right,
            "<=" => left <= right,
            ">=" => left >= right,
            other => panic!("no relation {other}"),
        }
    }

    /// A shift or a mask of one factor, or a sum.
    fn bits(&mut self) -> u32 {
        let (first, value) = (self.next, self.sum());
        let is_factor = self.next == first + 1 || matches!(self.tokens[..self.next], [.., ")"] | [.., ".", "x"]);
        match self.peek() {
            ">>" if is_factor => {
                self.take();
                value >> self.factor()
            }
            "&" if is_factor => {
                self.take();
                value & self.factor()
            }
            _ => value,
        }
    }

    fn sum(&mut self) -> u32 {
        let mut value = self.product();
        loop {
            match self.peek() {
                "+" => {
                    self.take();
                    value = value.wrapping_add(self.product());
                }
                "-" => {
                    self.take();
                    value = value.wrapping_sub(self.product());
                }
                _ => return value,
            }
        }
    }

    fn product(&mut self) -> u32 {
        let mut value = self.factor();
        loop {
            match self.peek() {
                "*" => {
                    self.take();
                    value = value.wrapping_mul(self.factor());
                }
                "/" => {
                    self.take();
                    value /= self.factor();
                }
                "%" => {
                    self.take();
                    value %= self.factor();
                }
                _ => return value,
            }
        }
    }

    /// Two arguments in parentheses, of the function that comes next.
    fn arguments<T>(&mut self, read: impl Fn(&mut Self) -> T) -> [T; 2] {
        self.take();
        assert_eq!(self.take(), "(");
        let first = read(self);
        assert_eq!(self.take(), ",");
        let second = read(self);
        assert_eq!(self.take(), ")");
        [first, second]
    }

    /// An integer of 64 bits.
    fn pair(&mut self) -> u64 {
        match self.peek() {
            "vec2" => {
                self.take();
                let [low, high] = self.arguments(Self::bits);
                u64::from(high) << 32 | u64::from(low)
            }
            "add_wide" => {
                let [x, y] = self.arguments(Self::pair);
                x.wrapping_add(y)
            }
            "multiply_wide" => {
                let [x, y] = self.arguments(Self::pair);
                x.wrapping_mul(y)
            }
            "divide_wide" => {
                self.take();
                assert_eq!(self.take(), "(");
                let x = self.pair();
                assert_eq!(self.take(), ",");
                let y = self.bits();
                assert_eq!(self.take(), ")");
                x / u64::from(y)
            }
            other => panic!("no pair {other}"),
        }
    }

    fn factor(&mut self) -> u32 {
        if self.peek().ends_with("_wide") {
            let low = self.pair() & u64::from(u32::MAX);
            assert_eq!([self.take(), self.take()], [".", "x"]);
            return u32::try_from(low).unwrap();
        }
        let token = self.take();
        if token == "(" {
            let value = self.bits();
            assert_eq!(self.take(), ")");
            return value;
        }
        match token.strip_suffix('u').and_then(|digits| digits.parse().ok()) {
            Some(value) => value,
            None => (self.variables)(token),
        }
    }
}

/// Numbers of all sizes up to `limit`, small ones often.
fn number(limit: i64) -> impl Strategy<Value = i64> {
    prop_oneof![-3..=3i64, -limit.min(70)..=limit.min(70), -limit..=limit]
}

fn expr(limit: i64) -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        Just(Expr::dim(0)),
        Just(Expr::dim(1)),
        Just(Expr::range(0)),
        number(limit).prop_map(Expr::constant),
    ];
    leaf.prop_recursive(5, 24, 3, move |inner| {
        let kept = |made: Result<Expr, weft_affine::Error>| made.unwrap_or_else(|_| Expr::dim(0));
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(move |(a, b)| kept(a.checked_add(&b))),
            (inner.clone(), inner.clone()).prop_map(move |(a, b)| kept(a.checked_sub(&b))),
            (inner.clone(), number(limit)).prop_map(move |(a, c)| kept(a.checked_mul(c))),
            (inner.clone(), 1..=limit).prop_map(move |(a, c)| kept(a.checked_floor_div(c))),
            (inner.clone(), 1..=12i64).prop_map(move |(a, c)| kept(a.checked_floor_div(c))),
            (inner.clone(), 1..=limit).prop_map(move |(a, c)| kept(a.checked_modulo(c))),
            (inner, 1..=12i64).prop_map(move |(a, c)| kept(a.checked_modulo(c))),
        ]
    })
}

/// Extents of `d0`, `d1` and `s0`, and where to look, as fractions of them.
fn scene(limit: i64) -> impl Strategy<Value = ([i64; 3], Vec<[u32; 3]>)> {
    let extent = prop_oneof![1..=8i64, 1..=limit];
    (prop::array::uniform3(extent), prop::collection::vec(prop::array::uniform3(any::<u32>()), 24))
}

fn points(extents: [i64; 3], fractions: &[[u32; 3]]) -> impl Iterator<Item = [i64; 3]> {
    let ends = [[0; 3], [u32::MAX; 3]];
    let place = move |fraction: u32, extent: i64| {
        let place = (i128::from(fraction) * i128::from(extent - 1) + (1 << 31)) / i128::from(u32::MAX);
        i64::try_from(place).unwrap().min(extent - 1)
    };
    let at = move |f: [u32; 3]| [place(f[0], extents[0]), place(f[1], extents[1]), place(f[2], extents[2])];
    ends.into_iter().chain(fractions.to_vec()).map(at)
}

fn value(expr: &Expr, point: [i64; 3]) -> Option<i64> {
    let of = |variable| match variable {
        Var::Dim(0) => point[0],
        Var::Dim(_) => point[1],
        _ => point[2],
    };
    expr.evaluate(of).ok()
}

fn word(value: i64) -> u32 {
    u32::try_from(value.rem_euclid(1 << 32)).unwrap()
}

fn holds(constraint: &Constraint, point: [i64; 3]) -> Option<bool> {
    value(&constraint.expr, point).map(|value| constraint.bounds.contains(value))
}

fn variables() -> Variables {
    Variables::new(vec!["d0".to_owned(), "d1".to_owned()])
}

/// Compares texts and meanings where `facts` hold; `always` says that no text may be refused.
fn check(
    extents: [i64; 3],
    fractions: &[[u32; 3]],
    facts: &[Constraint],
    expr: &Expr,
    bounds: Interval,
    always: bool,
) -> Result<(), TestCaseError> {
    let known = Known::new(&extents[..2]).in_loop(&extents[2..]).when(facts);
    let constraint = Constraint { expr: expr.clone(), bounds };
    // Outermost quotients and remainders get names first, as in a function that needs them twice.
    let mut named = variables();
    let mut definitions = Vec::new();
    let mut short = Expr::constant(expr.constant_term());
    for (position, term) in (0u32..).zip(expr.terms()) {
        let part = Expr::sum(0, [Term { coefficient: 1, atom: term.atom.clone() }]).unwrap();
        let defined = match &term.atom {
            Atom::Var(_) => None,
            _ => named.define(position, &part, &known).ok(),
        };
        let part = if defined.is_some() { Expr::runtime(position) } else { part };
        definitions.extend(defined);
        short = short.checked_add_scaled(&part, term.coefficient).unwrap();
    }
    let plain = variables();
    let texts = [index(expr, &known, &plain), index(&short, &known, &named), exact_index(expr, &known, &plain)];
    let open: Vec<Constraint> = known.open(std::slice::from_ref(&constraint));
    let open: Vec<Constraint> =
        open.into_iter().map(|test| Constraint { expr: short.clone(), bounds: test.bounds }).collect();
    let conditions = [condition(std::slice::from_ref(&constraint), &known, &plain), condition(&open, &known, &named)];
    if always {
        let refused = texts[..2].iter().any(Result::is_err) || conditions.iter().any(Result::is_err);
        prop_assert!(!refused, "{expr} is refused in {known:?}");
    }
    let (inside, outside) =
        (known.when(std::slice::from_ref(&constraint)), known.unless(std::slice::from_ref(&constraint)));
    for point in points(extents, fractions) {
        if !facts.iter().all(|fact| holds(fact, point) == Some(true)) {
            continue;
        }
        let Some(expected) = value(expr, point) else { continue };
        let base = |name: &str| match name {
            "d0" => word(point[0]),
            "d1" => word(point[1]),
            "s0" => word(point[2]),
            other => panic!("no variable {other}"),
        };
        let mut lets: Vec<(&str, u32)> = Vec::new();
        for line in &definitions {
            let (name, text) = line.strip_prefix("let ").and_then(|line| line.split_once(" = ")).unwrap();
            // A definition may use those before it.
            let names = |name: &str| {
                let defined = lets.iter().find(|(defined, _)| *defined == name);
                defined.map_or_else(|| base(name), |(_, value)| *value)
            };
            let value = Wgsl::new(text.strip_suffix(';').unwrap(), &names).number();
            lets.push((name, value));
        }
        let names = |name: &str| {
            let defined = lets.iter().find(|(defined, _)| *defined == name);
            defined.map_or_else(|| base(name), |(_, value)| *value)
        };
        for text in texts.iter().flatten() {
            prop_assert_eq!(Wgsl::new(text, &names).number(), word(expected), "{} as {} at {:?}", expr, text, point);
        }
        if let Ok(text) = summand(expr, &known, &plain) {
            let less = format!("{text} - 5u");
            prop_assert_eq!(Wgsl::new(&less, &names).number(), word(expected).wrapping_sub(5), "{}", less);
        }
        // No element has an index below 0.
        if texts[2].is_ok() && expected >= 0 {
            prop_assert_eq!(i64::from(word(expected)), expected);
        }
        let expected_truth = bounds.contains(expected);
        for text in conditions.iter().flatten() {
            let truth = Wgsl::new(text, &names).truth();
            prop_assert_eq!(truth, expected_truth, "{} in {} as {} at {:?}", expr, bounds, text, point);
        }
        let branch = if expected_truth { &inside } else { &outside };
        prop_assert!(branch.range(expr).contains(expected), "{} in {} at {:?}: {:?}", expr, bounds, point, branch);
    }
    Ok(())
}

/// Bounds around the values of an expression, often one-sided, sometimes none.
fn bounds(expr: &Expr, extents: [i64; 3], fractions: &[[u32; 3]], offsets: [i64; 2]) -> Interval {
    let values: Vec<i64> = points(extents, fractions).skip(2).filter_map(|point| value(expr, point)).collect();
    let at = |position: usize| values.get(position).copied().unwrap_or(0).saturating_add(offsets[position]);
    Interval { lo: at(0), hi: at(1) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn small_indices_are_right(
        expr in expr(90),
        fact in expr(20),
        (extents, fractions) in scene(60),
        offsets in prop::array::uniform2(-3..=3i64),
        facts in any::<bool>(),
    ) {
        let fact = Constraint { bounds: bounds(&fact, extents, &fractions, [-2, 2]), expr: fact };
        let facts = if facts { vec![fact] } else { Vec::new() };
        let bounds = bounds(&expr, extents, &fractions, offsets);
        let small = expr.evaluate(|_| 0).is_ok() && magnitude(&expr, extents) < 1 << 31;
        check(extents, &fractions, &facts, &expr, bounds, small)?;
    }

    #[test]
    fn large_indices_are_right_or_refused(
        expr in expr(1 << 34),
        (extents, fractions) in scene(1 << 33),
        offsets in prop::array::uniform2(number(1 << 33)),
    ) {
        let bounds = bounds(&expr, extents, &fractions, offsets);
        check(extents, &fractions, &[], &expr, bounds, false)?;
    }
}

/// A bound on the magnitude of every part of an expression.
fn magnitude(expr: &Expr, extents: [i64; 3]) -> i128 {
    let mut total = i128::from(expr.constant_term()).abs();
    let mut inner = 0;
    for term in expr.terms() {
        let part = match &term.atom {
            Atom::Var(Var::Dim(0)) => i128::from(extents[0]),
            Atom::Var(Var::Dim(_)) => i128::from(extents[1]),
            Atom::Var(_) => i128::from(extents[2]),
            Atom::FloorDiv(argument, _) | Atom::Mod(argument, _) => {
                inner = inner.max(magnitude(argument, extents));
                inner
            }
        };
        total += part.max(100) * i128::from(term.coefficient).abs();
    }
    total.max(inner)
}

fn text(expr: &str, extents: &[i64]) -> String {
    index(&expr.parse().unwrap(), &Known::new(extents), &variables()).unwrap()
}

fn tested(expr: &str, bounds: Interval, extents: &[i64]) -> String {
    let constraint = Constraint { expr: expr.parse().unwrap(), bounds };
    condition(&[constraint], &Known::new(extents), &variables()).unwrap()
}

#[test]
fn text_is_what_one_would_write() {
    assert_eq!(text("d0 * 8 + d1", &[8, 8]), "d0 * 8u + d1");
    assert_eq!(text("(d0 + d1) floordiv 3", &[8, 8]), "(d0 + d1) / 3u");
    assert_eq!(text("7 - d0", &[8]), "7u - d0");
    assert_eq!(text("-d0", &[1]), "0u - d0");
    assert_eq!(text("(d0 - 3) floordiv 5", &[8]), "((d0 + 2u) / 5u - 1u)");
    assert_eq!(text("d0 floordiv 4", &[8]), "d0 >> 2u");
    assert_eq!(text("(d0 - 3) floordiv 4 + d1", &[8, 8]), "d1 + (((d0 + 1u) >> 2u) - 1u)");
    assert_eq!(text("(d0 mod 4) * 3 - d0 floordiv 8", &[64]), "(d0 & 3u) * 3u - (d0 >> 3u)");
    assert_eq!(text("(d0 - 3) mod 5", &[8]), "(d0 + 2u) % 5u");
    assert_eq!(text("(d0 - 3) mod 4", &[8]), "(d0 - 3u) & 3u");
    assert_eq!(tested("d0 - 3", Interval::new(0, 4), &[16]), "d0 - 3u <= 4u");
    assert_eq!(tested("d0", Interval::new(2, 4), &[16]), "(d0 >= 2u) & (d0 <= 4u)");
    assert_eq!(tested("d0 mod 4", Interval::point(0), &[16]), "(d0 & 3u) == 0u");
    assert_eq!(tested("d0", Interval::new(-5, -1), &[16]), "false");
    assert_eq!(tested("d0", Interval::new(-5, 99), &[16]), "true");
}

#[test]
fn what_32_bits_cannot_hold_takes_two_words() {
    assert_eq!(text("(d0 * 999999) mod 100000", &[4000]), "(d0 * 999999u) % 100000u");
    let product = "multiply_wide(vec2<u32>(d0, 0u), vec2<u32>(999999u, 0u))";
    assert_eq!(text("(d0 * 999999) floordiv 100003", &[5000]), format!("divide_wide({product}, 100003u).x"));
    // A divisor of several factors is divided by one after the other.
    let product = "multiply_wide(vec2<u32>(d0, 0u), vec2<u32>(2764472321u, 1u))";
    let divided = format!("divide_wide(divide_wide({product}, 40961u), 149797u)");
    assert_eq!(text("(d0 * 7059439617) floordiv 6135834917", &[99]), format!("{divided}.x"));
    // A prime number of more than 32 bits is not.
    let by_prime: Expr = "(d0 * 7059439617) floordiv 4294967311".parse().unwrap();
    assert!(index(&by_prime, &Known::new(&[99]), &variables()).is_err());
    let far = tested("d0 * 999999", Interval::new(7, 4_999_999_999), &[9000]);
    let shifted =
        "add_wide(multiply_wide(vec2<u32>(d0, 0u), vec2<u32>(999999u, 0u)), vec2<u32>(4294967289u, 4294967295u))";
    assert_eq!(far, format!("at_most_wide({shifted}, vec2<u32>(705032696u, 1u))"));
    assert!(super::check_extent(1 << 32).is_ok());
    assert!(super::check_extent((1 << 32) + 1).is_err());
}
