//! Lowerings between the forms of a shape function.
//!
//! Form 1 stops at its first error in program order, and so must the others. Form 2 moves the *computation* of evidence
//! up to where its operands are there, which is harmless, since a constraint that fails is a value like any other. What
//! it does not move is where evidence is *assumed*: before the next operation that may fail itself, such as a split at an
//! index beyond the rank. Constraints between two such operations are assumed together, by `shape.assuming_all`,
//! whose error is that of its first operand that fails. Regions under evidence nest in one another only up to a bound;
//! there they are closed, and what follows uses the values that they yield.

mod constrain;
mod imperative;
mod totality;

use super::simplify::simplify;
use super::tidy::tidy;
use super::{Form, Function, Library, LibraryError, MixedForms};
use std::collections::HashSet;

/// Why a function has no lower form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// It has constraints of two forms.
    #[error(transparent)]
    Mixed(#[from] MixedForms),
    /// It is in a lower form already.
    #[error("@{function} is in the {form} form, which is not lowered to the {wanted} form")]
    Lower {
        /// The function.
        function: String,
        /// The form it is in.
        form: Form,
        /// The form that was asked for.
        wanted: Form,
    },
    /// Loops and branches nest so deep that with a region for evidence in each of them they would nest deeper than
    /// [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("the loops and branches of @{0} nest too deep for evidence in each of them")]
    TooDeep(String),
    /// The functions do not make a library.
    #[error(transparent)]
    Library(#[from] LibraryError),
}

impl Function {
    /// The function in the form `wanted`: the same shapes, and the same first error, for all operands.
    ///
    /// On the way what is known is folded, and what cannot fail is dropped.
    ///
    /// # Errors
    /// If the function is in a lower form, mixes forms, or nests too deep.
    pub fn lower(&self, wanted: Form) -> Result<Function, LowerError> {
        let form = self.form()?;
        let refused = || LowerError::Lower { function: self.name.clone(), form, wanted };
        match (form, wanted) {
            (Form::Plain, Form::Plain) => Ok(simplify(self)),
            (_, Form::Plain) => Err(refused()),
            (form, wanted) if form > wanted => Err(refused()),
            (form, wanted) if form == wanted => Ok(simplify(self)),
            (Form::Plain, Form::ErrorCarrying) => Ok(simplify(self)),
            (Form::Plain | Form::ErrorCarrying, wanted) => {
                let constrained = constrain::constrain(&simplify(self))?;
                let constrained = tidy(constrained, &HashSet::new());
                if wanted == Form::Constrained { Ok(constrained) } else { Ok(imperative::imperative(&constrained)) }
            }
            _ => Ok(imperative::imperative(&simplify(self))),
        }
    }
}

impl Library {
    /// The library with all functions in the form `wanted`.
    ///
    /// # Errors
    /// If one of them has no such form.
    pub fn lower(&self, wanted: Form) -> Result<Library, LowerError> {
        let mut lowered = Library::new(self.name.clone());
        let functions = self.functions.iter().map(|function| function.lower(wanted)).collect::<Result<_, _>>()?;
        let mapping = self.mapping().map(|(operation, function)| (operation.to_owned(), function.name().to_owned()));
        lowered.extend(functions, mapping.collect())?;
        lowered.without.clone_from(&self.without);
        Ok(lowered)
    }
}
