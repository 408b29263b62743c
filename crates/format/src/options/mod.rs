//! Table options: the declarative table of keys, and typed access (spec: options.md).
//!
//! Values stay the text that users wrote; they are parsed where they are used, so that unknown keys and values of other
//! engines survive.

mod choice;
mod def;
mod effect;
mod named;
mod parse;
mod similar;
pub mod table;
#[cfg(test)]
mod tests;
mod typed;
mod value;

use std::collections::BTreeMap;

pub use choice::{
    ChangelogProducer, ConsumerMode, IncrementalSource, Isolation, MergeEngine, ScanMode, SortOrder, TagCreation,
    TagFormatter, TagPeriod,
};
pub use def::{OptionDef, OptionKind, Untyped};
pub use effect::Effect;
pub use parse::{check_value, parse_duration, parse_list, parse_map, parse_memory};
pub use similar::similar_option;
pub use table::OPTIONS;
pub use value::{Memory, OptionValue, Pairs, Word};

/// What a reader can do about timestamps that Arrow's nanoseconds do not reach.
pub(crate) const WIDE_HINT: &str = "set the option linn.read.wide-timestamps to text to have such columns as text";

/// The option with this key, or with this older key.
pub fn option(key: &str) -> Option<&'static OptionDef> {
    OPTIONS.iter().find(|def| def.key == key || def.fallback_keys.contains(&key))
}

/// Options as they stand in a schema: keys to text, in key order, unknown keys included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, String>);

impl Options {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text of exactly this key, for showing and comparing options and for options of other systems. Default and older keys are
    /// not consulted: code that does what an option says reads it by [`get`](Self::get).
    pub fn raw(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Whether exactly this key is set.
    pub fn contains(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Whether an option means the same here and there: as a value of its kind, with its default and its older keys.
    pub fn means_the_same(&self, other: &Self, key: &str) -> bool {
        let Some(def) = option(key) else { return self.raw(key) == other.raw(key) };
        match (self.text_set(def).or(def.default), other.text_set(def).or(def.default)) {
            (Some(a), Some(b)) => parse::same_value(def, a, b),
            (a, b) => a == b,
        }
    }

    /// Sets a key; the text it had before comes back.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) -> Option<String> {
        self.0.insert(key.into(), value.into())
    }

    /// Removes a key; the text it had comes back.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        self.0.remove(key)
    }

    /// Keys and texts in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// These options overridden by `dynamic` ones, such as hints of one query.
    #[must_use]
    pub fn merged(&self, dynamic: &Self) -> Self {
        let mut all = self.0.clone();
        all.extend(dynamic.0.iter().map(|(key, value)| (key.clone(), value.clone())));
        Self(all)
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Options {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}
