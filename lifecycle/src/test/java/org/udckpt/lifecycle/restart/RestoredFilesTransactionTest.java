package org.udckpt.lifecycle.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A unit's files after a restart that came to an end in each of its ways. */
class RestoredFilesTransactionTest {
    private final List<String> done = new ArrayList<>();
    private final RestoredFilesTransaction files = new RestoredFilesTransaction(new RestoredFilesTransaction.PutBack() {
        @Override
        public void stay() {
            done.add("stay");
        }

        @Override
        public void close() {
            done.add("close");
        }
    });

    @Test
    void theyStayWhenAllRanksRun() {
        files.opened();
        assertEquals(List.of(), done, "others may not have come so far");
        files.said(true);
        assertEquals(List.of("stay"), done);
        files.said(false); // too late
        files.close();
        assertEquals(List.of("stay", "close"), done);
    }

    @Test
    void anotherHostFailsAfterThisOneHasOpenedItsGates() {
        files.opened();
        files.said(false);
        files.close();
        assertEquals(List.of("close"), done, "put as they were");
    }

    /** The word comes while this one is still at it. */
    @Test
    void theWordComesBeforeTheGatesAreOpen() {
        files.said(false);
        files.opened();
        files.close();
        assertEquals(List.of("close"), done);
    }

    @Test
    void allHaveEndedBeforeTheyWereAskedToOpen() {
        files.said(true);
        files.close();
        assertEquals(List.of("stay", "close"), done);
    }

    @Test
    void withoutTheLeadItGoesByItself() {
        files.close();
        assertEquals(List.of("close"), done);
        done.clear();
        RestoredFilesTransaction other = new RestoredFilesTransaction(new RestoredFilesTransaction.PutBack() {
            @Override
            public void stay() {
                done.add("stay");
            }

            @Override
            public void close() {
                done.add("close");
            }
        });
        other.opened();
        other.close();
        assertEquals(List.of("stay", "close"), done);
    }
}
