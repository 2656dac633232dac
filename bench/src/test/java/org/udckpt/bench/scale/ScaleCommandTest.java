package org.udckpt.bench.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ScaleCommandTest {
    @ParameterizedTest
    @CsvSource(delimiter = ' ',
            value = {"--ranks foo", "--ranks 16", "--ranks 16:0", "--ranks 0:16", "--ranks 99999999999:16",
                    "--growth 7", "--growth 9:7", "--growth 7:40", "--growth x:y",
                    "--fan-out 1", "--fan-out many", "--seed x", "--faults -1", "--faults x"})
    void aFlagThatMakesNoSenseIsNamed(String flag, String value) {
        String[] said = new String[1];
        int code = new CommandLine(new ScaleCommand()).setParameterExceptionHandler((exception, _) -> {
            said[0] = exception.getMessage();
            return 64;
        }).execute(flag, value);
        assertEquals(64, code);
        assertTrue(said[0].contains(flag) && said[0].contains(value), said[0]);
    }
}
