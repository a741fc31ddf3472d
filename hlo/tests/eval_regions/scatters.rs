//! `scatter`.

use super::common::{COMBINE, combined, count, indices, listed, position, random, run, s32};
use weft_hlo::ir::Literal;
use weft_hlo::random::Rng;

/// The dimension numbers of a scatter and the extents that it works on.
struct Scatter {
    input: Vec<i64>,
    indices: Vec<i64>,
    updates: Vec<i64>,
    update_window_dims: Vec<i64>,
    inserted: Vec<i64>,
    mapped: Vec<i64>,
    batching: Vec<i64>,
    indices_batching: Vec<i64>,
    index_vector_dim: i64,
}

impl Scatter {
    fn random(rng: &mut Rng) -> Self {
        let rank = rng.between(0, 4);
        let input: Vec<i64> = (0..rank).map(|_| if rng.chance(4) { 0 } else { rng.between(1, 4) }).collect();
        let mut dimensions: Vec<i64> = (0..rank).collect();
        rng.shuffle(&mut dimensions);
        let batching_count = rng.below(dimensions.len().min(2) + 1);
        let mut batching = dimensions.split_off(dimensions.len() - batching_count);
        batching.sort_unstable();
        let mut mapped = dimensions.clone();
        rng.shuffle(&mut mapped);
        mapped.truncate(rng.below(mapped.len() + 1));
        let inserted_count = rng.below(dimensions.len() + 1);
        let mut inserted = dimensions.split_off(dimensions.len() - inserted_count);
        inserted.sort_unstable();
        dimensions.sort_unstable();
        // The batch extents: those of the batching dimensions and others, in any order.
        let mut batch: Vec<(i64, Option<usize>)> = Vec::new();
        batch.extend(batching.iter().enumerate().map(|(number, &dimension)| (input[dimension as usize], Some(number))));
        batch.extend((0..rng.between(0, 2)).map(|_| (rng.between(1, 3), None)));
        rng.shuffle(&mut batch);
        let index_vector_dim = rng.below(batch.len() + 1);
        let (mut indices, mut indices_batching) = (Vec::new(), vec![0; batching.len()]);
        let implicit = mapped.len() == 1 && rng.chance(50);
        for (number, &(extent, of)) in batch.iter().enumerate() {
            if number == index_vector_dim && !implicit {
                indices.push(mapped.len() as i64);
            }
            if let Some(of) = of {
                indices_batching[of] = indices.len() as i64;
            }
            indices.push(extent);
        }
        if index_vector_dim == batch.len() && !implicit {
            indices.push(mapped.len() as i64);
        }
        let index_vector_dim = if implicit { indices.len() } else { index_vector_dim } as i64;
        let mut window =
            dimensions.iter().map(|&dimension| rng.between(0, input[dimension as usize])).collect::<Vec<_>>();
        window.reverse();
        let mut places: Vec<bool> = vec![true; window.len()];
        places.resize(window.len() + batch.len(), false);
        rng.shuffle(&mut places);
        batch.reverse();
        let (mut updates, mut update_window_dims) = (Vec::new(), Vec::new());
        for (place, is_window) in (0i64..).zip(places) {
            if is_window {
                update_window_dims.push(place);
                updates.push(window.pop().unwrap());
            } else {
                updates.push(batch.pop().unwrap().0);
            }
        }
        Scatter {
            input,
            indices,
            updates,
            update_window_dims,
            inserted,
            mapped,
            batching,
            indices_batching,
            index_vector_dim,
        }
    }

    fn attributes(&self) -> String {
        format!(
            "update_window_dims={{{}}}, inserted_window_dims={{{}}}, scatter_dims_to_operand_dims={{{}}}, \
             input_batching_dims={{{}}}, scatter_indices_batching_dims={{{}}}, index_vector_dim={}",
            listed(&self.update_window_dims),
            listed(&self.inserted),
            listed(&self.mapped),
            listed(&self.batching),
            listed(&self.indices_batching),
            self.index_vector_dim
        )
    }

    /// The updates' positions, window after window.
    fn order(&self) -> Vec<Vec<i64>> {
        let mut all = indices(&self.updates);
        let batch = |index: &Vec<i64>| -> Vec<i64> {
            let parts = (0i64..).zip(index);
            parts.filter(|(dimension, _)| !self.update_window_dims.contains(dimension)).map(|(_, &at)| at).collect()
        };
        all.sort_by_key(batch);
        all
    }

    /// Where an update goes and the first and the last index of its window, by adding up the indices of the specification.
    fn target(&self, starts: &[i32], update: &[i64]) -> [Vec<i64>; 3] {
        let window: Vec<i64> = self.update_window_dims.iter().map(|&dimension| update[dimension as usize]).collect();
        let last: Vec<i64> =
            self.update_window_dims.iter().map(|&dimension| self.updates[dimension as usize] - 1).collect();
        let batch = (0i64..).zip(update).filter(|(dimension, _)| !self.update_window_dims.contains(dimension));
        let batch: Vec<i64> = batch.map(|(_, &at)| at).collect();
        let at = |component: usize| {
            let mut index = batch.clone();
            if (self.index_vector_dim as usize) < self.indices.len() {
                index.insert(self.index_vector_dim as usize, component as i64);
            }
            index
        };
        let mut base = vec![0; self.input.len()];
        for (component, &dimension) in self.mapped.iter().enumerate() {
            base[dimension as usize] += i64::from(starts[position(&self.indices, &at(component))]);
        }
        for (&dimension, &from) in self.batching.iter().zip(&self.indices_batching) {
            base[dimension as usize] += at(0)[from as usize];
        }
        let with = |window: &[i64]| {
            let mut index = base.clone();
            let mut window = window.iter();
            for (dimension, index) in (0i64..).zip(&mut index) {
                if !self.inserted.contains(&dimension) && !self.batching.contains(&dimension) {
                    *index += window.next().unwrap();
                }
            }
            index
        };
        [with(&window), with(&vec![0; window.len()]), with(&last)]
    }

