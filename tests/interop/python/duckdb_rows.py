"""Runs statements in DuckDB: a JSON object {"setup": [...], "queries": [...]} on standard input, a JSON list on standard output.

Each answer is {"rows": [[text or null, ...], ...]} or {"error": text}. Numbers are text, so that no digit is lost.
"""

import datetime
import decimal
import json
import sys

import duckdb


def text(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return str(value)


def answer(connection, sql):
    try:
        rows = connection.execute(sql).fetchall()
    except Exception as error:  # whatever it is, it is the answer
        return {"error": str(error)}
    return {"rows": [[text(value) for value in row] for row in rows]}


def main():
    work = json.load(sys.stdin)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for sql in work["setup"]:
        connection.execute(sql)
    json.dump([answer(connection, sql) for sql in work["queries"]], sys.stdout)


main()
