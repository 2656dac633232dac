package org.udckpt.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.udckpt.launch.HostLayout;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * On which hosts the units of a job are to run. A unit's ranks stay together, since they may share memory, process ids
 * and a LID: so several units can come to one host, but no unit to two.
 */
public final class Placement {
    private static final String HOST = "[A-Za-z0-9][A-Za-z0-9._:%-]*?";

    /** A host that may take units. @param ranks at most so many; {@link Integer#MAX_VALUE}: any number */
    private record Place(String host, int ranks) {}

    private Placement() {}

    /**
     * The units of a job that begins: the ranks of each host, or as many as {@code most} of them, evenly. Those of
     * different units of one host have no memory in common, and other addresses, as if they were on two hosts.
     */
    public static List<Unit> begin(HostLayout hosts, int most) {
        List<Unit> units = new ArrayList<>();
        int first = 0;
        for (HostLayout.Host host : hosts.hosts()) {
            int parts = (host.ranks() - 1) / most + 1;
            for (int part = 0; part < parts; part++) {
                int ranks = (host.ranks() - part + parts - 1) / parts;
                units.add(new Unit(parts == 1 ? host.name() : host.name() + "." + part, host.name(), first, ranks));
                first += ranks;
            }
        }
        Set<String> names = new HashSet<>();
        units.stream().filter(unit -> !names.add(unit.name())).findFirst().ifPresent(twice -> {
            throw new Failure(ExitCode.USAGE, "--ranks-per-unit " + most + ": host " + twice.name()
                    + " has the same name as a unit of another host: rename the host");
        });
        return units;
    }

    /**
     * What {@code --hosts} says: {@code a:8,b} are up to eight ranks on a and any number on b. Hosts are filled in
     * their order; those without a number take as many units each, as far as that goes, and more where those behind
     * them have no room for the rest.
     *
     * @param ties why a unit's ranks stay together, in words
     * @throws Failure 64 naming the unit that has no room, and what its ranks share
     */
    public static List<Unit> over(String hosts, List<Unit> units, Function<Unit, String> ties) {
        List<Place> places = new ArrayList<>();
        for (String word : hosts.split(",", -1)) {
            places.add(place(word, hosts));
        }
        if (places.stream().map(Place::host).distinct().count() != places.size()) {
            throw new Failure(ExitCode.USAGE, "--hosts " + hosts + ": a host appears twice");
        }
        List<Unit> placed = new ArrayList<>();
        int next = 0;
        for (int i = 0; i < places.size() && next < units.size(); i++) {
            int share = (units.size() - next + places.size() - i - 1) / (places.size() - i);
            List<Place> others = places.subList(i + 1, places.size());
            int room = places.get(i).ranks();
            boolean counted = room != Integer.MAX_VALUE;
            for (int taken = 0; next < units.size() && (counted || taken < share || !fits(units, next, others))
                    && units.get(next).count() <= room; taken++) {
                Unit unit = units.get(next++);
                room -= counted ? unit.count() : 0;
                placed.add(unit.on(places.get(i).host()));
            }
        }
        if (next < units.size()) {
            Unit left = units.get(next);
            throw new Failure(ExitCode.USAGE, "--hosts " + hosts + " has no room for " + left.ranks()
                    + (left.count() == 1 ? ": add a host with room for 1 more rank"
                            : ", which stay together (--keep-together): " + apart(left, ties)
                                    + ". Add a host with room for "
                                    + left.count() + " more ranks"));
        }
        return placed;
    }

    /**
     * Each unit on a host that has room for its ranks: on the first where that goes in the units' order, else the
     * largest first. Empty: no way was found.
     */
    public static Optional<List<Unit>> fitting(HostLayout room, List<Unit> units) {
        List<Unit> inOrder = new ArrayList<>(units);
        List<Unit> bySize = inOrder.stream().sorted(Comparator.comparingInt(Unit::count).reversed()).toList();
        return fitting(room, units, inOrder).or(() -> fitting(room, units, bySize));
    }

    private static Optional<List<Unit>> fitting(HostLayout room, List<Unit> units, List<Unit> order) {
        int[] left = room.hosts().stream().mapToInt(HostLayout.Host::ranks).toArray();
        Map<Unit, Unit> placed = new HashMap<>();
        for (Unit unit : order) {
            int host = IntStream.range(0, left.length).filter(i -> left[i] >= unit.count()).findFirst().orElse(-1);
            if (host < 0) {
                return Optional.empty();
            }
            left[host] -= unit.count();
            placed.put(unit, unit.on(room.hosts().get(host).name()));
        }
        return Optional.of(units.stream().map(placed::get).toList());
    }

