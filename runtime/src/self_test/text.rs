//! Answers as text, and back.

use super::{Answer, SelfTest, Test};
use std::fmt;
use std::str::FromStr;

const TITLE: &str = "weft self-test";

impl fmt::Display for SelfTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE} {}", SelfTest::VERSION)?;
        for (test, answer) in self.answers() {
            match answer.found() {
                "" => writeln!(f, "{}: {}", test.name(), answer.word())?,
                found => writeln!(f, "{}: {}: {found}", test.name(), answer.word())?,
            }
        }
        Ok(())
    }
}

/// From the lines that are written, all of them and in their order. The error says what is wrong with which.
impl FromStr for SelfTest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut lines = text.lines();
        let title = format!("{TITLE} {}", SelfTest::VERSION);
        if lines.next() != Some(title.as_str()) {
            return Err(format!("the first line is not '{title}'"));
        }
        let answers: Result<Vec<Answer>, String> = Test::ALL
            .into_iter()
            .map(|test| {
                let name = test.name();
                let line = lines.next().ok_or_else(|| format!("there is no line for '{name}'"))?;
                let answer = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")).and_then(answer);
                answer.ok_or_else(|| format!("'{line}' is no answer to '{name}'"))
            })
            .collect();
        let test = SelfTest { answers: answers? };
        lines.next().map_or(Ok(test), |line| Err(format!("'{line}' is one line too many")))
    }
}

fn answer(text: &str) -> Option<Answer> {
    let (word, found) = text.split_once(": ").unwrap_or((text, ""));
    let found = found.to_owned();
    match word {
        "holds" => Some(Answer::Holds(found)),
        "fails" => Some(Answer::Fails(found)),
        "skipped" => Some(Answer::Skipped(found)),
        _ => None,
    }
}
