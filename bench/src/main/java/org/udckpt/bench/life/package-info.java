/** A described application under udckpt: who starts it, over what, and its lives from their start to their end. */
package org.udckpt.bench.life;
