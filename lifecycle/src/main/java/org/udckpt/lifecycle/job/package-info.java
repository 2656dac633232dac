/** A job on this host from its start on: commands that it answers, its checkpoints by themselves, tiers, metrics. */
package org.udckpt.lifecycle.job;
