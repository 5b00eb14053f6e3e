#!/bin/bash
#SBATCH --ntasks=6
#SBATCH --gpus-per-task=1
#SBATCH --mem-per-cpu=100
#SBATCH --time=1
#SBATCH -J tasks
#SBATCH -o tasks-%j.out
export MASTER_PORT=$((20000 + SLURM_JOB_ID * 10 % 9000)) MASTER_ADDR
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun python3 "$STANDIN" fsdp
