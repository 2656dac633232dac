package org.udckpt.process.kinds.namespace;

import java.util.HashSet;
import java.util.Set;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNamespaceMember;
import org.udckpt.process.model.PidNumbers;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.UserNamespace;
import org.udckpt.process.model.UserNamespaceMember;
import org.udckpt.process.model.Zombie;

/** Pid namespaces that the job has made; they are made with the processes. */
public final class PidNamespaceKind implements ObjectKind<PidNamespace> {
    private static final int INIT = 1;

    @Override
    public Class<PidNamespace> record() {
        return PidNamespace.class;
    }

    @Override
    public String shown(PidNamespace one) {
        return "of process " + one.init();
    }

    @Override
    public void check(PidNamespace one, RowCheck row, CheckedImage image) throws BrokenTable {
        PidNumbers numbers = PidNumbers.of(image.image().objects());
        Set<Integer> used = new HashSet<>();
        for (PidNamespaceMember member : numbers.members(one)) {
            row.require(used.add(member.inner()), "the number %d twice", member.inner());
        }
        row.require(image.process(one.init()) && numbers.begunBy(one.init()) == one
                && numbers.inner(one.init()) == INIT, "init %d is no process 1 of it", one.init());
        checkOwner(one, row, image);
        for (ProcessState process : image.image().processes()) {
            checkPlace(one, row, numbers, process.pid(), process.parentPid());
        }
        for (Zombie zombie : image.image().zombies()) {
            row.require(zombie.pid() != one.init(), "init %d has ended", one.init());
            checkPlace(one, row, numbers, zombie.pid(), zombie.parentPid());
        }
        for (ThreadState thread : image.image().threads()) {
            row.require(numbers.of(thread.tid()) == numbers.of(thread.pid()), "thread %d is not where its process is",
                    thread.tid());
        }
    }

    private static void checkOwner(PidNamespace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(one.userOwner() == 0 || image.get(one.userOwner()) instanceof UserNamespace user
                && user.parentNamespace() == 0, "userOwner %d is none just below that of the job", one.userOwner());
        row.require(one.userOwner() == 0 || image.image().objects().stream()
                .anyMatch(other -> other instanceof UserNamespaceMember member && member.pid() == one.init()
                        && isBelow(image, member.userNamespace(), one.userOwner())),
                "init %d is not in userOwner", one.init());
    }

    private static boolean isBelow(CheckedImage image, long user, long above) {
        for (long at = user; image.get(at) instanceof UserNamespace found; at = found.parentNamespace()) {
            if (at == above) {
                return true;
            }
            if (found.parentNamespace() >= at) {
                return false;
            }
        }
        return false;
    }

    /** All that processes of a namespace make is in it, and nothing else but its first. */
    private static void checkPlace(PidNamespace one, RowCheck row, PidNumbers numbers, int pid, int parent)
            throws BrokenTable {
        PidNamespace above = numbers.of(parent);
        row.require(pid == one.init() ? above == null
                : above == one == (numbers.of(pid) == one), "process %d cannot be where it is below process %d", pid,
                parent);
    }

    @Override
    public KindRestore<PidNamespace> restore(RestoreScope scope) {
        return new PidNamespaceRestore(scope);
    }
}
