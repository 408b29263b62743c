//! Where files are: paths, folders and patterns, on local disk and in S3.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use glob::Pattern;
use linn::core::Storage;
use linn::core::storage::open;
use linn::{Error, ErrorKind, Options, Result};

/// The scheme under which DataFusion knows the files of a store.
pub(super) const FILES: &str = "linn-files";

/// A file.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Its store.
    pub(super) storage: Arc<dyn Storage>,
    /// The store's name: empty for local disk, else the bucket.
    pub(super) store: String,
    /// The path in the store.
    pub(super) path: String,
    /// Its size in bytes.
    pub(super) size: u64,
    /// Its name for messages.
    pub(super) uri: String,
}

/// The stores that a session has opened, by bucket.
#[derive(Debug, Default)]
pub(crate) struct Stores(Mutex<BTreeMap<String, Arc<dyn Storage>>>);

impl Stores {
    /// The store of a path, its name, and the path in it.
    ///
    /// # Errors
    /// `Invalid` for a path that makes no sense, `Unsupported` for a scheme without a store.
    pub(super) fn of(&self, uri: &str, options: &Options) -> Result<(Arc<dyn Storage>, String, String)> {
        let s3 = ["s3://", "s3a://", "s3n://"].iter().find_map(|scheme| uri.strip_prefix(scheme));
        let (name, path) = match s3 {
            Some(rest) => {
                let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
                (bucket.to_owned(), key.to_owned())
            }
            None => (String::new(), local(uri)?),
        };
        if s3.is_some() && name.is_empty() {
            return Err(Error::invalid("an S3 path needs a bucket: s3://bucket/key").with("path", uri));
        }
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let storage = match stores.get(&name) {
            Some(storage) => Arc::clone(storage),
            None => {
                let root = if name.is_empty() { "file:///".to_owned() } else { format!("s3://{name}") };
                let storage = open(&root, options)?;
                stores.insert(name.clone(), Arc::clone(&storage));
                storage
            }
        };
        Ok((storage, name, path))
    }

    /// The files that a path, a folder or a pattern means, in the order of their names.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub(super) async fn find(&self, uri: &str, options: &Options) -> Result<Vec<Place>> {
        let (storage, store, path) = self.of(uri, options)?;
        let place = |path: String, size: u64| {
            let uri = if store.is_empty() { format!("/{path}") } else { format!("s3://{store}/{path}") };
            Place { storage: Arc::clone(&storage), store: store.clone(), path, size, uri }
        };
        let mut found: Vec<(String, u64)> = Vec::new();
        if let Some(at) = path.split('/').position(|part| part.contains(['*', '?', '['])) {
            let parts: Vec<&str> = path.split('/').collect();
            let (folder, rest) = parts.split_at(at);
            walk(&*storage, folder.join("/"), rest, &mut found).await?;
        } else {
            match storage.stat(&path).await {
                Ok(entry) if !entry.is_dir() => found.push((path.clone(), entry.size)),
                Ok(_) => walk(&*storage, path.clone(), &["**", "*"], &mut found).await?,
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    walk(&*storage, path.clone(), &["**", "*"], &mut found).await?;
                }
                Err(e) => return Err(e),
            }
        }
        found.sort();
        found.dedup();
        if found.is_empty() {
            return Err(Error::not_found("there is no such file").with("path", uri));
        }
        Ok(found.into_iter().map(|(path, size)| place(path, size)).collect())
    }
}

/// A local path from the root, without its slash.
fn local(uri: &str) -> Result<String> {
    let path = match uri.strip_prefix("file:") {
        Some(rest) => format!("/{}", rest.trim_start_matches('/')),
        None => match uri.split_once("://") {
            Some((scheme, _)) => {
                return Err(Error::unsupported(format!("files under {scheme}://"))
                    .with("path", uri)
                    .with_hint("files are on local disk or under s3://"));
            }
            None => uri.to_owned(),
        },
    };
    if path.is_empty() {
        return Err(Error::invalid("the path of the file is empty"));
    }
    let absolute = std::path::absolute(&path)
        .map_err(|e| Error::invalid("the path cannot be made absolute").with("path", uri).with_source(e))?;
    let mut parts: Vec<String> = Vec::new();
    for part in absolute.components() {
        match part {
            std::path::Component::ParentDir => drop(parts.pop()),
            std::path::Component::Normal(name) => {
                let name = name.to_str().ok_or_else(|| Error::invalid("the path is not UTF-8").with("path", uri))?;
                parts.push(name.to_owned());
            }
            _ => {}
        }
    }
    Ok(parts.join("/"))
}

/// Collects the files below a folder whose names match the parts of a pattern; `**` is any number of folders. Names that begin
/// with a point or an underscore are hidden unless the pattern names them.
fn walk<'a>(
    storage: &'a dyn Storage,
    folder: String,
    parts: &'a [&'a str],
    found: &'a mut Vec<(String, u64)>,
) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        if *part == "**" {
            walk(storage, folder.clone(), rest, found).await?;
        }
        let wrong = |e: glob::PatternError| Error::invalid(format!("'{part}' is not a valid file pattern: {}", e.msg));
        let pattern = Pattern::new(if *part == "**" { "*" } else { part }).map_err(wrong)?;
        for entry in storage.list(&folder).await? {
            let path = entry.path.trim_end_matches('/');
            let name = path.rsplit('/').next().unwrap_or_default();
            let hidden = name.starts_with(['.', '_']) && !part.starts_with(['.', '_']);
            if hidden || !pattern.matches(name) {
                continue;
            }
            if entry.is_dir() {
                let below = if *part == "**" { parts } else { rest };
                walk(storage, path.to_owned(), below, found).await?;
            } else if rest.is_empty() && *part != "**" {
                found.push((path.to_owned(), entry.size));
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn patterns_find_files() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/1.csv", "a/2.csv", "a/x.txt", "b/c/3.csv", "b/_hidden.csv", "b/.temporary.csv"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let stores = Stores::default();
        for (pattern, expected) in [
            ("a/1.csv", vec!["a/1.csv"]),
            ("a/*.csv", vec!["a/1.csv", "a/2.csv"]),
            ("a", vec!["a/1.csv", "a/2.csv", "a/x.txt"]),
            ("**/*.csv", vec!["a/1.csv", "a/2.csv", "b/c/3.csv"]),
            ("*/[12].csv", vec!["a/1.csv", "a/2.csv"]),
            ("b/_*.csv", vec!["b/_hidden.csv"]),
            ("b/../a/?.csv", vec!["a/1.csv", "a/2.csv"]),
        ] {
            let uri = format!("{}/{pattern}", folder.path().display());
            let found = stores.find(&uri, &Options::new()).await.unwrap();
            let base = format!("{}/", folder.path().display());
            let found: Vec<&str> = found.iter().map(|place| place.uri.strip_prefix(&base).unwrap()).collect();
            assert_eq!(found, expected, "{pattern}");
        }
        for (uri, kind) in [
            (format!("{}/none", folder.path().display()), ErrorKind::NotFound),
            (format!("{}/*.none", folder.path().display()), ErrorKind::NotFound),
            ("http://x/y.csv".to_owned(), ErrorKind::Unsupported),
            ("s3:///x".to_owned(), ErrorKind::Invalid),
            (String::new(), ErrorKind::Invalid),
        ] {
            assert_eq!(stores.find(&uri, &Options::new()).await.unwrap_err().kind(), kind, "{uri}");
        }
    }
}
