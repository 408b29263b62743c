//! Whole files as lists of records, whatever their format: Avro, or the ORC and Parquet that older writers could use for
//! manifests (spec: format.md C.4). The format is told by the first bytes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use orc_rust::arrow_reader::ArrowReaderBuilder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::avro::{self, Container, Cursor, Record, Value};
use crate::file::orc::fence as orc_fence;
use crate::file::parquet::fence as parquet_fence;
use crate::{Error, Result};

/// The records of a file.
pub(super) fn read(bytes: &Bytes) -> Result<Vec<Record>> {
    if avro::is_container(bytes) {
        return read_avro(bytes);
    }
    if bytes.starts_with(b"ORC") {
        // The libraries panic over some of the files that they cannot read.
        return orc_fence::fenced(|| read_orc(bytes))?;
    }
    if bytes.starts_with(b"PAR1") {
        return parquet_fence::fenced(|| read_parquet(bytes))?;
    }
    Err(Error::corrupt("neither an avro nor an orc nor a parquet file"))
}

fn read_orc(bytes: &Bytes) -> Result<Vec<Record>> {
    let corrupt = |e| Error::corrupt("not a readable orc file").with_source(e);
    let reader = ArrowReaderBuilder::try_new(bytes.clone()).map_err(corrupt)?.build();
    reader
        .map(|b| b.map_err(|e| Error::corrupt("not a readable orc file").with_source(e)))
        .try_fold(Vec::new(), |records, batch| append(records, &batch?))
}

fn read_parquet(bytes: &Bytes) -> Result<Vec<Record>> {
    let corrupt = |e| Error::corrupt("not a readable parquet file").with_source(e);
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).and_then(|b| b.build()).map_err(corrupt)?;
    reader
        .map(|b| b.map_err(|e| Error::corrupt("not a readable parquet file").with_source(e)))
        .try_fold(Vec::new(), |records, batch| append(records, &batch?))
}

fn read_avro(bytes: &[u8]) -> Result<Vec<Record>> {
    let mut container = Container::open(bytes)?;
    let schema = container.schema().clone();
    let fields = schema.fields()?;
    let (mut records, mut block) = (Vec::new(), Vec::new());
    while let Some(count) = container.block(&mut block)? {
        let mut cursor = Cursor::new(&block);
        for _ in 0..count {
            records.push(Record::read(fields, &mut cursor)?);
        }
        if cursor.remaining() > 0 {
            return Err(Error::corrupt("avro block is longer than its records"));
        }
    }
    Ok(records)
}

fn append(mut records: Vec<Record>, batch: &RecordBatch) -> Result<Vec<Record>> {
    let rows = StructArray::from(batch.clone());
    for row in 0..rows.len() {
        records.push(record(&rows, row)?);
    }
    Ok(records)
}

fn record(rows: &StructArray, row: usize) -> Result<Record> {
    let names: Arc<[String]> = rows.fields().iter().map(|f| f.name().clone()).collect();
    let values = rows.columns().iter().map(|column| value(column, row)).collect::<Result<_>>()?;
    Ok(Record { names, values })
}

fn value(column: &ArrayRef, row: usize) -> Result<Value> {
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match column.data_type() {
        DataType::Int8 => Value::Long(column.as_primitive::<Int8Type>().value(row).into()),
        DataType::Int16 => Value::Long(column.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => Value::Long(column.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => Value::Long(column.as_primitive::<Int64Type>().value(row)),
        DataType::Timestamp(_, _) => {
            let millis = arrow_cast::cast(&column.slice(row, 1), &DataType::Timestamp(TimeUnit::Millisecond, None))?;
            let millis = arrow_cast::cast(&millis, &DataType::Int64)?;
            Value::Long(millis.as_primitive::<Int64Type>().value(0))
        }
        DataType::Utf8 => Value::Bytes(Bytes::copy_from_slice(column.as_string::<i32>().value(row).as_bytes())),
        DataType::Binary => Value::Bytes(Bytes::copy_from_slice(column.as_binary::<i32>().value(row))),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            Value::Array((0..items.len()).map(|i| value(&items, i)).collect::<Result<_>>()?)
        }
        DataType::Struct(_) => Value::Record(record(column.as_struct(), row)?),
        _ => Value::Other,
    })
}
