//! Where the user's cache lies.

use std::env;
use std::path::PathBuf;

/// The user's folder; see [`Cache::user`](super::Cache::user).
pub(super) fn user() -> Option<PathBuf> {
    choose(|name| env::var_os(name).map(PathBuf::from))
}

/// The folder in an environment.
fn choose(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if let Some(own) = variable("WEFT_CACHE_DIR") {
        return (!own.as_os_str().is_empty()).then_some(own);
    }
    // What is relative would be another folder wherever the process runs.
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        absolute("HOME").map(|home| home.join("Library").join("Caches"))
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("weft"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(variables: &[(&str, &str)]) -> Option<PathBuf> {
        choose(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value)))
    }

    #[test]
    fn a_folder_of_one_s_own_comes_first_and_an_empty_one_is_none() {
        let home = ("HOME", "/home/a");
        assert_eq!(chosen(&[("WEFT_CACHE_DIR", "there"), home]), Some("there".into()));
        assert_eq!(chosen(&[("WEFT_CACHE_DIR", ""), home]), None);
        assert_eq!(chosen(&[]), None);
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn else_the_system_says() {
        let home = ("HOME", "/home/a");
        assert_eq!(chosen(&[home]), Some("/home/a/.cache/weft".into()));
        assert_eq!(chosen(&[home, ("XDG_CACHE_HOME", "/var/a")]), Some("/var/a/weft".into()));
        assert_eq!(chosen(&[home, ("XDG_CACHE_HOME", "a")]), Some("/home/a/.cache/weft".into()));
    }
}
