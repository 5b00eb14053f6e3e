#!/bin/bash
#SBATCH -J told -N2 --ntasks-per-node=2 --mem=300 -t2 --signal=USR1@60 -o %x-%j.out
srun --unbuffered python3 -u "$STANDIN" told
