//! The library's messages in the words of SQL: no names of its types, kinds, rules or settings.

/// What begins a message of the library and says nothing.
const PREFIXES: [&str; 17] = [
    "Error during planning: ",
    "Schema error: ",
    "SQL error: ",
    "Arrow error: ",
    "Parquet error: ",
    "Execution error: ",
    "Invalid or Unsupported Configuration: ",
    "This feature is not implemented: ",
    "External error: ",
    "Resources exhausted: ",
    "Invalid argument error: ",
    "Cast error: ",
    "Parser error: ",
    "Compute error: ",
    "Arithmetic overflow: ",
    "Internal error: ",
    "\n",
];

/// The beginning of a message, and what is said for it; `{}` takes what follows, up to the second text.
const MESSAGES: [(&str, &str, &str); 21] = [
    ("Invalid function '", "'", "there is no function {}"),
    ("table '", "' not found", "there is no table {}"),
    ("table function '", "' not found", "there is no table function {}"),
    ("Cannot infer common argument type for comparison operation ", "", "values of these types cannot be compared: {}"),
    ("Cannot coerce arithmetic expression ", " to valid types", "the operator does not take these types: {}"),
    ("Cannot get result type for arithmetic operation ", "", "the operator does not take these types: {}"),
    ("Divide by zero error", "", "division by zero"),
    ("Divide by zero", "", "division by zero"),
    (
        "Column in SELECT must be in GROUP BY or an aggregate function: While expanding wildcard, column ",
        " must appear",
        "a column of SELECT is neither in GROUP BY nor in an aggregate function: {}",
    ),
    (
        "Column in SELECT must be in GROUP BY or an aggregate function: ",
        "",
        "a column of SELECT is neither in GROUP BY nor in an aggregate function: {}",
    ),
    (
        "Column in HAVING must be in GROUP BY or an aggregate function: ",
        "",
        "a column of HAVING is neither in GROUP BY nor in an aggregate function: {}",
    ),
    (
        "Column in ORDER BY must be in GROUP BY or an aggregate function: ",
        "",
        "a column of ORDER BY is neither in GROUP BY nor in an aggregate function: {}",
    ),
    (
        "UNION queries have different number of columns: ",
        "",
        "the queries of UNION have different numbers of columns: {}",
    ),
    ("Cannot create filter with non-boolean predicate ", "", "a condition is not BOOLEAN: {}"),
    ("Filter predicate must return BOOLEAN values, got ", "", "a condition is of type {}, not BOOLEAN"),
    ("WITH query name ", " specified more than once", "the common table expression {} is defined twice"),
    ("Subquery returned more than one row", "", "a scalar subquery returned more than one row"),
    (
        "Correlated scalar subquery must be aggregated to return at most one row",
        "",
        "a scalar subquery can return more than one row; aggregate it or add LIMIT 1",
    ),
    ("Cannot cast string ", "", "text cannot be cast: {}"),
    ("Overflow happened on: ", "", "the result is out of range: {}"),
    ("Failed to allocate additional ", "", "the query needs more memory than its limit: {}"),
];

/// The library's names of types, and SQL's.
const TYPES: [(&str, &str); 29] = [
    ("Utf8View", "STRING"),
    ("LargeUtf8", "STRING"),
    ("Utf8", "STRING"),
    ("BinaryView", "BYTES"),
    ("LargeBinary", "BYTES"),
    ("FixedSizeBinary", "BYTES"),
    ("Binary", "BYTES"),
    ("Int8", "TINYINT"),
    ("Int16", "SMALLINT"),
    ("Int32", "INT"),
    ("Int64", "BIGINT"),
    ("UInt8", "SMALLINT"),
    ("UInt16", "INT"),
    ("UInt32", "BIGINT"),
    ("UInt64", "DECIMAL(20, 0)"),
    ("Float16", "FLOAT"),
    ("Float32", "FLOAT"),
    ("Float64", "DOUBLE"),
    ("Boolean", "BOOLEAN"),
    ("Date32", "DATE"),
    ("Date64", "DATE"),
    ("Decimal128", "DECIMAL"),
    ("Decimal256", "DECIMAL"),
    ("Null", "NULL"),
    ("List", "ARRAY"),
    ("LargeList", "ARRAY"),
    ("FixedSizeList", "ARRAY"),
    ("Struct", "ROW"),
    ("Map", "MAP"),
];

