//! Suggestions for misspelled words.

/// Words longer than this are not compared: nobody misspells them by a letter or two.
const MAX_LENGTH: usize = 48;

/// The end of a sentence that suggests the candidate nearest to `word`; empty if none is near.
pub(crate) fn did_you_mean<'c>(word: &str, mut candidates: impl Iterator<Item = &'c str>) -> String {
    nearest_of(word, &mut candidates).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// The element type that other languages call by this name.
pub(crate) fn translated(word: &str) -> Option<&'static str> {
    Some(match word {
        "bool" | "boolean" | "i1" => "pred",
        "int8" | "i8" => "s8",
        "int16" | "i16" => "s16",
        "int" | "int32" | "i32" => "s32",
        "int64" | "i64" | "long" => "s64",
        "uint8" | "ui8" | "byte" => "u8",
        "uint16" | "ui16" => "u16",
        "uint32" | "ui32" => "u32",
        "uint64" | "ui64" => "u64",
        "float16" | "half" => "f16",
        "bfloat16" => "bf16",
        "float" | "float32" => "f32",
        "double" | "float64" => "f64",
        "complex64" => "c64",
        "complex128" => "c128",
        _ => return None,
    })
}

/// The candidate nearest to `word`, if it is near enough to be meant; of equally near ones the first.
pub(crate) fn nearest<'c>(word: &str, mut candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    nearest_of(word, &mut candidates)
}

/// [`nearest`], compiled once for all kinds of iterators.
fn nearest_of<'c>(word: &str, candidates: &mut dyn Iterator<Item = &'c str>) -> Option<&'c str> {
    if word.len() > MAX_LENGTH {
        return None;
    }
    let farthest = 1 + word.len() / 4;
    let mut best: Option<(usize, &'c str)> = None;
    for candidate in candidates {
        // The distance is at least the difference of the lengths.
        if candidate.len().abs_diff(word.len()) > farthest {
            continue;
        }
        // Nothing is nearer than the same word in other case.
        let distance = match candidate.eq_ignore_ascii_case(word) {
            true => 0,
            false => edit_distance(word.as_bytes(), candidate.as_bytes()),
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    let (distance, candidate) = best?;
    (distance <= farthest).then_some(candidate)
}

/// The least number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let words = || ["multiply", "add", "subtract"].into_iter();
        assert_eq!(nearest("mulitply", words()), Some("multiply"));
        assert_eq!(nearest("ad", words()), Some("add"));
        assert_eq!(nearest("ADD", words()), Some("add"));
        assert_eq!(nearest("frobnicate", words()), None);
        assert_eq!(nearest(&"add".repeat(100), words()), None);
    }
}
