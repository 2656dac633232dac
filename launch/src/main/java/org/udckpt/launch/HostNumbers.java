package org.udckpt.launch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.address.AddressMap;
import org.udckpt.address.HostAddress;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Numbers of the hosts of a job of several agents, in the place of LIDs, which RoCE ports do not have (virtual_host.c).
 * Each agent works them out by itself, and all come to the same.
 */
final class HostNumbers {
    /** Each port of a device has a number of its own. */
    static final int PORTS_OF_A_DEVICE = 4;

    private record Place(String machine, String devices) {}

    private HostNumbers() {}

    /**
     * Hosts on one machine with the same devices share a number: a GID must lead to one.
     *
     * @param machines where each host of the layout is in this incarnation
     * @param generation consecutive incarnations get different numbers while there are enough: an untranslated address
     *     must not work by luck
     * @return the layout's hosts, in order
     */
    static List<HostAddress> of(HostLayout layout, List<String> machines, DeviceChoice devices, int generation) {
        Map<Place, Integer> firsts = new HashMap<>();
        List<HostAddress> numbered = new ArrayList<>();
        int all = 0;
        for (int host = 0; host < machines.size(); host++) {
            Place place = new Place(machines.get(host), devices.ofHost(host));
            int numbers = PORTS_OF_A_DEVICE * DeviceChoice.ofHost(place.devices()).size();
            Integer before = firsts.putIfAbsent(place, all);
            if (before != null && generation == 0) {
                throw new Failure(ExitCode.USAGE, "host " + layout.hosts().get(host).name()
                        + " is on the same machine as another host and would share its device " + place.devices()
                        + ", so both would have the same addresses in the job: give each its own device, such as "
                        + "--device rxe1,rxe2");
            }
            all += before == null ? numbers : 0;
            numbered.add(new HostAddress(layout.hosts().get(host).name(), firsts.get(place), numbers, 0, 0));
        }
        if (all > AddressMap.LAST_LID) {
            throw new Failure(ExitCode.UNSUPPORTED, machines.size() + " hosts with the devices " + devices + " need "
                    + all + " host numbers; the limit is " + AddressMap.LAST_LID);
        }
        int begin = generation % 2 == 1 && 2 * all <= AddressMap.LAST_LID ? 1 + all : 1;
        return numbered.stream().map(host -> new HostAddress(host.name(), begin + host.lid(), host.lids(), 0, 0))
                .toList();
    }
}