    fn holds(&self, index: &[i64]) -> bool {
        index.iter().zip(&self.input).all(|(index, extent)| (0..*extent).contains(index))
    }
}

#[test]
fn scatter_puts_each_update_where_the_sum_of_its_indices_says() {
    let mut rng = Rng::new(3);
    let mut skipped = 0;
    for _ in 0..600 {
        let scatter = Scatter::random(&mut rng);
        let input = random(&mut rng, &scatter.input, -9, 9);
        let starts = random(&mut rng, &scatter.indices, -1, 3);
        let updates = random(&mut rng, &scatter.updates, -9, 9);
        let [to, by, from] = [&scatter.input, &scatter.indices, &scatter.updates].map(|extents| listed(extents));
        let text = format!(
            "{COMBINE}\nENTRY e {{\n  x = s32[{to}] parameter(0)\n  i = s32[{by}] parameter(1)\n  \
             u = s32[{from}] parameter(2)\n  ROOT r = s32[{to}] scatter(x, i, u), {}, to_apply=combine\n}}",
            scatter.attributes()
        );
        let mut wanted = s32(&input).to_vec();
        for update in scatter.order() {
            let [target, first, last] = scatter.target(s32(&starts), &update);
            if scatter.holds(&first) && scatter.holds(&last) {
                let there = &mut wanted[position(&scatter.input, &target)];
                *there = combined(*there, s32(&updates)[position(&scatter.updates, &update)]);
            } else {
                skipped += 1;
            }
        }
        assert_eq!(wanted.len(), count(&scatter.input));
        assert_eq!(s32(&run(&text, &[input, starts, updates])[0]), wanted, "{text}");
    }
    assert!(skipped > 200, "{skipped} updates were out of bounds");
}

/// Updates of 1 at three indices of 300 zeros; where they are found.
fn hits(element_type: &str, starts: &str) -> Vec<usize> {
    let text = format!(
        "add {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}}\n\nENTRY e {{\n  \
         x = s32[300] parameter(0)\n  i = {element_type}[3] constant({starts})\n  u = s32[3] constant({{1, 1, 1}})\n  \
         ROOT r = s32[300] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, \
         scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add\n}}"
    );
    let results = run(&text, &[Literal::array([300], vec![0; 300])]);
    (0..300).filter(|&position| s32(&results[0])[position] == 1).collect()
}

#[test]
fn indices_of_every_integer_type_count_by_their_value() {
    assert_eq!(hits("s2", "{-2, 0, 1}"), [0, 1]);
    assert_eq!(hits("s4", "{-8, 0, 7}"), [0, 7]);
    assert_eq!(hits("s8", "{-128, 127, 3}"), [3, 127]);
    assert_eq!(hits("s16", "{-1, 299, 300}"), [299]);
    assert_eq!(hits("s32", "{-2147483648, 299, 2147483647}"), [299]);
    assert_eq!(hits("s64", "{-9223372036854775808, 299, 9223372036854775807}"), [299]);
    assert_eq!(hits("u2", "{3, 1, 2}"), [1, 2, 3]);
    assert_eq!(hits("u4", "{15, 8, 3}"), [3, 8, 15]);
    assert_eq!(hits("u8", "{255, 128, 3}"), [3, 128, 255]);
    assert_eq!(hits("u16", "{65535, 299, 300}"), [299]);
    assert_eq!(hits("u32", "{4294967295, 2147483648, 299}"), [299]);
    assert_eq!(hits("u64", "{18446744073709551615, 9223372036854775808, 299}"), [299]);
}

#[test]
fn a_scatter_of_nothing_or_into_nothing_changes_nothing() {
    let text = |to: &str, from: &str, window: &str, inserted: &str| {
        format!(
            "{COMBINE}\nENTRY e {{\n  x = s32[{to}] parameter(0)\n  i = s32[1] constant({{0}})\n  u = s32[{from}] parameter(1)\n  \
             ROOT r = s32[{to}] scatter(x, i, u), update_window_dims={{{window}}}, inserted_window_dims={{{inserted}}}, \
             scatter_dims_to_operand_dims={{0}}, index_vector_dim=0, to_apply=combine\n}}"
        )
    };
    let (two, none) = (Literal::array([2], vec![1, 2]), Literal::array([0], Vec::<i32>::new()));
    assert_eq!(run(&text("2", "0", "0", ""), &[two.clone(), none.clone()]), [two]);
    assert_eq!(run(&text("0", "", "", "0"), &[none.clone(), Literal::array([], vec![7])]), [none]);
}
