package org.udckpt.launch;

import java.util.Map;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * How many ports a simulated host has: UDCKPT_SOFT_DEVICES devices of UDCKPT_SOFT_PORTS each (soft_config.c has the
 * same limits).
 */
public final class SoftPorts {
    private static final int MAX_DEVICES = 8;
    private static final int MAX_PORTS = 4;

    private SoftPorts() {}

    /** @throws Failure that names a variable which is no such number */
    public static int of(Map<String, String> environment) {
        return number(environment, "UDCKPT_SOFT_DEVICES", MAX_DEVICES)
                * number(environment, "UDCKPT_SOFT_PORTS", MAX_PORTS);
    }

    private static int number(Map<String, String> environment, String name, int max) {
        String text = environment.getOrDefault(name, "");
        if (text.isEmpty()) {
            return 1;
        }
        if (!text.matches("[1-9]") || Integer.parseInt(text) > max) {
            throw new Failure(ExitCode.USAGE, name + "=" + text + " is not valid: expected a number from 1 to " + max);
        }
        return Integer.parseInt(text);
    }
}
