#!/bin/bash
#SBATCH --job-name=ddp
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=6
#SBATCH --mem=1G
#SBATCH --time=00:01:00
#SBATCH --output=%x-%j.out

head_node=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun torchrun --nnodes="$SLURM_NNODES" --nproc_per_node=4 --rdzv_id="$SLURM_JOB_ID" --rdzv_backend=c10d \
	--rdzv_endpoint="$head_node:$((20000 + SLURM_JOB_ID * 10 % 9000))" train
