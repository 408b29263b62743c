//! The one way to read an option: its key, then its older keys, then its default.

use super::parse::{self, invalid_value};
use super::value::{OptionValue, Pairs};
use super::{OptionDef, Options};
use crate::{Error, Result};

impl Options {
    /// The value of an option, its default where it is not set; none where it has no default either.
    ///
    /// # Errors
    /// `Invalid` naming key and value.
    pub fn get<T: OptionValue + ?Sized>(&self, def: &OptionDef<T>) -> Result<Option<T::Read<'_>>> {
        let key = self.raw(def.key).map(|_| def.key);
        let key = key.or_else(|| def.fallback_keys.iter().copied().find(|key| self.contains(key))).unwrap_or(def.key);
        let Some(text) = self.raw(key).or(def.default) else { return Ok(None) };
        T::read(text, def.kind).map(Some).map_err(|e| invalid_value(key, text, &e))
    }

    /// The value of an option that has a default.
    ///
    /// # Errors
    /// `Invalid` naming key and value, and for an option that is not set and has no default.
    pub fn require<T: OptionValue + ?Sized>(&self, def: &OptionDef<T>) -> Result<T::Read<'_>> {
        let missing = || Error::invalid(format!("option {:?} is not set and has no default", def.key));
        self.get(def)?.ok_or_else(missing)
    }

    /// Whether a switch is on; one without a value is off.
    ///
    /// # Errors
    /// `Invalid` naming key and value.
    pub fn is_on(&self, def: &OptionDef<bool>) -> Result<bool> {
        Ok(self.get(def)?.unwrap_or(false))
    }

    /// The text of an option that takes any text.
    pub fn text(&self, def: &OptionDef<str>) -> Option<&str> {
        self.text_set(def).or(def.default)
    }

    /// The text that was set, under the key or an older one; no default.
    pub fn text_set<T: ?Sized>(&self, def: &OptionDef<T>) -> Option<&str> {
        self.raw(def.key).or_else(|| def.fallback_keys.iter().find_map(|key| self.raw(key)))
    }

    /// Whether the option was set, under its key or an older one.
    pub fn is_set<T: ?Sized>(&self, def: &OptionDef<T>) -> bool {
        self.text_set(def).is_some()
    }

    /// The names of a list, trimmed; empty when not set.
    pub fn list(&self, def: &OptionDef<str>) -> Vec<&str> {
        self.text(def).map(parse::parse_list).unwrap_or_default()
    }

    /// The value for a level of a `level:value,…` option.
    ///
    /// # Errors
    /// `Invalid` for text of another form.
    pub fn per_level(&self, def: &OptionDef<Pairs>, level: i32) -> Result<Option<&str>> {
        for (key, value) in self.get(def)?.unwrap_or_default() {
            let text = self.text_set(def).unwrap_or_default();
            let found: i32 = parse::parse_number(key).map_err(|e| invalid_value(def.key, text, &e))?;
            if found == level {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The option `fields.<field>.<suffix>`.
    pub fn of_field(&self, field: &str, suffix: &str) -> Option<&str> {
        self.raw(&format!("fields.{field}.{suffix}"))
    }
}
