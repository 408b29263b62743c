//! A process of its own that commits: this test binary again, told by its environment to run one test.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStderr, Command, Stdio};

use linn_core::CommitOutcome;
use linn_format::options::Options;

use crate::metadata;

const URI: &str = "LINN_TEST_WORKER_URI";
const USER: &str = "LINN_TEST_WORKER_USER";
const COMMITS: &str = "LINN_TEST_WORKER_COMMITS";
const ACKNOWLEDGED: &str = "acknowledged ";

/// A process that makes commits 1 to n in the name of one user, and says of each one that it was acknowledged.
pub(crate) struct Worker {
    child: Child,
    says: BufReader<ChildStderr>,
}

impl Worker {
    pub(crate) fn start(uri: &str, user: &str, commits: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker::commits", "--nocapture"])
            .env(URI, uri)
            .env(USER, user)
            .env(COMMITS, commits.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(child.stderr.take().unwrap());
        Self { child, says }
    }

    /// Waits for the next acknowledged commit and returns its file; `None` at the end of the process.
    pub(crate) fn next(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            self.says.read_line(&mut line).unwrap();
            // Only a whole line counts: the process may be killed while it speaks.
            let line = line.strip_suffix('\n')?;
            match line.strip_prefix(ACKNOWLEDGED) {
                Some(file) => return Some(file.to_owned()),
                None => eprintln!("{line}"),
            }
        }
    }

    /// Kills the process; the commits that it has acknowledged since the last question.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Waits for the end; the process must have made all its commits.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let files = std::iter::from_fn(|| self.next()).collect();
        assert!(self.child.wait().unwrap().success());
        files
    }
}

/// Options of the store, from the environment of the test.
pub(crate) fn store_options() -> Options {
    let endpoint = std::env::var("LINN_TEST_S3_ENDPOINT").ok();
    endpoint.map(|endpoint| ("s3.endpoint", endpoint)).into_iter().collect()
}

/// What a worker process does; nothing in an ordinary test run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits() {
    let Ok(uri) = std::env::var(URI) else { return };
    let user = std::env::var(USER).unwrap();
    let count: i64 = std::env::var(COMMITS).unwrap().parse().unwrap();
    let table = metadata::table(&uri, &store_options()).await;
    let committer = table.committer(&user);
    for identifier in 1..=count {
        let file = format!("{user}-{identifier}");
        loop {
            match committer.commit(metadata::commit(identifier, &file)).await.unwrap() {
                CommitOutcome::Committed(_) => break,
                CommitOutcome::Unknown(_) => {}
                other => panic!("{other:?}"),
            }
        }
        std::io::stderr().write_all(format!("{ACKNOWLEDGED}{file}\n").as_bytes()).unwrap();
    }
}
