#!/bin/bash
#SBATCH --nodes=2 --time=0:01:00 --exclusive --mem=0 --gpus-per-node=4 --ntasks-per-node=4 --job-name=megatron
#SBATCH --output=%x-%j.out
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR MASTER_PORT=$((20000 + SLURM_JOB_ID * 10 % 9000)) CUDA_DEVICE_MAX_CONNECTIONS=1
run_cmd="python3 -u $STANDIN megatron --tensor-model-parallel-size 4 --pipeline-model-parallel-size 2"
srun -l --output="%x-%j.out" --open-mode=append sh -c "$run_cmd"
