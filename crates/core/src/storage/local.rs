//! Local disk. A file appears under its name complete and synced or not at all; creation is an exclusive hard link, which
//! exactly one of any number of racing processes gets (spec: reliability.md H18).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use linn_format::{Error, Result, ResultExt};
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;

use super::path;
use crate::seam::{Entry, Ids, Storage, StorageWriter};

/// A folder on local disk.
#[derive(Debug, Clone)]
pub struct Local {
    root: Arc<PathBuf>,
    uri: String,
    ids: Arc<dyn Ids>,
}

impl Local {
    /// The store below `root`, which must be absolute and is created when needed.
    pub fn new(root: impl Into<PathBuf>, ids: Arc<dyn Ids>) -> Self {
        let root = root.into();
        let uri = format!("file:{}", root.display());
        Self { root: Arc::new(root), uri, ids }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        path: &str,
        work: impl FnOnce(&Path) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (root, full) = (Arc::clone(&self.root), self.root.join(path));
        let done = tokio::task::spawn_blocking(move || {
            let _keep = root;
            work(&full)
        });
        done.await
            .map_err(|e| Error::internal("a file operation did not finish").with_source(e))
            .and_then(|result| result)
            .context("path", format_args!("{}/{path}", self.uri))
    }

    /// Writes `bytes` to a temporary file beside `path`, then lets `publish(temporary, final)` give it its name.
    async fn publish(&self, path: &str, bytes: Bytes, publish: fn(&Path, &Path) -> Result<()>) -> Result<()> {
        let path = path::normal(path)?;
        let temporary = path::temporary(path::split(path).1, &self.ids.uuid());
        self.blocking(path, move |full| {
            let folder = parent(full)?;
            make_dir(folder)?;
            let temporary = folder.join(temporary);
            let result = write_synced(&temporary, &bytes).and_then(|()| publish(&temporary, full));
            if result.is_err() {
                // Best effort: what stays behind is a temporary file, which orphan cleaning knows.
                let _ = fs::remove_file(&temporary);
                return result;
            }
            sync_dir(folder)
        })
        .await
    }
}

#[async_trait]
impl Storage for Local {
    async fn stat(&self, path: &str) -> Result<Entry> {
        let path = path::normal(path)?;
        let meta = self.blocking(path, |full| fs::metadata(full).map_err(failed)).await?;
        Ok(entry(path.to_owned(), &meta))
    }

    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes> {
        let path = path::normal(path)?;
        self.blocking(path, move |full| match range {
            None => fs::read(full).map(Bytes::from).map_err(failed),
            Some(range) => read_range(full, &range),
        })
        .await
    }

