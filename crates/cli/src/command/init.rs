//! `linn init`: a folder to begin in, with a commented configuration file and a first table.

use std::io::Write;

use linn::format::types::{DataField, DataType};
use linn::{Error, ErrorKind, NewTable, Options, Result};

use crate::args::InitArgs;
use crate::context::{Context, identifier};
use crate::say::say;

/// The configuration file that is written.
const CONFIG: &str = "\
# Configuration of Linn. Flags and the environment win over this file: `linn config show` tells which value is used and why.

# Where tables are: a folder, or a bucket such as s3://my-bucket/lake
warehouse: ./warehouse

# How the store is reached when the warehouse is in a bucket. Credentials are better set in the environment:
# LINN_OPT_S3_ACCESS__KEY and LINN_OPT_S3_SECRET__KEY
# s3:
#   endpoint: http://localhost:9000
#   region: us-east-1
#   path-style-access: true
";

pub(super) async fn run(context: &Context, args: &InitArgs) -> Result<()> {
    let failed = |what: &str, e: std::io::Error| {
        Error::unavailable(format!("{what} cannot be created")).with("path", args.folder.display()).with_source(e)
    };
    std::fs::create_dir_all(&args.folder).map_err(|e| failed("folder", e))?;
    let path = args.folder.join("linn.yaml");
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    match file.and_then(|mut file| file.write_all(CONFIG.as_bytes())) {
        Ok(()) => say!("Created {}.", path.display()),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Error::already_exists("the folder is set up already")
                .with("file", path.display())
                .with_hint("edit the file, or give another folder"));
        }
        Err(e) => return Err(failed("linn.yaml", e)),
    }
    if args.no_table {
        return Ok(());
    }
    let warehouse = args.folder.join("warehouse");
    std::fs::create_dir_all(&warehouse).map_err(|e| failed("warehouse", e))?;
    create(context, args, &warehouse.display().to_string()).await?;
    let at = if args.folder.as_os_str() == "." { String::new() } else { format!("cd {} && ", args.folder.display()) };
    say!(
        "\nNext:\n  {at}linn sql -c \"INSERT INTO {0} VALUES (1, 'hello', now())\"\n  {at}linn table read {0}\n  {at}linn sql",
        args.table
    );
    Ok(())
}

/// The first table.
async fn create(context: &Context, args: &InitArgs, warehouse: &str) -> Result<()> {
    let id = identifier(&args.table)?;
    let column = |name: &str, sql: &str| DataType::parse(sql).map(|data_type| DataField::new(0, name, data_type));
    let mut options = Options::new();
    options.set("bucket", "1");
    let definition = NewTable {
        columns: vec![
            column("id", "BIGINT NOT NULL")?,
            column("message", "STRING")?,
            column("created_at", "TIMESTAMP(3)")?,
        ],
        partition_keys: Vec::new(),
        primary_keys: vec!["id".to_owned()],
        options,
        comment: Some("created by linn init".to_owned()),
    };
    let catalog = context.catalog_of(warehouse)?;
    catalog.create_database(&id.database, true).await?;
    match catalog.create_table(&id, definition, false).await {
        Ok(()) => say!("Created table {id} (id BIGINT, message STRING, created_at TIMESTAMP(3), primary key id)."),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => say!("Table {id} already exists; nothing was done."),
        Err(e) => return Err(e),
    }
    Ok(())
}
