package org.udckpt.process.kinds;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.KernelObject;

/** Which package of kinds knows which, and that the list has them all: docs/internals/kinds.md. */
class KindOrderTest {
    private static final String PROCESS = "org.udckpt.process", KINDS = PROCESS + ".kinds.";
    /** What a kind may know of others. */
    private static final Map<String, Set<String>> KNOWS = Map.ofEntries(Map.entry("tcp", Set.of("socket")),
            Map.entry("udp", Set.of("socket")), Map.entry("netlink", Set.of("socket")),
            Map.entry("unix", Set.of("socket", "named")), Map.entry("replaced", Set.of("socket")),
            Map.entry("signal", Set.of("lock")), Map.entry("filter", Set.of("socket")),
            Map.entry("binaryoption", Set.of("socket")), Map.entry("raw", Set.of("socket")),
            Map.entry("packet", Set.of("socket")),
            Map.entry("mount", Set.of("named", "namespace")));
    /** Folders of no kind. */
    private static final Set<String> SHARED = Set.of("base", "socket", "refused");

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(PROCESS);

    private static Set<String> folders() {
        return CLASSES.stream().map(JavaClass::getPackageName).filter(name -> name.startsWith(KINDS))
                .map(name -> name.substring(KINDS.length())).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void aKindKnowsOthersOnlyWhereTheDesignSaysSo() {
        for (String folder : folders()) {
            Set<String> known = new HashSet<>(KNOWS.getOrDefault(folder, Set.of()));
            known.add(folder);
            known.add("base");
            String[] others = folders().stream().filter(other -> !known.contains(other)).map(KINDS::concat)
                    .toArray(String[]::new);
            noClasses().that().resideInAPackage(KINDS + folder).should().dependOnClassesThat()
                    .resideInAnyPackage(others).check(CLASSES);
        }
    }

    /** The list, the engines, and what is below. */
    @Test
    void noKindKnowsWhatUsesIt() {
        String[] above = Stream.of("kinds", "capture", "restore", "restore.lazy", "check")
                .map(name -> PROCESS + "." + name)
                .toArray(String[]::new);
        noClasses().that().resideInAPackage(KINDS + "*").should().dependOnClassesThat().resideInAnyPackage(above)
                .check(CLASSES);
        String[] below = Stream.of("model", "names", "files", "identity", "trace", "tree", "inherit", "huge")
                .map(name -> PROCESS + "." + name).toArray(String[]::new);
        noClasses().that().resideInAnyPackage(below).should().dependOnClassesThat()
                .resideInAnyPackage(PROCESS + ".kinds..").check(CLASSES);
    }

    @Test
    void noPackageIsInACircle() {
        slices().matching(PROCESS + ".(**)").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void everyKindIsInTheList() {
        List<ObjectKind<?>> listed = Arrays.stream(ObjectKinds.values()).<ObjectKind<?>>map(ObjectKinds::kind).toList();
        assertEquals(names(ObjectKind.class), listed.stream().map(one -> one.getClass().getName())
                .collect(Collectors.toCollection(TreeSet::new)));
        Set<String> records = new TreeSet<>(names(KernelObject.class));
        Set<String> stored =
                ObjectKinds.records().stream().map(Class::getName).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(records, stored);
        assertEquals(
                listed.size(), listed.stream().map(ObjectKind::record).distinct().count(), "a record of two kinds");
        Set<String> used = listed.stream().map(one -> one.getClass().getPackageName().substring(KINDS.length()))
                .collect(Collectors.toCollection(TreeSet::new));
        used.addAll(SHARED);
        assertEquals(folders(), used, "a folder without a kind");
        assertTrue(used.size() > 15, used::toString);
    }

    private static Set<String> names(Class<?> type) {
        return CLASSES.stream().filter(one -> one.isAssignableTo(type) && !one.isInterface()).map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
