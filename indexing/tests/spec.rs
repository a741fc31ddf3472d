//! Maps as the specification prints them, and what it says of their simplification.

use weft_indexing::{Expr, IndexingMap, Interval};

fn read(text: &str) -> IndexingMap {
    text.parse().expect(text)
}

/// Reads the specification's text, and expects it on one line again.
fn check_text(text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let one_line = words.join(" ").trim_end_matches(',').to_owned();
    let map = read(text);
    assert_eq!(map.to_string(), one_line);
    assert_eq!(read(&map.to_string()), map);
}

/// Simplifies, and compares the results as text.
fn check_simplified(text: &str, results: &str) {
    let mut map = read(text);
    let before = map.clone();
    map.simplify();
    let simple = map.to_string();
    assert_eq!(simple.split(", domain").next(), Some(results), "of {text}");
    let mut again = map.clone();
    assert!(!again.simplify(), "{again} is not a fixed point");
    if before.box_size() <= 20_000 {
        assert_same_function(&before, &map);
    }
}

fn assert_same_function(a: &IndexingMap, b: &IndexingMap) {
    assert!(a.points().eq(b.points()), "{a}\n{b}");
    for p in a.points() {
        assert_eq!(
            a.evaluate(&p.dims, &p.ranges, &p.runtime),
            b.evaluate(&p.dims, &p.ranges, &p.runtime),
            "{a}\n{b}\n{p:?}"
        );
    }
}

#[test]
fn texts_of_the_examples() {
    check_text("(d0, d1) -> (d0, d1),\ndomain:\nd0 in [0, 9],\nd1 in [0, 19]");
    check_text("(d0)[s0, s1] -> (s0, d0, s1),\ndomain:\nd0 in [0, 19],\ns0 in [0, 9],\ns1 in [0, 29]");
    check_text(
        "(d0, d1, d2){rt0, rt1, rt2} -> (d0 + rt0, d1 + rt1, d2 + rt2),\ndomain:\nd0 in [0, 0],\nd1 in [0, 1],\n\
         d2 in [0, 31],\nrt0 in [0, 1],\nrt1 in [0, 0],\nrt2 in [0, 226]",
    );
    check_text(
        "(d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1),\ndomain:\nd0 in [0, 19],\nd1 in [0, 29],\nrt0 in [0, 15],\nrt1 in [0, 20]",
    );
    check_text(
        "(d0, d1, d2, d3) -> (d0, d3, d1, d2),\ndomain:\nd0 in [0, 2],\nd1 in [0, 5],\nd2 in [0, 127],\nd3 in [0, 12287],",
    );
    check_text(
        "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3),\ndomain:\nd0 in [0, 0],\nd1 in [0, 16],\nd2 in [0, 8],\nd3 in [0, 8]",
    );
    check_text("()[s0] -> (s0),\ndomain:\ns0 in [0, 9]");
    check_text("(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2),\ndomain:\nd0 in [0, 4],\nd1 in [0, 2],\nd2 in [0, 24]");
    check_text(
        "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2),\ndomain:\nd0 in [5, 9],\nd1 in [3, 17],\n\
         d2 in [0, 48],\n(d1 - 3) mod 7 in [0, 0],\nd2 mod 2 in [0, 0]",
    );
    check_text("(d0) -> (d0 floordiv 8, d0 mod 8),\ndomain:\nd0 in [0, 31]");
    check_text("(d0, d1) -> (d0 * 8 + d1),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7]");
    check_text(
        "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4),\ndomain:\nd0 in [0, 1],\nd1 in [0, 3],\nd2 in [0, 3]",
    );
    check_text(
        "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7]",
    );
    check_text(
        "(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4),\ndomain:\nd0 in [1, 7],\nd1 in [4, 7],\n(d0 - 1) mod 2 in [0, 0]",
    );
    check_text("(d0, d1) -> (), domain: d0 in [0, 11], d1 in [0, 15]");
    check_text("(d0, d1)[s0] -> (d0, d1 + s0),\ndomain:\nd0 in [0, 1023],\nd1 in [0, 2],\ns0 in [0, 511]");
    check_text("UNDEFINED");
    check_text("() -> ()");
}

