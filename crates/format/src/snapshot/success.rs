//! `_SUCCESS` files: marks of finished partitions and tags (spec: format.md C.15).

use serde::{Deserialize, Serialize};

use crate::{Error, Result, json};

/// When something was marked, first and last, in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SuccessFile {
    /// When it was marked first.
    pub creation_time: i64,
    /// When it was marked last.
    pub modification_time: i64,
}

impl SuccessFile {
    /// The name of such a file.
    pub const NAME: &'static str = "_SUCCESS";

    /// Parses a success file.
    ///
    /// # Errors
    /// `Corrupt` when it is not JSON with the two times.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|e| Error::corrupt("not a success file").with_source(e))
    }

    /// The bytes of a success file.
    ///
    /// # Errors
    /// None in practice; `Internal` if a value did not serialise.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        json::to_vec(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_the_reference_writes() {
        let text = "{\n  \"creationTime\" : 1,\n  \"modificationTime\" : 2\n}";
        let file = SuccessFile::from_json(text.as_bytes()).unwrap();
        assert_eq!(file, SuccessFile { creation_time: 1, modification_time: 2 });
        assert_eq!(file.to_json().unwrap(), text.as_bytes());
        assert!(SuccessFile::from_json(b"{}").is_err());
    }
}
