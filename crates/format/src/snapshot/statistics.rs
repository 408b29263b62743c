//! Statistics files, which `ANALYZE` writes (spec: format.md C.15).

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, Result, SchemaId, SnapshotId, json};

/// What is known of the rows of a table at a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    /// The snapshot whose rows were looked at.
    pub snapshot_id: SnapshotId,
    /// The schema that names the columns; statistics of another schema count for nothing.
    pub schema_id: SchemaId,
    /// Rows that a read returns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_record_count: Option<i64>,
    /// Bytes of these rows, estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_record_size: Option<i64>,
    /// Statistics of columns.
    #[serde(default)]
    pub col_stats: ColumnStatistics,
}

/// Statistics by column name, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnStatistics(pub Vec<(String, ColStats)>);

/// What is known of the values of a column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ColStats {
    /// Field id.
    pub col_id: i32,
    /// Different values, about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct_count: Option<i64>,
    /// Smallest value as text: dates and times as numbers, timestamps as ISO text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<String>,
    /// Largest value as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    /// Nulls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub null_count: Option<i64>,
    /// Length of a value on average, rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avg_len: Option<i64>,
    /// Length of the longest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_len: Option<i64>,
}

impl Statistics {
    /// Parses a statistics file.
    ///
    /// # Errors
    /// `Corrupt` when it is not JSON, or a field that every file has is missing or of another type.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|e| Error::corrupt("not statistics").with_source(e))
    }

    /// The bytes of a statistics file.
    ///
    /// # Errors
    /// None in practice; `Internal` if a value did not serialise.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        json::to_vec(self)
    }

    /// The statistics of the columns alone, as JSON text.
    ///
    /// # Errors
    /// None in practice; `Internal` if a value did not serialise.
    pub fn columns_json(&self) -> Result<String> {
        String::from_utf8(json::to_vec(&self.col_stats)?)
            .map_err(|e| Error::internal("JSON is not text").with_source(e))
    }
}

impl Serialize for ColumnStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, stats) in &self.0 {
            map.serialize_entry(name, stats)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ColumnStatistics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = ColumnStatistics;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("statistics by column")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(ColumnStatistics(all))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(ColumnStatistics::default())
            }
        }

        deserializer.deserialize_any(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_and_written_to_the_byte() {
        let text = "{\n  \"snapshotId\" : 1,\n  \"schemaId\" : 0,\n  \"mergedRecordCount\" : 20,\n  \"colStats\" : {\n    \
                    \"v\" : {\n      \"colId\" : 1,\n      \"distinctCount\" : 20,\n      \"min\" : \"v0\",\n      \
                    \"nullCount\" : 0\n    },\n    \"k\" : {\n      \"colId\" : 0\n    }\n  }\n}";
        let statistics = Statistics::from_json(text.as_bytes()).unwrap();
        assert_eq!(statistics.col_stats.0[0].0, "v");
        assert_eq!((statistics.merged_record_count, statistics.merged_record_size), (Some(20), None));
        assert_eq!(String::from_utf8(statistics.to_json().unwrap()).unwrap(), text);
        let columns = statistics.columns_json().unwrap();
        assert!(columns.starts_with("{\n  \"v\" : {\n    \"colId\" : 1"), "{columns}");
    }

    #[test]
    fn garbled_files_are_corrupt() {
        for text in [
            "",
            "{}",
            "[]",
            "{\"snapshotId\": 1, \"schemaId\": \"x\"}",
            "{\"snapshotId\": 1, \"schemaId\": 0, \"colStats\": 3}",
        ] {
            assert_eq!(Statistics::from_json(text.as_bytes()).unwrap_err().kind(), crate::ErrorKind::Corrupt, "{text}");
        }
    }
}
