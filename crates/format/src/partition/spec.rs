//! How a person names a partition: `key=value,key=value`, values as they are or in quotes.
//!
//! A value is taken as it stands, not trimmed. One with a comma or a semicolon, blanks at an end, or nothing in it is written in
//! single or double quotes, where a doubled quote is one. Null is the default name without quotes; in quotes that is a text.

use super::{is_blank, partition_value};
use crate::row::BinaryRow;
use crate::types::DataField;
use crate::{Error, Result, ResultExt};

/// Partition keys with their values as text; `None` is null.
pub type PartitionSpec = Vec<(String, Option<String>)>;

/// The values that a text names, such as `dt=2024-01-31,hr=7`.
///
/// # Errors
/// `Invalid` for text of another form, with a hint how a value is written in it.
pub fn partition_spec(text: &str, fields: &[&DataField], default_name: &str) -> Result<PartitionSpec> {
    Parser { text, rest: text, fields, default_name, several: false }.spec()
}

/// The same of several partitions, separated by semicolons.
///
/// # Errors
/// As [`partition_spec`].
pub fn partition_specs(text: &str, fields: &[&DataField], default_name: &str) -> Result<Vec<PartitionSpec>> {
    let mut parser = Parser { text, rest: text, fields, default_name, several: true };
    let mut specs = vec![parser.spec()?];
    while let Some(rest) = parser.rest.strip_prefix(';') {
        parser.rest = rest;
        specs.push(parser.spec()?);
    }
    Ok(specs)
}

/// The name of a partition as [`partition_spec`] takes it, with `/` between the keys: values as a cast to STRING spells them.
/// Every partition of a table has a name of its own, those that share a folder as well.
///
/// # Errors
/// `Corrupt` when the row does not fit the fields.
pub fn partition_name(row: &BinaryRow, fields: &[&DataField], default_name: &str) -> Result<String> {
    if row.arity() != fields.len() {
        return Err(Error::corrupt(format!("partition has {} values for {} keys", row.arity(), fields.len())));
    }
    let mut parts = Vec::with_capacity(fields.len());
    for (i, field) in fields.iter().enumerate() {
        let datum = row.datum(i, &field.data_type).context("partition key", &field.name)?;
        let value = match datum {
            Some(datum) => quoted(partition_value(&datum, &field.data_type, false)?, default_name),
            None => default_name.to_owned(),
        };
        parts.push(format!("{}={value}", field.name));
    }
    Ok(parts.join("/"))
}

/// A value in quotes, where it would not be read as it is.
fn quoted(value: String, default_name: &str) -> String {
    let special = |c: char| matches!(c, ',' | ';' | '/' | '=' | '\'' | '"') || c.is_control();
    let at_an_end = value.starts_with(char::is_whitespace) || value.ends_with(char::is_whitespace);
    match is_blank(&value) || at_an_end || value == default_name || value.contains(special) {
        true => format!("'{}'", value.replace('\'', "''")),
        false => value,
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    fields: &'a [&'a DataField],
    default_name: &'a str,
    /// Whether a semicolon ends a partition.
    several: bool,
}

