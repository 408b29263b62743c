"""Writes rows.tsv: rows of the odd files as other readers see them (file, number of the row, the row as a JSON object).

Parquet by pyarrow, Avro by fastavro, JSON by Python's own reader. Of each file the first and the last rows are kept. Files that
cannot be read by them are left out and named on standard error. Run it where pyarrow, fastavro and numpy are installed.
"""

import datetime
import decimal
import json
import pathlib
import sys
import uuid

import fastavro
import numpy
import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
KEPT = 12  # rows at either end
LONGEST = 1200  # characters of a row
# fastavro does not know nanoseconds; a column of a table needs a name.
DIFFERENT = ("arrow-testing/avro/timestamp_logical_types.avro", "json-test-suite/y_object_empty_key.json")
EPOCH = datetime.datetime(1970, 1, 1)


def number(value):
    """A float as Linn spells it: the shortest text that is read as the same value."""
    if value != value:
        return '"NaN"'
    if value in (float("inf"), float("-inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    text = str(value) if isinstance(value, numpy.floating) else repr(value)
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{exponent[0] if exponent[0] == '-' else '+'}{exponent.lstrip('+-').lstrip('0')}"


def moment(value, per_second, zoned=False):
    """An instant in units since 1970, with as many digits of a second as it needs, by threes."""
    seconds, fraction = divmod(value, per_second)
    nanos = fraction * (10**9 // per_second)
    # Years after 9999 have no datetime; the calendar repeats after 400 years.
    cycles = 0
    while not -62135596800 <= seconds < 253402300800:
        step = 1 if seconds > 0 else -1
        cycles += step
        seconds -= step * 146097 * 86400
    time = EPOCH + datetime.timedelta(seconds=seconds)
    year = time.year + 400 * cycles
    text = f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}"
    text += time.strftime("-%m-%dT%H:%M:%S")
    return text + digits(nanos) + ("Z" if zoned else "")


def digits(nanos):
    if nanos == 0:
        return ""
    for count, size in ((3, 10**6), (6, 10**3), (9, 1)):
        if nanos % size == 0:
            return f".{nanos // size:0{count}}"


def clock(value, per_second):
    seconds, fraction = divmod(value, per_second)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return text + digits(fraction * (10**9 // per_second))


PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
TYPES = pa.types


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def key(text):
    return text if text.startswith('"') else quoted(text)


def members(pairs):
    return "{" + ",".join(f"{key(name)}:{value}" for name, value in pairs) + "}"


def arrow(value):
    """A value of pyarrow as JSON."""
    kind = value.type
    if TYPES.is_dictionary(kind) or isinstance(value, pa.ExtensionScalar):
        return arrow(value.as_py_scalar() if hasattr(value, "as_py_scalar") else value.value)
    if not value.is_valid:
        return "null"
    if TYPES.is_boolean(kind):
        return "true" if value.as_py() else "false"
    if TYPES.is_integer(kind):
        return str(value.as_py())
    if TYPES.is_float64(kind):
        return number(value.as_py())
    if TYPES.is_floating(kind):
        return number(numpy.float32(value.as_py()))
    if TYPES.is_decimal(kind):
        return format(value.as_py(), "f")
    if TYPES.is_string(kind) or TYPES.is_large_string(kind):
        return quoted(value.as_py())
    if TYPES.is_binary(kind) or TYPES.is_large_binary(kind) or TYPES.is_fixed_size_binary(kind):
        return quoted(value.as_py().hex())
    if TYPES.is_date(kind):
        return quoted(value.as_py().isoformat())
    if TYPES.is_timestamp(kind):
        return quoted(moment(value.value, PER_SECOND[kind.unit], kind.tz is not None))
    if TYPES.is_time(kind):
        return quoted(clock(value.value, PER_SECOND[kind.unit]))
    if TYPES.is_map(kind):
        return members((arrow(pair["key"]), arrow(pair["value"])) for pair in value.values)
    if TYPES.is_list(kind) or TYPES.is_large_list(kind) or TYPES.is_fixed_size_list(kind):
        return "[" + ",".join(map(arrow, value.values)) + "]"
    if TYPES.is_struct(kind):
        return members((quoted(field.name), arrow(value[at])) for at, field in enumerate(kind))
    raise TypeError(str(kind))


def plain(value, kind=None):
    """A value of fastavro as JSON, of the schema `kind`."""
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), None) if len(kind) == 2 else None
    name = kind.get("type") if isinstance(kind, dict) else kind
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number(numpy.float32(value) if name == "float" else value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return quoted(value.hex())
    if isinstance(value, datetime.datetime):
        micros = (value.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)
        return quoted(moment(micros, 10**6, value.tzinfo is not None))
    if isinstance(value, datetime.date):
        return quoted(value.isoformat())
    if isinstance(value, (str, uuid.UUID)):
        return quoted(str(value))
    if isinstance(value, list):
        return "[" + ",".join(plain(v, kind["items"]) for v in value) + "]"
    if isinstance(value, dict) and name == "map":
        return members((quoted(k), plain(v, kind["values"])) for k, v in value.items())
    if isinstance(value, dict):
        return members((quoted(f["name"]), plain(value[f["name"]], f["type"])) for f in kind["fields"])
    return str(value)


def of_parquet(path):
    unit = "us" if "int96_from_spark" in path.name else "ns"
    table = pq.ParquetFile(path, coerce_int96_timestamp_unit=unit).read()
    names = [quoted(name) for name in table.column_names]
    return [members(zip(names, (arrow(c[at]) for c in table.columns))) for at in range(table.num_rows)]


def of_avro(path):
    with open(path, "rb") as file:
        reader = fastavro.reader(file)
        kind = reader.writer_schema
        return [plain(row, kind) for row in reader]


def of_json(path):
    value = json.loads(path.read_bytes(), parse_float=decimal.Decimal)
    if not isinstance(value, dict):
        raise TypeError("not an object")

    def text(value):
        if isinstance(value, dict):
            return members((quoted(name), text(value)) for name, value in value.items())
        if isinstance(value, list):
            return "[" + ",".join(map(text, value)) + "]"
        return json.dumps(value, ensure_ascii=False, default=lambda d: float(d))

    return [text(value)]


def reader(name):
    if name.startswith("json-test-suite/"):
        return of_json
    if "/avro/" in name:
        return of_avro
    if "parquet" in name:
        return of_parquet
    return None


def main():
    out = []
    for line in (HERE / "expected.tsv").read_text().splitlines():
        name, outcome = line.split("\t")
        read = reader(name)
        if " rows:" not in outcome or read is None or "fuzz" in name or name in DIFFERENT:
            continue
        try:
            rows = read(HERE / name)
        except Exception as error:  # whatever a reader of others says
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        for at, row in enumerate(rows):
            if (at < KEPT or at >= len(rows) - KEPT) and len(row) <= LONGEST:
                out.append(f"{name}\t{at}\t{row}\n")
    (HERE / "rows.tsv").write_text("".join(out), newline="\n")


main()
