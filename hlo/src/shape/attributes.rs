//! The attributes of an instruction as arguments of its shape function.

use super::function::{Attributes, Extents, Known, KnownShape, Value};
use super::parts;
use crate::ir::{
    ArrayShape, ConvolutionDimensions, FieldView, Module, Op, PadDimension, ReplicaGroups, Shape, SliceDimension,
    Spelling, Window, WindowDimension,
};
use weft_affine::Interval;

/// An instruction as its shape function sees it: by name, the attributes of the text that are numbers, lists of numbers or
/// flags, with their defaults, and some that are made of others.
///
/// | Name | Of | Value |
/// |---|---|---|
/// | the attribute's own | numbers, lists, flags | the value |
/// | `dimensions?` and the like | all | whether the instruction has the attribute |
/// | `fft_type=RFFT` and the like | words | whether the attribute is this word |
/// | `window_size`, `window_stride`, `window_padding_low`, `window_padding_high`, `window_dilation`, `window_base_dilation` | windows | one per dimension |
/// | `padding_low`, `padding_high`, `padding_interior` | `pad` | one per dimension |
/// | `slice_start`, `slice_limit`, `slice_stride` | `slice` | one per dimension |
/// | `input_batch`, `input_feature`, `input_spatial`, `kernel_input_feature`, `kernel_output_feature`, `kernel_spatial`, `output_batch`, `output_feature`, `output_spatial` | `dim_labels` | dimension numbers |
/// | `group_size` | collectives | members of a group, all partitions of a replica where replicas are named over a channel; 0 where the groups do not say |
/// | `shape`, `shapes` | all | the declared extents: of the result, of all leaves of the result |
/// | `operand_bits`, `result_bits` | all | bits of an element of the first operand, of the result |
/// | `called` | calls, fusions, conditionals, `async-start` | the extents of all leaves of what the computation yields, of a conditional the first |
/// | `literal` | `constant` | the extents of all leaves of the value |
/// | `kept` | starts of asynchronous operations | the declared extents of all leaves behind operands and result |
/// | `in_place` | `collective-permute` and its start | whether the second operand is what is written to |
///
/// Operands come leaf by leaf. Operations that take values out of tuples (`get-tuple-element`, the ends of asynchronous
/// operations) see the leaves of these values only.
pub struct InstructionAttributes<'a> {
    /// The operation.
    pub op: &'a Op,
    /// The shapes of its operands.
    pub operands: &'a [&'a Shape],
    /// The shape that the text gives its result.
    pub declared: &'a Shape,
    /// The result of the called computation that makes its value ([`called_result`]).
    pub called: Option<&'a Shape>,
    /// Into how many partitions the module is cut that the instruction stands in
    /// ([`Module::num_partitions`](crate::ir::Module::num_partitions)); 1 where that is not said.
    pub partitions: i64,
}

/// The result of the called computation that is the value of the operation, or part of it: of a call, a fusion or an
/// `async-start` the one that it names, of a conditional the first branch.
pub fn called_result<'a>(module: &'a Module, op: &Op) -> Option<&'a Shape> {
    let callee = match op {
        Op::Call { to_apply } => *to_apply,
        Op::Fusion { calls, .. } | Op::AsyncStart { calls, .. } => *calls,
        Op::Conditional { branches, .. } => *branches.first()?,
        Op::AsyncShorthand { operation: Some(operation), .. } => return called_result(module, operation),
        _ => return None,
    };
    let computation = module.computations.get(callee)?;
    computation.instructions.get(computation.root).map(|root| &root.shape)
}

