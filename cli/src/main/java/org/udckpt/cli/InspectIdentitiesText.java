package org.udckpt.cli;

import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.support.report.Durations;

/** What a checkpoint knows its programs and libraries by, and other files that it expects on disk; for people. */
final class InspectIdentitiesText {
    private static final int DIGITS = 16;

    private final List<FileIdentity> files;
    private final Set<String> saved;

    /** @param saved paths of those whose content is in the image */
    InspectIdentitiesText(List<FileIdentity> files, Set<String> saved) {
        this.files = files;
        this.saved = saved;
    }

    /** One line; nothing of a checkpoint that does not say it. */
    void printSummary() {
        if (files.isEmpty()) {
            return;
        }
        long digests = files.stream().filter(file -> file.digest() != null).count();
        long exposed = files.stream().filter(file -> !file.writers().isEmpty()).count();
        long inImage = files.stream().filter(file -> saved.contains(file.path())).count();
        System.out.printf(
                "on disk    %d programs, libraries and files that are read, %s; %d known by SHA-256%s%s; all of them: "
                        + "--files%n",
                files.size(),
                Durations.bytes(files.stream().mapToLong(FileIdentity::size).sum()), digests,
                inImage == 0 ? "" : ", " + inImage + " also in the image",
                exposed == 0 ? "" : ", " + exposed + " that others can change or exchange");
    }

    void printAll() {
        for (FileIdentity file : files) {
            System.out.printf("%12s  %s  %-9s  %s; %s%s%s; owner %d, mode %04o%s%s%n", Durations.bytes(file.size()),
                    InspectFilesText.time(file.modifiedNs()), word(file), file.path(),
                    file.buildId().isEmpty() ? "" : "build id " + file.buildId() + "; ",
                    file.digest() == null ? "no digest: " : "SHA-256 ",
                    file.digest() == null ? file.undigested() : digest(file).substring(0, DIGITS) + "...", file.uid(),
                    file.mode(), saved.contains(file.path()) ? "; also in the image" : "",
                    file.writers().isEmpty() ? "" : "; can be changed or exchanged by " + file.writers());
        }
    }

    static String word(FileIdentity file) {
        return file.use().name().toLowerCase(Locale.ROOT);
    }

    /** In hexadecimal; "" where there is none. */
    static String digest(FileIdentity file) {
        return file.digest() == null ? "" : HexFormat.of().formatHex(file.digest());
    }
}
