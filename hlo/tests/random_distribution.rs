//! What random modules are made of: nothing is missing, nothing is rare beyond a bound, and a filter is kept.

use weft_hlo::ir::{ElementType, Shape};
use weft_hlo::random::{self, Distribution, Options};

const MODULES: u64 = 2_000;
/// The least share, in a thousand, of instructions that each operation must have.
const OPERATION: usize = 2;
/// The least share, in a thousand, of arrays that each element type must have.
const TYPE: usize = 10;

fn of_seeds(seeds: std::ops::Range<u64>, options: &Options) -> Distribution {
    let mut distribution = Distribution::default();
    seeds.for_each(|seed| distribution.add(&random::module(seed, options)));
    distribution
}

#[test]
fn no_operation_type_rank_or_form_is_missing_or_rare() {
    let distribution = of_seeds(0..MODULES, &Options::default());
    println!("{distribution}");
    assert_eq!(distribution.missing_operations(), Vec::<&str>::new());
    assert_eq!(distribution.missing_types(), []);
    let share = |count: usize, all: usize| 1000 * count / all;
    for (name, &count) in &distribution.operations {
        assert!(share(count, distribution.instructions) >= OPERATION, "{name}: {count}");
    }
    let arrays: usize = distribution.types.values().sum();
    for (element_type, &count) in &distribution.types {
        assert!(share(count, arrays) >= TYPE, "{element_type}: {count}");
    }
    assert_eq!(distribution.ranks.keys().copied().collect::<Vec<_>>(), (0..=6).collect::<Vec<_>>());
    for (rank, &count) in &distribution.ranks {
        assert!(share(count, arrays) >= 10, "rank {rank}: {count}");
    }
    let dimensions: usize = distribution.extents.values().sum();
    for extent in 0..=3 {
        assert!(share(distribution.extents[&extent], dimensions) >= 30, "extent {extent}");
    }
    for readers in 0..=3 {
        assert!(share(distribution.readers[&readers], distribution.instructions) >= 20, "{readers} readers");
    }
    for depth in 0..=3 {
        assert!(share(distribution.nesting[&depth], distribution.modules) >= 20, "nested {depth} deep");
    }
    assert!(distribution.callers.keys().any(|&callers| callers > 1));
    assert_eq!(distribution.forms.len(), 24, "{:?}", distribution.forms);
    for (form, &count) in &distribution.forms {
        assert!(count >= 30, "{form}: {count}");
    }
}

/// Each operation alone, in a module around it.
#[test]
fn a_module_can_be_asked_for_around_any_operation() {
    for name in random::operations() {
        let options = Options { operations: vec![name], instructions: 12, ..Options::default() };
        let distribution = of_seeds(0..8, &options);
        assert!(distribution.operations.contains_key(name), "{name}");
    }
}

#[test]
fn types_that_were_not_asked_for_occur_only_where_an_operation_demands_them() {
    let asked = [ElementType::Bf16, ElementType::S4];
    let options =
        Options { types: asked.to_vec(), operations: vec!["add", "select", "transpose"], ..Options::default() };
    for seed in 0..50 {
        for instruction in random::module(seed, &options).entry_computation().instructions.values() {
            let types = instruction.shape.leaves().into_iter().filter_map(Shape::as_array).map(|it| it.element_type);
            for element_type in types {
                assert!(asked.contains(&element_type) || element_type == ElementType::Pred, "{element_type}");
            }
        }
    }
}

#[test]
fn extents_ranks_and_nesting_keep_to_their_bounds() {
    let options = Options { elements: 12, nesting: 1, layouts: false, ..Options::default() };
    let distribution = of_seeds(0..100, &options);
    assert!(distribution.ranks.keys().all(|&rank| rank <= 6));
    assert!(distribution.nesting.keys().all(|&depth| depth <= 1));
    assert!(!distribution.forms.contains_key("a layout"));
    for seed in 0..100 {
        for computation in random::module(seed, &options).computations.values() {
            for instruction in computation.instructions.values() {
                let arrays = instruction.shape.leaves().into_iter().filter_map(Shape::as_array);
                arrays.for_each(|array| assert!(array.element_count().unwrap() <= 12, "{array}"));
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_module_and_inputs_each_time() {
    let options = Options::default();
    for seed in [0, 1, u64::MAX] {
        let module = random::module(seed, &options);
        assert_eq!(module, random::module(seed, &options));
        assert_eq!(random::inputs(&module, seed), random::inputs(&module, seed));
    }
    assert_ne!(random::module(0, &options).computations, random::module(1, &options).computations);
}
