"""The Python side of the interop tests: one JSON command a line on stdin, one JSON answer a line on stdout.

The commands and the encoding of rows are those of the Java side (tests/interop/java): decimals, dates, times and timestamps
as strings with exactly the type's precision, binary as hex, maps and multisets as lists of [key, value], NaN and infinities
as strings.
"""

import json
import math
import re
import sys
import traceback
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy
import pyarrow as pa
from pypaimon import CatalogFactory, Schema
from pypaimon.schema.data_types import ArrayType, DataTypeParser, MapType, MultisetType, PyarrowFieldParser, RowType
from pypaimon.schema.schema_change import SchemaChange

EPOCH = date(1970, 1, 1)
UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


# --- Arrow to JSON -----------------------------------------------------------------------------------------------------------


def encode(array, kind):
    """The JSON values of an Arrow array of the table type `kind`."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(kind, (ArrayType, MapType, MultisetType)):
        return [None if not item.is_valid else encode_nested(item, kind) for item in array]
    if isinstance(kind, RowType):
        columns = [encode(array.field(i), field.type) for i, field in enumerate(kind.fields)]
        names = [field.name for field in kind.fields]
        rows = [dict(zip(names, row)) for row in zip(*columns)]
        return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist())]
    base, precision = atomic(kind)
    if base.startswith("TIMESTAMP"):
        suffix = "Z" if "LOCAL" in base else ""
        nanos = UNITS[array.type.unit]
        return [None if v is None else timestamp(v * nanos, precision) + suffix for v in array.cast(pa.int64()).to_pylist()]
    values = array.to_pylist()
    if base == "FLOAT":  # the shortest decimal of the four-byte number, not of its eight-byte twin
        values = [None if v is None else float(str(numpy.float32(v))) for v in values]
    return [None if value is None else scalar(value, base) for value in values]


def encode_nested(item, kind):
    if isinstance(kind, ArrayType):
        return encode(item.values, kind.element)
    key, value = (kind.element, None) if isinstance(kind, MultisetType) else (kind.key, kind.value)
    entries = item.values
    keys = encode(entries.field(0), key)
    values = entries.field(1).to_pylist() if value is None else encode(entries.field(1), value)
    return [list(entry) for entry in zip(keys, values)]


def atomic(kind):
    """The type's base word(s) and its precision."""
    text = kind.type.upper()
    digits = re.search(r"\((\d+)", text)
    precision = int(digits.group(1)) if digits else 6
    return re.sub(r"\(.*?\)", "", text).strip(), precision


def scalar(value, base):
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat(timespec="milliseconds")
    if base.startswith("TIME"):
        return (datetime(1970, 1, 1) + timedelta(milliseconds=value)).time().isoformat(timespec="milliseconds")
    return value


def timestamp(nanos, precision):
    seconds, fraction = divmod(nanos, 1_000_000_000)
    whole = (datetime(1970, 1, 1) + timedelta(seconds=seconds)).isoformat()
    return whole if precision == 0 else f"{whole}.{fraction:09d}"[: len(whole) + 1 + precision]


# --- JSON to Arrow -----------------------------------------------------------------------------------------------------------


def decode(value, kind, arrow):
    """The Python value that pyarrow takes for the Arrow type `arrow`."""
    if value is None:
        return None
    if isinstance(kind, ArrayType):
        return [decode(item, kind.element, arrow.value_type) for item in value]
    if isinstance(kind, MapType):
        return [(decode(k, kind.key, arrow.key_type), decode(v, kind.value, arrow.item_type)) for k, v in value]
    if isinstance(kind, MultisetType):
        return [(decode(k, kind.element, arrow.key_type), v) for k, v in value]
    if isinstance(kind, RowType):
        return {f.name: decode(value.get(f.name), f.type, arrow.field(i).type) for i, f in enumerate(kind.fields)}
    base, _ = atomic(kind)
    if base in ("FLOAT", "DOUBLE"):
        return float(value)
    if base in ("BINARY", "VARBINARY", "BYTES"):
        return bytes.fromhex(value)
    if base == "DECIMAL":
        return Decimal(value)
    if base == "DATE":
        return date.fromisoformat(value)
    if base.startswith("TIMESTAMP"):
        return nanos_of(value) // UNITS[arrow.unit]
    if base.startswith("TIME"):
        return time.fromisoformat(value)
    return value


