//! What the generator knows of the numbers in an array.

/// Bounds for every element.
#[derive(Copy, Clone, Debug)]
pub(super) struct Facts {
    /// No element is larger, sign aside.
    pub(super) bound: f64,
    /// How far an implementation may be from the reference.
    pub(super) error: f64,
    /// Every element is a multiple of `2^-grain` that `f32` holds exactly; then the error is 0.
    pub(super) grain: Option<i32>,
}

impl Facts {
    /// Numbers of which nothing is known.
    pub(super) const WILD: Facts = Facts { bound: f64::INFINITY, error: 0.0, grain: None };

    /// What a function's body may assume of its parameters.
    pub(super) const ARGUMENT: Facts = Facts { bound: 4.0, error: 4e-6, grain: None };

    /// Multiples of `2^-grain`, or what rounding makes of them.
    pub(super) fn exact(bound: f64, grain: i32) -> Facts {
        if bound.max(1.0).log2() + f64::from(grain) <= 23.0 {
            Facts { bound, error: 0.0, grain: Some(grain) }
        } else {
            Facts::rounded(bound, 0.0)
        }
    }

    /// Integers; exact whatever their size.
    pub(super) fn integer(bound: f64) -> Facts {
        Facts { bound: if bound < 2e9 { bound } else { f64::INFINITY }, error: 0.0, grain: Some(0) }
    }

    /// The result of an inexact operation.
    pub(super) fn rounded(bound: f64, error: f64) -> Facts {
        Facts { bound, error: error + bound * 1e-6, grain: None }
    }

    /// What holds of both.
    pub(super) fn join(self, other: Facts) -> Facts {
        let grain = self.grain.zip(other.grain).map(|(a, b)| a.max(b));
        let (bound, error) = (self.bound.max(other.bound), self.error.max(other.error));
        match grain {
            Some(grain) if bound.is_finite() => Facts::exact(bound, grain),
            grain => Facts { bound, error, grain },
        }
    }

    /// Whether such numbers may be computed with where numbers are tame.
    pub(super) fn is_tame(self) -> bool {
        self.bound <= 1e4 && self.error <= 1e-4 * self.bound.max(1.0)
    }

    /// Whether they may be handed to a function.
    pub(super) fn is_argument(self) -> bool {
        self.bound <= Facts::ARGUMENT.bound && self.error <= Facts::ARGUMENT.error
    }
}
