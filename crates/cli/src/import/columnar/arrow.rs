//! Arrow IPC, file or stream.

use std::io::{BufReader, Read, Seek};

use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::{FileReader, StreamReader};
use arrow::ipc::{MetadataVersion, root_as_message};
use linn::{Error, Result};

use super::{Batches, checked};
use crate::import::source::Source;

const MAGIC: &[u8; 6] = b"ARROW1";

/// Bytes before the first message of a file: the magic and what fills it up.
const BEFORE: u64 = 8;

/// Opens a file or stream.
pub(super) fn open(source: &Source) -> Result<(SchemaRef, Batches)> {
    let mut file = source.raw()?;
    let mut magic = Vec::new();
    (&mut file).take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(|e| source.failed(e))?;
    let is_file = magic == MAGIC;
    check_version(source, is_file)?;
    file.rewind().map_err(|e| source.failed(e))?;
    let input = BufReader::new(file);
    if is_file {
        let reader = FileReader::try_new(input, None).map_err(|e| source.wrong("an Arrow file", e))?;
        Ok((reader.schema(), checked(reader)))
    } else {
        let reader = StreamReader::try_new(input, None).map_err(|e| source.wrong("an Arrow stream", e))?;
        Ok((reader.schema(), checked(reader)))
    }
}

/// Refuses metadata of versions that came after those that are known here, which may mean something else.
fn check_version(source: &Source, is_file: bool) -> Result<()> {
    let mut file = BufReader::new(source.raw()?);
    let skipped = if is_file { BEFORE } else { 0 };
    let Some(message) = first_message(&mut file, skipped) else { return Ok(()) };
    // What is no message is told by the reader.
    let Ok(message) = root_as_message(&message) else { return Ok(()) };
    if (MetadataVersion::V4..=MetadataVersion::V5).contains(&message.version()) {
        return Ok(());
    }
    let version = i32::from(message.version().0) + 1;
    Err(Error::unsupported(format!("a feature of Arrow: metadata version {version}"))
        .with("file", source.name())
        .with_hint("versions 4 and 5 are read; write the file again as one of them"))
}

fn first_message(file: &mut impl Read, skipped: u64) -> Option<Vec<u8>> {
    /// Bytes of a schema that is looked at.
    const MOST: u64 = 64 << 20;
    std::io::copy(&mut file.take(skipped), &mut std::io::sink()).ok()?;
    let mut word = || {
        let mut bytes = [0; 4];
        file.read_exact(&mut bytes).ok().map(|()| u32::from_le_bytes(bytes))
    };
    // Streams of old begin with the length.
    let length = match word()? {
        u32::MAX => word()?,
        length => length,
    };
    let mut message = Vec::new();
    file.take(u64::from(length).min(MOST)).read_to_end(&mut message).ok()?;
    Some(message)
}
