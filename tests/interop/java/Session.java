// One command's catalog and table: {"warehouse", "catalog": {options}, "database", "table", "options": {dynamic options}}.

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.options.Options;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.TextNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.Table;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeJsonParser;

final class Session implements AutoCloseable {
    private final JsonNode command;
    private final Catalog catalog;
    private final Identifier name;

    Session(JsonNode command) {
        this.command = command;
        Map<String, String> options = strings(command.path("catalog"));
        options.put("warehouse", command.get("warehouse").asText());
        catalog = CatalogFactory.createCatalog(CatalogContext.create(Options.fromMap(options)));
        name = Identifier.create(command.get("database").asText(), command.get("table").asText());
    }

    FileStoreTable table() throws Exception {
        return (FileStoreTable) catalog.getTable(name).copy(strings(command.path("options")));
    }

    /** Any table, system tables included. */
    Table any() throws Exception {
        return catalog.getTable(name).copy(strings(command.path("options")));
    }

    /** {"actions": [["createTag", name, id], ["deleteTag", name], ["createBranch", name, tag?], ["deleteBranch", name], ["fastForward", name], ["rollback", id or tag]]}. */
    JsonNode history() throws Exception {
        FileStoreTable table = table();
        for (JsonNode action : command.get("actions")) {
            String what = action.get(1).asText();
            switch (action.get(0).asText()) {
                case "createTag":
                    table.createTag(what, action.get(2).asLong());
                    break;
                case "deleteTag":
                    table.deleteTag(what);
                    break;
                case "createBranch":
                    if (action.size() > 2) {
                        table.createBranch(what, action.get(2).asText());
                    } else {
                        table.createBranch(what);
                    }
                    break;
                case "deleteBranch":
                    table.deleteBranch(what);
                    break;
                case "fastForward":
                    table.fastForward(what);
                    break;
                case "rollback":
                    if (action.get(1).isNumber()) {
                        table.rollbackTo(action.get(1).asLong());
                    } else {
                        table.rollbackTo(what);
                    }
                    break;
                default:
                    throw new IllegalArgumentException("unknown action " + action);
            }
        }
        return TextNode.valueOf("done");
    }

    /** {"schema": {"fields": [{"name", "type", "description"?}], "partitionKeys", "primaryKeys", "options"}}. */
    JsonNode create() throws Exception {
        JsonNode wanted = command.get("schema");
        Schema.Builder schema = Schema.newBuilder();
        for (JsonNode field : wanted.get("fields")) {
            JsonNode comment = field.get("description");
            schema.column(field.get("name").asText(), type(field.get("type")), comment == null ? null : comment.asText());
        }
        schema.partitionKeys(list(wanted.path("partitionKeys")));
        schema.primaryKey(list(wanted.path("primaryKeys")));
        schema.options(strings(wanted.path("options")));
        catalog.createDatabase(name.getDatabaseName(), true);
        catalog.createTable(name, schema.build(), false);
        return TextNode.valueOf("created");
    }

    /** {"changes": [["add", name, type], ["drop", name], ["rename", from, to], ["type", name, type], ["set", key, value], ["reset", key]]}. */
    JsonNode alter() throws Exception {
        List<SchemaChange> changes = new ArrayList<>();
        for (JsonNode change : command.get("changes")) {
            changes.add(change(change));
        }
        catalog.alterTable(name, changes, false);
        return TextNode.valueOf("altered");
    }

    private static SchemaChange change(JsonNode change) {
        String column = change.get(1).asText();
        switch (change.get(0).asText()) {
            case "add":
                return SchemaChange.addColumn(column, type(change.get(2)));
            case "drop":
                return SchemaChange.dropColumn(column);
            case "rename":
                return SchemaChange.renameColumn(column, change.get(2).asText());
            case "type":
                return SchemaChange.updateColumnType(column, type(change.get(2)));
            case "set":
                return SchemaChange.setOption(column, change.get(2).asText());
            case "reset":
                return SchemaChange.removeOption(column);
            default:
                throw new IllegalArgumentException("unknown change " + change);
        }
    }

    private static DataType type(JsonNode json) {
        return DataTypeJsonParser.parseDataType(json);
    }

    private static Map<String, String> strings(JsonNode object) {
        Map<String, String> map = new HashMap<>();
        for (Iterator<Map.Entry<String, JsonNode>> it = object.fields(); it.hasNext(); ) {
            Map.Entry<String, JsonNode> entry = it.next();
            map.put(entry.getKey(), entry.getValue().asText());
        }
        return map;
    }

    private static List<String> list(JsonNode array) {
        List<String> list = new ArrayList<>();
        array.forEach(item -> list.add(item.asText()));
        return list;
    }

    @Override
    public void close() throws Exception {
        catalog.close();
    }
}
