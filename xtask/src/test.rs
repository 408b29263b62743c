//! `test` and `with`: the environment that tests see. Whoever runs through here must find every service: a test that would skip
//! for want of one fails instead (`LINN_TEST_REQUIRE_SERVICES`).

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::service::S3;
use crate::{exec, install};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Without the other implementations (no Java, no Python): only Rust tests and the S3 server
    #[arg(long)]
    quick: bool,
    /// Names of tests, as `cargo test` takes them
    filters: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct WithArgs {
    /// The command and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<String>,
}

/// How much of the test environment is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Storage,
    Everything,
}

/// The running services; they stop when this is dropped.
pub(crate) struct Services {
    s3: S3,
    peers: Option<Peers>,
}

struct Peers {
    java: Vec<(&'static str, PathBuf)>,
    python: PathBuf,
}

impl Services {
    pub(crate) fn start(needs: Needs) -> Result<Self> {
        let server = install::s3::install()?;
        let peers = match needs {
            Needs::Storage => None,
            Needs::Everything => Some(Peers { java: install::java::install()?, python: install::python::install()? }),
        };
        Ok(Self { s3: S3::start(&server)?, peers })
    }

    /// Gives the command the environment of these services.
    pub(crate) fn apply<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("LINN_TEST_S3_ENDPOINT", self.s3.endpoint())
            .env("LINN_TEST_S3_BUCKET", S3::BUCKET)
            .env("AWS_ACCESS_KEY_ID", S3::ACCESS_KEY)
            .env("AWS_SECRET_ACCESS_KEY", S3::SECRET_KEY)
            .env("AWS_REGION", "us-east-1");
        if let Some(peers) = &self.peers {
            command.env("LINN_TEST_REQUIRE_SERVICES", "1");
            command.env("LINN_TEST_PYTHON", &peers.python);
            for (name, classes) in &peers.java {
                command.env(name, classes);
            }
        }
        command
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let needs = if args.quick { Needs::Storage } else { Needs::Everything };
    let services = Services::start(needs)?;
    let mut cargo = exec::cargo()?;
    cargo.args(["test", "--workspace", "--locked"]);
    if !args.filters.is_empty() {
        cargo.arg("--").args(&args.filters);
    }
    exec::run(services.apply(&mut cargo))
}

pub(crate) fn with(args: &WithArgs) -> Result<()> {
    let Some((program, rest)) = args.command.split_first() else {
        bail!("no command given");
    };
    let services = Services::start(Needs::Everything)?;
    exec::run(services.apply(Command::new(program).args(rest)))
}
