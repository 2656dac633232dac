package org.udckpt.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.udckpt.support.config.Option;

/** README.md and docs/ name what there is: classes, files, settings, flags, links, the steps of the walks, messages. */
class PagesTest {
    private static final Path ROOT = Path.of(System.getProperty("udckpt.root"));
    private static final Sources SOURCES = new Sources(ROOT);
    private static final Map<String, String> PAGES = SOURCES.pages();
    private static final int MOST_WORDS = 30_000;
    private static final int MOST_CHARACTERS = 120;
    private static final int MOST_LINES_OF_README = 100; // two screens

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]*)(#[^)]*)?\\)");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern TYPE =
            Pattern.compile("([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(?:\\.([a-z]\\w*))?(?:\\(.*\\))?");
    private static final Pattern FILE = Pattern.compile("[\\w./*-]*\\w\\.(?:c|h|S|java|sh|layout|svg)\\b");
    private static final Pattern SETTING = Pattern.compile("\\bUDCKPT_[A-Z_]*[A-Z]\\b");
    private static final Pattern FLAG = Pattern.compile("(?<![\\w-])--[a-z][a-z0-9-]*");
    private static final Pattern COMMAND = Pattern.compile("\\budckpt ([a-z][a-z-]*)\\b([^\\n]*)");
    /** Behind these the words of a command line are not udckpt's any more. */
    private static final String END_OF_COMMAND = " -- | --$|#|`|--- ";
    private static final Pattern PAGE = Pattern.compile("(?<![\\w/.])docs/[\\w/-]+\\.md");
    private static final Pattern TEXT = Pattern.compile("\"(\\w+)\"");
    private static final Pattern STEP = Pattern.compile("\\((\\w+\\.(?:java|c|h|S)): (\\w+)\\)");
    private static final String LAST_STEP = "A->>U: id";

    /** Names of other people's that look like classes. */
    private static final Set<String> FOREIGN_TYPES = Set.of("JobRequeue", "RequeueExit", "PreemptMode", "GraceTime",
            "KillWait", "SlurmctldParameters", "PreemptParameters", "ProctrackType", "NativeDispatcher", "SecureRandom",
            "IOException", "DoAction", "DoPut", "LLVMFuzzerTestOneInput", "NAMEFuzz");
    /** Files of other people's, of a user, or where an installation has them. */
    private static final Set<String> FOREIGN_FILES = Set.of("verbs.h", "hello.c", "overrun.c",
            "native/src/test/fuzz/NAME.c", "share/udckpt/slurm/job.sh");
    /** Flags of other people's programs. */
    private static final Set<String> FOREIGN_FLAGS =
            Set.of("--cap-add", "--security-opt", "--mca", "--oversubscribe", "--allow-run-as-root",
                    "--ntasks", "--time", "--nodes", "--signal", "--jobid", "--overlap", "--no-requeue", "--requeue",
                    "--enable-native-access", "--add-exports", "--ro-bind", "--dev-bind", "--unshare-net", "--proc",
                    "--tmpfs", "--cleanenv", "--unsquash", "--fakeroot", "--writable-tmpfs",
                    "--ignore-fakeroot-command", "--container", "--bind", "--user");

    /** Each match on each page for which {@code wrong} says so. */
    private static List<String> found(Pattern pattern, Predicate<MatchResult> wrong) {
        List<String> all = new ArrayList<>();
        PAGES.forEach((page, text) -> pattern.matcher(text).results().filter(wrong)
                .forEach(match -> all.add(page + ": " + match.group())));
        return all;
    }

    private static String texts(List<Path> files) {
        return files.stream().map(SOURCES::text).collect(Collectors.joining("\n"));
    }

    @Test
    void theyAreNotTooMany() {
        int words = PAGES.values().stream().mapToInt(text -> text.strip().split("\\s+").length).sum();
        assertTrue(words <= MOST_WORDS, words + " words: say each thing once, where it is looked for");
        assertTrue(PAGES.size() > 40, PAGES.keySet().toString());
        assertTrue(PAGES.get("README.md").lines().count() <= MOST_LINES_OF_README, "the README fits on two screens");
    }

    @Test
    void linesFitOnAScreen() {
        List<String> longer = new ArrayList<>();
        PAGES.forEach((page, text) -> text.lines()
                .filter(line -> line.codePointCount(0, line.length()) > MOST_CHARACTERS)
                .forEach(line -> longer.add(page + ": " + line)));
        assertEquals(List.of(), longer);
    }

    /** On all pages, those of results/ and of modules too. */
    @Test
    void linksLeadSomewhere() {
        List<String> broken = new ArrayList<>();
        for (Path page : SOURCES.ending(false, ".md")) {
            LINK.matcher(SOURCES.text(page)).results().filter(link -> !leadsSomewhere(page, link))
                    .forEach(link -> broken.add(ROOT.relativize(page) + ": " + link.group()));
        }
        assertEquals(List.of(), broken);
    }

    private static boolean leadsSomewhere(Path page, MatchResult link) {
        Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1)).normalize();
        return Files.exists(target) && (link.group(2) == null || anchors(target).contains(link.group(2)));
    }

    /** As code forges make them of headings. */
    private static Set<String> anchors(Path page) {
        return SOURCES.text(page).lines().filter(line -> line.startsWith("#"))
                .map(line -> "#" + line.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\w -]", "").replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    @Test
    void pagesAreFound() {
        Set<String> linked = new TreeSet<>();
        PAGES.forEach((page, text) -> LINK.matcher(text).results().filter(link -> !link.group(1).isEmpty())
                .map(link -> ROOT.resolve(page).resolveSibling(link.group(1)).normalize())
                .forEach(target -> linked.add(ROOT.relativize(target).toString())));
        List<String> lost = PAGES.keySet().stream().filter(page -> !page.equals("README.md") && !linked.contains(page)
                && !linked.contains(Path.of(page).getParent().toString())).toList();
        assertEquals(List.of(), lost, "no page and no folder's link leads there");
    }

    /** In comments, messages and scripts. */
    @Test
    void pagesThatTheCodeNamesAreThere() {
        List<String> gone = new ArrayList<>();
        for (Path file : SOURCES.ending(false, ".java", ".c", ".h", ".S", ".sh", ".py", "pom.xml", ".txt", ".md")) {
            PAGE.matcher(SOURCES.text(file)).results().filter(page -> !Files.exists(ROOT.resolve(page.group())))
                    .forEach(page -> gone.add(file + ": " + page.group()));
        }
        assertEquals(List.of(), gone);
    }

    @Test
    void classesAreThere() {
        Set<String> types = SOURCES.types();
        types.addAll(FOREIGN_TYPES);
        TEXT.matcher(texts(SOURCES.named("StatusLines.java"))).results()
                .forEach(line -> types.add(line.group(1))); // of /proc/PID/status, which a page has to name
        assertEquals(List.of(), found(CODE, code -> {
            var type = TYPE.matcher(code.group(1));
            return type.matches() && !FILE.matcher(code.group(1)).matches()
                    && !(types.contains(type.group(1)) && hasMember(type.group(1), type.group(2)));
        }));
    }

    private static boolean hasMember(String type, String member) {
        List<Path> files = SOURCES.named(type + ".java");
        return member == null || files.isEmpty()
                || Pattern.compile("\\b" + member + "\\(").matcher(texts(files)).find();
    }

    @Test
    void filesAreThere() {
        assertEquals(List.of(), found(FILE, file -> {
            String name = file.group().replaceFirst("^(?:\\.\\./|\\./|/)+", "");
            boolean ours = !name.contains("*") && !Character.isDigit(name.charAt(0)) && !FOREIGN_FILES.contains(name);
            return ours && !SOURCES.has(name);
        }));
    }

    @Test
    void settingsAreRead() {
        Set<String> known = Stream.of(Option.values()).map(Option::variable).collect(Collectors.toSet());
        String readers = SOURCES.program() + texts(SOURCES.named("workload")) + texts(SOURCES.named("udckpt"))
                + texts(SOURCES.ending(true, "CMakeLists.txt", ".cmake"));
        assertEquals(List.of(),
                found(SETTING, name -> !known.contains(name.group()) && !readers.contains(name.group())));
    }

    /** A flag is one of a command or of a script; behind a verb of udckpt it is that verb's. */
    @Test
    void flagsAreTaken() throws Exception {
        Map<String, Set<String>> flags = SOURCES.flags();
        Set<String> all = flags.values().stream().flatMap(Set::stream).collect(Collectors.toCollection(TreeSet::new));
        all.addAll(FOREIGN_FLAGS);
        String scripts = texts(SOURCES.ending(true, ".sh")) + texts(benchScripts());
        String program = SOURCES.program(); // the shepherd's own words
        List<String> unknown = found(FLAG, flag -> !all.contains(flag.group()) && !scripts.contains(flag.group())
                && !program.contains("\"" + flag.group() + "\""));
        unknown.addAll(found(COMMAND, command -> flags.containsKey(command.group(1))
                && FLAG.matcher(command.group(2).split(END_OF_COMMAND, 2)[0]).results()
                        .anyMatch(flag -> !flags.get(command.group(1)).contains(flag.group()))));
        assertEquals(List.of(), unknown);
    }

    private static List<Path> benchScripts() throws Exception {
        try (Stream<Path> files = Files.list(ROOT.resolve("bench"))) {
            return files.filter(file -> Files.isRegularFile(file) && !file.getFileName().toString().contains("."))
                    .toList();
        }
    }

    /** Each step of each walk has that function in that file. */
    @Test
    void walksGoWhereTheySay() {
        List<String> steps = PAGES.get("docs/internals/architecture.md").lines()
                .filter(line -> line.contains("->>") && !line.strip().equals(LAST_STEP)).toList();
        assertTrue(steps.size() > 45, steps.size() + " steps");
        List<String> wrong = new ArrayList<>(steps.stream().filter(step -> !STEP.matcher(step).find()).toList());
        for (String step : steps) {
            STEP.matcher(step).results().filter(place -> SOURCES.named(place.group(1)).stream()
                    .noneMatch(file -> Sources.defines(SOURCES.text(file), place.group(2))))
                    .forEach(place -> wrong.add(step + ": there is no " + place.group()));
        }
        assertEquals(List.of(), wrong);
    }

    /**
     * Messages that troubleshooting.md explains are ones that a user can meet: each text in front of an item's colon,
     * of which each piece between dots stands in the program.
     */
    @Test
    void messagesAreOnesThatAUserCanMeet() {
        String program = SOURCES.program();
        List<String> unknown = new ArrayList<>();
        int messages = 0;
        for (String item : PAGES.get("docs/user/troubleshooting.md").split("\n(?=\\* |\n|#)")) {
            String text = item.strip().replaceAll("\\s+", " ");
            String head = text.startsWith("* `") ? text.split("(?<=`|\\))(?: \\([^)]*\\))?: ", 2)[0] : "";
            for (MatchResult code : CODE.matcher(head).results().toList()) {
                messages++;
                Stream.of(code.group(1).split(" ?\\.\\.\\. ?"))
                        .filter(piece -> piece.length() > 3 && !program.contains(piece))
                        .forEach(piece -> unknown.add(piece + " of: " + text));
            }
        }
        assertEquals(List.of(), unknown);
        assertTrue(messages > 150, messages + " messages");
    }
}
