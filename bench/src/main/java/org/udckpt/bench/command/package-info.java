/** Commands that are run and what they print: udckpt's own, and any other. */
package org.udckpt.bench.command;
