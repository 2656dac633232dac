package org.udckpt.cli;

import java.time.Duration;
import java.util.Locale;
import org.udckpt.image.Manifest;
import org.udckpt.inspect.diff.DescriptorChange;
import org.udckpt.inspect.diff.EndpointChange;
import org.udckpt.inspect.diff.FileDiff;
import org.udckpt.inspect.diff.Group;
import org.udckpt.inspect.diff.ImageDiff;
import org.udckpt.inspect.diff.NodeDiff;
import org.udckpt.inspect.diff.PageCounts;
import org.udckpt.inspect.diff.ProcessDiff;
import org.udckpt.inspect.diff.RegionChange;
import org.udckpt.inspect.diff.SharedDiff;
import org.udckpt.support.report.Durations;

/** {@code udckpt diff} for people: totals first, then what is not as it was. */
final class DiffText {
    private final ImageDiff diff;

    DiffText(ImageDiff diff) {
        this.diff = diff;
    }

    void print() {
        Manifest older = diff.older();
        Manifest newer = diff.newer();
        Duration between = Duration.between(older.takenAt(), newer.takenAt());
        System.out.printf("%s to %s: %s %s%n", diff.olderName(), diff.newerName(),
                Durations.format(between.abs().toNanos()), between.isNegative() ? "earlier" : "later");
        if (!diff.sameJob()) {
            System.out.println("these are different jobs: their memory is compared by address");
        }
        System.out.printf("ranks      %d to %d%n", older.ranks(), newer.ranks());
        System.out.printf("memory     %s to %s, stored %s to %s%n", Durations.bytes(older.bytes()),
                Durations.bytes(newer.bytes()), Durations.bytes(older.storedBytes()),
                Durations.bytes(newer.storedBytes()));
        PageCounts pages = diff.pages();
        System.out.printf("pages      %d in both, %d of them changed (%s); %d added, %d removed; %s are new%n",
                pages.both(), pages.changed(), share(pages), pages.added(),
                pages.removed(), Durations.bytes(pages.written() * PageCounts.BYTES));
        diff.nodes().forEach(this::print);
        diff.endpoints().forEach(DiffText::print);
    }

    private static String share(PageCounts pages) {
        return pages.both() == 0 ? "-" : String.format(Locale.ROOT, "%.1f%%", 100.0 * pages.changed() / pages.both());
    }

    /** Prints a node; if there are several, with a heading line. */
    private void print(NodeDiff node) {
        if (diff.nodes().size() > 1) {
            boolean moved = !node.older().host().equals(node.newer().host());
            System.out.printf("node %-5d on %s%s: %d pages changed of %d%n", node.index(), node.host(),
                    moved ? ", was on " + node.older().host() : "",
                    node.pages().changed(), node.pages().both());
        }
        node.goneProcesses()
                .forEach(process -> System.out.println("gone       " + node.older().processes().name(process)));
        node.newProcesses()
                .forEach(process -> System.out.println("new        " + node.newer().processes().name(process)));
        node.processes().forEach(process -> print(node.newer().processes().name(process.newer()), process));
        node.shared().stream().filter(DiffText::told).forEach(DiffText::print);
        node.files().stream().filter(file -> !file.isSame()).forEach(DiffText::print);
    }

    private static void print(String name, ProcessDiff process) {
        System.out.println(name);
        process.groups().stream().filter(group -> !group.pages().quiet()).forEach(DiffText::print);
        PageCounts quiet = process.groups().stream().map(Group::pages).filter(PageCounts::quiet).reduce(PageCounts.NONE,
                PageCounts::plus);
        System.out.printf("    %d pages elsewhere are as they were%n", quiet.both());
        process.regions().forEach(DiffText::print);
        process.descriptors().forEach(DiffText::print);
        process.newThreads().forEach(tid -> System.out.println("    thread " + tid + " is new"));
        process.goneThreads().forEach(tid -> System.out.println("    thread " + tid + " is gone"));
    }

    private static void print(Group group) {
        PageCounts pages = group.pages();
        System.out.printf("    %8d changed of %-8d %8d added %8d removed   %-9s %s%n", pages.changed(), pages.both(),
                pages.added(), pages.removed(), group.kind().word(), group.name());
    }

    private static void print(RegionChange change) {
        String sizes = switch (change.change()) {
            case NEW -> Durations.bytes(change.newerBytes());
            case GONE -> Durations.bytes(change.olderBytes());
            case GROWN, SHRUNK,
                    MOVED -> Durations.bytes(change.olderBytes()) + " to " + Durations.bytes(change.newerBytes());
        };
        System.out.println(("    mapping 0x%x-0x%x %s: %s, %s %s")
                .formatted(change.start(), change.end(), change.change().name().toLowerCase(Locale.ROOT), sizes,
                        change.kind().word(), change.name())
                .stripTrailing());
    }

    private static void print(DescriptorChange change) {
        System.out.println("    descriptor " + change.fd() + " " + switch (change.change()) {
            case OPENED -> "opened: " + change.newer();
            case CLOSED -> "closed: " + change.older();
            case REPLACED -> "replaced: " + change.older() + " by " + change.newer();
            case MOVED -> "moved from " + change.older().position() + " to " + change.newer().position() + ": "
                    + change.newer();
        });
    }

    private static boolean told(SharedDiff shared) {
        return shared.older() == null || shared.newer() == null || shared.older().size() != shared.newer().size()
                || !shared.pages().quiet();
    }

    private static void print(SharedDiff shared) {
        PageCounts pages = shared.pages();
        System.out.printf("shared     %s %s%s: %d pages changed of %d, %d added, %d removed%n",
                shared.present().kind().name().toLowerCase(Locale.ROOT), shared.present().path(),
                shared.older() == null ? " (new)" : shared.newer() == null ? " (gone)" : "", pages.changed(),
                pages.both(), pages.added(), pages.removed());
    }

    private static void print(FileDiff file) {
        PageCounts pages = file.pages();
        String sizes = file.older() == null ? "new, " + Durations.bytes(file.newer().size())
                : file.newer() == null ? "gone, " + Durations.bytes(file.older().size())
                        : Durations.bytes(file.older().size()) + " to " + Durations.bytes(file.newer().size());
        System.out.printf("file       %s: %s; %d pages changed of %d, %d added, %d removed%n", file.present().path(),
                sizes, pages.changed(), pages.both(), pages.added(), pages.removed());
    }

    private static void print(EndpointChange change) {
        System.out.printf("endpoint   rank %d %s, the job's %s: is %s, was %s%n", change.present().rank(),
                change.present().transport(), change.present().virtual(),
                change.newer() == null ? "gone" : EndpointText.real(change.newer()),
                change.older() == null ? "not there" : EndpointText.real(change.older()));
    }
}
