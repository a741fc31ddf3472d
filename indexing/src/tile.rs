//! Tiles: boxes of a tensor, and their images under indexing maps.

mod concrete;
mod cut;
mod divide;
mod domain;
mod fusion;
mod join;
mod refusal;
mod refute;
mod runs;
mod search;
mod sizes;
mod solve;
mod symbolic;
mod text;

pub use concrete::{BoxAxis, ConcreteTile, TilePart};
pub use domain::TileDomain;
pub use fusion::FusionTiling;
pub use refusal::{TileMisfit, TileRefusal};
pub use sizes::{SizeCondition, SizeConstraints};
pub use symbolic::{SymbolicTile, TileAxis, TileCase};
