//! The arguments of a call, bound to the parameters of its procedure, and read as what they should be.

use std::str::FromStr;

use linn::format::suggest::did_you_mean;
use linn::{Error, Identifier, Options, Result, Table};

use crate::parse::CallArgument;
use crate::provider::open_table;
use crate::session::Session;

/// What a procedure was given, as text.
pub(super) struct Arguments {
    procedure: &'static str,
    values: Vec<(&'static str, String)>,
}

impl Arguments {
    /// Binds arguments by name or position.
    pub(super) fn bind(
        procedure: &'static str,
        parameters: &'static [&'static str],
        arguments: Vec<CallArgument>,
    ) -> Result<Self> {
        let mut values: Vec<(&'static str, String)> = Vec::new();
        for (at, argument) in arguments.into_iter().enumerate() {
            let parameter = match &argument.name {
                Some(name) => parameters.iter().find(|p| p.eq_ignore_ascii_case(name)),
                None => parameters.get(at),
            };
            let Some(parameter) = parameter else {
                return Err(Error::invalid(format!("sys.{procedure} has no argument of this name"))
                    .with("argument", argument.name.clone().unwrap_or_else(|| format!("number {}", at + 1)))
                    .with_hint(
                        match argument.name.and_then(|name| did_you_mean(&name, parameters.iter().copied())) {
                            Some(hint) => hint,
                            None => format!("its arguments are {}", parameters.join(", ")),
                        },
                    ));
            };
            if values.iter().any(|(p, _)| p == parameter) {
                return Err(Error::invalid("the argument is given twice").with("argument", parameter));
            }
            values.push((parameter, argument.value));
        }
        Ok(Self { procedure, values })
    }

    /// A value that is given and not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(p, _)| *p == name).map(|(_, v)| v.as_str()).filter(|v| !v.is_empty())
    }

    /// A value that must be given.
    pub(super) fn require(&self, name: &str) -> Result<&str> {
        self.get(name).ok_or_else(|| {
            let error = Error::invalid(format!("sys.{} needs the argument {name}", self.procedure));
            error.with_hint(format!("CALL sys.{}(`table` => 'db.t', …)", self.procedure))
        })
    }

    /// A value as a number or whatever else parses from text; `what` names it in the error.
    pub(super) fn parsed<T: FromStr>(&self, name: &str, what: &str) -> Result<Option<T>> {
        let parse = |text: &str| {
            let parsed = text.trim().parse();
            parsed
                .map_err(|_| Error::invalid(format!("{name} {text:?} is not {what}")).with("procedure", self.procedure))
        };
        self.get(name).map(parse).transpose()
    }

    /// The name in the argument `table`.
    pub(super) fn identifier(&self, session: &Session) -> Result<Identifier> {
        let parts: Vec<String> = self.require("table")?.split('.').map(str::to_owned).collect();
        session.identifier(&parts)
    }

    /// The table of the argument `table`, with options for this call.
    pub(super) async fn table(&self, session: &Session, options: Option<&Options>) -> Result<Table> {
        let id = self.identifier(session)?;
        let options = session.settings().of(&id, options);
        open_table(session.catalog(), &id, options.as_ref()).await
    }

    /// `k=v,k=v` as options.
    pub(super) fn options(&self, name: &str) -> Result<Option<Options>> {
        let pairs = self.get(name).map(key_values).transpose()?;
        Ok(pairs.map(|pairs| pairs.into_iter().collect()))
    }
}

/// `k=v,k=v`.
fn key_values(text: &str) -> Result<Vec<(String, String)>> {
    text.split(',')
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
            None => Err(Error::invalid(format!("{pair:?} is not of the form key=value"))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: Option<&str>, value: &str) -> CallArgument {
        CallArgument { name: name.map(str::to_owned), value: value.to_owned() }
    }

    #[test]
    fn names_and_places_bind() {
        let bound = Arguments::bind("p", &["table", "n"], vec![given(None, "t"), given(Some("N"), " 3 ")]).unwrap();
        assert_eq!(bound.require("table").unwrap(), "t");
        assert_eq!(bound.parsed::<i64>("n", "a number").unwrap(), Some(3));
        assert!(bound.require("other").is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for arguments in [
            vec![given(Some("x"), "1")],
            vec![given(None, "1"), given(None, "2"), given(None, "3")],
            vec![given(None, "1"), given(Some("table"), "2")],
        ] {
            assert!(Arguments::bind("p", &["table", "n"], arguments).is_err());
        }
        let bound = Arguments::bind("p", &["table", "n"], vec![given(Some("n"), "x")]).unwrap();
        assert!(bound.parsed::<i64>("n", "a number").is_err());
    }
}
