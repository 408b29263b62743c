//! Paths inside a store. A path that could leave the root is refused before anything else happens.

use linn_format::{Error, Result};

/// Checks a file or folder path: relative, no empty, `.` or `..` segment, no NUL. A trailing slash of a folder is dropped.
pub(super) fn normal(path: &str) -> Result<&str> {
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    let refused = |why: &str| Err(Error::invalid(format!("{why} in a storage path")).with("path", path));
    if trimmed.starts_with('/') {
        return refused("leading slash");
    }
    if trimmed.contains('\0') {
        return refused("NUL character");
    }
    for segment in trimmed.split('/') {
        match segment {
            "" => return refused("empty segment"),
            "." | ".." => return refused("relative segment"),
            _ => {}
        }
    }
    Ok(trimmed)
}

/// Like [`normal`], but the empty path is the root.
pub(super) fn folder(path: &str) -> Result<&str> {
    if path.is_empty() { Ok(path) } else { normal(path) }
}

/// Splits into the folder (empty for the root) and the name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The name of the temporary file that becomes `name`.
pub(super) fn temporary(name: &str, uuid: &str) -> String {
    format!(".{name}.{uuid}.tmp")
}

#[cfg(test)]
mod tests {
    use linn_format::ErrorKind;

    use super::*;

    #[test]
    fn paths_cannot_leave_the_root() {
        for bad in ["", "/", "/a", "a//b", "..", "a/../b", "a/..", "./a", "a/.", "a//", "a\0b"] {
            assert_eq!(normal(bad).unwrap_err().kind(), ErrorKind::Invalid, "{bad:?}");
        }
        assert_eq!(normal("db.db/t/dt=2024-01-01/bucket-0/").unwrap(), "db.db/t/dt=2024-01-01/bucket-0");
        assert_eq!(normal("a..b/.hidden").unwrap(), "a..b/.hidden");
        assert_eq!(folder("").unwrap(), "");
        assert!(folder("/").is_err());
    }
}
