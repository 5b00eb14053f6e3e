#!/bin/bash
# A script that knows nothing of the auction. What its options ask for is what it is sold:
#   sbatch --bid=300 --nodes=2 --gpus-per-node=2 --mem=2G --time=5 my-own.sh
#SBATCH --output=%x-%j.out

echo "$SLURM_JOB_NUM_NODES nodes: $SLURM_JOB_NODELIST"
# shellcheck disable=SC2016 # each node says its own
srun sh -c 'echo "$SLURMD_NODENAME gives the GPUs $CUDA_VISIBLE_DEVICES"'
exec srun sleep "${1:-60}"
