//! The rows that a compaction takes in.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use linn_format::Error;
use linn_format::file::DataFileMeta;
use linn_format::types::DataField;

use crate::file::BucketFiles;
use crate::merge::LeveledStream;
use crate::vector::BucketVectors;

/// Streams the rows of a sorted run that `vectors` leave, with the level of each file, opening one file at a time.
pub(crate) fn read_run(
    files: Arc<dyn BucketFiles>,
    run: Vec<Arc<DataFileMeta>>,
    fields: Arc<[DataField]>,
    vectors: &BucketVectors,
) -> LeveledStream {
    let run: Vec<_> = run.into_iter().map(|file| (vectors.get(&file.file_name).cloned(), file)).collect();
    futures::stream::iter(run)
        .then(move |(deleted, file)| {
            let (files, fields) = (files.clone(), fields.clone());
            async move {
                let level = file.level;
                Ok::<_, Error>(files.read(&file, &fields, deleted).await?.map_ok(move |batch| (batch, level)))
            }
        })
        .try_flatten()
        .boxed()
}
