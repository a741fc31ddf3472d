//! Custom calls for linear algebra: what they refuse, numbers of any size, and the bits of results.

use super::cases::numbers;
use super::lapack::{Kind, call, gees, geev, matrix, norm, reflections, text, values};
use super::{adjoint, far, products, waves};
use num_complex::{Complex, Complex64};
use weft_hlo::eval::{CustomCalls, evaluate};
use weft_hlo::ir::{Data, Literal};
use weft_hlo::text::parse;

/// Every routine ends for every number that there is, and says by `info` or NaN where it found nothing.
#[test]
fn numbers_that_are_not_finite_or_not_normal_end() {
    let odd =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e-310, -0.0, 1e200, 1e-200];
    for kind in Kind::ALL {
        for order in [1usize, 2, 3, 6] {
            for (number, &value) in odd.iter().enumerate() {
                for everywhere in [true, false] {
                    let mut a = waves(order * order, number as u64 + 1);
                    let place = (number * 7) % a.len();
                    for (at, element) in a.iter_mut().enumerate() {
                        let scaled = *element * if value.is_finite() { value } else { 1.0 };
                        *element = if everywhere {
                            scaled
                        } else if at == place {
                            Complex::new(value, 0.0)
                        } else {
                            *element
                        };
                    }
                    if everywhere && !value.is_finite() {
                        a.fill(Complex::new(value, value));
                    }
                    every_routine(kind, order, &a, &format!("{kind:?} {order} {value:e} {everywhere}"));
                }
            }
        }
    }
}

fn every_routine(kind: Kind, order: usize, a: &[Complex64], note: &str) {
    let is_finite = kind.rounded(a).iter().all(|value| value.is_finite());
    let found = geev(kind, order, a);
    let info = &found[found.len() - 1].data;
    assert_eq!(*info == Data::S32(vec![0]), is_finite, "{note}");
    assert!(is_finite || values(kind, &found, 0).iter().all(|value| value.is_nan()), "{note}");
    let found = gees(kind, order, a);
    assert_eq!(found[found.len() - 1].data == Data::S32(vec![0]), is_finite, "{note}");
    let (square, vector, less) = (vec![order, order], vec![order], vec![order - 1]);
    let given = (kind.name, kind.literal(&square, a));
    let band = (kind.name, kind.literal(&vector, &a[..order]));
    let named = |real: &str, complex: &str| if kind.is_real() { real.to_owned() } else { complex.to_owned() };
    let target = |routine: &str| format!("lapack_{}{routine}_ffi", kind.letter);
    let (s, v) = ((kind.name, square.clone()), (kind.name, vector.clone()));
    call(
        &target("gehrd"),
        &format!("low = 1 : i32, high = {order} : i32"),
        std::slice::from_ref(&given),
        &[s.clone(), (kind.name, less.clone()), ("s32", vec![])],
    );
    for uplo in [76, 85] {
        let config = format!("uplo = {uplo} : ui8, mode = 86 : ui8");
        let results = [
            s.clone(),
            (kind.real, vector.clone()),
            (kind.real, less.clone()),
            (kind.name, less.clone()),
            ("s32", vec![]),
        ];
        call(&target(&named("sytrd", "hetrd")), &config, std::slice::from_ref(&given), &results);
        call(
            &target(&named("syevd", "heevd")),
            &config,
            std::slice::from_ref(&given),
            &[s.clone(), (kind.real, vector.clone()), ("s32", vec![])],
        );
    }
    let order_of_columns = ("s32", Literal::array([order as i64], vec![0i32; order]));
    call(&target("geqp3"), "", &[given.clone(), order_of_columns], &[s.clone(), ("s32", vector.clone()), v.clone()]);
    let config = "left = true, transpose = true";
    call(
        &target(&named("ormqr", "unmqr")),
        config,
        &[given.clone(), band.clone(), given.clone()],
        std::slice::from_ref(&s),
    );
    let bands = [band.clone(), band.clone(), band, given];
    call(&target("gtsv"), "", &bands, &[v.clone(), v.clone(), v, s.clone(), ("s32", vec![])]);
    call("tridiagonal_solve_perturbed_ffi", "", &bands, &[s]);
}

