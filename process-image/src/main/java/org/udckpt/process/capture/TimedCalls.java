package org.udckpt.process.capture;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Registers;

/**
 * Which timed calls threads were in at earlier captures of the same incarnation. After a stop the kernel lets such a
 * call go on as restart_syscall(2), and a second stop finds only that: a new process, which has no notes of the
 * kernel's about the rest of the time, needs the call itself. One for all captures of a job. Thread-safe.
 */
public final class TimedCalls {
    /** The same thread is still in the same call when nothing has moved but the call's number. */
    private record Call(int number, long instruction, long stack, long first, long second, long third) {
        static Call of(int number, Registers registers) {
            return new Call(number, registers.get(Registers.RIP), registers.get(Registers.RSP), registers.argument(0),
                    registers.argument(1), registers.argument(2));
        }
    }

    private final Map<Integer, Call> calls = new ConcurrentHashMap<>();

    /**
     * A stopped thread's registers name the call that it made, as far as that is known. The kernel does not mind: it
     * goes by the error.
     */
    void name(int tid, Registers registers) {
        if (registers.systemCall() < 0 || registers.error() != Registers.ERESTART_RESTARTBLOCK) {
            calls.remove(tid);
        } else if (registers.systemCall() != Syscall.RESTART_SYSCALL) {
            calls.put(tid, Call.of(registers.systemCall(), registers));
        } else {
            Call known = calls.get(tid);
            if (known != null && known.equals(Call.of(known.number, registers))) {
                registers.set(Registers.ORIG_RAX, known.number);
            }
        }
    }

    /** Forgets the calls of all other threads. */
    void keep(Set<Integer> tids) {
        calls.keySet().retainAll(tids);
    }
}
