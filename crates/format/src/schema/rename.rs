//! A renamed column is renamed wherever keys and options name it (spec: format.md C.3).

use crate::options::{Options, parse_list};

/// Options whose value is a list of columns.
const COLUMN_LISTS: &[&str] = &[
    "bucket-key",
    "sequence.field",
    "rowkind.field",
    "record-level.time-field",
    "clustering.columns",
    "sink.clustering.by-columns",
    "changelog-producer.row-deduplicate-ignore-fields",
    "partial-update.remove-record-on-sequence-group",
    "blob-field",
    "blob-descriptor-field",
    "blob-view-field",
    "vector-field",
];

/// Renames a key column.
pub(super) fn in_keys(names: &mut [String], old: &str, new: &str) {
    for name in names.iter_mut().filter(|name| *name == old) {
        new.clone_into(name);
    }
}

/// Renames a column in option values that list columns and in keys `fields.<columns>.…` and `file-index.<type>.<column>.…`.
/// `others` are the names of the other columns: `fields.x.y.…` belongs to "x.y" where there is such a column.
pub(super) fn in_options(options: &mut Options, old: &str, new: &str, others: &[&str]) {
    let rewritten = options.iter().map(|(key, value)| {
        let new_key = rename_key(key, old, new, others).unwrap_or_else(|| key.to_owned());
        let lists_columns = COLUMN_LISTS.contains(&key)
            || (key.starts_with("fields.") && key.ends_with(".sequence-group"))
            || (key.starts_with("file-index.") && key.ends_with(".columns"));
        let new_value = if lists_columns { rename_in_list(value, old, new) } else { value.to_owned() };
        (new_key, new_value)
    });
    *options = rewritten.collect();
}

/// `fields.<a,b>.<suffix>` with the column renamed; the suffix may have points, column names may too.
fn rename_key(key: &str, old: &str, new: &str, others: &[&str]) -> Option<String> {
    if let Some((kind, rest)) = key.strip_prefix("file-index.").and_then(|rest| rest.split_once('.')) {
        let (name, option) = rest.rsplit_once('.')?;
        return Some(format!("file-index.{kind}.{}.{option}", renamed(name, old, new)?));
    }
    let rest = key.strip_prefix("fields.")?;
    let of_column = |name: &str| rest.strip_prefix(name).filter(|suffix| suffix.starts_with('.'));
    let of_longer = others.iter().any(|other| other.len() > old.len() && of_column(other).is_some());
    if let Some(suffix) = of_column(old).filter(|_| !of_longer) {
        return Some(format!("fields.{new}{suffix}"));
    }
    let names = rest.strip_suffix(".sequence-group")?;
    Some(format!("fields.{}.sequence-group", rename_in_list(names, old, new)))
}

fn rename_in_list(list: &str, old: &str, new: &str) -> String {
    let names = parse_list(list);
    let changed: Vec<Option<String>> = names.iter().map(|name| renamed(name, old, new)).collect();
    if changed.iter().all(Option::is_none) {
        return list.to_owned();
    }
    let all: Vec<String> =
        names.into_iter().zip(changed).map(|(name, changed)| changed.unwrap_or_else(|| name.to_owned())).collect();
    all.join(",")
}

/// The new name of the column, or of a key of the map column; none for others.
fn renamed(name: &str, old: &str, new: &str) -> Option<String> {
    let key = name.strip_prefix(old)?;
    (key.is_empty() || (key.starts_with('[') && key.ends_with(']'))).then(|| format!("{new}{key}"))
}
