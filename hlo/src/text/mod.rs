//! HLO text: the parser ([`parse`]) and the printer ([`print()`]).
//!
//! The reader takes what XLA's reader takes: the text that JAX and XLA print before and after optimization, with and
//! without `%`, signatures, operand shapes, layouts, comments, metadata and the tables of source locations, and what
//! people write by hand. Every [`Opcode`](crate::ir::Opcode) is read into an [`Op`](crate::ir::Op) that
//! owns its attributes, and the header into [`HeaderAttribute`](crate::ir::HeaderAttribute)s. What any instruction may
//! carry besides (`metadata`, `sharding`, …) is checked for its grammar and kept as text. A byte order mark before the
//! text is passed over. Lines end with a newline, a carriage return, or both.
//!
//! | Where the text leaves something out | it means |
//! |---|---|
//! | no instruction is marked `ROOT` | the last one is the root |
//! | no computation is marked `ENTRY` | the last one is the entry |
//! | no `HloModule name` before computations | the module is called after its entry, `module_…` |
//! | nothing but one instruction | a module of that instruction; its operands, which need shapes, are the parameters |
//! | `f32[] negate(x)` in place of an operand | an instruction with a name made of its opcode |
//! | `{ … }` in place of a computation's name | a computation without a name of its own |
//! | an opcode right after `=`, `y = negate(x)` | the shape that follows from the operands |
//! | `map` names no dimensions | all of them |
//! | a `constant` is one number without braces | the first element; the others are zero |
//!
//! Instructions stand before their users and computations before their callers. A shape follows where XLA's reader has
//! one, by the rules and shape functions of the [verifier](crate::verify); `broadcast`, `scan` and operations whose
//! operands have extents that are open need theirs, unless they work element by element, transpose or reverse, or yield
//! scalars. A signature is compared with its computation and then forgotten. Names of element types and some words of the
//! syntax (`ROOT`, `true`, `replicated`, …) are names only behind `%` or with a colon right behind them (`%true`, `true:`,
//! which is no part of the name), those of element types never of an instruction. Extents may be bounded (`<=8`) or
//! unknown (`?`, [`ArrayShape::UNBOUNDED`](crate::ir::ArrayShape::UNBOUNDED)).
//!
//! After a finding the reader goes on with the next attribute, instruction or computation, and leaves out what only
//! follows from an earlier finding: the user of an instruction that was not understood is not one of its own.
//!
//! The writer has one canonical spelling, XLA's long form; [`PrintOptions`] has JAX's short form too. What was read from
//! text that these programs printed is printed as the same bytes, and `parse(print(m)) == m` for every valid module
//! whose names are names. Spans and comments are not kept.
//!
//! ```
//! use weft_hlo::text::{PrintOptions, parse, print_with};
//!
//! let text = "HloModule negated\n\nENTRY e {\n  x = f32[2]{0} parameter(0)\n  ROOT y = f32[2]{0} negate(x)\n}\n\n";
//! let module = parse(text)?;
//! assert_eq!(module.entry_computation().instructions.len(), 2);
//! assert_eq!(print_with(&module, &PrintOptions::short()), text);
//!
//! let findings = parse(&text.replace("negate", "negtae")).unwrap_err();
//! assert_eq!(
//!     findings.to_string(),
//!     "5:22: HLO010: e/y: expected an opcode, found `negtae`; did you mean `negate`?",
//! );
//! # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
//! ```
//!
//! # Elements
//!
//! Literals of every [`ElementType`](crate::ir::ElementType) are read as numbers and held bit for bit in
//! [`Data`](crate::ir::Data). What is accepted and how it is printed was compared with XLA's own reader and printer
//! (that of jaxlib 0.10.2; the answers are stored with the tests).
//!
//! - Digits are those of C: `1`, `-1`, `1.`, `1.5e-3`, `-.5`, also with zeros before them; not `.5`, `+1`, `0x1`. A
//!   number without point and exponent is a word of 64 bits: `s64` and `u64` take either spelling of it (`-1` is the
//!   greatest `u64`); narrower types refuse what is out of their range, floats what is beyond the word. `pred` is
//!   `true`, `false` or a number, true unless zero.
//! - A decimal is rounded once, to nearest, ties to even, whatever the type. (XLA rounds through `f64`, and for `bf16`
//!   through `f32` too.) What rounds beyond the greatest value is refused; the types that have no NaN and no infinity,
//!   `f4e2m1fn`, `f6e2m3fn` and `f6e3m2fn`, keep to their greatest value. `f8e8m0fnu` has no zero and no sign.
//! - `inf`, `nan` and their negatives are refused by types that lack them. (XLA makes NaNs, zeros or greatest values of
//!   them.) `nan(0x…)` gives the bits of the mantissa, where all of them are free. `-0` is negative zero, as it is
//!   printed. (XLA reads it as the integer.)
//! - Complex numbers are `(real, imaginary)`.
//! - Commas in braces are blanks, as for XLA, but none may stand outside them. A single number without braces, not a complex
//!   one, is the first element of an array of any extents but 0, and the others are zero: what XLA's reader makes of it,
//!   although `f32[4] constant(1)` may have been meant as four ones. `{...}` stands for elements that the printer left out; so do dots behind some elements, which are then
//!   forgotten.
//! - A float is written with six significant digits (`f64`: 15) if they suffice, else with nine (17); one of 16 bits or
//!   fewer at once with as many digits as its type can need: 5 for `f16`, 4 for `bf16`, 2 or 3 for smaller ones.
//!
//! # Limits
//!
//! Text up to 4 GiB, tuples 200 deep, instructions and computations in place of names 32 deep, 255 dimensions, 256 wrong
//! attributes of an instruction, 100 findings, 2^24 elements of literals that the text does not write (behind single numbers
//! without braces). But for those, time and memory are linear in the text.
//!
//! # Codes
//!
//! | Code | Finding |
//! |---|---|
//! | `HLO001` | something else was expected here |
//! | `HLO002` | a brace, string or comment is never closed |
//! | `HLO003` | tuples, or instructions and computations in place of names, nest too deep |
//! | `HLO004` | the header `HloModule name` is missing or has no name |
//! | `HLO005` | a number is out of range |
//! | `HLO006` | there is no such element type |
//! | `HLO007` | a shape is not one: negative extent, layout that is no permutation or has unknown marks, too many dimensions; or none follows from the operands |
//! | `HLO008` | the number of elements exceeds 64 bits |
//! | `HLO009` | a name is an element type, or a word that is a name only behind `%` or before `:` |
//! | `HLO010` | there is no such opcode |
//! | `HLO011` | an attribute is missing, or a part of its value |
//! | `HLO012` | an attribute is repeated, or a part of its value |
//! | `HLO013` | the operation, computation, module or value has no such attribute |
//! | `HLO014` | the attribute has no such value |
//! | `HLO015` | a string has an escape that C does not have |
//! | `HLO016` | a table of source locations is missing, misspelled or malformed |
//! | `HLO020` | two instructions of a computation have one name |
//! | `HLO021` | two computations have one name |
//! | `HLO022` | there is no such instruction, or it stands after its use |
//! | `HLO023` | there is no such computation, or it stands after its use |
//! | `HLO024` | an instruction depends on itself |
//! | `HLO025` | a computation calls itself |
//! | `HLO026` | two instructions are marked `ROOT` |
//! | `HLO027` | no computation is there, or two are marked `ENTRY` |
//! | `HLO028` | a computation has no instructions |
//! | `HLO029` | a signature does not fit its computation |
//! | `HLO030` | the shape before an operand is not that of the operand |
//! | `HLO031` | a literal has more or fewer elements than its shape |
//! | `HLO032` | an element is malformed or out of the range of its type |
//! | `HLO033` | there is no literal of this shape |
//! | `HLO040` | a limit of the reader is exceeded: text, findings, elements that are not written |

mod codes;
mod lexer;
mod parser;
mod printer;

pub use parser::{parse, parse_shape};
pub use printer::{PrintOptions, print, print_computation, print_instruction, print_with};
