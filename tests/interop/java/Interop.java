// The Java side of the interop tests: one JVM, one JSON command a line on stdin, one JSON answer a line on stdout.
// Only interfaces that versions 0.9 and 1.4 share are used, so the same source compiles against both.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

public final class Interop {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err); // libraries may print; stdout is the protocol's alone
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("ok", run(JSON.readTree(line)));
            } catch (Throwable e) {
                answer.put("error", describe(e));
            }
            answers.println(JSON.writeValueAsString(answer));
        }
    }

    private static JsonNode run(JsonNode command) throws Exception {
        try (Session session = new Session(command)) {
            switch (command.get("command").asText()) {
                case "create":
                    return session.create();
                case "alter":
                    return session.alter();
                case "read":
                    return Reading.batch(session.table(), command.path("kinds").asBoolean(), command.path("filter"));
                case "system":
                    return Reading.batch(session.any(), false, command.path("filter"));
                case "history":
                    return session.history();
                case "changelog":
                    return Reading.changelog(session.table());
                case "follow":
                    return Reading.follow(session.table());
                case "write":
                    return Writing.write(session.table(), command.get("rows"));
                case "compact":
                    return Writing.compact(session.table(), command.path("full").asBoolean());
                default:
                    throw new IllegalArgumentException("unknown command " + command.get("command"));
            }
        }
    }

    private static String describe(Throwable e) {
        StringBuilder text = new StringBuilder();
        for (Throwable at = e; at != null; at = at.getCause()) {
            text.append(text.length() == 0 ? "" : " <- ").append(at);
        }
        StackTraceElement[] trace = e.getStackTrace();
        for (int i = 0; i < Math.min(trace.length, 12); i++) {
            text.append("\n    at ").append(trace[i]);
        }
        return text.toString();
    }
}
