package org.udckpt.support.runtime;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.udckpt.linux.FileSystem;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Trust;
import org.udckpt.linux.UntrustedPath;
import org.udckpt.linux.User;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * Where the runtime directories of a user's jobs are: in the directory that the setting {@code runtime} names; else in
 * $XDG_RUNTIME_DIR/udckpt, where that is the user's own and on a tmpfs; else in /dev/shm/udckpt-UID, or, where somebody
 * else holds that name, in /dev/shm/udckpt-UID.RANDOM. Commands look in all of them, since a login session, a batch
 * system and cron have different environments. Whose a directory is is asked of its descriptor.
 *
 * @param given the setting; empty: none
 * @param session $XDG_RUNTIME_DIR; empty: none
 * @param logins where the directories of login sessions are: /run/user
 * @param memory the tmpfs that everybody may write to: /dev/shm
 */
record RuntimePlaces(String given, String session, String logins, String memory) {
    private static final String NAME = "udckpt";
    private static final int OWNER_ALL = 0700, OTHERS = 077, WRITTEN_BY_OTHERS = 022;
    private static final int SUFFIXES = 100;
    /**
     * A login session's tmpfs is a tenth of the memory, and others of the session's programs want some; /dev/shm is
     * half of it.
     */
    private static final long LEAST_ROOM = 64 << 20;
    /**
     * By the process's environment, chosen once: jobs of one process are in one place, and what is odd is said once.
     */
    private static final Map<RuntimePlaces, Path> CHOSEN = new ConcurrentHashMap<>();

    static RuntimePlaces of(Settings settings) {
        String given = settings.text(Option.RUNTIME);
        String session = System.getenv().getOrDefault("XDG_RUNTIME_DIR", "");
        return new RuntimePlaces(given.isEmpty() ? "" : Path.of(given).toAbsolutePath().normalize().toString(), session,
                "/run/user", "/dev/shm");
    }

    /** The directory for new jobs; it is made where it is not there. */
    Path choose() {
        return CHOSEN.compute(this, (_, before) -> before != null && isOwn(before) ? before : chooseNow());
    }

    private Path chooseNow() {
        if (!given.isEmpty()) {
            return chooseGiven();
        }
        try (Folder own = openSession()) {
            if (own != null && FileSystem.of(own).type() == FileSystem.TMPFS
                    && FileSystem.of(own).room() >= LEAST_ROOM) {
                try (Folder made = own.claimSub(NAME)) {
                    if (made != null) {
                        return Path.of(made.path());
                    }
                }
            }
        } catch (LinuxError e) {
            // full, or read-only: /dev/shm is another file system
            Messages.debugTrace("nothing can be made in " + session, e);
        }
        return chooseInMemory();
    }

    /**
     * Null: there is none, or it is not this user's. sudo(8) and su(1) leave the variable of who calls them, batch
     * systems that of another host.
     */
    private Folder openSession() {
        if (!session.startsWith("/")) {
            return null;
        }
        try {
            Folder folder = Folder.reach(session, Trust.OWN);
            Files.Stat stat = folder.stat();
            if (stat.uid() == User.id() && (stat.mode() & OTHERS) == 0) {
                return folder;
            }
            folder.close();
            Messages.debugStep("XDG_RUNTIME_DIR, " + session + ", is not used: it belongs to user " + stat.uid()
                    + ", with mode " + Integer.toOctalString(stat.mode() & 07777));
        } catch (LinuxError | UntrustedPath e) {
            Messages.debugTrace("XDG_RUNTIME_DIR is not used", e);
        }
        return null;
    }

    private Path chooseGiven() {
        Path path = Path.of(given);
        if (path.getParent() == null) {
            throw new Failure(ExitCode.USAGE, "runtime: / cannot be the directory of your jobs' sockets: give "
                    + "another one");
        }
        try {
            java.nio.file.Files.createDirectories(path.getParent());
            try (Folder parent = Folder.reach(path.getParent().toString(), Trust.OWN)) {
                String name = path.getFileName().toString();
                Files.Stat stat = parent.stat(name);
                if (stat == null) {
                    parent.claimSub(name).close();
                } else {
                    checkGiven(stat);
                }
                return path;
            }
        } catch (java.io.IOException | LinuxError e) {
            throw Failure.of("making the runtime directory " + path, e);
        }
    }

    /** A given directory may be readable for others, but not writable. */
    private void checkGiven(Files.Stat stat) {
        if (stat.type() != Files.Stat.DIRECTORY || stat.uid() != User.id()) {
            throw new Failure(ExitCode.PERMISSION, given + (stat.type() == Files.Stat.DIRECTORY ? ""
                    : ", which is not a directory,") + " belongs to user " + stat.uid() + ", not to " + User.id()
                    + ": set UDCKPT_RUNTIME to a directory of your own");
        }
        if ((stat.mode() & WRITTEN_BY_OTHERS) != 0 || (stat.mode() & OWNER_ALL) != OWNER_ALL) {
            throw new Failure(ExitCode.PERMISSION, "the runtime directory " + given + " has mode "
                    + Integer.toOctalString(stat.mode() & 07777) + ": make it private (chmod 700), or set "
                    + "UDCKPT_RUNTIME to another one");
        }
    }

