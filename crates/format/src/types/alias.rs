//! Other names of types, as PostgreSQL, DuckDB and Spark spell them: one table for CREATE, ALTER and every other place.

/// The spelling of a type's first word in this format; a word that is no other name stays. In capitals.
pub(super) fn canonical(word: &str) -> &str {
    match word {
        "BOOL" => "BOOLEAN",
        "BYTE" | "INT1" => "TINYINT",
        "INT2" | "SHORT" => "SMALLINT",
        "INT4" | "SIGNED" => "INT",
        "INT8" | "LONG" => "BIGINT",
        "REAL" | "FLOAT4" => "FLOAT",
        "FLOAT8" => "DOUBLE",
        "NUMERIC" | "DEC" => "DECIMAL",
        "TEXT" | "JSON" | "JSONB" | "CLOB" => "STRING",
        "CHARACTER" | "BPCHAR" | "NCHAR" => "CHAR",
        "NVARCHAR" | "VARCHAR2" => "VARCHAR",
        "BYTEA" => "BYTES",
        "DATETIME" => "TIMESTAMP",
        "TIMESTAMPTZ" => "TIMESTAMP_LTZ",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use crate::types::DataType;

    #[test]
    fn other_names_are_the_same_types() {
        for (text, expected) in [
            ("real", "FLOAT"),
            ("FLOAT4", "FLOAT"),
            ("FLOAT8", "DOUBLE"),
            ("DOUBLE PRECISION", "DOUBLE"),
            ("INT2", "SMALLINT"),
            ("INT4 NOT NULL", "INT NOT NULL"),
            ("INT8", "BIGINT"),
            ("BOOL", "BOOLEAN"),
            ("NUMERIC(12, 2)", "DECIMAL(12, 2)"),
            ("TIMESTAMPTZ", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
            ("TIMESTAMPTZ(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
            ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
            ("JSON", "STRING"),
            ("TEXT", "STRING"),
            ("VARCHAR", "STRING"),
            ("VARCHAR(7)", "VARCHAR(7)"),
            ("CHARACTER VARYING(7)", "VARCHAR(7)"),
            ("CHARACTER VARYING", "STRING"),
            ("CHARACTER(2)", "CHAR(2)"),
            ("VARBINARY", "BYTES"),
            ("BYTEA", "BYTES"),
            ("ARRAY<REAL>", "ARRAY<FLOAT>"),
            ("ROW<a INT8, b ARRAY<JSON>>", "ROW<`a` BIGINT, `b` ARRAY<STRING>>"),
        ] {
            assert_eq!(DataType::parse(text).unwrap().to_string(), expected, "{text}");
        }
        assert!(DataType::parse("REALLY").is_err());
    }
}