/// Beginnings of types whose arguments are the library's own: what stands in parentheses goes.
const WITH_ARGUMENTS: [(&str, &str); 6] = [
    ("Timestamp", "TIMESTAMP"),
    ("Time32", "TIME"),
    ("Time64", "TIME"),
    ("Interval", "INTERVAL"),
    ("Duration", "INTERVAL"),
    ("Dictionary", "STRING"),
];

/// A message of the library as ours: its meaning first, small letter at the begin, no full stop.
pub(super) fn in_words(message: &str) -> String {
    let mut text = message.trim();
    // Advice about the library's settings, and lines for its developers.
    for end in [
        "\nHint:",
        "\nThis issue was likely caused",
        "\nBacktrace",
        "\n\nbacktrace",
        ". You can set",
        " (set `datafusion",
    ] {
        text = text.split(end).next().unwrap_or(text);
    }
    // What it failed in the course of says nothing.
    text = text.rsplit("caused by\n").next().unwrap_or(text);
    let mut old = "";
    while old != text {
        old = text;
        for prefix in PREFIXES {
            text = text.strip_prefix(prefix).unwrap_or(text).trim();
        }
    }
    if let Some(call) = call(text) {
        return call;
    }
    let text = match MESSAGES.iter().find_map(|&(begin, end, ours)| Some((text.strip_prefix(begin)?, end, ours))) {
        Some((rest, "", ours)) => ours.replace("{}", rest.trim()),
        Some((rest, end, ours)) => ours.replace("{}", rest.split(end).next().unwrap_or(rest).trim()),
        None => text.to_owned(),
    };
    small(&unmarked(&typed(&text)))
}

/// What is said of a function that does not take its arguments.
fn call(text: &str) -> Option<String> {
    let between = |begin: &str| text.split(begin).nth(1)?.split('\'').next();
    if let Some(call) = between("No function matches the given name and argument types '") {
        return Some(format!("the function does not take these arguments: {}", typed(call)));
    }
    if text.contains("failed to match any signature") || text.contains("unction '") && text.contains(" requires ") {
        let name = between("unction '")?;
        return Some(format!("the function {name} does not take these arguments"));
    }
    let name = between("a call to '").or_else(|| between("call to function '"))?;
    Some(format!("the function {name} does not take these arguments"))
}

/// The names of types in SQL, outside of quotes, and values without theirs.
fn typed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut quote, mut inside) = (text, None, false);
    while let Some(c) = rest.chars().next() {
        if let Some(open) = quote {
            quote = (c != open).then_some(open);
        } else if matches!(c, '\'' | '"') && !inside {
            quote = Some(c);
        } else if !inside && c.is_ascii_uppercase() {
            let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            rest = rest.get(word.len()..).unwrap_or_default();
            let (spelled, left) = spelled(word, rest);
            out.push_str(&spelled);
            rest = left;
            continue;
        }
        inside = c.is_alphanumeric() || c == '_';
        out.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    let out = out.replace("ARRAY(nullable ", "ARRAY(").replace("ARRAY(non-null ", "ARRAY(");
    without(&without(&out, ", metadata: {", "}"), ", field: '", "'")
}

/// A text without what stands between two marks, and without these.
fn without(text: &str, begin: &str, end: &str) -> String {
    let mut parts = text.split(begin);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once(end).map_or("", |(_, rest)| rest));
    }
    out
}

