// Rows into a table, and compaction. Each command is one commit.

import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.crosspartition.GlobalIndexAssigner;
import org.apache.paimon.crosspartition.IndexBootstrap;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.index.HashBucketAssigner;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.IntNode;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.RowPartitionKeyExtractor;
import org.apache.paimon.table.sink.StreamTableCommit;
import org.apache.paimon.table.sink.StreamTableWrite;
import org.apache.paimon.table.sink.StreamWriteBuilder;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.Split;

final class Writing {
    /** Rows as Reading gives them; `_kind` (+I, -U, +U, -D) is +I when absent. */
    static JsonNode write(FileStoreTable table, JsonNode rows) throws Exception {
        boolean dynamic = table.bucketMode() == BucketMode.HASH_DYNAMIC;
        if (isCrossPartition(table)) {
            return commit(table, (write, disk) -> crossPartition(table, rows, write, disk));
        }
        return commit(table, (write, disk) -> {
            Assigner assigner = dynamic ? new Assigner(table) : null;
            for (JsonNode json : rows) {
                InternalRow row = Rows.fromJson(json, table.rowType());
                if (dynamic) {
                    write.write(row, assigner.bucket(row));
                } else {
                    write.write(row);
                }
            }
        });
    }

    /** A key without all partition columns; the mode has another name in each version. */
    private static boolean isCrossPartition(FileStoreTable table) {
        List<String> keys = table.primaryKeys();
        return !keys.isEmpty() && table.coreOptions().bucket() == -1 && !keys.containsAll(table.partitionKeys());
    }

    /** The only assigner of such a table, which learns first where the keys are. */
    private static void crossPartition(FileStoreTable table, JsonNode rows, StreamTableWrite write, IOManager disk)
            throws Exception {
        try (GlobalIndexAssigner assigner = new GlobalIndexAssigner(table)) {
            assigner.open(0, disk, 1, 0, (row, bucket) -> {
                try {
                    write.write(row, bucket);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            new IndexBootstrap(table).bootstrap(1, 0, key -> {
                try {
                    assigner.bootstrapKey(key);
                } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            assigner.endBoostrap(true);
            for (JsonNode json : rows) {
                assigner.processInput(Rows.fromJson(json, table.rowType()));
            }
        }
    }

    /** The only assigner of a table with dynamic buckets. */
    private static final class Assigner {
        private final HashBucketAssigner buckets;
        private final RowPartitionKeyExtractor keys;

        Assigner(FileStoreTable table) throws Exception {
            List<Object> arguments = new ArrayList<>();
            arguments.add(table.snapshotManager());
            arguments.add("interop");
            arguments.add(table.store().newIndexFileHandler());
            arguments.addAll(List.of(1, 1, 0, table.coreOptions().dynamicBucketTargetRowNum(), -1));
            // The last argument, the most buckets, came after 0.9.
            Constructor<?> constructor = HashBucketAssigner.class.getConstructors()[0];
            Object[] given = arguments.subList(0, constructor.getParameterCount()).toArray();
            this.buckets = (HashBucketAssigner) constructor.newInstance(given);
            this.keys = new RowPartitionKeyExtractor(table.schema());
        }

        int bucket(InternalRow row) {
            return buckets.assign(keys.partition(row), keys.trimmedPrimaryKey(row).hashCode());
        }
    }

    /** Compacts each bucket that has data. */
    static JsonNode compact(FileStoreTable table, boolean full) throws Exception {
        FileStoreTable target = table.copy(Map.of("write-only", "false"));
        Map<String, DataSplit> buckets = new LinkedHashMap<>();
        for (Split split : target.newReadBuilder().newScan().plan().splits()) {
            DataSplit data = (DataSplit) split;
            buckets.putIfAbsent(data.partition().hashCode() + "/" + data.partition() + "/" + data.bucket(), data);
        }
        return commit(target, (write, disk) -> {
            for (DataSplit split : buckets.values()) {
                BinaryRow partition = split.partition();
                write.compact(partition, split.bucket(), full);
            }
        });
    }

    private interface Work {
        void on(StreamTableWrite write, IOManager disk) throws Exception;
    }

    private static JsonNode commit(FileStoreTable table, Work work) throws Exception {
        StreamWriteBuilder builder = table.newStreamWriteBuilder();
        String spill = Files.createTempDirectory("linn-interop").toString();
        try (IOManager disk = IOManager.create(spill);
                StreamTableWrite write = builder.newWrite();
                StreamTableCommit commit = builder.newCommit()) {
            write.withIOManager(disk);
            work.on(write, disk);
            List<CommitMessage> messages = write.prepareCommit(true, 1);
            commit.commit(1, messages);
            return IntNode.valueOf(messages.size());
        }
    }
}
