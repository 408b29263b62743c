//! File formats exist and hold the columns.

use super::invalid;
use crate::options::Options;
use crate::options::table::file;
use crate::schema::TableSchema;
use crate::types::Kind;
use crate::{Error, Result};

/// Formats of data files.
const FORMATS: &[&str] = &["parquet", "orc", "avro"];

/// Every format that the options name exists and holds the columns.
pub(super) fn formats(schema: &TableSchema) -> Result<()> {
    let options = &schema.options;
    let mut named =
        vec![("file.format", options.file_format()), ("changelog-file.format", options.changelog_file_format())];
    for (_, format) in per_level(options)? {
        named.push(("file.format.per.level", format));
    }
    for (key, format) in named {
        if !FORMATS.contains(&format.as_str()) {
            return Err(Error::unsupported(format!("file format {format:?} of option {key:?}"))
                .with_hint("use parquet, orc or avro"));
        }
        if format == "avro" {
            avro(schema, key)?;
        }
    }
    Ok(())
}

fn per_level(options: &Options) -> Result<Vec<(i32, String)>> {
    let pairs = options.get(&file::FILE_FORMAT_PER_LEVEL)?.unwrap_or_default();
    pairs
        .into_iter()
        .map(|(level, format)| match level.parse() {
            Ok(level) => Ok((level, format.to_lowercase())),
            Err(_) => Err(invalid(
                format!("option \"file.format.per.level\" has {level:?} for a level"),
                "write level:format pairs, such as 0:avro,5:parquet",
            )),
        })
        .collect()
}

/// Avro has timestamps of at most six digits.
fn avro(schema: &TableSchema, key: &str) -> Result<()> {
    for field in &schema.fields {
        let precision = match field.data_type.kind {
            Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => p,
            _ => 0,
        };
        if precision > 6 {
            return Err(invalid(
                format!(
                    "option {key:?} asks for avro, which cannot hold column {:?} of type {}",
                    field.name, field.data_type
                ),
                "use another format, or a precision of at most 6",
            ));
        }
    }
    Ok(())
}
