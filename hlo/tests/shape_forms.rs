//! The three forms of the matmul of the documentation.

use weft_affine::Interval;
use weft_hlo::shape::function::{
    AttributeTable, ErrorKind, Form, Function, KnownShape, Library, ShapeError, Specialized, Value, parse_function,
};

/// The example of the MLIR Shape dialect's document, as it prints it.
const MATMUL: &str = r#"
shape.function_library @shplib {

func.func @matmul(%lhs: !shape.value_shape, %rhs: !shape.value_shape) -> !shape.shape {
  %c1 = shape.const_size 1
  %c2 = shape.const_size 2
  // We could also allow rank etc operations directly on value_shape too, that
  // would make it nicer as "input" language, but keeping it explicit inside the
  // IR instead and then we could have helper methods in front-end language.
  %lhs_shape = shape.shape_of %lhs : !shape.value_shape -> !shape.shape
  %rhs_shape = shape.shape_of %rhs : !shape.value_shape -> !shape.shape
  %lhs_rank = shape.rank %lhs_shape : !shape.shape -> !shape.size
  %rhs_rank = shape.rank %rhs_shape : !shape.shape -> !shape.size
  // This is not minimal as one could ensure the ranks are the same below, also a
  // variadic meet would make it more concise too.
  %r = "shape.meet"(%lhs_rank, %rhs_rank) : (!shape.size, !shape.size) -> !shape.size
  %rank = shape.meet %c2, %r, error="requires rank 2 operands" :
    !shape.size, !shape.size -> !shape.size
  %l0, %l1 = "shape.split_at"(%lhs_shape, %c1) :
    (!shape.shape, !shape.size) -> (!shape.shape, !shape.shape)
  %r0, %r1 = "shape.split_at"(%rhs_shape, %c1) :
    (!shape.shape, !shape.size) -> (!shape.shape, !shape.shape)
  %c = shape.meet %l1, %r0, error="inner dimensions required to match" :
    !shape.shape, !shape.shape -> !shape.shape
  %res = shape.concat %l0, %r1
  // Should have `shape.return %res requires %c, %rank` to enable
  return %res : !shape.shape
}

} mapping {
  foo.matmul = @matmul
}
"#;

fn run(library: &Library, lhs: &[i64], rhs: &[i64]) -> Result<Vec<i64>, ShapeError> {
    library.infer("foo.matmul", &[lhs, rhs], &AttributeTable::new()).map(|shapes| shapes[0].to_vec())
}

fn matmul(library: &Library) -> &Function {
    library.function("matmul").unwrap()
}

#[test]
fn every_form_reports_what_the_document_says() {
    let first = Library::parse(MATMUL).unwrap();
    assert_eq!(matmul(&first).form(), Ok(Form::ErrorCarrying));
    let second = first.lower(Form::Constrained).unwrap();
    assert_eq!(matmul(&second).form(), Ok(Form::Constrained));
    let third = first.lower(Form::Imperative).unwrap();
    assert_eq!(matmul(&third).form(), Ok(Form::Imperative));
    assert_eq!(second.lower(Form::Imperative).unwrap(), third);
    for library in [&first, &second, &third] {
        let error = |lhs: &[i64], rhs: &[i64]| {
            let error = run(library, lhs, rhs).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Constraint);
            error.message
        };
        assert_eq!(run(library, &[2, 3], &[3, 4]).unwrap(), [2, 4]);
        assert_eq!(run(library, &[0, 3], &[3, i64::MAX]).unwrap(), [0, i64::MAX]);
        assert_eq!(error(&[2, 3], &[4, 5]), "inner dimensions required to match");
        assert_eq!(error(&[2, 3, 4], &[3, 4, 5]), "requires rank 2 operands");
        assert_eq!(error(&[], &[]), "requires rank 2 operands");
        // The first constraint has no message of its own.
        assert_eq!(error(&[2], &[2, 3]), "operands that must be equal differ");
        assert_eq!(Library::parse(&library.to_string()).unwrap(), *library);
    }
}

#[test]
fn arguments_are_checked() {
    let library = Library::parse(MATMUL).unwrap();
    let shape = Value::shape([2, 3]);
    let run = |arguments: &[Value]| library.evaluate(matmul(&library), arguments, &AttributeTable::new());
    assert_eq!(run(std::slice::from_ref(&shape)).unwrap_err().kind, ErrorKind::Arguments);
    assert_eq!(run(&[shape.clone(), Value::Size(2)]).unwrap_err().kind, ErrorKind::Arguments);
    assert_eq!(run(&[shape, Value::shape([-1, 3])]).unwrap_err().kind, ErrorKind::Arguments);
}

