//! Every type of column through every format of results, and back by an import.

use crate::run::Place;

const TYPES: &str = "id INT NOT NULL, bo BOOLEAN, ti TINYINT, si SMALLINT, bi BIGINT, fl FLOAT, du DOUBLE, de DECIMAL(38, 2), \
    da DATE, tm TIME(3), t0 TIMESTAMP(3), t6 TIMESTAMP(6), t9 TIMESTAMP(9), tz TIMESTAMP(6) WITH LOCAL TIME ZONE, \
    ch CHAR(3), vc VARCHAR(5), st STRING, bn BINARY(2), bs BYTES, ar ARRAY<DECIMAL(10, 2)>, \
    ma MAP<INT, STRING>, mu MULTISET<STRING>, ro ROW<x BIGINT, y ARRAY<DOUBLE>>, mm MAP<DATE, MAP<BIGINT, INT>>, \
    va VARIANT, ve VECTOR<FLOAT, 3>";

/// One row that is full of what is hard, one of nulls, one of empty values.
const ROWS: &str = r#"{"id":1,"bo":true,"ti":-128,"si":32767,"bi":-9223372036854775808,"fl":"NaN","du":"-Infinity","de":999999999999999999999999999999999999.10,"da":"9999-12-31","tm":"23:59:59.999","t0":"+10000-01-01T00:00:00","t6":"+294247-01-10T04:00:54.775807","t9":"1677-09-22T00:00:00.000000001","tz":"1969-12-31T23:59:59.999999Z","ch":"a,b","vc":"\"ä\n","st":"NULL","bn":"00ff","bs":"","ar":[1.10,null],"ma":{"-1":"","2":null},"mu":{"a b":2},"ro":{"x":9007199254740993,"y":["NaN",0.1]},"mm":{"2020-02-29":{"9223372036854775807":1}},"va":{"value":"0c05","metadata":"010000"},"ve":[1.5,-0.1,null]}
{"id":2}
{"id":3,"fl":0.1,"du":1e300,"de":-0.01,"st":"","vc":"","bs":"","ar":[],"ma":{},"mu":{},"ro":{"x":null,"y":null},"mm":{},"ve":[null,null,null]}
"#;

fn create(place: &Place, table: &str) {
    place.ok(&["sql", "-c", &format!("CREATE TABLE {table} ({TYPES})")]);
}

fn rows(place: &Place, table: &str) -> String {
    place.ok(&["-o", "ndjson", "sql", "-c", &format!("SELECT * FROM {table} ORDER BY id")])
}

fn check_import(place: &Place, table: &str, file: &str, expected: &str) {
    create(place, table);
    place.ok(&["table", "import", &format!("default.{table}"), file]);
    assert_eq!(rows(place, table), expected, "{file}");
}

#[test]
fn every_type_through_every_format() {
    let place = Place::new();
    create(&place, "t");
    place.write("rows.ndjson", ROWS);
    place.ok(&["table", "import", "default.t", "rows.ndjson"]);
    let whole = rows(&place, "t");
    for part in [
        "\"de\":999999999999999999999999999999999999.10",
        "\"fl\":\"NaN\",\"du\":\"-Infinity\"",
        "\"ma\":{\"-1\":\"\",\"2\":null}",
        "\"mu\":{\"a b\":2}",
        "\"ro\":{\"x\":9007199254740993,\"y\":[\"NaN\",0.1]}",
        "\"mm\":{\"2020-02-29\":{\"9223372036854775807\":1}}",
        "\"ar\":[1.10,null]",
        "\"va\":{\"value\":\"0c05\",\"metadata\":\"010000\"}",
        "\"ve\":[1.5,-0.1,null]",
        "+10000-01-01T00:00:00",
        "+294247-01-10T04:00:54.775807",
    ] {
        assert!(whole.contains(part), "{part} is not in {whole}");
    }
    for format in ["csv", "tsv", "json", "ndjson", "parquet", "arrow"] {
        let file = format!("out.{format}");
        place.ok(&["table", "export", "default.t", "--file", &file, "--format", format]);
        check_import(&place, &format!("of_{format}"), &file, &whole);
    }
    // What is written to standard output is text but for Parquet and Arrow.
    for format in ["csv", "tsv", "json", "ndjson"] {
        let file = format!("shown.{format}");
        place.write(&file, &place.ok(&["-o", format, "sql", "-c", "SELECT * FROM t ORDER BY id"]));
        check_import(&place, &format!("shown_{format}"), &file, &whole);
    }
    for format in ["table", "markdown"] {
        let shown = place.ok(&["-o", format, "table", "read", "default.t"]);
        for part in [
            "+294247-01-10 04:00:54.775807",
            "999999999999999999999999999999999999.10",
            "-Infinity",
            "9223372036854775807",
            "{value: 0c05, metadata: 010000}",
            "[1.5, -0.1, ",
        ] {
            assert!(shown.contains(part), "{format}: {part} is not in {shown}");
        }
    }
}

