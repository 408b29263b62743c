//! Procedures: `CALL sys.compact(…)`. Every group is a file with its table of procedures; names and the order of the
//! parameters are the reference's (spec: features.md B19, B20).

mod answer;
mod arguments;
mod branch;
mod compact;
mod consumer;
mod maintain;
mod partition;
mod rollback;
mod tag;

use futures::future::BoxFuture;
use linn::format::suggest::did_you_mean;
use linn::{Error, Result};

use arguments::Arguments;

use crate::parse::CallArgument;
use crate::session::{Output, Session};

/// A procedure and its parameters in order.
struct Procedure {
    name: &'static str,
    parameters: &'static [&'static str],
    run: for<'a> fn(&'a Session, &'a Arguments) -> BoxFuture<'a, Result<Output>>,
}

/// All procedures, group by group.
const GROUPS: &[&[Procedure]] = &[
    compact::PROCEDURES,
    tag::PROCEDURES,
    branch::PROCEDURES,
    rollback::PROCEDURES,
    maintain::PROCEDURES,
    consumer::PROCEDURES,
];

/// The names of all procedures.
pub(crate) fn procedures() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().copied().flatten().map(|procedure| procedure.name)
}

/// All procedures with their parameters.
pub(super) fn signatures() -> Vec<(String, String)> {
    let all = GROUPS.iter().copied().flatten();
    all.map(|p| (format!("sys.{}", p.name), p.parameters.join(", "))).collect()
}

pub(super) async fn call(session: &Session, name: &[String], arguments: Vec<CallArgument>) -> Result<Output> {
    let called = name.last().map(String::as_str).unwrap_or_default();
    let all = || GROUPS.iter().copied().flatten();
    let Some(procedure) = all().find(|p| p.name.eq_ignore_ascii_case(called)) else {
        let hint = did_you_mean(called, all().map(|p| p.name));
        return Err(Error::not_found(format!("there is no procedure sys.{called}"))
            .with_hint(hint.unwrap_or_else(|| "SHOW PROCEDURES lists them".to_owned())));
    };
    let arguments = Arguments::bind(procedure.name, procedure.parameters, arguments)?;
    (procedure.run)(session, &arguments).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        let mut names: Vec<&str> = GROUPS.iter().copied().flatten().map(|p| p.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for procedure in GROUPS.iter().copied().flatten() {
            let mut parameters = procedure.parameters.to_vec();
            parameters.sort_unstable();
            parameters.dedup();
            assert_eq!(parameters.len(), procedure.parameters.len(), "{}", procedure.name);
        }
    }
}
