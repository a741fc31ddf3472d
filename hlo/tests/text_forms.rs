//! Forms of the syntax that the corpus does not have, each with the canonical line it is printed as.

use weft_hlo::ir::{ArenaId, Data, InstrId, Module, Op, Scalar, Shape};
use weft_hlo::text::{PrintOptions, parse, print, print_computation, print_instruction, print_with};

/// Parameters for the lines under test.
const PARAMETERS: &str = "  p = f32[2,3]{1,0} parameter(0)\n  q = f32[] parameter(1)\n";

const REGION: &str = "r {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n";

/// What the last line of the entry computation is printed as, in the short form.
fn printed(line: &str) -> String {
    let text = format!("HloModule m\n{REGION}ENTRY e {{\n{PARAMETERS}  {line}\n}}\n");
    let module = parse(&text).unwrap_or_else(|findings| panic!("{line}:\n{findings}"));
    let again = print(&module);
    assert_eq!(parse(&again).unwrap(), module, "{again}");
    let root = module.entry_computation().root;
    print_instruction(&module, module.entry, root, &PrintOptions::short())
}

#[test]
fn canonical_lines_stay() {
    for line in [
        "x = f32[2,3]{1,0:T(8,128)S(1)} copy(p)",
        "x = f32[]{:T(128)} copy(q)",
        "x = f32[<=2,3]{1,0} copy(p)",
        "x = (f32[2,3]{0,1}, (), token[], opaque[]) custom-call(p), custom_call_target=\"f,{\\\"\"",
        "x = f32[2,3]{1,0} negate(p), sharding={devices=[2,1]<=[2]}, control-predecessors={p, q}",
        "x = f32[2,3]{1,0:D(D,C+~)T(8,128)(2,*)L(4)#(u32)*(u64)E(4)S(1)SC(1:20,40)(0:3)M(8)} copy(p)",
        "x = f32[?,3,<=5]{2,1,0} custom-call(p), custom_call_target=\"f\"",
        "x = f32[2,3]{1,0} exponential(p), result_accuracy={mode=highest}",
        "x = f32[2,3]{1,0} slice(p), slice={[0:2:1], [1:3:2]}",
        "x = f32[9,3]{1,0} pad(p, q), padding=1_4_1x0_0_0",
        "x = f32[7,3]{1,0} pad(p, q), padding=1_4x-1_1",
        "x = f32[] pad(q, q), padding=",
        "x = pred[2,3]{1,0} compare(p, p), direction=LT, type=TOTALORDER",
        "x = (f32[2]{0}, f32[2]{0}) reduce(p, p, q, q), dimensions={1}, to_apply=r",
        "x = f32[] reduce(p, q), dimensions={0,1}, to_apply=r",
        "x = f32[4]{0} all-reduce(p), replica_groups=[2,4]<=[8], to_apply=r, metadata={op_name=\"a, b\"}",
        "x = f32[] conditional(q, q, q), branch_computations={r, r}",
        "x = f32[2,3]{1,0} select-and-scatter(p, p, q), window={size=1x1}, select=r, scatter=r",
        "x = f32[] custom-call(), custom_call_target=\"f\", custom_call_has_side_effect=true",
        "x = f32[2,3]{1,0} fusion(p), kind=kCustom, calls=r, backend_config={\"a\":[{\"b\":\"}\"}]}",
        "x = f32[] call(q, q), to_apply=r, is_composite=true",
        "x = (f32[], s32[2,1]{1,0}, ()) constant(( 1.5, { {1}, {-2} }, (  ) ))",
        "x = (f32[]) constant({...})",
        "x = f32[2]{0} constant({nan(0x1), -nan})",
        "x = c64[2]{0} constant({(1, -inf), (nan, 1e+30)})",
        "x = f8e4m3fn[2,1]{1,0} constant({ {1.5}, {-0} })",
        "x = pred[1,1,1,2]{3,2,1,0} constant({ { /*i0=0*/ { /*i1=0*/ { 1, 0 } } } })",
        "x = f32[3,0]{1,0} constant({ {}, {}, {} })",
        "x = s64[0,2]{1,0} constant({  })",
    ] {
        assert_eq!(printed(line), line);
    }
}

