//! The codes of reasons.

const COUNT: usize = 1000;
const LENGTH: usize = 6;

/// `HLO000`, `HLO001`, …: reasons hold codes for ever.
static CODES: [u8; COUNT * LENGTH] = all();

const fn all() -> [u8; COUNT * LENGTH] {
    let mut codes = [b'0'; COUNT * LENGTH];
    let mut number = 0;
    while number < COUNT {
        let at = number * LENGTH;
        codes[at] = b'H';
        codes[at + 1] = b'L';
        codes[at + 2] = b'O';
        // Single digits fit into a byte.
        codes[at + 3] += (number / 100) as u8;
        codes[at + 4] += (number / 10 % 10) as u8;
        codes[at + 5] += (number % 10) as u8;
        number += 1;
    }
    codes
}

/// The code that a text spells.
pub(super) fn code(text: &str) -> Option<&'static str> {
    let digits = text.strip_prefix("HLO").filter(|digits| digits.len() == 3)?;
    let at = LENGTH * digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse::<usize>().ok())??;
    std::str::from_utf8(CODES.get(at..at + LENGTH)?).ok()
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn codes_have_three_digits() {
        assert_eq!((code("HLO000"), code("HLO403"), code("HLO999")), (Some("HLO000"), Some("HLO403"), Some("HLO999")));
        assert_eq!((code("HLO1000"), code("HLO+40"), code("RUN001"), code("")), (None, None, None, None));
    }
}
