//! The peers read the fixtures as expected: so a later difference is Linn's or the table's, not the harness's.

use linn_testkit::compare;
use linn_testkit::fixture::{Fixtures, Reading, Writer};
use linn_testkit::peer::Peer;

/// What a peer does not read, or reads otherwise, with the reason.
type Known = &'static [(&'static str, &'static str)];

fn check(peer: Option<Peer>, writer: Writer, known: Known) {
    let Some(mut peer) = peer else { return };
    let fixtures = Fixtures::open(writer);
    let mut failures = Vec::new();
    let mut read = 0;
    for table in fixtures.tables() {
        let mut wrong = Vec::new();
        for reading in fixtures.readings(&table) {
            read += 1;
            wrong.extend(failure(&mut peer, &fixtures, &reading));
        }
        let listed = known.iter().any(|(name, _)| *name == table);
        if !listed {
            failures.extend(wrong);
        } else if wrong.is_empty() {
            failures.push(format!("{table} is listed as known to fail, but reads well"));
        }
    }
    assert!(read > 400, "only {read} readings");
    assert!(failures.is_empty(), "{}: {} failures\n{}", peer.name(), failures.len(), failures.join("\n"));
}

fn failure(peer: &mut Peer, fixtures: &Fixtures, reading: &Reading) -> Option<String> {
    let options: Vec<(&str, &str)> = reading.option.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let expected = fixtures.expected(&reading.table, &reading.name);
    let found = match peer.read(&fixtures.place(&reading.table), &options) {
        Ok(rows) => compare::difference(&expected, &rows, &fixtures.rules(reading)),
        Err(error) => Some(error.lines().next().unwrap_or_default().to_owned()),
    };
    found.map(|text| format!("{}/{}: {text}", reading.table, reading.name))
}

#[test]
fn java_reads_tables_of_2_1() {
    check(
        Peer::java(),
        Writer::Java21,
        &[
            ("manifest_orc", "the option names a format that 2.1 ignored when it wrote Avro manifests"),
            ("manifest_parquet", "as above"),
            ("x21_blob", "BLOB is not part of the interface both Java versions share"),
            ("x21_variant", "VARIANT is not part of it either"),
            ("x21_vector", "1.4 knows no VECTOR in Parquet"),
        ],
    );
}

#[test]
fn java_reads_tables_of_0_9() {
    check(
        Peer::java(),
        Writer::Java09,
        &[
            ("default_values", "only 0.9 fills defaults on read"),
            ("manifest_parquet", "a Parquet manifest without _VALUE_STATS_COLS is not read"),
            ("types_append_parquet", "an all-null row in an array is null to 0.9 only"),
            ("types_pk_parquet", "as above"),
        ],
    );
}

#[test]
fn old_java_reads_tables_of_0_9() {
    check(Peer::java_old(), Writer::Java09, &[]);
}

#[test]
fn python_reads_tables_of_2_1() {
    check(
        Peer::python(),
        Writer::Java21,
        &[
            ("multiset_orc", "MULTISET is unsupported"),
            ("multiset_parquet", "MULTISET is unsupported"),
            ("pk_agg", "merge_map fails"),
            ("pk_agg_bitmap_sketch", "sketches are unsupported"),
            ("pk_partial_update", "ignore-delete is unsupported with partial-update"),
            ("pk_partial_update_seqgroup", "sequence groups are unsupported"),
            ("types_append_parquet", "timestamps beyond micros are cut"),
            ("types_pk_orc", "as above; CHAR is padded"),
            ("types_pk_parquet", "timestamps beyond micros are cut"),
            ("x21_dv64_pk", "64-bit deletion vectors are unsupported"),
            ("x21_variant", "VARIANT comes as its bytes"),
            ("x21_vector", "VECTOR is not encoded"),
        ],
    );
}