/// The document's steps, in the text of the forms.
#[test]
fn lowering_merges_folds_and_drops() {
    let first = Library::parse(MATMUL).unwrap();
    let second = matmul(&first).lower(Form::Constrained).unwrap().to_string();
    // Both constraints on ranks are assumed at once, before what they guard; that on extents after it.
    let order = ["cstr_eq %lhs_rank, %rhs_rank", "assuming_all", "split_at %lhs_shape", "cstr_eq %l1, %r0", "concat"];
    let places: Vec<usize> = order.iter().map(|part| second.find(part).unwrap()).collect();
    assert!(places.is_sorted(), "{second}");
    assert_eq!((second.matches("assuming_all").count(), second.matches("meet").count()), (1, 0));
    let third = matmul(&first).lower(Form::Imperative).unwrap().to_string();
    assert!(!third.contains("witness") && third.matches("assert ").count() == 3, "{third}");

    let function = parse_function(
        "func.func @f(%x: !shape.value_shape, %y: !shape.value_shape) -> (!shape.size, !shape.shape, !shape.size) {
           %two = shape.const_size 2
           %three = shape.const_size 3
           %five = shape.add %two, %three
           %square = shape.mul %five, %five
           %unused = shape.sub %square, %two
           %holds = shape.meet %five, %five, error=\"never\"
           %xs = shape.shape_of %x
           %ys = shape.shape_of %y
           %rank = shape.rank %xs
           %two_dims = shape.meet %rank, %two, error=\"two\"
           %some_rank = shape.any %two_dims, %rank
           %some_shape = shape.any %xs, %ys
           return %some_rank, %some_shape, %square
         }",
    )
    .unwrap();
    let lowered = function.lower(Form::Imperative).unwrap().to_string();
    for gone in ["shape.any", "never", "shape.add", "shape.mul", "shape.sub", "%ys", "%five"] {
        assert!(!lowered.contains(gone), "{gone} is still there\n{lowered}");
    }
    assert!(lowered.contains("shape.const_size 25") && lowered.contains("assert %holds, \"two\""), "{lowered}");
    assert!(
        lowered.contains("  return %c2, %xs, %c25 :") || lowered.contains("  return %rank, %xs, %c25 :"),
        "{lowered}"
    );
}

/// What is left of the document's matmul when extents are bounded, unknown, or known.
#[test]
fn specialized_matmul_depends_on_unknown_extents_only() {
    let library = Library::parse(MATMUL).unwrap();
    let open =
        |extents: &[(i64, i64)]| KnownShape::Ranked(extents.iter().map(|&(lo, hi)| Interval::new(lo, hi)).collect());
    let none = AttributeTable::new();
    let specialize =
        |lhs: KnownShape, rhs: KnownShape| library.specialize_operation("foo.matmul", &[lhs, rhs], &none).unwrap();
    let known = specialize(open(&[(2, 2), (3, 3)]), open(&[(3, 3), (4, 4)]));
    assert_eq!(known, Specialized::Known(vec![Value::shape([2, 4])]));
    // `<=8` and `?`: ranks are known and their constraints gone; the inner extents may or may not match.
    let Specialized::Residual(left) = specialize(open(&[(0, 8), (0, 8)]), open(&[(0, i64::MAX), (4, 4)])) else {
        panic!("nothing is known of the inner extents")
    };
    let text = left.to_string();
    assert!(!text.contains("rank") && text.contains("inner dimensions required to match"), "{text}");
    let run = |lhs: &[i64], rhs: &[i64]| library.infer_by(&left, "foo.matmul", &[lhs, rhs], &none);
    assert_eq!(run(&[7, 5], &[5, 4]).unwrap()[0].as_slice(), [7, 4]);
    assert_eq!(run(&[7, 5], &[6, 4]).unwrap_err().message, "inner dimensions required to match");
    // Bounds alone can be enough to tell.
    let Specialized::Error(error) = specialize(open(&[(0, 8), (0, 8)]), open(&[(9, 12), (4, 4)])) else {
        panic!("extents up to 8 are not 9 or more")
    };
    assert_eq!(error.message, "inner dimensions required to match");
}
