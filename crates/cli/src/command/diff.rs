//! `linn table diff`: what differs between two snapshots or tags, as a query.
//!
//! Rows of tables with a primary key are compared key by key: `added`, `removed`, or `before` and `after` of a change. Rows of
//! other tables have no identity; they are counted, and what one side has more of is shown with how many more.

use linn::core::Snapshots;
use linn::{Identifier, Result, Table};

use super::read::{name, quoted, text};
use super::show_result;
use crate::args::DiffArgs;
use crate::context::{Context, DATABASE, identifier};

pub(super) async fn run(context: &Context, args: &DiffArgs) -> Result<()> {
    let id = identifier(&args.table)?;
    let session = context.session(DATABASE)?;
    let at = async |version: &str| -> Result<(String, Table)> {
        let table = session.catalog().table(&id).await?;
        let version = match version {
            "latest" => {
                Snapshots::new(&table).latest_id().await?.map_or_else(|| version.to_owned(), |id| id.0.to_string())
            }
            tag => tag.strip_prefix("tag:").unwrap_or(tag).to_owned(),
        };
        let table = table.with_options(&[("scan.version", version.as_str())].into_iter().collect())?.pinned().await?;
        Ok((version, table))
    };
    let (from_version, from) = at(&args.from).await?;
    let (to_version, to) = at(&args.to).await?;
    let sides = Sides { id: &id, from: &from_version, to: &to_version };
    let sql = match (args.files, from.schema().is_primary_key_table()) {
        (true, _) => sides.files(),
        (false, true) => sides.keyed(&from, &to),
        (false, false) => sides.counted(&from, &to),
    };
    let names = columns(&from, &to);
    let (change, rows) = match args.files {
        true => ("change".to_owned(), "rows".to_owned()),
        false => (quoted(&free("change", &names)), quoted(&free("rows", &names))),
    };
    let sql = match args.count {
        true if !args.files && !from.schema().is_primary_key_table() => {
            format!("SELECT {change} AS change, sum({rows}) AS \"rows\" FROM ({sql}) GROUP BY {change} ORDER BY change")
        }
        true => {
            format!("SELECT {change} AS change, count(*) AS \"rows\" FROM ({sql}) GROUP BY {change} ORDER BY change")
        }
        false => sql,
    };
    show_result(context, session.execute(&sql).await?).await.map(|_| ())
}

/// The two versions of a table.
struct Sides<'a> {
    id: &'a Identifier,
    from: &'a str,
    to: &'a str,
}

/// Columns of both versions, the newer one's first; a version without one has null there.
fn columns(from: &Table, to: &Table) -> Vec<String> {
    let mut names: Vec<String> = to.schema().fields.iter().map(|field| field.name.clone()).collect();
    for field in &from.schema().fields {
        if !names.contains(&field.name) {
            names.push(field.name.clone());
        }
    }
    names
}

/// A name that no column has.
fn free(name: &str, columns: &[String]) -> String {
    let mut name = name.to_owned();
    while columns.contains(&name) {
        name.insert(0, '_');
    }
    name
}

impl Sides<'_> {
    /// A query of one version with all columns.
    fn rows(&self, table: &Table, version: &str, columns: &[String], more: &str) -> String {
        let column = |column: &String| match table.schema().field(column) {
            Some(_) => quoted(column),
            None => format!("NULL AS {}", quoted(column)),
        };
        let columns: Vec<String> = columns.iter().map(column).collect();
        let options = format!("OPTIONS('scan.version' = {})", text(version));
        format!("SELECT {}, {more} FROM {} {options}", columns.join(", "), name(self.id))
    }

    fn keyed(&self, from: &Table, to: &Table) -> String {
        let columns = columns(from, to);
        let keys = &to.schema().primary_keys;
        let both = |sign: &str, names: &mut dyn Iterator<Item = &String>| -> Vec<String> {
            names.map(|n| format!("a.{0} {sign} b.{0}", quoted(n))).collect()
        };
        let join = both("=", &mut keys.iter()).join(" AND ");
        let mut changed = both("IS DISTINCT FROM", &mut columns.iter().filter(|n| !keys.contains(n)));
        if changed.is_empty() {
            changed.push("false".to_owned());
        }
        let values: Vec<String> = columns
            .iter()
            .map(|n| format!("CASE WHEN s.side = 0 THEN a.{0} ELSE b.{0} END AS {0}", quoted(n)))
            .collect();
        let order: Vec<String> = keys.iter().map(|key| quoted(key)).collect();
        format!(
            "SELECT {change}, {names} FROM (SELECT s.side AS \"_side\", CASE WHEN a.\"_here\" IS NULL THEN 'added' \
             WHEN b.\"_here\" IS NULL THEN 'removed' WHEN s.side = 0 THEN 'before' ELSE 'after' END AS {change}, {values} \
             FROM ({a}) a FULL OUTER JOIN ({b}) b ON {join} CROSS JOIN (VALUES (0), (1)) AS s(side) \
             WHERE (a.\"_here\" IS NULL AND s.side = 1) OR (b.\"_here\" IS NULL AND s.side = 0) \
             OR (a.\"_here\" IS NOT NULL AND b.\"_here\" IS NOT NULL AND ({changed}))) ORDER BY {order}, \"_side\"",
            change = quoted(&free("change", &columns)),
            names = columns.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(", "),
            values = values.join(", "),
            a = self.rows(from, self.from, &columns, "true AS \"_here\""),
            b = self.rows(to, self.to, &columns, "true AS \"_here\""),
            changed = changed.join(" OR "),
            order = order.join(", "),
        )
    }

    fn counted(&self, from: &Table, to: &Table) -> String {
        let columns = columns(from, to);
        let names = columns.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(", ");
        format!(
            "SELECT CASE WHEN \"_more\" > 0 THEN 'added' ELSE 'removed' END AS {change}, abs(\"_more\") AS {rows}, {names} \
             FROM (SELECT {names}, sum(\"_sign\") AS \"_more\" FROM ({b} UNION ALL {a}) GROUP BY {names}) \
             WHERE \"_more\" <> 0 ORDER BY {names}",
            change = quoted(&free("change", &columns)),
            rows = quoted(&free("rows", &columns)),
            a = self.rows(from, self.from, &columns, "-1 AS \"_sign\""),
            b = self.rows(to, self.to, &columns, "1 AS \"_sign\""),
        )
    }

    fn files(&self) -> String {
        let files = Identifier { system: Some("file_key_ranges".to_owned()), ..self.id.clone() };
        let side =
            |version: &str| format!("SELECT * FROM {} OPTIONS('scan.version' = {})", name(&files), text(version));
        let column = |n: &str| format!("COALESCE(b.{n}, a.{n}) AS {n}");
        let columns = ["partition", "bucket", "level", "file_path", "record_count", "file_size_in_bytes"].map(column);
        format!(
            "SELECT CASE WHEN a.file_path IS NULL THEN 'added' ELSE 'removed' END AS change, {} FROM ({}) a \
             FULL OUTER JOIN ({}) b ON a.file_path = b.file_path AND a.level = b.level \
             WHERE a.file_path IS NULL OR b.file_path IS NULL ORDER BY file_path, change DESC",
            columns.join(", "),
            side(self.from),
            side(self.to)
        )
    }
}
