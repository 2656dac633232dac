package org.udckpt.bench.scale;

import java.util.Arrays;

/** What each node has sent and received, in bytes with all headers, and what waited for it. */
final class NodeTraffic {
    final long[] sent;
    final long[] received;
    private final long[] waiting;
    private final long[] waitingBytes;
    private long messages;
    private long longestQueue;
    private long largestQueue;

    NodeTraffic(int nodes) {
        sent = new long[nodes];
        received = new long[nodes];
        waiting = new long[nodes];
        waitingBytes = new long[nodes];
    }

    /** A message waits at a node, to be sent or to be handled. */
    void waits(int node, int bytes) {
        waiting[node]++;
        waitingBytes[node] += bytes;
        longestQueue = Math.max(longestQueue, waiting[node]);
        largestQueue = Math.max(largestQueue, waitingBytes[node]);
    }

    void waitsNoMore(int node, int bytes) {
        waiting[node]--;
        waitingBytes[node] -= bytes;
    }

    void sent(int node, int bytes) {
        sent[node] += bytes;
        messages++;
    }

    void received(int node, int bytes) {
        received[node] += bytes;
    }

    /** From here on. */
    void reset() {
        Arrays.fill(sent, 0);
        Arrays.fill(received, 0);
        messages = 0;
        longestQueue = 0;
        largestQueue = 0;
    }

    long messages() {
        return messages;
    }

    /** The most messages that waited at one node at one time. */
    long longestQueue() {
        return longestQueue;
    }

    /** The most bytes that waited at one node at one time. */
    long largestQueue() {
        return largestQueue;
    }

    /** Sent and received together by the busiest node. */
    long most() {
        long most = 0;
        for (int i = 0; i < sent.length; i++) {
            most = Math.max(most, sent[i] + received[i]);
        }
        return most;
    }

    /** The same of the node in the middle. */
    long median() {
        long[] sums = new long[sent.length];
        for (int i = 0; i < sums.length; i++) {
            sums[i] = sent[i] + received[i];
        }
        Arrays.sort(sums);
        return sums[sums.length / 2];
    }
}
