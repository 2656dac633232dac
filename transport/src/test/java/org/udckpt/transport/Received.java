package org.udckpt.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/** An inbox that keeps what came, for tests; it can be held shut. */
class Received implements Inbox {
    /** @param numbers a table's first column; null for a message */
    record Item(int from, byte[] bytes, List<Long> numbers) {}

    final BlockingQueue<Item> items = new LinkedBlockingQueue<>();
    private final Semaphore door = new Semaphore(1);

    void shut() {
        door.acquireUninterruptibly();
    }

    void open() {
        door.release();
    }

    @Override
    public void message(int from, byte[] message) throws InterruptedException {
        door.acquire();
        items.add(new Item(from, message, null));
        door.release();
    }

    @Override
    public void table(int from, byte[] subject, VectorSchemaRoot table) throws InterruptedException {
        door.acquire();
        BigIntVector column = (BigIntVector) table.getVector(0);
        List<Long> numbers = new ArrayList<>();
        for (int row = 0; row < table.getRowCount(); row++) {
            numbers.add(column.get(row));
        }
        items.add(new Item(from, subject, numbers));
        door.release();
    }
}
