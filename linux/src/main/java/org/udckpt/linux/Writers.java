package org.udckpt.linux;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Users besides this one and root who can change a file, or put another one under its name: {@code user:ID},
 * {@code group:ID} or {@code everybody}, each with the file or directory that permits it.
 */
public record Writers(Map<String, String> places) {
    public static final Writers NOBODY = new Writers(Map.of());
    private static final String EVERYBODY = "everybody";
    private static final int GROUP_WRITES = 020, OTHERS_WRITE = 002;

    static String user(int uid) {
        return "user:" + Integer.toUnsignedString(uid);
    }

    private static String group(int gid) {
        return "group:" + Integer.toUnsignedString(gid);
    }

    /**
     * Users whom owner and mode of a file or directory let write to it; any member of its group, also by an access
     * control list (acl(5)).
     */
    static Writers of(String path, Files.Stat stat) {
        Writers owner = User.isTrusted(stat.uid()) ? NOBODY : NOBODY.with(user(stat.uid()), path);
        return owner.and(byMode(path, stat));
    }

    static Writers byMode(String path, Files.Stat stat) {
        if ((stat.mode() & OTHERS_WRITE) != 0) {
            return NOBODY.with(EVERYBODY, path);
        }
        return (stat.mode() & GROUP_WRITES) != 0 ? NOBODY.with(group(stat.gid()), path) : NOBODY;
    }

    static Writers everybody(String path) {
        return NOBODY.with(EVERYBODY, path);
    }

    Writers with(String party, String path) {
        Map<String, String> all = new LinkedHashMap<>(places);
        all.putIfAbsent(party, path);
        return new Writers(all);
    }

    Writers and(Writers others) {
        if (others.nobody() || nobody()) {
            return nobody() ? others : this;
        }
        Map<String, String> all = new LinkedHashMap<>(places);
        others.places.forEach(all::putIfAbsent);
        return new Writers(all);
    }

    public boolean nobody() {
        return places.isEmpty();
    }

    /** Their names in order, with spaces between; "" for nobody. */
    public String text() {
        return nobody() ? "" : String.join(" ", new TreeSet<>(places.keySet()));
    }

    /** Writers that are not in a {@link #text}; none if everybody is in it. */
    public Writers beside(String text) {
        if (nobody()) {
            return NOBODY;
        }
        Set<String> known = new HashSet<>(List.of(text.split(" ")));
        if (known.contains(EVERYBODY)) {
            return NOBODY;
        }
        Map<String, String> rest = new LinkedHashMap<>(places);
        rest.keySet().removeAll(known);
        return new Writers(rest);
    }

    /** For messages: who, and where. */
    @Override
    public String toString() {
        StringBuilder all = new StringBuilder();
        places.forEach((party, path) -> all.append(all.isEmpty() ? "" : ", ").append(party.replace(':', ' '))
                .append(" (").append(path).append(')'));
        return all.toString();
    }
}
