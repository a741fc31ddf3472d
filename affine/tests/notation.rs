//! Expressions and maps written down by hand, in Rust and as text.

use weft_affine::{AffineMap, Expr, Var, affine_map};

fn read(text: &str) -> Expr {
    text.parse().expect(text)
}

#[test]
fn operators_read_like_mathematics() {
    let [d0, d1] = Var::dims();
    let [s0] = Var::ranges();
    let [_, rt1] = Var::runtimes();
    let tile = (d0 * 8 + d1).floor_div(4);
    assert_eq!(tile, read("(d0 * 8 + d1) floordiv 4"));
    assert_eq!(8 * d0 - 3 * &tile + rt1, read("d0 * 8 - 3 * ((d0 * 8 + d1) floordiv 4) + rt1"));
    assert_eq!(1 - d0, read("1 - d0"));
    assert_eq!(-d0 - &tile, read("-d0 - (d0 * 8 + d1) floordiv 4"));
    assert_eq!(d0 + -d1, read("d0 + -d1"));
    assert_eq!(5 + (&tile - 2) * 2, read("((d0 * 8 + d1) floordiv 4) * 2 + 1"));
    assert_eq!(1 - tile, read("1 - (d0 * 8 + d1) floordiv 4"));
    assert_eq!(d0.ceil_div(3) + s0.modulo(5), read("d0 ceildiv 3 + s0 mod 5"));
    assert_eq!(d0 - d0, Expr::constant(0));
}

#[test]
fn a_map_in_rust_is_the_map_of_its_text() {
    let width = 16;
    let map = affine_map!((i, j)[k]{start} -> (i * width + start, (j + k).floor_div(4), 0, k));
    let text = "(i, j)[k]{start} -> (i * 16 + start, (j + k) floordiv 4, 0, k)";
    assert_eq!(map, text.parse::<AffineMap>().expect("the same map"));
    assert_eq!(affine_map!((a, b) -> (b, a)).to_string(), "(d0, d1) -> (d1, d0)");
    assert_eq!(affine_map!(() -> ()), AffineMap::identity(0));
    assert_eq!(affine_map!(()[s] -> (s)).ranges(), 1);
    assert_eq!(affine_map!((){r} -> (r * 2)).runtime(), 1);
}

/// As in MLIR.
#[test]
fn a_sign_binds_before_every_operator() {
    let at_one = |text: &str| read(text).evaluate(|_| 1).expect(text);
    for (text, bracketed, value) in [
        ("-d0 mod 3", "(-d0) mod 3", 2),
        ("-2 * d0 mod 3", "((-2) * d0) mod 3", 1),
        ("-2d0 mod 3", "((-2) * d0) mod 3", 1),
        ("-7 floordiv 2", "(-7) floordiv 2", -4),
        ("-7 ceildiv 2", "(-7) ceildiv 2", -3),
        ("-(d0 + 6) floordiv 2", "(-(d0 + 6)) floordiv 2", -4),
        ("0 - d0 mod 3", "-(d0 mod 3)", -1),
        ("d0 + -d1", "d0 - d1", 0),
        ("d0 - -d1", "d0 + d1", 2),
        ("s0 + -(rt0 mod 2)", "s0 - rt0 mod 2", 0),
        ("5 - -d0 mod 3", "5 - ((-d0) mod 3)", 3),
        ("2 * -d0", "d0 * -2", -2),
        ("--d0 - - -3", "d0 - 3", -2),
        ("d0 floordiv -(4)", "d0 floordiv -4", -1),
    ] {
        assert_eq!(read(text), read(bracketed), "{text}");
        assert_eq!(at_one(text), value, "{text}");
    }
    // At the ends the sign belongs to the number, and a difference may reach them.
    for text in
        ["-9223372036854775808", "d0 - 9223372036854775808", "d0 + -9223372036854775808", "-9223372036854775808d0"]
    {
        assert_eq!(read(&read(text).to_string()), read(text), "{text}");
    }
    assert_eq!(read("-9223372036854775808 floordiv 2"), Expr::constant(-(1 << 62)));
    assert_eq!(read("-9223372036854775808 floordiv 2 * 2 + d0 - d0"), Expr::constant(i64::MIN));
    for text in
        ["9223372036854775808", "-(-9223372036854775808)", "0 - -9223372036854775808", "d0 - 9223372036854775808 * 1"]
    {
        assert!(text.parse::<Expr>().is_err(), "{text}");
    }
    // Signs do not nest.
    assert_eq!(read(&format!("{}d0", "-".repeat(100_000))), read("d0"));
}

/// What is not of the algebra is refused with a code and the bytes that are at fault.
#[test]
fn semi_affine_text_is_refused() {
    let cases = [
        ("d0 * d1", "*"),
        ("d0 + 3 * (d1 * s0)", "*"),
        ("d0 floordiv s0", "s0"),
        ("d0 mod (d1 + 1)", "("),
        ("7 ceildiv d0", "d0"),
    ];
    for (text, place) in cases {
        let error = text.parse::<Expr>().expect_err(text);
        assert_eq!(error.code(), "AFF006", "{text}: {error}");
        let span = error.span().expect("an error in text has a place");
        assert_eq!(&text[span], place, "{text}");
    }
}