impl Parser<'_> {
    fn spec(&mut self) -> Result<PartitionSpec> {
        let mut spec = PartitionSpec::new();
        loop {
            let end = self.rest.find(|c| c == '=' || self.ends(c)).unwrap_or(self.rest.len());
            let (key, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
            let Some(rest) = rest.strip_prefix('=').filter(|_| !key.trim().is_empty()) else {
                return Err(self.refused(format!("{key:?} is not of the form key=value")));
            };
            let key = key.trim().to_owned();
            self.rest = rest;
            let value = self.value(&key)?;
            if spec.iter().any(|(other, _)| *other == key) {
                return Err(
                    Error::invalid(format!("partition key {key:?} is named twice")).with("partition", self.text)
                );
            }
            spec.push((key, value));
            match self.rest.strip_prefix([',', '/']) {
                Some(rest) => self.rest = rest,
                None => return Ok(spec),
            }
        }
    }

    fn ends(&self, c: char) -> bool {
        c == ',' || (c == ';' && self.several)
    }

    fn value(&mut self, key: &str) -> Result<Option<String>> {
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"')) {
            return self.in_quotes(quote).map(Some);
        }
        let mut end = self.rest.find(|c| self.ends(c)).unwrap_or(self.rest.len());
        // A slash ends a value where a key follows.
        let next =
            |rest: &str| self.fields.iter().any(|f| rest.strip_prefix(&*f.name).is_some_and(|r| r.starts_with('=')));
        let slashes = self.rest.match_indices('/').map(|(at, _)| at).take_while(|at| *at < end);
        if let Some(at) = slashes.into_iter().find(|at| self.rest.get(at + 1..).is_some_and(next)) {
            end = at;
        }
        let (value, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        if value.is_empty() {
            let e = Error::invalid(format!("partition key {key:?} has no value")).with("partition", self.text);
            return Err(e.with_hint(format!("write {key}='' for empty text, {key}={} for null", self.default_name)));
        }
        if value.trim() != value {
            return Err(self.refused(format!("the value {value:?} of {key} begins or ends with a blank")));
        }
        Ok((value != self.default_name).then(|| value.to_owned()))
    }

    fn in_quotes(&mut self, quote: char) -> Result<String> {
        let mut value = String::new();
        let mut chars = self.rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != quote {
                value.push(c);
            } else if chars.next_if(|(_, next)| *next == quote).is_some() {
                value.push(quote);
            } else {
                let rest = self.rest.get(at + 1..).unwrap_or_default();
                let ended = rest.chars().next().is_none_or(|c| self.ends(c) || c == '/');
                if !ended {
                    return Err(self.refused(format!("{rest:?} follows a value in quotes")));
                }
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.refused("a quote does not end"))
    }

    fn refused(&self, what: impl Into<String>) -> Error {
        let key = self.fields.first().map_or("key", |field| field.name.as_str());
        Error::invalid(what).with("partition", self.text).with_hint(format!(
            "write a value with a comma, a semicolon, or blanks at its ends in quotes, such as {key}='a, b' or {key}=\"a, b\""
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::datum::Datum;
    use crate::partition::partition_from_values;
    use crate::types::{DataType, Kind};

    const DEFAULT: &str = "__DEFAULT_PARTITION__";

    fn fields() -> Vec<DataField> {
        let date = DataType::nullable(Kind::Date);
        vec![DataField::new(0, "dt", DataType::string()), DataField::new(1, "day", date)]
    }

    fn read(text: &str) -> Result<Vec<PartitionSpec>> {
        let fields = fields();
        partition_specs(text, &fields.iter().collect::<Vec<_>>(), DEFAULT)
    }

    #[test]
    fn values_stand_as_they_are_or_in_quotes() {
        let check = |text: &str, expected: &[(&str, Option<&str>)]| {
            let expected: PartitionSpec =
                expected.iter().map(|(k, v)| ((*k).to_owned(), v.map(str::to_owned))).collect();
            assert_eq!(read(text).unwrap(), [expected], "{text}");
        };
        check("dt=a", &[("dt", Some("a"))]);
        check("dt=a b,day=2024-01-31", &[("dt", Some("a b")), ("day", Some("2024-01-31"))]);
        check("dt=a/b/day=2024-01-31", &[("dt", Some("a/b")), ("day", Some("2024-01-31"))]);
        check("dt='a,b;c', day=1", &[("dt", Some("a,b;c")), ("day", Some("1"))]);
        check("dt=\"it's\"/day=1", &[("dt", Some("it's")), ("day", Some("1"))]);
        check("dt=' ''x'' '", &[("dt", Some(" 'x' "))]);
        check("dt=''", &[("dt", Some(""))]);
        check("dt=__DEFAULT_PARTITION__", &[("dt", None)]);
        check("dt='__DEFAULT_PARTITION__'", &[("dt", Some(DEFAULT))]);
        check("dt=a=b", &[("dt", Some("a=b"))]);
        assert_eq!(read("dt=a;dt=b").unwrap().len(), 2);
    }

    #[test]
    fn refusals_say_how_a_value_is_written() {
        for text in ["dt=a,b", "dt=a;b", "dt= a", "dt=a ", "dt=", "dt='a", "dt='a'b", "", "=a", "dt=a,dt=b"] {
            let e = read(text).unwrap_err();
            assert_eq!(e.kind(), crate::ErrorKind::Invalid, "{text}");
            assert!(text == "dt=a,dt=b" || e.hint().is_some_and(|hint| hint.contains('\'')), "{text}: {e:?}");
        }
    }

    proptest! {
        #[test]
        fn names_are_read_back(text in prop::option::of("[ab ,;/='\"%_\t]{0,6}|__DEFAULT_PARTITION__"), day in prop::option::of(-9999..99999i32)) {
            let fields = fields();
            let fields: Vec<&DataField> = fields.iter().collect();
            let values = [(text.map(Datum::String), &fields[0].data_type), (day.map(Datum::Date), &fields[1].data_type)];
            let row = BinaryRow::from_datums(&values).unwrap();
            let name = partition_name(&row, &fields, DEFAULT).unwrap();
            let spec = partition_spec(&name, &fields, DEFAULT).unwrap();
            prop_assert_eq!(partition_from_values(&spec, &fields).unwrap(), row, "{}", name);
        }
    }
}
