#!/usr/bin/env bash
# The main job on real data: load the flights of New York City in 2013, correct a day of them, compact, query, and
# look back. Each command is shown before it runs; all of them are what a user would type.
#
# LINN                 the binary
# LINN_DATA            folder with airlines, airports, flights, planes, weather as .csv.xz or .csv
# LINN_DEMO_WAREHOUSE  folder of the warehouse; tables of an earlier run are dropped
#
# Every step that changes rows is checked against the counts of the data: a wrong count ends the demo with exit code 1.
set -euo pipefail

: "${LINN:?path of the linn binary}" "${LINN_DATA:?folder of the CSV files}" "${LINN_DEMO_WAREHOUSE:?folder}"
export LINN_WAREHOUSE=$LINN_DEMO_WAREHOUSE
linn() { "$LINN" --no-progress "$@"; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
SECONDS=0
exec 2>&1

bold='' plain=''
if [[ -t 1 ]]; then bold=$'\033[1m' plain=$'\033[0m'; fi
heading() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }

# show COMMAND…: prints the command as it can be typed, then runs it.
show() {
    printf '\n$ %s\n' "$(quote "$@")"
    "$@"
}

quote() {
    local word line=
    for word in "$@"; do
        # Double quotes read best; single ones where the shell would take a `$`.
        if [[ ! $word =~ ^[A-Za-z0-9_./:=,-]+$ ]]; then
            if [[ $word == *'$'* ]]; then word="'$word'"; else word="\"$word\""; fi
        fi
        line+="${line:+ }$word"
    done
    printf '%s' "$line"
}

# sql STATEMENTS: for people.
sql() { show linn sql -c "$1"; }

# value QUERY: the one value that a query gives.
value() { linn -o csv sql -c "$1" | sed -n 2p; }

# csv NAME: the rows of a file of the data.
csv() {
    if [[ -f $LINN_DATA/$1.csv.xz ]]; then xz -dc "$LINN_DATA/$1.csv.xz"; else cat "$LINN_DATA/$1.csv"; fi
}

# import TABLE ARGUMENTS…: imports a file of the data through a pipe.
import() {
    printf '\n$ xz -dc %s.csv.xz | linn %s\n' "$1" "$(quote table import "default.$1" - --format csv --null NA "${@:2}")"
    csv "$1" | linn table import "default.$1" - --format csv --null NA "${@:2}"
}

# expect WHAT GOT WANTED
expect() {
    if [[ $2 != "$3" ]]; then
        echo "demo: $1: $2, but $3 was expected" >&2
        exit 1
    fi
    echo "checked: $1 = $2"
}

if compgen -G "$LINN_DATA/*.csv.xz" >/dev/null && ! command -v xz >/dev/null; then
    echo "demo: the data are packed with xz, which is not on the PATH" >&2
    exit 1
fi
for table in flights airlines airports planes weather; do
    linn table drop "default.$table" --if-exists --yes 2>/dev/null
done

heading "Tables: flights have a key, a partition for each month and two buckets; the others are append tables"
show linn table create default.flights \
    -C "year INT NOT NULL" -C "month INT NOT NULL" -C "day INT NOT NULL" \
    -C "dep_time INT" -C "sched_dep_time INT" -C "dep_delay INT" \
    -C "arr_time INT" -C "sched_arr_time INT" -C "arr_delay INT" \
    -C "carrier STRING NOT NULL" -C "flight INT NOT NULL" -C "tailnum STRING" \
    -C "origin STRING NOT NULL" -C "dest STRING" -C "air_time INT" -C "distance INT" \
    -C "hour INT" -C "minute INT" -C "time_hour TIMESTAMP(3)" \
    --primary-key year,month,day,carrier,flight,origin --partition-by month -O bucket=2
import flights
for table in airlines airports planes weather; do
    import "$table" --create
done
show linn table list
rows=$(csv flights | tail -n +2 | wc -l | tr -d ' ')
expect "flights" "$(value 'SELECT count(*) FROM flights')" "$rows"

heading "Questions"
sql "SELECT a.name AS airline, count(*) AS flights, round(avg(f.dep_delay), 1) AS delay,
       count(*) FILTER (WHERE f.dep_time IS NULL) AS cancelled
FROM flights f JOIN airlines a ON a.carrier = f.carrier
GROUP BY a.name ORDER BY delay DESC LIMIT 5"
sql "SELECT p.manufacturer, count(DISTINCT p.tailnum) AS planes, sum(f.distance) AS miles
FROM flights f JOIN planes p ON p.tailnum = f.tailnum
GROUP BY p.manufacturer ORDER BY miles DESC LIMIT 5"
sql "SELECT CASE WHEN w.visib < 3 THEN 'below 3 miles' WHEN w.visib < 10 THEN '3 to 10 miles' ELSE 'clear' END AS visibility,
       count(*) AS flights, round(avg(f.dep_delay), 1) AS delay
FROM flights f JOIN weather w ON w.origin = f.origin AND w.time_hour = f.time_hour
GROUP BY 1 ORDER BY delay DESC"
show linn table read default.flights --select carrier,flight,origin,dest,dep_delay \
    --where "month = 2 AND day = 9 AND dep_delay > 60" --limit 5

