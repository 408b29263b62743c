//! The fields of an entry, each with its place in a decoded row.

/// A number; the discriminant is its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Num {
    Version,
    Kind,
    Bucket,
    TotalBuckets,
    FileSize,
    RowCount,
    MinSequence,
    MaxSequence,
    SchemaId,
    Level,
    CreationTime,
    DeleteRows,
    Source,
    FirstRowId,
}

/// How many numbers an entry has.
pub(super) const NUMS: usize = Num::FirstRowId as usize + 1;

/// A variable part; the discriminant is its place. The first ones are stored with every entry, from
/// [`Var::ExtraFiles`] on they are rare and stored only where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Var {
    FileName,
    MinKey,
    MaxKey,
    KeyMin,
    KeyMax,
    KeyNulls,
    ValueMin,
    ValueMax,
    ValueNulls,
    ExtraFiles,
    EmbeddedIndex,
    ValueStatsCols,
    ExternalPath,
    WriteCols,
    WriteColsSequences,
    Partition,
}

/// How many variable parts an entry has.
pub(super) const VARS: usize = Var::Partition as usize + 1;
/// How many are stored with every entry.
pub(super) const COMMON: usize = Var::ExtraFiles as usize;
/// Numbers without which there is no entry.
pub(super) const REQUIRED_NUMS: [Num; 10] = [
    Num::Version,
    Num::Kind,
    Num::Bucket,
    Num::TotalBuckets,
    Num::FileSize,
    Num::RowCount,
    Num::MinSequence,
    Num::MaxSequence,
    Num::SchemaId,
    Num::Level,
];
/// Variable parts without which there is no entry.
pub(super) const REQUIRED_VARS: [Var; 8] =
    [Var::Partition, Var::FileName, Var::MinKey, Var::MaxKey, Var::KeyMin, Var::KeyMax, Var::ValueMin, Var::ValueMax];

/// One entry on its way from the file's block into a batch: numbers, and where the variable parts lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) nums: [i64; NUMS],
    /// Bit `n` says that number `n` is there.
    pub(super) has_num: u32,
    /// Text and bytes as they are; lists as Avro arrays, counts and end included.
    pub(super) vars: [&'a [u8]; VARS],
    /// Bit `n` says that variable part `n` is there.
    pub(super) has_var: u32,
}

impl<'a> Row<'a> {
    pub(super) const EMPTY: Self = Self { nums: [0; NUMS], has_num: 0, vars: [&[]; VARS], has_var: 0 };

    #[inline]
    pub(super) fn put_num(&mut self, num: Num, value: i64) {
        self.nums[num as usize] = value;
        self.has_num |= 1 << num as u8;
    }

    #[inline]
    pub(super) fn put_var(&mut self, var: Var, value: &'a [u8]) {
        self.vars[var as usize] = value;
        self.has_var |= 1 << var as u8;
    }

    #[inline]
    pub(super) fn num(&self, num: Num) -> i64 {
        self.nums[num as usize]
    }

    #[inline]
    pub(super) fn var(&self, var: Var) -> Option<&'a [u8]> {
        (self.has_var & (1 << var as u8) != 0).then(|| self.vars[var as usize])
    }
}

/// Field names, dotted from the root, and what they fill.
pub(super) enum Field {
    Num(Num),
    Text(Var),
    Bytes(Var),
    /// A list of numbers, or of text.
    Longs(Var),
    Texts(Var),
}

/// What the field of this path fills; `None` for fields that Linn does not know.
pub(super) fn field(path: &str) -> Option<Field> {
    Some(match path {
        "_VERSION" => Field::Num(Num::Version),
        "_KIND" => Field::Num(Num::Kind),
        "_PARTITION" => Field::Bytes(Var::Partition),
        "_BUCKET" => Field::Num(Num::Bucket),
        "_TOTAL_BUCKETS" => Field::Num(Num::TotalBuckets),
        "_FILE._FILE_NAME" => Field::Text(Var::FileName),
        "_FILE._FILE_SIZE" => Field::Num(Num::FileSize),
        "_FILE._ROW_COUNT" => Field::Num(Num::RowCount),
        "_FILE._MIN_KEY" => Field::Bytes(Var::MinKey),
        "_FILE._MAX_KEY" => Field::Bytes(Var::MaxKey),
        "_FILE._KEY_STATS._MIN_VALUES" => Field::Bytes(Var::KeyMin),
        "_FILE._KEY_STATS._MAX_VALUES" => Field::Bytes(Var::KeyMax),
        "_FILE._KEY_STATS._NULL_COUNTS" => Field::Longs(Var::KeyNulls),
        "_FILE._VALUE_STATS._MIN_VALUES" => Field::Bytes(Var::ValueMin),
        "_FILE._VALUE_STATS._MAX_VALUES" => Field::Bytes(Var::ValueMax),
        "_FILE._VALUE_STATS._NULL_COUNTS" => Field::Longs(Var::ValueNulls),
        "_FILE._MIN_SEQUENCE_NUMBER" => Field::Num(Num::MinSequence),
        "_FILE._MAX_SEQUENCE_NUMBER" => Field::Num(Num::MaxSequence),
        "_FILE._SCHEMA_ID" => Field::Num(Num::SchemaId),
        "_FILE._LEVEL" => Field::Num(Num::Level),
        "_FILE._EXTRA_FILES" => Field::Texts(Var::ExtraFiles),
        "_FILE._CREATION_TIME" => Field::Num(Num::CreationTime),
        "_FILE._DELETE_ROW_COUNT" => Field::Num(Num::DeleteRows),
        "_FILE._EMBEDDED_FILE_INDEX" => Field::Bytes(Var::EmbeddedIndex),
        "_FILE._FILE_SOURCE" => Field::Num(Num::Source),
        "_FILE._VALUE_STATS_COLS" => Field::Texts(Var::ValueStatsCols),
        "_FILE._EXTERNAL_PATH" => Field::Text(Var::ExternalPath),
        "_FILE._FIRST_ROW_ID" => Field::Num(Num::FirstRowId),
        "_FILE._WRITE_COLS" => Field::Texts(Var::WriteCols),
        "_FILE._WRITE_COLS_SEQUENCES" => Field::Longs(Var::WriteColsSequences),
        _ => return None,
    })
}
