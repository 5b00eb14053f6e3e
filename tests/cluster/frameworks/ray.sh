#!/bin/bash
#SBATCH --job-name=ray
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=2
#SBATCH --gpus-per-task=1
#SBATCH --mem-per-cpu=200
#SBATCH --time=1:00
#SBATCH --output=%x-%j.out
mapfile -t nodes_array < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head_node=${nodes_array[0]}
port=$((20000 + SLURM_JOB_ID * 10 % 9000))
srun --nodes=1 --ntasks=1 -w "$head_node" ray start --head --port="$port" --num-gpus=1 --block &
worker_num=$((SLURM_JOB_NUM_NODES - 1))
srun --nodes="$worker_num" --ntasks="$worker_num" --exclude="$head_node" ray start --address="$head_node:$port" --num-gpus=1 --block &
ray driver --address="$head_node:$port" --nodes="$SLURM_JOB_NUM_NODES"
