//! Laws of shape functions, on random ones: the three forms, their text, and what partial evaluation leaves.
//!
//! `WEFT_CASES=N` tries N times as many functions.
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout, reason = "the helpers of tests fail as tests do")]

use crate::count;
use crate::shapes::{forget, random_attributes, random_library, random_operands};
use std::collections::BTreeMap;
use weft_hlo::random::Rng;
use weft_hlo::shape::function::{
    AttributeTable, ErrorKind, Form, Library, LowerError, ShapeError, Specialized, Value, parse_function,
};

/// How many random functions are tried.
fn cases() -> usize {
    count::cases(300) as usize
}

/// How many operands each of them is tried on.
const OPERANDS: usize = 6;

type Outcome = Result<Vec<Value>, ShapeError>;

/// How often each outcome occurred.
#[derive(Default)]
struct Census(BTreeMap<String, usize>);

impl Census {
    fn add(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_insert(0) += 1;
    }

    fn outcome(&mut self, outcome: &Outcome) {
        match outcome {
            Ok(_) => self.add("shape"),
            Err(error) => self.add(format!("{:?}", error.kind)),
        }
    }

    fn count(&self, what: &str) -> usize {
        self.0.get(what).copied().unwrap_or(0)
    }

    fn print(&self, title: &str) {
        println!("{title}");
        for (what, count) in &self.0 {
            println!("  {count:8}  {what}");
        }
    }
}

fn reread(library: &Library) -> Library {
    let text = library.to_string();
    let read = Library::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    assert_eq!(&read, library, "{text}");
    assert_eq!(read.to_string(), text);
    read
}

/// The types of the parameters, as text.
fn parameters(library: &Library, name: &str) -> Vec<&'static str> {
    library.function(name).unwrap().parameters().into_iter().map(|ty| ty.name()).collect()
}

#[test]
fn all_forms_have_one_value_or_one_error() {
    let mut census = Census::default();
    for case in 0..cases() as u64 {
        let mut rng = Rng::new(case);
        let (text, name) = random_library(&mut rng);
        let first = Library::parse(&text).unwrap_or_else(|found| panic!("case {case}: {found}\n{text}"));
        let second = match first.lower(Form::Constrained) {
            Ok(lowered) => lowered,
            Err(LowerError::TooDeep(_)) => {
                census.add("too deep to lower");
                continue;
            }
            Err(error) => panic!("case {case}: {error}\n{text}"),
        };
        let third = first.lower(Form::Imperative).unwrap();
        let through = second.lower(Form::Imperative).unwrap();
        for (library, wanted) in
            [(&second, Form::Constrained), (&third, Form::Imperative), (&through, Form::Imperative)]
        {
            for function in library.functions() {
                let form = function.form().unwrap();
                assert!(form == wanted || form == Form::Plain, "case {case}: {form}\n{function}");
            }
        }
        let forms =
            [first.lower(Form::ErrorCarrying).unwrap(), reread(&first), reread(&second), reread(&third), through];
        for function in second.functions() {
            let merged = function.to_string().matches("assuming_all").count();
            census.add(if merged > 0 { "functions with merged assumptions" } else { "functions without" });
        }
        let types = parameters(&first, &name);
        for _ in 0..OPERANDS {
            let operands = random_operands(&mut rng, &types);
            let attributes = random_attributes(&mut rng);
            let wanted = first.evaluate(first.function(&name).unwrap(), &operands, &attributes);
            census.outcome(&wanted);
            for (position, library) in forms.iter().enumerate() {
                let found = library.evaluate(library.function(&name).unwrap(), &operands, &attributes);
                assert_eq!(
                    found, wanted,
                    "case {case}, form {position} of {operands:?}, {attributes:?}\n{first}\n{library}"
                );
            }
        }
    }
    census.print("three forms");
    let total = cases() * OPERANDS;
    for (what, percent) in [("shape", 25), ("Constraint", 10), ("Index", 5), ("Overflow", 1), ("NegativeExtent", 1)] {
        assert!(census.count(what) * 100 >= total * percent, "only {} of {total} are {what}", census.count(what));
    }
}

#[test]
fn specialized_functions_agree_with_the_original() {
    let mut census = Census::default();
    for case in 0..cases() as u64 {
        let mut rng = Rng::new(case ^ 0x5eed_0000);
        let (text, name) = random_library(&mut rng);
        let library = Library::parse(&text).unwrap_or_else(|found| panic!("case {case}: {found}\n{text}"));
        let function = library.function(&name).unwrap();
        let types = parameters(&library, &name);
        for _ in 0..OPERANDS {
            let operands = random_operands(&mut rng, &types);
            let attributes = random_attributes(&mut rng);
            let wanted = library.evaluate(function, &operands, &attributes);
            let known: Vec<_> = operands.iter().map(|operand| forget(&mut rng, operand)).collect();
            assert!(known.iter().zip(&operands).all(|(known, operand)| known.admits(operand)));
            let whole = library.specialize(function, &exact(&operands), &attributes).unwrap();
            match (&whole, &wanted) {
                (Specialized::Known(values), Ok(wanted)) => assert_eq!(values, wanted, "case {case}\n{function}"),
                (Specialized::Error(error), Err(wanted)) => assert_eq!(error, wanted, "case {case}\n{function}"),
                (Specialized::Residual(_), _) if wanted.as_ref().is_err_and(|e| e.kind == ErrorKind::Limit) => {}
                (left, _) => panic!("case {case}: everything is known, and {left:?} is left of {wanted:?}\n{library}"),
            }
            let found: Outcome = match library.specialize(function, &known, &attributes).unwrap() {
                Specialized::Known(values) => {
                    census.add("known");
                    Ok(values)
                }
                Specialized::Error(error) => {
                    census.add("error");
                    Err(error)
                }
                Specialized::Residual(left) => {
                    census.add(if left.operation_count() < function.operation_count() { "shorter" } else { "longer" });
                    let none = AttributeTable::new();
                    let again = parse_function(&left.to_string()).unwrap_or_else(|found| panic!("{found}\n{left}"));
                    assert_eq!(again, left, "case {case}");
                    if let Ok(lowered) = left.lower(Form::Imperative) {
                        let found = library.evaluate(&lowered, &operands, &none);
                        assert_eq!(found, wanted, "case {case} {operands:?} {known:?}\n{library}\n{left}\n{lowered}");
                    }
                    library.evaluate(&left, &operands, &none)
                }
            };
            assert_eq!(found, wanted, "case {case} {operands:?} {known:?} {attributes:?}\n{library}");
        }
    }
    census.print("partial evaluation");
    let total = cases() * OPERANDS;
    assert!(census.count("known") * 100 >= total * 5 && census.count("error") * 100 >= total * 10);
}

fn exact(operands: &[Value]) -> Vec<weft_hlo::shape::function::Known> {
    operands.iter().cloned().map(weft_hlo::shape::function::Known::Exact).collect()
}
