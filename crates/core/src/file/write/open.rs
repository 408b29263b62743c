//! One file in progress.

use std::sync::Arc;

use arrow_array::RecordBatch;
use linn_format::file::{DataFileMeta, FileWriter};
use linn_format::index::IndexWriter;
use linn_format::{Error, Result, ResultExt};

use super::settings::Settings;
use super::sink::Sink;
use super::summary::Summary;
use crate::seam::StorageWriter;

pub(super) struct OpenFile {
    settings: Arc<Settings>,
    name: String,
    path: String,
    encoder: Box<dyn FileWriter>,
    sink: Sink,
    store: Box<dyn StorageWriter>,
    sent: u64,
    summary: Summary,
    index: Option<IndexWriter>,
    /// Rows in the writer's earlier files.
    start: i64,
}

impl OpenFile {
    pub(super) async fn start(settings: &Arc<Settings>, number: usize, start: i64) -> Result<Self> {
        let name = settings.file_name(number);
        let path = format!("{}/{name}", settings.folder);
        let sink = Sink::default();
        let encoder = settings.format.write(settings.write.clone(), Box::new(sink.clone()))?;
        let index = match settings.indexes.is_empty() {
            true => None,
            false => Some(IndexWriter::new(&settings.table.schema().fields, &settings.indexes)?),
        };
        let summary = Summary::new(settings)?;
        let store = settings.table.storage().writer(&path).await.context("path", &path)?;
        Ok(Self { settings: Arc::clone(settings), name, path, encoder, sink, store, sent: 0, summary, index, start })
    }

    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.encode(batch).context("path", &self.path)?;
        if self.sink.is_full() {
            self.send().await?;
        }
        Ok(())
    }

    fn encode(&mut self, batch: &RecordBatch) -> Result<()> {
        let Self { settings, encoder, summary, .. } = self;
        let mut encode = || match &settings.layout {
            Some(layout) => encoder.write(&layout.to_file(batch)?),
            None => encoder.write(batch),
        };
        let mut summarise = || summary.update(settings, batch);
        let (encoded, summarised) = match settings.write.parallel {
            true => rayon::join(encode, summarise),
            false => (encode(), summarise()),
        };
        encoded.and(summarised)?;
        if let Some(index) = &mut self.index {
            let values: Vec<usize> = (0..self.settings.table.schema().fields.len()).collect();
            index.update(&batch.project(&values)?)?;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<()> {
        self.sent += send(&self.sink, &mut *self.store).await.context("path", &self.path)?;
        Ok(())
    }

    pub(super) fn rows(&self) -> i64 {
        self.summary.rows()
    }

    /// Bytes written, with an estimate of those in memory.
    pub(super) fn size(&self) -> u64 {
        self.encoder.size()
    }

    pub(super) async fn finish(mut self) -> Result<DataFileMeta> {
        let index = self.index.take();
        let result = match self.encoder.finish().context("path", &self.path) {
            Ok(()) => publish(&self.sink, &mut *self.store).await.context("path", &self.path),
            Err(error) => Err(error),
        };
        match result {
            Ok(sent) => self.sent += sent,
            Err(error) => {
                // The first error says more than one of the clean-up.
                let _ = self.store.abort().await;
                return Err(error);
            }
        }
        let mut meta = self.settings.meta(self.name);
        meta.file_size = i64::try_from(self.sent).map_err(|_| Error::internal("a file has too many bytes"))?;
        let described = self.summary.finish(&self.settings, self.start, &mut meta);
        let described = match described {
            Ok(()) => add_index(&self.settings, index, &mut meta).await,
            Err(error) => Err(error),
        };
        match described.context("path", &self.path) {
            Ok(()) => Ok(meta),
            Err(error) => {
                let _ = self.settings.table.storage().delete(&self.path).await;
                Err(error)
            }
        }
    }

    pub(super) async fn abort(mut self) -> Result<()> {
        self.store.abort().await.context("path", &self.path)
    }
}

/// Sends what waits; how many bytes that is.
async fn send(sink: &Sink, store: &mut dyn StorageWriter) -> Result<u64> {
    let mut sent = 0;
    for bytes in sink.take() {
        sent += bytes.len() as u64;
        store.write(bytes).await?;
    }
    Ok(sent)
}

async fn publish(sink: &Sink, store: &mut dyn StorageWriter) -> Result<u64> {
    let sent = send(sink, store).await?;
    store.close().await?;
    Ok(sent)
}

/// Embeds a small index into the metadata and writes a larger one beside the file.
async fn add_index(settings: &Settings, index: Option<IndexWriter>, meta: &mut DataFileMeta) -> Result<()> {
    let Some(bytes) = index.map(IndexWriter::finish).transpose()?.flatten() else { return Ok(()) };
    if bytes.len() as u64 <= settings.embedded_index_size {
        meta.embedded_index = Some(bytes);
        return Ok(());
    }
    let name = format!("{}.index", meta.file_name);
    let path = format!("{}/{name}", settings.folder);
    settings.table.storage().put(&path, bytes).await.context("path", path)?;
    meta.extra_files.push(name);
    Ok(())
}
