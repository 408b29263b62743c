//! Rows and expressions that a number decides.

/// The table in Linn.
pub(super) const LINN: &str = "CREATE TABLE t (k INT NOT NULL, b BOOLEAN, i INT, l BIGINT, d DECIMAL(10, 2), x DOUBLE, s STRING, \
     y DATE, z TIMESTAMP(6), PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')";
/// The same in DuckDB.
pub(super) const DUCKDB: &str = "CREATE TABLE t (k INT NOT NULL, b BOOLEAN, i INT, l BIGINT, d DECIMAL(10, 2), x DOUBLE, s VARCHAR, \
     y DATE, z TIMESTAMP)";

/// What an expression gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Integer,
    Decimal,
    Double,
    Text,
    Date,
    Timestamp,
}

/// An expression as text, in parentheses where it needs them beside any operator.
pub(super) struct Made(pub(super) String);

/// Random numbers, the same for the same seed (splitmix64).
pub(super) struct Chance(pub(super) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below another.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    pub(super) fn kind(&mut self) -> Kind {
        use Kind::{Boolean, Date, Decimal, Double, Integer, Text, Timestamp};
        [Boolean, Integer, Integer, Decimal, Double, Text, Text, Date, Timestamp]
            [usize::try_from(self.below(9)).unwrap()]
    }

    fn literal(&mut self, kind: Kind) -> &'static str {
        let of: &[&str] = match kind {
            Kind::Boolean => &["true", "false"],
            Kind::Integer => {
                &["0", "1", "-1", "7", "100", "-2147483648", "2147483647", "9223372036854775807", "4000000000"]
            }
            Kind::Decimal => &["0.00", "1.25", "-99.99", "12345678.90", "99999999.99", "0.01"],
            Kind::Double => &["CAST(0.5 AS DOUBLE)", "1e3", "-2.5e0", "1e-3", "1e15"],
            Kind::Text => &["''", "'a'", "'Ab c'", "'it''s'", "'日本'", "'  x '", "'10'", "'%_'"],
            Kind::Date => &["DATE '2024-02-29'", "DATE '1969-12-31'", "DATE '2026-12-01'"],
            Kind::Timestamp => &[
                "TIMESTAMP '2024-02-29 23:59:59.999999'",
                "TIMESTAMP '1969-12-31 12:00:00'",
                "TIMESTAMP '2026-01-01 00:00:00'",
            ],
        };
        self.one(of)
    }

    fn nullable(&mut self, kind: Kind) -> &'static str {
        if self.below(5) == 0 { "NULL" } else { self.literal(kind) }
    }

    /// A row as it stands in VALUES.
    pub(super) fn row(&mut self, key: usize) -> String {
        let i = ["0", "1", "-5", "12", "2147483647", "-2147483648", "NULL"][usize::try_from(self.below(7)).unwrap()];
        let kinds = [Kind::Integer, Kind::Decimal, Kind::Double, Kind::Text, Kind::Date, Kind::Timestamp];
        let b = self.nullable(Kind::Boolean);
        let rest: Vec<&str> = kinds.into_iter().map(|kind| self.nullable(kind)).collect();
        format!("({key}, {b}, {i}, {})", rest.join(", "))
    }

    /// An expression of a kind, so many levels deep at most.
    pub(super) fn expression(&mut self, kind: Kind, depth: u32) -> Made {
        if depth == 0 || self.below(6) == 0 {
            return Made(self.leaf(kind));
        }
        let text = match self.below(6) {
            0 => self.case(kind, depth - 1),
            1 => {
                let (a, b) = (self.inner(kind, depth - 1), self.inner(kind, depth - 1));
                let function = self.one(&["coalesce", "nullif", "greatest", "least"]);
                format!("{function}({a}, {b})")
            }
            _ => self.operation(kind, depth - 1),
        };
        Made(text)
    }

    fn inner(&mut self, kind: Kind, depth: u32) -> String {
        self.expression(kind, depth).0
    }

    fn leaf(&mut self, kind: Kind) -> String {
        if self.below(3) == 0 {
            return self.literal(kind).to_owned();
        }
        match kind {
            Kind::Boolean => "b",
            Kind::Integer => self.one(&["i", "l", "k"]),
            Kind::Decimal => "d",
            Kind::Double => "x",
            Kind::Text => "s",
            Kind::Date => "y",
            Kind::Timestamp => "z",
        }
        .to_owned()
    }

    fn case(&mut self, kind: Kind, depth: u32) -> String {
        let (when, then) = (self.inner(Kind::Boolean, depth), self.inner(kind, depth));
        match self.below(3) {
            0 => format!("CASE WHEN {when} THEN {then} END"),
            _ => format!("CASE WHEN {when} THEN {then} ELSE {} END", self.inner(kind, depth)),
        }
    }

    fn operation(&mut self, kind: Kind, depth: u32) -> String {
        match kind {
            Kind::Boolean => self.boolean(depth),
            Kind::Integer => self.integer(depth),
            Kind::Decimal => {
                let a = self.inner(Kind::Decimal, depth);
                match self.below(4) {
                    0 => format!("({a} + {})", self.inner(Kind::Decimal, depth)),
                    1 => format!("({a} - 1.25)"),
                    2 => format!("({a} * {})", self.one(&["2", "-1", "0.5"])),
                    _ => format!("(- {a})"),
                }
            }
            Kind::Double => {
                let a = self.inner(Kind::Double, depth);
                match self.below(6) {
                    0 => format!("({a} + {})", self.inner(Kind::Double, depth)),
                    1 => format!("({a} * {})", self.inner(Kind::Double, depth)),
                    2 => format!("CAST({} AS DOUBLE)", self.inner(Kind::Integer, depth)),
                    3 => format!("sqrt(abs({a}))"),
                    4 => format!("{}({a})", self.one(&["floor", "ceil", "abs"])),
                    _ => format!("({a} / nullif({}, 0))", self.inner(Kind::Double, depth)),
                }
            }
            Kind::Text => self.text(depth),
            Kind::Date => format!("CAST({} AS DATE)", self.inner(Kind::Timestamp, depth)),
            Kind::Timestamp => match self.below(3) {
                0 => format!("CAST({} AS TIMESTAMP)", self.inner(Kind::Date, depth)),
                1 => format!(
                    "date_trunc('{}', {})",
                    self.one(&["day", "month", "year", "hour"]),
                    self.inner(Kind::Timestamp, depth)
                ),
                _ => {
                    let by = self.one(&["INTERVAL '1' DAY", "INTERVAL '3' HOUR", "INTERVAL '1' MONTH"]);
                    format!("({} {} {by})", self.inner(Kind::Timestamp, depth), self.one(&["+", "-"]))
                }
            },
        }
    }

    fn boolean(&mut self, depth: u32) -> String {
        let kind = self.kind();
        let a = self.inner(kind, depth);
        match self.below(9) {
            // Without parentheses, so that what binds to what is compared too.
            0 => format!(
                "({} AND {} OR {})",
                self.inner(Kind::Boolean, depth),
                self.inner(Kind::Boolean, depth),
                self.leaf(Kind::Boolean)
            ),
            1 => format!("(NOT {})", self.inner(Kind::Boolean, depth)),
            2 => format!("({a} IS {}NULL)", self.one(&["", "NOT "])),
            3 => {
                let b = self.inner(kind, depth);
                format!("({a} IS {}DISTINCT FROM {b} AND {})", self.one(&["", "NOT "]), self.leaf(Kind::Boolean))
            }
            4 => format!(
                "({a} {}BETWEEN {} AND {})",
                self.one(&["", "NOT "]),
                self.inner(kind, depth),
                self.inner(kind, depth)
            ),
            5 => format!("({a} {}IN ({}, {}))", self.one(&["", "NOT "]), self.inner(kind, depth), self.nullable(kind)),
            6 => {
                let pattern = self.one(&["'%'", "'a%'", "'%b%'", "'_b%'", "'%''%'"]);
                format!("({} {} {pattern})", self.inner(Kind::Text, depth), self.one(&["LIKE", "NOT LIKE", "ILIKE"]))
            }
            7 => {
                let (left, right) = (self.number(depth), self.number(depth));
                format!("({left} {} {right})", self.one(&["=", "<>", "<", "<=", ">", ">="]))
            }
            _ => format!("({a} {} {})", self.one(&["=", "<>", "<", "<=", ">", ">="]), self.inner(kind, depth)),
        }
    }

    /// A number of any kind.
    fn number(&mut self, depth: u32) -> String {
        let kind = [Kind::Integer, Kind::Decimal, Kind::Double][usize::try_from(self.below(3)).unwrap()];
        self.inner(kind, depth)
    }

    fn integer(&mut self, depth: u32) -> String {
        let a = self.inner(Kind::Integer, depth);
        match self.below(9) {
            0 => format!("({a} + {})", self.inner(Kind::Integer, depth)),
            1 => format!("({a} - {})", self.inner(Kind::Integer, depth)),
            2 => format!("({a} * {})", self.inner(Kind::Integer, depth)),
            3 => format!("(- {a})"),
            4 => format!("abs({a})"),
            5 => format!("({a} % {})", self.one(&["7", "-3", "2"])),
            6 => format!("length({})", self.inner(Kind::Text, depth)),
            7 => format!("extract({} FROM {})", self.one(&["year", "month", "day"]), self.inner(Kind::Date, depth)),
            _ => format!("CAST({} AS INT)", self.inner(Kind::Boolean, depth)),
        }
    }

    fn text(&mut self, depth: u32) -> String {
        let a = self.inner(Kind::Text, depth);
        match self.below(9) {
            0 => format!("({a} || {})", self.inner(Kind::Text, depth)),
            1 => format!("{}({a})", self.one(&["upper", "lower", "trim", "ltrim", "rtrim", "reverse"])),
            2 => format!("substr({a}, {}, {})", self.one(&["1", "2"]), self.one(&["0", "1", "3"])),
            3 => format!("replace({a}, 'a', {})", self.inner(Kind::Text, 0)),
            4 => format!("CAST({} AS VARCHAR)", self.inner(Kind::Integer, depth)),
            5 => format!("{}({a}, {})", self.one(&["left", "right"]), self.one(&["0", "1", "2"])),
            6 => format!("concat({a}, {})", self.inner(Kind::Text, depth)),
            7 => format!("lpad({a}, {}, '*')", self.one(&["0", "2", "5"])),
            _ => format!("split_part({a}, ' ', {})", self.one(&["1", "2"])),
        }
    }
}
