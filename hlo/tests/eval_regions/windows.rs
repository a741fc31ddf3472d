//! `reduce-window` and `select-and-scatter`.

use super::common::{COMBINE, combined, count, indices, listed, position, random, run, s32};
use weft_hlo::ir::{Literal, Window, WindowDimension};
use weft_hlo::random::Rng;

/// A window over a base, and how many positions it has along each dimension.
fn window(rng: &mut Rng, base: &[i64]) -> (Window, Vec<i64>) {
    let mut dimensions = Vec::new();
    let mut positions = Vec::new();
    for &extent in base {
        let along = WindowDimension {
            size: rng.between(1, 4),
            stride: rng.between(1, 3),
            padding_low: rng.between(-2, 4),
            padding_high: rng.between(-2, 4),
            window_dilation: rng.between(1, 4),
            base_dilation: rng.between(1, 4),
            reversal: rng.chance(10),
        };
        let spread = |extent: i64, dilation: i64| if extent == 0 { 0 } else { (extent - 1) * dilation + 1 };
        let padded = spread(extent, along.base_dilation) + along.padding_low + along.padding_high;
        let room = padded - spread(along.size, along.window_dilation);
        positions.push(if room < 0 { 0 } else { room / along.stride + 1 });
        dimensions.push(along);
    }
    (Window { dimensions }, positions)
}

/// The positions in the base of what the window covers, tried one place of the window after the other.
fn covered(window: &Window, base: &[i64], at: &[i64]) -> Vec<usize> {
    let sizes: Vec<i64> = window.dimensions.iter().map(|along| along.size).collect();
    let mut all = Vec::new();
    'places: for place in indices(&sizes) {
        let mut index = Vec::new();
        for (dimension, along) in window.dimensions.iter().enumerate() {
            let spread = at[dimension] * along.stride - along.padding_low + place[dimension] * along.window_dilation;
            if spread < 0 || spread % along.base_dilation != 0 || spread / along.base_dilation >= base[dimension] {
                continue 'places;
            }
            index.push(spread / along.base_dilation);
        }
        all.push(position(base, &index));
    }
    all
}

fn base(rng: &mut Rng) -> Vec<i64> {
    (0..rng.between(0, 3)).map(|_| rng.between(0, 5)).collect()
}

#[test]
fn reduce_window_folds_what_a_naive_walk_over_the_window_meets() {
    let mut rng = Rng::new(1);
    for _ in 0..400 {
        let base = base(&mut rng);
        let (window, positions) = window(&mut rng, &base);
        let (x, y) = (random(&mut rng, &base, -9, 9), random(&mut rng, &base, -9, 9));
        let initial = rng.between(-9, 9) as i32;
        let (from, to) = (listed(&base), listed(&positions));
        let one = format!(
            "{COMBINE}\nENTRY e {{\n  x = s32[{from}] parameter(0)\n  z = s32[] constant({initial})\n  \
             ROOT r = s32[{to}] reduce-window(x, z), window={window}, to_apply=combine\n}}"
        );
        // Each result depends on both inputs.
        let two = format!(
            "two {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  x = s32[] parameter(2)\n  \
             y = s32[] parameter(3)\n  c = s32[] subtract(b, x)\n  d = s32[] subtract(y, a)\n  \
             ROOT t = (s32[], s32[]) tuple(c, d)\n}}\n\nENTRY e {{\n  x = s32[{from}] parameter(0)\n  \
             y = s32[{from}] parameter(1)\n  z = s32[] constant({initial})\n  n = s32[] constant(-7)\n  \
             ROOT r = (s32[{to}], s32[{to}]) reduce-window(x, y, z, n), window={window}, to_apply=two\n}}"
        );
        let add = one.replace("ROOT c = s32[] subtract(d, b)", "ROOT c = s32[] add(a, b)");
        let (mut folded, mut pairs, mut sums) = (vec![], vec![], vec![]);
        for at in indices(&positions) {
            let covered = covered(&window, &base, &at);
            folded.push(covered.iter().fold(initial, |folded, &position| combined(folded, s32(&x)[position])));
            sums.push(covered.iter().fold(initial, |sum, &position| sum + s32(&x)[position]));
            pairs.push(
                covered.iter().fold((initial, -7), |(a, b), &position| (b - s32(&x)[position], s32(&y)[position] - a)),
            );
        }
        assert_eq!(s32(&run(&one, std::slice::from_ref(&x))[0]), folded, "{one}");
        assert_eq!(s32(&run(&add, std::slice::from_ref(&x))[0]), sums, "{add}");
        let results = run(&two, &[x, y]);
        let (first, second): (Vec<i32>, Vec<i32>) = pairs.into_iter().unzip();
        assert_eq!((s32(&results[0]), s32(&results[1])), (&first[..], &second[..]), "{two}");
    }
}