#[test]
fn matrices_of_no_elements_give_none() {
    for kind in Kind::ALL {
        let empty = |extents: &[usize]| (kind.name, kind.literal(extents, &[]));
        let named = |real: &str, complex: &str| if kind.is_real() { real.to_owned() } else { complex.to_owned() };
        let target = |routine: &str| format!("lapack_{}{routine}_ffi", kind.letter);
        let (of, real) = (|extents: &[usize]| (kind.name, extents.to_vec()), (kind.real, vec![0]));
        let (s, v, info) = (of(&[0, 0]), of(&[0]), ("s32", vec![]));
        let no_columns = ("s32", Literal::array([0], Vec::<i32>::new()));
        let columns = ("s32", Literal::array([3], vec![0i32; 3]));
        let zero = Data::S32(vec![0]);
        let bands = [empty(&[0]), empty(&[0]), empty(&[0]), empty(&[0, 2])];
        for found in [
            call(
                &target("gehrd"),
                "low = 1 : i32, high = 0 : i32",
                &[empty(&[0, 0])],
                &[s.clone(), v.clone(), info.clone()],
            ),
            call(
                &target(&named("sytrd", "hetrd")),
                "uplo = 85 : ui8",
                &[empty(&[0, 0])],
                &[s.clone(), real.clone(), real, v.clone(), info.clone()],
            ),
            call(&target("gtsv"), "", &bands, &[v.clone(), v.clone(), v.clone(), of(&[0, 2]), info]),
        ] {
            assert_eq!(found[found.len() - 1].data, zero, "{kind:?}");
        }
        call("tridiagonal_solve_perturbed_ffi", "", &bands, &[of(&[0, 2])]);
        call(&target("geqp3"), "", &[empty(&[3, 0]), no_columns], &[of(&[3, 0]), ("s32", vec![0]), v.clone()]);
        let found = call(&target("geqp3"), "", &[empty(&[0, 3]), columns], &[of(&[0, 3]), ("s32", vec![3]), v]);
        assert_eq!(found[1].data, Data::S32(vec![1, 2, 3]));
        let operands = [empty(&[3, 0]), empty(&[0]), empty(&[3, 0])];
        call(&target(&named("ormqr", "unmqr")), "left = true, transpose = false", &operands, &[of(&[3, 0])]);
        assert!(
            geev(kind, 0, &[])
                .iter()
                .chain(&gees(kind, 0, &[]))
                .all(|literal| literal.data.len() == Some(0) || literal.data == zero)
        );
    }
}

/// What `jaxlib` 0.10.2 registers for CPUs, by its own list.
#[test]
fn every_target_of_jax_is_registered() {
    let calls = CustomCalls::default();
    let registered: Vec<&str> = calls.targets().filter(|target| target.ends_with("_ffi")).collect();
    let any = ["gees", "geev", "gehrd", "geqp3", "geqrf", "gesdd", "gesvd", "getrf", "gtsv", "potrf", "trsm"];
    let (real, complex) = (["orgqr", "ormqr", "syevd", "sytrd"], ["heevd", "hetrd", "ungqr", "unmqr"]);
    let mut expected: Vec<String> = vec!["tridiagonal_solve_perturbed_ffi".to_owned()];
    for kind in Kind::ALL {
        let own = if kind.is_real() { real } else { complex };
        expected.extend(any.iter().chain(&own).map(|routine| format!("lapack_{}{routine}_ffi", kind.letter)));
    }
    expected.sort();
    assert_eq!(registered, expected);
}

