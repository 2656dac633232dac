package org.udckpt.process.kinds.ipc;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.IpcGroup;
import org.udckpt.process.kinds.base.IpcObject;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.model.IpcPlace;
import org.udckpt.process.model.KernelObject;

/**
 * Finds the job's objects among all of an IPC namespace. In one of the job's own (a restarted one) every object is the
 * job's. In one that others use those are that a process of the job was the last to use, and those that nobody has used
 * who still runs, if a user of the job made or used them while the job ran: such an object can only be the job's or one
 * that nobody misses. What others use beside the job is refused: they would not meet again after a restart.
 */
abstract class IpcCapture implements KindCapture {
    private static final String OWN_NAMESPACE = Files.readLink("/proc/self/ns/ipc");

    /** An object, as its status tells of it. @param times when it was made or used, in seconds since 1970 */
    record Found(int ipcId, IpcAccess access, ByteBuffer status, long... times) {
        boolean since(IpcUsers users) {
            for (long time : times) {
                if (users.sinceStart(time)) {
                    return true;
                }
            }
            return false;
        }
    }

    private final ObjectTable table;
    private final String what;
    private final String numbers;
    private IpcGroup group;
    private IpcUsers users;
    private AskedProcess asked;
    private List<AskedProcess> processes;
    private boolean used;
    /** Whether there is one of the job. */
    private boolean taken;

    /** @param numbers as in {@link IpcObject#make} */
    IpcCapture(ObjectTable table, String what, String numbers) {
        this.table = table;
        this.what = what;
        this.numbers = numbers;
    }

    @Override
    public void ask(IpcGroup in) {
        group = in;
        processes = in.job();
        used = false;
        taken = false;
        AskedProcess caller = in.caller();
        boolean shared = OWN_NAMESPACE.equals(Files.readLink("/proc/" + caller.task() + "/ns/ipc"));
        users = shared ? new IpcUsers(processes) : null;
        asked = caller;
        try (IpcCalls calls = shared ? IpcCalls.here() : IpcCalls.in(caller)) {
            long highest = LinuxError.check(info(calls), "look for System V objects");
            int left = count(calls);
            for (int index = 0; left > 0 && index <= highest; index++) {
                Found found = status(calls, index);
                if (found != null) {
                    left--;
                    take(calls, found);
                }
            }
        }
    }

    private void take(IpcCalls calls, Found found) {
        if (users == null || found.since(users)) {
            KernelObject object = read(calls, found, table);
            if (object != null) {
                if (!taken) {
                    IpcObject.requireNextId(asked, what, numbers);
                }
                taken = true;
                table.add(object);
                if (group.id() != 0) {
                    table.add(new IpcPlace(table.newId(), object.id(), group.id()));
                }
            }
        }
    }

    /** Writes how many there are to {@link #count}; the highest index. */
    abstract long info(IpcCalls calls);

    abstract int count(IpcCalls calls);

    /** Null: nothing has this index. */
    abstract Found status(IpcCalls calls, int index);

    /** Null: it is not the job's. */
    abstract KernelObject read(IpcCalls calls, Found found, ObjectTable to);

    /** In {@link #read}: whether others use this namespace, too. */
    boolean shared() {
        return users != null;
    }

    /**
     * In {@link #read}, of each last user of an object: whether the object is the job's.
     *
     * @param pids as this process numbers them
     * @param when they used it, in seconds since 1970
     */
    boolean ofJob(String what, Found found, int[] pids, long[] when) {
        int job = 0;
        int stranger = 0;
        for (int i = 0; i < pids.length; i++) {
            switch (users.user(pids[i], when[i])) {
                case JOB -> job = pids[i];
                case STRANGER -> stranger = pids[i];
                case NOBODY, ENDED -> {
                }
            }
        }
        if (job != 0 && stranger != 0) {
            throw refuse(what + " (" + found.access.shown(found.ipcId) + ") is also used by process " + stranger
                    + ", which is not of the job, and would not have it in common with the job after a restart; let"
                    + " only the job use it");
        }
        used |= job != 0;
        return job != 0 || stranger == 0 && users.creates(found.access.creatorUid());
    }

    /** Whether a call says that who is not of the job has removed the object since it was found. */
    boolean removed(long result) {
        return shared() && (result == -LinuxError.EINVAL || result == -LinuxError.EIDRM);
    }

    /** When all have been read: whether the job has certainly used one, and not only perhaps. */
    boolean used() {
        return used || users == null;
    }

    RuntimeException refuse(String reason) {
        return asked.refuse(reason);
    }

    /** As the job numbers them; the process that was asked numbers them as in its own pid namespace. */
    int[] numbers(int[] pids) {
        return IntStream.of(pids).map(users == null ? this::own : this::number).toArray();
    }

    /** Of who asked: in a pid namespace of its own it is told others. */
    private int own(int pid) {
        int job = asked.ofNamespace(pid);
        return job == 0 ? pid : job;
    }

    private int number(int pid) {
        return processes.stream().filter(one -> one.pid() == pid).mapToInt(AskedProcess::namespacePid).findFirst()
                .orElse(pid);
    }
}
