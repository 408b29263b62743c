//! A drawing of partitions, buckets and levels with their files.

use std::collections::BTreeMap;

use linn::format::file::DataFileMeta;
use linn::{Result, Table};
use serde_json::{Value, json};

use super::files::{Bucket, key};
use crate::output::{count, size};

/// A line of the drawing with those below it.
struct Node {
    text: String,
    below: Vec<Node>,
}

/// Draws a table; the buckets of a partition stand together.
pub(super) fn draw(table: &Table, buckets: &[Bucket]) -> Result<String> {
    let files = buckets.iter().flat_map(|bucket| bucket.files.iter().map(AsRef::as_ref));
    let mut root = Node { text: format!("{}  {}", table.name(), sum(files)), below: Vec::new() };
    for buckets in buckets.chunk_by(|a, b| a.partition == b.partition) {
        let partition = buckets.first().map_or("", |bucket| bucket.partition.as_str());
        let below = buckets.iter().map(|bucket| of_bucket(table, bucket)).collect::<Result<Vec<_>>>()?;
        if partition.is_empty() {
            root.below.extend(below);
        } else {
            let files = buckets.iter().flat_map(|bucket| bucket.files.iter().map(AsRef::as_ref));
            root.below.push(Node { text: format!("{partition}  {}", sum(files)), below });
        }
    }
    let mut text = format!("{}\n", root.text);
    lines(&root.below, "", &mut text);
    Ok(text)
}

/// The same as data: partitions, buckets and levels with their files.
pub(super) fn document(table: &Table, buckets: &[Bucket]) -> Result<Value> {
    let file = |file: &DataFileMeta| -> Result<Value> {
        let keyed = file.min_key.arity() > 0;
        Ok(json!({
            "file": file.file_name, "level": file.level, "bytes": file.file_size, "rows": file.row_count,
            "deletes": file.delete_row_count,
            "min_key": if keyed { Some(key(table, &file.min_key)?) } else { None },
            "max_key": if keyed { Some(key(table, &file.max_key)?) } else { None },
        }))
    };
    let bucket = |bucket: &Bucket| -> Result<Value> {
        let files = bucket.files.iter().map(|one| file(one)).collect::<Result<Vec<_>>>()?;
        Ok(json!({"partition": bucket.partition, "bucket": bucket.bucket, "files": files}))
    };
    let buckets = buckets.iter().map(bucket).collect::<Result<Vec<_>>>()?;
    Ok(json!({"table": table.name(), "buckets": buckets}))
}

fn of_bucket(table: &Table, bucket: &Bucket) -> Result<Node> {
    let mut levels: BTreeMap<i32, Vec<&DataFileMeta>> = BTreeMap::new();
    for file in &bucket.files {
        levels.entry(file.level).or_default().push(file);
    }
    let mut below = Vec::new();
    for (level, files) in levels {
        let leaves = files.iter().map(|file| of_file(table, file)).collect::<Result<Vec<_>>>()?;
        below.push(Node { text: format!("level {level}  {}", sum(files.into_iter())), below: leaves });
    }
    Ok(Node { text: format!("bucket {}  {}", bucket.bucket, sum(bucket.files.iter().map(AsRef::as_ref))), below })
}

fn of_file(table: &Table, file: &DataFileMeta) -> Result<Node> {
    let mut text = format!("{}  {}, {}", file.file_name, size(file.file_size), count(file.row_count, "row"));
    if let Some(deletes) = file.delete_row_count.filter(|n| *n > 0) {
        text.push_str(&format!(" ({})", count(deletes, "delete")));
    }
    if file.min_key.arity() > 0 {
        text.push_str(&format!(", keys {} … {}", key(table, &file.min_key)?, key(table, &file.max_key)?));
    }
    Ok(Node { text, below: Vec::new() })
}

fn sum<'f>(files: impl Iterator<Item = &'f DataFileMeta>) -> String {
    let (number, bytes, rows) = files
        .fold((0, 0i64, 0i64), |(n, b, r), f| (n + 1, b.saturating_add(f.file_size), r.saturating_add(f.row_count)));
    format!("{}, {}, {}", count(number, "file"), size(bytes), count(rows, "row"))
}

fn lines(nodes: &[Node], indent: &str, text: &mut String) {
    for (i, node) in nodes.iter().enumerate() {
        let last = i + 1 == nodes.len();
        text.push_str(&format!("{indent}{} {}\n", if last { "└─" } else { "├─" }, node.text));
        lines(&node.below, &format!("{indent}{}  ", if last { " " } else { "│" }), text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_end_where_they_should() {
        let leaf = |text: &str| Node { text: text.into(), below: Vec::new() };
        let nodes = [Node { text: "a".into(), below: vec![leaf("b")] }, leaf("c")];
        let mut text = String::new();
        lines(&nodes, "", &mut text);
        assert_eq!(text, "├─ a\n│  └─ b\n└─ c\n");
    }
}