impl Attributes for InstructionAttributes<'_> {
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "shape" => Some(Value::Extents(Extents::from_slice(&self.declared.as_array()?.extents))),
            "shapes" => Some(leaf_extents([self.declared])),
            "called" => Some(leaf_extents([self.called?])),
            "kept" => Some(leaf_extents(self.kept()?)),
            "literal" => match self.op {
                Op::Constant(literal) => Some(leaf_extents([&literal.shape])),
                _ => None,
            },
            "group_size" => {
                let mut found = None;
                self.op.visit_fields(true, &mut |_, view| {
                    if let FieldView::Groups(groups) = view {
                        found = Some(group_size(groups));
                    }
                });
                let each = if self.op.names_replicas_of_all_partitions() { self.partitions } else { 1 };
                // More members than 64 bits count have no array to go with; the multiple is checked as for open groups.
                found.map(|members| Value::Size(members.checked_mul(each).unwrap_or(0)))
            }
            "in_place" => Some(Value::Bool(match self.op {
                Op::CollectivePermute { slice_sizes, .. } | Op::CollectivePermuteStart { slice_sizes, .. } => {
                    parts::is_in_place(slice_sizes, self.operands)
                }
                _ => false,
            })),
            "operand_bits" => bits(self.operands.first()?),
            "result_bits" => bits(self.declared),
            _ => {
                if let Some(asked) = name.strip_suffix('?') {
                    let mut has = false;
                    self.op.visit_fields(true, &mut |field, _| has |= field.name == asked);
                    return Some(Value::Bool(has));
                }
                let (attribute, word) = name.split_once('=').unzip();
                let mut found = None;
                self.op.visit_fields(true, &mut |field, view| {
                    if found.is_none() {
                        found = match word {
                            Some(word) if attribute == Some(field.name) => is_word(view, word),
                            Some(_) => None,
                            None => value(field.name, view, name),
                        };
                    }
                });
                found
            }
        }
    }

    fn known(&self, name: &str) -> Option<Known> {
        match name {
            "shape" => Some(Known::List(known_shape(self.declared.as_array()?))),
            "shapes" => Some(known_leaves([self.declared])),
            "called" => Some(known_leaves([self.called?])),
            "kept" => Some(known_leaves(self.kept()?)),
            _ => self.attribute(name).map(Known::Exact),
        }
    }
}

impl<'a> InstructionAttributes<'a> {
    /// The extents that the shape function takes: those of the leaves of the operands, or of the parts of them that the
    /// operation takes out. Tokens and handles have none.
    pub fn operand_extents(&self) -> Vec<Extents> {
        parts::seen(self.op, self.operands).iter().flat_map(|shape| shape.leaves()).map(extents_of).collect()
    }

    /// The same, as far as it is known.
    pub(super) fn known_operands(&self) -> Vec<KnownShape> {
        parts::seen(self.op, self.operands).iter().flat_map(|shape| shape.leaves()).map(known_leaf).collect()
    }

    /// What the start of an asynchronous operation yields beside its operands and its result.
    fn kept(&self) -> Option<&'a [Shape]> {
        self.declared.as_tuple()?.get(2..)
    }
}

fn leaf_extents<'a>(shapes: impl IntoIterator<Item = &'a Shape>) -> Value {
    Value::Shapes(shapes.into_iter().flat_map(|shape| shape.leaves()).map(extents_of).collect())
}

fn known_leaves<'a>(shapes: impl IntoIterator<Item = &'a Shape>) -> Known {
    Known::Shapes(Ok(shapes.into_iter().flat_map(|shape| shape.leaves()).map(known_leaf).collect()))
}

/// The knowledge that a shape gives of its extents: bounded ones (`<=N`) are at most their bound, and of unknown ones
/// (`?`) nothing is known.
pub fn known_shape(array: &ArrayShape) -> KnownShape {
    let mut dims: Vec<Interval> = array.extents.iter().map(|&extent| Interval::point(extent)).collect();
    for &dimension in &array.dynamic {
        if let Some(dim) = dims.get_mut(dimension) {
            dim.lo = 0;
            dim.hi = if dim.hi < 0 { i64::MAX } else { dim.hi };
        }
    }
    KnownShape::Ranked(dims)
}

/// What a leaf says of its extents; tokens and handles have none.
fn known_leaf(leaf: &Shape) -> KnownShape {
    leaf.as_array().map_or_else(|| KnownShape::Ranked(Vec::new()), known_shape)
}

/// The extents of a leaf; none for tokens and handles.
fn extents_of(leaf: &Shape) -> Extents {
    leaf.as_array().map(|array| Extents::from_slice(&array.extents)).unwrap_or_default()
}

fn bits(shape: &Shape) -> Option<Value> {
    Some(Value::Size(i64::from(shape.as_array()?.element_type.bits())))
}

fn is_word(view: FieldView<'_>, word: &str) -> Option<Value> {
    match view {
        FieldView::Word(given) => Some(Value::Bool(given == word)),
        _ => None,
    }
}

/// What the attribute `field` says about `name`.
fn value(field: &str, view: FieldView<'_>, name: &str) -> Option<Value> {
    match view {
        FieldView::Integer(size) if field == name => Some(Value::Size(*size)),
        FieldView::Integers(sizes) if field == name => Some(Value::Extents(Extents::from_slice(sizes))),
        FieldView::Flag(flag) if field == name => Some(Value::Bool(*flag)),
        FieldView::Window(window) => of_window(window, name),
        FieldView::Padding(padding) => of_padding(padding, name),
        FieldView::Slices(slices) => of_slices(slices, name),
        FieldView::Labels(labels) => of_labels(labels, name),
        _ => None,
    }
}

