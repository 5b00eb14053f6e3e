#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --array=2-8:3%3
#SBATCH --output=sweep-%A_%a.out
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --gpus=1
#SBATCH --mem=500
#SBATCH --time=1

# One set of parameters for each task, as the documentation of many clusters shows it.
rates=(0.1 0.03 0.01 0.003 0.001 0.0003 0.0001 0.00003 0.00001)
rate=${rates[$SLURM_ARRAY_TASK_ID]}
count() { [ -z "$1" ] && echo 0 || tr , '\n' <<< "$1" | wc -l; }

: "${SLURM_ARRAY_JOB_ID:?}" "${SLURM_ARRAY_TASK_ID:?}"
echo "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT, $SLURM_ARRAY_TASK_MIN to $SLURM_ARRAY_TASK_MAX by $SLURM_ARRAY_TASK_STEP"
echo "rate $rate on $SLURM_NNODES node, $SLURM_CPUS_PER_TASK CPUs, $(count "$CUDA_VISIBLE_DEVICES") GPU"
srun --ntasks=1 bash -c 'echo "step of $SLURM_ARRAY_TASK_ID with $(tr -dc , <<< "$CUDA_VISIBLE_DEVICES" | wc -c)$([ -n "$CUDA_VISIBLE_DEVICES" ] && echo +1) GPU"'
# What else Slurm sets, by name.
env | grep -oE '^SLURM_[A-Z_]+=' | grep -v SPANK | sort
