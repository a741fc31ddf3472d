//! Maps as the specification prints them, and what it says of their simplification.

use weft_affine::AffineMap;
use weft_indexing::{IndexingMap, OwnerNames};

fn read(text: &str) -> IndexingMap {
    text.parse().expect(text)
}

/// Reads the specification's text, and expects it again, blanks aside.
fn check_text(text: &str) {
    let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
    let map = read(text);
    assert_eq!(without_blanks(&map.to_string()), without_blanks(text));
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

/// The maps of a file, set apart by empty lines.
fn maps(file: &str) -> Vec<&str> {
    file.split("\n\n").map(str::trim_end).filter(|text| !text.is_empty()).collect()
}

/// The text without what the three versions set differently: commas at the ends of lines, and doubled blanks.
fn without_layout(text: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(|line| words(line.trim_end().trim_end_matches(','))).collect()
}

#[test]
fn maps_of_the_current_version() {
    let all = [maps(include_str!("spec/current.txt")), maps(include_str!("spec/earlier.txt"))];
    assert_eq!(all.each_ref().map(Vec::len), [47, 45]);
    for text in all.concat() {
        let map = read(text);
        assert_eq!(without_layout(&format!("{map:#}")), without_layout(text));
        assert_eq!(read(&map.to_string()), map, "on one line");
        assert_eq!(read(&format!("{map:#}")), map, "on several lines");
        assert_eq!(read(&map.verbose().to_string()), map);
        let one_line = without_layout(text).join(", ").replace("domain:, ", "domain: ");
        assert_eq!(map.to_string(), one_line);
    }
}

/// There runtime variables are numbered among the symbols, and show the instruction and the element.
#[test]
fn maps_of_the_chinese_version() {
    let texts = maps(include_str!("spec/chinese.txt"));
    assert_eq!(texts.len(), 45);
    let mut runtime = 0;
    for text in texts {
        let mut owners = OwnerNames::default();
        let map = IndexingMap::parse_with(text, &mut |name| Some(owners.owner(name))).expect(text);
        runtime += map.runtime().len();
        let verbose = map.verbose_with(&|owner| owners.name(owner)).to_string();
        let renamed = |line: String| match () {
            () if map.runtime().is_empty() || line.starts_with("hlo:") => line,
            () if line.contains(" in ") => line.replacen('s', "rt", 1),
            () => line.replace('[', "{").replace(']', "}").replace('s', "rt"),
        };
        let expected: Vec<String> = without_layout(text).into_iter().map(renamed).collect();
        assert_eq!(without_layout(&verbose), expected);
        let again = IndexingMap::parse_with(&verbose, &mut |name| Some(owners.owner(name))).expect(&verbose);
        assert_eq!(again, map);
        assert_eq!(read(&map.verbose().to_string()), map, "owners by their tokens");
    }
    assert_eq!(runtime, 3 + 2 + 2);
}

#[test]
fn maps_in_the_running_text() {
    for text in maps(include_str!("spec/inline.txt")) {
        check_text(text);
        let older = text.replace("j in [0, 19]", "0 <= j <= 19").replace("d0 in [0, 9]", "0 <= d0 <= 9");
        assert_eq!(read(&older).to_string(), read(text).to_string());
    }
    let affine = "(d0)[s0, s1] -> (s0 + 5, d0 * 2, s1 * 3 + 50)";
    assert_eq!(affine.parse::<AffineMap>().expect(affine).to_string(), affine, "without a domain it is an affine map");
    check_text("UNDEFINED");
    check_text("() -> ()");
}

#[test]
fn documented_simplifications_and_rules_of_constraints() {
    let file = include_str!("spec/simplified.txt");
    let mut cases = 0;
    for case in maps(file).into_iter().filter(|case| !case.starts_with('#')) {
        let (before, after) = case.split_once('\n').expect("two lines");
        let mut map = read(before);
        assert!(map.simplify(), "{before}");
        assert_eq!(map.to_string(), read(after).to_string(), "of {before}");
        assert!(!map.clone().simplify(), "{map} is not a fixed point");
        assert_same_function(&read(before), &map);
        cases += 1;
    }
    assert_eq!(cases, 12);
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
        chain = chain.then(&next).unwrap();
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
    assert!(map.constraints().is_empty());
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
fn a_bound_beyond_the_numbers_is_not_dropped() {
    let text = "(d0) -> (d0), domain: d0 in [0, 9], (-d0) floordiv 3 in [-9223372036854775808, -9223372036854775808]";
    let mut map = read(text);
    map.simplify();
    assert_eq!(map.points().count(), 0, "{map}");
    let mut open = read(&text.replace("[0, 9]", "[0, 9223372036854775807]"));
    open.simplify();
    assert!(!open.contains(&[5], &[], &[]), "{open}");
}
