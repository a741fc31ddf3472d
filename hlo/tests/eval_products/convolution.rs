//! `convolution`.

use super::*;
use std::collections::HashMap;

const F32: ElementType = ElementType::F32;
const S32: ElementType = ElementType::S32;

/// Elements of the input and the kernel as in the cases that XLA computed.
fn pattern(extents: &[i64], modulus: i64) -> Vec<i64> {
    (0..count(extents) as i64).map(|number| number % modulus - modulus / 2).collect()
}

#[test]
fn convolutions_agree_with_xla() {
    for case in include_str!("convolutions.txt").lines() {
        let fields: Vec<&str> = case.split('|').collect();
        let numbers = |text: &str| -> Vec<i64> { text.split(',').map(|part| part.trim().parse().unwrap()).collect() };
        let [name, input, kernel, result, call, wanted] = fields[..] else { panic!("{case}") };
        let [input, kernel, result] = [input, kernel, result].map(numbers);
        let operands = [(F32, input.clone(), pattern(&input, 7)), (F32, kernel.clone(), pattern(&kernel, 5))];
        let given = integers(&operands, (F32, &result), &format!("convolution;{call}"));
        assert_eq!(given, numbers(wanted), "{name}");
    }
}

/// A convolution along one or more dimensions of space.
struct Case {
    sizes: Vec<i64>,
    strides: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
    base_dilations: Vec<i64>,
    window_dilations: Vec<i64>,
    reversals: Vec<bool>,
    feature_groups: i64,
    batch_groups: i64,
    /// Batch, feature and space of the input; input feature, output feature and space of the kernel; batch, feature and
    /// space of the result.
    extents: [Vec<i64>; 3],
    /// Where in the array each of these is.
    places: [Vec<usize>; 3],
}

