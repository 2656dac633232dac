package org.udckpt.launch;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.support.config.Installation;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * A rank's environment: the user's own, plus what libudckpt.so, PMI-1 and UCX need (docs/reference/control-protocol.md,
 * Rank and agent).
 */
public final class RankEnvironment {
    /**
     * MVAPICH2 2.3.7 tells an adapter by its name, and does not start on one that it does not know. This is the number
     * of one like the soft fabric's (MV2_HCA_MLX_CX_FDR in its mv2_arch_hca_detect.h): InfiniBand, RC, UD and SRQ.
     */
    private static final String MVAPICH2_CONNECTX_FDR = "19";

    private final Map<String, String> users;
    private final Installation installation;
    private final RuntimeDirectory runtime;
    private final LaunchMode launch;
    private final HostLayout layout;
    private final HostAddresses addresses;

    public RankEnvironment(Map<String, String> users, Installation installation, RuntimeDirectory runtime,
            LaunchMode launch, HostLayout layout, HostAddresses addresses) {
        this.users = new HashMap<>(users);
        this.installation = installation;
        this.runtime = runtime;
        this.launch = launch;
        this.layout = layout;
        this.addresses = addresses;
        // Another launcher's: a rank of ours must not talk to it (a job script under Slurm, a udckpt run inside
        // mpiexec).
        this.users.keySet()
                .removeIf(name -> List.of("PMI_FD", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID",
                        "PMI_PORT", "PMI_ID", "PMI_SPAWNED", "HYDI_CONTROL_FD", "PMIX_RANK", "PMIX_NAMESPACE",
                        "OMPI_COMM_WORLD_RANK", "UDCKPT_RANK").contains(name));
        this.users.remove("UDCKPT_SHELL_OPEN_FILES"); // from the udckpt script to the shepherd
        this.users.keySet().removeAll(List.of("UDCKPT_GUARD", "UDCKPT_LOST_LEAD")); // from udckpt-guard to the lead
        this.users.remove("_JAVA_SR_SIGNUM", "16"); // from the udckpt script to the JVM
        restoreLocale();
    }

    /** The udckpt script sets LC_ALL for its JVM, and UDCKPT_LC_SET tells that it did. */
    private void restoreLocale() {
        if ("1".equals(users.remove("UDCKPT_LC_SET"))) {
            users.remove("LC_ALL");
        }
        String own = users.remove("UDCKPT_LC_ALL");
        if (own != null) {
            users.put("LC_ALL", own);
        }
    }

    public Map<String, String> of(int rank) {
        Map<String, String> all = new TreeMap<>(users);
        all.put("LD_PRELOAD", preload());
        all.put("UDCKPT_RUNTIME_DIR", runtime.path().toString());
        putDevice(all, rank);
        all.putIfAbsent("UDCKPT_VIRTUALIZE", "1");
        switch (launch) {
            case RANKS -> putManager(all, rank);
            case PMIX -> putOpenMpi(all, rank);
            case TREE -> keepLaunchersHome(all); // one in it, if there is one, gives its own to its own ranks
        }
        all.putIfAbsent("UCX_TLS", "ud_verbs,self");
        all.putIfAbsent("UCX_NET_DEVICES", String.join(":1,", DeviceChoice.ofHost(addresses.device(rank))) + ":1");
        return all;
    }

    /** In an allocation MPICH's mpiexec has srun start its ranks: below Slurm's daemon, out of the job. */
    private static void keepLaunchersHome(Map<String, String> all) {
        if (all.containsKey("SLURM_JOB_ID")) {
            all.putIfAbsent("HYDRA_LAUNCHER", "fork");
        }
    }

    private void putManager(Map<String, String> all, int rank) {
        all.put("UDCKPT_RANK", Integer.toString(rank));
        all.put("PMI_RANK", Integer.toString(rank));
        all.put("PMI_SIZE", Integer.toString(layout.ranks()));
        all.put("MPI_LOCALNRANKS", Integer.toString(layout.ranksPerHost().get(layout.hostOf(rank))));
        all.put("MPI_LOCALRANKID", Integer.toString(layout.localRank(rank)));
    }

    /**
     * Of the launcher, which gives its ranks their own. Open MPI is to use UCX on any device, for messages and for
     * one-sided communication, and nothing beside it but memory that ranks of a host share by MPI_Win_allocate_shared:
     * Debian's configuration excludes UCX from both, and without BTLs nothing else reaches another host. PMIx is to
     * keep what it knows in memory, without files.
     */
    private static void putOpenMpi(Map<String, String> all, int rank) {
        all.put("PMI_RANK", Integer.toString(rank));
        // Open MPI 4 takes a process for a singleton unless mpirun has started it or one of the launchers that it
        // knows; of those IBM's (schizo/jsm) is by PMIx alone.
        all.putIfAbsent("JSM_JSRUN_PORT", "0");
        all.putIfAbsent("PMIX_MCA_gds", "hash");
        all.putIfAbsent("OMPI_MCA_pml", "ucx");
        all.putIfAbsent("OMPI_MCA_osc", "sm,ucx");
        all.putIfAbsent("OMPI_MCA_pml_ucx_tls", "any");
        all.putIfAbsent("OMPI_MCA_pml_ucx_devices", "any");
        all.putIfAbsent("OMPI_MCA_btl", "self");
    }

    private void putDevice(Map<String, String> all, int rank) {
        String number = Integer.toString(addresses.of(rank).lid());
        if (addresses.soft()) {
            all.put("UDCKPT_DEVICE", "soft");
            all.put("UDCKPT_SOFT_LID", number);
            all.put("UDCKPT_SOFT_QPNS", addresses.of(rank).qpns());
            all.putIfAbsent("MV2_FORCE_HCA_TYPE", MVAPICH2_CONNECTX_FDR);
        } else {
            all.put("UDCKPT_DEVICE", addresses.device(rank));
            all.put("UDCKPT_HOST_NUMBER", number);
            // UCX 1.13 compares a GRH with its GID also where RoCE over IPv4 has no GRH, and drops the datagram.
            all.putIfAbsent("UCX_UD_VERBS_ETH_DGID_CHECK", "n");
        }
    }

    private String preload() {
        Path library = installation.library();
        String users = this.users.getOrDefault("LD_PRELOAD", "");
        return users.isEmpty() ? library.toString() : library + ":" + users;
    }
}
