package org.udckpt.process.kinds.ipc;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.IpcMembers;
import org.udckpt.process.kinds.base.IpcObject;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/** Makes sets of semaphores, with their values. */
final class SemaphoreSetRestore implements KindRestore<SemaphoreSet> {
    private static final int SETVAL = 16, SETALL = 17;
    /** struct semid64_ds. */
    private static final int STATUS_BYTES = 104;

    private final RestoreScope scope;
    private final IpcMembers ipc;

    SemaphoreSetRestore(RestoreScope scope) {
        this.scope = scope;
        this.ipc = new IpcMembers(scope);
    }

    @Override
    public void makeTogether() {
        scope.objects(SemaphoreSet.class).forEach(this::make);
    }

    private void make(SemaphoreSet set) {
        String what = "System V semaphore set " + set.ipcId();
        Maker maker = ipc.user(set.id(), 0);
        IpcAccess access = set.access();
        IpcObject.make(maker, what, "sem_next_id", set.ipcId(), set.mode(),
                flags -> IpcRestore.asCreator(maker, access,
                        () -> maker.tryCall(Syscall.SEMGET, set.key(), set.values().length, flags)));
        setValues(set, what);
        IpcRestore.set(maker, what, access, STATUS_BYTES,
                (command, status) -> maker.tryCall(Syscall.SEMCTL, set.ipcId(), 0, command, status), _ -> {});
    }

    private void setValues(SemaphoreSet set, String what) {
        int[] users = set.users();
        if (users.length == 0) {
            setAll(set, what, ipc.user(set.id(), 0));
        } else {
            int first = Arrays.stream(users).filter(pid -> pid != 0).findFirst().orElse(0);
            if (first != 0 && Arrays.stream(users).allMatch(pid -> pid != 0)) {
                setAll(set, what, ipc.user(set.id(), first));
            }
            setOthers(set, what, first);
        }
        if (set.operated()) {
            operate(set);
        }
    }

    private static void setAll(SemaphoreSet set, String what, Maker maker) {
        ByteBuffer values = ByteBuffer.allocate(2 * set.values().length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : set.values()) {
            values.putShort((short) value);
        }
        maker.call("set the values of " + what, Syscall.SEMCTL, set.ipcId(), 0, SETALL, maker.bytes(values.array()));
    }

    /** One by one: those that nobody has changed are to stay so. */
    private void setOthers(SemaphoreSet set, String what, int first) {
        boolean all = Arrays.stream(set.users()).allMatch(pid -> pid != 0);
        for (int i = 0; i < set.values().length; i++) {
            int user = set.users()[i];
            if (user != 0 && !(all && user == first)) {
                ipc.user(set.id(), user).call("set a value of " + what, Syscall.SEMCTL, set.ipcId(), i, SETVAL,
                        set.values()[i]);
            }
        }
    }

    /** As the kernel has noted, by the process that has changed it before. */
    private void operate(SemaphoreSet set) {
        int number = 0;
        while (set.users().length > 0 && set.users()[number] == 0 && number < set.users().length - 1) {
            number++;
        }
        new SemaphoreOperation(set, number)
                .touch(ipc.user(set.id(), set.users().length == 0 ? 0 : set.users()[number]));
    }
}
