//! The demo on a small part of its data: it checks its own counts, this checks that it gets to its end.

use std::path::Path;
use std::process::Command;

#[test]
fn the_demo_runs_to_its_end() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/demo");
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("bash")
        .arg(demo.join("demo.sh"))
        .current_dir(folder.path())
        .env("LINN", env!("CARGO_BIN_EXE_linn"))
        .env("LINN_DATA", demo.join("sample"))
        .env("LINN_DEMO_WAREHOUSE", folder.path().join("warehouse"))
        .env("HOME", folder.path())
        .env_remove("LINN_CONFIG")
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "checked: flights = 458",
        "Deleted 99 rows from default.flights",
        "checked: flights after the compaction = 389",
        "│  │  └─ level 5  1 file",
        "snapshot 3: 359 flights, of which 73 on 9 February",
        "filter=month = 2 AND day = 9",
        "rows       ",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    assert!(!text.contains("error:"), "{text}");
}
