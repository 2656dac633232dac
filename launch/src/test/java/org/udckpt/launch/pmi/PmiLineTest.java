package org.udckpt.launch.pmi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PmiLineTest {
    @Test
    void readsCommandAndArguments() throws PmiException {
        PmiLine line = PmiLine.parse("cmd=put kvsname=kvs_1 key=a value=x=y\n");
        assertEquals("put", line.command());
        assertEquals(Map.of("kvsname", "kvs_1", "key", "a", "value", "x=y"), line.arguments());
        assertFalse(line.multiLine());
        assertTrue(PmiLine.parse("mcmd=spawn").multiLine());
    }

    /** MPICH 4.2 gives the reason of an abort, as its user wrote it. */
    @Test
    void aMessageEndsWithTheLine() throws PmiException {
        PmiLine line = PmiLine.parse("cmd=abort exitcode=7 message=application called MPI_Abort(comm=0x8, 7) - 1\n");
        assertEquals(Map.of("exitcode", "7", "message", "application called MPI_Abort(comm=0x8, 7) - 1"),
                line.arguments());
    }

    @Test
    void namesWhatIsWrong() {
        assertTrue(assertThrows(PmiException.class, () -> PmiLine.parse("hello")).getMessage().contains("'hello'"));
        assertTrue(assertThrows(PmiException.class, () -> PmiLine.parse("a=b")).getMessage().contains("no cmd"));
        assertTrue(assertThrows(PmiException.class, () -> PmiLine.parse("cmd=get").need("key")).getMessage()
                .contains("'get' without key"));
    }

    @Test
    void processMappingIsHydras() {
        assertEquals("(vector,(0,1,4))", ProcessMapping.format(List.of(4)));
        assertEquals("(vector,(0,2,2))", ProcessMapping.format(List.of(2, 2)));
        assertEquals("(vector,(0,1,1),(1,2,3),(3,1,1))", ProcessMapping.format(List.of(1, 3, 3, 1)));
    }
}
