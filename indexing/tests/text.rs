//! Round trips of the two texts of maps, and the errors of malformed ones, with their place.

use crate::parts::changed;
use proptest::prelude::*;
use weft_indexing::{Constraint, Expr, IndexingMap, Interval, OutOfBounds, Owner, RuntimeVariable, Variable};

fn read(text: &str) -> IndexingMap {
    text.parse().expect(text)
}

/// Reads what is canonical text already.
fn check_text(text: &str) -> IndexingMap {
    let map = read(text);
    assert_eq!(map.to_string(), text);
    map
}

#[test]
fn names_are_free() {
    check_text(
        "(th_x, bl_x)[k] -> (th_x + k, bl_x), domain: th_x in [0, 3], bl_x in [0, 31], k in [0, 7], th_x mod 2 in [0, 0]",
    );
    check_text(
        "(hlo, drop)[KNOWN]{UNDEFINED} -> (hlo + drop), domain: hlo in [0, 3], drop in [0, 1], KNOWN in [0, 1], UNDEFINED in [0, 4]",
    );
    let named = |names: [&str; 3]| {
        let dims = names.map(|name| Variable::new(Interval::of_extent(3)).named(name));
        let map = IndexingMap::try_new(dims.to_vec(), vec![], vec![], vec![Expr::dim(0) + Expr::dim(2)], vec![])
            .expect("the parts fit together");
        assert_eq!(read(&map.to_string()), map);
        map.to_string()
    };
    let of = |names: &str, sum: &str| {
        let bounds: Vec<String> = names.split(", ").map(|name| format!("{name} in [0, 2]")).collect();
        format!("({names}) -> ({sum}), domain: {}", bounds.join(", "))
    };
    assert_eq!(named(["a", "a", "b"]), of("a, d1, b", "a + b"), "a name belongs to the first that has it");
    assert_eq!(named(["d1", "mod", "x y"]), of("d0, d1, d2", "d0 + d2"), "numbers, keywords and no names at all");
    assert_eq!(named(["floorDiv", "", "%b"]), of("d0, d1, d2", "d0 + d2"));
}

#[test]
fn names_of_shared_terms_avoid_names_of_unused_variables() {
    let mut shared = Expr::dim(1);
    for i in 2..9 {
        shared = shared.floor_div(2) * 7 + shared.modulo(i + 3) + shared.floor_div(i * 5 + 1);
    }
    let dims = [4, 1000].map(|n| Variable::new(Interval::of_extent(n)));
    let dims = vec![dims[0].clone().named("t0"), dims[1].clone()];
    let map = IndexingMap::try_new(dims, vec![], vec![], vec![shared.floor_div(3), shared.modulo(3)], vec![])
        .expect("the parts fit together");
    let text = map.to_string();
    assert!(text.contains(" where "), "{text}");
    assert_eq!(read(&text), map);
    assert_eq!(read(&format!("{map:#}")), map);
}

#[test]
fn constraints_are_written_in_the_order_of_their_texts() {
    let text = "(d0, d1) -> (), domain: d0 in [0, 9], d1 in [0, 9], (d0 + 1) mod 3 in [0, 1], d0 + d1 in [0, 9], d1 mod 2 in [0, 0]";
    let map = check_text(text);
    let turned = changed(&map, |parts| parts.constraints.rotate_left(1));
    assert_eq!(turned, map);
    assert_eq!(turned.to_string(), text);
    assert_eq!(
        read("(d0) -> (), domain: d0 in [0, 9], d0 in [3, 12], d0 mod 2 in [0, 1], d0 mod 2 in [1, 5]").to_string(),
        "(d0) -> (), domain: d0 in [3, 9], d0 mod 2 in [1, 1]"
    );
}

#[test]
fn older_spellings_are_read() {
    let new = "(d0, d1) -> (d0 + d1 * 2), domain: d0 in [0, 9], d1 in [-3, 19], d0 - d1 in [-1, 4]";
    assert_eq!(
        read("(d0, d1) -> (d0 + 2d1)\ndomain:\n0 <= d0 <= 9\n-3 <= d1 <= 19\n-1 <= d0 - d1 <= 4").to_string(),
        new
    );
    assert_eq!(
        read("(d0, d1) -> (d0 + 2 * d1), domain: 0 <= d0 <= 9, d1 in [-3, 19], -1 <= -d1 + d0 <= 4,").to_string(),
        new
    );
    let three = read("(d0) -> (d0), domain: d0 in [0, 9], 3 * d0 in [6, 12], -d0 in [-3, 0]");
    assert_eq!(three.constraints().len(), 2);
    assert_eq!(read("(d0) -> (d0 ceildiv 4 + d0 ceilDiv -2), domain: d0 in [0, 9]").results().len(), 1);
}

