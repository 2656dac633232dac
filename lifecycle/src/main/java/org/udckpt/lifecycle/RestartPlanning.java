package org.udckpt.lifecycle;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.udckpt.address.AddressMap;
import org.udckpt.address.HostAddress;
import org.udckpt.address.RankSpan;
import org.udckpt.cluster.LeadNodes;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.NodesRequest;
import org.udckpt.cluster.Unit;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.inspect.plan.Move;
import org.udckpt.inspect.plan.RestartPlan;
import org.udckpt.launch.DeviceChoice;
import org.udckpt.launch.HostAddresses;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.SoftPorts;
import org.udckpt.lifecycle.checkpoint.JobFiles;
import org.udckpt.lifecycle.job.JobStorage;
import org.udckpt.lifecycle.lead.Placer;
import org.udckpt.lifecycle.restart.CudaRestart;
import org.udckpt.lifecycle.restart.Relocations;
import org.udckpt.lifecycle.restart.Restart;
import org.udckpt.lifecycle.restart.RestartLock;
import org.udckpt.lifecycle.unit.NetworkCheck;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.capture.CaptureRequest;
import org.udckpt.process.files.FilesChanged;
import org.udckpt.process.files.Forecast;
import org.udckpt.process.files.RollbackRequest;
import org.udckpt.process.names.NameRefused;
import org.udckpt.process.restore.Relocation;
import org.udckpt.process.restore.RestoreException;
import org.udckpt.process.restore.Restorer;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.JobState;
import org.udckpt.store.Keys;
import org.udckpt.store.OpenNode;
import org.udckpt.store.StateTables;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * What a restart would do, and what it would be refused for: all that it looks at before it starts anything, and
 * nothing else. Contents of memory are not read ({@code udckpt verify} does), but for files' that differ.
 */
public final class RestartPlanning {
    private RestartPlanning() {}

    /**
     * The plan of a restart by this process alone.
     *
     * @param name   null: as before
     * @param wanted null: as before
     * @param moved  where its files are here
     * @throws Failure as the restart would
     */
    public static RestartPlan alone(Settings settings, ImageLocation location, String name, HostLayout wanted,
            Relocation moved) {
        try (CheckpointReader reader = location.open(Keys.user(settings));
                RestartLock _ = RestartLock.look(location.parent(), Tiers.of(settings))) {
            OpenNode node = OpenNode.read(Restart.onlyNode(reader), StateTables.readJob(reader));
            Restart.checkMachine(reader);
            CudaRestart.plan(reader.nodes().getFirst(), moved.of(node.image()), settings);
            JobState state = StateTables.readJob(reader);
            HostLayout layout = Restart.layout(state, wanted);
            String job = Restart.facts(name, location.parent(), reader, state, layout, node.state()).name();
            RuntimeDirectory.requireFree(settings, job);
            Restorer.checkRights(node.image(), node.processes()::name);
            Restorer.checkEnvironment(moved.of(node.image()), node.memories().values(), node.processes()::name,
                    Messages::warn);
            Restorer.checkPrograms(moved.of(node.image()), node.memories().values(), Messages::warn);
            List<Move> moves = moves(settings, state.layout(), layout, node.state().addresses());
            return new RestartPlan(location.entry().directory().toString(), job, state.row().generation() + 1, 1,
                    reader.manifest().bytes(), moves,
                    changes(settings, location, job, -1, node, moved, Set.of()), List.of());
        } catch (IOException | RuntimeException e) {
            throw Failure.of("restart from " + location.entry().directory(), e);
        }
    }

    /** The hosts' addresses are taken, looked at, and let go. */
    private static List<Move> moves(Settings settings, HostLayout before, HostLayout after, AddressMap addresses) {
        RankSpan all = RankSpan.all(after.ranks());
        Map<String, String> environment = System.getenv();
        try (HostAddresses hosts = HostAddresses.reserve(after, all, DeviceChoice.resolve(settings),
                addresses.nextIncarnation(), List.of(), SoftPorts.of(environment), NetworkCheck.net(environment))) {
            List<Move> moves = new ArrayList<>();
            for (int first = 0, end; first < after.ranks(); first = end) {
                int from = before.hostOf(first);
                int to = after.hostOf(first);
                end = first;
                while (end < after.ranks() && before.hostOf(end) == from && after.hostOf(end) == to) {
                    end++;
                }
                int rank = first;
                List<Integer> now = hosts.soft() ? lids(hosts.of(rank)) : List.of();
                moves.add(move(-1, all, first, end - first, before.hosts().get(from).name(),
                        after.hosts().get(to).name(), addresses,
                        host -> host.name().equals(before.hostName(rank)), now, hosts.device(rank)));
            }
            return moves;
        }
    }

