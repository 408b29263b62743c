//! Names: how they are written.

/// A name as SQL takes it, whatever is in it: in double quotes.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
