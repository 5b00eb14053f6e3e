#!/bin/bash
#SBATCH -J server -N2 --ntasks-per-node=1 --gpus-per-node=2 -c2 --mem=600 -t1 -o %x-%j.out
# A server over two nodes: the head, the others, then a client on the head beside it.
HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
PORT=$((20000 + SLURM_JOB_ID * 10 % 9000))
srun --overlap -N1 -n1 -w "$HEAD" ray start --head --port="$PORT" --num-gpus=2 --block &
srun --overlap -N1 -n1 -x "$HEAD" ray start --address="$HEAD:$PORT" --num-gpus=2 --block &
srun --overlap -N1 -n1 -w "$HEAD" ray driver --address="$HEAD:$PORT" --nodes=2
