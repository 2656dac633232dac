package org.udckpt.bench.workload;

/**
 * What was found of a run's answer.
 *
 * @param words how the equality was judged, or what is wrong
 */
public record Judgement(boolean isRight, String words) {
    static Judgement right(String words) {
        return new Judgement(true, words);
    }

    static Judgement wrong(String words) {
        return new Judgement(false, words);
    }
}
