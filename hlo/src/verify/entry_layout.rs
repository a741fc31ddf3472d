//! The header's `entry_computation_layout`.

use crate::ir::{Computation, Module};

/// How the header's `entry_computation_layout` contradicts the entry computation, layouts aside: it may ask for other
/// layouts than the instructions have, never for other types or extents.
pub(super) fn mismatch(module: &Module, entry: &Computation) -> Option<String> {
    let claimed = without_braces(module.attribute("entry_computation_layout")?);
    if !claimed.contains("->") {
        return None;
    }
    let parameters: Vec<String> =
        entry.parameters().into_iter().map(|id| entry.instructions[id].shape.without_layout().to_string()).collect();
    let result = entry.instructions.get(entry.root)?.shape.without_layout();
    let actual = format!("({})->{result}", parameters.join(", "));
    if claimed == without_braces(&actual) {
        return None;
    }
    Some(format!("entry_computation_layout must describe the entry computation, which is {actual}"))
}

/// The text of shapes without spaces, comments, layouts and the braces around the whole.
fn without_braces(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let mut kept = String::with_capacity(text.len());
    let mut depth = 0usize;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '/' if rest.peek() == Some(&'*') => {
                let mut last = ' ';
                rest.next();
                for character in rest.by_ref() {
                    if last == '*' && character == '/' {
                        break;
                    }
                    last = character;
                }
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth > 0 || character.is_whitespace() => {}
            _ => kept.push(character),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without_braces;

    #[test]
    fn layouts_comments_and_spaces_do_not_count() {
        let text = "{(f32[4,5]{1,0:T(8,128)}, /*index=5*/pred[])->(s32[]{:E(4)}, u32[2]{0})}";
        assert_eq!(without_braces(text), "(f32[4,5],pred[])->(s32[],u32[2])");
    }
}
