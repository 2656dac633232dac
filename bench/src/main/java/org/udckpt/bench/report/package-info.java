/** {@code udckpt bench report}: pages of what {@code udckpt bench run} has measured, beside published numbers. */
package org.udckpt.bench.report;