#[test]
fn owners_are_shown() {
    let text = "(d0){rt0, rt1, rt2} -> (d0 + rt0, rt1, rt2),\ndomain:\nd0 in [0, 3],\nrt0 in [0, 26] drop\n  hlo: #7\n  (d0) -> (d0, 0),\n\
        rt1 in [0, 5]\n  hlo: ?\n  (d0){rt0, rt1, rt2} -> (rt0),\nrt2 in [0, 1] drop,\nd0 + rt0 in [0, 9]";
    let map = read(text);
    assert_eq!(map.verbose().to_string(), text);
    assert_eq!(format!("{map:?}"), text);
    assert_eq!(map.runtime()[0].access().len(), 2);
    assert_eq!((map.runtime()[0].owner(), map.runtime()[1].owner()), (Some(Owner(7)), None));
    assert_eq!(
        [0, 1, 2].map(|i| map.runtime()[i].out_of_bounds()),
        [OutOfBounds::Drop, OutOfBounds::Clamp, OutOfBounds::Drop]
    );
    let one_line =
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 26], hlo: #7 (d0) -> (d0, 0), d0 + rt0 in [0, 9]";
    assert_eq!(read(one_line).runtime()[0].owner(), Some(Owner(7)));
    let mixed = read(
        "(d0)[s0, s1]{x} -> (s0, s1, x), domain: d0 in [0, 3], s0 in [0, 4] hlo: #1 (d0)[s0, s1] -> (s1), s1 in [0, 7], x in [0, 1]",
    );
    assert_eq!(
        mixed.to_string(),
        "(d0)[s0]{rt0, x} -> (rt0, s0, x), domain: d0 in [0, 3], s0 in [0, 7], rt0 in [0, 4], x in [0, 1]"
    );
    assert_eq!(mixed.runtime()[0].access(), [Expr::range(0)]);
}

#[test]
fn names_of_owners_that_would_not_be_read_are_shown_as_tokens() {
    let start = RuntimeVariable::of(Owner(9), vec![Expr::dim(0)], Interval::of_extent(4));
    let map = IndexingMap::try_new(vec![Variable::new(Interval::of_extent(2))], vec![], vec![start], vec![], vec![])
        .expect("the parts fit together");
    for (name, shown) in [
        ("#3", "#9"),
        ("a\nb", "#9"),
        (" a", "#9"),
        ("", "#9"),
        ("?", "#9"),
        ("hlo: #3", "hlo: #3"),
        ("ü (é)", "ü (é)"),
        ("#x", "#x"),
    ] {
        let text = map.verbose_with(&|_| Some(name.to_owned())).to_string();
        assert!(text.contains(&format!("\n  hlo: {shown}\n")), "{text}");
        let again = IndexingMap::parse_with(&text, &mut |found| (found == name).then_some(Owner(9)));
        assert_eq!(again.expect(&text), map);
    }
}

#[test]
fn empty_and_undefined() {
    assert!(read("UNDEFINED").is_undefined());
    assert!(read("KNOWN EMPTY").is_known_empty());
    let empty = check_text("KNOWN EMPTY (d0) -> (d0), domain: d0 in [0, -1]");
    assert!(empty.is_known_empty());
    assert_eq!(read("(d0) -> (d0), domain: d0 in [0, -1]"), empty);
    assert!(check_text("KNOWN EMPTY (d0) -> (d0), domain: d0 in [0, 9]").is_known_empty());
}

