/** Plots as SVG files: no library, no script, readable in any browser. */
package org.udckpt.bench.plot;
