package org.udckpt.bench.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class QuantityTest {
    @ParameterizedTest
    @CsvSource({"1.16G, 1.16e9", "57.6GB/s, 57.6e9", "512Mi, 536870912", "4096, 4096", "2k, 2000", "none, Infinity"})
    void bytes(String text, double value) {
        assertEquals(value, new Quantity.Bytes().convert(text), value * 1e-12);
    }

    @ParameterizedTest
    @CsvSource({"250us, 250e-6", "31ms, 0.031", "11m, 660", "12h, 43200", "5y, 157788000"})
    void times(String text, double value) {
        assertEquals(value, new Quantity.Time().convert(text), value * 1e-12);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "G", "1.2.3G", "-1G", "1X", "1 G", "NaN"})
    void isNoQuantity(String text) {
        assertThrows(TypeConversionException.class, () -> new Quantity.Bytes().convert(text));
        assertThrows(TypeConversionException.class, () -> new Quantity.Time().convert(text));
    }

    @Test
    void asPeopleReadThem() {
        assertEquals("38.0 TB", Quantity.bytes(38e12));
        assertEquals("no limit", Quantity.bytes(Double.POSITIVE_INFINITY));
        assertEquals("11.0 min", Quantity.time(660));
        assertEquals("50.8 ms", Quantity.time(0.0508));
    }
}
