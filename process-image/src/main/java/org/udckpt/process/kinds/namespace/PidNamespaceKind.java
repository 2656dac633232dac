package org.udckpt.process.kinds.namespace;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNamespaceMember;
import org.udckpt.process.model.PidNumbers;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.UserNamespace;
import org.udckpt.process.model.UserNamespaceMember;
import org.udckpt.process.model.Zombie;

/** Pid namespaces that the job has made, also one in another; they are made with the processes. */
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
        List<PidNamespace> its = numbers.chain(one.init());
        Set<Integer> used = new HashSet<>();
        for (PidNamespaceMember member : numbers.members(one)) {
            row.require(used.add(member.inner()), "the number %d twice", member.inner());
            row.require(startsWith(numbers.chain(member.pid()), its), "%d is not in the namespaces above it",
                    member.pid());
        }
        row.require(image.process(one.init()) && numbers.begunBy(one.init()) == one
                && numbers.inner(one.init()) == INIT, "init %d is no process 1 of it", one.init());
        for (KernelObject object : image.image().objects()) {
            if (object instanceof PidNamespaceMember member && member.inner() == 0
                    && member.pidNamespace() == one.id()) {
                row.require(startsWith(its, numbers.chain(member.pid())), "process %d cannot have children in it",
                        member.pid());
            }
        }
        checkOwner(one, row, image, numbers.above(one));
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

    private static void checkOwner(PidNamespace one, RowCheck row, CheckedImage image, PidNamespace above)
            throws BrokenTable {
        row.require(one.userOwner() == 0 || image.is(one.userOwner(), UserNamespace.class), "userOwner %d is none",
                one.userOwner());
        row.require(above == null || isWithin(image, one.userOwner(), above.userOwner()),
                "userOwner %d is outside of that of the pid namespace above", one.userOwner());
        row.require(one.userOwner() == 0 || image.image().objects().stream()
                .anyMatch(other -> other instanceof UserNamespaceMember member && member.pid() == one.init()
                        && isWithin(image, member.userNamespace(), one.userOwner())),
                "init %d is not in userOwner", one.init());
    }

    /** Whether a user namespace is another one, or below it. */
    private static boolean isWithin(CheckedImage image, long user, long other) {
        for (long at = user; at != other; at = ((UserNamespace) image.get(at)).parentNamespace()) {
            if (!(image.get(at) instanceof UserNamespace found) || found.parentNamespace() >= at) {
                return false;
            }
        }
        return true;
    }

    /** It is where its parent is, or further below; the first of a namespace just below. */
    private static void checkPlace(PidNamespace one, RowCheck row, PidNumbers numbers, int pid, int parent)
            throws BrokenTable {
        row.require(pid == one.init() ? numbers.of(parent) == numbers.above(one)
                : startsWith(numbers.chain(pid), numbers.chain(parent)),
                "process %d cannot be where it is below process %d", pid, parent);
    }

    private static boolean startsWith(List<PidNamespace> chain, List<PidNamespace> first) {
        return chain.size() >= first.size() && chain.subList(0, first.size()).equals(first);
    }

    @Override
    public KindRestore<PidNamespace> restore(RestoreScope scope) {
        return new PidNamespaceRestore(scope);
    }
}
