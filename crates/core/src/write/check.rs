//! What a batch must be to be written: the table's columns, no nulls where none may be, and a kind for every row.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Int8Array, NullArray, RecordBatch, RecordBatchOptions};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use linn_format::file::resolve::Resolution;
use linn_format::limit::{self, Misfit};
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, RowKind, arrow_schema, has_nanos, narrowed, spelled};
use linn_format::{Error, Result};

use super::absent::{self, Absent};
use crate::merge::MergeSpec;

/// The forms in which timestamps of more than six digits are given, at any depth: nanoseconds and text.
#[derive(Debug)]
struct Forms([(Arc<Field>, Resolution); 2]);

impl Forms {
    /// `None` for columns that are written as they come.
    fn of(field: &DataField) -> Result<Option<Self>> {
        let wide = std::slice::from_ref(field);
        if !has_nanos(wide) {
            return Ok(None);
        }
        let form = |given: Vec<DataField>| -> Result<_> {
            let arrow = arrow_schema(&given)?.fields().iter().next().cloned();
            let arrow = arrow.ok_or_else(|| Error::internal("a column without a type"))?;
            Ok((arrow, Resolution::new(wide, &given)?))
        };
        Ok(Some(Self([form(narrowed(wide))?, form(spelled(wide))?])))
    }

    /// The column as it is written; `None` when it is in neither form.
    fn widen(&self, column: &ArrayRef) -> Option<Result<ArrayRef>> {
        let (field, resolution) = self.0.iter().find(|(f, _)| f.data_type().equals_datatype(column.data_type()))?;
        let convert = || {
            let labelled = arrow_cast::cast(column, field.data_type())?;
            let field = field.as_ref().clone().with_nullable(true);
            let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![labelled])?;
            Ok(Arc::clone(resolution.apply(&batch)?.column(0)))
        };
        Some(convert())
    }
}

/// Checks batches of one table.
#[derive(Debug)]
pub(crate) struct Check {
    schema: TableSchema,
    arrow: SchemaRef,
    /// For each column that is written wide, what it may come as instead.
    wide: Vec<Option<Forms>>,
    kind_column: Option<usize>,
    ignore_delete: bool,
    ignore_update_before: bool,
    /// Whether all rows must be `+I`, as in append tables.
    insert_only: bool,
    /// The merge of a table with a primary key, which may take no retractions.
    merge: Option<MergeSpec>,
    /// Rows that were looked at, for messages.
    seen: u64,
}

impl Check {
    /// Checks for a table.
    ///
    /// # Errors
    /// `Invalid` when `rowkind.field` names no column, or for a bad option value.
    pub(crate) fn new(schema: &TableSchema) -> Result<Self> {
        let options = &schema.options;
        let kind_column = options
            .rowkind_field()
            .map(|name| {
                schema
                    .index_of(name)
                    .ok_or_else(|| Error::invalid("rowkind.field names no column of the table").with("column", name))
            })
            .transpose()?;
        Ok(Self {
            arrow: arrow_schema(&schema.fields)?,
            wide: schema.fields.iter().map(Forms::of).collect::<Result<_>>()?,
            kind_column,
            ignore_delete: options.ignore_delete()?,
            ignore_update_before: options.ignore_update_before()?,
            insert_only: !schema.is_primary_key_table(),
            merge: schema.is_primary_key_table().then(|| MergeSpec::of(schema, &schema.fields)).transpose()?,
            schema: schema.clone(),
            seen: 0,
        })
    }

    /// The batch with the table's columns in order, and the kind of each row; rows that the table ignores are gone.
    ///
    /// # Errors
    /// `Invalid` naming the column (and row) that is wrong.
    pub(crate) fn rows(&mut self, batch: &RecordBatch, kinds: Option<&Int8Array>) -> Result<(RecordBatch, Int8Array)> {
        let (rows, kinds) = self.fitting(batch, kinds)?;
        let rows = self.admitted(&rows, &kinds)?;
        self.seen = self.seen.saturating_add(rows.num_rows() as u64);
        self.drop_ignored(rows, kinds)
    }

    /// The same of rows that the table has stored before: they are taken with the values that they have.
    ///
    /// # Errors
    /// As [`Check::rows`].
    pub(crate) fn stored(&self, batch: &RecordBatch, kinds: Option<&Int8Array>) -> Result<(RecordBatch, Int8Array)> {
        let (rows, kinds) = self.fitting(batch, kinds)?;
        self.drop_ignored(rows, kinds)
    }

    fn fitting(&self, batch: &RecordBatch, kinds: Option<&Int8Array>) -> Result<(RecordBatch, Int8Array)> {
        let rows = RecordBatch::try_new(self.arrow.clone(), self.columns(batch)?)
            .map_err(|e| Error::invalid("the batch does not fit the table").with_source(e))?;
        let kinds = self.kinds_of(&rows, kinds)?;
        Ok((rows, kinds))
    }

