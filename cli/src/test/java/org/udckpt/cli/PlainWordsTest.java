package org.udckpt.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What is read without picocli is what picocli makes of it; the rest is left to it. */
class PlainWordsTest {
    private static Map<String, Object> fields(Object command) throws IllegalAccessException {
        Map<String, Object> values = new TreeMap<>();
        for (Field field : command.getClass().getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                field.setAccessible(true);
                Object value = field.get(command);
                boolean own = value != null && value.getClass().getPackage() == PlainWords.class.getPackage();
                values.put(field.getName(), own ? fields(value) : value);
            }
        }
        return values;
    }

    @ParameterizedTest
    @ValueSource(strings = {"restart there", "restart there --name job", "restart --name job there/ckpt-0002",
            "restart --device soft --lazy no --workdir here --interval 10m --keep 3 --encrypt file:key x=y",
            "restart --tiers fast=a,slow=b --hosts a:2,b:2 fast=a,slow=b"})
    void plainOnesAreReadAlike(String line) throws IllegalAccessException {
        String[] words = line.split(" ");
        CommandLine picocli = Udckpt.line(words);
        picocli.parseArgs(words);
        RestartCommand plain = RestartCommand.plain(words);
        assertNotNull(plain);
        assertEquals(fields(picocli.getSubcommands().get("restart").getCommand()), fields(plain));
    }

    @ParameterizedTest
    @ValueSource(strings = {"restart", "restart --name", "restart --name job", "restart --name=job there",
            "restart --name a --name b there", "restart here there", "restart --name --lazy there", "restart there -h",
            "restart -- there", "restart there --plan", "restart --keep-together no there",
            "restart --unknown x there"})
    void othersAreLeftToPicocli(String line) {
        assertNull(RestartCommand.plain(line.split(" ")));
    }

    @Test
    void emptyWordsAreLeftToPicocli() {
        assertNull(RestartCommand.plain("restart", ""));
        assertNull(RestartCommand.plain("restart", "there", "--name", ""));
    }
}
