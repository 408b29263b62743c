//! Telling a server that a partition is done (spec: features.md B14, `http-report`): a JSON object with the names `params`, `table`,
//! `path` and `partition` is posted, and one whose `result` is `SUCCESS` must come back.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use linn_format::{Error, Result};

use crate::storage::install_tls;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a server answers that has understood.
const UNDERSTOOD: &str = "SUCCESS";

/// A way to servers.
#[async_trait]
pub trait Post: Send + Sync + fmt::Debug {
    /// Posts JSON; the body of the answer.
    ///
    /// # Errors
    /// `Unavailable` when there is no answer, or one that is none of success; the caller adds the address.
    async fn post(&self, url: &str, json: Bytes) -> Result<Bytes>;
}

/// Posts over HTTP and HTTPS, with one client that the first post makes.
#[derive(Debug, Default)]
pub struct HttpPost(OnceLock<reqwest::Client>);

impl HttpPost {
    fn client(&self) -> reqwest::Result<&reqwest::Client> {
        if let Some(client) = self.0.get() {
            return Ok(client);
        }
        install_tls();
        let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
        Ok(self.0.get_or_init(|| client))
    }
}

#[async_trait]
impl Post for HttpPost {
    async fn post(&self, url: &str, json: Bytes) -> Result<Bytes> {
        let failed = |e: reqwest::Error| Error::unavailable("the server could not be reached").with_source(e);
        let request = self
            .client()
            .map_err(failed)?
            .post(url)
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(json);
        let answer = request.send().await.and_then(reqwest::Response::error_for_status).map_err(failed)?;
        answer.bytes().await.map_err(failed)
    }
}

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
