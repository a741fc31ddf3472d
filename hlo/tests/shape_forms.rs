//! The document's matmul in its three forms.
#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use weft_hlo::shape::function::{AttributeTable, ErrorKind, Form, Function, Library, ShapeError, Value};

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
