//! Options whose keys contain the name of a column: `fields.<column>.…` and `file-index.<type>.…`.

use linn::format::options::OptionKind;

/// A family of options.
pub(super) struct Pattern {
    /// The key with its variable parts in angle brackets.
    pub(super) key: &'static str,
    /// Type of the value.
    pub(super) kind: OptionKind,
    /// What counts where it is not set.
    pub(super) default: Option<&'static str>,
    /// What it means.
    pub(super) description: &'static str,
}

const fn pattern(
    key: &'static str,
    kind: OptionKind,
    default: Option<&'static str>,
    description: &'static str,
) -> Pattern {
    Pattern { key, kind, default, description }
}

use OptionKind::{Bool, Choice, Double, Int, Long, Memory, Text};

/// All of them.
pub(super) const PATTERNS: &[Pattern] = &[
    pattern(
        "fields.<column>.aggregate-function",
        Text,
        None,
        "Function that folds the column's values, with merge-engine aggregation or inside of a sequence group.",
    ),
    pattern(
        "fields.<columns>.sequence-group",
        Text,
        None,
        "Columns that follow these ordering columns (comma-separated) with merge-engine partial-update.",
    ),
    pattern("fields.<column>.ignore-retract", Bool, Some("false"), "Keep deletes and retractions out of the column."),
    pattern("fields.<column>.distinct", Bool, Some("false"), "Leave out values that listagg or collect has."),
    pattern("fields.<column>.list-agg-delimiter", Text, Some(","), "Text between the values of listagg."),
    pattern(
        "fields.<column>.nested-key",
        Text,
        None,
        "Fields of the nested rows that are their key, for nested_update.",
    ),
    pattern(
        "fields.<column>.nested-sequence-field",
        Text,
        None,
        "Fields of the nested rows that order updates of one nested key.",
    ),
    pattern(
        "fields.<column>.nested-key-null-strategy",
        Choice(&["merge", "ignore", "error"]),
        Some("merge"),
        "What happens to nested rows whose key is null.",
    ),
    pattern("fields.<column>.count-limit", Int, None, "Most nested rows that nested_update keeps."),
    pattern("fields.<column>.ts-field", Text, None, "Field with the time of each entry, for merge_map_with_keytime."),
    pattern(
        "fields.<column>.stats-mode",
        Text,
        None,
        "Statistics of the column in manifests: none, counts, truncate(N) or full; wins over metadata.stats-mode.",
    ),
    pattern(
        "file-index.<type>.columns",
        Text,
        None,
        "Columns that have a file index of this type: bloom-filter, bitmap, bsi or range-bitmap; map[key] indexes one key.",
    ),
    pattern("file-index.bloom-filter.<column>.items", Long, Some("1000000"), "Expected distinct values of a file."),
    pattern("file-index.bloom-filter.<column>.fpp", Double, Some("0.1"), "Rate of false positives."),
    pattern("file-index.bitmap.<column>.version", Int, Some("2"), "Version of the bitmap index, 1 or 2."),
    pattern("file-index.bitmap.<column>.index-block-size", Memory, Some("16kb"), "Size of a block of a bitmap index."),
    pattern("file-index.range-bitmap.<column>.chunk-size", Memory, None, "Size of a chunk of a range bitmap."),
];

/// The families that a key is of: the pattern itself, or a key with names in place of its variable parts.
pub(super) fn of(key: &str) -> Option<&'static Pattern> {
    PATTERNS.iter().find(|pattern| pattern.key == key || matches(pattern.key, key))
}

/// The families that begin like a key, such as `fields` or `file-index.bitmap`.
pub(super) fn beginning(key: &str) -> Vec<&'static Pattern> {
    let key = key.trim_end_matches(['*', '.']);
    let inside = |pattern: &&Pattern| pattern.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    PATTERNS.iter().filter(inside).collect()
}

/// Whether a key has a pattern's fixed parts around its variable one, which may contain points.
fn matches(pattern: &str, key: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('<') else { return pattern == key };
    let Some((_, end)) = rest.split_once('>') else { return false };
    let name = key.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
    let fixed = start == "file-index." && name.is_some_and(|name| name.contains('.'));
    name.is_some_and(|name| !name.is_empty()) && !fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_find_their_family() {
        for (key, expected) in [
            ("fields.price.aggregate-function", Some("fields.<column>.aggregate-function")),
            ("fields.a.b.stats-mode", Some("fields.<column>.stats-mode")),
            ("fields.a,b.sequence-group", Some("fields.<columns>.sequence-group")),
            ("file-index.bitmap.columns", Some("file-index.<type>.columns")),
            ("file-index.bloom-filter.id.fpp", Some("file-index.bloom-filter.<column>.fpp")),
            ("fields..distinct", None),
            ("fields.a.nothing", None),
        ] {
            assert_eq!(of(key).map(|p| p.key), expected, "{key}");
        }
        assert_eq!(beginning("file-index.*").len(), 6);
        assert!(beginning("nothing").is_empty());
    }
}
