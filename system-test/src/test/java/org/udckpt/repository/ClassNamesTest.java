package org.udckpt.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A simple class name means one thing: no two top-level classes of the main sources share one. */
class ClassNamesTest {
    private static final Path ROOT = Path.of(System.getProperty("udckpt.root"));

    @Test
    void topLevelClassesHaveUniqueSimpleNames() {
        Map<String, List<Path>> byName = new Sources(ROOT).ending(true, ".java").stream().map(ROOT::relativize)
                .filter(file -> file.toString().contains("/src/main/java/"))
                .filter(file -> !file.endsWith("package-info.java") && !file.endsWith("module-info.java"))
                .collect(Collectors.groupingBy(file -> file.getFileName().toString(), TreeMap::new,
                        Collectors.toList()));
        assertTrue(byName.size() > 1000, byName.size() + " names are those of all main sources");
        byName.values().removeIf(files -> files.size() == 1);
        assertEquals(Map.of(), byName, "simple class names with more than one meaning");
    }
}