/// A word that may be a type, or a value with its type, and what is left behind it.
fn spelled<'t>(word: &str, rest: &'t str) -> (String, &'t str) {
    let inner = rest.strip_prefix('(').map(|inner| (inner, behind(inner)));
    if let Some((_, left)) = inner
        && let Some((_, ours)) = WITH_ARGUMENTS.iter().find(|(begin, _)| word.starts_with(begin))
    {
        return ((*ours).to_owned(), left);
    }
    let Some((_, ours)) = TYPES.iter().find(|(name, _)| *name == word) else { return (word.to_owned(), rest) };
    let Some((inner, left)) = inner else { return ((*ours).to_owned(), rest) };
    let value = inner.get(..inner.len() - left.len()).unwrap_or_default();
    let value = value.strip_suffix(')').unwrap_or(value);
    match *ours {
        "ARRAY" | "ROW" | "MAP" => ((*ours).to_owned(), rest),
        "DECIMAL" => match decimal(value) {
            Some(value) => (value, left),
            None => ((*ours).to_owned(), rest),
        },
        "STRING" => (value.replace('"', "'"), left),
        _ => (value.to_owned(), left),
    }
}

/// A decimal value such as `Some(150),3,2`.
fn decimal(text: &str) -> Option<String> {
    let (digits, rest) = text.strip_prefix("Some(")?.split_once(')')?;
    let scale: usize = rest.rsplit(',').next()?.trim().parse().ok()?;
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, part) = digits.split_at_checked(digits.len() - scale)?;
    Some(if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") })
}

/// What is behind the parenthesis that closes one that is open.
fn behind(text: &str) -> &str {
    let mut depth = 1usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(at + 1..).unwrap_or_default();
        }
    }
    ""
}

/// Names of tables without the marks that they have here, and without the catalog's name, which nobody wrote.
pub(crate) fn unmarked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if matches!(c, '\u{1}' | '\u{2}') {
            while chars.peek().is_some_and(char::is_ascii_digit) {
                chars.next();
            }
        } else {
            out.push(c);
        }
    }
    out.replace("there is no table linn.", "there is no table ")
}

fn small(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if chars.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_in_the_words_of_sql() {
        for (theirs, expected) in [
            ("Error during planning: Invalid function 'fooo'.\nDid you mean 'floor'?", "there is no function fooo"),
            ("table 'linn.default.t' not found", "there is no table default.t"),
            (
                "Cannot infer common argument type for comparison operation Time32(Millisecond) = List(Int64)",
                "values of these types cannot be compared: TIME = ARRAY(BIGINT)",
            ),
            (
                "type_coercion\ncaused by\nError during planning: Cannot coerce arithmetic expression Utf8 + Boolean to valid types",
                "the operator does not take these types: STRING + BOOLEAN",
            ),
            ("Cannot cast string 'Utf8' to value of Int32 type", "text cannot be cast: 'Utf8' to value of INT type"),
            ("Arrow error: Divide by zero error", "division by zero"),
            (
                "Cast error: Cannot cast string 'a' to value of Timestamp(Nanosecond, Some(\"+00:00\")) type",
                "text cannot be cast: 'a' to value of TIMESTAMP type",
            ),
            (
                "Cannot create filter with non-boolean predicate 'x' returning Utf8",
                "a condition is not BOOLEAN: 'x' returning STRING",
            ),
            (
                "Failed to coerce arguments to satisfy a call to 'upper' function: coercion from Utf8 to the signature Coercible([]) failed \
              No function matches the given name and argument types 'upper(Utf8, Int64)'. You might need to add explicit type casts.",
                "the function does not take these arguments: upper(STRING, BIGINT)",
            ),
            (
                "No value for t.a + Int64(1) = Decimal128(Some(-15),3,2) and Utf8(\"x\")",
                "no value for t.a + 1 = -0.15 and 'x'",
            ),
            ("Types List(nullable Int32) and Decimal128(10, 2)", "types ARRAY(INT) and DECIMAL(10, 2)"),
            ("Something else. You can set datafusion.x to y", "something else"),
            ("NULL is no value", "NULL is no value"),
            ("No MyInt64 in t\u{1}3", "no MyInt64 in t"),
        ] {
            assert_eq!(in_words(theirs), expected, "{theirs}");
        }
    }
}
