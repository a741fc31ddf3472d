//! All of a program as text, and back.
//!
//! [`Program::text`] is for keeping and sending programs, and for looking at every part of them; `Display` is the short form for people.
//! The text is lines. Spaces before a line mean nothing; a line that begins with `|` belongs to a text of another language.
//!
//! ```text
//! program   := weft program 1
//!              target JSON
//!              module TEXT
//!              buffer…  parameter…  constant…  result…  sizes…
//!              memory BYTES without reuse, BYTES live
//!              loop…  kernel…
//!              steps { step… }
//! TEXT      := the lines that follow, each behind `| `: HLO, or a kernel in the text of the kernel IR
//! buffer    := buffer BYTES {parameter N | donated N | constant N | sizes N | result | temporary} [in arena N at BYTE]
//! parameter := parameter tensor
//! constant  := constant site tensor
//! result    := result tensor
//! sizes     := sizes N, …
//! loop      := loop NAME {kernel | steps} REASON
//! kernel    := kernel (binding, …) TEXT
//! binding   := content | [content SHAPE at BYTE, …]         a tensor, or several of an arena
//! content   := operand N | result N | updated N from N by ELEMENTS
//! step      := launch
//!            | copy tensor -> tensor
//!            | draw NAME by INTEGER -> tensor
//!            | while NAME [rounds N] [flag tensor] tensors [ahead N] {
//!                [gate N launch]  condition { step… }  body { step… }  [exchange bN <- bN, …] }
//!            | conditional NAME by tensor -> tensors because REASON { branch { step… } … }
//!            | host tensors [given site, …] -> tensors { reason CODE NAME MESSAGE … TEXT }
//! launch    := launch NAME site kernel N groups N N N windows N nanoseconds N tensors -> tensors [updated N by BYTES, …]
//! site      := at COMPUTATION INSTRUCTION                   of the module, both counted from 0
//! tensors   := ( tensor, … )
//! tensor    := bN SHAPE NAME
//! ```
//!
//! Names, reasons and messages are strings of JSON, shapes those of HLO. Buffers and kernels have the numbers of their places.

mod code;
mod line;
mod read;
mod steps;
mod write;

use crate::program::step::MAX_NESTED;

pub(crate) use read::{Kernels, read_with};

/// The first line.
const FIRST: &str = "weft program 1";

/// Blocks within one another at most: that of all steps, and two for each loop or conditional.
const MAX_DEPTH: usize = 2 * MAX_NESTED + 1;
