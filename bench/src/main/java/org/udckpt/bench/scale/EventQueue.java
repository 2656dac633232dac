package org.udckpt.bench.scale;

import java.util.PriorityQueue;

/** What happens when, in virtual nanoseconds; of two events at one moment the one that was planned first. */
final class EventQueue {
    private record Event(long at, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long now;
    private long planned;

    long now() {
        return now;
    }

    /** Plans something for a moment that has not passed. */
    void at(long time, Runnable action) {
        if (time < now) {
            throw new IllegalArgumentException("an event at " + time + " ns, now is " + now);
        }
        events.add(new Event(time, planned++, action));
    }

    /** Runs what is planned until {@code end}, which becomes the present. */
    void runUntil(long end) {
        while (!events.isEmpty() && events.peek().at <= end) {
            Event event = events.poll();
            now = event.at;
            event.action.run();
        }
        now = end;
    }

    /** Runs the next event. @return whether there was one */
    boolean runNext() {
        Event event = events.poll();
        if (event == null) {
            return false;
        }
        now = event.at;
        event.action.run();
        return true;
    }
}
