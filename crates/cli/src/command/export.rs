//! `linn table export`: the rows of a query into a file, which appears under its name only when it is whole.

use std::io::{BufWriter, Write};
use std::path::Path;

use futures::StreamExt;
use linn::{Error, Result};
use linn_sql::Output;
use tempfile::NamedTempFile;

use super::read::executed;
use crate::args::{ExportArgs, FileKind, OutputFormat};
use crate::context::Context;
use crate::import::source::kind_of;
use crate::output::{Out, Sink, Style, count};
use crate::say::say;

pub(super) async fn run(context: &Context, args: &ExportArgs) -> Result<()> {
    let stdout = args.file.as_os_str() == "-";
    let name = args.file.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let kind = args.format.or_else(|| kind_of(&name)).ok_or_else(|| {
        Error::invalid("the format of the output is not known")
            .with("file", args.file.display())
            .with_hint("give it with --format csv, tsv, ndjson, parquet or arrow")
    })?;
    let format = format(kind)?;
    let Output::Rows { schema, mut stream } = executed(context, &args.read).await? else {
        return Err(Error::internal("a query gave no rows"));
    };
    let (out, file): (Box<dyn Write + Send>, _) = if stdout {
        (Box::new(Out::new()), None)
    } else {
        let file = temporary(&args.file).map_err(|e| failed(&args.file, e))?;
        let writer = file.reopen().map_err(|e| failed(&args.file, e))?;
        (Box::new(BufWriter::new(writer)), Some(file))
    };
    let style = Style { null: args.null.clone(), ..context.style.clone() };
    let mut writer = Sink::styled(out, format, schema, &style)?;
    let bar = context.progress.rows();
    let mut rows = 0;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        writer.write(&batch)?;
        rows += batch.num_rows();
        bar.inc(batch.num_rows() as u64);
    }
    writer.finish()?;
    bar.finish_and_clear();
    if let Some(file) = file {
        file.persist(&args.file).map_err(|e| failed(&args.file, e.error))?;
    }
    say!(
        "Exported {} to {}.",
        count(rows, "row"),
        if stdout { "standard output".into() } else { args.file.display().to_string() }
    );
    Ok(())
}

/// A file beside the one to be made, with the permissions that new files have.
fn temporary(file: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask of the process takes its part.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder(file))
}

fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn failed(file: &Path, e: std::io::Error) -> Error {
    Error::unavailable("the file cannot be written").with("file", file.display()).with_source(e)
}

/// The format of results that is the format of a file.
fn format(kind: FileKind) -> Result<OutputFormat> {
    Ok(match kind {
        FileKind::Csv => OutputFormat::Csv,
        FileKind::Tsv => OutputFormat::Tsv,
        FileKind::Ndjson => OutputFormat::Ndjson,
        FileKind::Arrow => OutputFormat::Arrow,
        FileKind::Parquet => OutputFormat::Parquet,
        FileKind::Orc | FileKind::Avro => {
            return Err(Error::unsupported("exporting ORC and Avro files")
                .with_hint("export csv, tsv, ndjson, parquet or arrow"));
        }
    })
}
