//! Regression tests of indexing maps.

use super::perturbation::perturb;
use super::scene::Scene;
use super::values::Values;
use super::{judge::judge, provenance};
use weft_hlo::indexing::{Analysis, Direction, Domains};
use weft_hlo::ir::Module;
use weft_hlo::random::{self, Options};
use weft_hlo::text;

fn module(text: &str) -> Module {
    text::parse(text).expect("the text is a module")
}

/// What is wrong with the maps of the entry's root, for some inputs.
fn wrong(module: &Module) -> Vec<String> {
    let id = module.entry_computation().root;
    let mut wrong = Vec::new();
    for seed in 0..8 {
        let inputs = random::inputs(module, seed, &Options::default());
        let values = Values::new(module, module.entry, &inputs).expect("the module has a value");
        let scene = Scene { module, computation: module.entry, id, values: &values };
        let reads = provenance::reads(scene).expect("there is provenance");
        for domains in [Domains::Documented, Domains::Exact] {
            let verdict = judge(scene, &reads, domains);
            wrong.extend(verdict.wrong);
            wrong.extend(perturb(scene, &verdict.said, seed).expect("the module has a value").wrong);
        }
    }
    wrong
}

#[test]
fn starts_in_two_branches_have_two_owners() {
    let branch = |name: &str, op: &str| {
        format!(
            "{name} {{\n p = (f32[6], s32[]) parameter(0)\n x = f32[6] get-tuple-element(p), index=0\n \
             s = s32[] get-tuple-element(p), index=1\n t = s32[] {op}(s)\n \
             ROOT d = f32[2] dynamic-slice(x, t), dynamic_slice_sizes={{2}}\n}}\n"
        )
    };
    let module = module(&format!(
        "HloModule m\n{}{}ENTRY e {{\n i = s32[] parameter(0)\n a = (f32[6], s32[]) parameter(1)\n \
         b = (f32[6], s32[]) parameter(2)\n \
         ROOT c = f32[2] conditional(i, a, b), branch_computations={{%one, %other}}\n}}",
        branch("%one", "negate"),
        branch("%other", "abs"),
    ));
    assert_eq!(wrong(&module), [""; 0]);

    let root = module.entry_computation().root;
    let found = Analysis::new(&module).instruction(module.entry, root, Direction::OutputToInput);
    let starts = found.dependences.iter().flat_map(|it| it.relation.maps()).flat_map(|map| map.map.runtime());
    let owners: Vec<_> = starts.map(|start| start.owner().expect("a start has an owner")).collect();
    assert_eq!(owners.len(), 2);
    assert_eq!(found.owners.path(owners[0]), found.owners.path(owners[1]), "both stand at the same place of a branch");
    assert_eq!(found.owners.branches(owners[0]), Some(vec![0]));
    assert_eq!(found.owners.branches(owners[1]), Some(vec![1]));
}

#[test]
fn starts_of_another_batch_are_not_read_by_a_scatter() {
    let module = module(
        "HloModule m\n%add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n\
         ENTRY e {\n x = f32[3,4] parameter(0)\n i = s32[3,2,1] parameter(1)\n u = f32[3,2] parameter(2)\n \
         ROOT s = f32[3,4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1}, \
         scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, \
         index_vector_dim=2, to_apply=%add\n}",
    );
    assert_eq!(wrong(&module), [""; 0]);
}

#[test]
fn the_padding_value_is_not_read_everywhere() {
    let module = module(
        "HloModule m\nENTRY e {\n x = f32[2,3] parameter(0)\n v = f32[] parameter(1)\n \
         ROOT p = f32[4,2] pad(x, v), padding=0_1_1x-1_0\n}",
    );
    assert_eq!(wrong(&module), [""; 0]);
    let root = module.entry_computation().root;
    let found = Analysis::new(&module).instruction(module.entry, root, Direction::OutputToInput);
    let of_value: Vec<_> = found.on(1).flat_map(|it| it.relation.maps()).collect();
    assert!(of_value.len() == 1 && of_value[0].coarse.is_some());
}

#[test]
fn every_array_of_a_constant_tuple_comes_from_nothing() {
    let module = module("HloModule m\nENTRY e {\n ROOT c = (f32[2], s32[]) constant(({1, 2}, 3))\n}");
    assert_eq!(wrong(&module), [""; 0]);
    let root = module.entry_computation().root;
    let found = Analysis::new(&module).instruction(module.entry, root, Direction::OutputToInput);
    let maps: Vec<String> =
        found.dependences.iter().flat_map(|it| it.relation.maps()).map(|map| map.map.to_string()).collect();
    assert_eq!(maps, ["(d0) -> (), domain: d0 in [0, 1]", "() -> ()"]);
}

#[test]
fn a_gather_of_slices_without_elements_reads_none() {
    let module = module(
        "HloModule m\nENTRY e {\n x = f32[3,2] parameter(0)\n i = s32[2,1] parameter(1)\n \
         ROOT g = f32[2,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, \
         index_vector_dim=1, slice_sizes={0,2}\n}",
    );
    assert_eq!(wrong(&module), [""; 0]);
}
