//! Typed access to any option of the table: its key, then its older keys, then its default.

use std::time::Duration;

use super::parse::{self, invalid_value};
use super::{OptionDef, OptionKind, Options};
use crate::{Error, Result};

impl Options {
    /// The text of an option: own key, older keys in order, default.
    pub fn text(&self, def: &OptionDef) -> Option<&str> {
        self.text_set(def).or(def.default)
    }

    /// The text that was set, under the key or an older one; no default.
    pub fn text_set(&self, def: &OptionDef) -> Option<&str> {
        self.get(def.key).or_else(|| def.fallback_keys.iter().find_map(|key| self.get(key)))
    }

    /// Whether the option was set, under its key or an older one.
    pub fn is_set(&self, def: &OptionDef) -> bool {
        self.text_set(def).is_some()
    }

    /// A switch; false without a default.
    ///
    /// # Errors
    /// `Invalid` naming key and value.
    pub fn bool(&self, def: &OptionDef) -> Result<bool> {
        Ok(self.bool_opt(def)?.unwrap_or(false))
    }

    /// A switch without a default.
    ///
    /// # Errors
    /// `Invalid` naming key and value.
    pub fn bool_opt(&self, def: &OptionDef) -> Result<Option<bool>> {
        self.parsed(def, parse::parse_bool)
    }

    /// A 32-bit number that has a default.
    ///
    /// # Errors
    /// `Invalid` naming key and value; without a default, as for [`Options::required`].
    pub fn int(&self, def: &OptionDef) -> Result<i32> {
        self.int_opt(def).and_then(|v| self.required(def, v))
    }

    /// A 32-bit number.
    ///
    /// # Errors
    /// `Invalid` naming key and value.
    pub fn int_opt(&self, def: &OptionDef) -> Result<Option<i32>> {
        self.parsed(def, parse::parse_number)
    }

    /// A 64-bit number that has a default.
    ///
    /// # Errors
    /// As [`Options::int`].
    pub fn long(&self, def: &OptionDef) -> Result<i64> {
        self.long_opt(def).and_then(|v| self.required(def, v))
    }

    /// A 64-bit number.
    ///
    /// # Errors
    /// `Invalid` naming key and value.
    pub fn long_opt(&self, def: &OptionDef) -> Result<Option<i64>> {
        self.parsed(def, parse::parse_number)
    }

    /// A floating-point number that has a default.
    ///
    /// # Errors
    /// As [`Options::int`].
    pub fn double(&self, def: &OptionDef) -> Result<f64> {
        self.parsed(def, parse::parse_number).and_then(|v| self.required(def, v))
    }

    /// A size in bytes that has a default.
    ///
    /// # Errors
    /// As [`Options::int`].
    pub fn memory(&self, def: &OptionDef) -> Result<u64> {
        self.memory_opt(def).and_then(|v| self.required(def, v))
    }

    /// A size in bytes.
    ///
    /// # Errors
    /// `Invalid` naming key and value.
    pub fn memory_opt(&self, def: &OptionDef) -> Result<Option<u64>> {
        self.parsed(def, parse::parse_memory)
    }

    /// A time that has a default.
    ///
    /// # Errors
    /// As [`Options::int`].
    pub fn duration(&self, def: &OptionDef) -> Result<Duration> {
        self.duration_opt(def).and_then(|v| self.required(def, v))
    }

    /// A time.
    ///
    /// # Errors
    /// `Invalid` naming key and value.
    pub fn duration_opt(&self, def: &OptionDef) -> Result<Option<Duration>> {
        self.parsed(def, parse::parse_duration)
    }

    /// The word of a [`OptionKind::Choice`], spelt as in the table.
    ///
    /// # Errors
    /// `Invalid` naming key, value and the allowed words.
    pub fn choice(&self, def: &OptionDef) -> Result<&'static str> {
        self.choice_opt(def).and_then(|v| self.required(def, v))
    }

    /// The word of a [`OptionKind::Choice`] without a default.
    ///
    /// # Errors
    /// As [`Options::choice`].
    pub fn choice_opt(&self, def: &OptionDef) -> Result<Option<&'static str>> {
        let OptionKind::Choice(words) = def.kind else {
            return Err(Error::internal(format!("option {:?} is not a choice", def.key)));
        };
        self.parsed(def, |text| parse::parse_choice(text, words))
    }

    /// The names of a list, trimmed; empty when not set.
    pub fn list(&self, def: &OptionDef) -> Vec<&str> {
        self.text(def).map(parse::parse_list).unwrap_or_default()
    }

    /// The value for a level of a `level:value,…` option.
    ///
    /// # Errors
    /// `Invalid` for text of another form.
    pub fn per_level(&self, def: &OptionDef, level: i32) -> Result<Option<&str>> {
        let Some(text) = self.text(def) else { return Ok(None) };
        let pairs = parse::parse_map(text).map_err(|e| invalid_value(def.key, text, &e))?;
        for (key, value) in pairs {
            let found: i32 = parse::parse_number(key).map_err(|e| invalid_value(def.key, text, &e))?;
            if found == level {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The option `fields.<field>.<suffix>`.
    pub fn of_field(&self, field: &str, suffix: &str) -> Option<&str> {
        self.get(&format!("fields.{field}.{suffix}"))
    }

    fn required<T>(&self, def: &OptionDef, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| Error::invalid(format!("option {:?} is not set and has no default", def.key)))
    }

    fn parsed<'a, T>(&'a self, def: &OptionDef, parse: impl FnOnce(&'a str) -> Result<T>) -> Result<Option<T>> {
        let key = self.get(def.key).map(|_| def.key);
        let key = key.or_else(|| def.fallback_keys.iter().copied().find(|key| self.contains(key))).unwrap_or(def.key);
        match self.text(def) {
            None => Ok(None),
            Some(text) => parse(text).map(Some).map_err(|e| invalid_value(key, text, &e)),
        }
    }
}
