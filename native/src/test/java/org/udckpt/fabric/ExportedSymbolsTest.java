package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every function that libibverbs exports is either taken over or known not to touch a device, so that a new
 * libibverbs cannot bring one that passes us by.
 */
class ExportedSymbolsTest {
    /** Conversions, names, and files of sysfs: they work without a device, libibverbs keeps them. */
    static final Set<String> HELPERS = Set.of("ibv_copy_ah_attr_from_kern", "ibv_copy_path_rec_from_kern",
            "ibv_copy_path_rec_to_kern", "ibv_copy_qp_attr_from_kern", "ibv_event_type_str", "ibv_node_type_str",
            "ibv_port_state_str", "ibv_wc_status_str", "ibv_rate_to_mbps", "ibv_rate_to_mult", "mbps_to_ibv_rate",
            "mult_to_ibv_rate", "ibv_get_sysfs_path", "ibv_read_sysfs_file", "ibv_read_ibdev_sysfs_file");

    /** What drivers use to talk to the kernel: out of reach without a device that they opened. */
    static final Pattern FOR_DRIVERS =
            Pattern.compile("ibv_cmd_.*|ibv_register_driver|verbs_register_driver_\\d+|__ioctl_final_num_attrs|"
                    + "__verbs_log|_verbs_init_and_alloc_context|execute_ioctl|verbs_allow_disassociate_destroy"
                    + "|verbs_init_cq"
                    + "|verbs_set_ops|verbs_uninit_context");

    private static final Pattern VERBS =
            Pattern.compile("_?_?ibv_.*|.*verbs_.*|mbps_.*|mult_.*|execute_ioctl|__ioctl.*");

    private static Set<String> exported(Path library) throws Exception {
        Native.Result result = Native.run(Map.of("LD_PRELOAD", ""), "nm", "-D", "--defined-only", library.toString());
        assertEquals(0, result.exit(), result::toString);
        return result.out().lines().map(line -> line.split(" ")).filter(words -> words[1].matches("[TtWBD]"))
                .map(words -> words[2]).collect(Collectors.toCollection(TreeSet::new));
    }

    /** The installed one whose name begins so. */
    static Path library(String name) throws Exception {
        Path linkedWithBoth = Native.program("../virtualization/cm_rounds");
        try (Stream<String> maps =
                Native.run(Map.of("LD_PRELOAD", ""), "ldd", linkedWithBoth.toString()).out().lines()) {
            return Path.of(maps.filter(line -> line.contains(name)).map(line -> line.strip().split(" ")[2]).findFirst()
                    .orElseThrow());
        }
    }

    /** The functions that it exports, without their versions. */
    static Set<String> names(Path library) throws Exception {
        return exported(library).stream().map(name -> name.replaceFirst("@.*", ""))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void nothingOfLibibverbsPassesBy() throws Exception {
        Set<String> ours = exported(Native.library());
        Set<String> theirs = names(library("libibverbs.so"));
        assertTrue(theirs.contains("ibv_open_device") && theirs.size() > 100, theirs::toString);
        Set<String> missing = new TreeSet<>(theirs);
        missing.removeAll(ours);
        missing.removeAll(HELPERS);
        missing.removeIf(name -> FOR_DRIVERS.matcher(name).matches());
        assertEquals(Set.of(), missing, "exported by libibverbs, neither taken over nor known to need no device");
        Set<String> invented = ours.stream().filter(name -> VERBS.matcher(name).matches())
                .collect(Collectors.toCollection(TreeSet::new));
        invented.removeAll(theirs);
        assertEquals(Set.of(), invented, "exported by the library under a name that libibverbs does not have");
    }

    /** A versioned definition would not be taken for references to libibverbs' other versions. */
    @Test
    void oursHaveNoVersion() throws Exception {
        assertTrue(exported(Native.library()).stream().noneMatch(name -> name.contains("@")));
    }
}