impl Case {
    fn random(random: &mut Rng) -> Self {
        let rank = random.between(0, 2) as usize;
        let (feature_groups, batch_groups) =
            random.choose(&[(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]).expect("there are some");
        let (features, columns) = (random.between(1, 2), random.between(1, 2) * feature_groups * batch_groups);
        let batch = random.between(1, 2);
        let mut case = Case {
            sizes: many(random, rank, 1, 3),
            strides: many(random, rank, 1, 3),
            low: many(random, rank, -2, 3),
            high: many(random, rank, -2, 3),
            base_dilations: many(random, rank, 1, 3),
            window_dilations: many(random, rank, 1, 3),
            reversals: (0..rank).map(|_| random.below(2) == 0).collect(),
            feature_groups,
            batch_groups,
            extents: [
                vec![batch * batch_groups, features * feature_groups],
                vec![features, columns],
                vec![batch, columns],
            ],
            places: [0, 1, 2].map(|_| shuffled(random, (0..rank + 2).collect())),
        };
        for d in 0..rank {
            let extent = random.between(0, 5);
            let dilated = |extent: i64, dilation: i64| if extent == 0 { 0 } else { (extent - 1) * dilation + 1 };
            let padded = dilated(extent, case.base_dilations[d]) + case.low[d] + case.high[d];
            let window = dilated(case.sizes[d], case.window_dilations[d]);
            case.extents[0].push(extent);
            case.extents[1].push(case.sizes[d]);
            case.extents[2].push(if padded < window { 0 } else { (padded - window) / case.strides[d] + 1 });
        }
        case
    }

    /// An index, or extents, in the order of the array.
    fn placed(&self, array: usize, roles: &[i64]) -> Vec<i64> {
        let mut all = vec![0; roles.len()];
        self.places[array].iter().zip(roles).for_each(|(&place, &value)| all[place] = value);
        all
    }

    fn labels(&self) -> String {
        let side = |array: usize, letters: [char; 2]| -> String {
            let mut text = vec!['?'; self.places[array].len()];
            for (role, &place) in self.places[array].iter().enumerate() {
                text[place] = letters.get(role).copied().unwrap_or_else(|| char::from(b'0' + role as u8 - 2));
            }
            text.into_iter().collect()
        };
        format!("{}_{}->{}", side(0, ['b', 'f']), side(1, ['i', 'o']), side(2, ['b', 'f']))
    }

    fn attributes(&self) -> String {
        let joined = |values: &[i64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
        let pads: Vec<String> = self.low.iter().zip(&self.high).map(|(low, high)| format!("{low}_{high}")).collect();
        let reversals: Vec<i64> = self.reversals.iter().map(|&reversal| reversal.into()).collect();
        let window = match self.sizes.is_empty() {
            true => String::new(),
            false => format!(
                "size={} stride={} pad={} lhs_dilate={} rhs_dilate={} rhs_reversal={}",
                joined(&self.sizes),
                joined(&self.strides),
                pads.join("x"),
                joined(&self.base_dilations),
                joined(&self.window_dilations),
                joined(&reversals)
            ),
        };
        format!(
            "window={{{window}}}, dim_labels={}, feature_group_count={}, batch_group_count={}",
            self.labels(),
            self.feature_groups,
            self.batch_groups
        )
    }

    /// The result by the document's definition: the base is spread and padded, then multiplied by the kernel at each place.
    fn naive(&self, input: &[i64], kernel: &[i64]) -> Vec<i64> {
        let rank = self.sizes.len();
        let (input_extents, kernel_extents) = (self.placed(0, &self.extents[0]), self.placed(1, &self.extents[1]));
        let mut base: HashMap<Vec<i64>, i64> = HashMap::new();
        for index in indices(&self.extents[0]) {
            let mut place = index.clone();
            (0..rank).for_each(|d| place[2 + d] = self.low[d] + index[2 + d] * self.base_dilations[d]);
            base.insert(place, input[number(&self.placed(0, &index), &input_extents)]);
        }
        let (batch, columns) = (self.extents[2][0], self.extents[2][1]);
        let mut results = vec![0; count(&self.extents[2])];
        for at in indices(&self.extents[2]) {
            let mut sum = 0;
            for tap in indices(&self.extents[1]) {
                if tap[1] != at[1] {
                    continue;
                }
                let of_features = at[1] / (columns / self.feature_groups);
                let of_batch = at[1] / (columns / self.batch_groups);
                let mut place = vec![of_batch * batch + at[0], of_features * self.extents[1][0] + tap[0]];
                for d in 0..rank {
                    let tap = if self.reversals[d] { self.sizes[d] - 1 - tap[2 + d] } else { tap[2 + d] };
                    place.push(at[2 + d] * self.strides[d] + tap * self.window_dilations[d]);
                }
                let factor = kernel[number(&self.placed(1, &tap), &kernel_extents)];
                sum += base.get(&place).unwrap_or(&0) * factor;
            }
            results[number(&self.placed(2, &at), &self.placed(2, &self.extents[2]))] = sum;
        }
        results
    }
}

#[test]
fn convolutions_of_random_windows_and_labels_are_those_of_the_definition() {
    let random = &mut Rng::new(5);
    let mut some = 0;
    for _ in 0..500 {
        let case = Case::random(random);
        let [input, kernel, result] = [0, 1, 2].map(|array| case.placed(array, &case.extents[array]));
        let (a, b) = (many(random, count(&input), -9, 9), many(random, count(&kernel), -9, 9));
        let wanted = case.naive(&a, &b);
        some += usize::from(wanted.iter().any(|&value| value != 0));
        let element_type =
            random.choose(&[F32, S32, ElementType::F64, ElementType::Bf16, ElementType::S16]).expect("there are some");
        let accumulated = if element_type == ElementType::Bf16 { F32 } else { element_type };
        let call = format!("convolution;{}", case.attributes());
        let operands = [(element_type, input, a), (element_type, kernel, b)];
        assert_eq!(integers(&operands, (accumulated, &result), &call), wanted, "{call} {operands:?}");
    }
    assert!(some > 300, "{some}");
}

/// Two sums, 1 + 1 and 1 + 0; in a type without zero that is what 0 is converted to.
#[test]
fn every_type_is_convolved() {
    let call = "convolution;window={size=2}, dim_labels=b0f_0io->b0f";
    for element_type in types(|element_type| !element_type.is_complex()) {
        let operands = [(element_type, vec![1, 3, 1], vec![1, 1, 0]), (element_type, vec![2, 1, 1], vec![1, 1])];
        if is_integral(element_type) {
            let one = wrapped(element_type, 1);
            let wanted = [one * one + one * one, one * one].map(|sum| wrapped(element_type, sum) as i64);
            assert_eq!(integers(&operands, (element_type, &[1, 2, 1]), call), wanted, "{element_type}");
        } else {
            let zero = converted(element_type, &[0.0])[0];
            let wanted = converted(element_type, &[2.0, 1.0 + zero]);
            assert_same(&reals(&operands, (element_type, &[1, 2, 1]), call), &wanted, element_type);
        }
    }
}

#[test]
fn padding_and_holes_are_not_multiplied() {
    let convolved = |call: &str, size: i64, kernel: &[f32]| {
        let text = format!(
            "ENTRY main {{\nx = f32[1,{size},1] parameter(0)\nk = f32[{},1,1] parameter(1)\n\
             ROOT c = f32[1,{size},1] convolution(x, k), window={{{call}}}, dim_labels=b0f_0io->b0f\n}}",
            kernel.len()
        );
        let ones = Literal::array([1, size, 1], vec![1f32; size as usize]);
        run(&text, &[ones, Literal::array([kernel.len() as i64, 1, 1], kernel.to_vec())]).swap_remove(0).data
    };
    let infinity = f32::INFINITY;
    assert_eq!(convolved("size=3 pad=1_1", 3, &[infinity, 1.0, 1.0]), vec![2.0, infinity, infinity].into());
    assert_eq!(convolved("size=2 lhs_dilate=2", 2, &[infinity, 1.0]), vec![infinity, 1.0].into());
}

#[test]
fn empty_inputs_kernels_and_results() {
    let label = "dim_labels=b0f_0io->b0f";
    for (input, kernel, result, window) in [
        ([0, 3, 2], [2, 2, 4], [0, 2, 4], "size=2"),
        ([1, 0, 2], [2, 2, 4], [1, 2, 4], "size=2 pad=1_2"),
        ([1, 3, 0], [2, 0, 4], [1, 2, 4], "size=2"),
        ([1, 3, 2], [2, 2, 0], [1, 2, 0], "size=2"),
        ([1, 1, 2], [2, 2, 4], [1, 0, 4], "size=2"),
    ] {
        let operands = [input, kernel].map(|extents| (F32, extents.to_vec(), vec![1; count(&extents)]));
        let given = integers(&operands, (F32, &result), &format!("convolution;window={{{window}}}, {label}"));
        assert_eq!(given, vec![0; count(&result)], "{window}");
    }
}

#[test]
fn windows_at_the_ends_of_64_bits() {
    let far = i64::MAX / 2;
    for (window, wanted) in [
        (format!("size=1 stride={far} pad=0_{}", far - 1), vec![10, 0]),
        (format!("size=2 rhs_dilate={far} pad=0_{far}"), vec![10, 20]),
        (format!("size=1 lhs_dilate={far} stride={far}"), vec![10, 20]),
        (format!("size=1 pad={}_{}", -far, far), vec![0, 0]),
    ] {
        let operands = [
            (S32, vec![1, 2, 1], vec![1, 2]),
            (
                S32,
                vec![if window.contains("size=2") { 2 } else { 1 }, 1, 1],
                vec![10; if window.contains("size=2") { 2 } else { 1 }],
            ),
        ];
        let call = format!("convolution;window={{{window}}}, dim_labels=b0f_0io->b0f");
        assert_eq!(integers(&operands, (S32, &[1, wanted.len() as i64, 1]), &call), wanted, "{window}");
    }
}
