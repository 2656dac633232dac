package org.udckpt.bench.workload;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * With how many ranks an application can be run: from {@code least} to {@code most}, both included, and of these the
 * numbers of one shape.
 */
public record AllowedRanks(int least, int most, Shape shape) {

    /** What a decomposition asks of the number. */
    public enum Shape {
        ANY("") {
            @Override
            boolean has(int number) {
                return true;
            }
        },
        SQUARES("squares") {
            @Override
            boolean has(int number) {
                int root = (int) Math.round(Math.sqrt(number));
                return root * root == number;
            }
        },
        POWERS_OF_TWO("powers-of-two") {
            @Override
            boolean has(int number) {
                return Integer.bitCount(number) == 1;
            }
        };

        private final String word;

        Shape(String word) {
            this.word = word;
        }

        abstract boolean has(int number);
    }

    /** @param text {@code LEAST-MOST} or {@code LEAST-MOST SHAPE}; empty: it is neither */
    static Optional<AllowedRanks> of(String text) {
        String[] words = text.split(" +");
        Optional<Shape> shape = Arrays.stream(Shape.values())
                .filter(one -> one.word.equals(words.length == 2 ? words[1] : "")).findFirst();
        if (words.length > 2 || shape.isEmpty() || !words[0].matches("[1-9]\\d{0,5}-[1-9]\\d{0,5}")) {
            return Optional.empty();
        }
        String[] ends = words[0].split("-");
        AllowedRanks allowed = new AllowedRanks(Integer.parseInt(ends[0]), Integer.parseInt(ends[1]), shape.get());
        return allowed.all().findFirst().isPresent() ? Optional.of(allowed) : Optional.empty();
    }

    static String shapes() {
        return Arrays.stream(Shape.values()).filter(shape -> shape != Shape.ANY).map(shape -> shape.word)
                .collect(Collectors.joining(" or "));
    }

    public boolean hold(int number) {
        return least <= number && number <= most && shape.has(number);
    }

    /** The least of them that is not less than {@code wanted}. */
    OptionalInt from(int wanted) {
        return all().filter(number -> number >= wanted).findFirst();
    }

    private IntStream all() {
        return IntStream.rangeClosed(least, most).filter(shape::has);
    }

    @Override
    public String toString() {
        return least + "-" + most + (shape == Shape.ANY ? "" : " (" + shape.word + ")");
    }
}
