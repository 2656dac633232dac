/**
 * The agent's end of the connection to the preloaded library in each rank: requests, messages, and the ranks'
 * numbers.
 */
package org.udckpt.ud;
