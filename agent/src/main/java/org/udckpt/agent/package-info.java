/**
 * One host's part of a job: its ranks, their shepherd, their signals and streams, and everything that ends with them.
 */
package org.udckpt.agent;
