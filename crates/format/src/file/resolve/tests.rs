//! Columns are found by field id, through renames, moves, nesting and casts.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as Arrow;

use super::*;
use crate::datum::Datum;
use crate::predicate::CompareOp;
use crate::types::{DataType, Kind, arrow_schema, arrow_type};

fn field(id: i32, name: &str, kind: Kind) -> DataField {
    DataField::new(id, name, DataType::nullable(kind))
}

fn list(kind: Kind) -> Kind {
    Kind::Array(Box::new(DataType::nullable(kind)))
}

fn struct_of(fields: &[DataField], columns: Vec<ArrayRef>, nulls: Option<NullBuffer>) -> ArrayRef {
    let Arrow::Struct(arrow) = arrow_type(&DataType::nullable(Kind::Row(fields.to_vec()))).unwrap() else { panic!() };
    Arc::new(StructArray::new(arrow, columns, nulls))
}

fn batch(fields: &[DataField], columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(arrow_schema(fields).unwrap(), columns).unwrap()
}

#[test]
fn the_same_schema_passes_batches_through() {
    let fields = [field(0, "a", Kind::Int), field(1, "b", list(Kind::Int))];
    let resolution = Resolution::new(&fields, &fields).unwrap();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2])),
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)]), None])),
    ];
    let list = arrow_schema(&fields).unwrap().field(1).data_type().clone();
    let relabelled = arrow_array::make_array(columns[1].to_data().into_builder().data_type(list).build().unwrap());
    let batch = batch(&fields, vec![columns[0].clone(), relabelled]);
    assert_eq!(resolution.apply(&batch).unwrap(), batch);
    assert_eq!(resolution.file_fields(), fields);
}

#[test]
fn columns_are_found_by_id_renamed_reordered_cast_and_missing() {
    let file = [field(0, "old", Kind::Int), field(1, "gone", Kind::Int), field(2, "c", Kind::Varchar(5))];
    let wanted = [field(7, "added", Kind::Varchar(3)), field(2, "c", Kind::Varchar(9)), field(0, "new", Kind::BigInt)];
    let resolution = Resolution::new(&wanted, &file).unwrap();
    assert_eq!(resolution.file_fields(), [file[2].clone(), file[0].clone()]);
    let c: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None]));
    let old: ArrayRef = Arc::new(Int32Array::from(vec![Some(5), None]));
    let got = resolution.apply(&batch(resolution.file_fields(), vec![c.clone(), old])).unwrap();
    assert_eq!(got.schema().fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>(), ["added", "c", "new"]);
    assert_eq!(got.column(0).null_count(), 2);
    assert_eq!(got.column(1), &c);
    assert_eq!(got.column(2).as_primitive::<Int64Type>(), &Int64Array::from(vec![Some(5), None]));
}

#[test]
fn fields_of_rows_inside_arrays_are_found_by_id() {
    let inner = [field(2, "x", Kind::Int), field(3, "y", Kind::Varchar(9))];
    let newer = [field(3, "why", Kind::Varchar(9)), field(4, "z", Kind::Int), field(2, "x", Kind::BigInt)];
    let file = [field(1, "a", list(Kind::Row(inner.to_vec())))];
    let wanted = [field(1, "a", list(Kind::Row(newer.to_vec())))];
    let resolution = Resolution::new(&wanted, &file).unwrap();

    let y: ArrayRef = Arc::new(StringArray::from(vec![Some("p"), Some("q"), None]));
    let x: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, None]));
    // What the file is asked for has the fields in the wanted order under the file's names.
    let Kind::Array(element) = &resolution.file_fields()[0].data_type.kind else { panic!() };
    let Kind::Row(asked) = &element.kind else { panic!() };
    assert_eq!(asked.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["y", "x"]);
    let nulls = Some(NullBuffer::from(vec![true, true, false]));
    let rows = struct_of(asked, vec![y, x], nulls.clone());
    let schema = arrow_schema(resolution.file_fields()).unwrap();
    let Arrow::List(element) = schema.field(0).data_type() else { panic!() };
    let list: ArrayRef = Arc::new(ListArray::new(element.clone(), OffsetBuffer::from_lengths([1, 2]), rows, None));
    let got = resolution.apply(&RecordBatch::try_new(schema, vec![list]).unwrap()).unwrap();
    let rows = got.column(0).as_list::<i32>().values().as_struct().clone();
    assert_eq!(rows.column_names(), ["why", "z", "x"]);
    assert_eq!(rows.column(1).null_count(), 3);
    assert_eq!(rows.column(2).as_primitive::<Int64Type>(), &Int64Array::from(vec![Some(1), None, None]));
    assert_eq!(rows.nulls(), nulls.as_ref());
}

#[test]
fn a_row_whose_fields_were_all_replaced_keeps_its_nulls() {
    let file = [field(0, "r", Kind::Row(vec![field(1, "x", Kind::Int)]))];
    let wanted = [field(0, "r", Kind::Row(vec![field(2, "y", Kind::Int)]))];
    let resolution = Resolution::new(&wanted, &file).unwrap();
    let Kind::Row(asked) = &resolution.file_fields()[0].data_type.kind else { panic!() };
    let x: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let row = struct_of(asked, vec![x], Some(NullBuffer::from(vec![true, false])));
    let got = resolution.apply(&batch(resolution.file_fields(), vec![row])).unwrap();
    let row = got.column(0).as_struct();
    assert_eq!((row.null_count(), row.column(0).null_count()), (1, 2));
}

#[test]
fn predicates_are_exact_only_over_unchanged_columns() {
    let file = [field(0, "a", Kind::Int), field(1, "b", Kind::Int)];
    let wanted = [field(0, "a", Kind::BigInt), field(1, "b", Kind::Int)];
    let resolution = Resolution::new(&wanted, &file).unwrap();
    let compare = |field_id, literal| Predicate::Compare { field_id, op: CompareOp::Gt, literal };
    let b = compare(1, Datum::Int(3));
    assert_eq!(resolution.predicate(&b), (Some(b.clone()), true));
    let a = compare(0, Datum::BigInt(3));
    assert_eq!(resolution.predicate(&a), (Some(compare(0, Datum::Int(3))), false));
    // No INT is compared with a literal beyond INT.
    let beyond = compare(0, Datum::BigInt(1 << 40));
    let both = Predicate::And(vec![beyond.clone(), b.clone()]);
    assert_eq!(resolution.predicate(&beyond), (None, false));
    assert_eq!(resolution.predicate(&both), (Some(b), false));
}
