/**
 * Kinds of kernel objects: a folder for each, with its record, capture, restore, check and display, and the list of
 * all.
 */
package org.udckpt.process.kinds;
