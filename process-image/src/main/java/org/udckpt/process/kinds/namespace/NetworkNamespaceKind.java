package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.NetworkNamespace;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UserNamespace;

/** Network namespaces that the job has made; the restart of mounts makes them, too. */
public final class NetworkNamespaceKind implements ObjectKind<NetworkNamespace> {
    private static final int LEAST_MTU = 0, MOST_MTU = Integer.MAX_VALUE;

    @Override
    public Class<NetworkNamespace> record() {
        return NetworkNamespace.class;
    }

    @Override
    public String shown(NetworkNamespace one) {
        return "loopback device " + ((one.deviceFlags() & 1) == 0 ? "down" : "up") + ", "
                + one.sysctls().lines().count() + " settings";
    }

    @Override
    public void check(NetworkNamespace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(one.userOwner() == 0 || image.is(one.userOwner(), UserNamespace.class),
                "userOwner %d is no user namespace", one.userOwner());
        row.between(LEAST_MTU, MOST_MTU, "mtu", one.mtu());
        row.require((one.deviceFlags() & ~NetworkState.SETTABLE) == 0, "deviceFlags %d has others than can be set",
                one.deviceFlags());
        row.notNull("sysctls", one.sysctls());
        row.require(one.sysctls().lines().allMatch(NetworkNamespaceKind::isSetting),
                "sysctls (length %d) are not settings of the network", one.sysctls().length());
        row.notNull("addresses", one.addresses());
        try {
            NetworkSetup.addresses(one);
        } catch (IllegalArgumentException e) {
            throw row.broken(e.getMessage());
        }
    }

    /** Whether a line is one of /proc/sys/net. */
    private static boolean isSetting(String line) {
        return line.matches("net(/[^/=]+)+=.*") && !("/" + line.substring(0, line.indexOf('=')) + "/").contains("/../");
    }
}
