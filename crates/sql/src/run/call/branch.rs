//! `sys.create_branch` and its kin.

use futures::StreamExt;
use linn::core::branch::{Branches, Prefer};
use linn::{Error, Result};

use super::Procedure;
use super::answer::success;
use super::arguments::Arguments;
use crate::session::{Output, Session};

pub(super) const PROCEDURES: &[Procedure] = &[
    Procedure {
        name: "create_branch",
        parameters: &["table", "branch", "tag", "ignoreIfExists"],
        run: |session, arguments| Box::pin(create(session, arguments)),
    },
    Procedure {
        name: "delete_branch",
        parameters: &["table", "branch"],
        run: |session, arguments| Box::pin(delete(session, arguments)),
    },
    Procedure {
        name: "rename_branch",
        parameters: &["table", "from_branch", "to_branch"],
        run: |session, arguments| Box::pin(rename(session, arguments)),
    },
    Procedure {
        name: "fast_forward",
        parameters: &["table", "branch"],
        run: |session, arguments| Box::pin(forward(session, arguments)),
    },
    Procedure {
        name: "merge_branch",
        parameters: &["table", "source_branch", "target_branch", "conflicts", "dry_run"],
        run: |session, arguments| Box::pin(merge(session, arguments)),
    },
];

async fn branches(session: &Session, arguments: &Arguments) -> Result<Branches> {
    Ok(Branches::new(&arguments.table(session, None).await?))
}

async fn create(session: &Session, arguments: &Arguments) -> Result<Output> {
    let (branches, name) = (branches(session, arguments).await?, arguments.require("branch")?);
    let ignore = arguments.parsed::<bool>("ignoreIfExists", "true or false")?.unwrap_or(false);
    if !ignore || !branches.exists(name).await? {
        branches.create(name, arguments.get("tag")).await?;
    }
    success()
}

/// Several names are separated by commas.
async fn delete(session: &Session, arguments: &Arguments) -> Result<Output> {
    let branches = branches(session, arguments).await?;
    for name in arguments.require("branch")?.split(',') {
        branches.delete(name.trim()).await?;
    }
    success()
}

async fn rename(session: &Session, arguments: &Arguments) -> Result<Output> {
    let branches = branches(session, arguments).await?;
    branches.rename(arguments.require("from_branch")?, arguments.require("to_branch")?).await?;
    success()
}

async fn forward(session: &Session, arguments: &Arguments) -> Result<Output> {
    branches(session, arguments).await?.fast_forward(arguments.require("branch")?).await?;
    success()
}

async fn merge(session: &Session, arguments: &Arguments) -> Result<Output> {
    let (source, target) = (arguments.require("source_branch")?, arguments.get("target_branch").unwrap_or("main"));
    let branches = branches(session, arguments).await?;
    let prefer = match arguments.get("conflicts") {
        None => None,
        Some("ours") => Some(Prefer::Ours),
        Some("theirs") => Some(Prefer::Theirs),
        Some(other) => {
            return Err(Error::invalid(format!("conflicts cannot be resolved with {other:?}")).with_hint(
                "give 'ours', which keeps the rows of the table, or 'theirs', which takes those of the branch",
            ));
        }
    };
    if arguments.parsed::<bool>("dry_run", "true or false")?.unwrap_or(false) {
        let conflicts = branches.key_changes(source, target).await?.conflicts(usize::MAX)?;
        let schema = conflicts.schema();
        return Ok(Output::Rows { schema, stream: futures::stream::iter([Ok(conflicts)]).boxed() });
    }
    branches.merge(source, target, prefer).await?;
    success()
}
