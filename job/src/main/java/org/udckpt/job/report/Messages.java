package org.udckpt.job.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** What udckpt itself says: lines on standard error, prefixed {@code udckpt:}, or JSON lines with {@code --log-json}. */
public final class Messages {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static volatile boolean json;
    private static volatile boolean debug;

    private Messages() {}

    public static void configure(boolean asJson, boolean withTraces) {
        json = asJson;
        debug = withTraces;
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
            cause.printStackTrace();
        }
    }

    /** An event that is normal, but that someone who debugs wants to see; silent without {@code --debug}. */
    public static void debugTrace(String text, Throwable cause) {
        if (debug) {
            say("debug", text + ": " + cause);
        }
    }

    private static void say(String level, String text) {
        System.err.println(json ? line(level, text) : "udckpt: " + (level.equals("warning") ? "warning: " : "") + text);
    }

    private static String line(String level, String text) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("time", Instant.now().toString());
        fields.put("level", level);
        fields.put("message", text);
        try {
            return JSON.writeValueAsString(fields);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e); // strings always serialise
        }
    }
}
