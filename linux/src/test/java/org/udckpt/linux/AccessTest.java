package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.attack.OrdinaryUser;

/**
 * What an ordinary user could open again: of root's files, of those that root gave away, and of those that are the
 * user's own.
 */
class AccessTest {
    private static final int SETRESUID = 117, SETRESGID = 119, KEEP = -1;
    private static final OrdinaryUser USER = OrdinaryUser.OWNER;

    @TempDir
    Path temp;

    @BeforeEach
    void everybodyGetsThere() throws Exception {
        OrdinaryUser.requireRoot();
        mode(temp, "rwxr-xr-x");
    }

    private static Path mode(Path path, String mode) throws Exception {
        return Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    private interface Question {
        int ask();
    }

    /** The raw system calls change the rights of one thread, which ends then (nptl(7)). */
    private static int asUser(Question question) throws Exception {
        int[] answer = {-1};
        Throwable[] failure = {null};
        Thread thread = Thread.ofPlatform().uncaughtExceptionHandler((_, e) -> failure[0] = e).start(() -> {
            LinuxError.check(Syscall.call(SETRESGID, KEEP, USER.uid(), USER.uid()), "setresgid");
            LinuxError.check(Syscall.call(SETRESUID, USER.uid(), USER.uid(), USER.uid()), "setresuid");
            answer[0] = question.ask();
        });
        thread.join();
        assertEquals(null, failure[0]);
        return answer[0];
    }

    private static int refusal(Path path, int flags) throws Exception {
        return asUser(() -> Access.refusal(path.toString(), flags, org.udckpt.linux.Files.stat(path.toString())));
    }

    @Test
    void othersFilesByTheirMode() throws Exception {
        Path file = mode(Files.createFile(temp.resolve("file")), "rw-r--r--");
        assertEquals(0, refusal(file, Syscall.O_RDONLY));
        assertEquals(LinuxError.EACCES, refusal(file, Syscall.O_WRONLY | Syscall.O_APPEND));
        assertEquals(LinuxError.EACCES, refusal(file, Syscall.O_RDWR));
        mode(file, "-w--w--w-");
        assertEquals(0, refusal(file, Syscall.O_WRONLY));
        assertEquals(LinuxError.EACCES, refusal(file, Syscall.O_RDWR));
        mode(file, "---------");
        assertEquals(LinuxError.EACCES, refusal(file, Syscall.O_RDONLY));
        assertEquals(0, refusal(file, Syscall.O_PATH), "O_PATH asks for no permission of the file");
        assertEquals(0, Access.refusal(file.toString(), Syscall.O_RDWR, org.udckpt.linux.Files.stat(file.toString())),
                "root's");
    }

    /**
     * In the user namespace of a restart nothing keeps the owner out, unless the group is another one, which is not in
     * it.
     */
    @Test
    void ownFilesAlways() throws Exception {
        Path file = mode(USER.own(Files.createFile(temp.resolve("file"))), "---------");
        assertEquals(0, refusal(file, Syscall.O_RDWR));
        Files.setAttribute(file, "unix:gid", 0);
        assertEquals(LinuxError.EACCES, refusal(file, Syscall.O_RDWR));
    }

    @Test
    void accessTimesAreTheOwners() throws Exception {
        int flags = Syscall.O_RDONLY | 01000000; // O_NOATIME
        Path file = mode(Files.createFile(temp.resolve("file")), "rw-r--r--");
        assertEquals(LinuxError.EPERM, refusal(file, flags));
        assertEquals(0, refusal(USER.own(file), flags));
    }

    @Test
    void directories() throws Exception {
        Path directory = mode(Files.createDirectory(temp.resolve("directory")), "rwxr--r--");
        assertEquals(LinuxError.EACCES, asUser(
                () -> Access.entryRefusal(directory.toString(), org.udckpt.linux.Files.stat(directory.toString()))));
        assertEquals(0, refusal(directory, Syscall.O_RDONLY | Syscall.O_DIRECTORY), "to read it is another right");
        mode(directory, "rwx--x--x");
        assertEquals(0, asUser(
                () -> Access.entryRefusal(directory.toString(), org.udckpt.linux.Files.stat(directory.toString()))));
        assertEquals(LinuxError.EACCES, refusal(directory, Syscall.O_RDONLY | Syscall.O_DIRECTORY));
    }
}
