//! Table options: the declarative table of keys, and typed access (spec: options.md).

use std::collections::BTreeMap;

/// Options as they stand in a schema: keys to text, in key order, unknown keys included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, String>);
