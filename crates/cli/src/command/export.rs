//! `linn table export`: the rows of a query into a file, which appears under its name only when it is whole.

use std::io::{BufWriter, Write};
use std::path::Path;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use linn::{Error, Result};
use linn_sql::Output;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use tempfile::NamedTempFile;

use super::read::query;
use crate::args::{ExportArgs, FileKind, OutputFormat};
use crate::context::{Context, DATABASE};
use crate::import::source::kind_of;
use crate::output::{Out, Sink, count};

pub(super) async fn run(context: &Context, args: &ExportArgs) -> Result<()> {
    let stdout = args.file.as_os_str() == "-";
    let name = args.file.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let kind = args.format.or_else(|| kind_of(&name)).ok_or_else(|| {
        Error::invalid("the format of the output is not known")
            .with("file", args.file.display())
            .with_hint("give it with --format csv, tsv, ndjson, parquet or arrow")
    })?;
    let session = context.session(DATABASE)?;
    let Output::Rows { schema, mut stream } = session.execute(&query(&args.read)?).await? else {
        return Err(Error::internal("a query gave no rows"));
    };
    let (out, file): (Box<dyn Write + Send>, _) = if stdout {
        (Box::new(Out::new()), None)
    } else {
        let file = NamedTempFile::new_in(folder(&args.file)).map_err(|e| failed(&args.file, e))?;
        let writer = file.reopen().map_err(|e| failed(&args.file, e))?;
        (Box::new(BufWriter::new(writer)), Some(file))
    };
    let mut writer = Writer::new(out, kind, schema)?;
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
    eprintln!(
        "{} exported to {}",
        count(rows, "row"),
        if stdout { "standard output".into() } else { args.file.display().to_string() }
    );
    Ok(())
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

enum Writer {
    Parquet(Box<ArrowWriter<Box<dyn Write + Send>>>),
    Text(Box<Sink<Box<dyn Write + Send>>>),
}

impl Writer {
    fn new(out: Box<dyn Write + Send>, kind: FileKind, schema: SchemaRef) -> Result<Self> {
        let format = match kind {
            FileKind::Csv => OutputFormat::Csv,
            FileKind::Tsv => OutputFormat::Tsv,
            FileKind::Ndjson => OutputFormat::Ndjson,
            FileKind::Arrow => OutputFormat::Arrow,
            FileKind::Parquet => {
                let level = ZstdLevel::try_new(1).map_err(parquet)?;
                let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
                let writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(parquet)?;
                return Ok(Self::Parquet(Box::new(writer)));
            }
        };
        Ok(Self::Text(Box::new(Sink::new(out, format, schema)?)))
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(batch).map_err(parquet),
            Self::Text(sink) => sink.write(batch),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Parquet(writer) => writer.close().map(|_| ()).map_err(parquet),
            Self::Text(sink) => sink.finish().map(|_| ()),
        }
    }
}

fn parquet(e: parquet::errors::ParquetError) -> Error {
    Error::unavailable("the Parquet file cannot be written").with_source(e)
}