    fn kinds_of(&self, rows: &RecordBatch, kinds: Option<&Int8Array>) -> Result<Int8Array> {
        match (self.kind_column, kinds) {
            (Some(column), _) => self.kinds_of_column(rows.column(column)),
            (None, Some(kinds)) => checked_kinds(kinds, rows.num_rows()),
            (None, None) => Ok(Int8Array::from(vec![RowKind::Insert as i8; rows.num_rows()])),
        }
    }

    /// The same of a batch that has some of the table's columns; the others are arrays without values.
    ///
    /// # Errors
    /// As [`rows`](Self::rows); `Invalid` naming a column that must have a value and is not there.
    pub(crate) fn some(&mut self, batch: &RecordBatch, kinds: Option<&Int8Array>) -> Result<(RecordBatch, Int8Array)> {
        if let Some(field) = batch.schema().fields().iter().find(|f| self.schema.field(f.name()).is_none()) {
            return Err(Error::invalid("the table has no such column").with("column", field.name()));
        }
        let rows = absent::with_absent(&self.arrow, self.present(batch)?, batch.num_rows())?;
        let kinds = self.kinds_of(&rows, kinds)?;
        let rows = self.admitted(&rows, &kinds)?;
        self.seen = self.seen.saturating_add(rows.num_rows() as u64);
        self.drop_ignored(rows, kinds)
    }

    /// The columns of the table, in their types.
    pub(crate) fn arrow(&self) -> &SchemaRef {
        &self.arrow
    }

    fn columns(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let given = batch.schema();
        if given.fields().len() != self.schema.fields.len() {
            let (got, want) = (given.fields().len(), self.schema.fields.len());
            return Err(Error::invalid(format!("the batch has {got} columns, the table {want}")));
        }
        if let Some(field) = self.schema.fields.iter().find(|field| batch.column_by_name(&field.name).is_none()) {
            return Err(Error::invalid("the batch lacks a column of the table").with("column", &field.name));
        }
        self.present(batch)
    }

    /// The columns of the table as they are in a batch; those that it lacks have no values.
    fn present(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        self.schema
            .fields
            .iter()
            .zip(self.arrow.fields().iter().zip(&self.wide))
            .map(|(field, (arrow, forms))| {
                let Some(column) = batch.column_by_name(&field.name) else {
                    return match field.data_type.nullable {
                        true => Ok(Arc::new(NullArray::new(batch.num_rows())) as ArrayRef),
                        false => Err(Error::invalid("a NOT NULL column has no value").with("column", &field.name)),
                    };
                };
                if !field.data_type.nullable && column.null_count() > 0 {
                    let row = (0..column.len()).find(|&i| column.is_null(i)).unwrap_or_default();
                    return Err(
                        Error::invalid(format!("null in row {row} of a NOT NULL column")).with("column", &field.name)
                    );
                }
                if column.data_type() == arrow.data_type() {
                    return Ok(column.clone());
                }
                if let Some(wide) = forms.as_ref().and_then(|forms| forms.widen(column)) {
                    return wide;
                }
                // Names and ids of nested fields may differ from the table's; the values must not.
                arrow_cast::cast(column, arrow.data_type())
                    .ok()
                    .filter(|_| column.data_type().equals_datatype(arrow.data_type()))
                    .ok_or_else(|| {
                        let (got, want) = (column.data_type(), arrow.data_type());
                        Error::invalid(format!("the batch has the type {got} where the table has {want}"))
                            .with("column", &field.name)
                    })
            })
            .collect()
    }

    fn kinds_of_column(&self, column: &ArrayRef) -> Result<Int8Array> {
        let words =
            column.as_string_opt::<i32>().ok_or_else(|| Error::invalid("rowkind.field is not a STRING column"))?;
        let kinds = words
            .iter()
            .enumerate()
            .map(|(row, word)| match word {
                Some(word) => RowKind::parse(word).map(|k| k as i8).map_err(|e| e.with("row", row)),
                None => Err(Error::invalid("the row kind column is null").with("row", row)),
            })
            .collect::<Result<Vec<_>>>()
            .map_err(|e| {
                let name = self.schema.options.rowkind_field().unwrap_or_default();
                e.with("column", name).with_hint("'rowkind.field' names the column; write +I, -U, +U or -D there")
            })?;
        Ok(Int8Array::from(kinds))
    }

    fn drop_ignored(&self, rows: RecordBatch, kinds: Int8Array) -> Result<(RecordBatch, Int8Array)> {
        let update_before = RowKind::UpdateBefore as i8;
        let ignored =
            |kind: i8| (self.ignore_delete && kind & 1 == 1) || (self.ignore_update_before && kind == update_before);
        self.only_inserts(&kinds, ignored)?;
        self.no_refused(&rows, &kinds, ignored)?;
        if !kinds.values().iter().any(|k| ignored(*k)) {
            return Ok((rows, kinds));
        }
        let keep = BooleanArray::from_iter(kinds.values().iter().map(|k| Some(!ignored(*k))));
        let kept = arrow_select::filter::filter(&kinds, &keep)?;
        let kinds = kept.as_primitive_opt().ok_or_else(|| Error::internal("filtered row kinds changed their type"))?;
        Ok((arrow_select::filter::filter_record_batch(&rows, &keep)?, kinds.clone()))
    }
}

