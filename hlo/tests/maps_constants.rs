//! Start indices and gathered indices that are constant: numbers and expressions in place of runtime variables.

use crate::maps_subgraph::{module, named};
use weft_hlo::indexing::{Analysis, Direction, Domains, Relation};
use weft_hlo::ir::Module;

/// The maps of the root to parameter 0.
fn to_first(module: &Module, domains: Domains) -> Vec<String> {
    let found = Analysis::new(module).with_domains(domains).computation(module.entry, Direction::OutputToInput);
    let maps = found.on(0).flat_map(|own| own.relation.maps());
    let mut texts: Vec<String> = maps.map(|map| map.map.to_string()).collect();
    texts.sort();
    texts
}

#[test]
fn constant_start_indices_become_numbers() {
    let slice = |starts: &str, start: &str| {
        let text = format!(
            "HloModule m\nENTRY e {{\n p = f32[100] parameter(0)\n {starts}\n \
             d = f32[10] dynamic-slice(p, {start}), dynamic_slice_sizes={{10}}\n ROOT root = f32[10] negate(d)\n}}"
        );
        to_first(&module(&text), Domains::Documented).join("; ")
    };
    let from = |start: &str| format!("(d0) -> (d0{start}), domain: d0 in [0, 9]");
    assert_eq!(slice("c = s32[] constant(42)", "c"), from(" + 42"));
    // The start is clamped, so that the slice lies within the array.
    assert_eq!(slice("c = s32[] constant(95)", "c"), from(" + 90"));
    assert_eq!(slice("c = s8[] constant(-3)", "c"), from(""));
    assert_eq!(
        slice("c = u64[] constant(18446744073709551615)", "c"),
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]"
    );
    let chain = "i = s32[2,6] iota(), iota_dimension=1\n t = s32[6,2] transpose(i), dimensions={1,0}\n \
        r = s32[6,2] reverse(t), dimensions={0}\n s = s32[1,1] slice(r), slice={[1:2], [1:2]}\n \
        n = s32[] reshape(s)\n w = s64[] convert(n)\n";
    assert_eq!(slice(chain, "w"), from(" + 4"));
    assert_eq!(slice(&format!("{chain} k = s64[] constant(9)\n m = s64[] multiply(w, k)"), "m"), from(" + 36"));
    // -4 as an index from the end, as NumPy counts.
    let wrapped = "i = s32[] constant(-24)\n zero = s32[] constant(0)\n n = s32[] constant(100)\n \
        is = pred[] compare(i, zero), direction=LT\n sum = s32[] add(i, n)\n w = s32[] select(is, sum, i)";
    assert_eq!(slice(wrapped, "w"), from(" + 76"));
    // 100 + 100 is -56 in eight bits.
    assert_eq!(
        slice("c = s8[] constant(100)\n s = s8[] add(c, c)", "s"),
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]"
    );
}

#[test]
fn computed_constant_indices_become_expressions() {
    let gather = |indices: &str| {
        let text = format!(
            "HloModule m\nENTRY e {{\n p = f32[10,4] parameter(0)\n {indices}\n \
             g = f32[6,4] gather(p, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, \
             index_vector_dim=1, slice_sizes={{1,4}}\n ROOT n = f32[6,4] negate(g)\n}}"
        );
        to_first(&module(&text), Domains::Documented).join("; ")
    };
    let rows = |row: &str| format!("(d0, d1) -> ({row}, d1), domain: d0 in [0, 5], d1 in [0, 3]");
    assert_eq!(gather("i = s32[6] iota(), iota_dimension=0"), rows("d0"));
    assert_eq!(gather("i = s32[6] constant({9, 7, 5, 3, 1, -1})"), rows_of_runtime());
    assert_eq!(gather("i = s32[6] constant({10, 8, 6, 4, 2, 0})"), rows_of_runtime());
    assert_eq!(gather("i = s32[6] constant({5, 4, 3, 2, 1, 0})"), rows("-d0 + 5"));
    assert_eq!(gather("i = s32[6] constant({14, 13, 12, 11, 10, 9})"), rows("9"), "all are clamped to the last row");
    assert_eq!(gather("i = s32[6] constant({5, 4, 3, 2, 1, 1})"), rows_of_runtime());
    let repeated =
        "a = s32[3] iota(), iota_dimension=0\n b = s32[3,2] broadcast(a), dimensions={0}\n i = s32[6] reshape(b)";
    assert_eq!(gather(repeated), rows("d0 floordiv 2"));
    let far = "a = s32[6] iota(), iota_dimension=0\n k = s32[] constant(3)\n b = s32[6] broadcast(k), dimensions={}\n i = s32[6] multiply(a, b)";
    assert_eq!(gather(far), rows_of_runtime(), "the last two are clamped, the others are not");
}

/// A gather of rows of which not one expression says which.
fn rows_of_runtime() -> String {
    "(d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 5], d1 in [0, 3], rt0 in [0, 9]".to_owned()
}

#[test]
fn updates_at_indices_beyond_the_array_are_dropped() {
    let scatter = |start: &str| {
        let text = format!(
            "HloModule m\nassign {{\n a = f32[] parameter(0)\n ROOT b = f32[] parameter(1)\n}}\nENTRY e {{\n \
             u = f32[1,3] parameter(0)\n p = f32[9] parameter(1)\n i = s32[1,1] constant({{{{{start}}}}})\n \
             s = f32[9] scatter(p, i, u), update_window_dims={{1}}, inserted_window_dims={{}}, \
             scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=assign\n ROOT n = f32[9] negate(s)\n}}"
        );
        to_first(&module(&text), Domains::Documented)
    };
    assert_eq!(scatter("4"), ["(d0) -> (0, d0 - 4), domain: d0 in [4, 6]"]);
    assert_eq!(scatter("7"), [""; 0], "the window does not lie within");
}

#[test]
fn constants_of_callers_are_known_in_callees() {
    let text = "HloModule m\nf {\n x = f32[100] parameter(0)\n i = s32[6] parameter(1)\n \
        c = s32[1] slice(i), slice={[2:3]}\n s = s32[] reshape(c)\n \
        ROOT d = f32[10] dynamic-slice(x, s), dynamic_slice_sizes={10}\n}\nENTRY e {\n p = f32[100] parameter(0)\n \
        q = s32[6] parameter(1)\n k = s32[6] constant({0, 7, 14, 21, 28, 35})\n \
        a = f32[10] fusion(p, k), kind=kLoop, calls=f\n b = f32[10] fusion(p, q), kind=kLoop, calls=f\n \
        ROOT s = f32[10] add(a, b)\n}";
    let module = module(text);
    let unknown = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]";
    assert_eq!(to_first(&module, Domains::Documented), ["(d0) -> (d0 + 14), domain: d0 in [0, 9]", unknown]);
    // What an instruction's map is on its own, and simplified.
    let mut analysis = Analysis::new(&module);
    let a = named(&module, "a");
    let mut found = analysis.instruction(module.entry, a, Direction::OutputToInput);
    let Relation::Maps(maps) = &mut found.dependences[0].relation else { panic!("{found:?}") };
    assert_eq!(maps[0].map.to_string(), unknown);
    analysis.simplify(module.entry, &found.owners, &mut maps[0]);
    assert_eq!(maps[0].map.to_string(), "(d0) -> (d0 + 14), domain: d0 in [0, 9]");
}
