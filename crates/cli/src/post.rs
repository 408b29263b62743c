//! Posting to servers over HTTP and HTTPS (`partition.mark-done-action` with `http-report`).

use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use linn::core::seam::Post;
use linn::{Error, Result};

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Posts over HTTP and HTTPS, with one client that the first post makes.
#[derive(Debug, Default)]
pub(crate) struct HttpPost(OnceLock<reqwest::Client>);

impl HttpPost {
    fn client(&self) -> reqwest::Result<&reqwest::Client> {
        if let Some(client) = self.0.get() {
            return Ok(client);
        }
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// A server that answers one request so; its address, and what was posted.
    async fn server(status: &'static str) -> (String, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/done", listener.local_addr().unwrap());
        let served = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let (mut request, mut buffer) = (String::new(), [0; 1024]);
            while !request.ends_with("{}") {
                let count = socket.read(&mut buffer).await.unwrap();
                request.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
            }
            let reply = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
            socket.write_all(reply.as_bytes()).await.unwrap();
            request
        });
        (url, served)
    }

    #[tokio::test]
    async fn what_a_server_answers_comes_back() {
        rustls::crypto::ring::default_provider().install_default().ok();
        let (url, served) = server("200 OK").await;
        assert_eq!(HttpPost::default().post(&url, "{}".into()).await.unwrap(), "ok");
        let request = served.await.unwrap().to_lowercase();
        assert!(request.starts_with("post /done") && request.contains("content-type: application/json"), "{request}");
    }

    #[tokio::test]
    async fn no_answer_and_a_status_of_failure_are_errors() {
        rustls::crypto::ring::default_provider().install_default().ok();
        let (url, _served) = server("500 Internal Server Error").await;
        for url in [url.as_str(), "http://127.0.0.1:1/"] {
            let error = HttpPost::default().post(url, "{}".into()).await.unwrap_err();
            assert_eq!(error.kind(), linn::ErrorKind::Unavailable);
        }
    }
}