#[test]
fn other_spellings_become_canonical() {
    for (line, canonical) in [
        ("%x = f32[ 2 , 3 ] {1,0}", None),
        (
            "x =f32[2,3]{1, 0}negate( f32[2,3]{0,1}  %p ), metadata={ op_name='a' }",
            Some("x = f32[2,3]{1,0} negate(p), metadata={ op_name='a' }"),
        ),
        ("ROOT /* a */ x = f32[] // b\n copy(q)", Some("x = f32[] copy(q)")),
        ("x = f32[2,3] { 1, 0 : E(0) S( 1 ) } copy(p)", Some("x = f32[2,3]{1,0:S(1)} copy(p)")),
        ("x = f32[2,3]{1,0:L(1)} copy(p)", Some("x = f32[2,3]{1,0} copy(p)")),
        ("x = f32[] add(q, f32[] negate(f32[] negate(q)))", Some("x = f32[] add(q, negate.anon.1)")),
        (
            "x = f32[] call(q, q), to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) }",
            Some("x = f32[] call(q, q), to_apply=_"),
        ),
        ("x = f32[2,1]{1,0} slice(p), slice={[0:2:1],[1:2]}", Some("x = f32[2,1]{1,0} slice(p), slice={[0:2], [1:2]}")),
        ("x = f32[7,3]{1,0} pad(p, q), padding=1_4_0x0_0", Some("x = f32[7,3]{1,0} pad(p, q), padding=1_4x0_0")),
        ("x = f32[2] constant({1.50, 1E3})", Some("x = f32[2] constant({1.5, 1000})")),
        ("x = f32[0,2] constant({})", Some("x = f32[0,2] constant({  })")),
        ("x = pred[2] constant({true, false})", Some("x = pred[2] constant({1, 0})")),
        ("x = bf16[1,2] constant({{1,/* two */2}})", Some("x = bf16[1,2] constant({ { 1, 2 } })")),
        ("x = (s32[], f32[1]) constant((s32[] 1, f32[1] {2}))", Some("x = (s32[], f32[1]) constant(( 1, {2} ))")),
        ("x = f32[2,3] constant(2)", Some("x = f32[2,3] constant({ { 2, 0, 0 }, { 0, 0, 0 } })")),
        ("x = f32[2,2]{0,1} constant(-inf)", Some("x = f32[2,2]{0,1} constant({ { -inf, 0 }, { 0, 0 } })")),
        ("x = pred[3] constant(true)", Some("x = pred[3] constant({1, 0, 0})")),
        ("x = (s8[2], u64[]) constant((-1, 7))", Some("x = (s8[2], u64[]) constant(( {-1, 0}, 7 ))")),
        ("x = f32[2,3] map(p, p), to_apply=r", Some("x = f32[2,3] map(p, p), dimensions={0,1}, to_apply=r")),
        ("x = map(p, p), to_apply=r", Some("x = f32[2,3] map(p, p), dimensions={0,1}, to_apply=r")),
        ("x = f32[] map(q, q), to_apply=r", Some("x = f32[] map(q, q), dimensions={}, to_apply=r")),
        ("x: = f32[] copy(q:)", Some("x = f32[] copy(q)")),
        (
            "x = (f32[], f32[]) tuple(/*index=0*/q, q), sharding={{manual}, /*index=1*/{replicated}}",
            Some("x = (f32[], f32[]) tuple(q, q), sharding={{manual}, {replicated}}"),
        ),
    ] {
        match canonical {
            Some(canonical) => assert_eq!(printed(line), canonical),
            None => assert!(parse(&format!("HloModule m\nENTRY e {{ {line} }}")).is_err()),
        }
    }
}

#[test]
fn anything_may_stand_on_one_line() {
    let text = "HloModule m f { ROOT z = f32[] parameter(0) }, execution_thread=\"main\" \
                ENTRY e { x = f32[] parameter(0) y = f32[] negate(x) ROOT c = f32[] call(y), to_apply=f }";
    let module = parse(text).unwrap();
    assert_eq!(
        print(&module),
        "HloModule m\n\n\
         %f (z: f32[]) -> f32[] {\n  ROOT %z = f32[] parameter(0)\n}, execution_thread=\"main\"\n\n\
         ENTRY %e (x: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  %y = f32[] negate(%x)\n  \
         ROOT %c = f32[] call(%y), to_apply=%f\n}\n\n"
    );
    assert_eq!(module.entry.index(), 1);
}

/// The shape of an instruction of the entry as it is printed.
fn shape_of(module: &Module, name: &str) -> String {
    let entry = module.entry_computation();
    entry.instructions.values().find(|it| it.name == name).unwrap().shape.to_string()
}

