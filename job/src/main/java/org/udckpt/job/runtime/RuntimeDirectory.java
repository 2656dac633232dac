package org.udckpt.job.runtime;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/** A running job's directory for sockets and shared memory (docs/interfaces.md), mode 0700. */
public record RuntimeDirectory(Path path) {
    private static final int SOCKET_PATH_MAX = 107; // sun_path of unix(7), less its NUL

    /** The directory that holds all jobs' directories of this user. */
    public static Path base(Settings settings) {
        String given = settings.text(Option.RUNTIME);
        return given.isEmpty() ? Path.of("/dev/shm/udckpt-" + uid()) : Path.of(given).toAbsolutePath();
    }

    /** Makes it where it is not there. @throws Failure if it is somebody else's */
    public static void makeBase(Settings settings) {
        Path base = base(settings);
        try {
            makePrivate(base);
        } catch (IOException e) {
            throw Failure.of("making the runtime directory " + base, e);
        }
    }

    public static int uid() {
        try {
            return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            throw Failure.of("asking for the user id in /proc/self", e);
        }
    }

    /** That {@link #create} would find nothing in its way: no job of this name runs. */
    public static void requireFree(Settings settings, String name) {
        checkName(name);
        Path path = base(settings).resolve(name);
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            try {
                refuseIfAlive(name, path);
            } catch (IOException e) {
                throw Failure.of("looking at the runtime directory " + path, e);
            }
        }
    }

    /** Makes a job's directory; a dead job's leftovers under the name are cleared away, a living one's are not. */
    public static RuntimeDirectory create(Settings settings, String name) {
        checkName(name);
        Path base = base(settings);
        Path path = base.resolve(name);
        if (path.resolve("shepherd.sock").toString().length() > SOCKET_PATH_MAX) {
            throw new Failure(ExitCode.USAGE, "the runtime directory " + path + " is too long for a socket's path: give a shorter --name or set UDCKPT_RUNTIME");
        }
        try {
            makePrivate(base);
            if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                refuseIfAlive(name, path);
                deleteTree(path);
            }
            Files.createDirectory(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            throw new Failure(ExitCode.BUSY, "a job named " + name + " is being started at this moment: give another --name", e);
        } catch (IOException e) {
            throw Failure.of("making the runtime directory " + path, e);
        }
        return new RuntimeDirectory(path);
    }

    /** The directory of a job that exists; 66 when there is none, 77 when that is for another user to know. */
    public static RuntimeDirectory find(Settings settings, String name) {
        checkName(name);
        Path path = base(settings).resolve(name);
        try {
            Files.readAttributes(path.resolve("job.json"), BasicFileAttributes.class);
            return new RuntimeDirectory(path);
        } catch (NoSuchFileException e) {
            throw new Failure(ExitCode.NOT_FOUND, "no job named " + name + " in " + base(settings) + ": 'udckpt status' lists those that run", e);
        } catch (AccessDeniedException e) {
            throw new Failure(ExitCode.PERMISSION, "job " + name + ": permission denied: " + base(settings) + owner(base(settings)) + ": be that user, or set UDCKPT_RUNTIME to a directory of your own", e);
        } catch (IOException e) {
            throw Failure.of("looking for job " + name, e);
        }
    }

    /** As far as it can be told. */
    private static String owner(Path base) {
        try {
            return " belongs to user " + Files.getOwner(base, LinkOption.NOFOLLOW_LINKS).getName();
        } catch (IOException e) {
            return " cannot be looked at";
        }
    }

    /** All jobs of this user that left a job.json, dead ones included, by name. */
    public static List<RuntimeDirectory> all(Settings settings) {
        Path base = base(settings);
        List<RuntimeDirectory> found = new ArrayList<>();
        if (!Files.isDirectory(base)) {
            return found;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(base, path -> Files.exists(path.resolve("job.json")))) {
            entries.forEach(path -> found.add(new RuntimeDirectory(path)));
        } catch (IOException e) {
            throw Failure.of("listing " + base, e);
        }
        found.sort(java.util.Comparator.comparing(directory -> directory.path().getFileName().toString()));
        return found;
    }

    /** @throws Failure for what can be no job's name */
    public static void checkName(String name) {
        if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,60}")) {
            throw new Failure(ExitCode.USAGE, "'" + name + "' is not a job name: use letters, digits, dot, dash and underscore, at most 61");
        }
    }

    private static void refuseIfAlive(String name, Path path) throws IOException {
        if (!Files.exists(path.resolve("job.json"))) {
            return; // its maker died before it began
        }
        JobFile file = JobFile.read(path);
        if (file.agentAlive()) {
            throw new Failure(ExitCode.BUSY, "a job named " + name + " is running (agent " + file.agentPid() + "): give another --name");
        }
        if (file.shepherdAlive()) {
            throw new Failure(ExitCode.BUSY, "job " + name + " lost its agent, but its ranks still run under shepherd " + file.shepherdPid()
                    + ": wait for them, end them with 'kill " + file.shepherdPid() + "', or give another --name");
        }
    }

    private static void makePrivate(Path base) throws IOException {
        if (!Files.exists(base)) {
            Files.createDirectories(base.getParent());
            try {
                Files.createDirectory(base, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } catch (FileAlreadyExistsException e) {
                return; // another job made it first; checked below by its next user
            }
        }
        int owner = (int) Files.getAttribute(base, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        if (owner != uid() || !Files.isDirectory(base, LinkOption.NOFOLLOW_LINKS)) {
            throw new Failure(ExitCode.PERMISSION, base + " belongs to user " + owner + ", not to " + uid() + ": set UDCKPT_RUNTIME to a directory of your own");
        }
    }

    /** Removes the directory; symbolic links inside are removed, not followed. */
    public void delete() {
        try {
            deleteTree(path);
        } catch (IOException e) {
            throw Failure.of("removing " + path, e);
        }
    }

    private static void deleteTree(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException e) throws IOException {
                if (e != null) {
                    throw e;
                }
                Files.delete(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    public String name() {
        return path.getFileName().toString();
    }

    public Path agentSocket() {
        return path.resolve("agent.sock");
    }

    public Path pmiSocket() {
        return path.resolve("pmi.sock");
    }

    public Path shepherdSocket() {
        return path.resolve("shepherd.sock");
    }

    public Path commandSocket() {
        return path.resolve("command.sock");
    }

    public Path table() {
        return path.resolve("table");
    }

    public Path counters() {
        return path.resolve("counters");
    }
}
