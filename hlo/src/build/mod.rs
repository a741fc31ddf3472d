//! Building modules in Rust: instructions whose shapes follow from their operands, checked as they are added.
//!
//! A [`ModuleBuilder`] takes computations, callees before callers; a [`ComputationBuilder`] takes instructions, operands before
//! users. The shape of a result is inferred by the rule of the operation and its [shape function](crate::shape), or checked
//! against them where it does not follow from the operands ([`ComputationBuilder::add_shaped`]), so that what breaks a rule is
//! refused where it is added, with the code that the [verifier](crate::verify) gives it.
//!
//! ```
//! use weft_hlo::build::ModuleBuilder;
//! use weft_hlo::ir::{BinaryOp, ElementType::F32, Literal, Shape};
//!
//! let mut module = ModuleBuilder::new("mean_of_rows");
//! let mut main = module.computation("main");
//! let x = main.parameter(Shape::array(F32, [2, 3]));
//! let zero = main.constant(0.0f32);
//! let sums = main.reduce_by(BinaryOp::Add, x, zero, &[1])?;
//! let count = main.constant(3.0f32);
//! let count = main.splat(count, &[2])?;
//! let means = main.binary(BinaryOp::Divide, sums, count)?;
//! assert_eq!(main.shape(means).to_string(), "f32[2]");
//!
//! // What breaks a rule is refused at once.
//! let refused = main.binary(BinaryOp::Add, x, means).unwrap_err();
//! assert_eq!(refused.code, "HLO108");
//!
//! let main = main.finish(means)?;
//! let module = module.finish(main)?;
//! let x = Literal::array([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! assert_eq!(weft_hlo::eval::evaluate(&module, &[x])?, [Literal::array([2], vec![2.0f32, 5.0])]);
//! # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
//! ```

mod computation;
mod module;
mod operations;

pub use computation::ComputationBuilder;
pub use module::ModuleBuilder;
