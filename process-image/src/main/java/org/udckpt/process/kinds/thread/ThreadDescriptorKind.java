package org.udckpt.process.kinds.thread;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.InFlight;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/**
 * Descriptors in tables of threads: captured with those of processes. What no process has is made in the thread's
 * process, like what is in flight.
 */
public final class ThreadDescriptorKind implements ObjectKind<ThreadDescriptor> {
    @Override
    public Class<ThreadDescriptor> record() {
        return ThreadDescriptor.class;
    }

    @Override
    public String shown(ThreadDescriptor one) {
        return one.fd() + " of thread " + one.tid() + ", of object " + one.object();
    }

    @Override
    public InFlight inFlight(ThreadDescriptor one) {
        return new InFlight(one.object(), one.pid());
    }

    @Override
    public void check(ThreadDescriptor one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.canBeOpen(one.object()), CheckedImage.CANNOT_BE_OPEN, one.object());
        row.require(image.image().attributes().stream()
                .anyMatch(of -> of != null && of.kind() == AttributeKind.OWN_DESCRIPTORS && of.pid() == one.pid()
                        && of.tid() == one.tid()),
                "tid %d is not a thread of its process with descriptors of its own", one.tid());
        row.between(0, Integer.MAX_VALUE, "fd", one.fd());
    }

    @Override
    public KindRestore<ThreadDescriptor> restore(RestoreScope scope) {
        return new KindRestore<>() {
            @Override
            public void place() {
                Map<Integer, List<ThreadDescriptor>> tables = scope.objects(ThreadDescriptor.class).stream()
                        .collect(Collectors.groupingBy(ThreadDescriptor::tid));
                scope.image().attributes().stream().filter(one -> one.kind() == AttributeKind.OWN_DESCRIPTORS)
                        .map(one -> new NewThreadTable(scope, scope.process(one.pid()), one.tid())).distinct()
                        .forEach(one -> one.make(tables.getOrDefault(one.tid(), List.of())));
            }
        };
    }
}
