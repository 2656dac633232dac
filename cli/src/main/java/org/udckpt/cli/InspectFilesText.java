package org.udckpt.cli;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobFile.RegularFile;
import org.udckpt.support.report.Durations;

/** The job's files in a checkpoint, for people: a line about all, or one for each, with what is on disk now. */
final class InspectFilesText {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneId.systemDefault());
    private static final int LARGEST = 5;

    private final List<JobFile> files;

    InspectFilesText(List<JobFile> files) {
        this.files = files;
    }

    /** A line, and the largest; nothing when there are none. */
    void printSummary() {
        List<RegularFile> saved = saved();
        if (files.isEmpty()) {
            return;
        }
        Map<String, Integer> cuts = new TreeMap<>();
        saved.forEach(file -> cuts.merge(word(file), 1, Integer::sum));
        long out = files.stream().filter(JobFile.LeftOut.class::isInstance).count();
        System.out.printf("files      %d saved, %s%s%s; all of them: --files%n", saved.size(),
                Durations.bytes(saved.stream().mapToLong(RegularFile::size).sum()),
                cuts.isEmpty() ? "" : " (" + InspectText.counts(cuts) + ")", out == 0 ? "" : ", " + out + " left out");
        saved.stream().sorted(Comparator.comparingLong(RegularFile::size).reversed()).limit(LARGEST)
                .forEach(file -> System.out.printf("        %12s %s%n", Durations.bytes(file.size()), file.path()));
    }

    void printAll() {
        for (JobFile file : files) {
            System.out.println(switch (file) {
                case RegularFile regular -> "%12s  %s  %-9s  %s%s".formatted(Durations.bytes(regular.size()),
                        time(regular.modifiedNs()), word(regular), regular.path(), now(regular));
                case JobFile.HardLink link -> other("link", link.path() + " = " + link.of());
                case JobFile.SymbolicLink link -> other("symlink", link.path() + " -> " + link.target());
                case JobFile.Directory directory -> other("directory", directory.path());
                case JobFile.LeftOut left -> other("left out", left.path() + ": " + left.reason());
                case JobFile.Named named -> other(named.except() ? "except" : "named", named.path());
            });
        }
    }

    private static String other(String kind, String text) {
        return "%12s  %19s  %-9s  %s".formatted("", "", kind, text);
    }

    private List<RegularFile> saved() {
        return files.stream().filter(RegularFile.class::isInstance).map(RegularFile.class::cast).toList();
    }

    static String word(RegularFile file) {
        return file.cut().name().toLowerCase(Locale.ROOT);
    }

    static String time(long ns) {
        return TIME.format(Instant.ofEpochSecond(0, ns));
    }

    /** What a restart here would roll back, as far as length and time tell. */
    private static String now(RegularFile file) {
        try {
            Files.Stat now = Files.stat(file.path());
            return now.size() == file.size() && now.modified() == file.modifiedNs() ? ""
                    : "; now " + Durations.bytes(now.size()) + " of " + time(now.modified());
        } catch (LinuxError e) {
            return e.errno() == LinuxError.ENOENT || e.errno() == LinuxError.ENOTDIR ? "; now gone"
                    : "; now " + LinuxError.name(e.errno());
        }
    }
}
