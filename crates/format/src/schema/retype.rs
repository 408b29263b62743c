//! Which type changes old values can follow (spec: features.md B10).

use crate::types::{DataType, Kind};

/// Whether values of `from` can be read as `to`; `explicit` allows casts that may lose something.
pub(super) fn can_cast(from: &DataType, to: &DataType, explicit: bool) -> bool {
    if from.nullable && !to.nullable && !explicit {
        return false;
    }
    from.kind == to.kind || implicit(&from.kind, &to.kind) || (explicit && lossy(&from.kind, &to.kind))
}

fn implicit(from: &Kind, to: &Kind) -> bool {
    use Kind::*;
    match to {
        Char(_) => matches!(from, Char(_)),
        Varchar(_) => is_text(from),
        Binary(_) => matches!(from, Binary(_)),
        Varbinary(_) => is_bytes(from),
        Decimal { .. } | Double => is_numeric(from),
        SmallInt => matches!(from, TinyInt),
        Int => matches!(from, TinyInt | SmallInt),
        BigInt => matches!(from, TinyInt | SmallInt | Int),
        Float => is_numeric(from) && !matches!(from, Double),
        Date => is_timestamp(from) && matches!(from, Timestamp(_)),
        Time(_) => matches!(from, Time(_) | Timestamp(_)),
        Timestamp(_) | LocalZonedTimestamp(_) => is_timestamp(from),
        _ => false,
    }
}

fn lossy(from: &Kind, to: &Kind) -> bool {
    use Kind::*;
    match to {
        Char(_) | Varchar(_) => !matches!(from, Variant | Blob | Vector { .. } | Multiset(_)),
        Boolean => is_text(from) || is_integer(from),
        Binary(_) | Varbinary(_) => is_text(from) || is_bytes(from),
        Decimal { .. } | TinyInt | SmallInt | Int | BigInt | Float | Double => {
            is_numeric(from) || is_text(from) || is_timestamp(from) || matches!(from, Boolean)
        }
        Date | Time(_) => is_timestamp(from) || is_text(from),
        Timestamp(_) | LocalZonedTimestamp(_) => matches!(from, Date | Time(_)) || is_text(from) || is_numeric(from),
        _ => false,
    }
}

fn is_text(kind: &Kind) -> bool {
    matches!(kind, Kind::Char(_) | Kind::Varchar(_))
}

fn is_bytes(kind: &Kind) -> bool {
    matches!(kind, Kind::Binary(_) | Kind::Varbinary(_))
}

fn is_integer(kind: &Kind) -> bool {
    matches!(kind, Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt)
}

fn is_numeric(kind: &Kind) -> bool {
    is_integer(kind) || matches!(kind, Kind::Decimal { .. } | Kind::Float | Kind::Double)
}

fn is_timestamp(kind: &Kind) -> bool {
    matches!(kind, Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_))
}
