package org.udckpt.job.life;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A unit's files after a restart that came to an end in each of its ways. */
class FilesFateTest {
    private final List<String> done = new ArrayList<>();
    private final FilesFate fate = new FilesFate(new FilesFate.PutBack() {
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
        fate.opened();
        assertEquals(List.of(), done, "others may not have come so far");
        fate.said(true);
        assertEquals(List.of("stay"), done);
        fate.said(false); // too late
        fate.close();
        assertEquals(List.of("stay", "close"), done);
    }

    @Test
    void anotherHostFailsAfterThisOneHasOpenedItsGates() {
        fate.opened();
        fate.said(false);
        fate.close();
        assertEquals(List.of("close"), done, "put as they were");
    }

    /** The word comes while this one is still at it. */
    @Test
    void theWordComesBeforeTheGatesAreOpen() {
        fate.said(false);
        fate.opened();
        fate.close();
        assertEquals(List.of("close"), done);
    }

    @Test
    void allHaveEndedBeforeTheyWereAskedToOpen() {
        fate.said(true);
        fate.close();
        assertEquals(List.of("stay", "close"), done);
    }

    @Test
    void withoutTheLeadItGoesByItself() {
        fate.close();
        assertEquals(List.of("close"), done);
        done.clear();
        FilesFate other = new FilesFate(new FilesFate.PutBack() {
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
