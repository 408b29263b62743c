// Rows out of a table: a batch read, and the changelog from the first snapshot to the newest.

import java.util.ArrayList;
import java.util.List;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.predicate.Predicate;
import org.apache.paimon.predicate.PredicateBuilder;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.table.source.StreamTableScan;
import org.apache.paimon.types.RowType;

final class Reading {
    /** With a filter: what is left of the table when files, and rows by the indexes of files, are ruled out. */
    static ArrayNode batch(Table table, boolean kinds, JsonNode filter) throws Exception {
        ReadBuilder builder = table.newReadBuilder();
        if (filter.isObject()) {
            builder.withFilter(predicate(filter, table.rowType()));
        }
        ArrayNode rows = Interop.JSON.createArrayNode();
        read(builder, builder.newScan().plan().splits(), table.rowType(), kinds, rows);
        return rows;
    }

    /** {"column", "is": "equal" | "less" | "atLeast" | "in" | "notIn" | "null" | "notNull", "values": [...]}. */
    private static Predicate predicate(JsonNode filter, RowType type) {
        PredicateBuilder builder = new PredicateBuilder(type);
        int at = type.getFieldIndex(filter.get("column").asText());
        List<Object> values = new ArrayList<>();
        for (JsonNode value : filter.path("values")) {
            values.add(Rows.fromJson(value, type.getTypeAt(at)));
        }
        switch (filter.get("is").asText()) {
            case "equal":
                return builder.equal(at, values.get(0));
            case "less":
                return builder.lessThan(at, values.get(0));
            case "atLeast":
                return builder.greaterOrEqual(at, values.get(0));
            case "in":
                return builder.in(at, values);
            case "notIn":
                return builder.notIn(at, values);
            case "null":
                return builder.isNull(at);
            case "notNull":
                return builder.isNotNull(at);
            default:
                throw new IllegalArgumentException("unknown filter " + filter);
        }
    }

    static ArrayNode changelog(FileStoreTable table) throws Exception {
        FileStoreTable follow = table.copy(java.util.Map.of("scan.mode", "from-snapshot", "scan.snapshot-id", "1"));
        Long newest = table.snapshotManager().latestSnapshotId();
        ReadBuilder builder = follow.newReadBuilder();
        StreamTableScan scan = builder.newStreamScan();
        ArrayNode rows = Interop.JSON.createArrayNode();
        while (scan.checkpoint() == null || (newest != null && scan.checkpoint() <= newest)) {
            read(builder, scan.plan().splits(), table.rowType(), true, rows);
        }
        return rows;
    }

    /** What is there from where the options or their consumer say, and then a checkpoint that completes. */
    static ArrayNode follow(FileStoreTable table) throws Exception {
        Long newest = table.snapshotManager().latestSnapshotId();
        ReadBuilder builder = table.newReadBuilder();
        StreamTableScan scan = builder.newStreamScan();
        ArrayNode rows = Interop.JSON.createArrayNode();
        while (scan.checkpoint() == null || (newest != null && scan.checkpoint() <= newest)) {
            read(builder, scan.plan().splits(), table.rowType(), true, rows);
        }
        scan.notifyCheckpointComplete(scan.checkpoint());
        return rows;
    }

    private static void read(ReadBuilder builder, List<Split> splits, RowType type, boolean kinds, ArrayNode rows)
            throws Exception {
        for (Split split : splits) {
            try (RecordReader<InternalRow> reader = builder.newRead().createReader(split)) {
                reader.forEachRemaining(row -> {
                    ObjectNode json = Rows.toJson(row, type);
                    if (kinds) {
                        json.put("_kind", row.getRowKind().shortString());
                    }
                    rows.add(json);
                });
            }
        }
    }
}
