package org.udckpt.cluster;

import java.util.Map;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** How an agent knows which unit it has. */
public sealed interface UnitChoice {
    /** By its command line. */
    record Said(int unit) implements UnitChoice {}

    /**
     * By the number that the starter gives each of its processes, which it starts in the units' order.
     *
     * @param variable    the environment's, such as SLURM_PROCID
     * @param environment of the process
     */
    record Numbered(String variable, Map<String, String> environment) implements UnitChoice {}

    /** @throws Failure if the job has no such unit */
    default int of(NodeSpecification specification) {
        int units = specification.job().units().size();
        int unit = switch (this) {
            case Said(int said) -> said;
            case Numbered(String variable, Map<String, String> environment) -> number(variable,
                    environment.get(variable));
        };
        if (unit < 0 || unit >= units) {
            throw new Failure(ExitCode.USAGE,
                    "this agent was started for unit " + unit + ", and the job has " + units + " of them, from 0");
        }
        return unit;
    }

    private static int number(String variable, String value) {
        if (value == null || !value.matches("\\d{1,9}")) {
            throw new Failure(ExitCode.UNSUPPORTED, "the starter gave this agent no number: " + variable + " is "
                    + (value == null ? "not set" : "'" + value + "'"));
        }
        return Integer.parseInt(value);
    }
}