#[test]
fn shapes_that_follow_have_the_layouts_that_xla_gives_them() {
    let text = "HloModule m\nENTRY e {\n  x = f32[2,3]{0,1:S(1)} parameter(0)\n  y = f32[2,3] parameter(1)\n  \
                a = negate(x)\n  b = add(y, x)\n  c = compare(x, y), direction=LT\n  d = transpose(x), dimensions={1,0}\n  \
                f = transpose(y), dimensions={1,0}\n  g = reverse(x), dimensions={1}\n  \
                h = concatenate(x, x), dimensions={0}\n  i = clamp(x, y, y)\n  j = add(y, negate(x))\n  \
                k = dot(x, f), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  ROOT t = tuple(a, y)\n}";
    let module = parse(text).unwrap();
    let expected = [
        ("a", "f32[2,3]{0,1:S(1)}"),
        ("b", "f32[2,3]"),
        ("c", "pred[2,3]{0,1:S(1)}"),
        ("d", "f32[3,2]{1,0:S(1)}"),
        ("f", "f32[3,2]{0,1}"),
        ("g", "f32[2,3]{0,1:S(1)}"),
        ("h", "f32[4,3]"),
        ("i", "f32[2,3]{0,1:S(1)}"),
        ("j", "f32[2,3]"),
        ("k", "f32[2,2]"),
        ("t", "(f32[2,3]{0,1:S(1)}, f32[2,3])"),
    ];
    for (name, shape) in expected {
        assert_eq!(shape_of(&module, name), shape, "{name}");
    }
    weft_hlo::verify::verify(&module).unwrap();
}

#[test]
fn shapes_that_follow_keep_what_is_open() {
    let text = "HloModule m\nENTRY e {\n  x = f32[<=4,?] parameter(0)\n  y = f32[<=4,2] parameter(1)\n  \
                z = f32[4,2] parameter(2)\n  n = s32[] parameter(3)\n  a = negate(x)\n  b = add(z, y)\n  \
                c = transpose(x), dimensions={1,0}\n  d = reverse(y), dimensions={0}\n  \
                ROOT r = set-dimension-size(b, n), dimensions={1}\n}";
    let module = parse(text).unwrap();
    let expected = [
        ("a", "f32[<=4,?]"),
        ("b", "f32[<=4,2]"),
        ("c", "f32[?,<=4]{0,1}"),
        ("d", "f32[<=4,2]"),
        ("r", "f32[<=4,<=2]"),
    ];
    for (name, shape) in expected {
        assert_eq!(shape_of(&module, name), shape, "{name}");
    }
}

#[test]
fn products_of_two_types_are_added_up_in_the_larger_one() {
    let expected = [
        ("s8", "s32", "s32"),
        ("u8", "s8", "s8"),
        ("s8", "u8", "s8"),
        ("f8e4m3fn", "bf16", "bf16"),
        ("f16", "bf16", "bf16"),
        ("bf16", "f16", "bf16"),
        ("f8e4m3fn", "f8e5m2", "f8e5m2"),
        ("f32", "f64", "f64"),
        ("c64", "c128", "c128"),
    ];
    for (left, right, product) in expected {
        let text = format!(
            "HloModule m\nENTRY e {{\n  x = {left}[4] parameter(0)\n  y = {right}[4] parameter(1)\n  \
             ROOT r = dot(x, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}\n}}"
        );
        assert_eq!(shape_of(&parse(&text).unwrap(), "r"), format!("{product}[]"), "{left} and {right}");
    }
}

#[test]
fn a_single_computation_is_the_entry_and_its_last_instruction_the_root() {
    let module = parse("HloModule m\nf {\n  x = f32[] parameter(0)\n  y = f32[] negate(x)\n}").unwrap();
    assert_eq!(module.entry_computation().root.index(), 1);
}

#[test]
fn literals_hold_their_bits() {
    let text = "HloModule m\nf {\n  x = f32[4] constant({-0, nan, -nan(0x123), 1e-45})\n}";
    let module = parse(text).unwrap();
    let Op::Constant(literal) = &module.entry_computation().instructions[InstrId::from_index(0)].op else {
        panic!("a constant is read as one");
    };
    let Data::F32(values) = &literal.data else { panic!("f32 is read as numbers") };
    let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    assert_eq!(bits, [0x8000_0000, 0x7fc0_0000, 0xff80_0123, 1]);
    assert_eq!(literal.data.get(3), Some(Scalar::F32(f32::from_bits(1))));
}

