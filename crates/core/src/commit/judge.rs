//! Whether a change fits what the table holds.

use std::collections::{HashMap, HashSet};

use linn_format::Result;
use linn_format::manifest::{DELETION_VECTORS_INDEX, EntryBatch, IndexManifestEntry, ManifestMeta};
use linn_format::snapshot::CommitKind;
use linn_format::types::DataType;

use super::attempt::{Phase, State};
use super::base::{self, BaseFiles};
use super::change::Change;
use super::conflict::{self, Base, Rules, Simple};
use super::scope::Scope;
use super::settings::Settings;
use super::vector;

/// Partitions whose bucket count is known to be right.
const CHECKED_PARTITIONS: usize = 1000;

/// Whether a change fits.
pub(super) enum Fits {
    Yes,
    /// When it is reduced to this.
    Without(Change),
    No(String),
}

impl State {
    pub(super) fn is_unaware(&self) -> bool {
        let bucket = self.table().options().get("bucket").map_or(-1, |text| text.trim().parse().unwrap_or(-1));
        bucket == -1 && self.table().schema().primary_keys.is_empty()
    }

    /// Checks a change against what the table holds. Nothing is read when nothing can be wrong: rows are only added, to
    /// partitions whose bucket count is known.
    pub(super) async fn fits(
        &mut self,
        settings: &Settings,
        phase: &Phase,
        manifests: &[ManifestMeta],
        lines: &[IndexManifestEntry],
        change: &Change,
    ) -> Result<Fits> {
        let batch = EntryBatch::from_entries(&change.entries)?;
        let mut delta: Vec<Simple> = (0..batch.len()).map(|i| Simple::of(&batch, i)).collect();
        let written = match conflict::written_buckets(&delta) {
            Ok(written) => written,
            Err(why) => return Ok(Fits::No(why)),
        };
        let may_rescale = phase.kind == CommitKind::Overwrite;
        let discard = settings.discard_duplicate_files && phase.kind == CommitKind::Append;
        let check = phase.check || discard;
        let unchecked = written.iter().filter(|(partition, count)| self.checked_buckets.get(*partition) != Some(count));
        let unchecked: Vec<Box<[u8]>> =
            if may_rescale { Vec::new() } else { unchecked.map(|(partition, _)| partition.clone()).collect() };
        let mut base = BaseFiles::default();
        if !manifests.is_empty() && (check || !unchecked.is_empty()) {
            let mut wanted: HashSet<(Box<[u8]>, Option<i32>)> =
                unchecked.into_iter().map(|partition| (partition, None)).collect();
            if check {
                wanted.extend(delta.iter().map(|entry| (entry.key.partition.clone(), Some(entry.key.bucket))));
                wanted.extend(vector_buckets(change));
            }
            // Vectors are held against all files of their buckets.
            let scope = match settings.deletion_vectors {
                true => Scope::Buckets,
                false => Scope::of(&batch, self.key_types())?,
            };
            base = base::read(&self.files, manifests, &wanted, &scope).await?;
        }
        let mut kept = None;
        if discard {
            let fresh: Vec<bool> = delta.iter().map(|entry| !base.files.contains_key(&entry.key)).collect();
            if fresh.contains(&false) {
                let mut reduced = change.clone();
                let mut flags = fresh.iter();
                reduced.entries.retain(|_| flags.next().copied().unwrap_or(true));
                let mut flags = fresh.iter();
                delta.retain(|_| flags.next().copied().unwrap_or(true));
                kept = Some(reduced);
            }
        }
        if settings.deletion_vectors && self.is_unaware() && check {
            base.files = conflict::pair_base(base.files, lines)?;
            match conflict::pair_delta(&base.files, delta, &change.index) {
                Ok(paired) => delta = paired,
                Err(why) => return Ok(Fits::No(why)),
            }
        }
        if settings.deletion_vectors && check {
            let against = match self.is_unaware() {
                true => None,
                false => vector::check(&base.files, &delta, lines, &change.index),
            };
            if let Some(why) = against.or_else(|| vector::check_bases(&base.files, &change.bases)) {
                return Ok(Fits::No(why));
            }
        }
        let rules = Rules { key_types: if check { self.key_types() } else { None }, may_rescale };
        // What is not checked against the table must still be consistent in itself.
        let no_files = Base::new();
        let files = if check { &base.files } else { &no_files };
        if let Some(why) = conflict::check(files, &base.buckets, &delta, &rules)? {
            return Ok(Fits::No(why));
        }
        self.remember_buckets(written);
        Ok(kept.map_or(Fits::Yes, Fits::Without))
    }

    fn remember_buckets(&mut self, written: HashMap<Box<[u8]>, i32>) {
        if self.checked_buckets.len() + written.len() > CHECKED_PARTITIONS {
            self.checked_buckets.clear();
        }
        self.checked_buckets.extend(written);
    }

    /// Types of the trimmed primary key, unless keys may overlap in this table.
    fn key_types(&self) -> Option<Vec<DataType>> {
        let schema = self.table().schema();
        let clustering =
            self.table().options().get("pk-clustering-override").is_some_and(|v| v.eq_ignore_ascii_case("true"));
        if schema.primary_keys.is_empty() || clustering {
            return None;
        }
        Some(schema.trimmed_primary_keys().into_iter().map(|field| field.data_type.clone()).collect())
    }
}

/// The buckets whose deletion vectors change.
fn vector_buckets(change: &Change) -> impl Iterator<Item = (Box<[u8]>, Option<i32>)> {
    let vectors = change.index.iter().filter(|entry| entry.index_type == DELETION_VECTORS_INDEX);
    vectors.map(|entry| (entry.partition.to_serialized().to_vec().into_boxed_slice(), Some(entry.bucket)))
}
