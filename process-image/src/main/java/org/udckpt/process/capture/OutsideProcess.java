package org.udckpt.process.capture;

import java.util.List;
import java.util.Set;
import org.udckpt.process.kinds.base.CallFilter;
import org.udckpt.process.kinds.base.GroupMember;
import org.udckpt.process.kinds.base.StoppedProcess;

/**
 * A process in a mount namespace of the job's own, for a descriptor that it opened before it was there.
 *
 * @param mounts what leads to a path of where the job was started
 */
record OutsideProcess(StoppedProcess process, String mounts, boolean hasMountsOfItsOwn) implements StoppedProcess {
    @Override
    public int pid() {
        return process.pid();
    }

    @Override
    public int namespacePid() {
        return process.namespacePid();
    }

    @Override
    public boolean inPidNamespace() {
        return process.inPidNamespace();
    }

    @Override
    public int ownPid() {
        return process.ownPid();
    }

    @Override
    public int ofOwn(int number) {
        return process.ofOwn(number);
    }

    @Override
    public int namespaceGroup() {
        return process.namespaceGroup();
    }

    @Override
    public int namespaceThread(int tid) {
        return process.namespaceThread(tid);
    }

    @Override
    public Set<Integer> namespaceThreads() {
        return process.namespaceThreads();
    }

    @Override
    public boolean root() {
        return process.root();
    }

    @Override
    public boolean workingDirectoryDeleted() {
        return process.workingDirectoryDeleted();
    }

    @Override
    public List<GroupMember> groupMembers() {
        return process.groupMembers();
    }

    @Override
    public List<CallFilter> callFilters() {
        return process.callFilters();
    }

    @Override
    public int[] ownedDescriptors() {
        return process.ownedDescriptors();
    }

    @Override
    public RuntimeException refuse(int descriptor, String reason) {
        return process.refuse(descriptor, reason);
    }

    @Override
    public RuntimeException refuse(String reason) {
        return process.refuse(reason);
    }

    @Override
    public RuntimeException failed(int descriptor, String reason) {
        return process.failed(descriptor, reason);
    }

    @Override
    public RuntimeException failed(String reason) {
        return process.failed(reason);
    }
}
