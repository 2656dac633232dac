package org.udckpt.process.capture;

import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.CallFilter;
import org.udckpt.process.kinds.base.GroupMember;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.kinds.base.ThreadPlace;

/** A process of the job in which something is other than in the process as a whole, which answers all else. */
interface DelegatedProcess extends StoppedProcess {
    /** Which one it is. */
    StoppedProcess process();

    @Override
    default int pid() {
        return process().pid();
    }

    @Override
    default int task() {
        return process().task();
    }

    @Override
    default int namespacePid() {
        return process().namespacePid();
    }

    @Override
    default int pidNamespaces() {
        return process().pidNamespaces();
    }

    @Override
    default int ownPid() {
        return process().ownPid();
    }

    @Override
    default int ofOwn(int number) {
        return process().ofOwn(number);
    }

    @Override
    default int ofNamespace(int number) {
        return process().ofNamespace(number);
    }

    @Override
    default int ofProc(int number) {
        return process().ofProc(number);
    }

    @Override
    default int namespaceGroup() {
        return process().namespaceGroup();
    }

    @Override
    default int namespaceThread(int tid) {
        return process().namespaceThread(tid);
    }

    @Override
    default Set<Integer> namespaceThreads() {
        return process().namespaceThreads();
    }

    @Override
    default boolean root() {
        return process().root();
    }

    @Override
    default boolean hasMountsOfItsOwn() {
        return process().hasMountsOfItsOwn();
    }

    @Override
    default String rootDirectory() {
        return process().rootDirectory();
    }

    @Override
    default String mounts() {
        return process().mounts();
    }

    @Override
    default int mountNamespace() {
        return process().mountNamespace();
    }

    @Override
    default long ipcNamespace() {
        return process().ipcNamespace();
    }

    @Override
    default String seen(String path) {
        return process().seen(path);
    }

    @Override
    default String outside(String path) {
        return process().outside(path);
    }

    @Override
    default boolean ownsFileSystem(Files.Stat file, String through) {
        return process().ownsFileSystem(file, through);
    }

    @Override
    default boolean fromOutside(String path, Files.Stat file) {
        return process().fromOutside(path, file);
    }

    @Override
    default boolean workingDirectoryDeleted() {
        return process().workingDirectoryDeleted();
    }

    @Override
    default List<CallFilter> callFilters() {
        return process().callFilters();
    }

    @Override
    default List<GroupMember> groupMembers() {
        return process().groupMembers();
    }

    @Override
    default List<ThreadPlace> threadPlaces() {
        return process().threadPlaces();
    }

    @Override
    default boolean inFlight() {
        return process().inFlight();
    }

    @Override
    default int[] ownedDescriptors() {
        return process().ownedDescriptors();
    }

    @Override
    default RuntimeException refuse(int descriptor, String reason) {
        return process().refuse(descriptor, reason);
    }

    @Override
    default RuntimeException refuse(String reason) {
        return process().refuse(reason);
    }

    @Override
    default RuntimeException failed(int descriptor, String reason) {
        return process().failed(descriptor, reason);
    }

    @Override
    default RuntimeException failed(String reason) {
        return process().failed(reason);
    }
}
