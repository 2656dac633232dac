package org.udckpt.process.restore;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.ProcessState;

/** What the processes of an image are called. */
final class Owners implements ObjectOwners {
    private final Map<Integer, ProcessState> processes = new HashMap<>();
    private final List<Descriptor> descriptors;
    private final Map<Long, Integer> inFlight;
    private final Function<ProcessState, String> naming;
    private final int first;
    private Map<Long, Owner> owners;

    /** @param naming {@link RestoreTarget#name} */
    Owners(JobImage image, Function<ProcessState, String> naming) {
        image.processes().forEach(process -> processes.put(process.pid(), process));
        this.descriptors = image.descriptors();
        this.inFlight = ObjectKinds.inFlight(image);
        this.first = image.processes().isEmpty() ? 0 : image.processes().getFirst().pid();
        this.naming = naming;
    }

    /** The owner of a process of the image. */
    Owner of(int pid) {
        ProcessState process = processes.get(pid);
        return new Owner(process.rank(), pid, naming.apply(process));
    }

    @Override
    public Owner of(long object, String what) {
        Owner owner = ofObjects().get(object);
        if (owner == null) {
            throw new RestoreException(RestoreException.Reason.FAILED, what + " of the image belongs to no process");
        }
        return owner;
    }

    @Override
    public Owner orFirst(long object) {
        Owner owner = ofObjects().get(object);
        return owner == null ? of(first) : owner;
    }

    @Override
    public boolean has(long object) {
        return ofObjects().containsKey(object);
    }

    /** Object id -> the first process that has a descriptor of it. */
    private Map<Long, Owner> ofObjects() {
        if (owners != null) {
            return owners;
        }
        owners = new HashMap<>();
        for (Descriptor descriptor : descriptors) {
            if (processes.containsKey(descriptor.pid())) {
                owners.computeIfAbsent(descriptor.object(), _ -> of(descriptor.pid()));
            }
        }
        inFlight.forEach((object, pid) -> owners.computeIfAbsent(object, _ -> of(pid)));
        return owners;
    }
}
