//! The tour of the README runs as it stands there, and prints what the README says.
//!
//! Blocks fenced as `bash tour` are one script, run in an empty folder; the lines of blocks fenced as `text tour` must come out in
//! that order, each as a whole line, with other lines between them as may be.

use std::path::Path;

use crate::run::alone;

const BINARY: &str = env!("CARGO_BIN_EXE_linn");
const README: &str = include_str!("../../../../README.md");

/// The tour of a document.
#[derive(Debug, Default, PartialEq)]
struct Tour {
    script: String,
    lines: Vec<String>,
}

impl Tour {
    fn of(text: &str) -> Self {
        let mut tour = Self::default();
        let mut fence = None;
        for line in text.lines() {
            match (fence, line.strip_prefix("```")) {
                (None, Some(kind)) => fence = Some(kind.trim()),
                (Some(_), Some(_)) => fence = None,
                (Some("bash tour"), None) => {
                    tour.script.push_str(line);
                    tour.script.push('\n');
                }
                (Some("text tour"), None) => tour.lines.push(line.to_owned()),
                _ => {}
            }
        }
        tour
    }
}

/// The first of `expected` that does not come in its place.
fn missing<'e>(expected: &'e [String], output: &str) -> Option<&'e String> {
    let mut lines = output.lines();
    expected.iter().find(|wanted| !lines.any(|line| line.trim_end() == wanted.as_str()))
}

pub(crate) fn bash(script: &str, dir: &Path) -> std::process::Output {
    let binaries = Path::new(BINARY).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(binaries.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    alone("bash", dir).args(["-euo", "pipefail", "-c", script]).env("PATH", path.unwrap()).output().unwrap()
}

#[test]
fn the_tour_runs_and_prints_what_the_readme_says() {
    let tour = Tour::of(README);
    assert!(tour.script.lines().filter(|line| line.starts_with("linn ")).count() >= 8, "no tour in the README");
    assert!(tour.lines.len() >= 8, "the README shows too little of what the tour prints");
    let dir = tempfile::tempdir().unwrap();
    let run = bash(&tour.script, dir.path());
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{}\n{out}\n{err}", run.status);
    assert_eq!(missing(&tour.lines, &out), None, "not printed, or not in order:\n{out}\n{err}");
}

#[test]
fn a_failing_command_ends_the_tour() {
    let dir = tempfile::tempdir().unwrap();
    let run = bash("linn table show default.nothing\necho reached", dir.path());
    assert_eq!(run.status.code(), Some(3), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(run.stdout.is_empty());
}

#[test]
fn blocks_are_told_apart_and_lines_keep_their_order() {
    let tour = Tour::of("a\n```bash tour\nx\n```\n```bash\ny\n```\n```text tour\n1\n2\n```\n");
    assert_eq!(tour, Tour { script: "x\n".into(), lines: vec!["1".into(), "2".into()] });
    assert_eq!(missing(&tour.lines, "0\n1 \n3\n2\n"), None);
    assert_eq!(missing(&tour.lines, "2\n1\n"), Some(&"2".to_owned()));
    assert_eq!(missing(&tour.lines, "11\n2\n"), Some(&"1".to_owned()));
}
