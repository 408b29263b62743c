//! The type of a column and a column itself.

/// A type and whether it admits null.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataType {
    /// What values there are.
    pub kind: Kind,
    /// Whether null is one of them.
    pub nullable: bool,
}

/// The kinds of values (spec: features.md B1).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `CHAR(n)`, n in characters.
    Char(u32),
    /// `VARCHAR(n)`, n in characters; `STRING` is `VARCHAR(2147483647)`.
    Varchar(u32),
    /// `BOOLEAN`.
    Boolean,
    /// `BINARY(n)`, n in bytes.
    Binary(u32),
    /// `VARBINARY(n)`, n in bytes; `BYTES` is `VARBINARY(2147483647)`.
    Varbinary(u32),
    /// `DECIMAL(p, s)`, 1 ≤ p ≤ 38, 0 ≤ s ≤ p.
    Decimal {
        /// Digits in all.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// `TINYINT`, 8 bits.
    TinyInt,
    /// `SMALLINT`, 16 bits.
    SmallInt,
    /// `INT`, 32 bits.
    Int,
    /// `BIGINT`, 64 bits.
    BigInt,
    /// `FLOAT`, 32 bits.
    Float,
    /// `DOUBLE`, 64 bits.
    Double,
    /// `DATE`, days since 1970-01-01.
    Date,
    /// `TIME(p)`, milliseconds of the day, p from 0 to 9.
    Time(u8),
    /// `TIMESTAMP(p)` without time zone, p from 0 to 9.
    Timestamp(u8),
    /// `TIMESTAMP(p) WITH LOCAL TIME ZONE`, an instant, p from 0 to 9.
    LocalZonedTimestamp(u8),
    /// In memory only, never in a schema: a timestamp of more than six digits in 128 bits, which hold every value of the
    /// format (see [`widened`](super::widened)).
    WideTimestamp {
        /// Digits of a second, 7 to 9.
        precision: u8,
        /// Whether it is one with local time zone.
        zoned: bool,
    },
    /// `ARRAY<element>`.
    Array(Box<DataType>),
    /// `MULTISET<element>`: a map from the element to an INT NOT NULL count.
    Multiset(Box<DataType>),
    /// `MAP<key, value>`.
    Map(Box<DataType>, Box<DataType>),
    /// `ROW<name type, …>`.
    Row(Vec<DataField>),
    /// `VARIANT`: opaque value and metadata bytes.
    Variant,
    /// `BLOB`.
    Blob,
    /// `VECTOR<element, length>`.
    Vector {
        /// Element type.
        element: Box<DataType>,
        /// Number of elements.
        length: u32,
    },
}

/// The length of `STRING` and `BYTES`.
pub(crate) const MAX_LENGTH: u32 = i32::MAX as u32;

impl DataType {
    /// A nullable type of this kind.
    pub fn nullable(kind: Kind) -> Self {
        Self { kind, nullable: true }
    }

    /// A NOT NULL type of this kind.
    pub fn required(kind: Kind) -> Self {
        Self { kind, nullable: false }
    }

    /// Nullable `STRING`.
    pub fn string() -> Self {
        Self::nullable(Kind::Varchar(MAX_LENGTH))
    }

    /// Nullable `BYTES`.
    pub fn bytes() -> Self {
        Self::nullable(Kind::Varbinary(MAX_LENGTH))
    }

    /// The same kind with another nullability.
    #[must_use]
    pub fn with_nullable(mut self, nullable: bool) -> Self {
        self.nullable = nullable;
        self
    }
}

/// A column, or a field of a ROW.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataField {
    /// Id, unique in the whole type tree of a table and never reused.
    pub id: i32,
    /// Name, unique among its siblings.
    pub name: String,
    /// Type.
    pub data_type: DataType,
    /// Comment.
    pub description: Option<String>,
    /// Default value as SQL text.
    pub default_value: Option<String>,
}

impl DataField {
    /// A field without comment and default.
    pub fn new(id: i32, name: impl Into<String>, data_type: DataType) -> Self {
        Self { id, name: name.into(), data_type, description: None, default_value: None }
    }
}
