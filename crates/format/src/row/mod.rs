//! BinaryRow, BinaryArray, BinaryMap and their serialised forms (spec: format.md C.6).

use bytes::Bytes;

/// A row in the binary layout: null bits, fixed part of 8 bytes a field, variable part.
///
/// It exists only where the format demands it (partitions, keys, statistics, hashing). Two rows are equal when their bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BinaryRow {
    arity: usize,
    bytes: Bytes,
}
