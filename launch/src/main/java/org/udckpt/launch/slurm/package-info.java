/**
 * What Slurm's own commands say of the allocation that this process is in (docs/user/slurm.md). Nothing of Slurm is
 * linked.
 */
package org.udckpt.launch.slurm;
