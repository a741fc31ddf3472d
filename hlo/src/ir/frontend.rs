//! What the source of a program says to tools, an instruction each: the entries of its `frontend_attributes`.

use super::{Attribute, Instruction};

const NAME: &str = "frontend_attributes";

impl Instruction {
    /// The value of the entry of this name in `frontend_attributes={name="value",…}`, without its quotes; `None` if there is none, or if it stands in braces.
    pub fn frontend_attribute(&self, name: &str) -> Option<&str> {
        let all = self.attributes.iter().find(|attribute| attribute.name == NAME)?;
        let (_, value) = entries(&all.value).filter_map(|entry| entry.split_once('=')).find(|(own, _)| *own == name)?;
        let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
        quoted('"').or_else(|| quoted('\''))
    }

    /// Sets such an entry, which is the first one then, or takes it away. The name is a word, and the value has no quotes and no backslash.
    pub fn set_frontend_attribute(&mut self, name: &str, value: Option<&str>) {
        let place = self.attributes.iter().position(|attribute| attribute.name == NAME);
        let others = place.map(|place| self.attributes[place].value.clone()).unwrap_or_default();
        let is_other = |entry: &&str| entry.split_once('=').is_none_or(|(own, _)| own != name);
        let own = value.map(|value| format!("{name}=\"{value}\""));
        let all: Vec<&str> = own.iter().map(String::as_str).chain(entries(&others).filter(is_other)).collect();
        let text = format!("{{{}}}", all.join(","));
        match (place, all.is_empty()) {
            (Some(place), true) => drop(self.attributes.remove(place)),
            (Some(place), false) => self.attributes[place].value = text,
            (None, true) => {}
            (None, false) => self.attributes.push(Attribute::new(NAME, text)),
        }
    }
}

/// The entries between the braces, at whose commas outside of quotes and braces they are divided.
fn entries(value: &str) -> impl Iterator<Item = &str> {
    let inner = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')).unwrap_or("");
    let (mut depth, mut quote, mut is_escaped) = (0usize, None, false);
    let divides = move |letter: char| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match (quote, letter) {
            (Some(_), '\\') => is_escaped = !was_escaped,
            (Some(open), _) if letter == open && !was_escaped => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '{') => depth += 1,
            (None, '}') => depth = depth.saturating_sub(1),
            (None, _) => return letter == ',' && depth == 0,
        }
        false
    };
    inner.split(divides).map(str::trim).filter(|entry| !entry.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::ir::{Attribute, Instruction, Op, Shape};

    fn with(value: Option<&str>) -> Instruction {
        let mut instruction = Instruction::new("x", Shape::Tuple(Vec::new()), Op::Tuple, Vec::new());
        instruction.attributes.extend(value.map(|value| Attribute::new("frontend_attributes", value)));
        instruction
    }

    #[test]
    fn entries_are_found_by_their_names() {
        let given = with(Some("{a=\"1,b=2\",c={x=\"3\",y={}}, d='4', e=\"say \\\"f=5,\\\"\"}"));
        assert_eq!(given.frontend_attribute("a"), Some("1,b=2"));
        assert_eq!(given.frontend_attribute("b"), None);
        assert_eq!(given.frontend_attribute("c"), None);
        assert_eq!(given.frontend_attribute("d"), Some("4"));
        assert_eq!(given.frontend_attribute("e"), Some("say \\\"f=5,\\\""));
        assert_eq!(given.frontend_attribute("y"), None);
        assert_eq!(with(None).frontend_attribute("a"), None);
    }

    #[test]
    fn entries_are_set_and_taken_away() {
        let text = |instruction: &Instruction| instruction.attributes.first().map(|it| it.value.clone());
        let mut given = with(None);
        given.set_frontend_attribute("a", None);
        assert_eq!(text(&given), None);
        given.set_frontend_attribute("a", Some("1"));
        assert_eq!(text(&given).as_deref(), Some("{a=\"1\"}"));
        given.set_frontend_attribute("b", Some("2"));
        given.set_frontend_attribute("a", Some("3"));
        assert_eq!(text(&given).as_deref(), Some("{a=\"3\",b=\"2\"}"));
        given.set_frontend_attribute("a", None);
        given.set_frontend_attribute("b", None);
        assert_eq!(text(&given), None);
        let mut given = with(Some("{x={a=\"1\"}}"));
        given.set_frontend_attribute("a", Some("2"));
        assert_eq!(text(&given).as_deref(), Some("{a=\"2\",x={a=\"1\"}}"));
    }
}
