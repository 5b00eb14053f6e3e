#!/bin/bash -l
#SBATCH -J standalone
#SBATCH -N 1
#SBATCH --gres=gpu:v100:4
#SBATCH -c 4
#SBATCH --mem=800M
#SBATCH -t 1
#SBATCH -o %x-%j.out
# shellcheck source=/dev/null
source bin/activate
torchrun --standalone --nproc_per_node=4 train
