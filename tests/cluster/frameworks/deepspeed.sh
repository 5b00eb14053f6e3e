#!/bin/bash
#SBATCH --job-name=deepspeed
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gres=gpu:4
#SBATCH --cpus-per-task=1
#SBATCH --mem=500
#SBATCH --time=0-00:01
#SBATCH --output=%x-%j.out
export GPUS_PER_NODE=4
hostfile=hostfile.$SLURM_JOB_ID
for node in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do
	echo "$node slots=$GPUS_PER_NODE"
done > "$hostfile"
MASTER_ADDR=$(head -n 1 "$hostfile" | cut -d' ' -f1)
deepspeed --hostfile "$hostfile" --launcher SLURM --master_addr "$MASTER_ADDR" --master_port $((20000 + SLURM_JOB_ID * 10 % 9000)) fsdp
