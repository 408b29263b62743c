//! What can be said about a file: its format, and how its text is to be read or written.

use linn::format::suggest::did_you_mean;
use linn::format::types::{DataField, DataType};
use linn::{Error, Result};

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// Parquet.
    Parquet,
    /// Text with delimiters.
    Csv,
    /// JSON, an object after the other or a list of them.
    Json,
    /// Arrow IPC.
    Arrow,
    /// ORC.
    Orc,
    /// Avro object container files.
    Avro,
}

/// How bytes are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Not at all.
    Plain,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

/// The options of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileOptions {
    /// The format; told by the name when `None`.
    pub(crate) format: Option<FileFormat>,
    /// Whether the first line has names.
    pub(crate) header: bool,
    /// Between fields; told by the name when `None`.
    pub(crate) delimiter: Option<u8>,
    /// Around fields.
    pub(crate) quote: u8,
    /// Before a quote inside of quotes; the quote itself when `None`.
    pub(crate) escape: Option<u8>,
    /// What stands for null, unquoted.
    pub(crate) null: String,
    /// How it is packed, as its value says; told by the name when `None`.
    pub(crate) compression: Option<String>,
    /// Level of the compression of Parquet.
    pub(crate) level: Option<i32>,
    /// Columns and their types; found out when empty.
    pub(crate) columns: Vec<DataField>,
    /// Rows that are looked at to find out types; `None` for all.
    pub(crate) sample: Option<usize>,
    /// Whether every column is read as text.
    pub(crate) texts: bool,
    /// Whether JSON is written as a list.
    pub(crate) array: bool,
    /// Rows of a row group of Parquet.
    pub(crate) group: Option<usize>,
}

/// Rows that are looked at to find out types.
const SAMPLE: usize = 20_480;

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            format: None,
            header: true,
            delimiter: None,
            quote: b'"',
            escape: None,
            null: String::new(),
            compression: None,
            level: None,
            columns: Vec::new(),
            sample: Some(SAMPLE),
            texts: false,
            array: false,
            group: None,
        }
    }
}

/// All options, for suggestions.
const KEYS: [&str; 18] = [
    "format",
    "header",
    "delimiter",
    "delim",
    "sep",
    "quote",
    "escape",
    "null",
    "nullstr",
    "compression",
    "compression_level",
    "columns",
    "sample_size",
    "all_varchar",
    "array",
    "row_group_size",
    "types",
    "level",
];

impl FileFormat {
    /// The format of a name such as `csv`.
    ///
    /// # Errors
    /// `Unsupported` for another.
    pub(crate) fn parse(name: &str) -> Result<Self> {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "parquet" => Ok(Self::Parquet),
            "csv" | "tsv" | "text" => Ok(Self::Csv),
            "json" | "ndjson" | "jsonl" => Ok(Self::Json),
            "arrow" | "ipc" | "feather" => Ok(Self::Arrow),
            "orc" => Ok(Self::Orc),
            "avro" => Ok(Self::Avro),
            other => {
                let hint = did_you_mean(other, ["parquet", "csv", "json", "arrow", "orc", "avro"]);
                let hint = hint.unwrap_or_else(|| "formats are parquet, csv, json, arrow, orc and avro".to_owned());
                Err(Error::unsupported(format!("files of format {other}")).with_hint(hint))
            }
        }
    }

    /// The format that the name of a file tells.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let name = [".gz", ".zst", ".zstd"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "parquet" | "pq" => Some(Self::Parquet),
            "csv" | "tsv" | "tab" | "psv" => Some(Self::Csv),
            "json" | "ndjson" | "jsonl" | "geojson" => Some(Self::Json),
            "arrow" | "ipc" | "feather" => Some(Self::Arrow),
            "orc" => Some(Self::Orc),
            "avro" => Some(Self::Avro),
            _ => None,
        }
    }
}

