package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.F_SETFL;

import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.KernelObject;

/** The parts of all kinds in one restore. */
final class KindRestores {
    private static final int ACCESS = 3;

    private final Map<Class<?>, KindRestore<?>> byRecord = new LinkedHashMap<>();

    KindRestores(RestoreScope scope) {
        for (ObjectKinds one : ObjectKinds.values()) {
            byRecord.put(one.kind().record(), one.kind().restore(scope));
        }
    }

    /** A fresh descriptor of the object, anywhere. */
    <T extends KernelObject> long make(Maker maker, T object) {
        return of(object).make(maker, object);
    }

    /** What F_SETFL has set on those that are made without: it may mean nothing there, but F_GETFL tells it. */
    void setFlags(Maker maker, KernelObject object, long fd) {
        int flags = of(object).flags(object);
        if ((flags & ~(ACCESS | Syscall.O_NONBLOCK)) != 0) {
            maker.call("set a descriptor's flags", Syscall.FCNTL, fd, F_SETFL, flags & ~ACCESS);
        }
    }

    void enter() {
        byRecord.values().forEach(KindRestore::enter);
    }

    void makeMemory() {
        byRecord.values().forEach(KindRestore::makeMemory);
    }

    void finishMemory() {
        byRecord.values().forEach(KindRestore::finishMemory);
    }

    void makeTogether() {
        byRecord.values().forEach(KindRestore::makeTogether);
    }

    void place() {
        byRecord.values().forEach(KindRestore::place);
    }

    void connect() {
        byRecord.values().forEach(KindRestore::connect);
    }

    void placed() {
        byRecord.values().forEach(KindRestore::placed);
    }

    void complete() {
        byRecord.values().forEach(KindRestore::complete);
    }

    void undo() {
        byRecord.values().forEach(KindRestore::undo);
    }

    @SuppressWarnings("unchecked") // a kind is found by its record
    private <T extends KernelObject> KindRestore<T> of(T object) {
        return (KindRestore<T>) byRecord.get(object.getClass());
    }
}
