package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A group is private only where nobody else can be in it. */
class PrivateGroupTest {
    private static final String ANN = "ann:x:1000:1000:Ann:/home/ann:/bin/sh\n",
            BOB = "bob:x:1001:1001::/home/bob:/bin/sh\n";

    @Test
    void ofOneUser() {
        assertTrue(PrivateGroup.is(1000, 1000, ANN, "ann:x:1000:\n", ANN + BOB));
        assertTrue(PrivateGroup.is(1000, 1000, ANN, "ann:x:1000:ann\n", ANN));
        assertFalse(PrivateGroup.is(1000, 1000, ANN, "ann:x:1000:\n", ""), "who is there cannot be read");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            value = {"ann:x:1000:bob | ''", "ann:x:1000:ann,bob | ''", "staff:x:1000: | ''", "ann:x:1001: | ''",
                    "'' | ''",
                    "ann:x:1000: | eve:x:1002:1000::/:/bin/sh", "ann:x:1000 | ''"})
    void ofOthersToo(String group, String another) {
        assertFalse(PrivateGroup.is(1000, 1000, ANN, group + "\n", ANN + BOB + another));
    }

    @Test
    void usersWithoutAnAccountAndOtherNumbers() {
        assertFalse(PrivateGroup.is(1000, 1000, "", "ann:x:1000:", ANN));
        assertFalse(PrivateGroup.is(1001, 1000, ANN, "bob:x:1001:", ANN + BOB));
        assertFalse(PrivateGroup.is(61001, 61001), "tests' users have no account");
        assertFalse(PrivateGroup.is(0x7ffffff0, 0));
    }
}
