//! `dynamic-slice`, `dynamic-update-slice` and `gather`.

use super::*;

const S32: ElementType = ElementType::S32;

#[test]
fn starts_of_every_index_type_are_clamped_by_their_value() {
    for index in types(ElementType::is_integer) {
        for bits in [i64::MIN, -1, 0, 1, 2, 3, 4, 255, 1 << 32, i64::MIN + 5, i64::MAX] {
            let start = wrapped(index, i128::from(bits)).clamp(0, 3) as i64;
            let (x, u, i) =
                ((S32, vec![5], vec![0, 1, 2, 3, 4]), (S32, vec![2], vec![7, 8]), (index, vec![], vec![bits]));
            let given = integers(&[x.clone(), i.clone()], (S32, &[2]), "dynamic-slice;dynamic_slice_sizes={2}");
            assert_eq!(given, [start, start + 1], "{index} {bits}");
            let given = integers(&[x.clone(), u, i.clone()], (S32, &[5]), "dynamic-update-slice");
            let mut wanted = vec![0, 1, 2, 3, 4];
            wanted[start as usize..][..2].copy_from_slice(&[7, 8]);
            assert_eq!(given, wanted, "{index} {bits}");
            let call = "gather;offset_dims={0}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=0, \
                        slice_sizes={2}";
            let given = integers(&[x, (index, vec![1], vec![bits])], (S32, &[2]), call);
            assert_eq!(given, [start, start + 1], "{index} {bits}");
        }
    }
}

#[test]
fn dynamic_slices_and_updates_are_those_of_random_shapes() {
    let random = &mut Rng::new(1);
    for _ in 0..300 {
        let rank = random.between(0, 4) as usize;
        let extents = many(random, rank, 0, 5);
        let sizes: Vec<i64> = extents.iter().map(|&extent| random.between(0, extent)).collect();
        let starts = many(random, rank, -3, 7);
        let element = random.choose(ElementType::ALL).expect("there are some");
        let element = if is_integral(element) { element } else { S32 };
        let values: Vec<i64> = (0..count(&extents) as i64).map(|value| wrapped(element, value.into()) as i64).collect();
        let updates: Vec<i64> =
            (0..count(&sizes) as i64).map(|value| wrapped(element, (value ^ 1).into()) as i64).collect();
        let mut operands = vec![(element, extents.clone(), values.clone())];
        if rank > 0 && random.below(3) == 0 {
            operands.push((ElementType::S8, vec![rank as i64], starts.clone()));
        } else {
            operands.extend(starts.iter().map(|&start| (ElementType::S16, vec![], vec![start])));
        }
        let place = |index: &[i64]| -> usize {
            let at = |d: usize| starts[d].max(0).min(extents[d] - sizes[d]) + index[d];
            number(&(0..rank).map(at).collect::<Vec<_>>(), &extents)
        };
        let wanted: Vec<i64> = indices(&sizes).iter().map(|index| values[place(index)]).collect();
        let call = format!("dynamic-slice;dynamic_slice_sizes={{{}}}", list(&sizes));
        // A scalar has no starts, and one operand is a dynamic slice all the same.
        assert_eq!(integers(&operands, (element, &sizes), &call), wanted, "{call} {operands:?}");

        operands.insert(1, (element, sizes.clone(), updates.clone()));
        let mut wanted = values;
        indices(&sizes).iter().zip(&updates).for_each(|(index, &update)| wanted[place(index)] = update);
        let given = integers(&operands, (element, &extents), "dynamic-update-slice");
        assert_eq!(given, wanted, "dynamic-update-slice {operands:?}");
    }
}

