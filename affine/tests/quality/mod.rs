//! Shared parts of the tests of the simplifier's quality: the corpus, the points it is checked on, and the search for
//! better forms.

pub(crate) mod corpus;
pub(crate) mod points;
pub(crate) mod search;
