//! The attributes that a message names, as text spells them.

use crate::ir::{FieldView, Op, Spelling};

/// So many dimensions of an attribute are shown.
const SHOWN: usize = 16;

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
            FieldView::Window(window) if window.dimensions.len() <= SHOWN => Some(window.to_string()),
            FieldView::Labels(labels) if labels.input_spatial.len() <= SHOWN => Some(labels.to_string()),
            _ => None,
        };
        named.extend(value.map(|value| format!("{}={value}", field.name)));
    });
    named
}

fn list<T>(open: &str, parts: &[T], between: &str, close: &str, show: impl Fn(&T) -> String) -> String {
    let mut shown: Vec<String> = parts.iter().take(SHOWN).map(show).collect();
    if parts.len() > SHOWN {
        shown.push("…".to_owned());
    }
    format!("{open}{}{close}", shown.join(between))
}
