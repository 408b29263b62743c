//! Which of several blob files a row's value comes from.

use arrow_array::cast::AsArray;
use futures::TryStreamExt;
use linn_format::ErrorKind;
use linn_format::types::DataType;

use super::*;
use crate::fixture;

/// What a file has for a row.
#[derive(Clone, Copy)]
enum Put {
    Null,
    Older,
    Value(&'static str),
}
use Put::{Null, Older, Value};

/// A blob file as the reference writes it.
fn encoded(puts: &[Put]) -> Vec<u8> {
    let (mut out, mut index, mut last) = (Vec::new(), Vec::new(), 0i64);
    for put in puts {
        let length = match put {
            Null => -1,
            Older => -2,
            Value(text) => {
                let mut entry = 1_481_511_375_u32.to_le_bytes().to_vec();
                entry.extend_from_slice(text.as_bytes());
                entry.extend_from_slice(&(entry.len() as u64 + 12).to_le_bytes());
                entry.extend_from_slice(&crc32(&entry).to_le_bytes());
                out.extend_from_slice(&entry);
                entry.len() as i64
            }
        };
        let mut zigzag = ((length - last) << 1 ^ (length - last) >> 63).cast_unsigned();
        last = length;
        while zigzag >= 0x80 {
            index.push(zigzag as u8 | 0x80);
            zigzag >>= 7;
        }
        index.push(zigzag as u8);
    }
    out.extend_from_slice(&index);
    out.extend_from_slice(&(index.len() as u32).to_le_bytes());
    out.push(1);
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

/// The column of rows 100 to 104, from files of (first row id, sequence number, entries).
fn read(files: &[(i64, i64, &[Put])], options: &[(&str, &str)], batch_size: usize) -> Result<Vec<Option<String>>> {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let table = fixture::table(fixture::memory(), fixture::schema(false, false, options)).await;
        let mut metas = Vec::new();
        for (i, (first, sequence, puts)) in files.iter().enumerate() {
            let bytes = encoded(puts);
            let mut meta = (*fixture::file(&format!("{i}.blob"), 0, None)).clone();
            (meta.first_row_id, meta.max_sequence_number) = (Some(*first), *sequence);
            (meta.row_count, meta.file_size) = (puts.len() as i64, bytes.len() as i64);
            let path = place_of(&table, &BinaryRow::empty(), 0, &meta)?.path;
            table.storage().put(&path, bytes.into()).await?;
            metas.push(Arc::new(meta));
        }
        let field = DataField::new(1, "b", DataType::nullable(Kind::Blob));
        let batches = stream(&table, &BinaryRow::empty(), 0, &field, &metas, 100..105, batch_size).await?;
        let batches: Vec<RecordBatch> = batches.try_collect().await?;
        let rows = batches.iter().flat_map(|batch| {
            assert!(batch.num_rows() <= batch_size);
            let column = batch.column(0).as_binary::<i32>();
            column.iter().map(|v| v.map(|v| String::from_utf8_lossy(v).into_owned())).collect::<Vec<_>>()
        });
        Ok(rows.collect())
    })
}

#[test]
fn the_newest_value_wins_and_placeholders_leave_it_to_older_files() {
    let files: &[(i64, i64, &[Put])] = &[
        (102, 3, &[Older, Null]),
        (100, 1, &[Value("a"), Value("b")]),
        (102, 1, &[Value("c"), Value("d"), Older]),
        (100, 2, &[Older, Value("B")]),
    ];
    let expected = [Some("a"), Some("B"), Some("c"), None, None].map(|v| v.map(str::to_owned));
    assert_eq!(read(files, &[], 100).unwrap(), expected);
    assert_eq!(read(files, &[], 2).unwrap(), expected);
}

#[test]
fn descriptors_say_where_values_lie() {
    let found = read(&[(100, 1, &[Value("abc"), Null])], &[("blob-as-descriptor", "true")], 100).unwrap();
    let descriptor = found[0].as_ref().unwrap();
    assert!(descriptor.contains("CSEDBOLB") && descriptor.contains("/bucket-0/0.blob"), "{descriptor}");
    assert_eq!(descriptor.as_bytes()[descriptor.len() - 16..], [4, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(found[1], None);
}

#[test]
fn files_of_other_rows_are_corrupt() {
    let e = read(&[(104, 1, &[Value("a"), Value("b")])], &[], 100).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Corrupt);
}
