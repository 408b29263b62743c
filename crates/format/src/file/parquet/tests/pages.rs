//! Pages that pass through here are, but for their checksums, byte by byte those of the library; and with these no flipped bit of
//! a page becomes another value.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray};
use bytes::Bytes;
use parquet::file::metadata::{ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{Memory, Sink, file_read, plainly, read};
use crate::ErrorKind;
use crate::file::FileWriter;
use crate::file::parquet::pages::{Fields, ONE_FIELD};
use crate::file::parquet::write::Writer;
use crate::options::Options;
use crate::types::{DataField, DataType, arrow_schema};

fn fields() -> Vec<DataField> {
    let columns = ["BIGINT NOT NULL", "STRING", "STRING", "DOUBLE", "TIMESTAMP(9)", "ARRAY<STRING>", "ARRAY<INT>"];
    (0..).zip(columns).map(|(id, sql)| DataField::new(id, format!("c{id}"), DataType::parse(sql).unwrap())).collect()
}

/// Rows of which every n-th value is null, strings repeat or do not.
fn batch(rows: i64, nulls: i64, from: i64) -> RecordBatch {
    let some = |i: i64| i % nulls != 0;
    let mix = |i: i64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 20;
    let mut words = ListBuilder::new(StringBuilder::new());
    let mut numbers = ListBuilder::new(Int32Builder::new());
    for i in from..from + rows {
        (0..i % 3).for_each(|n| words.values().append_value(format!("word-{}", mix(i + n) % 500)));
        words.append(some(i));
        (0..i % 4).for_each(|n| numbers.values().append_option(some(n + i).then_some(mix(i) as i32)));
        numbers.append(true);
    }
    let range = || from..from + rows;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(range())),
        Arc::new(StringArray::from_iter(range().map(|i| some(i).then(|| format!("city-{}", mix(i) % 90))))),
        Arc::new(StringArray::from_iter(range().map(|i| some(i + 1).then(|| format!("value-{}", mix(i)))))),
        Arc::new(Float64Array::from_iter(range().map(|i| some(i).then_some(mix(i) as f64)))),
        Arc::new(TimestampNanosecondArray::from_iter(range().map(|i| some(i).then_some(i * 1_000_000_007)))),
        Arc::new(words.finish()),
        Arc::new(numbers.finish()),
    ];
    let schema = arrow_schema(&fields()).unwrap();
    let columns = columns.iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| arrow_cast::cast(column, field.data_type()).unwrap()).collect();
    RecordBatch::try_new(schema, columns).unwrap()
}

/// How a file is written.
#[derive(Debug, Clone)]
struct Layout {
    sizes: Vec<i64>,
    nulls: i64,
    options: Vec<(&'static str, &'static str)>,
    searched: bool,
}

fn any_how() -> impl Strategy<Value = Layout> {
    let options = vec![
        ("parquet.page.size", "4 kb"),
        ("parquet.page.row.count.limit", "700"),
        ("parquet.dictionary.page.size", "1 kb"),
        ("parquet.enable.dictionary", "false"),
        ("parquet.bloom.filter.enabled#c1", "true"),
        ("file.compression.zstd-level", "3"),
        ("parquet.block.row.count.limit", "2000"),
        ("parquet.writer.version", "v2"),
    ];
    let options = prop::sample::subsequence(options, 0..=4);
    let codec = prop::sample::select(vec!["zstd", "zstd", "none", "snappy", "gzip", "lz4_raw", "brotli"]);
    (prop::collection::vec(0_i64..6000, 1..4), 1_i64..40, options, codec, any::<bool>()).prop_map(
        |(sizes, nulls, mut options, codec, searched)| {
            options.push(("parquet.compression", codec));
            Layout { sizes, nulls, options, searched }
        },
    )
}

impl Layout {
    fn written(&self, here: bool) -> Vec<u8> {
        let sink = Sink::default();
        let options: Options = self.options.iter().copied().collect();
        let write = crate::file::FileWrite { options, searched: self.searched, ..plainly(&fields(), "zstd") };
        let mut writer = Writer::paging(write, Box::new(sink.clone()), here).unwrap();
        for (rows, from) in self.sizes.iter().zip([0, 10_000, 20_000]) {
            writer.write(&batch(*rows, self.nulls, from)).unwrap();
        }
        Box::new(writer).finish().unwrap();
        std::mem::take(&mut *sink.0.lock().unwrap())
    }
}

/// A page, and where it is in the file.
struct Page {
    group: usize,
    column: String,
    header: Range<usize>,
    body: Range<usize>,
}

