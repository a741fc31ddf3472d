//! `batch-norm-training`, `batch-norm-inference` and `batch-norm-grad`.

use super::*;

/// Results of a module whose inputs are `f64`, each converted to `f64`.
fn normalized(element_type: &str, op: &str, extents: &[i64], feature: usize, inputs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let features = [extents[feature]];
    let mut lines = String::new();
    let mut literals = vec![];
    let names: Vec<String> = (0..inputs.len()).map(|number| format!("x{number}")).collect();
    for (number, values) in inputs.iter().enumerate() {
        let extents = if number == 0 || op == "grad" && number == 4 { extents } else { &features };
        let extent = list(extents);
        lines += &format!(
            "p{number} = f64[{extent}] parameter({number})\nx{number} = {element_type}[{extent}] convert(p{number})\n"
        );
        literals.push(Literal::array(extents, values.clone()));
    }
    let (whole, part) = (list(extents), list(&features));
    let shape = match op {
        "inference" => format!("{element_type}[{whole}]"),
        _ => format!("({element_type}[{whole}], {element_type}[{part}], {element_type}[{part}])"),
    };
    lines += &format!("r = {shape} batch-norm-{op}({}), epsilon=0.001, feature_index={feature}\n", names.join(", "));
    lines += &match op {
        "inference" => format!("ROOT s = f64[{whole}] convert(r)"),
        _ => format!(
            "r0 = {element_type}[{whole}] get-tuple-element(r), index=0\nr1 = {element_type}[{part}] \
             get-tuple-element(r), index=1\nr2 = {element_type}[{part}] get-tuple-element(r), index=2\n\
             c0 = f64[{whole}] convert(r0)\nc1 = f64[{part}] convert(r1)\nc2 = f64[{part}] convert(r2)\n\
             ROOT s = (f64[{whole}], f64[{part}], f64[{part}]) tuple(c0, c1, c2)"
        ),
    };
    run(&format!("ENTRY main {{\n{lines}\n}}"), &literals).into_iter().map(reals_of).collect()
}

const X: [f64; 8] = [1.0, 2.0, 3.0, 5.0, -1.0, 0.0, 7.0, 2.5];

fn assert_close(given: &[Vec<f64>], wanted: &[&[f64]], tolerance: f64) {
    assert_eq!(given.len(), wanted.len());
    for (given, wanted) in given.iter().zip(wanted) {
        let close = given.iter().zip(*wanted).all(|(a, b)| (a - b).abs() <= tolerance * b.abs().max(1.0));
        assert!(close && given.len() == wanted.len(), "{given:?}\n{wanted:?}");
    }
}

/// Epsilon is an `f32`: the values were computed with 0.001 in `f64`, so that eight digits agree.
#[test]
fn all_three_agree_with_xla() {
    let (scale, offset, mean, variance) = (vec![1.5, 2.0], vec![0.5, -1.0], vec![2.5, 2.375], vec![8.0, 3.0]);
    let training = normalized("f64", "training", &[4, 2], 1, &[X.to_vec(), scale.clone(), offset.clone()]);
    let wanted: [&[f64]; 3] = [
        &[
            -0.26059536790286647,
            -1.4210510764500381,
            0.7535317893009554,
            1.9473575351502674,
            -1.2747225251066883,
            -3.6666568175169085,
            2.7817861037085994,
            -0.8596496411833205,
        ],
        &[2.5, 2.375],
        &[8.75, 3.171875],
    ];
    assert_close(&training, &wanted, 1e-8);
    let inputs = [X.to_vec(), scale.clone(), offset, mean.clone(), variance.clone()];
    let wanted: [&[f64]; 1] = [&[
        -0.2954454150475715,
        -1.4329405511423303,
        0.7651484716825238,
        2.030583857996311,
        -1.3560393017776669,
        -3.7419568239014245,
        2.886336245142714,
        -0.8556864829525568,
    ]];
    assert_close(&normalized("f64", "inference", &[4, 2], 1, &inputs), &wanted, 1e-8);
    let gradient: Vec<f64> =
        [3, 2, 1, 0].iter().flat_map(|&row| [2.0 * X[2 * row] + 1.0, 2.0 * X[2 * row + 1] + 1.0]).collect();
    let wanted: [&[f64]; 3] = [
        &[
            3.9276173686926,
            -0.6175401891039539,
            -3.4303935630243902,
            0.8592569145890359,
            -1.4414983403515518,
            0.3221086357332982,
            0.9442745346833421,
            -0.5638253612183801,
        ],
        &[-12.020064049607747, -14.50350846326806],
        &[24.0, 23.0],
    ];
    assert_close(&normalized("f64", "grad", &[4, 2], 1, &[X.to_vec(), scale, mean, variance, gradient]), &wanted, 1e-8);
}

