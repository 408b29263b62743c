//! Servers are told of partitions that are done.

use std::sync::Arc;

use async_trait::async_trait;
use linn_format::{ErrorKind, Result};

use super::*;
use crate::maintain::mark_done;
use crate::seam::{Env, Post};
use crate::table::Table;

/// A server that gives each request the same answer and keeps what was posted.
#[derive(Debug)]
struct Server {
    answer: &'static str,
    posted: parking_lot::Mutex<Vec<(String, Bytes)>>,
}

#[async_trait]
impl Post for Server {
    async fn post(&self, url: &str, json: Bytes) -> Result<Bytes> {
        self.posted.lock().push((url.to_owned(), json));
        Ok(Bytes::from_static(self.answer.as_bytes()))
    }
}

const URL: &str = "http://server/done";

fn server(answer: &'static str) -> Arc<Server> {
    Arc::new(Server { answer, posted: parking_lot::Mutex::default() })
}

/// The table, whose partitions are reported there.
fn to(table: &Table, post: Arc<dyn Post>) -> Table {
    let env = Env { post, ..table.env().clone() };
    Table::new(table.name(), table.path(), table.schema().clone(), env)
}

fn telling(h: &History, actions: &str, url: &str, params: Option<&str>) -> Table {
    let mut options = vec![("partition.mark-done-action", actions), ("partition.mark-done-action.http.url", url)];
    options.extend(params.map(|params| ("partition.mark-done-action.http.params", params)));
    h.table.with_options(&options.into_iter().collect()).unwrap()
}

async fn history() -> History {
    History::of(schema(true, false, &[("bucket", "-1")]), |store| store).await
}

#[tokio::test]
async fn a_server_is_told_after_the_mark_is_there() {
    let h = history().await;
    let server = server(r#"{"result":"success"}"#);
    let done = [vec![("p".to_owned(), Some("1".to_owned()))], vec![("p".to_owned(), Some("07".to_owned()))]];
    let table = to(&telling(&h, "success-file,http-report", URL, Some("a=b")), server.clone());
    assert_eq!(mark_done(&table, &done).await.unwrap(), ["db.db/t/p=1/_SUCCESS", URL, "db.db/t/p=7/_SUCCESS", URL]);
    mark_done(&to(&telling(&h, "http-report", URL, None), server.clone()), &done[..1]).await.unwrap();
    let posted = server.posted.lock().clone();
    assert!(posted.iter().all(|(url, _)| url == URL));
    let posted: Vec<serde_json::Value> = posted.iter().map(|(_, body)| serde_json::from_slice(body).unwrap()).collect();
    let path = format!("{}/db.db/t", h.table.storage().root());
    let said = |partition: &str, params: Option<&str>| serde_json::json!({ "params": params, "table": "db.t", "path": path, "partition": partition });
    assert_eq!(posted, [said("p=1/", Some("a=b")), said("p=7/", Some("a=b")), said("p=1/", None)]);
}

#[tokio::test]
async fn a_server_that_does_not_understand_is_an_error() {
    let h = history().await;
    let done = [vec![("p".to_owned(), Some("1".to_owned()))]];
    for answer in [r#"{"result":"FAILED"}"#, "{}", "well", ""] {
        let server = server(answer);
        let table = to(&telling(&h, "http-report", URL, None), server.clone());
        let error = mark_done(&table, &done).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{answer}");
        assert!(format!("{error:?}").contains(URL), "{error:?}");
        assert_eq!(server.posted.lock().len(), 1);
    }
    let error = mark_done(&telling(&h, "http-report", URL, None), &done).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "the environment of the table has no client");
    assert!(!h.store.paths().iter().any(|path| path.contains("_SUCCESS")));
}
