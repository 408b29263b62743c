//! Every type of column through every format of results, and back by an import.

use crate::run::Place;

const TYPES: &str = "id INT NOT NULL, bo BOOLEAN, ti TINYINT, si SMALLINT, bi BIGINT, fl FLOAT, du DOUBLE, de DECIMAL(38, 2), \
    da DATE, tm TIME(3), t0 TIMESTAMP(3), t6 TIMESTAMP(6), t9 TIMESTAMP(9), tz TIMESTAMP(6) WITH LOCAL TIME ZONE, \
    ch CHAR(3), vc VARCHAR(5), st STRING, bn BINARY(2), bs BYTES, ar ARRAY<DECIMAL(10, 2)>, \
    ma MAP<INT, STRING>, mu MULTISET<STRING>, ro ROW<x BIGINT, y ARRAY<DOUBLE>>, mm MAP<DATE, MAP<BIGINT, INT>>";

/// One row that is full of what is hard, one of nulls, one of empty values.
const ROWS: &str = r#"{"id":1,"bo":true,"ti":-128,"si":32767,"bi":-9223372036854775808,"fl":"NaN","du":"-Infinity","de":999999999999999999999999999999999999.10,"da":"9999-12-31","tm":"23:59:59.999","t0":"+10000-01-01T00:00:00","t6":"+294247-01-10T04:00:54.775807","t9":"1677-09-22T00:00:00.000000001","tz":"1969-12-31T23:59:59.999999Z","ch":"a,b","vc":"\"ä\n","st":"NULL","bn":"00ff","bs":"","ar":[1.10,null],"ma":{"-1":"","2":null},"mu":{"a b":2},"ro":{"x":9007199254740993,"y":["NaN",0.1]},"mm":{"2020-02-29":{"9223372036854775807":1}}}
{"id":2}
{"id":3,"fl":0.1,"du":1e300,"de":-0.01,"st":"","vc":"","bs":"","ar":[],"ma":{},"mu":{},"ro":{"x":null,"y":null},"mm":{}}
"#;

fn create(place: &Place, table: &str) {
    place.ok(&["sql", "-c", &format!("CREATE TABLE {table} ({TYPES})")]);
}

fn rows(place: &Place, table: &str) -> String {
    place.ok(&["-o", "ndjson", "sql", "-c", &format!("SELECT * FROM {table} ORDER BY id")])
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
        "+10000-01-01T00:00:00",
        "+294247-01-10T04:00:54.775807",
    ] {
        assert!(whole.contains(part), "{part} is not in {whole}");
    }
    for format in ["csv", "tsv", "json", "ndjson", "parquet", "arrow"] {
        let file = format!("out.{format}");
        place.ok(&["table", "export", "default.t", "--file", &file, "--format", format]);
        let table = format!("of_{format}");
        create(&place, &table);
        place.ok(&["table", "import", &format!("default.{table}"), &file]);
        assert_eq!(rows(&place, &table), whole, "{format}");
    }
    for format in ["table", "markdown"] {
        let shown = place.ok(&["-o", format, "table", "read", "default.t"]);
        for part in [
            "+294247-01-10 04:00:54.775807",
            "999999999999999999999999999999999999.10",
            "-Infinity",
            "9223372036854775807",
        ] {
            assert!(shown.contains(part), "{format}: {part} is not in {shown}");
        }
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
