//! What the compactions of a table tell of the rows that they change, and where they look for what was before
//! (spec: features.md B4, format.md C.9).

use linn_format::Result;
use linn_format::options::{ChangelogProducer, MergeEngine};
use linn_format::schema::TableSchema;

use crate::lookup::Wanted;

/// What a table's options say of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Whether compactions into the highest level compare with what that level had.
    pub(crate) at_top: bool,
    /// Whether compactions of level 0 look up what the levels above have.
    pub(crate) looks_up: bool,
    /// Whether the rows that are looked up matter, or only that they are there.
    pub(crate) needs_rows: bool,
    /// Whether it matters where the rows lie, as they are marked deleted there.
    pub(crate) needs_places: bool,
    /// Whether changes are written, and the columns of which one must differ for an update to be.
    pub(crate) told: Option<Option<Vec<usize>>>,
    /// Whether a file may leave level 0 as it is although older rows of its keys lie above: the newest row stands,
    /// whatever it was.
    pub(crate) newest_stands: bool,
}

impl Changes {
    /// Those of a primary-key table.
    ///
    /// # Errors
    /// `Invalid` for a bad option value.
    pub(crate) fn of(schema: &TableSchema) -> Result<Self> {
        let options = &schema.options;
        let (producer, engine) = (options.changelog_producer()?, options.merge_engine()?);
        let at_top = producer == ChangelogProducer::FullCompaction;
        // With a changelog of full compactions nothing is looked up.
        let looks_up = !at_top && schema.is_primary_key_table() && options.need_lookup()?;
        let tells = at_top || producer == ChangelogProducer::Lookup;
        let newest_stands = engine == MergeEngine::Deduplicate && options.sequence_fields().is_empty();
        let needs_places = looks_up && options.deletion_vectors_enabled()?;
        // Where deletes are ignored a key whose newest record is one keeps its older row.
        let positions_only = needs_places && !tells && newest_stands && !options.ignore_delete()?;
        Ok(Self {
            at_top,
            looks_up,
            needs_rows: looks_up && engine != MergeEngine::FirstRow && !positions_only,
            needs_places,
            told: if tells { Some(compared(schema)?) } else { None },
            newest_stands,
        })
    }
}

impl Changes {
    /// What compactions want of the records that they look up.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted { rows: self.needs_rows, places: self.needs_places }
    }
}

/// The columns in which an update must differ; `None` when all updates are told.
fn compared(schema: &TableSchema) -> Result<Option<Vec<usize>>> {
    let options = &schema.options;
    if !options.row_deduplicate()? {
        return Ok(None);
    }
    let ignored = options.row_deduplicate_ignored();
    let compared = schema.fields.iter().enumerate().filter(|(_, f)| !ignored.contains(&f.name.as_str()));
    Ok(Some(compared.map(|(at, _)| at).collect()))
}