    /**
     * The plan of a restart by agents on several hosts.
     *
     * @param moved where its files are, as each host has them; files are looked for as this one has them
     * @throws Failure as the restart would, of what can be known here
     */
    public static RestartPlan several(Settings settings, NodesRequest nodes, ImageLocation location, String name,
            Placer place, Relocation moved) {
        try (CheckpointReader reader = location.open(Keys.user(settings));
                RestartLock _ = RestartLock.look(location.parent(), Tiers.of(settings))) {
            MultiHostImage image = MultiHostImage.read(location, reader);
            Restart.checkMachine(reader);
            NodeJob job = image.next(nodes.fanOut(), name, place, moved);
            InetAddress lead = LeadNodes.check(settings, nodes.starter(), job);
            RuntimeDirectory.requireFree(settings, job.name());
            Relocation here = Relocations.asSeenFromHere(moved);
            List<Move> moves = new ArrayList<>();
            List<RestartPlan.Change> changes = new ArrayList<>();
            List<RestartPlan.Unseen> unseen = new ArrayList<>();
            for (Unit unit : job.units()) {
                int number = job.units().indexOf(unit);
                OpenNode node = OpenNode.read(reader.nodes().get(number), image.state());
                moves.add(move(settings, job, number, image.units().get(number), node.state().addresses(), lead));
                try {
                    Restorer.checkPrograms(here.of(node.image()), node.memories().values(), Messages::warn);
                    Restorer.checkEnvironment(here.of(node.image()), node.memories().values(), node.processes()::name,
                            Messages::warn);
                    changes.addAll(changes(settings, location, job.name(), number, node, here,
                            job.image().elsewhere(number, here)));
                } catch (FilesChanged | NameRefused | LinuxError | RestoreException otherwise) {
                    // here: on the unit's own host it may be as it should
                    unseen.add(new RestartPlan.Unseen(number, unit.host(), otherwise.getMessage()));
                }
                try {
                    CudaRestart.plan(reader.nodes().get(number), here.of(node.image()), settings);
                } catch (Failure otherGpus) {
                    unseen.add(new RestartPlan.Unseen(number, unit.host(), otherGpus.getMessage()));
                }
            }
            return new RestartPlan(location.entry().directory().toString(), job.name(), job.generation(),
                    job.units().size(), reader.manifest().bytes(), moves, changes, unseen);
        } catch (IOException | RuntimeException e) {
            throw Failure.of("restart from " + location.entry().directory(), e);
        }
    }

    /** A unit's; its LIDs are for its agent to take. */
    private static Move move(Settings settings, NodeJob job, int number, Unit before, AddressMap addresses,
            InetAddress lead) {
        Unit unit = job.units().get(number);
        // each host has its own devices to choose from
        boolean auto = settings.text(Option.DEVICE).equals(DeviceChoice.AUTO);
        String device = auto ? DeviceChoice.AUTO : DeviceChoice.read(settings).ofHost(number);
        if (job.units().size() > 1 && device.equals(DeviceChoice.SOFT)) {
            NetworkCheck.requireNet(NetworkCheck.net(job.environment()), lead.isLoopbackAddress());
        }
        return move(number, new RankSpan(unit.first(), unit.count(), job.ranks()), unit.first(), unit.count(),
                before.host(), unit.host(), addresses, _ -> true, List.of(), device);
    }

    private static Move move(int unit, RankSpan span, int first, int count, String from, String to,
            AddressMap addresses, Predicate<HostAddress> own, List<Integer> newLids,
            String device) {
        // those before it could not be had
        Optional<HostAddress> host = addresses.hosts().stream().filter(own).reduce((refused, later) -> later);
        List<Integer> lids = host.map(RestartPlanning::lids).orElse(List.of());
        int queuePairs = (int) addresses.endpoints().stream().map(endpoint -> endpoint.rank() % span.total())
                .filter(rank -> rank >= first && rank < first + count).count();
        return new Move(unit, first, count, from, to, lids, newLids, queuePairs,
                host.isPresent() && host.get().qpnLast() > 0, device);
    }

    private static List<Integer> lids(HostAddress host) {
        return IntStream.range(host.lid(), host.lid() + host.lids()).boxed().toList();
    }

    private static List<RestartPlan.Change> changes(Settings settings, ImageLocation location, String job, int unit,
            OpenNode node, Relocation here, Set<String> elsewhere) {
        Path images = JobStorage.directory(settings, location.parent());
        List<String> foreign = JobFiles.foreign(settings, images, RuntimeDirectory.planned(settings).resolve(job));
        RollbackRequest request =
                new RollbackRequest(location.entry().name(), settings.keepsReplacedFiles(), foreign, "",
                        CaptureRequest.StandardStreams.of((int) ProcessHandle.current().pid()).identities(), elsewhere);
        return Forecast.of(here.of(node.image()), List.copyOf(node.memories().values()), request).stream()
                .map(file -> new RestartPlan.Change(unit, file)).toList();
    }
}
