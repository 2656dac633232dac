package org.udckpt.process.restore;

import java.util.List;
import java.util.function.Consumer;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.model.JobImage;

/** What of a job is made in this process, and handed over: sockets of the network. */
final class HereObjects implements AutoCloseable {
    private final List<MadeHere> all;

    HereObjects(JobImage image, Owners owners) {
        all = ObjectKinds.madeHere(image, owners);
    }

    /**
     * Whether they could be had: they are bound as for a restart, and let go. @throws RestoreException naming the
     * socket, and who has its port
     */
    static void check(JobImage image, Owners owners) {
        for (MadeHere one : ObjectKinds.madeHere(image, owners)) {
            try (one) {
                one.check();
            }
        }
    }

    void make(Consumer<String> warn) {
        all.forEach(one -> one.make(warn));
    }

    List<MadeHere> all() {
        return all;
    }

    @Override
    public void close() {
        all.forEach(MadeHere::close);
    }
}
