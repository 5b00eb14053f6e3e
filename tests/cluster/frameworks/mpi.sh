#!/bin/bash
#SBATCH -J mpi -N2 --ntasks-per-node=2 --mem-per-cpu=200 --time=1 -o %x-%j.out
srun --mpi=pmi2 python3 "$STANDIN" mpi
