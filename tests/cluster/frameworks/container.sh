#!/bin/sh
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=1
#SBATCH --mem=300
#SBATCH --time=1
#SBATCH --job-name=container
#SBATCH --output=container-%j.out
#SBATCH --export=NONE
# A container is started with what the job has, and nothing of the user's shell.
export PATH=/usr/bin:/bin
[ -z "$LEAKED" ] || exit 3
srun --export=ALL env -i PATH="$PATH" sh -c 'echo container: inside ok'