#[test]
fn errors_point() {
    let cases = [
        ("(d0) -> (d1), domain: d0 in [0, 3]", "d1", "unknown name"),
        ("(d0) -> (d0 mod 0), domain: d0 in [0, 3]", "mod", "modulus 0"),
        ("(d0) -> (d0 mod -3), domain: d0 in [0, 3]", "mod", "modulus"),
        ("(d0) -> (d0), domain: d0 in [0 3]", "3]", "expected `,`"),
        ("(d0, d0) -> ()", "d0) ", "already taken"),
        ("(d0) -> (d0 * d0), domain: d0 in [0, 3]", "*", "constant"),
        ("(d0) -> (d0), domain: 0 <= d0 < 3", "< 3", "expected `<=`"),
        ("(d0) -> (d0), domain: d0 in [0, 99999999999999999999]", "99999999999999999999", "out of range"),
        ("(d0) -> (d0) domain: d0 in [0, 3] drop", "drop", "only a runtime variable"),
        ("(d0) -> (d0) domain: d0 in [0, 3] hlo: #1 (d0) -> ()", "hlo: #1 (d0) -> ()", "only a runtime variable"),
        ("(){rt0} -> () domain: rt0 in [0, 3] hlo: of1\n() -> ()", "of1", "no owner is known by the name `of1`"),
        ("(){rt0} -> () domain: rt0 in [0, 3] hlo: \n() -> ()", "\n", "expected the name"),
        ("(){rt0} -> () domain: rt0 in [0, 3] hlo: #1 (d3) -> ()", "(d3) ", "no variable `d3`"),
        ("(){rt0} -> () domain: rt0 in [0, 3] hlo: #x\n() -> ()", "#x", "`#x`"),
        ("(){rt0} -> () domain: rt0 in [0, 3] hlo: #1 () -> (rt0)", "rt0)", "`rt0`"),
        ("(d0) -> (d0); domain", ";", "unexpected character"),
    ];
    for (text, place, message) in cases {
        let error = text.parse::<IndexingMap>().expect_err(text);
        assert!(error.to_string().contains(message), "{text}: {error}");
        let span = error.span().expect(text);
        let at = text.rfind(place).expect(place);
        assert_eq!(span.start, at, "{text}: {error} at {span:?}");
        assert!(span.end <= text.len() && error.code() == "AFF006", "{text}: {error:?}");
    }
    for (text, message) in
        [("(d0) -> (d0", "found the end"), ("(d0) -> (d0)", "no bounds for `d0`"), ("", "found the end")]
    {
        let error = text.parse::<IndexingMap>().expect_err(text);
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert_eq!(error.span(), Some(text.len()..text.len()));
    }
}

/// Pieces of the notation, and a few that are none.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "->",
    ",",
    "domain:",
    "in",
    "hlo:",
    "#7",
    "drop",
    "where",
    "=",
    "<=",
    "d0",
    "d1",
    "s0",
    "rt0",
    "x",
    "0",
    "9",
    "-",
    "+",
    "*",
    "floordiv",
    "ceildiv",
    "mod",
    "9223372036854775808",
    "KNOWN",
    "EMPTY",
    "UNDEFINED",
    "\n",
    " ",
    "é",
    "\0",
    "(d0, d1)[s0]{rt0} -> (d0 + s0, rt0)",
    "d0 in [0, 3],",
    "rt0 in [0, 3] hlo: #1 (d0) -> (d0)",
    "hlo: a b c\n",
];

fn text_of_pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.join(" "))
}

