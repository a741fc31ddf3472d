//! Whether a map has each result once, and whether it has all results of a box.

use std::collections::BTreeMap;

use crate::enumeration::Walk;
use crate::inverse::LeftInverse;
use crate::{Answer, DomainPoint, IndexingMap, Limits, Unknown};

impl IndexingMap {
    /// Whether no two points of the domain have the same results, for any values of the runtime variables. Range variables
    /// count as part of the point: one that does not matter, and may have two values, makes a map not injective.
    ///
    /// ```
    /// use weft_indexing::{Answer, IndexingMap, Limits};
    ///
    /// let windows: IndexingMap = "(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 999999], s0 in [0, 2]".parse()?;
    /// let Answer::No([first, second]) = windows.is_injective(&Limits::default()) else { panic!("windows overlap") };
    /// assert_eq!((first.to_string(), second.to_string()), ("(0)[2]".to_owned(), "(1)[0]".to_owned()));
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn is_injective(&self, limits: &Limits) -> Answer<[DomainPoint; 2]> {
        if self.is_undefined() {
            return Answer::Unknown(Unknown::Undefined);
        }
        let mut map = self.clone();
        map.simplify();
        let given = self.within_bounds_of(&map);
        if map.is_known_empty() || LeftInverse::of(&map, &given, limits).is_ok() {
            return Answer::Yes;
        }
        given.injectivity_by_points(limits)
    }

    /// Two points of the domain with the same results and runtime values, where some are found.
    pub(crate) fn collision(&self, limits: &Limits) -> Option<[DomainPoint; 2]> {
        self.injectivity_by_points(limits).counterexample().cloned()
    }

    fn injectivity_by_points(&self, limits: &Limits) -> Answer<[DomainPoint; 2]> {
        let walk = Walk::of(self, limits);
        let mut overflows = false;
        for part in &walk.boxes {
            let mut seen: BTreeMap<(Vec<i64>, Vec<i64>), DomainPoint> = BTreeMap::new();
            for point in part.points() {
                let Ok(results) = part.evaluate(&point.dims, &point.ranges, &point.runtime) else {
                    overflows = true;
                    continue;
                };
                if let Some(first) = seen.insert((point.runtime.clone(), results), point.clone()) {
                    return Answer::No([first, point]);
                }
            }
        }
        match walk.left_out {
            Some(reason) => Answer::Unknown(reason),
            None if overflows => Answer::Unknown(Unknown::Overflow),
            None => Answer::Yes,
        }
    }
}