#[test]
fn missing_commas_are_read() {
    let lines =
        "(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2),\ndomain:\nd0 in [0, 31],\nd1 in [0, 2]\nd2 in [0, 3]";
    assert_eq!(read(lines).dims.len(), 3);
    assert_eq!(read("(d0, d1) -> ()\ndomain:\nd0 in [0, 1]\nd1 in [0, 3]").results.len(), 0);
}

#[test]
fn rules_of_the_simplifier() {
    check_simplified(
        "(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16), domain: d0 in [0, 6], d1 in [0, 14]",
        "(d0, d1) -> (d0, d1)",
    );
    check_simplified(
        "(d0, d1, d2) -> ((100d0 + 10d1 + d2) floorDiv 100, ((100d0 + 10d1 + d2) mod 100) floordiv 10, d2 mod 10), \
         domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        "(d0, d1, d2) -> (d0, d1, d2)",
    );
    check_simplified(
        "(d0, d1, d2) -> ((16d0 + 4d1 + d2) floordiv 8, (16d0 + 4d1 + d2) mod 8), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        "(d0, d1, d2) -> (d0 * 2 + (d1 * 4 + d2) floordiv 8, (d1 * 4 + d2) mod 8)",
    );
    check_simplified(
        "(d0, d1) -> (-(-11d0 - d1 + 109) floordiv 11 + 9), domain: d0 in [0, 9], d1 in [0, 10]",
        "(d0, d1) -> (d0)",
    );
}

#[test]
fn reshapes_cancel() {
    let ten = "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]";
    let to_flat = |text: &str| read(&format!("{text}, {ten}"));
    let collapse = to_flat("(d0, d1, d2) -> (d0 * 100 + d1 * 10 + d2)");
    let to_two = read("(d0) -> (d0 floordiv 20, d0 mod 20), domain: d0 in [0, 999]");
    let from_two = read("(d0, d1) -> (d0 * 20 + d1), domain: d0 in [0, 49], d1 in [0, 19]");
    let expand = read("(d0) -> (d0 floordiv 100, (d0 floordiv 10) mod 10, d0 mod 10), domain: d0 in [0, 999]");
    let mut chain = collapse;
    for next in [to_two, from_two, expand] {
        chain = chain.compose(&next).unwrap();
        chain.simplify();
    }
    assert_eq!(chain, IndexingMap::identity(&[10, 10, 10]));
}

#[test]
fn constraints_become_plain() {
    // Undone floor division, satisfied constraint, and the trap of a negative divisor.
    check_simplified("(d0) -> (d0), domain: d0 in [0, 99], (d0 * 2 + 1) floordiv 4 in [1, 3]", "(d0) -> (d0)");
    let mut map = read("(d0)[s0] -> (d0), domain: d0 in [0, 5], s0 in [1, 3], d0 + s0 in [0, 20]");
    map.simplify();
    assert!(map.constraints.is_empty());
    let mut map = read("()[s0] -> (s0), domain: s0 in [-100, 100], s0 floordiv -3 in [-11, -5]");
    map.simplify();
    assert_eq!(map.to_string(), "()[s0] -> (s0), domain: s0 in [13, 33]");
    // 4·d0 + d1 in [0, 10] must not become d0 <= 2 with the constraint gone, unless d1 < 4 is known.
    for d1 in [3, 4, 9] {
        let text = format!("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, {d1}], d0 * 4 + d1 in [0, 10]");
        let mut map = read(&text);
        map.simplify();
        assert_same_function(&read(&text), &map);
    }
}

