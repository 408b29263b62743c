//! Settings of a session: options of the query engine, and options of tables, for all of them or for those of a pattern.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use datafusion::config::ConfigOptions;
use datafusion::execution::context::SessionContext;
use linn::format::options::{OPTIONS, option};
use linn::format::suggest::did_you_mean;
use linn::{Error, Identifier, Options, Result};

use super::CATALOG;
use crate::error::ours;

/// Options of the query engine that the session itself relies on.
const FIXED: [&str; 4] = [
    "datafusion.catalog.",
    "datafusion.sql_parser.",
    "datafusion.format.",
    "datafusion.execution.parquet.schema_force",
];
/// Short names of options of the query engine.
const SHORT: [(&str, &str); 3] = [
    ("timezone", "datafusion.execution.time_zone"),
    ("batch_size", "datafusion.execution.batch_size"),
    ("threads", "datafusion.execution.target_partitions"),
];
/// Beginnings of the keys that a query reads another state by.
const READS: [&str; 2] = ["scan.", "incremental-"];

/// What was set by hand.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Options of tables, in the order of their keys as they were given.
    tables: RwLock<BTreeMap<String, String>>,
    /// Options of the query engine, by their full keys, with what they were before.
    engine: RwLock<BTreeMap<String, Option<String>>>,
}

/// Which tables an option is for.
struct Scope<'k> {
    catalog: &'k str,
    database: &'k str,
    table: &'k str,
    key: &'k str,
}

/// Takes a key of the form `linn.<catalog>.<db>.<table>.<key>` apart; any other key is for all tables.
fn scope(key: &str) -> Scope<'_> {
    let all = Scope { catalog: "*", database: "*", table: "*", key };
    if option(key).is_some() {
        return all;
    }
    let mut parts = key.splitn(5, '.');
    match (parts.next(), parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("linn"), Some(catalog), Some(database), Some(table), Some(key)) => {
            Scope { catalog, database, table, key }
        }
        _ => all,
    }
}

/// Whether a pattern with `*` for any text is that of a name.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = rest.get(at + piece.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

impl Scope<'_> {
    fn holds(&self, id: &Identifier) -> bool {
        matches(self.catalog, CATALOG) && matches(self.database, &id.database) && matches(self.table, &id.table)
    }
}

/// The full key of an option of the query engine; `None` for one of tables.
fn engine_key(key: &str) -> Option<String> {
    let small = key.to_ascii_lowercase();
    match SHORT.iter().find(|(short, _)| *short == small) {
        Some((_, full)) => Some((*full).to_owned()),
        None => small.starts_with("datafusion.").then_some(small),
    }
}

/// The options of the query engine that can be set, with their values.
fn engine_options(context: &SessionContext) -> Vec<(String, Option<String>)> {
    let config = context.copied_config();
    let entries = config.options().entries().into_iter();
    let free = |key: &str| !FIXED.iter().any(|fixed| key.starts_with(fixed)) && !key.starts_with("datafusion.runtime.");
    entries.filter(|entry| free(&entry.key)).map(|entry| (entry.key, entry.value)).collect()
}

/// The error for a key that is no option.
fn unknown(context: &SessionContext, key: &str) -> Error {
    let engine = engine_options(context);
    let short = SHORT.iter().map(|(short, _)| *short);
    let known = engine.iter().map(|(key, _)| key.as_str()).chain(short).chain(OPTIONS.iter().map(|def| def.key));
    let error = Error::invalid(format!("unknown option '{key}'"));
    error.with_hint(did_you_mean(key, known).unwrap_or_else(|| "SHOW ALL lists the options of a session".to_owned()))
}

/// Whether a key is one of a family whose members tables name, such as `fields.a.aggregate-function`.
fn is_family(key: &str) -> bool {
    ["fields.", "file-index.", "parquet.", "orc.", "avro.", "csv.", "s3.", "fs."]
        .iter()
        .any(|family| key.starts_with(family))
}

