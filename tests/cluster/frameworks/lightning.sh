#!/bin/bash -l
#SBATCH --nodes=2             # This needs to match Trainer(num_nodes=...)
#SBATCH --gres=gpu:4
#SBATCH --ntasks-per-node=4   # This needs to match Trainer(devices=...)
#SBATCH --mem=0
#SBATCH --time=0-00:03:00
#SBATCH --signal=SIGUSR1@90
#SBATCH --job-name=lightning
#SBATCH --output=%x-%j.out
export NCCL_DEBUG=INFO
export PYTHONFAULTHANDLER=1
srun python3 "$STANDIN" lightning 2 4
