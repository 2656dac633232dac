package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.MemoryResult;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.image.write.Unchanged;
import org.udckpt.image.write.WriterOptions;

/** Memory that is said to be unchanged is not read, and is in the checkpoint all the same. */
@Timeout(180)
class UnchangedTest {
    @TempDir
    Path temp;
    private History history;
    /** Of the newest checkpoint: what each process held, and its number there. */
    private final Map<FakeProcess, TreeMap<Long, byte[]>> before = new HashMap<>();
    private final Map<FakeProcess, Integer> numbers = new HashMap<>();
    private List<MemoryResult> results;

    /** @param known which part of what is unchanged is said to be; in 256ths */
    private Manifest write(WriterOptions how, List<FakeProcess> processes, int firstNumber, long basis, int known,
            Random random) throws Exception {
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), how, history)) {
            NodeWriter node = writer.node(0, "host a");
            List<CompletableFuture<MemoryResult>> written = new ArrayList<>();
            Map<FakeProcess, Integer> now = new HashMap<>();
            for (FakeProcess process : processes) {
                int number = firstNumber + now.size();
                List<Range> unchanged = unchanged(process, known, random);
                written.add(node.memory(number, process.ranges(), new Guarded(process, basis != 0, unchanged),
                        new Unchanged(basis, numbers.getOrDefault(process, 0), unchanged)));
                now.put(process, number);
            }
            Manifest manifest = writer.commit(Images.INFO);
            results = new ArrayList<>();
            for (CompletableFuture<MemoryResult> one : written) {
                results.add(one.get());
            }
            history = writer.history();
            numbers.clear();
            numbers.putAll(now);
            processes.forEach(process -> before.put(process, copy(process.memory)));
            return manifest;
        }
    }

    private static TreeMap<Long, byte[]> copy(TreeMap<Long, byte[]> memory) {
        TreeMap<Long, byte[]> copy = new TreeMap<>();
        memory.forEach((address, bytes) -> copy.put(address, bytes.clone()));
        return copy;
    }

    private List<Range> unchanged(FakeProcess process, int known, Random random) {
        List<Range> unchanged = new ArrayList<>();
        TreeMap<Long, byte[]> then = before.getOrDefault(process, new TreeMap<>());
        process.memory.forEach((address, bytes) -> {
            byte[] old = then.get(address);
            for (int at = 0; old != null && at < bytes.length; at += Range.PAGE) {
                int end = at + Range.PAGE;
                if (end > old.length || !Arrays.equals(bytes, at, end, old, at, end) || random.nextInt(256) >= known) {
                    continue;
                }
                Range last = unchanged.isEmpty() ? null : unchanged.getLast();
                if (last != null && last.end() == address + at) {
                    unchanged.set(unchanged.size() - 1, new Range(last.address(), last.length() + Range.PAGE));
                } else {
                    unchanged.add(new Range(address + at, Range.PAGE));
                }
            }
        });
        return unchanged;
    }

    /** Fails where something is read that is said to be unchanged. */
    private record Guarded(FakeProcess process, boolean guards, List<Range> unchanged)
            implements
                org.udckpt.image.write.PageSource {
        @Override
        public long read(long address, MemorySegment into) throws IOException {
            long end = address + into.byteSize();
            if (guards && unchanged.stream().anyMatch(one -> one.address() < end && address < one.end())) {
                throw new IOException("unchanged memory is read at 0x" + Long.toHexString(address));
            }
            return process.read(address, into);
        }
    }

    private void assertHolds(Manifest manifest, List<FakeProcess> processes) throws IOException {
        Path checkpoint = temp.resolve("c").resolve(ImageNames.directory(manifest.id()));
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.SECRET_KEY)) {
            reader.verify((_, _) -> {});
            for (FakeProcess process : processes) {
                process.assertEqualTo(reader.memory(numbers.get(process)));
            }
        }
    }

    @Test
    void chainsHoldWhatTheJobHadThoughMostOfItIsNotRead() throws Exception {
        Random random = new Random(Images.seed("UnchangedTest"));
        for (int chain = 0; chain < 6; chain++) {
            history = null;
            before.clear();
            numbers.clear();
            WriterOptions any = Images.randomOptions(random);
            WriterOptions how = any.withForm(any.form().withIncremental(true));
            List<FakeProcess> processes = new ArrayList<>(Images.processes(random, 3));
            for (int i = 0; i < 6; i++) {
                Manifest manifest = write(how, processes, 1 + random.nextInt(5), history == null ? 0 : history.newest(),
                        random.nextInt(257), random);
                assertHolds(manifest, processes);
                java.util.Collections.shuffle(processes, random); // they get other numbers
                processes.forEach(process -> process.goOn(random));
            }
        }
    }

    @Test
    void whatNothingIsDoneToTakesNoFile() throws Exception {
        Random random = new Random(7);
        WriterOptions how = Images.options().withForm(org.udckpt.image.write.ImageForm.PLAIN.withIncremental(true));
        List<FakeProcess> processes = Images.processes(random, 2);
        write(how, processes, 1, 0, 256, random);
        assertEquals(0, results.stream().mapToLong(MemoryResult::unreadBytes).sum());
        for (int i = 0; i < 3; i++) {
            Manifest manifest = write(how, processes, 1, history.newest(), 256, random);
            long all = processes.stream().mapToLong(FakeProcess::bytes).sum();
            assertEquals(all, results.stream().mapToLong(MemoryResult::unreadBytes).sum());
            assertTrue(manifest.files().stream().noneMatch(file -> file.name().contains("stripe")),
                    manifest.files().toString());
            assertHolds(manifest, processes);
        }
    }

    /** What is said of another checkpoint than the base is no use: all is read. */
    @Test
    void anotherCheckpointsWordDoesNotCount() throws Exception {
        Random random = new Random(8);
        WriterOptions how = Images.options().withForm(org.udckpt.image.write.ImageForm.PLAIN.withIncremental(true));
        List<FakeProcess> processes = Images.processes(random, 2);
        write(how, processes, 1, 0, 256, random);
        Manifest manifest = write(how, processes, 1, 0, 256, random);
        assertEquals(0, results.stream().mapToLong(MemoryResult::unreadBytes).sum());
        assertHolds(manifest, processes);
    }
}
