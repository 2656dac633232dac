package org.udckpt.cli;

import java.util.HashSet;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/**
 * Command lines that need no picocli: each option once, with its value in the next word, and one argument. To make
 * picocli's model of a verb takes a fifth of the processor time before a restarted job's first instruction. Whatever
 * else there is picocli reads, and refuses.
 */
final class PlainWords {
    private PlainWords() {}

    /**
     * Reads the words behind the verb; false: picocli is to do it.
     *
     * @param option   takes an option and its value; false: it is none of those that are read here
     * @param argument takes the argument
     */
    static boolean read(String[] words, BiPredicate<String, String> option, Consumer<String> argument) {
        Set<String> seen = new HashSet<>();
        boolean complete = false;
        for (int i = 1; i < words.length; i++) {
            if (isPlain(words[i])) {
                if (complete) {
                    return false;
                }
                argument.accept(words[i]);
                complete = true;
            } else if (i + 1 == words.length || !isPlain(words[i + 1]) || !seen.add(words[i])
                    || !option.test(words[i], words[++i])) {
                return false;
            }
        }
        return complete;
    }

    private static boolean isPlain(String word) {
        return !word.isEmpty() && word.charAt(0) != '-';
    }
}