/// The document's definition, index by index.
#[test]
fn gathers_of_random_dimension_numbers_are_those_of_the_definition() {
    let random = &mut Rng::new(2);
    let mut batched = 0;
    for _ in 0..400 {
        let rank = random.between(0, 4) as usize;
        let extents = many(random, rank, 1, 4);
        // Each dimension of the operand is mapped, or batched, or neither; those batched and some others are dropped.
        let (mut batching, mut collapsed, mut map, mut sizes) = (vec![], vec![], vec![], vec![]);
        for (dimension, &extent) in extents.iter().enumerate() {
            let size = random.between(1, extent);
            match random.between(0, 4) {
                0 => {
                    batching.push(dimension);
                    sizes.push(1);
                    continue;
                }
                1 | 2 => map.push(dimension),
                _ => {}
            }
            sizes.push(size);
            if size == 1 && random.below(2) == 0 {
                collapsed.push(dimension);
            }
        }
        let map = shuffled(random, map);
        // The indices' dimensions: batch ones, some of them paired with the operand's, and the vector among them.
        let mut batch: Vec<(i64, Option<usize>)> = batching.iter().map(|&d| (extents[d], Some(d))).collect();
        for _ in 0..random.between(0, 2) {
            batch.push((random.between(0, 3), None));
        }
        let batch = shuffled(random, batch);
        let vector = match map.len() {
            1 if random.below(2) == 0 => batch.len(),
            _ => random.between(0, batch.len() as i64) as usize,
        };
        let is_implicit = map.len() == 1 && vector == batch.len() && random.below(2) == 0;
        let mut index_extents: Vec<i64> = batch.iter().map(|(extent, _)| *extent).collect();
        if !is_implicit {
            index_extents.insert(vector, map.len() as i64);
        }
        let paired: Vec<usize> = batching
            .iter()
            .map(|&d| {
                let at = batch.iter().position(|(_, pair)| *pair == Some(d)).unwrap();
                if !is_implicit && at >= vector { at + 1 } else { at }
            })
            .collect();
        batched += usize::from(!paired.is_empty());
        let kept: Vec<usize> = (0..rank).filter(|d| !batching.contains(d) && !collapsed.contains(d)).collect();
        let result_rank = batch.len() + kept.len();
        let mut offsets = shuffled(random, (0..result_rank).collect());
        offsets.truncate(kept.len());
        offsets.sort_unstable();
        let (mut slices, mut batches) = (kept.iter().map(|&d| sizes[d]), batch.iter().map(|(extent, _)| *extent));
        let results: Vec<i64> = (0..result_rank)
            .map(|d| if offsets.contains(&d) { slices.next().unwrap() } else { batches.next().unwrap() })
            .collect();

        let index_type =
            random.choose(&types(|index| index.is_integer() && index.bits() >= 8)).expect("there are some");
        let operand = many(random, count(&extents), -1000, 1000);
        let starts = many(random, count(&index_extents), -2, 5);
        let call = format!(
            "gather;offset_dims={{{}}}, collapsed_slice_dims={{{}}}, start_index_map={{{}}}, \
             operand_batching_dims={{{}}}, start_indices_batching_dims={{{}}}, index_vector_dim={vector}, \
             slice_sizes={{{}}}",
            list(&offsets),
            list(&collapsed),
            list(&map),
            list(&batching),
            list(&paired),
            list(&sizes)
        );
        let wanted: Vec<i64> = indices(&results)
            .iter()
            .map(|index| {
                let of_batch: Vec<i64> = (0..result_rank).filter(|d| !offsets.contains(d)).map(|d| index[d]).collect();
                let mut place = vec![0; rank];
                for (component, &dimension) in map.iter().enumerate() {
                    let mut at = of_batch.clone();
                    if !is_implicit {
                        at.insert(vector, component as i64);
                    }
                    let start = wrapped(index_type, starts[number(&at, &index_extents)].into());
                    place[dimension] += start.clamp(0, (extents[dimension] - sizes[dimension]).into()) as i64;
                }
                for (at, (_, pair)) in batch.iter().enumerate() {
                    if let Some(dimension) = pair {
                        place[*dimension] += of_batch[at];
                    }
                }
                offsets.iter().zip(&kept).for_each(|(&at, &dimension)| place[dimension] += index[at]);
                operand[number(&place, &extents)]
            })
            .collect();
        let operands = [(S32, extents.clone(), operand.clone()), (index_type, index_extents.clone(), starts.clone())];
        assert_eq!(integers(&operands, (S32, &results), &call), wanted, "{call} {operands:?}");
    }
    assert!(batched > 100, "{batched}");
}

#[test]
fn a_gather_of_empty_slices_into_a_result_gives_zeros() {
    let call =
        "gather;offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0}";
    for extent in [0, 5] {
        let operand = (S32, vec![extent], (1..=extent).collect());
        let given = integers(&[operand, (S32, vec![3], vec![0, 2, 9])], (S32, &[3]), call);
        assert_eq!(given, [0, 0, 0]);
    }
}

#[test]
fn huge_extents_beside_an_empty_one_are_no_trouble() {
    let huge = 1i64 << 62;
    let x = (S32, vec![0, huge], vec![]);
    let start = || (ElementType::U64, vec![], vec![-1]);
    let sizes = [0, huge - 1];
    let call = format!("dynamic-slice;dynamic_slice_sizes={{{}}}", list(&sizes));
    assert_eq!(integers(&[x.clone(), start(), start()], (S32, &sizes), &call), [0; 0]);
    let update = (S32, sizes.to_vec(), vec![]);
    assert_eq!(integers(&[x.clone(), update, start(), start()], (S32, &[0, huge]), "dynamic-update-slice"), [0; 0]);
    let call = format!(
        "gather;offset_dims={{1,2}}, collapsed_slice_dims={{}}, start_index_map={{}}, index_vector_dim=1, \
         slice_sizes={{0,{huge}}}"
    );
    let indices = (S32, vec![huge, 0], vec![]);
    assert_eq!(integers(&[x, indices], (S32, &[huge, 0, huge]), &call), [0; 0]);
}