impl Settings {
    /// Sets an option.
    ///
    /// # Errors
    /// `Invalid` for a key that is no option, and a value that it cannot have.
    pub(crate) fn set(&self, context: &SessionContext, key: &str, value: &str) -> Result<()> {
        if let Some(full) = engine_key(key) {
            return self.set_engine(context, &full, value);
        }
        let inner = scope(key).key;
        let Some(def) = option(inner) else {
            if is_family(inner) {
                self.tables.write().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), value.to_owned());
                return Ok(());
            }
            return Err(unknown(context, inner));
        };
        if def.immutable || ["branch", "bucket"].contains(&inner) {
            return Err(Error::invalid(format!(
                "option {inner} belongs to each table and cannot be set for a session"
            )));
        }
        linn::format::options::check_value(def, value)?;
        self.tables.write().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    fn set_engine(&self, context: &SessionContext, key: &str, value: &str) -> Result<()> {
        if FIXED.iter().any(|fixed| key.starts_with(fixed)) {
            return Err(Error::invalid(format!("option {key} cannot be set")));
        }
        let before = engine_options(context).into_iter().find(|(known, _)| known == key);
        let Some((_, before)) = before else { return Err(unknown(context, key)) };
        let state = context.state_ref();
        let mut state = state.write();
        state
            .config_mut()
            .options_mut()
            .set(key, value)
            .map_err(|e| Error::invalid(format!("option {key} cannot be '{value}'")).with_source(ours(e)))?;
        self.engine.write().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_insert(before);
        Ok(())
    }

    /// Takes an option back, or all of them.
    ///
    /// # Errors
    /// `Invalid` for a key that is no option.
    pub(crate) fn reset(&self, context: &SessionContext, key: Option<&str>) -> Result<()> {
        if let Some(key) = key {
            let full = engine_key(key);
            let known = match &full {
                Some(full) => engine_options(context).iter().any(|(known, _)| known == full),
                None => option(scope(key).key).is_some() || is_family(scope(key).key),
            };
            if !known {
                return Err(unknown(context, scope(key).key));
            }
            self.tables.write().unwrap_or_else(PoisonError::into_inner).remove(key);
            let mut engine = self.engine.write().unwrap_or_else(PoisonError::into_inner);
            return match full.and_then(|full| engine.remove_entry(&full)) {
                Some((key, before)) => restore(context, &key, before.as_deref()),
                None => Ok(()),
            };
        }
        self.tables.write().unwrap_or_else(PoisonError::into_inner).clear();
        let engine = std::mem::take(&mut *self.engine.write().unwrap_or_else(PoisonError::into_inner));
        engine.iter().try_for_each(|(key, before)| restore(context, key, before.as_deref()))
    }

    /// What is set by hand, by key.
    pub(crate) fn given(&self, context: &SessionContext) -> Vec<(String, String)> {
        let engine = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        let values = engine_options(context).into_iter().filter(|(key, _)| engine.contains_key(key));
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let tables = tables.iter().map(|(key, value)| (key.clone(), value.clone()));
        tables.chain(values.map(|(key, value)| (key, value.unwrap_or_default()))).collect()
    }

    /// What is set by hand, and all options of the query engine.
    pub(crate) fn all(&self, context: &SessionContext) -> Vec<(String, String)> {
        let mut all: BTreeMap<String, String> =
            engine_options(context).into_iter().map(|(key, value)| (key, value.unwrap_or_default())).collect();
        all.extend(self.given(context));
        all.into_iter().collect()
    }

    /// The value of one option: of a table's what was set, else its default.
    ///
    /// # Errors
    /// `Invalid` for a key that is no option.
    pub(crate) fn value(&self, context: &SessionContext, key: &str) -> Result<String> {
        if let Some(full) = engine_key(key) {
            let found = engine_options(context).into_iter().find(|(known, _)| *known == full);
            return found.map(|(_, value)| value.unwrap_or_default()).ok_or_else(|| unknown(context, key));
        }
        let set = self.tables.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        match (set, option(scope(key).key)) {
            (Some(value), _) => Ok(value),
            (None, Some(def)) => Ok(def.default.unwrap_or_default().to_owned()),
            (None, None) => Err(unknown(context, scope(key).key)),
        }
    }

    /// The options that hold for a table: those of all tables, then those of patterns from the least to the most exact, then
    /// those that the statement gives.
    pub(crate) fn of(&self, id: &Identifier, given: Option<&Options>) -> Option<Options> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<(usize, &str, &str)> = Vec::new();
        for (text, value) in tables.iter() {
            let scope = scope(text);
            if scope.holds(id) {
                let exact = [scope.catalog, scope.database, scope.table].iter().filter(|p| !p.contains('*')).count();
                found.push((exact, scope.key, value));
            }
        }
        found.sort_by_key(|(exact, ..)| *exact);
        if found.is_empty() {
            return given.cloned();
        }
        let set: Options = found.into_iter().map(|(_, key, value)| (key, value.to_owned())).collect();
        Some(match given {
            Some(given) => set.merged(given),
            None => set,
        })
    }

    /// Fails when a setting lets queries of a table read another state than the latest, so that changing rows by what is read
    /// would undo what came since.
    pub(crate) fn writable(&self, id: &Identifier) -> Result<()> {
        let options = self.of(id, None).unwrap_or_default();
        match options.iter().find(|(key, _)| READS.iter().any(|begin| key.starts_with(begin))) {
            Some((key, _)) => {
                Err(Error::invalid(format!("the setting '{key}' makes queries read an older state of the table"))
                    .with("table", id)
                    .with_hint(format!("RESET '{key}' before rows are changed")))
            }
            None => Ok(()),
        }
    }
}