#[test]
fn options_choose_what_is_printed() {
    let text = "HloModule m, replica_count=2\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n\
                1 {file_name_id=1 function_name_id=1 line=3 end_line=4 column=1 end_column=2}\n\nStackFrames\n\
                1 {file_location_id=1 parent_frame_id=1}\n\n\nENTRY %e (p: f32[2]) -> f32[2] {\n  \
                %p = f32[2]{0} parameter(0)\n  ROOT %n = f32[2]{0} negate(%p), metadata={source_line=2}\n}\n\n";
    let module = parse(text).unwrap();
    assert_eq!(print(&module), text);
    assert_eq!(module.tables[0], ("FileNames".to_owned(), vec!["1 \"a.py\"".to_owned()]));
    assert_eq!(module.tables.len(), 4);
    let bare = PrintOptions { tables: false, carried: false, operand_shapes: true, ..PrintOptions::short() };
    assert_eq!(
        print_with(&module, &bare),
        "HloModule m, replica_count=2\n\nENTRY e {\n  p = f32[2]{0} parameter(0)\n  ROOT n = f32[2]{0} negate(f32[2]{0} p)\n}\n\n"
    );
    assert_eq!(
        print_computation(&module, module.entry, &bare),
        "ENTRY e {\n  p = f32[2]{0} parameter(0)\n  ROOT n = f32[2]{0} negate(f32[2]{0} p)\n}"
    );
    assert_eq!(print_computation(&module, ArenaId::from_index(7), &bare), "");
    assert_eq!(print_instruction(&module, module.entry, InstrId::from_index(7), &bare), "");
}

#[test]
fn invalid_modules_are_printed_too() {
    let mut module = parse("HloModule m\nf {\n  x = f32[2] constant({1, 2})\n  y = f32[2] negate(x)\n}").unwrap();
    let id = module.entry;
    let computation = &mut module.computations[id];
    let root = computation.root;
    computation.instructions[root].operands = vec![InstrId::from_index(9)];
    computation.instructions[root].op = Op::Call { to_apply: ArenaId::from_index(5) };
    computation.instructions[InstrId::from_index(0)].shape = Shape::Token;
    computation.root = InstrId::from_index(4);
    assert_eq!(
        print(&module),
        "HloModule m\n\nENTRY %f () -> ? {\n  %x = token[] constant({1, 2})\n  %y = f32[2] call(?9), to_apply=%?\n}\n\n"
    );
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let text = "HloModule m\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n";
    let marked = format!("\u{feff}{text}");
    let (plain, module) = (parse(text).unwrap(), parse(&marked).unwrap());
    assert_eq!(module, plain);
    // Spans count the bytes of the text as given; columns, its characters as editors show them.
    let start =
        |module: &weft_hlo::ir::Module| module.entry_computation().instructions.values().next().unwrap().span.start;
    assert_eq!(start(&module), start(&plain) + 3);
    let found = parse("\u{feff}HloModul m\n").unwrap_err();
    assert_eq!((found.0[0].span.start, found.0[0].position), (3, Some((1, 1))), "{found}");
    // Only the first character is one.
    assert!(parse(&format!("\u{feff}{marked}")).is_err());
    assert!(parse("\u{feff}").is_err());
}

/// Of a text with the lines of another system.
fn with_line_ends(text: &str, end: &str) -> String {
    text.replace('\n', end)
}

#[test]
fn lines_may_end_with_carriage_returns() {
    let text = "HloModule m // c\n\nENTRY e { // d\n  x = f32[] parameter(0) // x\n  ROOT y = f32[] negate(x)\n}\n";
    let module = parse(text).unwrap();
    for end in ["\r", "\r\n", "\n\r"] {
        assert_eq!(parse(&with_line_ends(text, end)), Ok(module.clone()), "{end:?}");
    }
}

#[test]
fn elements_that_are_not_written_are_bounded() {
    let many = "x = f32[16777217] constant(1)";
    assert_eq!(parse(&format!("ENTRY e {{ ROOT {many} }}")).map(|_| ()), Ok(()));
    let findings = parse(&format!("ENTRY e {{ {many} ROOT y = pred[2] constant(1) }}")).unwrap_err();
    assert_eq!(findings.0[0].code, "HLO040", "{findings}");
    let findings = parse("ENTRY e { ROOT x = f32[9223372036854775807] constant(1) }").unwrap_err();
    assert_eq!(findings.0[0].code, "HLO040", "{findings}");
}