#[test]
fn every_float_is_normalized_and_rounded_once() {
    let inputs = [X.to_vec(), vec![2.0, 4.0], vec![1.0, 0.5]];
    for element_type in types(ElementType::is_float) {
        let held: Vec<Vec<f64>> = inputs.iter().map(|input| converted(element_type, input)).collect();
        let exact = normalized("f64", "training", &[4, 2], 1, &held);
        let given = normalized(element_type.name(), "training", &[4, 2], 1, &inputs);
        for (given, exact) in given.iter().zip(&exact) {
            assert_same(given, &converted(element_type, exact), element_type);
        }
    }
}

#[test]
fn training_gives_each_feature_mean_0_and_variance_1_wherever_features_lie() {
    let random = &mut Rng::new(6);
    for _ in 0..60 {
        let rank = random.between(1, 4) as usize;
        let extents = many(random, rank, 1, 4);
        let feature = random.between(0, rank as i64 - 1) as usize;
        let features = extents[feature] as usize;
        let x: Vec<f64> = many(random, count(&extents), -9, 9).iter().map(|&x| x as f64).collect();
        let scale: Vec<f64> = many(random, features, -3, 3).iter().map(|&x| x as f64).collect();
        let offset: Vec<f64> = many(random, features, -3, 3).iter().map(|&x| x as f64).collect();
        let given = normalized("f64", "training", &extents, feature, &[x.clone(), scale.clone(), offset.clone()]);
        let all = indices(&extents);
        for at in 0..features {
            let mine: Vec<usize> = (0..all.len()).filter(|&number| all[number][feature] == at as i64).collect();
            let size = mine.len() as f64;
            let mean = mine.iter().map(|&number| x[number]).sum::<f64>() / size;
            // The mean of the squares less the square of the mean: the same, written otherwise.
            let variance = mine.iter().map(|&number| x[number] * x[number]).sum::<f64>() / size - mean * mean;
            assert!((given[1][at] - mean).abs() < 1e-12 && (given[2][at] - variance).abs() < 1e-12);
            for number in mine {
                let wanted = scale[at] * (x[number] - mean) * (variance + 0.001).powf(-0.5) + offset[at];
                assert!((given[0][number] - wanted).abs() < 1e-6, "{} {wanted}", given[0][number]);
            }
        }
    }
}

/// The gradient of `sum of dy * training(x)` by x, scale and offset, by differences.
#[test]
fn the_gradient_is_that_of_training() {
    let random = &mut Rng::new(7);
    for _ in 0..10 {
        let rank = random.between(1, 3) as usize;
        let extents = many(random, rank, 2, 3);
        let feature = random.between(0, rank as i64 - 1) as usize;
        let features = extents[feature] as usize;
        let mut some =
            |count: usize| -> Vec<f64> { many(random, count, -90, 90).iter().map(|&x| x as f64 / 10.0).collect() };
        let inputs = [some(count(&extents)), some(features), some(features)];
        let dy = some(count(&extents));
        let training = |inputs: &[Vec<f64>; 3]| normalized("f64", "training", &extents, feature, inputs);
        let forward = training(&inputs);
        let given = [inputs[0].clone(), inputs[1].clone(), forward[1].clone(), forward[2].clone(), dy.clone()];
        let gradients = normalized("f64", "grad", &extents, feature, &given);
        for (input, gradient) in gradients.iter().enumerate() {
            for (at, &given) in gradient.iter().enumerate() {
                let total = |by: f64| -> f64 {
                    let mut moved = inputs.clone();
                    moved[input][at] += by;
                    training(&moved)[0].iter().zip(&dy).map(|(y, dy)| y * dy).sum()
                };
                let wanted = (total(1e-4) - total(-1e-4)) / 2e-4;
                assert!((given - wanted).abs() < 1e-4 * wanted.abs().max(1.0), "{given} {wanted}");
            }
        }
    }
}

#[test]
fn of_no_elements_mean_and_variance_are_nan_and_sums_zero() {
    let training = normalized("f32", "training", &[0, 3], 1, &[vec![], vec![1.0; 3], vec![1.0; 3]]);
    assert!(
        training[0].is_empty() && training[1..].iter().all(|part| part.len() == 3 && part.iter().all(|x| x.is_nan()))
    );
    let three = vec![1.0; 3];
    let gradient = normalized("f32", "grad", &[0, 3], 1, &[vec![], three.clone(), three.clone(), three, vec![]]);
    assert_eq!(gradient, [vec![], vec![0.0; 3], vec![0.0; 3]]);
    assert_eq!(normalized("f32", "training", &[4, 0], 1, &[vec![], vec![], vec![]]), vec![vec![0.0; 0]; 3]);
}
