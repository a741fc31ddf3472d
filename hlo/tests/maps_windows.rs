//! Maps in both directions of operations with windows, and of those that reinterpret elements in parts, against loops
//! that follow each operation's definition.
//!
//! `WEFT_CASES=N` tries `N` times as many random instances of each operation.

use crate::count;
use std::collections::BTreeSet;
use weft_hlo::indexing::{Analysis, Direction, ElementMap, Relation};
use weft_hlo::ir::{ConvolutionDimensions, Module, Window, WindowDimension};
use weft_hlo::random::Rng;
use weft_hlo::text::parse;
use weft_hlo::verify::verify;
use weft_indexing::IndexingMap;

/// Indices of a result with the indices of an operand that belong to them.
type Pairs = BTreeSet<(Vec<i64>, Vec<i64>)>;

fn cases() -> u64 {
    count::cases(200)
}

/// All indices of an array in row-major order.
fn indices(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &extent in extents {
        all =
            all.into_iter().flat_map(|index: Vec<i64>| (0..extent).map(move |i| [&index[..], &[i]].concat())).collect();
    }
    all
}

fn shape(extents: &[i64]) -> String {
    let extents: Vec<String> = extents.iter().map(i64::to_string).collect();
    format!("[{}]", extents.join(","))
}

fn module(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    verify(&module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    module
}

/// The maps between an array of the root's value and one of its operands.
fn maps(module: &Module, direction: Direction, result: usize, operand: usize) -> Vec<ElementMap> {
    let root = module.entry_computation().root;
    let found = Analysis::new(module).instruction(module.entry, root, direction);
    let mut own = found.on(operand).filter(|dependence| dependence.result == Some(result));
    match own.next().map(|dependence| &dependence.relation) {
        Some(Relation::Maps(maps)) => maps.clone(),
        other => panic!("result {result}, operand {operand}: {other:?}"),
    }
}

fn points(map: &IndexingMap) -> impl Iterator<Item = (Vec<i64>, Vec<i64>)> {
    map.points().map(|point| {
        let to = map.evaluate(&point.dims, &point.ranges, &point.runtime);
        (point.dims, to.expect("small indices do not overflow"))
    })
}

/// Checks that the maps lead to these pairs and no others, and back; whether they say that they are coarse.
fn check(text: &str, result: usize, operand: usize, expected: &Pairs) -> bool {
    let module = module(text);
    let [forward, backward] =
        [Direction::InputToOutput, Direction::OutputToInput].map(|direction| maps(&module, direction, result, operand));
    let read: Pairs = backward.iter().flat_map(|own| points(&own.map)).collect();
    assert_eq!(&read, expected, "result {result}, operand {operand}, to the operand: {backward:?}\n{text}");
    let written: Pairs = forward.iter().flat_map(|own| points(&own.map)).map(|(from, to)| (to, from)).collect();
    assert_eq!(&written, expected, "result {result}, operand {operand}, from the operand: {forward:?}\n{text}");
    let coarse = |maps: &[ElementMap]| maps.iter().any(|own| own.coarse.is_some());
    assert_eq!(coarse(&forward), coarse(&backward), "{text}");
    coarse(&backward)
}

/// The base along one dimension, spread and padded: which element lies at each place.
fn line(extent: i64, window: &WindowDimension) -> Vec<Option<i64>> {
    let spread = if extent == 0 { 0 } else { (extent - 1) * window.base_dilation + 1 };
    let mut line = vec![None; usize::try_from(spread + window.padding_low + window.padding_high).unwrap_or(0)];
    for element in 0..extent {
        let place = usize::try_from(element * window.base_dilation + window.padding_low);
        if let Some(place) = place.ok().and_then(|place| line.get_mut(place)) {
            *place = Some(element);
        }
    }
    line
}

/// How often the window fits.
fn positions(extent: i64, window: &WindowDimension) -> i64 {
    let length = i64::try_from(line(extent, window).len()).expect("arrays are small");
    let covered = (window.size - 1) * window.window_dilation + 1;
    if length < covered { 0 } else { (length - covered) / window.stride + 1 }
}

/// The element that a tap meets in a position.
fn met(extent: i64, window: &WindowDimension, position: i64, tap: i64) -> Option<i64> {
    let place = position * window.stride + tap * window.window_dilation;
    line(extent, window)[usize::try_from(place).expect("places count from 0")]
}

/// For each position of a window the elements that it covers.
fn covered(window: &Window, base: &[i64], positions: &[i64]) -> Vec<(Vec<i64>, Vec<Vec<i64>>)> {
    let sizes: Vec<i64> = window.dimensions.iter().map(|along| along.size).collect();
    let under = |position: &Vec<i64>| {
        let element = |tap: Vec<i64>| -> Option<Vec<i64>> {
            let along = |k: usize| met(base[k], &window.dimensions[k], position[k], tap[k]);
            (0..base.len()).map(along).collect()
        };
        indices(&sizes).into_iter().filter_map(element).collect()
    };
    indices(positions).into_iter().map(|position| (position.clone(), under(&position))).collect()
}

/// Dimensions of a window over one of these extents, mostly with defaults for what few windows have.
fn random_window(rng: &mut Rng, base: &[i64]) -> Window {
    let one = |rng: &mut Rng, most: i64, percent: usize| if rng.chance(percent) { rng.between(1, most) } else { 1 };
    let dimensions = base.iter().map(|_| WindowDimension {
        size: one(rng, 4, 75),
        stride: one(rng, 3, 50),
        padding_low: if rng.chance(45) { rng.between(-2, 3) } else { 0 },
        padding_high: if rng.chance(45) { rng.between(-2, 3) } else { 0 },
        window_dilation: one(rng, 3, 35),
        base_dilation: one(rng, 3, 35),
        reversal: false,
    });
    Window { dimensions: dimensions.collect() }
}

fn random_extents(rng: &mut Rng, rank: i64) -> Vec<i64> {
    (0..rank).map(|_| if rng.chance(3) { 0 } else { rng.between(1, 6) }).collect()
}

fn positions_over(window: &Window, base: &[i64]) -> Vec<i64> {
    base.iter().zip(&window.dimensions).map(|(&extent, along)| positions(extent, along)).collect()
}

const ADD: &str = "add {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] add(a, b)\n}";
const GREATER: &str =
    "ge {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GE\n}";
const TWO: &str = "two {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] parameter(2)\n \
                   d = s32[] parameter(3)\n e = s32[] add(a, c)\n f = s32[] add(b, d)\n \
                   ROOT g = (s32[], s32[]) tuple(e, f)\n}";

/// An attribute with the window, for those that have dimensions.
fn attribute(window: &Window) -> String {
    if window.dimensions.is_empty() { String::new() } else { format!(", window={window}") }
}

fn reduce_window(base: &[i64], window: &Window, is_pair: bool) -> String {
    let (from, to) = (shape(base), shape(&positions_over(window, base)));
    let window = attribute(window);
    if is_pair {
        return format!(
            "HloModule m\n{TWO}\nENTRY e {{\n p = s32{from} parameter(0)\n q = s32{from} parameter(1)\n \
             i = s32[] parameter(2)\n j = s32[] parameter(3)\n \
             ROOT r = (s32{to}, s32{to}) reduce-window(p, q, i, j){window}, to_apply=two\n}}"
        );
    }
    format!(
        "HloModule m\n{ADD}\nENTRY e {{\n p = s32{from} parameter(0)\n i = s32[] parameter(1)\n \
         ROOT r = s32{to} reduce-window(p, i){window}, to_apply=add\n}}"
    )
}

#[test]
fn reduce_window_reads_what_is_under_the_window() {
    let (mut some, count) = (0, cases());
    for seed in 0..count {
        let rng = &mut Rng::new(seed);
        let rank = rng.between(0, 3);
        let base = random_extents(rng, rank);
        let window = random_window(rng, &base);
        let (is_pair, to) = (rng.chance(20), positions_over(&window, &base));
        let text = reduce_window(&base, &window, is_pair);
        let read: Pairs = covered(&window, &base, &to)
            .into_iter()
            .flat_map(|(position, elements)| elements.into_iter().map(move |element| (position.clone(), element)))
            .collect();
        let initial: Pairs = indices(&to).into_iter().map(|position| (position, Vec::new())).collect();
        let inputs = if is_pair { 2 } else { 1 };
        for result in 0..inputs {
            for operand in 0..inputs {
                assert!(!check(&text, result, operand, &read));
                assert!(!check(&text, result, inputs + operand, &initial));
            }
        }
        some += u64::from(!read.is_empty());
    }
    assert!(some * 10 > count * 6, "{some} of {count} read anything");
}

#[test]
fn select_and_scatter_compares_what_is_under_one_window() {
    let (mut some, mut exact, count) = (0, 0, cases());
    for seed in 0..count {
        let rng = &mut Rng::new(seed);
        let rank = rng.between(0, 2);
        let base = random_extents(rng, rank);
        let window = random_window(rng, &base);
        let to = positions_over(&window, &base);
        let text = format!(
            "HloModule m\n{ADD}\n{GREATER}\nENTRY e {{\n p = s32{0} parameter(0)\n s = s32{1} parameter(1)\n \
             i = s32[] parameter(2)\n ROOT r = s32{0} select-and-scatter(p, s, i){2}, select=ge, scatter=add\n}}",
            shape(&base),
            shape(&to),
            attribute(&window)
        );
        let (mut together, mut chosen, mut compared) = (Pairs::new(), Pairs::new(), Pairs::new());
        for (position, elements) in covered(&window, &base, &to) {
            for one in &elements {
                chosen.insert((one.clone(), position.clone()));
                for other in &elements {
                    together.insert((one.clone(), other.clone()));
                    if elements.len() > 1 {
                        compared.insert((one.clone(), other.clone()));
                    }
                }
            }
        }
        let is_coarse = check(&text, 0, 0, &together);
        assert!(is_coarse || together == compared, "{text}");
        exact += u64::from(!is_coarse);
        let is_point = window.dimensions.iter().all(|along| along.size == 1);
        assert_eq!(check(&text, 0, 1, &chosen), !is_point, "{text}");
        assert!(!check(&text, 0, 2, &indices(&base).into_iter().map(|index| (index, Vec::new())).collect()));
        some += u64::from(!together.is_empty());
    }
    assert!(some * 10 > count * 6 && exact * 10 > count, "of {count} {some} compare anything, {exact} are exact");
}

/// The roles of a convolution's dimensions: two with names, and space, in any order.
fn roles(rng: &mut Rng, space: i64) -> ([i64; 2], Vec<i64>) {
    let mut all: Vec<i64> = (0..space + 2).collect();
    rng.shuffle(&mut all);
    ([all[0], all[1]], all[2..].to_vec())
}

/// An array of numbers for dimensions with these roles.
fn placed((named, space): &([i64; 2], Vec<i64>), of_named: [i64; 2], of_space: &[i64]) -> Vec<i64> {
    let mut placed = vec![0; space.len() + 2];
    for (&dimension, &number) in named.iter().chain(space).zip(of_named.iter().chain(of_space)) {
        placed[usize::try_from(dimension).expect("dimensions count from 0")] = number;
    }
    placed
}

#[test]
fn convolution_reads_products_of_its_groups() {
    let (mut some, mut grouped, count) = (0, 0, cases());
    for seed in 0..count {
        let rng = &mut Rng::new(seed);
        let space = rng.between(0, 2);
        let (of_input, of_kernel, of_output) = (roles(rng, space), roles(rng, space), roles(rng, space));
        let (feature_groups, batch_groups) = match rng.below(3) {
            0 => (rng.between(2, 3), 1),
            1 => (1, rng.between(2, 3)),
            _ => (1, 1),
        };
        let few = |rng: &mut Rng| if rng.chance(3) { 0 } else { rng.between(1, 2) };
        let (batch, features, outputs) = (few(rng), few(rng), few(rng));
        let base: Vec<i64> = random_extents(rng, space).into_iter().map(|extent| extent.min(4)).collect();
        let mut window = random_window(rng, &base);
        window.dimensions.iter_mut().for_each(|along| {
            along.size = along.size.min(3);
            along.reversal = rng.chance(25);
        });
        let sizes: Vec<i64> = window.dimensions.iter().map(|along| along.size).collect();
        let to = positions_over(&window, &base);
        let all_outputs = outputs * feature_groups * batch_groups;
        let labels = ConvolutionDimensions {
            input_batch: of_input.0[0],
            input_feature: of_input.0[1],
            input_spatial: of_input.1.clone(),
            kernel_input_feature: of_kernel.0[0],
            kernel_output_feature: of_kernel.0[1],
            kernel_spatial: of_kernel.1.clone(),
            output_batch: of_output.0[0],
            output_feature: of_output.0[1],
            output_spatial: of_output.1.clone(),
        };
        let text = format!(
            "HloModule m\nENTRY e {{\n p = f32{} parameter(0)\n k = f32{} parameter(1)\n ROOT r = f32{} \
             convolution(p, k){}, dim_labels={labels}, feature_group_count={feature_groups}, \
             batch_group_count={batch_groups}\n}}",
            shape(&placed(&of_input, [batch * batch_groups, features * feature_groups], &base)),
            shape(&placed(&of_kernel, [features, all_outputs], &sizes)),
            shape(&placed(&of_output, [batch, all_outputs], &to)),
            attribute(&window)
        );
        let (mut input, mut kernel) = (Pairs::new(), Pairs::new());
        for (position, tap) in indices(&to).iter().flat_map(|at| indices(&sizes).into_iter().map(move |tap| (at, tap)))
        {
            let element = |k: usize| met(base[k], &window.dimensions[k], position[k], tap[k]);
            let Some(element) = (0..base.len()).map(element).collect::<Option<Vec<i64>>>() else { continue };
            let mirror =
                |(along, &tap): (&WindowDimension, &i64)| if along.reversal { along.size - 1 - tap } else { tap };
            let tap: Vec<i64> = window.dimensions.iter().zip(&tap).map(mirror).collect();
            for named in indices(&[feature_groups, batch_groups, outputs, batch, features]) {
                let [feature_group, batch_group, output, one, feature] = named[..] else {
                    unreachable!("five extents")
                };
                let output = (feature_group + batch_group) * outputs + output;
                let from = placed(&of_output, [one, output], position);
                let read = [batch_group * batch + one, feature_group * features + feature];
                input.insert((from.clone(), placed(&of_input, read, &element)));
                kernel.insert((from, placed(&of_kernel, [feature, output], &tap)));
            }
        }
        assert!(!check(&text, 0, 0, &input));
        assert!(!check(&text, 0, 1, &kernel));
        some += u64::from(!input.is_empty());
        grouped += u64::from(!input.is_empty() && feature_groups + batch_groups > 2);
    }
    assert!(some * 2 > count && grouped * 10 > count * 3, "of {count} {some} read anything, {grouped} in groups");
}

#[test]
fn bitcast_convert_reads_the_bits_of_its_element() {
    let types = [("s4", 4), ("u8", 8), ("bf16", 16), ("s16", 16), ("f32", 32), ("u64", 64), ("f64", 64)];
    for seed in 0..cases() {
        let rng = &mut Rng::new(seed);
        let (from, to) = (types[rng.below(types.len())], types[rng.below(types.len())]);
        let rank = rng.between(0, 3);
        let mut input = random_extents(rng, rank);
        let mut output = input.clone();
        if from.1 < to.1 {
            input.push(to.1 / from.1);
        } else if from.1 > to.1 {
            output.push(from.1 / to.1);
        }
        let text = format!(
            "HloModule m\nENTRY e {{\n p = {}{} parameter(0)\n ROOT r = {}{} bitcast-convert(p)\n}}",
            from.0,
            shape(&input),
            to.0,
            shape(&output)
        );
        let bits = |number: usize, width: i64| {
            let first = i64::try_from(number).expect("arrays are small") * width;
            first..first + width
        };
        let inputs = indices(&input);
        let mut read = Pairs::new();
        for (own, index) in indices(&output).into_iter().enumerate() {
            let own = bits(own, to.1);
            let overlaps = |number: usize| {
                let other = bits(number, from.1);
                own.start < other.end && other.start < own.end
            };
            let overlapping = inputs.iter().enumerate().filter(|(number, _)| overlaps(*number));
            read.extend(overlapping.map(|(_, other)| (index.clone(), other.clone())));
        }
        assert!(!check(&text, 0, 0, &read));
    }
}

#[test]
fn scaled_dot_reads_the_scale_of_each_block() {
    for seed in 0..cases() {
        let rng = &mut Rng::new(seed);
        let [batch, rows, columns] = [rng.between(1, 2), rng.between(1, 4), rng.between(1, 4)];
        let summed = rng.between(0, 4);
        let (left, right) = ([batch, rows, summed], [batch, columns, summed]);
        let scales = |rng: &mut Rng, extents: &[i64]| -> Vec<i64> {
            if rng.chance(15) {
                return Vec::new();
            }
            let divisors = |extent: i64| -> Vec<i64> { (1..=extent.max(1)).filter(|by| extent % by == 0).collect() };
            extents.iter().map(|&extent| rng.choose(&divisors(extent)).expect("1 divides")).collect()
        };
        let (of_left, of_right) = (scales(rng, &left), scales(rng, &right));
        let text = format!(
            "HloModule m\nENTRY e {{\n a = f32{} parameter(0)\n b = f32{} parameter(1)\n c = f32{} parameter(2)\n \
             d = f32{} parameter(3)\n ROOT r = f32[{batch},{rows},{columns}] scaled-dot(a, b, c, d), \
             lhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_batch_dims={{0}}, rhs_contracting_dims={{2}}\n}}",
            shape(&left),
            shape(&right),
            shape(&of_left),
            shape(&of_right)
        );
        let mut read = [const { Pairs::new() }; 4];
        for at in indices(&[batch, rows, columns, summed]) {
            let [b, row, column, k] = at[..] else { unreachable!("four extents") };
            let scale = |index: &[i64], extents: &[i64], scales: &[i64]| -> Vec<i64> {
                (0..scales.len()).map(|along| index[along] / (extents[along] / scales[along])).collect()
            };
            let (one, other) = ([b, row, k], [b, column, k]);
            let elements =
                [one.to_vec(), other.to_vec(), scale(&one, &left, &of_left), scale(&other, &right, &of_right)];
            for (read, element) in read.iter_mut().zip(elements) {
                read.insert((vec![b, row, column], element));
            }
        }
        for (operand, read) in read.iter().enumerate() {
            assert!(!check(&text, 0, operand, read));
        }
    }
}

/// Maps of a reduce-window's first operand as text, in both directions.
fn texts(base: &[i64], dimensions: Vec<WindowDimension>) -> [String; 2] {
    let module = module(&reduce_window(base, &Window { dimensions }, false));
    [Direction::OutputToInput, Direction::InputToOutput].map(|direction| {
        let maps = maps(&module, direction, 0, 0);
        assert_eq!(maps.len(), 1, "{maps:?}");
        maps[0].map.to_string()
    })
}

#[test]
fn only_restricting_constraints_are_kept() {
    let plain = WindowDimension::default();
    assert_eq!(
        texts(&[1024, 514], vec![plain, WindowDimension { size: 512, ..plain }]),
        [
            "(d0, d1)[s0] -> (d0, d1 + s0), domain: d0 in [0, 1023], d1 in [0, 2], s0 in [0, 511]",
            "(d0, d1)[s0] -> (d0, d1 - s0), \
             domain: d0 in [0, 1023], d1 in [0, 513], s0 in [0, 511], d1 - s0 in [0, 2]",
        ]
    );
    let strided = WindowDimension { size: 3, stride: 2, padding_low: 1, padding_high: 1, ..plain };
    assert_eq!(
        texts(&[9], vec![strided]),
        [
            "(d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 4], s0 in [0, 2], d0 * 2 + s0 - 1 in [0, 8]",
            "(d0)[s0] -> ((d0 - s0 + 1) floordiv 2), \
             domain: d0 in [0, 8], s0 in [0, 2], (d0 - s0 + 1) mod 2 in [0, 0], d0 - s0 + 1 in [0, 8]",
        ]
    );
    let spread = WindowDimension { size: 2, window_dilation: 3, base_dilation: 2, ..plain };
    assert_eq!(
        texts(&[4], vec![spread])[0],
        "(d0)[s0] -> ((d0 + s0 * 3) floordiv 2), domain: d0 in [0, 3], s0 in [0, 1], (d0 + s0 * 3) mod 2 in [0, 0]"
    );
}
