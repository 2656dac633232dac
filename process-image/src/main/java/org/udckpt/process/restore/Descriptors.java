package org.udckpt.process.restore;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.NewNames;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.SharedTables;
import org.udckpt.process.names.PlacedNames;

/**
 * Makes every kernel object once, in the first process that has it, and puts it under the numbers under which the
 * processes knew it.
 */
final class Descriptors {
    private static final int F_SETFD = 2;

    private final JobImage image;
    private final Map<Integer, Tracee> tracees;
    private final Handles handles;
    private final NamedFiles names;
    private final KindRestores kinds;
    /** object id -> pid of the process that makes it, of what no process has */
    private final Map<Long, Integer> inFlight;
    /** object id -> the first process that has a descriptor of it */
    private final Map<Long, Tracee> makers = new HashMap<>();
    /** id of memory -> the first process that has it */
    private final Map<Long, Tracee> users = new HashMap<>();

    Descriptors(JobImage image, Map<Integer, Tracee> tracees, Handles handles, NamedFiles names, NewNames newNames,
            PlacedNames placed, RestoreTarget target, ProcessTree tree, SharedContents contents, LazyProcesses lazy) {
        this.image = image;
        this.tracees = tracees;
        this.handles = handles;
        this.names = names;
        this.kinds = new KindRestores(new ObjectScope(this, image, handles, names, newNames, placed, target, tree,
                contents, lazy));
        for (Descriptor descriptor : image.descriptors()) {
            makers.putIfAbsent(descriptor.object(), tracee(descriptor.pid()));
        }
        inFlight = ObjectKinds.inFlight(image);
        image.descriptors().forEach(descriptor -> inFlight.remove(descriptor.object()));
        inFlight.forEach((object, pid) -> makers.put(object, tracee(pid)));
    }

    /** The first process that maps this memory or has it open; any where none has. */
    Tracee user(long memory) {
        if (users.isEmpty()) {
            image.regions().stream().filter(region -> region.backing() != 0)
                    .forEach(region -> users.putIfAbsent(region.backing(), tracee(region.pid())));
            for (KernelObject object : image.objects()) {
                if (object instanceof OpenFile file && file.backing() != 0 && maker(file.id()) != null) {
                    users.putIfAbsent(file.backing(), maker(file.id()));
                }
            }
        }
        return users.getOrDefault(memory, tracees.values().iterator().next());
    }

    /** Before anything is found by its name. */
    void enter() {
        kinds.enter();
    }

    /** Before memory is mapped. */
    void makeMemory() {
        kinds.makeMemory();
    }

    /** When all contents are in. */
    void finishMemory() {
        kinds.finishMemory();
    }

    /** The first process with a descriptor of this object, or null. */
    Tracee maker(long object) {
        return makers.get(object);
    }

    /** @param here made already, in this process */
    void make(List<MadeHere> here) {
        kinds.makeTogether();
        for (MadeHere one : here) {
            give(one.made());
        }
        for (KernelObject object : image.objects()) {
            Tracee maker = makers.get(object.id());
            if (maker != null && !handles.known(object.id())) {
                long fd = handles.add(maker, object.id(), kinds.make(maker, object));
                kinds.setFlags(maker, object, fd);
            }
        }
        owners().filter(one -> inFlight.containsKey(one.values()[0])).forEach(one -> {
            Tracee maker = makers.get(one.values()[0]);
            give(one, maker, handles.in(maker, one.values()[0]));
        });
        kinds.connect();
    }

    /** To the processes that have them. */
    private void give(Map<Long, Integer> made) {
        made.keySet().stream().collect(Collectors.groupingBy(makers::get, LinkedHashMap::new, Collectors.toList()))
                .forEach((owner, ids) -> Handover.give(owner, handles, ids, ids.stream().map(made::get).toList()));
    }

    /** The last step: every number means what it meant; the temporaries are closed. */
    void place() {
        tracees.values().forEach(handles::fetchAll);
        kinds.place();
        List<Descriptor> sorted = SharedTables.of(image, AttributeKind.SHARED_DESCRIPTORS)
                .once(image.descriptors()).stream()
                .sorted((one, other) -> Integer.compare(one.fd(), other.fd())).toList();
        Map<Tracee, Batch> batches = new LinkedHashMap<>();
        for (Descriptor descriptor : sorted) {
            Tracee tracee = tracee(descriptor.pid());
            long from = handles.in(tracee, descriptor.object());
            Batch batch = batches.computeIfAbsent(tracee, Batch::new);
            if (batch.full(1, 0)) {
                batch.run();
            }
            if (from == descriptor.fd()) {
                batch.add(() -> "flags of descriptor " + descriptor.fd(),
                        Syscall.FCNTL, from, F_SETFD, descriptor.closeOnExec() ? 1 : 0);
            } else {
                batch.add(() -> "descriptor " + descriptor.fd(),
                        Syscall.DUP3, from, descriptor.fd(), descriptor.closeOnExec() ? Syscall.O_CLOEXEC : 0);
            }
        }
        batches.values().forEach(Batch::run);
        tracees.values().forEach(handles::closeTemporaries);
        owners().filter(one -> !inFlight.containsKey(one.values()[0])).forEach(one -> {
            Descriptor any = anyOf(one.values()[0]);
            give(one, tracee(any.pid()), any.fd());
        });
        kinds.placed();
    }

    private Stream<Attribute> owners() {
        return image.attributes().stream().filter(one -> one.kind() == AttributeKind.OBJECT_OWNER);
    }

    /** Gives an object to its owner; for firewalls and routes that changes a socket's owner, too (sockfs_setattr). */
    private static void give(Attribute owner, Tracee tracee, long fd) {
        tracee.call("fchown of a socket or pipe", Syscall.FCHOWN, fd, owner.values()[1], owner.values()[2]);
    }

    private Descriptor anyOf(long object) {
        return image.descriptors()
                .stream()
                .filter(d -> d.object() == object)
                .findFirst()
                .orElseThrow(() -> inconsistent("the image is inconsistent: no process has a descriptor of object "
                        + object));
    }

    private static RestoreException inconsistent(String what) {
        return new RestoreException(RestoreException.Reason.FAILED, what);
    }

    /** When all files are in their places: the last before the job runs. */
    void complete() {
        kinds.complete();
    }

    /** The restore has failed, and all processes are killed. */
    void undo() {
        kinds.undo();
    }

    Tracee tracee(int pid) {
        Tracee tracee = tracees.get(pid);
        if (tracee == null) {
            throw new RestoreException(
                    RestoreException.Reason.FAILED, "the image is inconsistent: it has no process " + pid);
        }
        return tracee;
    }

    private <T extends KernelObject> List<T> objects(Class<T> type) {
        return image.objects().stream().filter(type::isInstance).map(type::cast).toList();
    }
}
