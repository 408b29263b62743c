//! The way to servers that are not stores.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use linn_format::{Error, Result};

/// Posts to servers.
#[async_trait]
pub trait Post: Send + Sync + fmt::Debug {
    /// Posts JSON; the body of the answer.
    ///
    /// # Errors
    /// `Unavailable` when there is no answer, or one that is not a success; the caller adds the address.
    async fn post(&self, url: &str, json: Bytes) -> Result<Bytes>;
}

/// No server can be reached: what a program has that brings no client.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPost;

#[async_trait]
impl Post for NoPost {
    async fn post(&self, _url: &str, _json: Bytes) -> Result<Bytes> {
        Err(Error::unsupported("reporting to a server").with_hint("give the environment a client (`Env::post`)"))
    }
}
