package org.udckpt.process.restore;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.ProcessState;

/** What the processes of an image are called. */
final class Owners {
    private final Map<Integer, ProcessState> processes = new HashMap<>();
    private final List<Descriptor> descriptors;
    private final Function<ProcessState, String> naming;

    /** @param naming {@link RestoreTarget#name} */
    Owners(JobImage image, Function<ProcessState, String> naming) {
        image.processes().forEach(process -> processes.put(process.pid(), process));
        this.descriptors = image.descriptors();
        this.naming = naming;
    }

    /** Of a process of the image. */
    Owner of(int pid) {
        ProcessState process = processes.get(pid);
        return new Owner(process.rank(), pid, naming.apply(process));
    }

    /** Object id -> the first process that has a descriptor of it. */
    Map<Long, Owner> ofObjects() {
        Map<Long, Owner> owners = new HashMap<>();
        for (Descriptor descriptor : descriptors) {
            if (processes.containsKey(descriptor.pid())) {
                owners.computeIfAbsent(descriptor.object(), _ -> of(descriptor.pid()));
            }
        }
        return owners;
    }
}
