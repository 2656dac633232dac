/**
 * A job in a batch system: what it does when it is told that its time is nearly over (docs/user/slurm.md). Speaks to
 * the running job by its commands alone.
 */
package org.udckpt.cli.batch;
