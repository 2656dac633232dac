package org.udckpt.bench.workload;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The lines {@code key = value} of a description up to its next section. */
final class DescriptionSection {
    private final Path file;
    private final List<Key> known;
    private final Map<Key, List<Value>> values = new HashMap<>();

    /** The text after the equals sign of a line. */
    record Value(String text, int line) {
        List<String> words() {
            return List.of(text.split(" +"));
        }
    }

    /** @param known keys that may be in it */
    DescriptionSection(Path file, List<Key> known) {
        this.file = file;
        this.known = known;
    }

    /** @throws WorkloadError for a line that is none of a section like this */
    void add(String text, int line) {
        int equals = text.indexOf('=');
        if (equals < 0) {
            throw WorkloadError.at(file, line, "neither 'key = value' nor a [section] nor a # comment: " + text);
        }
        String word = text.substring(0, equals).strip();
        Key key = known.stream().filter(one -> one.word().equals(word)).findFirst().orElseThrow(() -> WorkloadError.at(
                file, line,
                "no key '" + word + "' here; keys are " + String.join(", ", known.stream().map(Key::word).toList())));
        Value value = new Value(text.substring(equals + 1).strip(), line);
        if (value.text().isEmpty()) {
            throw WorkloadError.at(file, line, word + " has no value; leave the line out instead");
        }
        List<Value> before = values.computeIfAbsent(key, _ -> new ArrayList<>());
        if (!before.isEmpty() && !key.mayRepeat()) {
            throw WorkloadError.at(file, line, "a second " + word);
        }
        before.add(value);
    }

    List<Value> all(Key key) {
        return values.getOrDefault(key, List.of());
    }

    Optional<Value> maybe(Key key) {
        return all(key).stream().findFirst();
    }

    /** @throws WorkloadError when there is none */
    Value one(Key key) {
        return maybe(key).orElseThrow(() -> WorkloadError.in(file, key.word() + " is missing"));
    }

    List<String> words(Key key) {
        return maybe(key).map(Value::words).orElse(List.of());
    }

    List<String> texts(Key key) {
        return all(key).stream().map(Value::text).toList();
    }
}
