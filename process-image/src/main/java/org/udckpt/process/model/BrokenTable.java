package org.udckpt.process.model;

/** A row of an image's table says what no capture says. */
public final class BrokenTable extends Exception {
    private static final long serialVersionUID = 1L;
    private final String table;

    /** @param row counted from 0 */
    public BrokenTable(String table, int row, String what) {
        super("row " + row + ": " + what);
        this.table = table;
    }

    /** Its name in the image, as in docs/reference/image-format.md. */
    public String table() {
        return table;
    }
}
