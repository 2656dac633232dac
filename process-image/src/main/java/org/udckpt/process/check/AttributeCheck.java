package org.udckpt.process.check;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.process.kinds.unix.UnixSocket;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PeerCredentials;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.StopSignals;

/** Attributes: of whom they are. Whether their values can be is for the kernel to say. */
final class AttributeCheck {
    private AttributeCheck() {}

    /** @param threads tid -> pid */
    static void check(JobImage image, Set<Integer> pids, Map<Integer, Integer> threads) throws BrokenTable {
        RowCheck row = new RowCheck("attributes");
        Set<Long> sockets = image.objects().stream().filter(UnixSocket.class::isInstance).map(KernelObject::id)
                .collect(Collectors.toSet());
        for (Attribute attribute : image.attributes()) {
            row.next();
            row.there("the row", attribute);
            row.text("name", attribute.name());
            row.is(pids.contains(attribute.pid()), "there is no process", attribute.pid());
            row.is(attribute.tid() == 0 || threads.getOrDefault(attribute.tid(), -1) == attribute.pid(),
                    "the process has no thread", attribute.tid());
            row.there("values", attribute.values());
            AttributeKind kind = attribute.kind();
            if (kind != null) { // else a restart refuses it
                row.length("values", attribute.values().length, 1, kind.mostValues(), 1);
            }
            if (kind == AttributeKind.ENDED_CHILD) {
                long[] values = attribute.values();
                row.is(values.length == 2 && image.zombies().stream()
                        .anyMatch(one -> one.pid() == values[0] && one.parentPid() == attribute.pid()),
                        "no child that has ended is", values[0]);
                row.is(values[1] >= 0 && values[1] < 0xffffffffL, "nobody's user", values[1]);
            }
            if (kind == AttributeKind.STOP_SIGNAL) {
                row.is(StopSignals.isOne(attribute.values()[0]), "no signal that stops a process:",
                        attribute.values()[0]);
            }
            if (kind == AttributeKind.LOGIN_USER) {
                row.is(attribute.values()[0] >= 0 && attribute.values()[0] <= 0xffffffffL, "nobody's user",
                        attribute.values()[0]);
            }
            if (kind == AttributeKind.PARENT) {
                long parent = attribute.values()[0];
                row.is(parent > 1 && parent <= Integer.MAX_VALUE, "no process has the number", parent);
            }
            if (kind == AttributeKind.OBJECT_OWNER) {
                long[] values = attribute.values();
                row.is(values.length == 3 && image.descriptors().stream()
                        .anyMatch(one -> one.pid() == attribute.pid() && one.object() == values[0]),
                        "the process has no object", values[0]);
                row.is(values[1] >= 0 && values[1] < 0xffffffffL, "nobody's user", values[1]);
                row.is(values[2] >= 0 && values[2] < 0xffffffffL, "nobody's group", values[2]);
            }
            if (kind == AttributeKind.PEER_CREDENTIALS) {
                row.is(PeerCredentials.possible(attribute.values()),
                        "no process can have had the number, user or groups of a socket's peer, in a row of process",
                        attribute.pid());
                row.is(sockets.contains(attribute.values()[0]), "the job has no unix socket", attribute.values()[0]);
            }
            if (attribute.start() != 0 || attribute.end() != 0) {
                RegionCheck.range(row, attribute.start(), attribute.end());
                row.is(kind == null || kind == AttributeKind.MEMORY_POLICY, "no attribute of memory has a start,",
                        attribute.start());
            }
        }
    }
}
