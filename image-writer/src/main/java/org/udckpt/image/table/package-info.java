/** Tables of records as Arrow IPC files: what a column is, how rows become bytes, and bytes that lie become errors. */
package org.udckpt.image.table;
