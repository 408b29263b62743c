//! Which entries of a manifest a plan needs, decided on columns before any file is materialised.

use std::collections::HashMap;
use std::sync::Arc;

use linn_format::manifest::{EntryBatch, FileKind, ManifestMeta};
use linn_format::schema::TableSchema;
use linn_format::{Result, SchemaId};

use super::bucket::Buckets;
use super::filter::Filters;
use crate::file::answerable;
use crate::manifest::Selection;
use crate::schema::Schemas;
use crate::table::{Count, ScanCounts};

/// What is taken from manifests.
#[derive(Debug)]
pub(super) struct Selector {
    pub(super) filters: Filters,
    pub(super) buckets: Buckets,
    /// Whether files of level 0 are left out.
    pub(super) skip_level_0: bool,
    /// The only level whose files are taken.
    pub(super) only_level: Option<i32>,
    /// Whether each file may be judged by its values alone: none shares a key with another.
    pub(super) judge_values: bool,
    /// Only files made then or later, by the local clock.
    pub(super) made_since: Option<i64>,
    pub(super) schemas: Schemas,
    /// The table's schema, which most files were written with.
    pub(super) schema: Arc<TableSchema>,
    pub(super) read_index: bool,
    pub(super) counts: Option<Arc<ScanCounts>>,
}

impl Selector {
    /// Whether a manifest may have entries that are taken.
    pub(super) fn may_have(&self, meta: &ManifestMeta) -> Result<bool> {
        if self.skip_level_0 && meta.max_level.is_some_and(|l| l <= 0) {
            return Ok(false);
        }
        Ok(self.buckets.may_have(meta.min_bucket, meta.max_bucket) && self.filters.may_have(meta)?)
    }

    /// The entries that are taken. What deletes is narrowed by identity alone.
    pub(super) async fn select(&self, batch: &Arc<EntryBatch>) -> Result<Selection> {
        let partitions = self.filters.partitions.of(batch)?;
        let schemas = self.schemas_of(batch).await?;
        let mut selection = Selection::default();
        for i in 0..batch.len() {
            if partitions.as_ref().is_some_and(|p| !p.get(batch.partition_id(i) as usize).is_some_and(|p| *p)) {
                self.count(batch, i, |counts| &counts.by_partition);
                continue;
            }
            if self.skip_level_0 && batch.level(i) <= 0 || self.only_level.is_some_and(|level| batch.level(i) != level)
            {
                self.count(batch, i, |counts| &counts.by_level);
                continue;
            }
            if !self.buckets.all() && !self.buckets.has(batch.bucket(i), batch.total_buckets(i))? {
                self.count(batch, i, |counts| &counts.by_bucket);
                continue;
            }
            let index = i as u32;
            match batch.kind(i) {
                FileKind::Delete => selection.deletes.push(index),
                FileKind::Add if self.takes(batch, i, &schemas)? => selection.adds.push(index),
                FileKind::Add => {}
            }
        }
        Ok(selection)
    }

    /// Whether a file may have rows that are asked for, by its keys and, where each is judged by itself, its values.
    pub(super) fn takes(
        &self,
        batch: &EntryBatch,
        i: usize,
        schemas: &HashMap<SchemaId, Arc<TableSchema>>,
    ) -> Result<bool> {
        // A file whose time nobody noted is old.
        if let Some(since) = self.made_since
            && batch.file(i)?.creation_time.is_none_or(|made| made < since)
        {
            return Ok(false);
        }
        if !self.filters.has_keys(batch, i)? {
            self.count(batch, i, |counts| &counts.by_key);
            return Ok(false);
        }
        Ok(!self.judge_values || self.has_values(batch, i, schemas)?)
    }

    /// Counts a file that is left out.
    fn count(&self, batch: &EntryBatch, i: usize, of: impl FnOnce(&ScanCounts) -> &Count) {
        if let Some(counts) = self.counts.as_ref().filter(|_| batch.kind(i) == FileKind::Add) {
            of(counts).add(1);
        }
    }

    /// Whether a file may have rows that are asked for, from statistics and from its embedded index.
    pub(super) fn has_values(
        &self,
        batch: &EntryBatch,
        i: usize,
        schemas: &HashMap<SchemaId, Arc<TableSchema>>,
    ) -> Result<bool> {
        let (Some(filter), Some(schema)) = (&self.filters.value, schemas.get(&batch.schema_id(i))) else {
            return Ok(true);
        };
        if !self.filters.has_values(batch, i, schema)? {
            self.count(batch, i, |counts| &counts.by_statistics);
            return Ok(false);
        }
        let Some(index) = batch.embedded_index(i)?.filter(|_| self.read_index) else { return Ok(true) };
        let filter = filter.for_file(&self.filters.fields, &schema.fields);
        let mut scratch = String::new();
        let filter = answerable(batch.file_name(i).in_one(&mut scratch), &schema.fields, &filter);
        let found = linn_format::index::evaluate(&index, &schema.fields, &filter)?;
        let skips = found == linn_format::index::IndexResult::Skip;
        if skips {
            self.count(batch, i, |counts| &counts.by_index);
        }
        Ok(!skips)
    }

    /// The schemas that the files of a manifest were written with, when values are judged.
    pub(super) async fn schemas_of(&self, batch: &EntryBatch) -> Result<HashMap<SchemaId, Arc<TableSchema>>> {
        let mut schemas = HashMap::new();
        if self.filters.value.is_none() {
            return Ok(schemas);
        }
        for i in 0..batch.len() {
            let id = batch.schema_id(i);
            if schemas.contains_key(&id) {
                continue;
            }
            let schema = if id == self.schema.id { Arc::clone(&self.schema) } else { self.schemas.get(id).await? };
            schemas.insert(id, schema);
        }
        Ok(schemas)
    }
}
