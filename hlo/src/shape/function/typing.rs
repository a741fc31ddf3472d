//! The typing rules of operations.

use super::{Kind, Type};

/// The types a region is entered with and yields.
pub(super) struct RegionTypes {
    pub(super) arguments: Vec<Type>,
    pub(super) results: Vec<Type>,
}

/// The types of the operation's results.
///
/// # Errors
/// What the operation takes instead, as a sentence.
pub(super) fn result_types(kind: &Kind, operands: &[Type], regions: &[RegionTypes]) -> Result<Vec<Type>, String> {
    use Type::{Bool, Shape, Shapes, Size, Sizes, ValueShape, Witness};
    let takes = |what: &str| {
        let given: Vec<&str> = operands.iter().map(|ty| ty.name()).collect();
        let given = if given.is_empty() { "nothing".to_owned() } else { given.join(", ") };
        Err(format!("{} takes {what}, and is given {given}", kind.name()))
    };
    let all = |wanted: Type| operands.iter().all(|&ty| ty == wanted);
    let same = operands.windows(2).all(|pair| pair[0] == pair[1]);
    if regions.len() != kind.region_count() {
        return Err(format!("{} has {} regions", kind.name(), kind.region_count()));
    }
    if regions.iter().any(|region| region.results.contains(&Witness)) {
        return Err("evidence is used where it is made; a region does not yield it".to_owned());
    }
    let one = |ty: Type| Ok(vec![ty]);
    match kind {
        Kind::ConstSize(_) if operands.is_empty() => one(Size),
        Kind::ConstShape(extents) if operands.is_empty() => {
            if extents.iter().any(|&extent| extent < 0) {
                return Err("the extents of a shape are at least 0".to_owned());
            }
            one(Shape)
        }
        Kind::ConstSizes(_) if operands.is_empty() => one(Sizes),
        Kind::ConstBool(_) if operands.is_empty() => one(Bool),
        Kind::ConstWitness(_) if operands.is_empty() => one(Witness),
        Kind::Attribute(_, ty) if operands.is_empty() => match ty {
            Size | Sizes | Bool | Shape | Shapes => one(*ty),
            _ => Err(format!(
                "an attribute is a size, a list of sizes, a shape, a list of shapes or a truth value, not {ty}"
            )),
        },
        Kind::ConstSize(_)
        | Kind::ConstShape(_)
        | Kind::ConstSizes(_)
        | Kind::ConstBool(_)
        | Kind::ConstWitness(_)
        | Kind::Attribute(..) => takes("no operands"),
        Kind::Call(_, results) => match operands.iter().chain(results).any(|&ty| ty == Witness) {
            true => Err("evidence is used where it is made; a call does not pass it".to_owned()),
            false => Ok(results.clone()),
        },
        Kind::ShapeOf => match operands {
            [ValueShape] => one(Shape),
            _ => takes("an operand of the instruction"),
        },
        Kind::Rank => match operands {
            [list] if list.is_list() => one(Size),
            _ => takes("a list of sizes"),
        },
        Kind::GetExtent => match operands {
            [list, Size] if list.is_list() => one(Size),
            _ => takes("a list of sizes and an index"),
        },
        Kind::SplitAt => match operands {
            [list, Size] if list.is_list() => Ok(vec![*list, *list]),
            _ => takes("a list of sizes and an index"),
        },
        Kind::Concat => match operands {
            [list, ..] if list.is_list() && same => one(*list),
            _ => takes("lists of sizes of one type"),
        },
        Kind::FromExtents if all(Size) => one(Shape),
        Kind::FromElements if all(Size) => one(Sizes),
        Kind::FromExtents | Kind::FromElements => takes("sizes"),
        Kind::FromExtentTensor => match operands {
            [Sizes] => one(Shape),
            _ => takes("a list of sizes"),
        },
        Kind::ToExtentTensor => match operands {
            [Shape] => one(Sizes),
            _ => takes("a shape"),
        },
        Kind::NumElements => match operands {
            [Shape] => one(Size),
            _ => takes("a shape"),
        },
        Kind::Add | Kind::Sub | Kind::Mul | Kind::Div | Kind::CeilDiv | Kind::Mod | Kind::Min | Kind::Max => {
            match operands {
                [Size, Size] => one(Size),
                _ => takes("two sizes"),
            }
        }
        Kind::Eq | Kind::Ne | Kind::Lt | Kind::Le | Kind::Gt | Kind::Ge => match operands {
            [Size, Size] => one(Bool),
            _ => takes("two sizes"),
        },
        Kind::Select => match operands {
            [Bool, a, b] if a == b && *a != Witness => one(*a),
            _ => takes("a truth value and two values of one type"),
        },
        Kind::And | Kind::Or if all(Bool) && !operands.is_empty() => one(Bool),
        Kind::And | Kind::Or => takes("truth values"),
        Kind::Not | Kind::Require => match operands {
            [Bool] => one(Bool),
            _ => takes("a truth value"),
        },
        Kind::CstrRequire => match operands {
            [Bool] => one(Witness),
            _ => takes("a truth value"),
        },
        Kind::Assert => match operands {
            [Bool] => Ok(Vec::new()),
            _ => takes("a truth value"),
        },
        Kind::ShapeEq | Kind::CstrEq | Kind::Meet | Kind::Any => match operands {
            [ty, rest @ ..] if same && (*ty == Size || ty.is_list()) && (*kind == Kind::Any || !rest.is_empty()) => {
                one(match kind {
                    Kind::ShapeEq => Bool,
                    Kind::CstrEq => Witness,
                    _ => *ty,
                })
            }
            _ => takes("sizes, or lists of sizes, of one type"),
        },
        Kind::IsBroadcastable | Kind::CstrBroadcastable | Kind::Broadcast if operands.len() >= 2 && all(Shape) => {
            one(match kind {
                Kind::IsBroadcastable => Bool,
                Kind::CstrBroadcastable => Witness,
                _ => Shape,
            })
        }
        Kind::IsBroadcastable | Kind::CstrBroadcastable | Kind::Broadcast => takes("two shapes or more"),
        Kind::Length => match operands {
            [Shapes] => one(Size),
            _ => takes("a list of shapes"),
        },
        Kind::GetShape => match operands {
            [Shapes, Size] => one(Shape),
            _ => takes("a list of shapes and an index"),
        },
        Kind::ListOf if all(Shape) => one(Shapes),
        Kind::ListOf => takes("shapes"),
        Kind::Append => match operands {
            [Shapes, Shape] => one(Shapes),
            _ => takes("a list of shapes and a shape"),
        },
        Kind::Repeat => match operands {
            [Size, Shape] => one(Shapes),
            _ => takes("a size and a shape"),
        },
        Kind::AssumingAll if all(Witness) && !operands.is_empty() => one(Witness),
        Kind::AssumingAll => takes("evidence"),
        Kind::Assuming => match operands {
            [Witness] if regions[0].arguments.is_empty() => Ok(regions[0].results.clone()),
            _ => takes("evidence, and a region without arguments"),
        },
        Kind::If => match operands {
            [Bool] if regions.iter().all(|region| region.arguments.is_empty()) => {
                if regions[0].results != regions[1].results {
                    return Err("both regions of shape.if yield values of the same types".to_owned());
                }
                Ok(regions[0].results.clone())
            }
            _ => takes("a truth value, and two regions without arguments"),
        },
        Kind::Reduce => {
            let Some(mut wanted) = loop_arguments(operands) else {
                return takes("a list of sizes or shapes and the initial accumulators");
            };
            if regions[0].arguments != wanted {
                return Err("the region of shape.reduce takes an index, an element and the accumulators".to_owned());
            }
            wanted.drain(..2);
            if regions[0].results != wanted {
                return Err("the region of shape.reduce yields the accumulators".to_owned());
            }
            Ok(wanted)
        }
    }
}

/// The types a loop's region is entered with: index, element, accumulators.
pub(super) fn loop_arguments(operands: &[Type]) -> Option<Vec<Type>> {
    let (list, accumulators) = operands.split_first()?;
    let element = match list {
        Type::Shape | Type::Sizes => Type::Size,
        Type::Shapes => Type::Shape,
        _ => return None,
    };
    if accumulators.contains(&Type::Witness) {
        return None;
    }
    Some([Type::Size, element].into_iter().chain(accumulators.iter().copied()).collect())
}
