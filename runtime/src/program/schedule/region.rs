//! Where steps stand: in which condition or body of which loop.

/// The program, or the condition or the body of a loop. What a branch holds belongs to the region of its conditional.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Region(usize);

impl Region {
    /// The program itself.
    pub(super) const PROGRAM: Region = Region(0);
}

/// The regions of a loop.
#[derive(Copy, Clone)]
pub(super) struct LoopRegions {
    pub(super) condition: Region,
    /// What is carried belongs to the body.
    pub(super) body: Region,
}

/// All regions of a program, as a tree.
pub(super) struct Regions {
    known: Vec<Known>,
}

struct Known {
    parent: Region,
    /// The body of the same loop.
    body: Region,
    /// The last step of the loop.
    end: usize,
}

impl Default for Regions {
    fn default() -> Self {
        Regions { known: vec![Known { parent: Region::PROGRAM, body: Region::PROGRAM, end: usize::MAX }] }
    }
}

impl Regions {
    /// The regions of a loop that stands in `parent`.
    pub(super) fn of_loop(&mut self, parent: Region) -> LoopRegions {
        let [condition, body] = [0, 1].map(|offset| Region(self.known.len() + offset));
        self.known.extend([condition, body].map(|_| Known { parent, body, end: usize::MAX }));
        LoopRegions { condition, body }
    }

    /// Says at which step a loop ends.
    pub(super) fn ends(&mut self, regions: LoopRegions, end: usize) {
        [regions.condition, regions.body].into_iter().for_each(|region| self.known[region.0].end = end);
    }

    /// Until when a value of the region `home` is needed if the step `at` of the region `user` uses it: where that is in a loop which the
    /// value comes from outside of, or in the condition of one that carries it, until the loop ends.
    pub(super) fn last(&self, home: Region, at: usize, user: Region) -> usize {
        let (mut region, mut last) = (user, at);
        while region != home && region != Region::PROGRAM {
            let known = &self.known[region.0];
            last = known.end;
            if known.body == home {
                break;
            }
            region = known.parent;
        }
        last
    }
}
