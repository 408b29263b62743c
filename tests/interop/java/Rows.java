// Rows as JSON, in the encoding of the fixtures (tests/fixtures/README.md): decimals, dates, times and timestamps as strings with
// exactly the type's precision; binary as hex; maps and multisets as lists of [key, value]; NaN and infinities as strings.

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.DataGetters;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.LocalZonedTimestampType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;
import org.apache.paimon.types.TimestampType;

final class Rows {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    static ObjectNode toJson(InternalRow row, RowType type) {
        ObjectNode json = NODES.objectNode();
        List<DataField> fields = type.getFields();
        for (int i = 0; i < fields.size(); i++) {
            json.set(fields.get(i).name(), toJson(row, i, fields.get(i).type()));
        }
        return json;
    }

    private static JsonNode toJson(DataGetters row, int i, DataType type) {
        if (row.isNullAt(i)) {
            return NODES.nullNode();
        }
        switch (type.getTypeRoot().name()) {
            case "BOOLEAN":
                return NODES.booleanNode(row.getBoolean(i));
            case "TINYINT":
                return NODES.numberNode(row.getByte(i));
            case "SMALLINT":
                return NODES.numberNode(row.getShort(i));
            case "INTEGER":
                return NODES.numberNode(row.getInt(i));
            case "BIGINT":
                return NODES.numberNode(row.getLong(i));
            case "FLOAT":
                float single = row.getFloat(i);
                return Float.isFinite(single) ? NODES.numberNode(single) : NODES.textNode(Float.toString(single));
            case "DOUBLE":
                double twice = row.getDouble(i);
                return Double.isFinite(twice) ? NODES.numberNode(twice) : NODES.textNode(Double.toString(twice));
            case "CHAR":
            case "VARCHAR":
                return NODES.textNode(row.getString(i).toString());
            case "BINARY":
            case "VARBINARY":
                return NODES.textNode(hex(row.getBinary(i)));
            case "DECIMAL":
                DecimalType decimal = (DecimalType) type;
                Decimal number = row.getDecimal(i, decimal.getPrecision(), decimal.getScale());
                return NODES.textNode(number.toBigDecimal().setScale(decimal.getScale()).toPlainString());
            case "DATE":
                return NODES.textNode(LocalDate.ofEpochDay(row.getInt(i)).toString());
            case "TIME_WITHOUT_TIME_ZONE":
                return NODES.textNode(time(LocalTime.ofNanoOfDay(row.getInt(i) * 1_000_000L), 3));
            case "TIMESTAMP_WITHOUT_TIME_ZONE":
                int precision = ((TimestampType) type).getPrecision();
                return NODES.textNode(timestamp(row.getTimestamp(i, precision), precision));
            case "TIMESTAMP_WITH_LOCAL_TIME_ZONE":
                int zoned = ((LocalZonedTimestampType) type).getPrecision();
                return NODES.textNode(timestamp(row.getTimestamp(i, zoned), zoned) + "Z");
            case "ARRAY":
                return list(row.getArray(i), ((ArrayType) type).getElementType());
            case "MAP":
                MapType map = (MapType) type;
                return entries(row.getMap(i), map.getKeyType(), map.getValueType());
            case "MULTISET":
                return entries(row.getMap(i), ((MultisetType) type).getElementType(), DataTypes.INT());
            case "ROW":
                RowType nested = (RowType) type;
                return toJson(row.getRow(i, nested.getFieldCount()), nested);
            default:
                throw new UnsupportedOperationException("type " + type);
        }
    }

    private static ArrayNode list(InternalArray array, DataType element) {
        ArrayNode json = NODES.arrayNode();
        for (int i = 0; i < array.size(); i++) {
            json.add(toJson(array, i, element));
        }
        return json;
    }

