package org.udckpt.support.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What udckpt itself says: lines on standard error, prefixed {@code udckpt:}, or JSON lines with {@code --log-json}.
 * Each is printed in one piece, so that none can be cut in two where {@link StandardError} leaves some out, and nobody
 * who says something waits for long: any thread may.
 */
public final class Messages {
    /** A name with a line's end in it makes no message of its own. */
    private static final String CONTINUED = "\n    ";

    private static volatile boolean json;
    private static volatile boolean debug;

    private Messages() {}

    /** Made when it is needed: it takes longer than most commands. */
    private static final class Json {
        static final ObjectMapper MAPPER = new ObjectMapper();
    }

    public static void configure(boolean asJson, boolean withTraces) {
        json = asJson;
        debug = withTraces;
    }

    public static boolean json() {
        return json;
    }

    public static boolean debug() {
        return debug;
    }

    public static void info(String text) {
        say("info", text);
    }

    public static void warn(String text) {
        say("warning", text);
    }

    public static void error(String text, Throwable cause) {
        say("error", text);
        if (debug && cause != null) {
            StringWriter trace = new StringWriter();
            cause.printStackTrace(new PrintWriter(trace, true));
            System.err.print(trace);
        }
    }

    /** A step, for someone who debugs; silent without {@code --debug}. */
    public static void debugStep(String text) {
        if (debug) {
            say("debug", text);
        }
    }

    /** An event that is normal, but that someone who debugs wants to see; silent without {@code --debug}. */
    public static void debugTrace(String text, Throwable cause) {
        if (debug) {
            say("debug", text + ": " + cause);
        }
    }

    /** How far long work is, for programs that read along: a JSON line, and nothing without {@code --log-json}. */
    public static void progress(String text, Map<String, Object> fields) {
        if (json) {
            System.err.print(line("progress", text, fields) + "\n");
        }
    }

    private static void say(String level, String text) {
        System.err.print(form(level, text));
    }

    private static String form(String level, String text) {
        return (json ? line(level, text, Map.of())
                : "udckpt: " + (level.equals("warning") ? "warning: " : "") + text.strip().replace("\n", CONTINUED))
                + "\n";
    }

    /** Where standard error goes on that was not read for so long that lines are missing. */
    static String gap(long lines) {
        return form("warning", lines + " lines are missing here: nobody read standard error");
    }

    private static String line(String level, String text, Map<String, Object> more) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("time", Instant.now().toString());
        fields.put("level", level);
        fields.put("message", text);
        fields.putAll(more);
        try {
            return Json.MAPPER.writeValueAsString(fields);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e); // texts and numbers always serialise
        }
    }
}