/// The footer of a file, and its pages by the page index.
fn pages(file: &[u8]) -> (ParquetMetaData, Vec<Page>) {
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = reader.parse_and_finish(&Bytes::copy_from_slice(file)).unwrap();
    let mut pages = Vec::new();
    for (group, chunks) in metadata.row_groups().iter().enumerate() {
        for (leaf, chunk) in chunks.columns().iter().enumerate() {
            let locations = metadata.offset_index().unwrap()[group][leaf].page_locations();
            let mut starts: Vec<i64> = chunk.dictionary_page_offset().into_iter().collect();
            starts.extend(locations.iter().map(|location| location.offset));
            starts.push(chunk.byte_range().0 as i64 + chunk.compressed_size());
            for ends in starts.windows(2) {
                let (start, end) = (ends[0] as usize, ends[1] as usize);
                let mut header = Fields(&file[start..end]);
                let size = (0..3).filter_map(|_| header.next_i32()).last().unwrap() as usize;
                let column = chunk.column_path().string();
                pages.push(Page { group, column, header: start..end - size, body: end - size..end });
            }
        }
    }
    (metadata, pages)
}

/// A header without the checksum, and that.
fn parted(header: &[u8]) -> (Vec<u8>, u32) {
    let mut fields = Fields(header);
    (0..3).for_each(|_| assert!(fields.next_i32().is_some()));
    let mut rest = header[..header.len() - fields.0.len()].to_vec();
    let checksum = fields.next_i32().unwrap().cast_unsigned();
    rest.push(fields.0[0] + ONE_FIELD);
    rest.extend_from_slice(&fields.0[1..]);
    (rest, checksum)
}

/// What is known of a column chunk but for sizes and places.
fn placeless(chunk: &ColumnChunkMetaData) -> ColumnChunkMetaData {
    let chunk = chunk.clone().into_builder().set_data_page_offset(0).set_dictionary_page_offset(None);
    let chunk = chunk.set_total_compressed_size(0).set_total_uncompressed_size(0).set_bloom_filter_offset(None);
    let chunk = chunk.set_column_index_offset(None).set_column_index_length(None);
    chunk.set_offset_index_offset(None).set_offset_index_length(None).build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn pages_are_those_of_the_library_with_checksums(how in any_how()) {
        let (ours, theirs) = (how.written(true), how.written(false));
        let ((our, our_pages), (their, their_pages)) = (pages(&ours), pages(&theirs));
        prop_assert_eq!(our_pages.len(), their_pages.len());
        let mut longer = 0;
        for (our, their) in our_pages.iter().zip(&their_pages) {
            let (header, checksum) = parted(&ours[our.header.clone()]);
            prop_assert_eq!(&header, &theirs[their.header.clone()]);
            prop_assert!(ours[our.body.clone()] == theirs[their.body.clone()]);
            prop_assert_eq!(checksum, crc32fast::hash(&ours[our.body.clone()]));
            longer += our.header.len() as i64 - their.header.len() as i64;
        }
        prop_assert_eq!(our.column_index(), their.column_index());
        let chunks = |metadata: &ParquetMetaData| -> Vec<ColumnChunkMetaData> {
            metadata.row_groups().iter().flat_map(|group| group.columns().to_vec()).collect()
        };
        for (our, their) in chunks(&our).iter().zip(&chunks(&their)) {
            longer -= our.compressed_size() - their.compressed_size();
            prop_assert_eq!(
                our.compressed_size() - their.compressed_size(),
                our.uncompressed_size() - their.uncompressed_size()
            );
            prop_assert_eq!(placeless(our), placeless(their));
        }
        prop_assert_eq!(longer, 0);
    }

    #[test]
    fn a_flipped_bit_of_a_page_is_found(how in any_how(), flips: [(Index, Index); 8]) {
        let file = how.written(true);
        let pages = pages(&file).1;
        prop_assume!(!pages.is_empty());
        for (page, bit) in flips {
            let page = page.get(&pages);
            if page.body.is_empty() {
                continue;
            }
            let bit = bit.index(page.body.len() * 8);
            let mut flipped = file.clone();
            flipped[page.body.start + bit / 8] ^= 1 << (bit % 8);
            let error = read(&Memory::new(flipped), file_read(&fields())).unwrap_err();
            prop_assert_eq!(error.kind(), ErrorKind::Corrupt);
            let place = [("row group", page.group.to_string()), ("column", page.column.clone())];
            prop_assert!(place.iter().all(|pair| error.context().contains(pair)), "{error} at {place:?}");
        }
    }
}
