package org.udckpt.process.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PathPatternTest {
    @Test
    void whatItNamesIsMeantWithAllBelow() {
        matches("/a/b", "/a/b", "/a/b/c", "/a/b/c/d.txt");
        matches("/a/./b/", "/a/b", "/a/b/c");
        matchesNot("/a/b", "/a", "/a/bc", "/a/x/b");
        matches("/a/*.dat", "/a/x.dat", "/a/.dat", "/a/dir.dat/below");
        matchesNot("/a/*.dat", "/a/b/x.dat", "/a/x.dat2");
        matches("/a/**/*.dat", "/a/x.dat", "/a/b/x.dat", "/a/b/c/x.dat");
        matches("/a/run-[0-9]?", "/a/run-12", "/a/run-1x");
        matchesNot("/a/run-[!0-9]", "/a/run-1", "/a/run-", "/a/run-/");
        matches("/a/\\*[[]x\\]", "/a/*[x]");
        matches("/a/[", "/a/[");
        matches("/", "/anything");
        matches("/a/**", "/a", "/a/b");
        matches("/**/c/**/d", "/c/d", "/a/c/x/y/d/below", "/c/c/d");
        matchesNot("/**/c/**/d", "/a/d", "/a/c", "/c/xd");
        matches("/[a-c-]x[^&\\]", "/-x^", "/bx\\", "/cx&");
        matchesNot("/[.-0]b", "/a", "//b");
        matches("/\u65e5*\ud83d\ude00?", "/\u65e5x\ud83d\ude00\ud83d\ude01");
    }

    /** Nor does any take longer than the product of lengths: a backtracking matcher would not come back from these. */
    @Test
    @Timeout(30)
    void manyWildcardsTakeNoTime() {
        matchesNot("/**".repeat(40) + "/x", "/a".repeat(200));
        matchesNot("/" + "*a".repeat(100) + "b", "/" + "a".repeat(2000));
    }

    @Test
    void whereToLook() {
        assertEquals("/a/b", PathPattern.of("/a/b/*.x").root());
        assertEquals("/a/b c", PathPattern.of("/a/b c").root());
        assertEquals("/", PathPattern.of("/*").root());
        assertEquals("/a/*", PathPattern.of("/a/\\*").root());
        PathPattern pattern = PathPattern.of("/a/r*/out/*.dat");
        assertTrue(pattern.leadsFrom("/a") && pattern.leadsFrom("/a/r1") && pattern.leadsFrom("/a/r1/out"));
        assertFalse(pattern.leadsFrom("/a/x") || pattern.leadsFrom("/a/r1/in") || pattern.leadsFrom("/a/r1/out/sub"));
        assertTrue(PathPattern.of("/a/**/x").leadsFrom("/a/b/c/d"));
        assertEquals("/new[[]dir/r*/out",
                PathPattern.of("/a/r*/out").withRoot("/new[dir").toString().replace("\\[", "[[]"));
        assertEquals("/b", PathPattern.of("/a").withRoot("/b").toString());
    }

    @Test
    void whatIsNone() {
        for (String wrong : List.of("", "a", "a/b", "/a/../b", "/a/*/?z[b-a]/**/c", "/[z-a-b]")) {
            assertThrows(IllegalArgumentException.class, () -> PathPattern.of(wrong), wrong);
        }
    }

    private static void matches(String pattern, String... paths) {
        for (String path : paths) {
            assertTrue(PathPattern.of(pattern).matches(path), pattern + " " + path);
        }
    }

    private static void matchesNot(String pattern, String... paths) {
        for (String path : paths) {
            assertFalse(PathPattern.of(pattern).matches(path), pattern + " " + path);
        }
    }
}
