package org.udckpt.coordination.protocol;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/**
 * The coordination of nodes runs in a simulation as it runs in agents: no threads, clocks or sockets, and only these
 * packages.
 */
class PureCoordinationTest {
    private static final String TREE = "org.udckpt.coordination.tree";
    private static final String EXCHANGE = "org.udckpt.coordination.lookup";
    private static final String COORDINATOR = "org.udckpt.coordination.protocol";
    private static final JavaClasses CLASSES =
            new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                    .importPackages(TREE, EXCHANGE, COORDINATOR);

    @Test
    void nothingWaitsOrLooksAtAClock() {
        noClasses().should().dependOnClassesThat()
                .resideInAnyPackage("java.util.concurrent..", "java.net..", "java.nio.channels..", "java.time.chrono..")
                .check(CLASSES);
        noClasses().should().dependOnClassesThat()
                .belongToAnyOf(Thread.class, java.time.Clock.class, java.time.Instant.class, java.util.Timer.class)
                .check(CLASSES);
        noClasses().should().callMethod(System.class, "nanoTime").orShould()
                .callMethod(System.class, "currentTimeMillis").check(CLASSES);
    }

    @Test
    void noPackageKnowsOneThatKnowsIt() {
        classes().that().resideInAPackage(TREE).should().onlyDependOnClassesThat().resideInAnyPackage(TREE, "java..")
                .check(CLASSES);
        classes().that().resideInAPackage(EXCHANGE).should().onlyDependOnClassesThat()
                .resideInAnyPackage(EXCHANGE, TREE, "org.udckpt.address", "java..").check(CLASSES);
        classes().that().resideInAPackage(COORDINATOR).should().onlyDependOnClassesThat()
                .resideInAnyPackage(COORDINATOR, EXCHANGE, TREE, "java..").check(CLASSES);
    }
}
