//! Which arguments give their memory away.

use crate::Error;
use std::collections::BTreeSet;
use weft_hlo::ir::{HeaderAttribute, Module};

/// The arguments whose memory a program may use for values of its own: it updates them in place, and what it makes after their last use may
/// lie where they did. Numbers are those of [`Program::parameters`](super::Program::parameters).
///
/// An argument that its caller keeps is copied first where the program takes donations of it; see
/// [`Argument`](crate::Argument).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Donated {
    /// Those that the module's `input_output_alias` and `buffer_donor` name.
    #[default]
    AsGiven,
    /// These too.
    Also(BTreeSet<usize>),
    /// All.
    All,
}

/// What is donated.
pub(super) struct Donation {
    pub(super) parameters: BTreeSet<usize>,
    /// Results and the parameters whose memory they are to lie in, if it can be had.
    pub(super) aliases: Vec<(usize, usize)>,
}

impl Donation {
    /// Of a flat module with so many parameters.
    ///
    /// # Errors
    /// [`Error::Donation`] for a number that no parameter has.
    pub(super) fn of(module: &Module, parameters: usize, asked: &Donated) -> Result<Self, Error> {
        let mut donated = match asked {
            Donated::AsGiven => BTreeSet::new(),
            Donated::Also(numbers) => numbers.clone(),
            Donated::All => (0..parameters).collect(),
        };
        if let Some(number) = donated.iter().copied().find(|number| *number >= parameters) {
            let noun = if parameters == 1 { "parameter" } else { "parameters" };
            return Err(Error::Donation { number, reason: format!("the program has {parameters} {noun}") });
        }
        let aliases = module.aliases();
        donated.extend(aliases.iter().map(|(_, parameter)| *parameter));
        let number = |number: i64| usize::try_from(number).ok().filter(|number| *number < parameters);
        for attribute in &module.attributes {
            if let HeaderAttribute::BufferDonor(donors) = attribute {
                donated.extend(donors.iter().filter_map(|donor| number(donor.parameter)));
            }
        }
        Ok(Donation { parameters: donated, aliases })
    }
}
