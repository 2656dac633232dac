package org.udckpt.bench.run;

import java.time.Duration;

/** How an application is run in a measurement. */
sealed interface Mode {

    /**
     * Without the library's work: what the others are compared with. On the soft fabric, which is in the library
     * itself, with UDCKPT_VIRTUALIZE=0; on a real device without udckpt, by the MPI library's own launcher.
     */
    record Native() implements Mode {
        @Override
        public String word() {
            return NATIVE;
        }
    }

    /** With the library, without checkpoints. */
    record Preloaded() implements Mode {
        @Override
        public String word() {
            return PRELOADED;
        }
    }

    /** With a checkpoint each {@code interval}. */
    record Every(Duration interval) implements Mode {
        @Override
        public String word() {
            return EVERY + text(interval);
        }
    }

    /** A checkpoint after about a quarter of its time, {@code kill -9} of everything, a restart on other addresses. */
    record Restarted() implements Mode {
        @Override
        public String word() {
            return RESTARTED;
        }
    }

    /**
     * Under DMTCP over TCP, which needs no device, without checkpoints or with one each {@code interval}.
     *
     * @param interval zero: none
     */
    record Peer(Duration interval) implements Mode {
        @Override
        public String word() {
            return interval.isZero() ? PEER : PEER + " " + EVERY + text(interval);
        }
    }

    /** A checkpoint by DMTCP after about a quarter of its time, the end of all processes, a restart. */
    record PeerRestarted() implements Mode {
        @Override
        public String word() {
            return PEER + " " + RESTARTED;
        }
    }

    /** What DMTCP's runs are compared with: over TCP, by the MPI library's own launcher. */
    record PeerNative() implements Mode {
        @Override
        public String word() {
            return PEER_NATIVE;
        }
    }

    String NATIVE = "native";
    String PRELOADED = "preloaded";
    String EVERY = "every ";
    String RESTARTED = "restarted";
    String PEER = "dmtcp";
    String PEER_NATIVE = "native over tcp";

    /** As results name it. */
    String word();

    private static String text(Duration interval) {
        long millis = interval.toMillis();
        return millis % 1000 != 0 ? millis + "ms" : millis / 1000 + "s";
    }
}
