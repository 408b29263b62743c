//! Options that say where a scan starts exclude or need each other (spec: features.md B11).

use super::invalid;
use crate::Result;
use crate::options::table::scan;
use crate::options::{OptionDef, Options, ScanMode};
use crate::schema::TableSchema;

const TIMES: &[OptionDef] = &[scan::SCAN_TIMESTAMP_MILLIS.untyped(), scan::SCAN_TIMESTAMP.untyped()];
const SNAPSHOT: &[OptionDef] = &[scan::SCAN_SNAPSHOT_ID.untyped()];
const POINTS: &[OptionDef] = &[
    scan::SCAN_SNAPSHOT_ID.untyped(),
    scan::SCAN_TAG_NAME.untyped(),
    scan::SCAN_WATERMARK.untyped(),
    scan::SCAN_VERSION.untyped(),
];
const FILES: &[OptionDef] = &[scan::SCAN_FILE_CREATION_TIME_MILLIS.untyped()];
const CREATION: &[OptionDef] = &[scan::SCAN_CREATION_TIME_MILLIS.untyped()];
const BETWEEN: &[OptionDef] = &[
    scan::INCREMENTAL_BETWEEN.untyped(),
    scan::INCREMENTAL_BETWEEN_TIMESTAMP.untyped(),
    scan::INCREMENTAL_TO_AUTO_TAG.untyped(),
];

/// The scan mode has the one option it needs, and none of another mode.
pub(super) fn start(schema: &TableSchema) -> Result<()> {
    let options = &schema.options;
    let mode = options.scan_mode()?;
    let needed = match mode {
        ScanMode::FromTimestamp => TIMES,
        ScanMode::FromSnapshot => POINTS,
        ScanMode::FromSnapshotFull => SNAPSHOT,
        ScanMode::FromFileCreationTime => FILES,
        ScanMode::FromCreationTimestamp => CREATION,
        ScanMode::Incremental => BETWEEN,
        _ => &[],
    };
    let count = needed.iter().filter(|def| options.is_set(def)).count();
    if !needed.is_empty() && count != 1 {
        let keys: Vec<&str> = needed.iter().map(|def| def.key).collect();
        return Err(invalid(
            format!("scan mode {mode} needs exactly one of {}, but {count} are set", keys.join(", ")),
            "set one of them",
        ));
    }
    let others = [TIMES, POINTS, FILES, CREATION, BETWEEN].concat();
    stray(options, &others, needed, mode)
}

fn stray(options: &Options, others: &[OptionDef], needed: &[OptionDef], mode: ScanMode) -> Result<()> {
    let stray = others.iter().find(|def| options.is_set(def) && !needed.contains(def));
    match stray {
        Some(def) => Err(invalid(format!("option {:?} cannot be set with scan mode {mode}", def.key), "remove it")),
        None => Ok(()),
    }
}
