#!/bin/bash

# Parameters
#SBATCH --cpus-per-task=2
#SBATCH --error=submitit/%j_0_log.err
#SBATCH --gpus-per-node=2
#SBATCH --job-name=submitit
#SBATCH --mem=1GB
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --open-mode=append
#SBATCH --output=submitit/%j_0_log.out
#SBATCH --signal=USR2@90
#SBATCH --time=3
#SBATCH --wckey=submitit

# command
export SUBMITIT_EXECUTOR=slurm
srun --unbuffered --output submitit/%j_%t_log.out --error submitit/%j_%t_log.err python3 -u "$STANDIN" submitit submitit
