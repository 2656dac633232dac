#!/bin/bash
# A batch script for Slurm: runs an MPI program by udckpt for as many turns as it needs (docs/user/slurm.md).
#
#     sbatch --ntasks=16 --time=04:00:00 job.sh ./my_program input.dat
#
# Submitted once. It begins the program, and goes on with it from its newest checkpoint whenever Slurm starts it again.
# More nodes: sbatch --nodes=4 --ntasks=128 ...
#SBATCH --nodes=1
# Five minutes before its time is over, or when another job is preferred, this script gets USR1; `udckpt batch` takes a
# checkpoint then and has the job queued again. More than a checkpoint takes (`udckpt list`), and a minute at least.
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
# Each turn goes on writing where the last one stopped.
#SBATCH --open-mode=append

# Checkpoints in between, for what comes without a warning: a node that fails, a job that is cancelled.
export UDCKPT_INTERVAL=${UDCKPT_INTERVAL-30m} UDCKPT_KEEP=${UDCKPT_KEEP-2}

# In place of this shell, so that the signal reaches it. Checkpoints go to slurm-JOBID.ckpt in the directory of
# submission; --dir puts them elsewhere, on a file system that all nodes see.
exec udckpt batch -n "${SLURM_NTASKS:-1}" -- "$@"