#[test]
fn what_routines_cannot_do_is_refused() {
    let kind = Kind::ALL[1];
    let one = |extents: &[usize]| {
        ("f64", kind.literal(extents, &vec![Complex::new(1.0, 0.0); extents.iter().product::<usize>()]))
    };
    let order = |columns: usize| ("s32", Literal::array([columns as i64], vec![0i32; columns]));
    let (square, vector, number) = (("f64", vec![2, 2]), ("f64", vec![2]), ("s32", vec![]));
    let complex = ("c128", vec![2, 2]);
    let forms = [square.clone(), square.clone(), vector.clone(), vector.clone(), number.clone(), number.clone()];
    let spectrum = [vector.clone(), vector.clone(), complex.clone(), complex.clone(), number.clone()];
    let packed = [square.clone(), ("f64", vec![1]), number.clone()];
    let bands = [one(&[2]), one(&[2]), one(&[2]), one(&[2, 1])];
    for (target, config, operands, results) in [
        ("lapack_dgees_ffi", "mode = 86 : ui8, sort = 83 : ui8", vec![one(&[2, 2])], &forms[..]),
        ("lapack_dgees_ffi", "mode = 86 : ui8", vec![one(&[2, 2])], &forms[..]),
        ("lapack_dgees_ffi", "mode = 86 : ui8, sort = 78 : ui8", vec![one(&[2, 2])], &forms[1..]),
        ("lapack_dgeev_ffi", "compute_left = 86 : ui8", vec![one(&[2, 2])], &spectrum[..]),
        ("lapack_dgeev_ffi", "compute_left = 86 : ui8, compute_right = 86 : ui8", vec![one(&[2, 3])], &spectrum[..]),
        ("lapack_zgeev_ffi", "compute_left = 86 : ui8, compute_right = 86 : ui8", vec![one(&[2, 2])], &spectrum[..]),
        ("lapack_dgehrd_ffi", "low = 0 : i32, high = 2 : i32", vec![one(&[2, 2])], &packed[..]),
        ("lapack_dgehrd_ffi", "low = 1 : i32, high = 3 : i32", vec![one(&[2, 2])], &packed[..]),
        ("lapack_dgehrd_ffi", "", vec![one(&[2, 2])], &packed[..]),
        (
            "lapack_dormqr_ffi",
            "left = true",
            vec![one(&[2, 2]), one(&[2]), one(&[2, 2])],
            std::slice::from_ref(&square),
        ),
        (
            "lapack_dormqr_ffi",
            "left = true, transpose = 2",
            vec![one(&[2, 2]), one(&[2]), one(&[2, 2])],
            std::slice::from_ref(&square),
        ),
        (
            "lapack_dormqr_ffi",
            "left = true, transpose = true",
            vec![one(&[3, 2]), one(&[2]), one(&[2, 2])],
            std::slice::from_ref(&square),
        ),
        ("lapack_dgeqp3_ffi", "", vec![one(&[2, 2]), one(&[2])], &[square.clone(), ("s32", vec![2]), vector.clone()]),
        ("lapack_dgeqp3_ffi", "", vec![one(&[2, 2]), order(3)], &[square.clone(), ("s32", vec![2]), vector.clone()]),
        ("lapack_dgtsv_ffi", "", bands[1..].to_vec(), &spectrum[..]),
        ("lapack_dgtsv_ffi", "", vec![one(&[1]), one(&[2]), one(&[2]), one(&[2, 1])], &spectrum[..]),
        ("tridiagonal_solve_perturbed_ffi", "", bands.to_vec(), std::slice::from_ref(&square)),
    ] {
        let given: Vec<Literal> = operands.iter().map(|(_, literal)| literal.clone()).collect();
        let lines = text(target, config, &operands, results);
        let (rest, root) = lines.rsplit_once('\n').unwrap();
        let module = parse(&format!("HloModule m\n\nENTRY main {{\n{rest}\nROOT {root}\n}}\n")).unwrap();
        assert_eq!(evaluate(&module, &given).unwrap_err().0[0].code, "HLO212", "{target} {config}");
    }
}

