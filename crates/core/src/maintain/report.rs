//! Telling a server that a partition is done (spec: features.md B14, `http-report`): a JSON object with the names `params`, `table`,
//! `path` and `partition` is posted, and one whose `result` is `SUCCESS` must come back.

use linn_format::{Error, Result};

use crate::seam::Post;

/// What a server answers that has understood.
const UNDERSTOOD: &str = "SUCCESS";

/// Where a table's partitions are told of, and what is said beside.
#[derive(Debug)]
pub(super) struct Report {
    url: String,
    params: Option<String>,
    table: String,
    path: String,
}

impl Report {
    pub(super) fn new(url: &str, params: Option<&str>, table: &str, path: String) -> Self {
        Self { url: url.to_owned(), params: params.map(str::to_owned), table: table.to_owned(), path }
    }

    /// The server's address.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Tells of a partition, given as its folders with a slash at the end.
    ///
    /// # Errors
    /// `Unavailable` when the server cannot be reached or does not say that it has understood.
    pub(super) async fn tell(&self, post: &dyn Post, partition: &str) -> Result<()> {
        let said = serde_json::json!({
            "params": self.params,
            "table": self.table,
            "path": self.path,
            "partition": partition,
        });
        let told = async {
            let answer = post.post(&self.url, said.to_string().into()).await?;
            let answer: serde_json::Value = serde_json::from_slice(&answer)
                .map_err(|e| Error::unavailable("the server's answer is not JSON").with_source(e))?;
            match answer.get("result").and_then(serde_json::Value::as_str) {
                Some(result) if result.eq_ignore_ascii_case(UNDERSTOOD) => Ok(()),
                _ => Err(Error::unavailable(format!("the server answered {answer} where result should be SUCCESS"))),
            }
        };
        let hint = "the earlier mark actions of the partition are done; run the command again";
        told.await.map_err(|e| {
            e.with("table", &self.table).with("partition", partition).with("url", &self.url).with_hint(hint)
        })
    }
}
