//! Servers are told of partitions that are done.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use linn_format::ErrorKind;

use super::*;
use crate::maintain::{HttpPost, mark_done};
use crate::table::Table;

/// A server that answers each request so and keeps what was posted; its address.
async fn server(status: &'static str, answer: &'static str) -> (String, Arc<parking_lot::Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/done", listener.local_addr().unwrap());
    let posted = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let kept = Arc::clone(&posted);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = Vec::new();
            let mut buffer = [0; 1024];
            let body = loop {
                let count = socket.read(&mut buffer).await.unwrap();
                request.extend_from_slice(&buffer[..count]);
                let text = String::from_utf8(request.clone()).unwrap();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(": ")?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().unwrap())
                });
                if body.len() >= length.unwrap_or(0) {
                    break body.to_owned();
                }
            };
            kept.lock().push(body);
            let reply =
                format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}", answer.len());
            socket.write_all(reply.as_bytes()).await.unwrap();
        }
    });
    (url, posted)
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
    let (url, posted) = server("200 OK", r#"{"result":"success"}"#).await;
    let done = [vec![("p".to_owned(), Some("1".to_owned()))], vec![("p".to_owned(), Some("07".to_owned()))]];
    let table = telling(&h, "success-file,http-report", &url, Some("a=b"));
    assert_eq!(
        mark_done(&table, &done, &HttpPost::default()).await.unwrap(),
        ["db.db/t/p=1/_SUCCESS", url.as_str(), "db.db/t/p=7/_SUCCESS", url.as_str()]
    );
    mark_done(&telling(&h, "http-report", &url, None), &done[..1], &HttpPost::default()).await.unwrap();
    let posted: Vec<serde_json::Value> = posted.lock().iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    let path = format!("{}/db.db/t", h.table.storage().root());
    let said = |partition: &str, params: Option<&str>| serde_json::json!({ "params": params, "table": "db.t", "path": path, "partition": partition });
    assert_eq!(posted, [said("p=1/", Some("a=b")), said("p=7/", Some("a=b")), said("p=1/", None)]);
}

#[tokio::test]
async fn a_server_that_does_not_understand_is_an_error() {
    let h = history().await;
    let done = [vec![("p".to_owned(), Some("1".to_owned()))]];
    for (status, answer) in [
        ("200 OK", r#"{"result":"FAILED"}"#),
        ("200 OK", "{}"),
        ("200 OK", "well"),
        ("200 OK", ""),
        ("500 Internal Server Error", r#"{"result":"SUCCESS"}"#),
    ] {
        let (url, posted) = server(status, answer).await;
        let error = mark_done(&telling(&h, "http-report", &url, None), &done, &HttpPost::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{status} {answer}");
        assert!(format!("{error:?}").contains(&url), "{error:?}");
        assert_eq!(posted.lock().len(), 1);
    }
    let error = mark_done(&telling(&h, "http-report", "http://127.0.0.1:1/", None), &done, &HttpPost::default())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(!h.store.paths().iter().any(|path| path.contains("_SUCCESS")));
}
