package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.PR_SET_SECUREBITS;
import static org.udckpt.linux.LinuxConstants.SECBIT_NO_SETUID_FIXUP;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.Privileges;
import org.udckpt.process.model.UserNamespaceMember;

/**
 * Gives a thread another user, other groups and capabilities. The thread must be done with all that needs its
 * privileges. The order is that of credentials(7) and capabilities(7): what takes a privilege away comes after what
 * needs it.
 */
final class Credentials {
    private static final int SETFSUID = 122, SETFSGID = 123, CAPSET = 126;
    private static final int PR_CAPBSET_DROP = 24, PR_CAP_AMBIENT = 47, PR_CAP_AMBIENT_RAISE = 2,
            PR_CAP_AMBIENT_CLEAR_ALL = 4;
    private static final int CAPABILITY_VERSION_3 = 0x20080522;
    private static final int CAP_SETGID = 6, CAP_SETUID = 7, CAP_SETPCAP = 8;

    private final Tracee tracee;
    private final int tid;
    private final Privileges.Credentials wanted;

    /** @param tid the tracer's number of the thread */
    Credentials(Tracee tracee, int tid, Privileges.Credentials wanted) {
        this.tracee = tracee;
        this.tid = tid;
        this.wanted = wanted;
    }

    /**
     * Before anything is made. Whoever may not give the image's credentials must not run it with others, least of all
     * with more.
     *
     * @throws RestoreException this process is not root, or has fewer capabilities than the image wants
     */
    static void check(JobImage image, Owners owners) {
        String own = Proc.text("/proc/self/status");
        long effective = bits(own, "CapEff:");
        boolean mayChange = Syscall.call(Syscall.GETEUID) == 0 && Arrays
                .stream(new int[]{CAP_SETGID, CAP_SETUID, CAP_SETPCAP}).allMatch(bit -> (effective >> bit & 1) != 0);
        checkEnded(image, owners, mayChange);
        Set<Integer> inOwn = inNamespaces(image);
        for (Privileges privileges : image.privileges()) {
            if (privileges instanceof Privileges.Credentials credentials && !inOwn.contains(credentials.pid())) {
                Owner owner = owners.of(credentials.pid());
                if (!mayChange) {
                    throw owner.unsupported("it ran as user " + Integer.toUnsignedString(credentials.users()[1])
                            + " with the capabilities " + named(credentials.permitted())
                            + ", which only root (with CAP_SETUID, CAP_SETGID and CAP_SETPCAP) can restore; restart "
                            + "as root");
                }
                long missing = (credentials.permitted() | credentials.inheritable()) & ~bits(own, "CapPrm:")
                        | credentials.bounding() & ~bits(own, "CapBnd:");
                if (missing != 0) {
                    throw owner.unsupported("it had the capabilities " + named(missing)
                            + " (numbers of capabilities(7)), which root does not have here; restart where root has "
                            + "them");
                }
            }
        }
    }

    /** Processes in user namespaces of the job's own, in which everybody has all capabilities at first. */
    static Set<Integer> inNamespaces(JobImage image) {
        return image.objects().stream().filter(UserNamespaceMember.class::isInstance)
                .map(one -> ((UserNamespaceMember) one).pid()).collect(Collectors.toSet());
    }

    private static void checkEnded(JobImage image, Owners owners, boolean mayChange) {
        for (Attribute attribute : image.attributes()) {
            if (attribute.kind() == AttributeKind.ENDED_CHILD && !mayChange) {
                throw owners.of(attribute.pid()).unsupported("its child " + attribute.values()[0]
                        + ", which had ended, belonged to user " + attribute.values()[1]
                        + ", which only root can restore; restart as root");
            }
            if (attribute.kind() == AttributeKind.OBJECT_OWNER && !mayChange) {
                throw owners.of(attribute.pid()).unsupported("one of its sockets or pipes belongs to user "
                        + attribute.values()[1] + ", which only root can restore; restart as root");
            }
        }
    }

