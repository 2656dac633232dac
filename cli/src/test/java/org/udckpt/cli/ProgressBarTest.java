package org.udckpt.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ProgressBarTest {
    @Test
    void theBarFillsWithTheShare() {
        assertEquals("write [" + "#".repeat(10) + " ".repeat(30) + "]  25%  and more",
                ProgressBar.line("write", 1, 4, "and more"));
        assertEquals("verify [" + "#".repeat(40) + "] 100%", ProgressBar.line("verify", 9, 4, ""));
    }
}
