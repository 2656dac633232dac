package org.udckpt.bench.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;
import org.udckpt.bench.command.JobStatus.Address;

class JobStatusTest {
    private static JobStatus status(int realLid, int realQpn) throws Exception {
        String json = """
                {"schema":1,"jobs":[{"name":"other","state":"running","ranks":[]},\
                {"name":"j","state":"running","ranks":[
                 {"rank":0,"pid":4711,"host":"a","endpoints":[{"transport":"UD","virtual":{"lid":1,"gid":"::","qpn":17},
                  "real":{"lid":%d,"gid":"::","qpn":%d}}],\
                "counters":{"ud_sends":5,"ud_rewrites":4,"table_misses":1}}]}]}
                """.formatted(realLid, realQpn);
        return JobStatus.from(new ObjectMapper().readTree(json), "j");
    }

    @Test
    void readsWhatTheCommandLinePromises() throws Exception {
        JobStatus.Rank rank = status(9, 99).ranks().getFirst();
        assertEquals(4711, rank.pid());
        assertEquals(new Address(9, 99), rank.endpoints().getFirst().real());
        assertEquals(4, rank.rewrites());
        assertThrows(BenchFailure.class, () -> JobStatus.from(new ObjectMapper().readTree("{\"jobs\":[]}"), "j"));
    }

    @Test
    void aMoveIsShownAndAKeptAddressIsRefused() throws Exception {
        var shown = new ByteArrayOutputStream();
        new Remapping(status(1, 17), status(9, 99)).print(new PrintStream(shown));
        assertTrue(shown.toString().contains("LID 9 QPN 0x000063"), shown.toString());
        var kept = new Remapping(status(9, 99), status(9, 99));
        assertThrows(BenchFailure.class, () -> kept.print(new PrintStream(new ByteArrayOutputStream())));
    }
}
