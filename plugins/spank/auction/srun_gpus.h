/* srun_gpus.h - GPUs of no type that srun asks for outside of a job. */
#ifndef AUC_SRUN_GPUS_H
#define AUC_SRUN_GPUS_H

/*
 * Before srun submits its job. From 23.02 on its step asks for the GRES of each node that the job's
 * record has, which are of a type once they are sold, as well as for what its own --gpus-per-node
 * or --gpus says, and Slurm refuses GPUs of a type beside GPUs of none. What --gres says the record
 * replaces: so GPUs of no type become a part of --gres.
 *
 * ESPANK_SUCCESS, or, with a sentence for the user, ESPANK_BAD_ARG: it is not known how many GPUs
 * that makes on each node, and the step would be refused after the sale. Where Slurm has no need of
 * it, or srun's options cannot be reached, nothing is done.
 */
int auc_srun_gpus(void);

#endif