impl FileOptions {
    /// Sets one option.
    ///
    /// # Errors
    /// `Invalid` for a key that is no option, or a value that it cannot have.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "format" => {
                self.format = Some(FileFormat::parse(value)?);
                if value.eq_ignore_ascii_case("tsv") {
                    self.delimiter = Some(b'\t');
                }
            }
            "header" => self.header = boolean(key, value)?,
            "delimiter" | "delim" | "sep" => self.delimiter = Some(byte(key, value)?),
            "quote" => self.quote = byte(key, value)?,
            "escape" => self.escape = Some(byte(key, value)?),
            "null" | "nullstr" => value.clone_into(&mut self.null),
            "compression" | "codec" => self.compression = Some(value.to_ascii_lowercase()),
            "compression_level" | "level" => self.level = Some(number(key, value)?),
            "sample_size" => {
                let rows: i64 = number(key, value)?;
                self.sample = usize::try_from(rows).ok();
            }
            "all_varchar" => self.texts = boolean(key, value)?,
            "array" => self.array = boolean(key, value)?,
            "row_group_size" => self.group = Some(number(key, value)?),
            _ => {
                let hint = did_you_mean(key, KEYS).unwrap_or_else(|| format!("options are {}", KEYS.join(", ")));
                return Err(Error::invalid(format!("unknown option '{key}' of files")).with_hint(hint));
            }
        }
        Ok(())
    }

    /// Sets a column's type, given as SQL.
    ///
    /// # Errors
    /// What is wrong with the type.
    pub(crate) fn set_column(&mut self, name: &str, sql: &str) -> Result<()> {
        let data_type = DataType::parse(sql).map_err(|e| e.with("column", name))?;
        let id = i32::try_from(self.columns.len()).unwrap_or(i32::MAX);
        self.columns.push(DataField::new(id, name, data_type));
        Ok(())
    }

    /// The byte between fields of a file.
    pub(super) fn delimiter(&self, path: &str) -> u8 {
        let path = path.to_ascii_lowercase();
        self.delimiter.unwrap_or(match path {
            path if path.contains(".tsv") || path.contains(".tab") => b'\t',
            path if path.contains(".psv") => b'|',
            _ => b',',
        })
    }

    /// How the bytes of a text file are packed.
    ///
    /// # Errors
    /// `Unsupported` for another packing.
    pub(super) fn packing(&self, path: &str) -> Result<Packing> {
        match self.compression.as_deref() {
            None | Some("auto") => Ok(match path.rsplit('.').next() {
                Some("gz") => Packing::Gzip,
                Some("zst" | "zstd") => Packing::Zstd,
                _ => Packing::Plain,
            }),
            Some("none" | "uncompressed") => Ok(Packing::Plain),
            Some("gzip" | "gz") => Ok(Packing::Gzip),
            Some("zstd" | "zst") => Ok(Packing::Zstd),
            Some(other) => Err(Error::unsupported(format!("compression {other} of text files"))
                .with_hint("compressions are none, gzip and zstd")),
        }
    }
}

fn boolean(key: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err(Error::invalid(format!("option {key} is '{value}', not true or false"))),
    }
}

fn byte(key: &str, value: &str) -> Result<u8> {
    match value {
        "\\t" | "tab" => Ok(b'\t'),
        _ => match value.as_bytes() {
            [one] => Ok(*one),
            _ => Err(Error::invalid(format!("option {key} is '{value}', not one character"))),
        },
    }
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T> {
    value.trim().parse().map_err(|_| Error::invalid(format!("option {key} is '{value}', not a number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        for (path, expected) in [
            ("a/b.parquet", Some(FileFormat::Parquet)),
            ("a/b.CSV.gz", Some(FileFormat::Csv)),
            ("s3://x/y.jsonl.zst", Some(FileFormat::Json)),
            ("a.ORC", Some(FileFormat::Orc)),
            ("a.avro", Some(FileFormat::Avro)),
            ("a.b/c", None),
            ("gz", None),
        ] {
            assert_eq!(FileFormat::of_path(path), expected, "{path}");
        }
    }

    #[test]
    fn slips_are_named() {
        let mut options = FileOptions::default();
        let error = options.set("delimeter", "|").unwrap_err();
        assert_eq!(error.hint(), Some("did you mean delimiter?"));
        assert!(options.set("header", "perhaps").is_err());
        assert!(options.set("delimiter", "||").is_err());
        options.set("sep", "\\t").unwrap();
        assert_eq!(options.delimiter("x.csv"), b'\t');
    }
}