def nanos_of(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    passed = datetime.fromisoformat(whole) - datetime(1970, 1, 1)
    return (passed.days * 86_400 + passed.seconds) * 1_000_000_000 + int(fraction.ljust(9, "0") or 0)


# --- commands ----------------------------------------------------------------------------------------------------------------


def catalog_of(command):
    return CatalogFactory.create({"warehouse": command["warehouse"], **command.get("catalog", {})})


def name_of(command):
    return f"{command['database']}.{command['table']}"


def table_of(command):
    table = catalog_of(command).get_table(name_of(command))
    options = command.get("options", {})
    return table.copy(options) if options else table


def read(command):
    table = table_of(command)
    builder = table.new_read_builder()
    data = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    names = [field.name for field in table.fields]
    columns = [encode(data.column(field.name), field.type) for field in table.fields]
    return [dict(zip(names, row)) for row in zip(*columns)]


def write(command):
    """Rows in one commit; `_kind` is not supported: the implementation writes inserts only."""
    table = table_of(command)
    rows = command["rows"]
    if any(row.get("_kind", "+I") != "+I" for row in rows):
        raise ValueError("only inserts can be written")
    schema = PyarrowFieldParser.from_paimon_schema(table.fields)
    columns = []
    for field in table.fields:
        arrow = schema.field(field.name).type
        columns.append(pa.array([decode(row.get(field.name), field.type, arrow) for row in rows], type=arrow))
    builder = table.new_batch_write_builder()
    writer, commit = builder.new_write(), builder.new_commit()
    try:
        writer.write_arrow(pa.Table.from_arrays(columns, schema=schema))
        messages = writer.prepare_commit()
        commit.commit(messages)
        return len(messages)
    finally:
        writer.close()
        commit.close()


def create(command):
    wanted = command["schema"]
    fields = [DataTypeParser.parse_data_field({"id": i, **field}) for i, field in enumerate(wanted["fields"])]
    schema = Schema(
        fields=fields,
        partition_keys=wanted.get("partitionKeys", []),
        primary_keys=wanted.get("primaryKeys", []),
        options=wanted.get("options", {}),
    )
    catalog = catalog_of(command)
    catalog.create_database(command["database"], True)
    catalog.create_table(name_of(command), schema, False)
    return "created"


def alter(command):
    catalog_of(command).alter_table(name_of(command), [change(*c) for c in command["changes"]], False)
    return "altered"


def change(what, column, *rest):
    if what == "add":
        return SchemaChange.add_column(column, DataTypeParser.parse_data_type(rest[0]))
    if what == "drop":
        return SchemaChange.drop_column(column)
    if what == "rename":
        return SchemaChange.rename_column(column, rest[0])
    if what == "type":
        return SchemaChange.update_column_type(column, DataTypeParser.parse_data_type(rest[0]))
    if what == "set":
        return SchemaChange.set_option(column, rest[0])
    if what == "reset":
        return SchemaChange.remove_option(column)
    raise ValueError(f"unknown change {what}")


COMMANDS = {"read": read, "write": write, "create": create, "alter": alter}


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries may print; stdout is the protocol's alone
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = {"ok": COMMANDS[command["command"]](command)}
        except Exception as error:  # every failure is an answer: the caller decides what it means
            answer = {"error": f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-6)}"}
        print(json.dumps(answer, default=repr), file=answers, flush=True)


if __name__ == "__main__":
    main()
