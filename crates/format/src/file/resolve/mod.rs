//! Columns of a file of another schema: found by field id, read under the file's names and types, then cast
//! (spec: format.md C.7; cases F8).
//!
//! A [`Resolution`] is made once for a pair of schemas and applied to every batch. Columns that the file lacks are null;
//! default values are not filled in.

mod step;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::SchemaRef;

use crate::predicate::Predicate;
use crate::types::{DataField, arrow_field};
use crate::{Error, Result, ResultExt};
use step::Step;

/// How columns of one schema come out of files of another.
#[derive(Debug, Clone)]
pub struct Resolution {
    wanted: Vec<DataField>,
    schema: SchemaRef,
    /// What the file is asked for.
    read: Vec<DataField>,
    /// For each wanted column its place in `read` and what happens to it.
    columns: Vec<Option<(usize, Step)>>,
    identity: bool,
}

impl Resolution {
    /// Resolves `wanted` in a file that has the columns `file`, both with the ids of one table.
    ///
    /// # Errors
    /// `Invalid` when a column's type cannot be cast to the wanted one.
    pub fn new(wanted: &[DataField], file: &[DataField]) -> Result<Self> {
        let (mut read, mut columns, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        for field in wanted {
            let arrow = arrow_field(field)?;
            let Some(stored) = file.iter().find(|f| f.id == field.id) else {
                columns.push(None);
                fields.push(arrow.with_nullable(true));
                continue;
            };
            let (asked, step) =
                step::plan(&field.data_type, &stored.data_type, field.id, stored.id).context("column", &field.name)?;
            columns.push(Some((read.len(), step)));
            read.push(DataField { data_type: asked, ..stored.clone() });
            fields.push(arrow);
        }
        let unchanged = |c: &Option<(usize, Step)>| matches!(c, Some((_, Step::Same)));
        let identity = columns.iter().all(unchanged) && wanted.iter().zip(&read).all(|(w, r)| w.name == r.name);
        let schema = Arc::new(arrow_schema::Schema::new(fields));
        Ok(Self { wanted: wanted.to_vec(), schema, read, columns, identity })
    }

    /// What to ask the file for: its own names and types, in the order that [`apply`](Self::apply) expects.
    pub fn file_fields(&self) -> &[DataField] {
        &self.read
    }

    /// The Arrow schema of resolved batches; columns that the file lacks are nullable.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The filter over wanted columns as one over [`file_fields`](Self::file_fields) that keeps at least the same rows, and
    /// whether it keeps no others.
    pub fn predicate(&self, filter: &Predicate) -> (Option<Predicate>, bool) {
        let ids = filter.field_ids();
        let same = |id: &i32| {
            let found = self.wanted.iter().zip(&self.columns).find(|(f, _)| f.id == *id);
            matches!(found, Some((_, Some((_, Step::Same)))))
        };
        if ids.iter().all(same) {
            return (Some(filter.clone()), true);
        }
        let translated = filter.for_file(&self.wanted, &self.read);
        (Some(translated).filter(|p| *p != Predicate::Constant(true)), false)
    }

    /// A batch of [`file_fields`](Self::file_fields) as a batch of the wanted columns.
    ///
    /// # Errors
    /// As the casts of the types: a value that the wanted type cannot hold is `Invalid`.
    pub fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        if self.identity && batch.schema_ref() == &self.schema {
            return Ok(batch.clone());
        }
        let column = |(field, column): (&Arc<arrow_schema::Field>, &Option<(usize, Step)>)| match column {
            None => Ok(new_null_array(field.data_type(), rows)),
            Some((at, step)) => {
                let array =
                    batch.columns().get(*at).ok_or_else(|| Error::internal("a file returned too few columns"))?;
                step.apply(array, field.data_type()).context("column", field.name())
            }
        };
        let columns = self.schema.fields().iter().zip(&self.columns).map(column).collect::<Result<Vec<_>>>()?;
        // The file itself may lack a column that its schema has, as nulls then.
        let nulls = self.schema.fields().iter().zip(&columns).any(|(f, c)| !f.is_nullable() && c.null_count() > 0);
        let schema = if nulls { nullable(&self.schema, &columns) } else { Arc::clone(&self.schema) };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
    }
}

fn nullable(schema: &SchemaRef, columns: &[arrow_array::ArrayRef]) -> SchemaRef {
    let field = |(field, column): (&Arc<arrow_schema::Field>, &arrow_array::ArrayRef)| {
        field.as_ref().clone().with_nullable(field.is_nullable() || column.null_count() > 0)
    };
    let fields: Vec<_> = schema.fields().iter().zip(columns).map(field).collect();
    Arc::new(arrow_schema::Schema::new(fields))
}