heading "A day of changes: 9 February 2013, when a blizzard closed the airports"
day="month = 2 AND day = 9"
cancelled=$(value "SELECT count(*) FROM flights WHERE $day AND dep_time IS NULL")
sql "SELECT origin, count(*) AS flights, count(*) FILTER (WHERE dep_time IS NULL) AS cancelled
FROM flights WHERE $day GROUP BY origin ORDER BY origin"
sql "UPDATE flights SET dep_delay = dep_delay + 30, arr_delay = arr_delay + 30
WHERE $day AND dep_time IS NOT NULL AND origin = 'JFK'"
sql "DELETE FROM flights WHERE $day AND dep_time IS NULL"
expect "flights after the delete" "$(value 'SELECT count(*) FROM flights')" "$((rows - cancelled))"

echo; echo "JetBlue flies its cancelled flights after all, a day later; the airline sends them as a file:"
late="SELECT * REPLACE (10 AS day, sched_dep_time AS dep_time, 0 AS dep_delay)
FROM flights FOR VERSION AS OF 1 WHERE $day AND dep_time IS NULL AND carrier = 'B6'"
printf '\n$ linn %s > late.csv\n' "$(quote -o csv sql -c "$late")"
linn -o csv sql -c "$late" >"$scratch/late.csv"
new=$(value "SELECT count(*) FROM flights FOR VERSION AS OF 1 l
    WHERE $day AND dep_time IS NULL AND carrier = 'B6' AND NOT EXISTS (SELECT 1 FROM flights f
    WHERE f.month = 2 AND f.day = 10 AND f.carrier = l.carrier AND f.flight = l.flight AND f.origin = l.origin)")
head -n 3 "$scratch/late.csv"
printf '\n$ linn table upsert default.flights late.csv\n'
linn table upsert default.flights "$scratch/late.csv"
expect "flights after the upsert" "$(value 'SELECT count(*) FROM flights')" "$((rows - cancelled + new))"

echo; echo "United sends its whole day again: flights that are gone come back, early departures count as punctual:"
sql "MERGE INTO flights t
USING (SELECT * FROM flights FOR VERSION AS OF 1 WHERE $day AND carrier = 'UA') s
ON t.year = s.year AND t.month = s.month AND t.day = s.day
   AND t.carrier = s.carrier AND t.flight = s.flight AND t.origin = s.origin
WHEN MATCHED AND s.dep_delay < 0 THEN UPDATE SET dep_delay = 0
WHEN NOT MATCHED THEN INSERT (year, month, day, carrier, flight, origin, dest, distance, time_hour)
  VALUES (s.year, s.month, s.day, s.carrier, s.flight, s.origin, s.dest, s.distance, s.time_hour)"
back=$(value "SELECT count(*) FROM flights FOR VERSION AS OF 1 WHERE $day AND dep_time IS NULL AND carrier = 'UA'")
now=$((rows - cancelled + new + back))
expect "flights after the merge" "$(value 'SELECT count(*) FROM flights')" "$now"

heading "Files before and after compaction"
# The first line and the branch of February.
february() { awk 'NR == 1 { print; next } /^(├|└)/ { mine = index($0, "month=2 ") } mine' "$1"; }
printf '\n$ linn files tree default.flights    # only February\n'
linn files tree default.flights >"$scratch/before"
february "$scratch/before"
show linn compact plan default.flights --partition month=2 --full
show linn compact run default.flights --full
printf '\n$ linn files tree default.flights    # only February\n'
linn files tree default.flights >"$scratch/after"
february "$scratch/after"
expect "flights after the compaction" "$(value 'SELECT count(*) FROM flights')" "$now"

heading "Looking back"
show linn snapshot list default.flights
for id in $(linn -o csv sql -c 'SELECT snapshot_id FROM flights$snapshots ORDER BY 1' | tail -n +2); do
    printf 'snapshot %s: %s flights, of which %s on 9 February\n' "$id" \
        "$(value "SELECT count(*) FROM flights FOR VERSION AS OF $id")" \
        "$(value "SELECT count(*) FROM flights FOR VERSION AS OF $id WHERE $day")"
done
expect "flights in snapshot 1" "$(value 'SELECT count(*) FROM flights FOR VERSION AS OF 1')" "$rows"
sql "SELECT 'snapshot 1' AS version, origin, round(avg(dep_delay), 1) AS delay FROM flights FOR VERSION AS OF 1
WHERE $day GROUP BY origin
UNION ALL SELECT 'now', origin, round(avg(dep_delay), 1) FROM flights WHERE $day GROUP BY origin ORDER BY 2, 1 DESC"

heading "What the table knows about itself"
sql 'SELECT partition, record_count, file_count, file_size_in_bytes AS bytes FROM flights$partitions ORDER BY record_count DESC LIMIT 4'
sql 'SELECT level, count(*) AS files, sum(record_count) AS records FROM flights$files GROUP BY level ORDER BY level'
sql 'SELECT bucket, sum(record_count) AS records, sum(file_count) AS files FROM flights$buckets GROUP BY bucket ORDER BY bucket'
show linn table explain default.flights --where "$day"

heading "Summary"
took=$SECONDS
all=$now
for table in airlines airports planes weather; do
    all=$((all + $(value "SELECT count(*) FROM $table")))
done
printf '%-10s %s in 5 tables, of which %s flights\n' rows "$all" "$now"
printf '%-10s %s of flights\n' snapshots "$(value 'SELECT count(*) FROM flights$snapshots')"
printf '%-10s %s of flights, %s KiB\n' files "$(value 'SELECT count(*) FROM flights$files')" \
    "$(value 'SELECT sum(file_size_in_bytes) / 1024 FROM flights$files')"
printf '%-10s %s\n' seconds "$took"