fn of_window(window: &Window, name: &str) -> Option<Value> {
    let part: fn(&WindowDimension) -> i64 = match name {
        "window_size" => |dimension| dimension.size,
        "window_stride" => |dimension| dimension.stride,
        "window_padding_low" => |dimension| dimension.padding_low,
        "window_padding_high" => |dimension| dimension.padding_high,
        "window_dilation" => |dimension| dimension.window_dilation,
        "window_base_dilation" => |dimension| dimension.base_dilation,
        _ => return None,
    };
    Some(Value::shape(window.dimensions.iter().map(part)))
}

fn of_padding(padding: &[PadDimension], name: &str) -> Option<Value> {
    let part: fn(&PadDimension) -> i64 = match name {
        "padding_low" => |dimension| dimension.low,
        "padding_high" => |dimension| dimension.high,
        "padding_interior" => |dimension| dimension.interior,
        _ => return None,
    };
    Some(Value::shape(padding.iter().map(part)))
}

fn of_slices(slices: &[SliceDimension], name: &str) -> Option<Value> {
    let part: fn(&SliceDimension) -> i64 = match name {
        "slice_start" => |dimension| dimension.start,
        "slice_limit" => |dimension| dimension.limit,
        "slice_stride" => |dimension| dimension.stride,
        _ => return None,
    };
    Some(Value::shape(slices.iter().map(part)))
}

fn of_labels(labels: &ConvolutionDimensions, name: &str) -> Option<Value> {
    let list = |dimensions: &[i64]| Some(Value::shape(dimensions.iter().copied()));
    match name {
        "input_batch" => Some(Value::Size(labels.input_batch)),
        "input_feature" => Some(Value::Size(labels.input_feature)),
        "input_spatial" => list(&labels.input_spatial),
        "kernel_input_feature" => Some(Value::Size(labels.kernel_input_feature)),
        "kernel_output_feature" => Some(Value::Size(labels.kernel_output_feature)),
        "kernel_spatial" => list(&labels.kernel_spatial),
        "output_batch" => Some(Value::Size(labels.output_batch)),
        "output_feature" => Some(Value::Size(labels.output_feature)),
        "output_spatial" => list(&labels.output_spatial),
        _ => None,
    }
}

/// Members of one group; 0 where all take part, and for groups of different sizes.
fn group_size(groups: &ReplicaGroups) -> i64 {
    let length = |group: &Vec<i64>| i64::try_from(group.len()).unwrap_or(i64::MAX);
    match groups {
        ReplicaGroups::List(groups) => match groups.split_first() {
            Some((first, rest)) if rest.iter().all(|group| group.len() == first.len()) => length(first),
            _ => 0,
        },
        ReplicaGroups::Iota { dimensions, .. } => match dimensions.as_slice() {
            [_, members] => *members,
            _ => 0,
        },
        ReplicaGroups::Mesh(_) => 0,
    }
}

/// So many dimensions of an attribute are shown.
const MAX_SHOWN: usize = 16;

/// `name=value` of each attribute whose name is a word of the message, in the order of text. Of slices and padding, one
/// entry for each dimension.
pub(super) fn attributes(op: &Op, message: &str) -> Vec<String> {
    let words: Vec<&str> = message.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let mut named = Vec::new();
    op.visit_fields(true, &mut |field, view| {
        if !words.contains(&field.name) {
            return;
        }
        let value = match view {
            FieldView::Integer(number) if field.spelling == Spelling::Dimension => Some(format!("{{{number}}}")),
            FieldView::Integer(number) => Some(number.to_string()),
            FieldView::Integers(numbers) => Some(list("{", numbers, ",", "}", i64::to_string)),
            FieldView::Slices(slices) => {
                Some(list("{", slices, ", ", "}", |it| format!("[{}:{}:{}]", it.start, it.limit, it.stride)))
            }
            FieldView::Padding(padding) => {
                Some(list("", padding, "x", "", |it| format!("{}_{}_{}", it.low, it.high, it.interior)))
            }
            FieldView::Window(window) if window.dimensions.len() <= MAX_SHOWN => Some(window.to_string()),
            FieldView::Labels(labels) if labels.input_spatial.len() <= MAX_SHOWN => Some(labels.to_string()),
            _ => None,
        };
        named.extend(value.map(|value| format!("{}={value}", field.name)));
    });
    named
}

fn list<T>(open: &str, parts: &[T], between: &str, close: &str, show: impl Fn(&T) -> String) -> String {
    let mut shown: Vec<String> = parts.iter().take(MAX_SHOWN).map(show).collect();
    if parts.len() > MAX_SHOWN {
        shown.push("…".to_owned());
    }
    format!("{open}{}{close}", shown.join(between))
}
