package org.udckpt.support.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Trust;
import org.udckpt.linux.User;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** A running job's directory for sockets and shared memory (docs/reference/control-protocol.md), mode 0700. */
public record RuntimeDirectory(Path path) {
    private static final int SOCKET_PATH_MAX = 107; // sun_path of unix(7), less its NUL

    /** The directory that holds the runtime directories of this user's new jobs ({@link RuntimePlaces}); it is made. */
    public static Path base(Settings settings) {
        return RuntimePlaces.of(settings).choose();
    }

    /** The same without making anything, as far as it can be told. */
    public static Path planned(Settings settings) {
        return RuntimePlaces.of(settings).planned();
    }

    public static int uid() {
        return User.id();
    }

    /** That {@link #create} would find nothing in its way: no job of this name runs. */
    public static void requireFree(Settings settings, String name) {
        checkName(name);
        for (Path base : RuntimePlaces.of(settings).known()) {
            try (Folder folder = Folder.reach(base.toString(), Trust.ANY); Folder job = folder.ownSub(name)) {
                if (job != null) {
                    refuseIfAlive(name, base.resolve(name));
                }
            } catch (IOException | LinuxError e) {
                throw Failure.of("reading the runtime directory " + base.resolve(name), e);
            }
        }
    }

    /** Makes a job's directory; a dead job's leftovers under the name are cleared away, a living one's are not. */
    public static RuntimeDirectory create(Settings settings, String name) {
        checkName(name);
        Path base = base(settings);
        Path path = base.resolve(name);
        if (path.resolve("shepherd.sock").toString().length() > SOCKET_PATH_MAX) {
            throw new Failure(ExitCode.USAGE, "the runtime directory " + path
                    + " is too long for a socket's path: give a shorter --name or set UDCKPT_RUNTIME");
        }
        requireFree(settings, name);
        try (Folder folder = Folder.reach(base.toString(), Trust.ANY)) {
            folder.removeTree(name);
            folder.makeSub(name).close();
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.EEXIST) {
                throw new Failure(ExitCode.BUSY, "a job named " + name + " is being started: give another --name", e);
            }
            throw Failure.of("making the runtime directory " + path, e);
        }
        return new RuntimeDirectory(path);
    }

    /** The directory of a job that exists; 66 when there is none, 77 when that is for another user to know. */
    public static RuntimeDirectory find(Settings settings, String name) {
        checkName(name);
        RuntimePlaces places = RuntimePlaces.of(settings);
        for (Path base : places.known()) {
            if (isJob(base.resolve(name))) {
                return new RuntimeDirectory(base.resolve(name));
            }
        }
        if (!places.given().isEmpty()) {
            refuseOthers(Path.of(places.given()), name);
        }
        throw new Failure(ExitCode.NOT_FOUND, "no job named " + name + " in " + places.text()
                + ": 'udckpt status' lists running jobs");
    }

    private static boolean isJob(Path directory) {
        return Files.isRegularFile(directory.resolve("job.json"), LinkOption.NOFOLLOW_LINKS);
    }

    /** What the user has named and what is another user's is not looked into: it would be shown as the user's own. */
    private static void refuseOthers(Path base, String name) {
        if (Files.exists(base, LinkOption.NOFOLLOW_LINKS) && !RuntimePlaces.isOwn(base)) {
            throw new Failure(ExitCode.PERMISSION, (name == null ? "" : "job " + name + ": ") + "the runtime directory "
                    + base + owner(base)
                    + ": run as that user, make it private (chmod 700), or set UDCKPT_RUNTIME to a directory of your "
                    + "own");
        }
    }

    /** As far as it can be told. */
    private static String owner(Path base) {
        try {
            return " belongs to user " + Files.getOwner(base, LinkOption.NOFOLLOW_LINKS).getName() + " (mode "
                    + PosixFilePermissions.toString(Files.getPosixFilePermissions(base, LinkOption.NOFOLLOW_LINKS))
                    + ")";
        } catch (IOException e) {
            return " cannot be read";
        }
    }

    /** All jobs of this user that left a job.json, dead ones included, by name. */
    public static List<RuntimeDirectory> all(Settings settings) {
        RuntimePlaces places = RuntimePlaces.of(settings);
        if (!places.given().isEmpty()) {
            refuseOthers(Path.of(places.given()), null);
        }
        List<RuntimeDirectory> found = new ArrayList<>();
        for (Path base : places.known()) {
            try (Folder folder = Folder.reach(base.toString(), Trust.ANY)) {
                folder.names().stream().map(base::resolve).filter(RuntimeDirectory::isJob)
                        .forEach(path -> found.add(new RuntimeDirectory(path)));
            } catch (LinuxError e) {
                throw Failure.of("listing " + base, e);
            }
        }
        found.sort(Comparator.comparing(RuntimeDirectory::name));
        return found;
    }

    /** @throws Failure for what can be no job's name */
    public static void checkName(String name) {
        if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,60}")) {
            throw new Failure(ExitCode.USAGE, "'" + name + "' is not a job name: use at most 61 letters, digits, "
                    + "dots, dashes and underscores");
        }
    }

    private static void refuseIfAlive(String name, Path path) throws IOException {
        if (!Files.exists(path.resolve("job.json"))) {
            return; // its maker died before it began
        }
        JobRecord file = JobRecord.read(path);
        if (file.agentAlive()) {
            throw new Failure(ExitCode.BUSY, "a job named " + name + " is running (agent " + file.agentPid()
                    + "): end it, or give another --name");
        }
        if (file.shepherdAlive()) {
            throw new Failure(ExitCode.BUSY,
                    "job " + name + " lost its agent, but its ranks still run under shepherd " + file.shepherdPid()
                            + ": wait for them, end them with 'kill " + file.shepherdPid()
                            + "', or give another --name");
        }
    }

    /** Removes the directory; symbolic links inside are removed, not followed. */
    public void delete() {
        try (Folder base = Folder.reach(path.getParent().toString(), Trust.ANY)) {
            base.removeTree(name());
        } catch (LinuxError e) {
            throw Failure.of("removing " + path, e);
        }
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
