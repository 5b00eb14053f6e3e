#!/bin/bash
# The script of the demo's bids: one line starts the PSs and workers of the whole group. Submit it yourself:
#   sbatch --bid=100 --model=small train.sh small
#SBATCH --output=%x-%j.out

# The work of the profiles in auction.conf. Their times are what a user would measure and round up; here the pace is what
# the emulated GPUs really take.
case ${1:-small} in
small) work=(--epochs=10 --chunks=2 --minibatches=15) ;;
medium) work=(--epochs=10 --chunks=4 --minibatches=15) ;;
large) work=(--epochs=10 --chunks=8 --minibatches=12) ;;
*) echo "train.sh: $1: expected small, medium or large" >&2; exit 2 ;;
esac

exec slaunch auction-train "${work[@]}" --seed="${SLURM_JOB_ID:-1}" --pace=v100=60ms,t4=120ms,ps.s=6ms,ps.m=3ms