/// Powers of two, by which nothing is rounded, out of the range where products of some numbers are in range.
#[test]
fn very_large_and_very_small_matrices_have_their_eigenvalues() {
    for kind in [Kind::ALL[1], Kind::ALL[3]] {
        for power in [-1010, -700, 700, 1010] {
            let factor = |value: &Complex64| value * 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
            for family in [0, 5, 7, 11, 12] {
                let a = kind.rounded(&matrix(family, 5, 3));
                let scaled: Vec<Complex64> = a.iter().map(factor).collect();
                let expected: Vec<Complex64> = values(kind, &geev(kind, 5, &a), 0).iter().map(factor).collect();
                let near = 1e-12 * norm(&scaled);
                for found in [values(kind, &geev(kind, 5, &scaled), 0), values(kind, &gees(kind, 5, &scaled), 2)] {
                    // In some order.
                    let nearest =
                        |value: &Complex64| found.iter().map(|other| (other - value).norm()).fold(f64::MAX, f64::min);
                    assert!(
                        expected.iter().all(|value| nearest(value) <= near),
                        "{kind:?} {power} {family}: {found:?}"
                    );
                }
                check_form(kind, 5, &scaled);
            }
        }
        // A divisor whose square is zero, or not finite.
        for size in [1e-200, 1e200] {
            let a = kind.literal(&[1, 1], &[Complex::new(size, if kind.is_real() { 0.0 } else { size })]);
            let b = kind.literal(&[1, 1], &[Complex::new(size, 0.0)]);
            let config = "side = 76 : ui8, uplo = 76 : ui8, trans_x = 78 : ui8, diag = 78 : ui8";
            let target = format!("lapack_{}trsm_ffi", kind.letter);
            let found = call(&target, config, &[(kind.name, a), (kind.name, b)], &[(kind.name, vec![1, 1])]);
            let expected = if kind.is_real() { Complex::new(1.0, 0.0) } else { Complex::new(0.5, -0.5) };
            assert!((numbers(&found[0])[0] - expected).norm() < 1e-15, "{kind:?} {size}");
        }
    }
}

/// Hessenberg's form of a matrix as large as numbers may be, and as small.
fn check_form(kind: Kind, order: usize, a: &[Complex64]) {
    let square = vec![order, order];
    let config = format!("low = 1 : i32, high = {order} : i32");
    let results = call(
        &format!("lapack_{}gehrd_ffi", kind.letter),
        &config,
        &[(kind.name, kind.literal(&square, a))],
        &[(kind.name, square), (kind.name, vec![order - 1]), ("s32", vec![])],
    );
    let packed = numbers(&results[0]);
    let q = reflections(&packed, &numbers(&results[1]), order, order, 1);
    let upper = |at: usize| if at / order > at % order + 1 { Complex64::default() } else { packed[at] };
    let h: Vec<Complex64> = (0..order * order).map(upper).collect();
    let product = products(&products(&q, &h, order, order, order), &adjoint(&q, order, order), order, order, order);
    assert!(far(&product, a) <= 1e-13 * norm(a), "{kind:?}: {a:?}");
}

/// The bits of what is computed, which are the same on every machine.
#[test]
fn bits_are_the_same_everywhere() {
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let a = waves(36, 1);
        let square = vec![6, 6];
        let given = [(kind.name, kind.literal(&square, &a))];
        let target = |routine: &str| format!("lapack_{}{routine}_ffi", kind.letter);
        let hermitian = if kind.is_real() { "syevd" } else { "heevd" };
        let s = (kind.name, square);
        let all = [
            geev(kind, 6, &a),
            gees(kind, 6, &a),
            call(
                &target(hermitian),
                "mode = 86 : ui8, uplo = 76 : ui8",
                &given,
                &[s.clone(), (kind.real, vec![6]), ("s32", vec![])],
            ),
            call(
                &target("gesdd"),
                "mode = 83 : ui8",
                &given,
                &[s.clone(), (kind.real, vec![6]), s.clone(), s.clone(), ("s32", vec![])],
            ),
            call(&target("geqrf"), "", &given, &[s.clone(), (kind.name, vec![6])]),
            call(&target("getrf"), "", &given, &[s, ("s32", vec![6]), ("s32", vec![])]),
        ];
        // The hash of Fowler, Noll and Vo.
        let words = all.iter().flatten().flat_map(numbers).flat_map(|value| [value.re.to_bits(), value.im.to_bits()]);
        let hash = words
            .flat_map(u64::to_le_bytes)
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        found.push(hash);
    }
    assert_eq!(found, [0x32c7_c4a3_ad71_eb44, 0xe7be_b944_c758_1947, 0x9b4c_97c9_4e11_5a19, 0x62ca_385c_de1f_b2d9]);
}
