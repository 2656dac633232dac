package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.udckpt.linux.MappingFlags;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.VmFlags;
import org.udckpt.process.model.VmFlags.Fate;

/** What becomes of the flags of mappings; and docs/internals/attributes.md, which says it of all that there is. */
class VmFlagsTest {
    private static final Path PAGE = Path.of(System.getProperty("udckpt.root"), "docs/internals/attributes.md");

    @Test
    void whatCannotBeSetAgainIsRefused() {
        assertNull(VmFlags.refusal("rd wr mr mw me ac sd"));
        assertNull(VmFlags.refusal(""));
        for (Map.Entry<String, Fate> flag : VmFlags.all().entrySet()) {
            String refusal = VmFlags.refusal("rd wr " + flag.getKey() + " mr");
            assertEquals(flag.getValue() == Fate.REFUSED, refusal != null, flag + ": " + refusal);
            assertTrue(refusal == null || refusal.contains("which cannot be checkpointed"), refusal);
        }
    }

    /** The kernel itself shows "??" where it has no name for a flag. */
    @Test
    void whatIsNewIsRefusedByItsName() {
        assertTrue(VmFlags.refusal("rd zz mr").contains("'zz'"));
        assertTrue(VmFlags.refusal("rd mr ??").contains("'??'"));
        for (MappingFlags mapping : MappingFlags.of((int) ProcessHandle.current().pid())) {
            boolean kernels = mapping.has("io") || mapping.has("pf"); // [vvar]
            assertTrue(kernels || VmFlags.refusal(mapping.flags()) == null,
                    () -> "of this very program: " + VmFlags.refusal(mapping.flags()));
        }
    }

    @Test
    void thePageNamesThemAll() throws Exception {
        String page = Files.readString(PAGE);
        List<String> missing = new ArrayList<>();
        for (String name : VmFlags.all().keySet()) {
            if (!page.contains("`" + name + "`")) {
                missing.add(name);
            }
        }
        for (String line : StatusLines.KNOWN) {
            if (!page.contains("`" + line + "`")) {
                missing.add(line);
            }
        }
        assertEquals(List.of(), missing);
        for (AttributeKind kind : AttributeKind.values()) {
            assertEquals(kind, AttributeKind.named(kind.label()));
        }
    }

    /** Each program that the page gives as its evidence is there. */
    @Test
    void thePagesProgramsAreThere() throws Exception {
        Path programs = Path.of(System.getProperty("udckpt.root"), "process-image/src/test/c");
        var named = java.util.regex.Pattern.compile("\\b[a-z_]+\\.c\\b").matcher(Files.readString(PAGE));
        int count = 0;
        for (; named.find(); count++) {
            assertTrue(Files.exists(programs.resolve(named.group())), named.group());
        }
        assertTrue(count > 30, count + " programs");
    }
}