#[test]
fn select_and_scatter_keeps_what_a_naive_walk_over_the_window_keeps() {
    let mut rng = Rng::new(2);
    for _ in 0..300 {
        let base = base(&mut rng);
        let (window, positions) = window(&mut rng, &base);
        let operand = random(&mut rng, &base, 0, 4);
        let source = random(&mut rng, &positions, -99, 99);
        let (from, to) = (listed(&base), listed(&positions));
        let text = format!(
            "{COMBINE}\nge {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  \
             ROOT c = pred[] compare(a, b), direction=GE\n}}\n\nENTRY e {{\n  x = s32[{from}] parameter(0)\n  \
             s = s32[{to}] parameter(1)\n  z = s32[] constant(5)\n  \
             ROOT r = s32[{from}] select-and-scatter(x, s, z), window={window}, select=ge, scatter=combine\n}}"
        );
        let mut wanted = vec![5; count(&base)];
        for (number, at) in indices(&positions).into_iter().enumerate() {
            let keep = |kept: usize, next: usize| if s32(&operand)[kept] >= s32(&operand)[next] { kept } else { next };
            if let Some(kept) = covered(&window, &base, &at).into_iter().reduce(keep) {
                wanted[kept] = combined(s32(&source)[number], wanted[kept]);
            }
        }
        assert_eq!(s32(&run(&text, &[operand, source])[0]), wanted, "{text}");
    }
}

#[test]
fn windows_of_huge_sizes_strides_and_dilations_are_not_walked_through() {
    let (far, half) = (1i64 << 62, 1i64 << 61);
    let sum = |positions: i64, window: &str| {
        let text = format!(
            "add {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}}\n\nENTRY e {{\n  \
             x = s32[3] constant({{1, 20, 300}})\n  z = s32[] constant(4000)\n  \
             ROOT r = s32[{positions}] reduce-window(x, z), window={{{window}}}, to_apply=add\n}}"
        );
        s32(&run(&text, &[])[0]).to_vec()
    };
    assert_eq!(sum(1, &format!("size={far} pad={}_0", far - 3)), [4321]);
    assert_eq!(sum(2, &format!("size={} stride={half} lhs_dilate={half}", half + 1)), [4021, 4320]);
    assert_eq!(sum(1, &format!("size=3 lhs_dilate={half} rhs_dilate={half}")), [4321]);
    assert_eq!(sum(1, &format!("size=2 lhs_dilate={half} rhs_dilate={far}")), [4301]);
    assert_eq!(sum(1, &format!("size={far} stride={far} lhs_dilate=3 rhs_dilate=1 pad={}_0", far - 7)), [4321]);
    assert_eq!(sum(1, &format!("size=3 rhs_dilate={half} pad={}_0", far - 2)), [4300]);
}

#[test]
fn windows_over_padding_alone_give_the_initial_value_and_scatter_nothing() {
    let text = "ge {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=GE\n}\n
        add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n
        ENTRY e {\n  x = f32[0,9223372036854775807] parameter(0)\n  s = f32[2,1] constant({{1}, {2}})
          z = f32[] constant(0.5)\n  w = f32[2,1] reduce-window(x, z), window={size=2x9223372036854775807 pad=1_2x0_0}, to_apply=add
          r = f32[0,9223372036854775807] select-and-scatter(x, s, z), window={size=2x9223372036854775807 pad=1_2x0_0}, select=ge, scatter=add
          ROOT t = (f32[2,1], f32[0,9223372036854775807]) tuple(w, r)\n}";
    let nothing = Literal::array([0, i64::MAX], Vec::<f32>::new());
    let results = run(text, std::slice::from_ref(&nothing));
    assert_eq!(results, [Literal::array([2, 1], vec![0.5f32, 0.5]), nothing]);
}
