/* srun_gpus.h - GPUs of no type that srun asks for outside of a job. */
#ifndef AUC_SRUN_GPUS_H
#define AUC_SRUN_GPUS_H

/*
 * Before srun submits its job. From 23.02 on its step asks for the GRES of each node that the job's
 * record has as well as for what its own --gpus-per-node or --gpus says, and Slurm refuses GPUs of
 * a type beside GPUs of none. On nodes with GPUs of several types the record of a sale says which
 * were bought. What --gres says the record replaces: so GPUs of no type become a part of --gres.
 *
 * Where Slurm has no need of it, where it is not known how many GPUs that makes on each node, or
 * srun's options cannot be reached, nothing is done.
 */
void auc_srun_gpus(void);

#endif
