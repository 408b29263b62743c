//! The stores behind [`Storage`]: local disk, memory, S3 and what speaks its protocol.
//!
//! Every store creates files exclusively by itself (an exclusive link, a conditional put), or refuses to create: commits
//! rest on that alone (spec: reliability.md H1, H4, H5).

mod faulty;
mod limited;
mod local;
mod memory;
mod object;
mod path;
mod probe;
mod s3;

use std::ops::Range;
use std::sync::Arc;

use linn_format::options::Options;
use linn_format::{Error, Result};

pub use faulty::{Fault, Faulty, Op};
pub(crate) use limited::{IoLimit, Limited};
pub use local::Local;
pub use memory::Memory;
pub use probe::{Trial, Verdict, judge, probe};

use crate::seam::{Storage, SystemClock, SystemIds};

/// Opens the store at a URI: `file:/path` or a plain path, `memory:`, `s3://bucket/prefix` (also `s3a:`, `s3n:`).
///
/// S3 takes `s3.endpoint`, `s3.region`, `s3.access-key`, `s3.secret-key`, `s3.session-token` and `s3.path-style-access`,
/// with dots for dashes and with the prefixes `s3a.` and `fs.s3a.` too; what is not given comes from the environment
/// (`AWS_…`) or from `~/.aws`.
///
/// # Errors
/// `Invalid` for a URI or options that make no sense, `Unsupported` for another scheme.
pub fn open(uri: &str, options: &Options) -> Result<Arc<dyn Storage>> {
    let (scheme, rest) = match uri.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
        _ => ("file", uri),
    };
    match scheme {
        "file" => {
            let path = if rest.starts_with("//") { rest.trim_start_matches('/') } else { rest };
            let path = if rest.starts_with("//") { format!("/{path}") } else { path.to_owned() };
            if path.is_empty() {
                return Err(Error::invalid("a file URI needs a path").with("uri", uri));
            }
            let absolute = std::path::absolute(path)
                .map_err(|e| Error::invalid("the path cannot be made absolute").with("uri", uri).with_source(e))?;
            Ok(Arc::new(Local::new(absolute, Arc::new(SystemIds))))
        }
        "memory" => Ok(Arc::new(Memory::new(Arc::new(SystemClock)))),
        "s3" | "s3a" | "s3n" => s3::open(uri, rest, options),
        other => Err(Error::unsupported(format!("storage scheme {other:?}"))
            .with("uri", uri)
            .with_hint("Linn stores tables under file:, memory: and s3:")),
    }
}

/// Letters, digits and `+-.`, two characters at least: a single letter is more likely a drive.
fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// The error for a range that ends behind the file.
fn short(range: &Range<u64>, size: u64) -> Error {
    Error::corrupt(format!("bytes {}..{} were requested of a file of {size} bytes", range.start, range.end))
}

#[cfg(test)]
mod tests;
