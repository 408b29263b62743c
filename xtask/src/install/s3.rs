//! The S3 server: versitygw, because its conditional put is atomic (one of many racing writers wins, the others get 412).

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{apt, once};
use crate::{exec, place};

const MODULE: &str = "github.com/versity/versitygw/cmd/versitygw@v1.8.0";

/// The server's program.
pub(crate) fn install() -> Result<PathBuf> {
    let dir = place::cache()?.join("s3");
    once(&dir, MODULE, || {
        let go = apt::program("go", &["/usr/local/go/bin"], &["golang-go"])?;
        exec::step(
            "building the S3 server (some minutes, once)",
            Command::new(go)
                .current_dir(&dir)
                .args(["install", "-trimpath", "-ldflags=-s -w", MODULE])
                .env("GOFLAGS", "")
                .env("CGO_ENABLED", "0")
                .env("GOBIN", &dir),
        )
    })?;
    Ok(dir.join("versitygw"))
}
