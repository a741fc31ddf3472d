//! Tables for people.

/// Rows of cells under a heading; the first column is left-aligned, as is the last if `has_notes`, all others are
/// numbers.
pub(super) struct Table {
    pub(super) heading: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
    /// Whether the last column holds sentences.
    pub(super) has_notes: bool,
}

impl Table {
    /// Columns in line.
    pub(super) fn to_text(&self) -> String {
        let heading: Vec<String> = self.heading.iter().map(|&cell| cell.to_owned()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&heading).chain(&self.rows).collect();
        let width = |column: usize| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..heading.len()).map(width).collect();
        let mut text = String::new();
        for line in lines {
            let mut written = String::new();
            for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                let gap = if column > 0 { "  " } else { "" };
                written += &match self.is_left(column) {
                    true => format!("{gap}{cell:<width$}"),
                    false => format!("{gap}{cell:>width$}"),
                };
            }
            text += written.trim_end();
            text.push('\n');
        }
        text
    }

    /// As Markdown has them.
    pub(super) fn to_markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        let escaped = |cell: &str| cell.trim().replace('|', "\\|");
        let mut text = line(&mut self.heading.iter().map(|cell| escaped(cell)));
        let rule = |column: usize| if self.is_left(column) { "---" } else { "---:" };
        text += &line(&mut (0..self.heading.len()).map(|column| rule(column).to_owned()));
        for row in &self.rows {
            // What stands to the right of another row's name belongs to it.
            let indented = row.first().is_some_and(|cell| cell.starts_with(' '));
            let cells = row.iter().enumerate().map(|(column, cell)| match column {
                0 if indented => format!("– {}", escaped(cell)),
                _ => escaped(cell),
            });
            text += &line(&mut cells.into_iter());
        }
        text
    }

    fn is_left(&self, column: usize) -> bool {
        column == 0 || (self.has_notes && column + 1 == self.heading.len())
    }
}

/// Three digits: `0.0123`, `1.23`, `123`, `12300`; very small and very large ones with an exponent.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.1e}");
    }
    // 1 before the point leaves two places after it; nothing before it leaves more.
    let places = (2 - size.log10().floor() as i32).clamp(0, 6);
    format!("{value:.*}", places as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        Table {
            heading: vec!["case", "ms", "note"],
            rows: vec![row(["a", "12.5", ""]), row(["  by hand", "×1", "x | y"])],
            has_notes: true,
        }
    }

    #[test]
    fn columns_are_in_line() {
        assert_eq!(table().to_text(), "case         ms  note\na          12.5\n  by hand    ×1  x | y\n");
    }

    #[test]
    fn markdown_is_escaped() {
        let expected = "| case | ms | note |\n| --- | ---: | --- |\n| a | 12.5 |  |\n| – by hand | ×1 | x \\| y |\n";
        assert_eq!(table().to_markdown(), expected);
    }

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1234.5, "1234"),
            (233.4, "233"),
            (23.34, "23.3"),
            (2.334, "2.33"),
            (0.02334, "0.0233"),
            (1.25e-7, "1.2e-7"),
            (4.5e9, "4.5e9"),
            (-2.5, "-2.50"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), text, "{value}");
        }
    }
}