#[test]
fn residues_merge_or_contradict() {
    let mut map = read("(d0) -> (d0), domain: d0 in [0, 40], d0 mod 4 in [3, 3], (d0 + 1) mod 6 in [1, 1]");
    map.simplify();
    assert!(map.is_known_empty());
    check_simplified(
        "(d0) -> (d0), domain: d0 in [0, 40], d0 mod 4 in [3, 3], (d0 + 1) mod 6 in [0, 0]",
        "(d0) -> (d0)",
    );
    let mut map = read("(d0) -> (d0), domain: d0 in [0, 40], d0 mod 2 in [2, 2]");
    map.simplify();
    assert!(map.is_known_empty());
    assert_eq!(read(&map.to_string()), map);
    check_simplified("(d0) -> ((d0 floordiv 8) * 8), domain: d0 in [0, 99], d0 mod 8 in [0, 0]", "(d0) -> (d0)");
    check_simplified(
        "(d0, d1) -> ((16d0 + d1) floordiv 128), domain: d0 in [0, 99], d1 in [0, 79], d0 mod 8 in [3, 3]",
        "(d0, d1) -> (d0 floordiv 8)",
    );
}

#[test]
fn names_and_origins_survive() {
    check_text("(row, lane)[k] -> (row + k, lane), domain: row in [0, 3], lane in [0, 31], k in [0, 7]");
    let text = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 26] hlo: #7 drop (d0){rt0} -> (d0, 0)";
    let map = read(text);
    assert_eq!(map.verbose().to_string(), text);
    assert_eq!(map.runtime[0].access.len(), 2);
}

#[test]
fn equal_runtime_variables_are_one() {
    let slice = read("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 4] hlo: #7 clamp (d0){rt0} -> ()");
    let both = slice
        .compose(&read("(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 7], rt0 in [0, 4] hlo: #7 clamp (d0){rt0} -> ()"))
        .unwrap();
    assert_eq!(both.runtime.len(), 1);
    assert_eq!(both.results[0].to_string(), "d0");
    let other = slice
        .compose(&read("(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 7], rt0 in [0, 5] hlo: #7 clamp (d0){rt0} -> ()"))
        .unwrap();
    assert_eq!(other.runtime.len(), 2, "other bounds clamp to other values");
}

#[test]
fn names_of_shared_terms_avoid_names_of_unused_variables() {
    let mut shared = Expr::dim(1);
    for i in 2..9 {
        shared = shared.floor_div(2) * 7 + shared.modulo(i + 3) + shared.floor_div(i * 5 + 1);
    }
    let mut map = IndexingMap::new(&[4, 1000], &[], vec![shared.floor_div(3), shared.modulo(3)]);
    map.dims[0].name = Some("t0".to_owned());
    let text = map.to_string();
    assert!(text.contains(" where "), "{text}");
    assert_eq!(read(&text), map);
}

#[test]
fn unused_symbols_without_values_stay() {
    let mut map = read("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3]");
    map.ranges[0].bounds = Interval::EMPTY;
    assert!(!map.remove_unused_symbols(), "without s0 the domain would have points");
    assert_eq!(map.points().count(), 0);
}

#[test]
fn a_bound_beyond_the_numbers_is_not_dropped() {
    let text = "(d0) -> (d0), domain: d0 in [0, 9], (-d0) floordiv 3 in [-9223372036854775808, -9223372036854775808]";
    let mut map = read(text);
    map.simplify();
    assert_eq!(map.points().count(), 0, "{map}");
    let mut open = read(&text.replace("[0, 9]", "[0, 9223372036854775807]"));
    open.simplify();
    assert!(!open.contains(&[5], &[], &[]), "{open}");
}

#[test]
fn accesses_come_before() {
    let text = "(d0){rt0, rt1} -> (d0 + rt0), domain: d0 in [0, 3], \
        rt0 in [0, 5] hlo: #1 clamp (d0){rt0, rt1} -> (rt1), rt1 in [0, 5]";
    let error = text.parse::<IndexingMap>().unwrap_err();
    assert!(error.to_string().contains("`rt0`"), "{error}");
}

#[test]
fn errors_point() {
    let cases = [
        ("(d0) -> (d1), domain: d0 in [0, 3]", 9..11),
        ("(d0) -> (d0 mod 0), domain: d0 in [0, 3]", 12..15),
        ("(d0) -> (d0), domain: d0 in [0 3]", 31..32),
        ("(d0, d0) -> ()", 5..7),
        ("(d0) -> (d0", 11..11),
    ];
    for (text, span) in cases {
        let error = text.parse::<IndexingMap>().unwrap_err();
        assert_eq!(error.span(), Some(span), "{text}: {error}");
    }
}
