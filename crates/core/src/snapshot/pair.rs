//! A tag that made itself, and the one of the last period before it that has one (spec: features.md B11; cases: C12).

use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};

use super::Tags;
use super::period::Period;
use crate::table::Table;

/// The snapshots of both, the earlier one first; `None` without the tag or without an earlier one.
///
/// # Errors
/// `Invalid` for a name that no period gives, and what reading tags yields.
pub(crate) async fn automatic_pair(table: &Table, name: &str) -> Result<Option<(Snapshot, Snapshot)>> {
    let period = Period::of(table.options())?;
    let Some(time) = period.parse(name) else {
        return Err(Error::invalid(format!("{name:?} is not the name of an automatic tag"))
            .with("table", table.name())
            .with_hint("such names are of periods, as tag.creation-period and tag.period-formatter say"));
    };
    let tags = Tags::new(table);
    let Some(later) = tags.find(name).await? else { return Ok(None) };
    let times = tags.list().await?.into_iter().filter_map(|name| Some((period.parse(&name)?, name)));
    let Some((_, name)) = times.filter(|(at, _)| *at < time).max() else { return Ok(None) };
    Ok(tags.find(&name).await?.map(|earlier| (earlier.snapshot, later.snapshot)))
}