    private static String named(long capabilities) {
        return capabilities == 0 ? "none" : IntStream.range(0, Long.SIZE).filter(bit -> (capabilities >> bit & 1) != 0)
                .mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    void give() {
        String before = status();
        long all = bits(before, "CapPrm:");
        // changes of the user take nothing away by themselves
        call("PR_SET_SECUREBITS", Syscall.PRCTL, PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP);
        call("PR_CAP_AMBIENT_CLEAR_ALL", Syscall.PRCTL, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        setCapabilities(all, all, wanted.inheritable());
        each(bits(before, "CapBnd:") & ~wanted.bounding(),
                bit -> call("PR_CAPBSET_DROP " + bit, Syscall.PRCTL, PR_CAPBSET_DROP, bit));
        identify(before);
        each(wanted.ambient(), bit -> call("PR_CAP_AMBIENT_RAISE " + bit, Syscall.PRCTL, PR_CAP_AMBIENT,
                PR_CAP_AMBIENT_RAISE, bit, 0, 0));
        call("PR_SET_SECUREBITS", Syscall.PRCTL, PR_SET_SECUREBITS, wanted.secureBits());
        setCapabilities(wanted.effective(), wanted.permitted(), wanted.inheritable());
        verify();
    }

    /** Not what it is already: in a user namespace that may not be changed, or have no number. */
    private void identify(String before) {
        if (!Arrays.equals(numbers(before, "Groups:"), wanted.supplementary())) {
            call("setgroups", Syscall.SETGROUPS, wanted.supplementary().length,
                    tracee.structure().raw(little(wanted.supplementary())).put());
        }
        if (!Arrays.equals(numbers(before, "Gid:"), wanted.groups())) {
            call("setresgid", Syscall.SETRESGID, id(wanted.groups()[0]), id(wanted.groups()[1]),
                    id(wanted.groups()[2]));
            tracee.tryCallIn(tid, SETFSGID, id(wanted.groups()[3])); // these return what was before
        }
        if (!Arrays.equals(numbers(before, "Uid:"), wanted.users())) {
            call("setresuid", Syscall.SETRESUID, id(wanted.users()[0]), id(wanted.users()[1]), id(wanted.users()[2]));
            tracee.tryCallIn(tid, SETFSUID, id(wanted.users()[3]));
        }
    }

    /** capset(2): the lower words of all three, then the upper ones. */
    private void setCapabilities(long effective, long permitted, long inheritable) {
        long header = tracee.structure().i32(CAPABILITY_VERSION_3).i32(0).put();
        long data = tracee.structure().i32((int) effective).i32((int) permitted).i32((int) inheritable)
                .i32((int) (effective >>> 32)).i32((int) (permitted >>> 32)).i32((int) (inheritable >>> 32)).put();
        call("capset", CAPSET, header, data);
    }

    /** Verifies that no user namespace, security module or rule of the kernel has changed what was set. */
    private void verify() {
        String now = status();
        boolean same = Arrays.equals(numbers(now, "Uid:"), wanted.users())
                && Arrays.equals(numbers(now, "Gid:"), wanted.groups())
                && bits(now, "CapPrm:") == wanted.permitted() && bits(now, "CapEff:") == wanted.effective()
                && bits(now, "CapInh:") == wanted.inheritable()
                && bits(now, "CapBnd:") == wanted.bounding() && bits(now, "CapAmb:") == wanted.ambient();
        if (!same) {
            throw tracee.failed("thread " + wanted.tid() + " did not get its user, groups and capabilities; it has "
                    + Proc.field(now, "Uid:") + "; " + Proc.field(now, "CapPrm:"));
        }
    }

    private void call(String what, long number, long... arguments) {
        tracee.callIn(tid, what, number, arguments);
    }

    private static void each(long capabilities, IntConsumer action) {
        IntStream.range(0, Long.SIZE).filter(bit -> (capabilities >> bit & 1) != 0).forEach(action);
    }

    private String status() {
        return Proc.text("/proc/" + tid + "/status");
    }

    private static long bits(String status, String field) {
        return Long.parseUnsignedLong(Proc.field(status, field), 16);
    }

    private static int[] numbers(String status, String field) {
        return Arrays.stream(Proc.field(status, field).split("\\s+")).filter(word -> !word.isEmpty())
                .mapToInt(Integer::parseUnsignedInt).toArray();
    }

    private static long id(int id) {
        return Integer.toUnsignedLong(id);
    }

    private static byte[] little(int[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(values);
        return bytes.array();
    }
}