#[test]
fn lists_become_vectors_and_back() {
    let place = Place::new();
    place.ok(&["sql", "-c", "CREATE TABLE v (id INT, ve VECTOR<FLOAT, 2>, va VARIANT)"]);
    let variant = "named_struct('value', X'0c05', 'metadata', X'010000')";
    let values = format!("(1, [1.5, NULL], {variant}), (2, NULL, NULL), (3, [CAST(0.1 AS FLOAT), 2], {variant})");
    place.ok(&["sql", "-c", &format!("INSERT INTO v VALUES {values}")]);
    place.ok(&["sql", "-c", "CREATE TABLE l (id INT, ve ARRAY<DECIMAL(3, 1)>)"]);
    place.ok(&["sql", "-c", "INSERT INTO l SELECT id, ve FROM v"]);
    let rows =
        |table: &str| place.ok(&["-o", "ndjson", "sql", "-c", &format!("SELECT id, ve FROM {table} ORDER BY id")]);
    assert_eq!(rows("v"), "{\"id\":1,\"ve\":[1.5,null]}\n{\"id\":2,\"ve\":null}\n{\"id\":3,\"ve\":[0.1,2.0]}\n");
    assert_eq!(rows("l"), rows("v"));
    let error = place.fails(&["sql", "-c", "INSERT INTO v VALUES (4, [1, 2, 3], NULL)"], 2);
    assert!(error.contains("does not fit VECTOR<FLOAT, 2>"), "{error}");
    place.ok(&["sql", "-c", "CREATE TABLE i (ve VECTOR<INT, 2>)"]);
    let error = place.fails(&["sql", "-c", "INSERT INTO i VALUES (NULL), ([1, 1.5])"], 2);
    assert!(error.contains("1.5"), "{error}");
}

#[test]
fn formats_without_a_type_say_so() {
    let place = Place::new();
    place.write("v.ndjson", "{\"id\":1,\"va\":{\"value\":\"0c05\",\"metadata\":\"010000\"}}\n");
    place.write("w.ndjson", "{\"id\":1,\"ve\":[1.5,2.5]}\n");
    for (table, column, format) in
        [("v", "va VARIANT", "orc"), ("v", "va VARIANT", "avro"), ("w", "ve VECTOR<FLOAT, 2>", "orc")]
    {
        let create = format!("CREATE OR REPLACE TABLE {table} (id INT, {column}) WITH ('file.format' = '{format}')");
        place.ok(&["sql", "-c", &create]);
        let error = place.fails(&["table", "import", &format!("default.{table}"), &format!("{table}.ndjson")], 5);
        assert!(error.contains(format) && error.contains(&column[..2]), "{error}");
    }
}

#[test]
fn timestamps_far_away_come_from_every_format() {
    let place = Place::new();
    let columns = "id INT, t TIMESTAMP(9), r ROW<x ARRAY<TIMESTAMP(9)>>, z TIMESTAMP(9) WITH LOCAL TIME ZONE";
    let text = "'linn.read.wide-timestamps' = 'text'";
    let rows = |table: &str| {
        let query = format!("SELECT * FROM {table} OPTIONS({text}) ORDER BY id");
        place.ok(&["-o", "ndjson", "sql", "-c", &query])
    };
    place.ok(&["sql", "-c", &format!("CREATE TABLE t ({columns})")]);
    let expected = "{\"id\":1,\"t\":\"9999-12-31 23:59:59.999999999\",\"r\":{\"x\":[\"0001-01-01 00:00:00.000000000\",null]},\"z\":\"-0044-03-15 12:00:00.000000001\"}\n\
        {\"id\":2,\"t\":\"2020-01-01 00:00:00.000000001\",\"r\":null,\"z\":\"+12345-06-07 08:09:10.000000011\"}\n";
    place.write("t.ndjson", expected);
    place.write("t.csv", "id,t,r,z\n1,9999-12-31 23:59:59.999999999,\"{\"\"x\"\":[\"\"0001-01-01\"\",null]}\",-0044-03-15 12:00:00.000000001\n2,2020-01-01 00:00:00.000000001,,+12345-06-07 08:09:10.000000011\n");
    place.ok(&["table", "import", "default.t", "t.ndjson"]);
    assert_eq!(rows("t"), expected);
    // The data file has them as INT96.
    let folder = place.path().join("warehouse/default.db/t/bucket-0");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    for file in ["t.csv", &file.to_string_lossy()] {
        place.ok(&["sql", "-c", &format!("CREATE OR REPLACE TABLE u ({columns})")]);
        place.ok(&["table", "import", "default.u", file]);
        assert_eq!(rows("u"), expected, "{file}");
    }
}

#[test]
fn decimals_may_be_strings() {
    let place = Place::new();
    let query = "SELECT CAST(9 AS DECIMAL(10, 2)) AS d, [CAST(1.5 AS DECIMAL(3, 1))] AS l";
    let of = |form: &str| place.ok(&["-o", "ndjson", "--decimal-as", form, "sql", "-c", query]);
    assert_eq!(of("number"), "{\"d\":9.00,\"l\":[1.5]}\n");
    assert_eq!(of("string"), "{\"d\":\"9.00\",\"l\":[\"1.5\"]}\n");
}

#[test]
fn null_is_told_from_empty_text_in_csv() {
    let place = Place::new();
    place.ok(&["sql", "-c", "CREATE TABLE t (s STRING)"]);
    place.ok(&["sql", "-c", "INSERT INTO t VALUES (''), (NULL), ('NULL')"]);
    let query = "SELECT s FROM t ORDER BY s NULLS LAST";
    assert_eq!(place.ok(&["-o", "csv", "sql", "-c", query]), "s\n\"\"\nNULL\n\n");
    for null in ["", "NULL", "x"] {
        place.ok(&["table", "export", "default.t", "--file", "t.csv", "--null", null]);
        place.ok(&["table", "import", "default.t", "t.csv", "--null", null, "--overwrite"]);
        assert_eq!(
            place.ok(&["-o", "ndjson", "sql", "-c", query]),
            "{\"s\":\"\"}\n{\"s\":\"NULL\"}\n{\"s\":null}\n",
            "{null:?}"
        );
    }
    place.ok(&["sql", "-c", "CREATE TABLE n (s STRING NOT NULL)"]);
    place.write("n.csv", "s\n\"\"\n");
    place.ok(&["table", "import", "default.n", "n.csv"]);
    place.write("n.csv", "s\n\n");
    assert!(place.fails(&["table", "import", "default.n", "n.csv"], 2).contains("null where none is allowed"));
}
