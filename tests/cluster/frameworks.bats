# Scripts as people have them: each runs on a partition without an auction, and then, with one option more and not a character changed,
# in what it has bought. frameworks/ has the scripts, and stand-ins for the frameworks that make the same checks.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --nodes 'node[1-4]:partition=edge,cpus=64,mem=64000,gpus=v100:16' --nodes 'plain[1-4]:partition=main,cpus=64,mem=64000,gpus=v100:16'
	export SCRIPTS=$BATS_TEST_DIRNAME/frameworks
	export HERE=$SANDBOX_DIR/home/alice
	local name

	mkdir -p "$HERE/bin" "$HERE/submitit"
	cp "$SCRIPTS"/*.sh "$SCRIPTS/standin.py" "$HERE/"
	for name in torchrun deepspeed ray; do
		printf '#!/bin/sh\nexec python3 %s %s "$@"\n' "$HERE/standin.py" "$name" > "$HERE/bin/$name"
		chmod 755 "$HERE/bin/$name"
	done
	printf 'PATH=%s:$PATH\n' "$HERE/bin" > "$HERE/bin/activate"
	cat > "$HERE/got.sh" <<-'END'
		#!/bin/bash
		count() { [ -z "$1" ] && echo 0 || tr , '\n' <<< "$1" | wc -l; }
		echo "nodes=$SLURM_NNODES tasks=$SLURM_NTASKS/$SLURM_TASKS_PER_NODE/$SLURM_NTASKS_PER_NODE cpus=$SLURM_CPUS_PER_TASK/$SLURM_CPUS_ON_NODE/$SLURM_JOB_CPUS_PER_NODE"
		echo "gpus=$SLURM_GPUS/$SLURM_GPUS_PER_NODE/$SLURM_GPUS_PER_TASK/$SLURM_GPUS_ON_NODE/$(count "$CUDA_VISIBLE_DEVICES")"
		scontrol -o show job "$SLURM_JOB_ID" | grep -oE ' (NumTasks|CPUs/Task|TRES|AllocTRES)=[^ ]*'
		srun bash -c 'echo "rank $SLURM_PROCID of $SLURM_NTASKS is $SLURM_LOCALID on $SLURM_NODEID, gpus $(tr -dc , <<< "$CUDA_VISIBLE_DEVICES" | wc -c)$([ -n "$CUDA_VISIBLE_DEVICES" ] && echo +1)"' 2>&1 |
			grep -v '^srun: Warning' | sort
	END
	chmod 755 "$HERE/got.sh"
	chown -R alice: "$HERE"
}

# sbatch in alice's shell. send WORD...: prints the job's id
send()
{
	submit_in_shell sbatch --parsable "$@" | grep -xE '[0-9]+'
}

submit_in_shell()
{
	as alice env PATH="$HERE/bin:$PATH" STANDIN="$HERE/standin.py" LEAKED=yes "$@"
}

# What it is worth falls, so that it comes soon although other jobs have bought slots.
bid=--bid=linear:3000,60/m

# Each SCRIPT of the arguments is sent to main, and again with a bid: its id in plain[SCRIPT], sold[SCRIPT].
declare -gA plain sold
send_both()
{
	local script

	for script in "$@"; do
		plain[$script]=$(send "$script.sh")
		sold[$script]=$(send "$bid" "$script.sh")
		# As its owner wrote it, byte for byte.
		[ "$(scontrol write batch_script "${sold[$script]}" - | md5sum)" = "$(md5sum < "$SCRIPTS/$script.sh")" ]
	done
}

# Both have ended well, on a node of theirs. both_ended SCRIPT...
both_ended()
{
	local script job

	for script in "$@"; do
		for job in "${plain[$script]}" "${sold[$script]}"; do
			wait_until 150 job_ended "$job"
			if ! job_is "$job" COMPLETED; then
				echo "$script, job $job: $(job_state "$job")" >&2
				cat "$HERE/$script-$job.out" "$HERE/submitit/${job}"_* >&2 || true
				return 1
			fi
		done
		[ "$(job_field "${plain[$script]}" Partition)" = main ]
		[ "$(job_field "${sold[$script]}" Partition)" = edge ]
		[ "$(group_jobs "${sold[$script]}")" = "${sold[$script]}" ]
	done
}

# Both have said TEXT in N lines. both_say SCRIPT N TEXT
both_say()
{
	local job

	for job in "${plain[$1]}" "${sold[$1]}"; do
		[ "$(grep -cE "$3" "$HERE/$1-$job.out")" = "$2" ] || { cat "$HERE/$1-$job.out" >&2; return 1; }
	done
}

@test "torchrun on two nodes, standalone, FSDP by srun, DeepSpeed's hostfile" {
	send_both ddp standalone fsdp deepspeed
	both_ended ddp standalone fsdp deepspeed
	both_say ddp 8 'ddp: rank [0-7] of 8 ok'
	both_say standalone 4 'ddp: rank [0-3] of 4 ok'
	both_say fsdp 8 'fsdp: rank [0-7] of 8 ok'
	both_say deepspeed 8 'fsdp: rank [0-7] of 8 ok'
}

# bats test_tags=nightly
@test "Megatron on whole nodes, JAX, Lightning, tasks without nodes" {
	send_both megatron jax lightning tasks
	both_ended megatron jax lightning tasks
	both_say megatron 8 'megatron: rank [0-7] of 8 ok'
	both_say jax 8 'jax: rank [0-7] of 8 ok'
	both_say lightning 8 'lightning: rank [0-7] of 8 ok'
	both_say tasks 6 'fsdp: rank [0-5] of 6 ok'
}

@test "a sweep as a job array" {
	local array task

	plain[sweep]=$(send sweep.sh)
	sold[sweep]=$(send "$bid" sweep.sh)
	[ "$(scontrol write batch_script "${sold[sweep]}" - | md5sum)" = "$(md5sum < "$SCRIPTS/sweep.sh")" ]
	for task in 2 5 8; do
		for array in "${plain[sweep]}" "${sold[sweep]}"; do
			wait_until 90 job_is "${array}_$task" COMPLETED
		done
		[ "$(job_field "${plain[sweep]}_$task" Partition)" = main ]
		[ "$(job_field "${sold[sweep]}_$task" Partition)" = edge ]
		grep -q "^task $task of 3, 2 to 8 by 3$" "$HERE/sweep-${sold[sweep]}_$task.out"
		diff "$HERE/sweep-${plain[sweep]}_$task.out" "$HERE/sweep-${sold[sweep]}_$task.out"
	done
}

# bats test_tags=nightly
@test "submitit, a container without the user's environment, Ray, a server on two nodes, MPI" {
	as alice python3 standin.py submitit_pickle submitit/submitted.pkl
	send_both submitit container ray server mpi
	both_ended submitit container ray server mpi
	both_say container 2 'container: inside ok'
	both_say ray 1 'ray: 3 nodes ok'
	both_say server 1 'ray: 2 nodes ok'
	both_say mpi 4 'mpi: rank [0-3] of 4 ok'
	for job in "${plain[submitit]}" "${sold[submitit]}"; do
		for rank in 0 1 2 3; do
			grep -q "submitit: rank $rank of 4 ok" "$HERE/submitit/${job}_${rank}_log.out"
			python3 -c 'import pickle, sys; sys.exit(pickle.load(open(sys.argv[1], "rb")) != ("success", 1024))' \
				"$HERE/submitit/${job}_${rank}_result.pkl"
		done
	done
}

# bats test_tags=nightly
@test "what is asked for in any way is what is had" {
	local whole lines=() plain_jobs=() sold_jobs=() words i

	# From 24.11 on Slurm itself never starts tasks that take more CPUs of a node than it has.
	mapfile -t lines < <(grep -v '^#' "$SCRIPTS/options" | if [[ $(sbatch -V) == *' 22.05.'* ]]; then cat; else grep -v -e '-c40 .*--overcommit'; fi)
	[ "${#lines[@]}" -ge 30 ]
	for whole in '' 'whole '; do
		for i in "${!lines[@]}"; do
			[[ $whole == "${lines[i]%%-*}" ]] || continue
			read -ra words <<< "${lines[i]#whole }"
			plain_jobs[i]=$(send -o "got-%j" "${words[@]}" got.sh)
			sold_jobs[i]=$(send "$bid" -o "got-%j" "${words[@]}" got.sh)
		done
		for i in "${!lines[@]}"; do
			[[ $whole == "${lines[i]%%-*}" ]] || continue
			wait_until 200 job_ended "${plain_jobs[i]}"
			wait_until 200 job_ended "${sold_jobs[i]}"
			if ! diff "$HERE/got-${plain_jobs[i]}" "$HERE/got-${sold_jobs[i]}" >&2 || ! grep -q '^rank 0 ' "$HERE/got-${sold_jobs[i]}"; then
				echo "${lines[i]}" >&2
				return 1
			fi
		done
	done
}

# bats test_tags=nightly
@test "options in the environment, and --signal and scancel that reach the tasks on all nodes" {
	local job jobs=() word theirs ours

	# Both have the same from variables.
	theirs=$(submit_in_shell env SBATCH_TIMELIMIT=1 SBATCH_GRES=gpu:2 SBATCH_MEM_PER_NODE=300 sbatch --parsable -N2 -o got-%j got.sh)
	ours=$(submit_in_shell env SBATCH_TIMELIMIT=1 SBATCH_GRES=gpu:2 SBATCH_MEM_PER_NODE=300 sbatch --parsable "$bid" -N2 -o got-%j got.sh)
	theirs=$(tail -n 1 <<< "$theirs") ours=$(tail -n 1 <<< "$ours")
	# Told a minute before the end, and by their owner.
	for word in "" "$bid"; do
		jobs+=("$(send $word told.sh)")
		job=$(send $word told.sh)
		wait_until 90 eval '[ "$(grep -c trains "$HERE/told-'"$job"'.out")" = 4 ]'
		as alice scancel --signal=USR2 "$job"
		wait_until 30 eval '[ "$(grep -c "told by 12 at" "$HERE/told-'"$job"'.out")" = 4 ]'
		wait_until 60 job_is "$job" COMPLETED
	done
	for job in "$theirs" "$ours"; do
		wait_until 90 job_is "$job" COMPLETED
	done
	diff "$HERE/got-$theirs" "$HERE/got-$ours"
	for job in "${jobs[@]}"; do
		wait_until 150 job_ended "$job"
		job_is "$job" COMPLETED
		[ "$(grep -c "told by 10 at" "$HERE/told-$job.out")" = 4 ]
		[ "$(sed -n 's/.* told by 10 at //p' "$HERE/told-$job.out" | sort -n | tail -n 1)" -le "$(($(job_time "$job" StartTime) + 120 - 30 + late))" ]
	done
}
