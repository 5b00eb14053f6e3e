#!/bin/bash
#SBATCH -N2 --ntasks-per-node=4 --gpus-per-node=4 --mem-per-cpu=100 -t1 -J jax -o %x-%j.out
srun python3 "$STANDIN" jax
