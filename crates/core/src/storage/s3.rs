//! S3 and stores that speak its protocol: from options to operators.

use std::sync::{Arc, Once};
use std::time::Duration;

use linn_format::options::Options;
use linn_format::{Error, Result};
use opendal::layers::{ConcurrentLimitLayer, RetryLayer, TimeoutLayer};
use opendal::{Operator, services};

use super::object::Object;
use crate::seam::Storage;

/// Requests in flight to one store.
const CONCURRENCY: usize = 64;

/// Opens `//bucket/prefix`.
pub(super) fn open(uri: &str, rest: &str, options: &Options) -> Result<Arc<dyn Storage>> {
    let place = rest.trim_start_matches('/').trim_end_matches('/');
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    if bucket.is_empty() {
        return Err(Error::invalid("an S3 URI needs a bucket: s3://bucket/prefix").with("uri", uri));
    }
    install_transport();
    let build = || operator(bucket, prefix, options).map_err(|e| e.with("uri", uri));
    let attempts = RetryLayer::new().with_max_times(5).with_min_delay(Duration::from_millis(50)).with_jitter();
    // Each attempt is timed; the time-out below the retries is the order that keeps a retried body's state.
    let patient = build()?.layer(timeout()).layer(attempts).layer(ConcurrentLimitLayer::new(CONCURRENCY));
    let once = build()?.layer(timeout());
    let root = if prefix.is_empty() { format!("s3://{bucket}") } else { format!("s3://{bucket}/{prefix}") };
    Ok(Arc::new(Object::new(patient, once, root)))
}

fn timeout() -> TimeoutLayer {
    TimeoutLayer::new().with_timeout(Duration::from_secs(30)).with_io_timeout(Duration::from_secs(60))
}

fn operator(bucket: &str, prefix: &str, options: &Options) -> Result<Operator> {
    let get = |name| option(options, name);
    let mut builder = services::S3::default()
        .bucket(bucket)
        .root(&format!("/{prefix}"))
        .endpoint(get("endpoint").unwrap_or_default())
        .access_key_id(get("access-key").unwrap_or_default())
        .secret_access_key(get("secret-key").unwrap_or_default())
        .session_token(get("session-token").unwrap_or_default());
    match get("region").or_else(|| get("endpoint-region")) {
        Some(region) => builder = builder.region(region),
        None if std::env::var_os("AWS_REGION").is_none() && std::env::var_os("AWS_DEFAULT_REGION").is_none() => {
            builder = builder.region("us-east-1");
        }
        None => {}
    }
    match get("path-style-access").map(str::to_ascii_lowercase).as_deref() {
        None | Some("true") => {}
        Some("false") => builder = builder.enable_virtual_host_style(),
        Some(other) => return Err(Error::invalid(format!("s3.path-style-access is {other:?}, not true or false"))),
    }
    Operator::new(builder).map_err(|e| Error::invalid("the S3 options do not make a store").with_source(e))
}

/// The value of an S3 option under any of its spellings.
fn option<'a>(options: &'a Options, name: &str) -> Option<&'a str> {
    let dotted = name.replace('-', ".");
    ["s3.", "s3a.", "fs.s3a.", "fs.s3."]
        .iter()
        .flat_map(|prefix| [format!("{prefix}{name}"), format!("{prefix}{dotted}")])
        .find_map(|key| options.raw(&key))
        .filter(|value| !value.is_empty())
}

/// TLS of the process.
fn install_tls() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Another one is there when this fails, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// HTTP and TLS of the process. rustls refuses to choose between providers; the first one installed in a process stays.
fn install_transport() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        install_tls();
        opendal_http_transport_reqwest::install_default();
    });
}
