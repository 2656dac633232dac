package org.udckpt.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * What others can exchange is opened once, below the descriptor of its directory ({@link org.udckpt.linux.Folder}):
 * where images, tiers, exports and credentials are read and written, nothing works by path. A path that is used twice
 * may lead to two files.
 */
class PathUseTest {
    private static final String[] PACKAGES = {"org.udckpt.image", "org.udckpt.store", "org.udckpt.store.tiers",
            "org.udckpt.lifecycle.checkpoint", "org.udckpt.inspect.core",
            "org.udckpt.lifecycle.metrics", "org.udckpt.lifecycle", "org.udckpt.cli.bisect", "org.udckpt.inspect.debug",
            "org.udckpt.transport"};
    /** Classes that open or ask by path; of others only these methods do. */
    private static final Set<String> ALWAYS = Set.of("java.nio.file.Files", "java.io.FileInputStream",
            "java.io.FileOutputStream", "java.io.FileReader", "java.io.FileWriter", "java.io.RandomAccessFile",
            "java.nio.file.spi.FileSystemProvider");
    private static final Map<String, Set<String>> METHODS = Map.of(
            "java.io.File",
            Set.of("delete", "renameTo", "createNewFile", "createTempFile", "mkdir", "mkdirs", "list", "listFiles",
                    "exists", "isFile", "isDirectory", "length", "lastModified"),
            "java.nio.channels.FileChannel", Set.of("open"),
            "java.nio.file.Path", Set.of("toRealPath"),
            "org.udckpt.linux.Files", Set.of("open", "tryOpen", "stat", "tryStat", "readLink"));
    /** Classes that may use paths, and why. */
    private static final Map<String, String> MAY = Map.ofEntries(
            Map.entry("org.udckpt.image.directory.WriterLease", "reads /proc"),
            Map.entry("org.udckpt.image.key.ImageKey",
                    "the user's own key, in a directory of his: whose it is is asked of what was opened"),
            Map.entry("org.udckpt.image.manifest.ManifestParser", "asks whose a checkpoint is, for a message"),
            Map.entry("org.udckpt.image.key.EncryptionSecret",
                    "a key file that the user names, checked as the other one"),
            Map.entry("org.udckpt.lifecycle.checkpoint.UnitCheckpoints$Place",
                    "asks which directory is there, for the number of its device"),
            Map.entry("org.udckpt.store.FilePlace", "asks for the number of a device"),
            Map.entry("org.udckpt.store.ImageDirectoryCheck", "asks, for a message before the start"),
            Map.entry("org.udckpt.store.Tiers", "asks whether two directories are one"),
            Map.entry("org.udckpt.inspect.core.FirstPages",
                    "reads programs and libraries for a core file, as gdb will"),
            Map.entry("org.udckpt.lifecycle.checkpoint.JobFiles", "compares names of directories, and opens nothing"),
            Map.entry("org.udckpt.cli.bisect.CoreProbe",
                    "in the search's own directory, which nobody else may enter (mkdtemp(3))"),
            Map.entry("org.udckpt.cli.bisect.WorkDirectory", "makes and removes that directory"),
            Map.entry("org.udckpt.inspect.debug.Debugger",
                    "in the job's own runtime directory: files that gdb makes and reads by their names"),
            Map.entry("org.udckpt.inspect.debug.GdbCommand",
                    "asks whether a program is there, which is then found as execvp(3) does"),
            Map.entry("org.udckpt.inspect.debug.ControllingTerminal", "/dev/tty, and reads /proc"),
            Map.entry("org.udckpt.lifecycle.lead.LeadGuard", "reads /proc, and opens a descriptor of its own there"),
            Map.entry("org.udckpt.lifecycle.restart.Relocations",
                    "asks whether a directory that the user names is there, and opens nothing"),
            Map.entry("org.udckpt.lifecycle.SharedFiles", "asks for the kind of a file system, and opens nothing"));

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(PACKAGES);

    @Test
    void nothingWorksByPath() {
        assertTrue(CLASSES.size() > 100, "the classes are not found");
        Map<String, Set<String>> uses = uses();
        uses.keySet().removeAll(MAY.keySet());
        assertEquals(Map.of(), uses, "use a Folder (or a session of the storage), or say above why not");
    }

    @Test
    void exceptionsAreNeeded() {
        Set<String> stale = new TreeSet<>(MAY.keySet());
        stale.removeAll(uses().keySet());
        assertEquals(Set.of(), stale, "take it from the list: it works by path no more");
    }

    private static Map<String, Set<String>> uses() {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (JavaClass one : CLASSES) {
            for (JavaAccess<?> access : one.getAccessesFromSelf()) {
                String owner = access.getTargetOwner().getName();
                List<String> parameters = access
                        .getTarget() instanceof com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget call
                                ? call.getRawParameterTypes().stream().map(JavaClass::getName).toList() : List.of();
                boolean byPath = !owner.equals("org.udckpt.linux.Files") || parameters.contains("java.lang.String");
                if (byPath && (ALWAYS.contains(owner)
                        || METHODS.getOrDefault(owner, Set.of()).contains(access.getTarget().getName()))) {
                    uses.computeIfAbsent(one.getName(), _ -> new TreeSet<>()).add(owner + "." + access.getName());
                }
            }
        }
        return uses;
    }
}