impl Check {
    /// The rows without digits of seconds that their types have not, when all other values are of their types (see
    /// [`linn_format::limit`]). What a retraction takes back may be what the table should not hold.
    fn admitted(&self, rows: &RecordBatch, kinds: &Int8Array) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(rows.num_columns());
        for (field, column) in self.schema.fields.iter().zip(rows.columns()) {
            if *column.data_type() == ArrowType::Null {
                columns.push(Arc::clone(column));
                continue;
            }
            let column = limit::cut_seconds(column, &field.data_type)?;
            let given = |misfit: &Misfit| kinds.value(misfit.row) & 1 == 0;
            let found = match limit::misfit(&column, &field.data_type) {
                Some(first) if given(&first) => Some(first),
                Some(_) => limit::misfits(&column, &field.data_type).into_iter().find(given),
                None => None,
            };
            if let Some(misfit) = found {
                return Err(self.refusal(&misfit, &field.name, rows));
            }
            columns.push(column);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        Ok(RecordBatch::try_new_with_options(rows.schema(), columns, &options)?)
    }

    fn refusal(&self, misfit: &Misfit, column: &str, rows: &RecordBatch) -> Error {
        let number = self.seen.saturating_add(misfit.row as u64).saturating_add(1);
        let error = Error::invalid(&misfit.what).with("column", misfit.path(column)).with("row", number);
        let value = |name: &String| {
            let text = rows.column_by_name(name).map(|keys| array_value_to_string(keys, misfit.row));
            format!("{name}={}", text.and_then(std::result::Result::ok).unwrap_or_default())
        };
        match self.schema.primary_keys.as_slice() {
            [] => error,
            keys => error.with("key", keys.iter().map(value).collect::<Vec<_>>().join(", ")),
        }
    }

    /// A row that no merge could take would fail every compaction once it is in a file.
    fn no_refused(&self, rows: &RecordBatch, kinds: &Int8Array, ignored: impl Fn(i8) -> bool) -> Result<()> {
        let Some(merge) = &self.merge else { return Ok(()) };
        let retractions = || kinds.values().iter().enumerate().filter(|(_, k)| **k & 1 == 1 && !ignored(**k));
        let refusal = |(row, &kind): (usize, &i8)| {
            merge.refusal(kind).or_else(|| merge.refusal_of_row(kind, rows.columns(), row))
        };
        let Some((row, kind, error)) = retractions().find_map(|(row, kind)| Some((row, *kind, refusal((row, kind))?)))
        else {
            return Ok(());
        };
        let word = RowKind::from_byte(kind.unsigned_abs()).map_or("?", RowKind::short);
        Err(error.with("row", format!("{row} ({word})")))
    }

    /// An append table has no key by which a row could be found again.
    fn only_inserts(&self, kinds: &Int8Array, ignored: impl Fn(i8) -> bool) -> Result<()> {
        let insert = RowKind::Insert as i8;
        let other = kinds.values().iter().position(|k| *k != insert && !ignored(*k));
        let Some(row) = other.filter(|_| self.insert_only) else { return Ok(()) };
        let kind = RowKind::from_byte(kinds.value(row).unsigned_abs()).map_or("?", RowKind::short);
        Err(Error::invalid(format!("row {row} is a {kind}, and a table without primary key takes only +I"))
            .with_hint("write inserts, or give the table a primary key"))
    }
}

fn checked_kinds(kinds: &Int8Array, rows: usize) -> Result<Int8Array> {
    if kinds.len() != rows || kinds.null_count() > 0 {
        return Err(Error::invalid("there must be one row kind for each row"));
    }
    match kinds.values().iter().find(|k| !(0..4).contains(*k)) {
        Some(kind) => Err(Error::invalid(format!("row kind {kind} is not one of 0 to 3"))),
        None => Ok(kinds.clone()),
    }
}

/// A key-value batch: the rows' columns, sequence numbers from `first` on, and the kinds.
pub(crate) fn key_value(
    rows: &RecordBatch,
    absent: &mut Absent,
    kinds: Int8Array,
    first: i64,
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    let count = i64::try_from(rows.num_rows()).unwrap_or(i64::MAX);
    let end =
        first.checked_add(count).ok_or_else(|| Error::invalid("the sequence numbers of a bucket are exhausted"))?;
    let mut columns = absent.filled(rows, schema);
    columns.push(Arc::new(arrow_array::Int64Array::from_iter_values(first..end)));
    columns.push(Arc::new(kinds));
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}
