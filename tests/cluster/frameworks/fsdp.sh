#!/bin/bash
#SBATCH --job-name=fsdp
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --gpus-per-task=1
#SBATCH --ntasks-per-node=4
#SBATCH --mem-per-gpu=200
#SBATCH --time=1
#SBATCH --output=fsdp-%j.out
export MASTER_PORT=$((20000 + SLURM_JOBID * 10 % 9000))
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR
srun python3 "$STANDIN" fsdp
