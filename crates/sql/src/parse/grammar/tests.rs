//! Clauses that work, and clauses that are refused.

use super::*;
use crate::parse::{DIALECT, split, with_select};
use datafusion::sql::sqlparser::parser::Parser;
use linn::ErrorKind;

fn checked(sql: &str) -> Result<String> {
    let tokens = with_select(&split(sql)?.remove(0));
    let mut parser = Parser::new(&DIALECT).with_tokens_with_locations(tokens);
    let mut statement = parser.parse_statement().unwrap_or_else(|e| panic!("{sql}: {e}"));
    assert_eq!(parser.peek_token_ref().token.to_string(), "EOF", "{sql}");
    let functions = |name: &str| match name {
        "sum" | "count" | "corr" | "array_agg" | "first_value" => Called::Aggregate,
        "row_number" | "lead" => Called::Window,
        "abs" | "upper" => Called::Scalar,
        _ => Called::Unknown,
    };
    honoured(&mut statement, &functions)?;
    Ok(statement.to_string())
}

#[test]
fn clauses_without_effect_are_refused() {
    for sql in [
        "SELECT * FROM t FOR UPDATE",
        "SELECT * FROM t FOR SHARE SKIP LOCKED",
        "SELECT * FROM t LIMIT 1 BY a",
        "SELECT * FROM t ORDER BY a FETCH FIRST 1 ROW WITH TIES",
        "SELECT * FROM t FETCH FIRST 10 PERCENT ROWS ONLY",
        "SELECT * FROM t SETTINGS a = 1",
        "SELECT * FROM t FORMAT JSON",
        "SELECT * FROM t ORDER BY a WITH FILL",
        "SELECT * FROM t ORDER BY a INTERPOLATE",
        "SELECT TOP 3 * FROM t",
        "SELECT a INTO x FROM t",
        "SELECT * FROM t PREWHERE a = 1",
        "SELECT * FROM t LATERAL VIEW explode(a) x AS b",
        "SELECT * FROM t START WITH a = 1 CONNECT BY a = PRIOR b",
        "SELECT a FROM t GROUP BY a WITH ROLLUP",
        "SELECT a FROM t GROUP BY ALL WITH CUBE",
        "SELECT * FROM t CLUSTER BY a",
        "SELECT * FROM t DISTRIBUTE BY a",
        "SELECT * FROM t SORT BY a",
        "SELECT * RENAME (a AS b) FROM t",
        "SELECT * ILIKE 'x%' FROM t",
        "FROM t |> WHERE a = 1",
        "SELECT a FROM t EXCEPT ALL SELECT a FROM u",
        "SELECT a FROM t INTERSECT ALL SELECT a FROM u",
        "SELECT * FROM t PIVOT(sum(a) FOR b IN ('x'))",
        "SELECT * FROM t UNPIVOT(a FOR b IN (c, d))",
        "SELECT * FROM t MATCH_RECOGNIZE(PATTERN (a) DEFINE a AS true)",
        "SELECT * FROM t WITH (NOLOCK)",
        "SELECT * FROM t ASOF JOIN u MATCH_CONDITION (t.a >= u.a) ON t.b = u.b",
        "SELECT * FROM t CROSS APPLY u",
        "SELECT * FROM t GLOBAL JOIN u ON true",
        "SELECT * FROM unnest([1]) WITH ORDINALITY",
        "SELECT sum(a) OVER (w ROWS 1 PRECEDING) FROM t WINDOW w AS (ORDER BY a)",
        "SELECT sum(a) OVER w FROM t WINDOW w AS (v ORDER BY a), v AS (PARTITION BY b)",
        "SELECT abs(a) FILTER (WHERE false) FROM t",
        "SELECT abs(DISTINCT a) FROM t",
        "SELECT upper(a ORDER BY b) FROM t",
        "SELECT abs(a) OVER () FROM t",
        "SELECT row_number() FILTER (WHERE a) OVER () FROM t",
        "SELECT corr(DISTINCT a, b) FROM t",
        "SELECT count(t.*) FROM t",
        "SELECT array_agg(a LIMIT 1) FROM t",
        "SELECT sum(a) FROM t WHERE 2 ^ 3 = 8",
        "SELECT * FROM t WHERE a SIMILAR TO 'x'",
        "SELECT * FROM t WHERE a LIKE ANY ('x')",
        "SELECT a COLLATE de FROM t",
        "SELECT CAST(a AS DATE FORMAT 'YYYY') FROM t",
        "SELECT CONVERT(INT, a) FROM t",
        "SELECT floor(a TO DAY) FROM t",
        "SELECT /*+ BROADCAST(t) */ * FROM t",
        "SELECT * FROM t TABLESAMPLE BERNOULLI (10) REPEATABLE (3)",
        "SELECT * FROM t TABLESAMPLE (BUCKET 1 OUT OF 3)",
        "SELECT * FROM (SELECT TOP 3 * FROM t) AS x",
        "SELECT * FROM t WHERE a IN (SELECT b FROM u FOR UPDATE)",
        "WITH x AS (DELETE FROM t) SELECT * FROM x",
        "UPDATE t SET a = 1 FROM u WHERE t.b = u.b",
        "UPDATE t SET a = 1 LIMIT 3",
        "UPDATE t SET a = 1 RETURNING a",
        "UPDATE t SET a = 1 WHERE abs(DISTINCT a) = 1",
        "DELETE FROM t USING u WHERE t.a = u.a",
        "DELETE FROM t LIMIT 1",
        "DELETE FROM t WHERE a = 1 RETURNING a",
        "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE OUTPUT inserted.*",
        "EXPLAIN ESTIMATE SELECT 1",
    ] {
        let error = checked(sql).err().unwrap_or_else(|| panic!("{sql} is taken"));
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{sql}: {error}");
    }
}

