package org.udckpt.attack;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * How often each attack is tried: few times among all tests, 1,000 times by {@code ./udckpt test attacks}
 * ({@code -Dudckpt.attack.tries=N}).
 */
public final class Tries {
    /** One try of an attack, from a clean start. */
    public interface Attack {
        /** True: the attacker got what he wanted. */
        boolean wins(int number) throws Exception;
    }

    private static final int SHORT = 20;

    private Tries() {}

    /** @param fewer among all tests so many times fewer than others, for an attack that takes seconds; 1: as often */
    public static int count(int fewer) {
        Integer asked = Integer.getInteger("udckpt.attack.tries");
        return asked != null ? asked : Math.max(1, SHORT / fewer);
    }

    /** Tries it, and fails with the number of those that won, and prints a line that says how many there were. */
    public static void noneWins(String name, Attack attack) throws Exception {
        noneWins(name, 1, attack);
    }

    /** The same, {@code fewer} times fewer among all tests. */
    public static void noneWins(String name, int fewer, Attack attack) throws Exception {
        int count = count(fewer);
        int won = 0;
        for (int i = 0; i < count; i++) {
            if (attack.wins(i)) {
                won++;
            }
        }
        System.out.println("attack: " + name + ": won " + won + " of " + count);
        assertEquals(0, won, name + " won, of " + count + " tries");
    }
}
