package org.udckpt.process.kinds;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.udckpt.process.kinds.base.SocketNetworks;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MountViews;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.names.NameRefused;
import org.udckpt.process.names.NamesCheck;
import org.udckpt.process.names.NewName;

/** All file system names that a restart of an image creates, by object. */
public final class NewNames {
    private final Map<Long, NewName> byObject = new LinkedHashMap<>();
    private final Map<Long, JobName> known = new HashMap<>();
    private final Map<Long, ProcessState> users = new HashMap<>();

    /** @param image whose objects have names */
    public NewNames(JobImage image) {
        Map<Integer, ProcessState> processes = new HashMap<>();
        image.processes().forEach(process -> processes.put(process.pid(), process));
        for (Descriptor descriptor : image.descriptors()) {
            users.putIfAbsent(descriptor.object(), processes.get(descriptor.pid()));
        }
        ObjectKinds.inFlight(image).forEach((object, pid) -> users.putIfAbsent(object, processes.get(pid)));
        for (JobName name : image.names()) {
            switch (name) {
                case JobName.Fifo fifo -> known.put(fifo.object(), fifo);
                case JobName.SocketFile file -> known.put(file.object(), file);
                case JobName.Slave _,JobName.Directory _ -> {
                }
            }
        }
        for (KernelObject object : image.objects()) {
            NewName name = ObjectKinds.of(object).name(object, known.get(object.id()), users.get(object.id()));
            if (name != null && !isOwn(name, object, image)) {
                byObject.put(object.id(), name);
            }
        }
    }

    /** Whether it comes with a file system that only a mount namespace of the job has: then it is no row of names. */
    private boolean isOwn(NewName name, KernelObject object, JobImage image) {
        return name.kind() == NewName.Kind.FIFO && !known.containsKey(object.id()) && !MountViews.of(image).one();
    }

    /** The object's name; null: it never had one, or it was removed. */
    public NewName of(long object) {
        return byObject.get(object);
    }

    /** All names without repetition. */
    public List<NewName> all() {
        return byObject.values().stream().filter(Objects::nonNull).distinct().toList();
    }

    /**
     * Whether all of a job's names could be made: asked by a restart before anything is made, and by its plan.
     *
     * @throws NameRefused naming the first that could not
     */
    public static void check(JobImage image) {
        NamesCheck.check(image, new NewNames(image).all());
        SocketNetworks networks = new SocketNetworks(image);
        for (KernelObject object : image.objects()) {
            if (networks.of(object.id()) == 0) { // in a new one each is free
                ObjectKinds.of(object).checkFree(object);
            }
        }
    }
}