/// A right text with some bytes changed, at boundaries of characters.
fn damaged_text() -> impl Strategy<Value = String> {
    let right = "KNOWN EMPTY (d0, x)[s0]{rt0, rt1} -> (d0 + t0 * 3, t0 floordiv 4) where t0 = s0 mod 3 - x,\ndomain:\n0 <= d0 <= 3,\nx in [0, 3],\n\
        s0 in [-4, 4],\nrt0 in [0, 3] drop\n  hlo: p = s32[] add(a, b)\n  (d0) -> (d0),\nrt1 in [0, 9]\n  hlo: #3\n  (d0){rt0} -> (rt0),\nd0 + s0 in [0, 9]";
    let damage = (0..right.len(), 0..4usize, prop::sample::select(PIECES));
    prop::collection::vec(damage, 0..4).prop_map(move |all| {
        let mut text = right.to_owned();
        for (at, length, piece) in all {
            let start = (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
            let end = (start + length..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(start);
            text.replace_range(start..end, piece);
        }
        text
    })
}

fn variable() -> impl Strategy<Value = Expr> {
    prop_oneof![Just(Expr::dim(0)), Just(Expr::range(0)), Just(Expr::runtime(0)), Just(Expr::constant(1))]
}

fn expression() -> impl Strategy<Value = Expr> {
    let number = prop::sample::select(vec![2, 3, -1, 4, 1 << 40, -7]);
    let divisor = prop::sample::select(vec![2, 3, 5, 1 << 40]);
    variable().prop_recursive(4, 24, 2, move |inner| {
        (inner.clone(), inner, number.clone(), divisor.clone(), 0..4).prop_map(|(a, b, f, c, shape)| match shape {
            0 => a.checked_add_scaled(&b, f).unwrap_or(b),
            1 => a.floor_div(c),
            2 => a.modulo(c),
            _ => a.checked_mul(f).unwrap_or(b),
        })
    })
}

fn bounds() -> impl Strategy<Value = Interval> {
    let end = prop_oneof![-9..9i64, Just(i64::MIN), Just(i64::MAX), Just(i64::MAX - 1), Just(i64::MIN + 1)];
    (end.clone(), end).prop_map(|(lo, hi)| Interval::new(lo, hi))
}

/// Names, some of which cannot be shown.
fn name() -> impl Strategy<Value = Option<String>> {
    let names = ["th_x", "th_x", "bl_x", "d0", "rt0", "in", "drop", "hlo", "t0", "x y", "é"];
    prop::option::of(prop::sample::select(names.map(str::to_owned).to_vec()))
}

fn any_map() -> impl Strategy<Value = IndexingMap> {
    let variable = || {
        (bounds(), name()).prop_map(|(bounds, name)| name.iter().fold(Variable::new(bounds), |v, name| v.named(name)))
    };
    let runtime =
        (bounds(), name(), prop::option::of(0..3u64), prop::collection::vec(expression(), 0..3), any::<bool>());
    let early = |e: Expr| e.variables().iter().all(|v| *v != weft_indexing::Var::Runtime(0));
    let runtime = runtime.prop_map(move |(bounds, name, owner, access, drops)| {
        let access = access.into_iter().filter(|e| early(e.clone())).collect();
        let plain = RuntimeVariable::new(bounds).with_access(access);
        let owned = owner.map_or(plain.clone(), |owner| plain.with_owner(Owner(owner)));
        let named = name.map_or(owned.clone(), |name| owned.named(&name));
        if drops { named.dropping() } else { named }
    });
    let constraint = (expression(), bounds()).prop_map(|(e, b)| Constraint::new(e, b));
    (
        variable(),
        variable(),
        runtime,
        prop::collection::vec(expression(), 0..3),
        prop::collection::vec(constraint, 0..3),
    )
        .prop_map(|(dim, range, runtime, results, constraints)| {
            IndexingMap::try_new(vec![dim], vec![range], vec![runtime], results, constraints)
                .expect("the parts fit together")
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in prop_oneof![text_of_pieces(), damaged_text(), "\\PC{0,60}"]) {
        let read = IndexingMap::parse_with(&text, &mut |name| (name.len() < 20).then_some(Owner(1)));
        match read {
            Ok(map) => {
                let again = IndexingMap::parse_with(&map.verbose().to_string(), &mut |_| None);
                prop_assert_eq!(again.as_ref(), Ok(&map), "{:?}", text);
            }
            Err(error) => {
                let span = error.span().expect("errors of reading have a place");
                prop_assert!(span.start <= span.end && text.get(span.clone()).is_some(), "{:?}: {:?}", text, span);
            }
        }
    }

    #[test]
    fn both_texts_round_trip(map in any_map()) {
        for text in [map.verbose().to_string(), format!("{map:?}")] {
            let read: IndexingMap = text.parse().expect(&text);
            prop_assert_eq!(&read, &map, "{}", text);
            prop_assert_eq!(read.verbose().to_string(), map.verbose().to_string());
        }
        let plain = changed(&map, |parts| {
            for variable in &mut parts.runtime {
                let plain = RuntimeVariable::new(variable.bounds());
                *variable = variable.name().map_or(plain.clone(), |name| plain.named(name));
            }
        });
        for text in [map.to_string(), format!("{map:#}")] {
            prop_assert_eq!(&text.parse::<IndexingMap>().expect(&text), &plain, "{}", text);
        }
    }
}

/// In results, constraints of both notations, definitions and accesses alike.
#[test]
fn signs_bind_before_operators() {
    let with = |results: &str, constraint: &str, older: &str, shared: &str, access: &str| {
        let text = format!(
            "(d0){{rt0}} -> ({results}, t) where t = {shared}, domain: d0 in [0, 9], rt0 in [0, 9] hlo: #1 (d0) -> ({access}), \
             {constraint} in [0, 1], 0 <= {older} <= 1"
        );
        text.parse::<IndexingMap>().expect(&text)
    };
    let short = with("-d0 mod 3", "-d0 mod 5", "-2 * d0 floordiv -7", "d0 + -rt0", "-d0 floordiv 2 + 5");
    let bracketed = with("(-d0) mod 3", "(-d0) mod 5", "((-2) * d0) floordiv -7", "d0 - rt0", "((-d0) floordiv 2) + 5");
    assert_eq!(short, bracketed);
    assert_eq!(short.evaluate(&[1], &[], &[4]), Ok(vec![2, -3]));
    assert_eq!(short.verbose().to_string().parse::<IndexingMap>(), Ok(short));
}