    async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.publish(path, bytes, |temporary, full| fs::rename(temporary, full).map_err(failed)).await
    }

    async fn create(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.publish(path, bytes, link_exclusive).await
    }

    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>> {
        let path = path::normal(path)?;
        let temporary = path::temporary(path::split(path).1, &self.ids.uuid());
        let (temporary, file) = self
            .blocking(path, move |full| {
                let folder = parent(full)?;
                make_dir(folder)?;
                let temporary = folder.join(temporary);
                let file = OpenOptions::new().write(true).create_new(true).open(&temporary).map_err(failed)?;
                Ok((temporary, file))
            })
            .await?;
        Ok(Box::new(LocalWriter { store: self.clone(), path: path.to_owned(), temporary, file: Some(file) }))
    }

    async fn list(&self, dir: &str) -> Result<Vec<Entry>> {
        let dir = path::folder(dir)?;
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        self.blocking(dir, move |full| {
            let children = match fs::read_dir(full) {
                Ok(children) => children,
                Err(e) if is_absent(&e) => return Ok(Vec::new()),
                Err(e) => return Err(failed(e)),
            };
            let mut entries = Vec::new();
            for child in children {
                let child = child.map_err(failed)?;
                // A name that is not UTF-8 cannot be a file of a table.
                let Ok(name) = child.file_name().into_string() else { continue };
                match fs::metadata(child.path()) {
                    Ok(meta) => entries.push(entry(format!("{prefix}{name}"), &meta)),
                    Err(e) if is_absent(&e) => {}
                    Err(e) => return Err(failed(e)),
                }
            }
            entries.sort_by(|a, b| a.path.cmp(&b.path));
            Ok(entries)
        })
        .await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.blocking(path::normal(path)?, |full| absent_is_fine(fs::remove_file(full))).await
    }

    async fn create_dir(&self, dir: &str) -> Result<()> {
        self.blocking(path::normal(dir)?, make_dir).await
    }

    async fn delete_dir(&self, dir: &str) -> Result<()> {
        self.blocking(path::normal(dir)?, |full| absent_is_fine(fs::remove_dir_all(full))).await
    }

    async fn delete_empty_dir(&self, dir: &str) -> Result<bool> {
        self.blocking(path::normal(dir)?, |full| match fs::remove_dir(full) {
            Ok(()) => Ok(true),
            Err(e) if is_absent(&e) || e.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
            Err(e) => Err(failed(e)),
        })
        .await
    }

    async fn rename_dir(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (path::normal(from)?, path::normal(to)?);
        let target = self.root.join(to);
        self.blocking(from, move |full| {
            if !full.exists() {
                return Err(Error::not_found("no such folder"));
            }
            let folder = parent(&target)?;
            make_dir(folder)?;
            rename_exclusive(full, &target)?;
            sync_dir(folder)?;
            sync_dir(parent(full)?)
        })
        .await
        .context("target", to)
    }

    async fn check_root(&self) -> Result<()> {
        // Without the slash at the end, behind which a file is no folder.
        self.blocking("", |root| match fs::metadata(root.components().as_path()) {
            Ok(meta) if meta.is_dir() => Ok(()),
            Ok(_) => Err(Error::invalid("this is a file, not a folder")),
            Err(e) => Err(failed(e)),
        })
        .await
    }

    fn root(&self) -> &str {
        &self.uri
    }
}

/// A temporary file that is renamed when it is closed and removed when it is dropped before.
struct LocalWriter {
    store: Local,
    path: String,
    temporary: PathBuf,
    file: Option<File>,
}

#[async_trait]
impl StorageWriter for LocalWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let mut file = self.file.take().ok_or_else(closed)?;
        let file = self
            .store
            .blocking(&self.path, move |_| {
                file.write_all(&bytes).map_err(failed)?;
                Ok(file)
            })
            .await?;
        self.file = Some(file);
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        let file = self.file.take().ok_or_else(closed)?;
        let temporary = self.temporary.clone();
        let result = self
            .store
            .blocking(&self.path, move |full| {
                file.sync_all().map_err(failed)?;
                drop(file);
                fs::rename(&temporary, full).map_err(failed)?;
                sync_dir(parent(full)?)
            })
            .await;
        if result.is_err() {
            let _ = fs::remove_file(&self.temporary);
        }
        result
    }

    async fn abort(&mut self) -> Result<()> {
        self.file = None;
        let temporary = self.temporary.clone();
        self.store.blocking(&self.path, move |_| absent_is_fine(fs::remove_file(temporary))).await
    }
}

impl Drop for LocalWriter {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn closed() -> Error {
    Error::invalid("the writer is closed or has failed")
}

fn parent(path: &Path) -> Result<&Path> {
    path.parent().ok_or_else(|| Error::invalid("the path has no parent folder"))
}

fn entry(mut path: String, meta: &fs::Metadata) -> Entry {
    if meta.is_dir() {
        path.push('/');
    }
    let modified = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    Entry {
        path,
        size: if meta.is_dir() { 0 } else { meta.len() },
        modified_millis: modified.and_then(|since| i64::try_from(since.as_millis()).ok()),
    }
}

fn read_range(path: &Path, range: &Range<u64>) -> Result<Bytes> {
    let length = range
        .end
        .checked_sub(range.start)
        .and_then(|length| usize::try_from(length).ok())
        .ok_or_else(|| Error::invalid(format!("byte range {}..{} is invalid", range.start, range.end)))?;
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if range.end > size {
        return Err(super::short(range, size));
    }
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, range.start).map_err(failed)?;
    Ok(bytes.into())
}

/// Creates a folder with its parents, syncing what the new names stand in.
fn make_dir(dir: &Path) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let above = parent(dir)?;
    make_dir(above)?;
    match fs::create_dir(dir) {
        Ok(()) => sync_dir(above),
        Err(_) if dir.is_dir() => Ok(()),
        Err(e) => Err(failed(e)),
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.sync_all().map_err(failed)
}