    private static ArrayNode entries(InternalMap map, DataType key, DataType value) {
        ArrayNode json = NODES.arrayNode();
        InternalArray keys = map.keyArray();
        InternalArray values = map.valueArray();
        for (int i = 0; i < map.size(); i++) {
            json.add(NODES.arrayNode().add(toJson(keys, i, key)).add(toJson(values, i, value)));
        }
        return json;
    }

    private static String timestamp(Timestamp value, int precision) {
        LocalDateTime at = value.toLocalDateTime();
        return at.toLocalDate() + "T" + time(at.toLocalTime(), precision);
    }

    private static String time(LocalTime time, int digits) {
        String whole = time.format(DateTimeFormatter.ofPattern("HH:mm:ss"));
        String fraction = String.format("%09d", time.getNano()).substring(0, digits);
        return digits == 0 ? whole : whole + "." + fraction;
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            text.append(String.format("%02x", b));
        }
        return text.toString();
    }

    static GenericRow fromJson(JsonNode json, RowType type) {
        List<DataField> fields = type.getFields();
        GenericRow row = new GenericRow(fields.size());
        if (json.has("_kind")) {
            row.setRowKind(kind(json.get("_kind").asText()));
        }
        for (int i = 0; i < fields.size(); i++) {
            row.setField(i, fromJson(json.get(fields.get(i).name()), fields.get(i).type()));
        }
        return row;
    }

    private static RowKind kind(String text) {
        for (RowKind kind : RowKind.values()) {
            if (kind.shortString().equals(text)) {
                return kind;
            }
        }
        throw new IllegalArgumentException("unknown row kind " + text);
    }

    static Object fromJson(JsonNode json, DataType type) {
        if (json == null || json.isNull()) {
            return null;
        }
        switch (type.getTypeRoot().name()) {
            case "BOOLEAN":
                return json.asBoolean();
            case "TINYINT":
                return (byte) json.asInt();
            case "SMALLINT":
                return (short) json.asInt();
            case "INTEGER":
                return json.asInt();
            case "BIGINT":
                return json.asLong();
            case "FLOAT":
                return Float.parseFloat(json.asText());
            case "DOUBLE":
                return Double.parseDouble(json.asText());
            case "CHAR":
            case "VARCHAR":
                return BinaryString.fromString(json.asText());
            case "BINARY":
            case "VARBINARY":
                return unhex(json.asText());
            case "DECIMAL":
                DecimalType decimal = (DecimalType) type;
                return Decimal.fromBigDecimal(new BigDecimal(json.asText()), decimal.getPrecision(), decimal.getScale());
            case "DATE":
                return (int) LocalDate.parse(json.asText()).toEpochDay();
            case "TIME_WITHOUT_TIME_ZONE":
                return (int) (LocalTime.parse(json.asText()).toNanoOfDay() / 1_000_000);
            case "TIMESTAMP_WITHOUT_TIME_ZONE":
            case "TIMESTAMP_WITH_LOCAL_TIME_ZONE":
                return Timestamp.fromLocalDateTime(LocalDateTime.parse(json.asText().replace("Z", "")));
            case "ARRAY":
                Object[] items = new Object[json.size()];
                for (int i = 0; i < items.length; i++) {
                    items[i] = fromJson(json.get(i), ((ArrayType) type).getElementType());
                }
                return new GenericArray(items);
            case "MAP":
                return map(json, ((MapType) type).getKeyType(), ((MapType) type).getValueType());
            case "MULTISET":
                return map(json, ((MultisetType) type).getElementType(), DataTypes.INT());
            case "ROW":
                return fromJson(json, (RowType) type);
            default:
                throw new UnsupportedOperationException("type " + type);
        }
    }

    private static GenericMap map(JsonNode entries, DataType key, DataType value) {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (JsonNode entry : entries) {
            map.put(fromJson(entry.get(0), key), fromJson(entry.get(1), value));
        }
        return new GenericMap(map);
    }

    private static byte[] unhex(String text) {
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }
}
