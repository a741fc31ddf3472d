//! Maps of custom calls, which only the user knows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{Dependence, Direction};
use crate::ir::{Computation, InstrId};

/// The dependences of one custom call, as [`Analysis::instruction`](super::Analysis::instruction) gives them.
pub type CustomCallRule = dyn Fn(&Computation, InstrId, Direction) -> Vec<Dependence> + Send + Sync;

/// For targets of custom calls the maps of their instructions.
#[derive(Clone, Default)]
pub struct CustomCallMaps {
    rules: BTreeMap<String, Arc<CustomCallRule>>,
}

impl CustomCallMaps {
    /// Adds the rule of a target, in place of one that was there.
    pub fn insert(
        &mut self,
        target: impl Into<String>,
        rule: impl Fn(&Computation, InstrId, Direction) -> Vec<Dependence> + Send + Sync + 'static,
    ) {
        self.rules.insert(target.into(), Arc::new(rule));
    }

    pub(super) fn get(&self, target: &str) -> Option<&CustomCallRule> {
        self.rules.get(target).map(AsRef::as_ref)
    }
}

impl fmt::Debug for CustomCallMaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.rules.keys()).finish()
    }
}
