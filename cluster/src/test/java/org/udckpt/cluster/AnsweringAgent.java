package org.udckpt.cluster;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.function.IntConsumer;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.protocol.Request;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * An agent's process without ranks, for tests: {@code agent --unit N} or {@code agent --unit-in VARIABLE}. It answers
 * each call at once and prints what it does. The job's environment says when it misbehaves: {@code TEST_DIE} and
 * {@code TEST_HANG} are {@code WHERE:UNIT}, WHERE one of {@link Where}.
 */
public final class AnsweringAgent implements AgentListener {
    /** Points in an agent's run. */
    enum Where {
        MAKE, JOINED, START, END, CLOSE
    }

    static final int DIED = 9, HUNG = 10, LEAD_LOST = 11, LAST_LINES = 500;

    private final int unit;
    private final Map<String, String> environment;
    private final IntConsumer end;
    private NodeHandle node;

    private AnsweringAgent(NodeSpecification specification, int unit, IntConsumer end) {
        this.unit = unit;
        this.environment = specification.job().environment();
        this.end = end;
        misbehave(Where.MAKE);
    }

    public static void main(String[] arguments) throws InterruptedException {
        try {
            UnitChoice choice = arguments[1].equals("--unit") ? new UnitChoice.Said(Integer.parseInt(arguments[2]))
                    : new UnitChoice.Numbered(arguments[2], System.getenv());
            System.exit(NodeAgent.run(new FileInputStream(FileDescriptor.in), choice, Settings.load(),
                    (specification, unit, settings, key, end) -> new AnsweringAgent(specification, unit, end)));
        } catch (Failure e) {
            Messages.error(e.getMessage(), e);
            System.exit(e.code().value());
        }
    }

    private void misbehave(Where where) {
        if (Arrays.asList(environment.getOrDefault("TEST_DIE", "").split(",")).contains(where + ":" + unit)) {
            Runtime.getRuntime().halt(DIED);
        }
        if (environment.getOrDefault("TEST_HANG", "").equals(where + ":" + unit)) {
            hang();
        }
    }

    /** Until it is killed, but no longer than any test waits: one that fails may leave it behind. */
    private static void hang() {
        try {
            Thread.sleep(Duration.ofMinutes(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(HUNG);
    }

    @Override
    public void joined(NodeHandle handle) {
        node = handle;
        misbehave(Where.JOINED);
    }

    @Override
    public void begin(Request request, long now) {
        if (request.op() == Op.START) {
            misbehave(Where.START);
            System.out.println("unit " + unit + " starts as process " + ProcessHandle.current().pid()
                    + (unit == 0 ? " and reads " + line() : ""));
        } else if (request.op() == Op.END) {
            misbehave(Where.END);
        }
        node.thread().execute(then -> node.part().participant().done(request, null, new long[0], then));
    }

    private static String line() {
        try {
            return new String(new FileInputStream(FileDescriptor.in).readAllBytes());
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Override
    public void over(String why, long inDoubt, long now) {
        System.out.println("unit " + unit + " is over: " + why);
        end.accept(LEAD_LOST);
    }

    @Override
    public void close() {
        misbehave(Where.CLOSE);
        StringBuilder lines = new StringBuilder();
        for (int line = 0; line < LAST_LINES; line++) {
            lines.append("last line ").append(line).append(" of unit ").append(unit).append('\n');
        }
        System.out.print(lines);
        System.out.flush();
    }
}
