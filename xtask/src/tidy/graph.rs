//! The crate graph: which of our crates and which external crates each crate uses, and what must never arrive through others.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};
use serde::Deserialize;

use super::Finding;

/// What one crate may use.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Layer {
    /// Our crates it may build on (not for tests).
    #[serde(default)]
    ours: BTreeSet<String>,
    /// External crates it may name.
    #[serde(default)]
    external: BTreeSet<String>,
    /// Crates, ours or external, that only its tests may use in addition.
    #[serde(default)]
    tests: BTreeSet<String>,
    /// Crates that must not be compiled for it, however they would come in.
    #[serde(default)]
    never: BTreeSet<String>,
}

pub(super) fn check(root: &Path, layers: &BTreeMap<String, Layer>) -> Result<Vec<Finding>> {
    let metadata = MetadataCommand::new().current_dir(root).other_options(["--locked".to_owned()]).exec()?;
    let members: BTreeSet<&str> = metadata.workspace_packages().iter().map(|p| p.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in metadata.workspace_packages() {
        let file = relative(root, package);
        let Some(layer) = layers.get(package.name.as_str()) else {
            findings
                .push(finding(&file, format!("crate {} is not in xtask/layers.toml: give it a layer", package.name)));
            continue;
        };
        direct(package, layer, &members, &file, &mut findings);
        reached(&metadata, package, layer, &file, &mut findings)?;
    }
    for name in layers.keys().filter(|n| !members.contains(n.as_str())) {
        findings.push(finding("xtask/layers.toml", format!("{name} is no crate of the workspace: remove it")));
    }
    Ok(findings)
}

fn direct(package: &Package, layer: &Layer, members: &BTreeSet<&str>, file: &str, findings: &mut Vec<Finding>) {
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        let allowed = if members.contains(name) { &layer.ours } else { &layer.external };
        let test_only = dependency.kind == DependencyKind::Development;
        if allowed.contains(name) || (test_only && layer.tests.contains(name)) {
            continue;
        }
        let list = match (test_only, members.contains(name)) {
            (true, _) => "tests",
            (false, true) => "ours",
            (false, false) => "external",
        };
        findings.push(finding(
            file,
            format!("{} must not use {name}: not in its `{list}` of xtask/layers.toml (a new arrow needs its reason in ARCHITECTURE.md)", package.name),
        ));
    }
}

/// Walks the resolved graph without test dependencies and names the way to each forbidden crate.
fn reached(
    metadata: &Metadata,
    package: &Package,
    layer: &Layer,
    file: &str,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    if layer.never.is_empty() {
        return Ok(());
    }
    let resolve = metadata.resolve.as_ref().context("cargo metadata gave no resolve graph")?;
    let nodes: HashMap<&PackageId, _> = resolve.nodes.iter().map(|n| (&n.id, n)).collect();
    let names: HashMap<&PackageId, &str> = metadata.packages.iter().map(|p| (&p.id, p.name.as_str())).collect();
    let mut from: HashMap<&PackageId, &PackageId> = HashMap::new();
    let mut queue = vec![&package.id];
    while let Some(id) = queue.pop() {
        let Some(node) = nodes.get(id) else { continue };
        for dependency in &node.deps {
            let built = dependency.dep_kinds.iter().any(|k| k.kind != DependencyKind::Development);
            if !built || dependency.pkg == package.id || from.contains_key(&dependency.pkg) {
                continue;
            }
            from.insert(&dependency.pkg, id);
            queue.push(&dependency.pkg);
        }
    }
    for (id, _) in from.iter().filter(|(id, _)| names.get(*id).is_some_and(|n| layer.never.contains(*n))) {
        let mut way = vec![names[id]];
        let mut at = *id;
        while let Some(parent) = from.get(at) {
            way.push(names[parent]);
            at = parent;
        }
        way.reverse();
        findings.push(finding(
            file,
            format!("{} must not compile {}: it comes by {}", package.name, names[id], way.join(" -> ")),
        ));
    }
    Ok(())
}

fn relative(root: &Path, package: &Package) -> String {
    let path = package.manifest_path.as_std_path();
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn finding(file: &str, what: String) -> Finding {
    Finding { file: file.to_owned(), line: 1, what }
}