    private Path chooseInMemory() {
        try (Folder shared = Folder.reach(memory, Trust.OWN)) {
            Path known = ownIn(shared).stream().findFirst().orElse(null);
            if (known == null) {
                try (Folder plain = shared.claimSub(plainName())) {
                    known = plain == null ? makeSubstitute(shared) : Path.of(plain.path());
                }
            }
            if (!known.endsWith(plainName())) {
                Files.Stat holder = shared.stat(plainName());
                Messages.warn(shared.below(plainName()) + (holder == null ? " is gone" : " belongs to user "
                        + holder.uid() + (holder.type() == Files.Stat.DIRECTORY ? "" : " and is not a directory"))
                        + ": the sockets and shared memory of your jobs are in " + known);
            }
            try (Folder again = shared.claimSub(known.getFileName().toString())) { // whose mode a umask may have spoilt
                return again == null ? chooseInMemory() : known;
            }
        } catch (LinuxError e) {
            throw Failure.of("making a directory for your jobs' sockets in " + memory
                    + " (set UDCKPT_RUNTIME to a directory on another file system)", e);
        } catch (UntrustedPath e) {
            throw new Failure(ExitCode.PERMISSION, e.getMessage() + ": set UDCKPT_RUNTIME", e);
        }
    }

    private static String plainName() {
        return NAME + "-" + Integer.toUnsignedString(User.id());
    }

    /** No name can be guessed, so that a stranger cannot hold all of them. */
    private static Path makeSubstitute(Folder shared) {
        SecureRandom random = new SecureRandom();
        for (int i = 0; i < SUFFIXES; i++) {
            try (Folder made = shared.claimSub(plainName() + "." + "%08x".formatted(random.nextInt()))) {
                if (made != null) {
                    return Path.of(made.path());
                }
            }
        }
        throw new Failure(ExitCode.PERMISSION, "all tried names in " + shared.path()
                + " belong to other users: set UDCKPT_RUNTIME to a directory of your own");
    }

    /** This user's directories in the shared one, that with the plain name first. */
    private static List<Path> ownIn(Folder shared) {
        List<Path> own = new ArrayList<>();
        for (String name : shared.names()) {
            if (name.equals(plainName()) || name.startsWith(plainName() + ".")) {
                Files.Stat stat = shared.stat(name);
                if (stat != null && stat.uid() == User.id() && stat.type() == Files.Stat.DIRECTORY) {
                    own.add(Path.of(shared.below(name)));
                }
            }
        }
        return own;
    }

    /**
     * Where this user's jobs may be: directories that are there and are the user's, that for new ones first. Nothing is
     * made, and nothing of others is entered.
     */
    List<Path> known() {
        if (!given.isEmpty()) {
            return isOwn(Path.of(given)) ? List.of(Path.of(given)) : List.of();
        }
        Set<Path> places = new LinkedHashSet<>();
        for (String login : List.of(session, String.join("/", logins, Integer.toUnsignedString(User.id())))) {
            Path place = Path.of(login, NAME);
            if (login.startsWith("/") && isOwn(place)) {
                places.add(place);
            }
        }
        try (Folder shared = Folder.reach(memory, Trust.OWN)) {
            places.addAll(ownIn(shared));
        } catch (LinuxError | UntrustedPath e) {
            Messages.debugTrace(memory + " is not looked at", e);
        }
        return List.copyOf(places);
    }

    /** Whether it is a directory of this user's, in one that can be trusted, to which nobody else can write. */
    static boolean isOwn(Path place) {
        try (Folder parent = Folder.reach(place.getParent().toString(), Trust.OWN);
                Folder own = parent.ownSub(place.getFileName().toString())) {
            return own != null;
        } catch (LinuxError | UntrustedPath e) {
            Messages.debugTrace(place + " is not looked at", e);
            return false;
        }
    }

    /** As {@link #choose}, as far as it can be told without making anything. */
    Path planned() {
        List<Path> known = known();
        if (!known.isEmpty()) {
            return known.getFirst();
        }
        if (!given.isEmpty()) {
            return Path.of(given);
        }
        try (Folder own = openSession()) {
            return own == null ? Path.of(memory, plainName()) : Path.of(session, NAME);
        }
    }

    /** For messages. */
    String text() {
        List<Path> known = known();
        return known.isEmpty() ? planned().toString() : String.join(", ", known.stream().map(Path::toString).toList());
    }
}
