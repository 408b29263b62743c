//! The table's side of an import: which column of the file goes where, and rows in the types of the table.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, StringArray, new_null_array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use linn::format::types::{DataField, arrow_schema};
use linn::{Error, Result};

use super::Unknown;
use super::chunk::{Bad, Chunk, Wanted};
use super::convert::{convert, convert_all};

/// Where the values of a column come from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    File(usize),
    Default(String),
    Null,
}

/// The columns of a table.
#[derive(Debug)]
pub(crate) struct Target {
    fields: Vec<DataField>,
    schema: SchemaRef,
    unknown: Unknown,
    far: Far,
}

/// Timestamps that nanoseconds do not hold, in columns of nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Far {
    /// Writers take them as text.
    Text,
    /// They do not fit, as they are compared with what is read.
    Misfit,
}

/// A target with the origin of each column.
#[derive(Debug)]
pub(crate) struct Binding<'t> {
    target: &'t Target,
    origins: Vec<Origin>,
}

impl Target {
    /// These columns of a table.
    ///
    /// # Errors
    /// `Unsupported` for a type that has no Arrow type.
    pub(crate) fn new(fields: Vec<DataField>, unknown: Unknown) -> Result<Self> {
        let schema = arrow_schema(&fields)?;
        Ok(Self { fields, schema, unknown, far: Far::Text })
    }

    /// The columns of a primary key among these, in the key's order; what else a file has does not matter.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn keys(fields: &[DataField], keys: &[String]) -> Result<Self> {
        let keys = keys.iter().filter_map(|name| fields.iter().find(|field| field.name == *name)).cloned();
        // A default is for new rows; the key of a row to be found must be given.
        let keys = keys.map(|field| DataField { default_value: None, ..field });
        Ok(Self { far: Far::Misfit, ..Self::new(keys.collect(), Unknown::Ignored)? })
    }

    /// The columns in order, as a file without names has them.
    pub(crate) fn wanted(&self) -> Vec<Wanted> {
        let wanted = |field: &DataField| Wanted { name: field.name.clone(), default: default_of(field) };
        self.fields.iter().map(wanted).collect()
    }

    /// Finds the columns of a file by name.
    ///
    /// # Errors
    /// `Invalid` for columns that the table does not have, unless they are ignored, and for those that must be given but are
    /// not.
    pub(crate) fn bind(&self, file: &SchemaRef) -> Result<Binding<'_>> {
        if self.unknown == Unknown::Refused {
            self.refuse_unknown(file)?;
        }
        let origins = self.fields.iter().map(|field| origin(field, file)).collect::<Result<_>>()?;
        Ok(Binding { target: self, origins })
    }

    fn refuse_unknown(&self, file: &SchemaRef) -> Result<()> {
        let unknown: Vec<&str> = file
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .filter(|name| !self.fields.iter().any(|field| field.name == *name))
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
        Err(Error::invalid("the file has columns that the table does not have")
            .with("columns", unknown.join(", "))
            .with_hint(format!(
                "the table has {}; leave the others out with --ignore-unknown, or add them with `linn table alter --add-column`",
                names.join(", ")
            )))
    }
}

fn origin(field: &DataField, file: &SchemaRef) -> Result<Origin> {
    if let Some((at, _)) = file.column_with_name(&field.name) {
        return Ok(Origin::File(at));
    }
    match default_of(field) {
        Some(text) => Ok(Origin::Default(text)),
        None if field.data_type.nullable => Ok(Origin::Null),
        None => Err(Error::invalid("the file lacks a NOT NULL column").with("column", &field.name)),
    }
}

fn default_of(field: &DataField) -> Option<String> {
    let text = field.default_value.as_deref()?;
    Some(text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).unwrap_or(text).to_owned())
}