fn restore(context: &SessionContext, key: &str, before: Option<&str>) -> Result<()> {
    let state = context.state_ref();
    let mut state = state.write();
    let options = state.config_mut().options_mut();
    match before {
        Some(value) => options.set(key, value).map_err(ours),
        None => {
            // An option without a value has none in the defaults either.
            let fresh = ConfigOptions::new();
            options.execution.time_zone.clone_from(&fresh.execution.time_zone);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_say_their_tables() {
        let id = Identifier::new("shop", "orders").unwrap();
        for (key, inner, holds) in [
            ("scan.snapshot-id", "scan.snapshot-id", true),
            ("linn.linn.shop.orders.scan.snapshot-id", "scan.snapshot-id", true),
            ("linn.*.*.*.scan.snapshot-id", "scan.snapshot-id", true),
            ("linn.*.sh*.o*r*s.scan.snapshot-id", "scan.snapshot-id", true),
            ("linn.*.shop.customers.scan.snapshot-id", "scan.snapshot-id", false),
            ("linn.other.shop.orders.scan.snapshot-id", "scan.snapshot-id", false),
            ("linn.compaction.io-limit", "linn.compaction.io-limit", true),
        ] {
            let scope = scope(key);
            assert_eq!((scope.key, scope.holds(&id)), (inner, holds), "{key}");
        }
        assert!(!matches("ab*ba", "aba") && matches("a*", "a") && !matches("a", "ab"));
    }

    #[test]
    fn the_most_exact_pattern_counts() {
        let context = SessionContext::new();
        let settings = Settings::default();
        for (key, value) in [
            ("linn.linn.shop.orders.scan.snapshot-id", "3"),
            ("linn.*.shop.*.scan.snapshot-id", "2"),
            ("scan.snapshot-id", "1"),
        ] {
            settings.set(&context, key, value).unwrap();
        }
        let id = |name: &str| Identifier::new("shop", name).unwrap();
        let of = |name: &str, given: Option<&Options>| {
            settings.of(&id(name), given).unwrap().raw("scan.snapshot-id").unwrap().to_owned()
        };
        assert_eq!(of("orders", None), "3");
        assert_eq!(of("customers", None), "2");
        let given: Options = [("scan.snapshot-id", "9".to_owned())].into_iter().collect();
        assert_eq!(of("orders", Some(&given)), "9");
        assert!(settings.writable(&id("orders")).is_err());
        settings.reset(&context, None).unwrap();
        assert!(settings.of(&id("orders"), None).is_none());
    }
}
