//! Where steps stand: in which condition or body of which loop.

/// The program, or the condition or the body of a loop. What a branch holds belongs to the region of its conditional.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Region(usize);

impl Region {
    /// The program itself.
    pub(super) const PROGRAM: Region = Region(0);
}

/// All regions of a program, as a tree.
pub(super) struct Regions {
    known: Vec<Known>,
}

struct Known {
    parent: Region,
    /// The last step of the loop.
    end: usize,
}

impl Default for Regions {
    fn default() -> Self {
        Regions { known: vec![Known { parent: Region::PROGRAM, end: usize::MAX }] }
    }
}

impl Regions {
    /// A region of a loop that stands in `parent`.
    pub(super) fn within(&mut self, parent: Region) -> Region {
        self.known.push(Known { parent, end: usize::MAX });
        Region(self.known.len() - 1)
    }

    /// Says at which step the loop of a region ends.
    pub(super) fn ends(&mut self, region: Region, end: usize) {
        self.known[region.0].end = end;
    }

    /// Until when a value of the region `home` is needed if the step `at` of the region `user` uses it: where that is in a loop which the
    /// value comes from outside of, until the loop ends.
    pub(super) fn last(&self, home: Region, at: usize, user: Region) -> usize {
        let (mut region, mut last) = (user, at);
        while region != home && region != Region::PROGRAM {
            last = self.known[region.0].end;
            region = self.known[region.0].parent;
        }
        last
    }
}