#[test]
fn clauses_that_the_planner_lacks_are_written_as_what_it_has() {
    for (sql, expected) in [
        ("FROM t", "SELECT * FROM t"),
        ("FROM t WHERE a = 1", "SELECT * FROM t WHERE a = 1"),
        ("FROM t SELECT a", "SELECT a FROM t"),
        ("SELECT * FROM (FROM t) AS x", "SELECT * FROM (SELECT * FROM t) AS x"),
        ("SELECT a FROM t FETCH FIRST 3 ROWS ONLY", "SELECT a FROM t LIMIT 3"),
        ("SELECT a FROM t OFFSET 2 ROWS FETCH NEXT ROW ONLY", "SELECT a FROM t LIMIT 1 OFFSET 2 ROWS"),
        (
            "SELECT a FROM t WINDOW w AS (ORDER BY a) QUALIFY sum(b) OVER w > 1",
            "SELECT a FROM t WINDOW w AS (ORDER BY a) QUALIFY sum(b) OVER (ORDER BY a) > 1",
        ),
        (
            "SELECT * FROM db.t TABLESAMPLE (10 PERCENT) JOIN u ON t.a = u.a",
            "SELECT * FROM (SELECT * FROM db.t WHERE random() * 100 < 10) AS \"t\" JOIN u ON t.a = u.a",
        ),
        (
            "SELECT * FROM t AS x TABLESAMPLE (5 ROWS)",
            "SELECT * FROM (SELECT * FROM t AS x ORDER BY random() LIMIT 5) AS x",
        ),
        (
            "SELECT sum(b) OVER w FROM t WINDOW w AS (ORDER BY a) ORDER BY sum(c) OVER w",
            "SELECT sum(b) OVER (ORDER BY a) FROM t WINDOW w AS (ORDER BY a) ORDER BY sum(c) OVER (ORDER BY a)",
        ),
    ] {
        assert_eq!(checked(sql).unwrap(), expected, "{sql}");
    }
    for sql in
        ["SELECT * FROM t TABLESAMPLE (10)", "SELECT * FROM t TABLESAMPLE BERNOULLI (101)", "SELECT * FROM t JOIN u"]
    {
        assert_eq!(checked(sql).unwrap_err().kind(), ErrorKind::Invalid, "{sql}");
    }
}

#[test]
fn what_works_is_taken() {
    for sql in [
        "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC NULLS LAST",
        "SELECT a, count(DISTINCT b) FILTER (WHERE c) FROM t GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL LIMIT 3 OFFSET 1",
        "SELECT a, row_number() OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM t QUALIFY n = 1",
        "WITH RECURSIVE x (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x WHERE a < 3) SELECT * FROM x",
        "SELECT * EXCLUDE (a) REPLACE (b + 1 AS b) FROM t",
        "SELECT t.* FROM t LEFT JOIN u USING (a) CROSS JOIN v NATURAL JOIN w",
        "SELECT first_value(a IGNORE NULLS ORDER BY b) FROM t",
        "SELECT lead(a) IGNORE NULLS OVER (ORDER BY b) FROM t",
        "SELECT a FROM t UNION ALL BY NAME SELECT a FROM u EXCEPT SELECT 1",
        "SELECT a FROM t GROUP BY GROUPING SETS ((a), ())",
        "VALUES (1, 2), (3, 4)",
        "EXPLAIN ANALYZE VERBOSE SELECT 1",
        "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.b THEN UPDATE SET a = 1 WHEN NOT MATCHED THEN INSERT (a) VALUES (1)",
    ] {
        checked(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}
