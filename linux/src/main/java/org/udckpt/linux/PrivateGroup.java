package org.udckpt.linux;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Whether a group is a user's private one, which has no other member: its number and name are the user's own, as
 * pam_umask(8) asks before it gives such users the umask 002, under which all that they make can be written by this
 * group.
 */
final class PrivateGroup {
    private static final String GETENT = "/usr/bin/getent";
    private static final int SECONDS = 10;

    private PrivateGroup() {}

    /** As the system's databases (nsswitch.conf(5)) say; false where they cannot be asked. */
    static boolean is(int group, int user) {
        return group == user && is(group, user, ask("passwd", user), ask("group", group), listed());
    }

    /**
     * @param passwd the user's line of passwd(5), or nothing; {@code group} is the group's of group(5)
     * @param everybody all lines of passwd(5) that can be listed; nothing: they cannot
     */
    static boolean is(int group, int user, String passwd, String groupLine, String everybody) {
        String[] own = passwd.strip().split(":", -1);
        String[] members = groupLine.strip().split(":", -1);
        if (group != user || own.length < 4 || members.length != 4 || !own[2].equals("" + user)
                || !own[3].equals("" + group) || !members[2].equals("" + group)) {
            return false;
        }
        String name = own[0];
        return !everybody.isEmpty() && members[0].equals(name)
                && Arrays.stream(members[3].split(",")).allMatch(member -> member.isEmpty() || member.equals(name))
                && everybody.lines().map(line -> line.split(":", -1))
                        .noneMatch(line -> line.length > 3 && line[3].equals("" + group) && !line[0].equals(name));
    }

    /**
     * Accounts of this machine; a directory service lists its own to nobody. Where they cannot be read, somebody may be
     * in any group.
     */
    private static String listed() {
        try {
            return java.nio.file.Files.readString(Path.of("/etc/passwd"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }

    private static String ask(String database, int key) {
        Process process = null;
        try {
            process = new ProcessBuilder(GETENT, database, "" + key).redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            // one line, for which a pipe has room: a service may never answer
            boolean answered = process.waitFor(SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
            return answered ? new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8) : "";
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        } finally {
            if (process != null) {
                process.destroyForcibly();
            }
        }
    }
}