/// From here on the new name is visible, so a failure leaves its durability open.
fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(|e| Error::unknown_outcome("the folder could not be synced").with_source(e))
}

/// Gives `temporary` its final name unless that is taken. Where links are impossible an exclusive rename does it.
fn link_exclusive(temporary: &Path, full: &Path) -> Result<()> {
    match fs::hard_link(temporary, full) {
        Ok(()) => {
            // The file has two names now; should this fail, the temporary one is left to orphan cleaning.
            let _ = fs::remove_file(temporary);
            Ok(())
        }
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(taken()),
        Err(e) if matches!(e.raw_os_error(), Some(libc::EPERM | libc::ENOTSUP | libc::EMLINK | libc::ENOSYS)) => {
            rename_exclusive(temporary, full)
        }
        Err(e) if e.kind() == io::ErrorKind::StorageFull || is_absent(&e) => Err(failed(e)),
        // Network file systems may link and lose the answer.
        Err(e) => Err(Error::unknown_outcome("the rename may or may not have happened").with_source(e)),
    }
}

#[cfg(target_os = "linux")]
fn rename_exclusive(from: &Path, to: &Path) -> Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST | Errno::NOTEMPTY) => Err(taken()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            Err(Error::unsupported("this file system has neither hard links nor exclusive renames").with_hint(
                "put the warehouse on a file system that has (ext4, xfs, btrfs, apfs) or on an object store with conditional writes",
            ))
        }
        Err(e) => Err(failed(e.into())),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_exclusive(_from: &Path, _to: &Path) -> Result<()> {
    Err(Error::unsupported("exclusive renames are only made on Linux"))
}

fn taken() -> Error {
    Error::already_exists("a file of this name exists already")
}

fn is_absent(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn absent_is_fine(result: io::Result<()>) -> Result<()> {
    match result {
        Err(e) if !is_absent(&e) => Err(failed(e)),
        _ => Ok(()),
    }
}

/// What a failed system call means for the caller.
fn failed(e: io::Error) -> Error {
    if is_absent(&e) {
        return Error::not_found("no such file").with_source(e);
    }
    match e.kind() {
        io::ErrorKind::AlreadyExists => taken(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Error::unavailable("no space left on the disk").with_hint("free some space and try again").with_source(e)
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Error::invalid("the file system does not permit this").with_source(e)
        }
        io::ErrorKind::IsADirectory => Error::invalid("this is a folder, not a file").with_source(e),
        _ => Error::unavailable("the file system failed").with_source(e),
    }
}

#[cfg(test)]
mod tests {
    use linn_format::ErrorKind;

    use super::*;
    use crate::seam::SeededIds;

    #[test]
    fn a_full_disk_says_so() {
        let error = failed(io::Error::from_raw_os_error(libc::ENOSPC));
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("no space left"));
    }

    #[tokio::test]
    async fn nothing_but_the_file_stays_behind() {
        let dir = tempfile::tempdir().unwrap();
        let store = Local::new(dir.path(), Arc::new(SeededIds::new(1)));
        store.create("a/b/c", Bytes::from_static(b"1")).await.unwrap();
        assert!(store.create("a/b/c", Bytes::from_static(b"2")).await.is_err());
        store.put("a/b/c", Bytes::from_static(b"3")).await.unwrap();
        let mut dropped = store.writer("a/b/d").await.unwrap();
        dropped.write(Bytes::from_static(b"half")).await.unwrap();
        drop(dropped);
        let names: Vec<_> = fs::read_dir(dir.path().join("a/b")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["c"]);
    }

    #[tokio::test]
    async fn an_exclusive_rename_stands_in_for_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b, c) = (dir.path().join("a"), dir.path().join("b"), dir.path().join("c"));
        fs::write(&a, "a").unwrap();
        fs::write(&b, "b").unwrap();
        assert_eq!(rename_exclusive(&a, &b).unwrap_err().kind(), ErrorKind::AlreadyExists);
        rename_exclusive(&a, &c).unwrap();
        assert_eq!(fs::read_to_string(&c).unwrap(), "a");
    }
}