impl Binding<'_> {
    /// The rows of a chunk that fit, in the types of the table, and those that do not. Columns with timestamps that nanoseconds do not
    /// hold have these as text.
    ///
    /// # Errors
    /// `Unsupported` for types that cannot be converted.
    pub(crate) fn rows(&self, chunk: Chunk) -> Result<(RecordBatch, Vec<Bad>)> {
        let count = chunk.batch.num_rows();
        // By row, the first column that does not fit: one reason is enough to mend a row.
        let mut bad: BTreeMap<usize, (String, String)> = BTreeMap::new();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.origins.len());
        for ((field, arrow), origin) in self.target.fields.iter().zip(self.target.schema.fields()).zip(&self.origins) {
            let source = match origin {
                Origin::File(at) => Arc::clone(chunk.batch.column(*at)),
                Origin::Default(text) => Arc::new(StringArray::from(vec![text.as_str(); count])),
                Origin::Null => new_null_array(arrow.data_type(), count),
            };
            let convert = match self.target.far {
                Far::Text => convert_all,
                Far::Misfit => convert,
            };
            let (column, misfits) = convert(&source, field, arrow, self.target.unknown)?;
            for (row, reason) in misfits {
                bad.entry(row).or_insert_with(|| (field.name.clone(), reason));
            }
            if !field.data_type.nullable && column.null_count() > 0 {
                for row in (0..count).filter(|row| column.is_null(*row)) {
                    bad.entry(row).or_insert_with(|| (field.name.clone(), "null where none is allowed".to_owned()));
                }
            }
            columns.push(column);
        }
        let batch = self.fitting(columns, count, &bad)?;
        let mut all = chunk.broken;
        for (row, (column, reason)) in bad {
            let number = chunk.rows.get(row).copied().unwrap_or_default();
            let original = chunk.originals.get(row).cloned().unwrap_or_default();
            all.push(Bad { row: number, column: Some(column), reason, original });
        }
        all.sort_by_key(|bad| bad.row);
        Ok((batch, all))
    }

    fn fitting(
        &self,
        columns: Vec<ArrayRef>,
        count: usize,
        bad: &BTreeMap<usize, (String, String)>,
    ) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let fields = self.target.schema.fields().iter().zip(&columns);
        let fields = fields.map(|(f, column)| f.as_ref().clone().with_data_type(column.data_type().clone()));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        if bad.is_empty() {
            return Ok(RecordBatch::try_new_with_options(schema, columns, &options)?);
        }
        let fields: Vec<_> = schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        let loose = Arc::new(Schema::new(fields));
        let all = RecordBatch::try_new_with_options(loose, columns, &options)?;
        let keep: BooleanArray = (0..count).map(|row| Some(!bad.contains_key(&row))).collect();
        let kept = filter_record_batch(&all, &keep)?;
        Ok(RecordBatch::try_new(schema, kept.columns().to_vec())?)
    }
}

#[cfg(test)]
mod tests {
    use linn::format::schema::TableSchema;
    use linn::format::types::DataType;
    use linn::{NewTable, Options};

    use super::*;
    use crate::import::csv::{Dialect, Rows};

    fn target() -> Target {
        let column = |name: &str, sql: &str| DataField::new(0, name, DataType::parse(sql).unwrap());
        let mut with_default = column("d", "INT");
        with_default.default_value = Some("'5'".into());
        let table = NewTable {
            columns: vec![column("k", "INT NOT NULL"), column("v", "INT"), with_default],
            primary_keys: vec!["k".into()],
            options: Options::new(),
            ..NewTable::default()
        };
        Target::new(TableSchema::create(table, 0).unwrap().fields, Unknown::Refused).unwrap()
    }

    fn read(text: &str) -> Result<(RecordBatch, Vec<Bad>)> {
        let dialect = Dialect { delimiter: b',', null: String::new(), names: None, all: Vec::new() };
        let rows = Rows::new(text.as_bytes(), dialect, true)?;
        let schema = Arc::clone(rows.schema());
        target().bind(&schema)?.rows(rows.chunks().next().unwrap()?)
    }

    #[test]
    fn bad_rows_are_named_and_the_others_stay() {
        let (batch, bad) = read("k,v\n1,1\n2,x\n,3\n4\n5,\n").unwrap();
        assert_eq!(batch.num_rows(), 2);
        let named: Vec<_> = bad.iter().map(|b| (b.row, b.column.as_deref(), b.original.as_str())).collect();
        assert_eq!(named, [(2, Some("v"), "2,x"), (3, Some("k"), ",3"), (4, None, "4")]);
        assert_eq!(arrow::util::display::array_value_to_string(batch.column(2), 0).unwrap(), "5");
    }

    #[test]
    fn columns_must_be_known_and_keys_given() {
        assert!(read("k,z\n1,1\n").unwrap_err().to_string().contains("columns: z"));
        assert!(read("v\n1\n").unwrap_err().to_string().contains("column: k"));
    }
}
