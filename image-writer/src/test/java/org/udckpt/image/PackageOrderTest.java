package org.udckpt.image;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which package of images knows which: no package knows one that knows it. */
class PackageOrderTest {
    private static final String IMAGE = "org.udckpt.image";
    /** In order: a package, and those before it that it may know besides {@code image} itself. */
    private static final Map<String, Set<String>> KNOWS = new LinkedHashMap<>();

    static {
        KNOWS.put("", Set.of());
        KNOWS.put("table", Set.of());
        KNOWS.put("storage", Set.of());
        KNOWS.put("key", Set.of());
        KNOWS.put("block", Set.of("key"));
        KNOWS.put("manifest", Set.of("storage", "key"));
        KNOWS.put("directory", Set.of("storage", "key", "manifest"));
        KNOWS.put("write", Set.of("table", "storage", "key", "block", "manifest", "directory"));
        KNOWS.put("read", Set.of("table", "storage", "key", "block", "manifest"));
        KNOWS.put("catalogue", Set.of("storage", "key", "manifest", "directory", "read"));
    }

    private static final JavaClasses CLASSES = new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(IMAGE);

    @Test
    void everyPackageIsInTheOrder() {
        classes().should().resideInAnyPackage(KNOWS.keySet().stream().map(PackageOrderTest::name).toArray(String[]::new)).check(CLASSES);
        for (String one : KNOWS.keySet()) {
            assertTrue(CLASSES.stream().anyMatch(c -> c.getPackageName().equals(name(one))), name(one) + " is in the order, and holds nothing");
        }
    }

    @Test
    void aPackageKnowsOnlyThoseBeforeIt() {
        Set<String> before = new java.util.HashSet<>();
        KNOWS.forEach((one, known) -> {
            assertTrue(before.containsAll(known), name(one) + " may know only what is before it: " + known);
            before.add(one);
            noClasses().that().resideInAPackage(name(one)).should().dependOnClassesThat(describe("are of images, but neither of " + name(one)
                    + " nor of what it may know: " + known, (JavaClass c) -> c.getPackageName().startsWith(IMAGE) && !c.getPackageName().equals(IMAGE)
                    && !c.getPackageName().equals(name(one)) && known.stream().noneMatch(k -> c.getPackageName().equals(name(k))))).check(CLASSES);
        });
    }

    private static String name(String one) {
        return one.isEmpty() ? IMAGE : IMAGE + "." + one;
    }
}
