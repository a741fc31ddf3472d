//! The three forms of a shape function.

use super::{Function, Kind};
use std::fmt;

/// The form a function is in, by the constraints that occur in it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// No constraint occurs: the function is in all three forms. (It may still fail: an extent out of range, a size
    /// beyond 64 bits.)
    Plain,
    /// Form 1: every value may be an error. `shape.meet`, `shape.require`.
    ErrorCarrying,
    /// Form 2: constraints yield evidence, and `shape.assuming` runs its region under it.
    Constrained,
    /// Form 3: `assert` stops evaluation.
    Imperative,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Plain => "plain",
            Form::ErrorCarrying => "error-carrying",
            Form::Constrained => "constrained",
            Form::Imperative => "imperative",
        })
    }
}

/// A function has constraints of two forms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("@{function} mixes forms: {first} is of the {first_form} form, {second} of the {second_form} form")]
pub struct MixedForms {
    /// The function.
    pub function: String,
    /// An operation.
    pub first: &'static str,
    /// Its form.
    pub first_form: Form,
    /// An operation of another form.
    pub second: &'static str,
    /// The form of that one.
    pub second_form: Form,
}

impl Kind {
    /// The form that the operation belongs to; [`Form::Plain`] for those of all forms.
    pub fn form(&self) -> Form {
        match self {
            Kind::Meet | Kind::Require => Form::ErrorCarrying,
            Kind::CstrEq
            | Kind::CstrBroadcastable
            | Kind::CstrRequire
            | Kind::ConstWitness(_)
            | Kind::AssumingAll
            | Kind::Assuming => Form::Constrained,
            Kind::Assert => Form::Imperative,
            _ => Form::Plain,
        }
    }
}

impl Function {
    /// The form the function is in.
    ///
    /// # Errors
    /// If it has constraints of two forms.
    pub fn form(&self) -> Result<Form, MixedForms> {
        let mut found: Option<&Kind> = None;
        let mut mixed = None;
        self.body.visit(&mut |operation| {
            let form = operation.kind.form();
            match found {
                _ if form == Form::Plain => {}
                None => found = Some(&operation.kind),
                Some(first) if first.form() != form && mixed.is_none() => {
                    mixed = Some(MixedForms {
                        function: self.name.clone(),
                        first: first.name(),
                        first_form: first.form(),
                        second: operation.kind.name(),
                        second_form: form,
                    });
                }
                Some(_) => {}
            }
        });
        mixed.map_or(Ok(found.map_or(Form::Plain, Kind::form)), Err)
    }
}