    /** Whether these places have room for all units from this one on. */
    private static boolean fits(List<Unit> units, int from, List<Place> places) {
        int next = from;
        for (Place place : places) {
            if (place.ranks() == Integer.MAX_VALUE) {
                return true;
            }
            for (int room = place.ranks(); next < units.size() && units.get(next).count() <= room; next++) {
                room -= units.get(next).count();
            }
        }
        return next == units.size();
    }

    /**
     * What {@code --keep-together=no} asks for: ranks of one unit on several hosts.
     *
     * @throws Failure 69 naming what those of the first unit share that has several
     */
    public static void refuseParting(List<Unit> units, Function<Unit, String> ties) {
        units.stream().filter(unit -> unit.count() > 1).findFirst().ifPresent(unit -> {
            throw new Failure(ExitCode.UNSUPPORTED, "--keep-together=no: " + unit.ranks() + " cannot be separated: "
                    + apart(unit, ties)
                    + ". Leave --keep-together=no out: they go to one host. (Start the job with --ranks-per-unit to "
                    + "get smaller units.)");
        });
    }

    private static String apart(Unit unit, Function<Unit, String> ties) {
        return "they were on one host (" + unit.name() + "), where " + ties.apply(unit);
    }

    private static Place place(String word, String hosts) {
        java.util.regex.Matcher form =
                java.util.regex.Pattern.compile("(" + HOST + ")(?::([1-9]\\d{0,5}))?").matcher(word);
        if (!form.matches()) {
            throw new Failure(ExitCode.USAGE, "--hosts " + hosts + ": '" + word + "' is not HOST or HOST:RANKS");
        }
        return new Place(form.group(1), form.group(2) == null ? Integer.MAX_VALUE : Integer.parseInt(form.group(2)));
    }

    /**
     * What {@code --move-host} says: {@code old=new,...}, where old is a host on which units are, or the name of a unit
     * that has left the host of that name. The others stay.
     *
     * @throws Failure 64 naming what nobody is called
     */
    public static List<Unit> mapped(String map, List<Unit> units) {
        Map<String, String> moves = new LinkedHashMap<>();
        for (String word : map.split(",", -1)) {
            String[] parts = word.split("=", -1);
            if (parts.length != 2 || parts[0].isEmpty() || !parts[1].matches(HOST)) {
                throw new Failure(ExitCode.USAGE, "--move-host " + map + ": '" + word + "' is not OLD=NEW");
            }
            if (moves.put(parts[0], parts[1]) != null) {
                throw new Failure(ExitCode.USAGE, "--move-host " + map + ": '" + parts[0] + "' appears twice");
            }
        }
        Set<String> hosts = units.stream().map(Unit::host).collect(Collectors.toSet());
        Set<String> known = new HashSet<>();
        units.forEach(unit -> known.addAll(List.of(unit.name(), unit.host())));
        moves.keySet().stream().filter(old -> !known.contains(old)).findFirst().ifPresent(old -> {
            throw new Failure(ExitCode.USAGE, "--move-host " + map + ": the job has no ranks on '" + old
                    + "'; it is on " + hosts(units));
        });
        return units.stream()
                .map(unit -> unit.on(moves.getOrDefault(hosts.contains(unit.name()) ? unit.host() : unit.name(),
                        moves.getOrDefault(unit.host(), unit.host()))))
                .toList();
    }

    /**
     * Where units go whose hosts were lost: to a spare for each host, as long as there are some, and then to the hosts
     * that are left, in turn, spares that were taken among them.
     *
     * @param spares hosts that have no units; the used ones are removed
     * @throws Failure 69 when no host is left
     */
    public static List<Unit> without(Set<String> lost, List<Unit> units, List<String> spares) {
        Map<String, String> instead = new LinkedHashMap<>();
        List<String> left = new ArrayList<>(
                new LinkedHashSet<>(units.stream().map(Unit::host).filter(host -> !lost.contains(host)).toList()));
        spares.removeAll(lost);
        int turn = 0;
        for (Unit unit : units) {
            if (lost.contains(unit.host()) && !instead.containsKey(unit.host())) {
                if (spares.isEmpty() && left.isEmpty()) {
                    throw new Failure(ExitCode.UNSUPPORTED, "no host is left: all hosts, " + hosts(units)
                            + ", were lost, and there are no --spares");
                }
                boolean spare = !spares.isEmpty();
                String taken = spare ? spares.removeFirst() : left.get(turn++ % left.size());
                instead.put(unit.host(), taken);
                if (spare) {
                    left.add(taken);
                }
            }
        }
        return units.stream().map(unit -> unit.on(instead.getOrDefault(unit.host(), unit.host()))).toList();
    }

    private static String hosts(List<Unit> units) {
        return String.join(", ", new LinkedHashSet<>(units.stream().map(Unit::host).toList()));
    }
}
