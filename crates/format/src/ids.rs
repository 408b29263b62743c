//! Numbers that must not be mistaken for one another.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// The number of a snapshot; the first is 1, and there are no gaps (spec: format.md C.2).
    SnapshotId
}
id! {
    /// The number of a schema of one table; the first is 0 (spec: format.md C.3).
    SchemaId
}

impl SnapshotId {
    /// The first snapshot of a table.
    pub const FIRST: Self = Self(1);

    /// The snapshot after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}
