//! The Java implementation in two versions, each with our program compiled against it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{apt, once};
use crate::{exec, place};

/// (environment variable that tests read, version of the bundle jar): the newest release, and the oldest that is supported.
const VERSIONS: [(&str, &str); 2] = [("LINN_TEST_JAVA", "1.4.2"), ("LINN_TEST_JAVA_OLD", "0.9.0")];

/// Per version: the environment variable and the class path to give it.
pub(crate) fn install() -> Result<Vec<(&'static str, PathBuf)>> {
    let sources = place::root().join("tests/interop/java");
    let pom = sources.join("pom.xml");
    VERSIONS
        .iter()
        .map(|(variable, version)| {
            let dir = place::cache()?.join("java").join(version);
            let jars = dir.join("jars");
            once(&jars, &fs::read_to_string(&pom)?, || copy_jars(&pom, version, &jars))?;
            let classes = dir.join("classes");
            let files = java_files(&sources)?;
            once(&classes, &contents(&files)?, || compile(&files, &jars, &classes))?;
            let path = format!("{}:{}/*", classes.display(), jars.display());
            Ok((*variable, PathBuf::from(path)))
        })
        .collect()
}

fn copy_jars(pom: &Path, version: &str, jars: &Path) -> Result<()> {
    let maven = apt::program("mvn", &[], &["maven"])?;
    exec::step(
        &format!("downloading the Java implementation {version}"),
        Command::new(maven)
            .args(["-q", "-B", "-f"])
            .arg(pom)
            .args(["dependency:copy-dependencies", "-DincludeScope=runtime"])
            .arg(format!("-Dpaimon.version={version}"))
            .arg(format!("-DoutputDirectory={}", jars.display())),
    )
}

fn compile(files: &[PathBuf], jars: &Path, classes: &Path) -> Result<()> {
    let javac = apt::program("javac", &[], &["openjdk-17-jdk-headless"])?;
    exec::step(
        "compiling the Java side of the interop tests",
        Command::new(javac)
            .args(["-nowarn", "-encoding", "UTF-8", "-cp"])
            .arg(format!("{}/*", jars.display()))
            .arg("-d")
            .arg(classes)
            .args(files),
    )
}

fn java_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "java") {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!("no Java sources in {}", dir.display());
    }
    files.sort();
    Ok(files)
}

fn contents(files: &[PathBuf]) -> Result<String> {
    files.iter().map(|f| Ok(fs::read_to_string(f)?)).collect()
}
