# A job as its owner wrote it, sold by one option more: its own nodes, tasks, CPUs, GPUs, memory and time are what is sold, and it stays
# one ordinary job of Slurm's.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --nodes 'node[1-4]:partition=edge,cpus=8,mem=16000,gpus=v100:4,tmp=2000' --nodes 'plain1:partition=plain,cpus=8,mem=16000,gpus=v100:4'
}

teardown()
{
	cancel_all
}

# What a torchrun does on each node of a job: finds who it is, and how many there are. torch FILE
torch_script()
{
	cat > "$SANDBOX_DIR/home/alice/$1" <<-'END'
		#!/bin/bash
		#SBATCH --job-name=train
		#SBATCH --nodes=2
		#SBATCH --ntasks-per-node=1
		#SBATCH --gpus-per-node=4
		#SBATCH --cpus-per-task=6
		#SBATCH --mem=4000
		#SBATCH --time=2
		#SBATCH --output=%x-%j.out

		head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
		echo "head $head nodes $SLURM_JOB_NUM_NODES tasks $SLURM_NTASKS per-node $SLURM_NTASKS_PER_NODE"
		srun bash -c 'echo "rank $SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME gpus $CUDA_VISIBLE_DEVICES cpus $SLURM_CPUS_PER_TASK"'
		echo "$(scontrol -o show job $SLURM_JOB_ID | grep -o ' NumNodes=[0-9]*')"
	END
	chown alice: "$SANDBOX_DIR/home/alice/$1"
}

# The nodes that a gang has bought. gang_nodes JOB
gang_nodes()
{
	receipt_get "$1" '.plan[0].nodes | join(",")'
}

output()
{
	cat "$SANDBOX_DIR/home/alice/$1"
}

@test "a script of two nodes runs unchanged with one option more" {
	torch_script train.sh
	before=$(md5sum < "$SANDBOX_DIR/home/alice/train.sh")
	run -0 as alice sbatch --bid=3000 train.sh
	[[ $output == *'auction: offered: 2 nodes, node1, node2, with cpu=6 mem=4000 gpu:v100=4 each, '* ]]
	job=$(grep -o 'Submitted batch job [0-9]*' <<< "$output" | grep -o '[0-9]*$')
	# One job of Slurm's, on what it bought, and its script byte for byte.
	[ "$(receipt_get "$job" '.plan | length')" = 1 ]
	[ "$(receipt_get "$job" '"\(.shape) \(.per_node.cpu) \(.per_node.mem) \(.per_node["gpu:v100"])"')" = "0 6 4000 4" ]
	[ "$(scontrol write batch_script "$job" - | md5sum)" = "$before" ]
	wait_until 60 job_ended "$job"
	[ "$(group_jobs "$job")" = "$job" ]
	# What was sold is sold once: it does not run again when it has ended.
	for what in requeue requeuehold; do
		run ! as alice scontrol "$what" "$job"
		[[ $output == *'Requested operation is presently disabled'* ]]
		run ! scontrol "$what" "$job"
	done
	job_is "$job" COMPLETED
	run -0 output "train-$job.out"
	[ "${lines[0]}" = "head node1 nodes 2 tasks 2 per-node 1" ]
	[ "$(output "train-$job.out" | grep -c 'rank [01] of 2 on node[12] gpus 0,1,2,3 cpus 6')" = 2 ]
	[ "$(output "train-$job.out" | grep '^rank' | sort -u | wc -l)" = 2 ]
	# The slots that it did not begin are paid back.
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$(micro "$(database_receipt "$job" .payment)")" -ge 0 ]
	sacct_is "$job" State COMPLETED
}

@test "by --wrap, from standard input, tasks without nodes, steps on chosen nodes" {
	wrap=$(submit alice --bid=linear:3000,100/m -N2 --mem=500 --tmp=1G -t1 -o wrap.out --wrap 'srun hostname; echo done $SLURM_NNODES')
	piped=$(printf '#!/bin/sh\n#SBATCH -t 1 -N 1\nsrun echo piped $SLURM_NNODES\n' | submit alice --bid=linear:3000,100/m --mem=300 -o piped.out)
	# Eight tasks of a GPU each, on nodes of four.
	tasks=$(submit alice --bid=linear:3000,100/m -n 8 -c 1 --gpus-per-task=1 --mem-per-cpu=100 -t 1 -o tasks.out \
		--wrap 'srun bash -c "echo \$SLURM_PROCID of \$SLURM_NTASKS on \$SLURMD_NODENAME with \$CUDA_VISIBLE_DEVICES"')
	[ "$(receipt_get "$tasks" '"\(.plan[0].nodes | length) \(.per_node.cpu) \(.per_node["gpu:v100"])"')" = "2 4 4" ]
	# A head and a worker, as Ray and vLLM are started.
	server=$(submit alice --bid=linear:3000,100/m -N2 --ntasks-per-node=1 --gpus-per-node=1 -c2 --mem=600 -t1 -o server.out --wrap '
		set -- $(scontrol show hostnames "$SLURM_JOB_NODELIST")
		srun -N1 -n1 -w "$1" bash -c "echo head on \$SLURMD_NODENAME; sleep 2" &
		sleep 1
		srun -N1 -n1 -w "$2" bash -c "echo worker on \$SLURMD_NODENAME"
		wait')
	for job in $wrap $piped $tasks $server; do
		wait_until 90 job_ended "$job"
		wait_until 30 sacct_is "$job" State COMPLETED
	done
	[ "$(output wrap.out | tail -n 1)" = "done 2" ]
	[ "$(output wrap.out | wc -l)" = 3 ]
	[ "$(output piped.out)" = "piped 1" ]
	[ "$(output tasks.out | wc -l)" = 8 ]
	[ "$(output tasks.out | cut -d' ' -f1 | sort -n | paste -sd' ')" = "0 1 2 3 4 5 6 7" ]
	[ "$(output tasks.out | cut -d' ' -f5 | sort | uniq -c | awk '{print $1}' | paste -sd' ')" = "4 4" ]
	[ "$(output server.out | grep -cE '^(head|worker) on node[1-4]$')" = 2 ]
}

# Lines "TASKS NODE" of the tasks of a job's step. tasks_by_node FILE
tasks_by_node()
{
	output "$1" | grep '^task' | cut -d' ' -f4 | sort | uniq -c | awk '{print $1}' | sort -rn | paste -sd' '
}

# bats test_tags=nightly
@test "tasks that do not divide over their nodes" {
	local said='srun bash -c "echo task \$SLURM_PROCID on \$SLURMD_NODENAME with \${CUDA_VISIBLE_DEVICES-none}"'

	# They are worth more the sooner they end, so that they share nodes.
	two=$(submit alice --bid=linear:3000,100/m -N2 -n3 --gpus-per-task=1 --mem=100 -t1 -o two.out --wrap "$said")
	[ "$(receipt_get "$two" '"\(.plan[0].nodes | length) \(.per_node.cpu) \(.per_node["gpu:v100"])"')" = "2 2 2" ]
	three=$(submit alice --bid=linear:3000,100/m -N3 -n4 --mem=100 -t1 -o three.out --wrap "$said; echo \$SLURM_TASKS_PER_NODE")
	# On no named number of nodes.
	prime=$(submit alice --bid=linear:3000,100/m -n11 --mem=100 -t1 -o prime.out --wrap "$said")
	[ "$(receipt_get "$prime" '"\(.plan[0].nodes | length) \(.per_node.cpu)"')" = "2 6" ]
	# At most four on a node, of two CPUs and a GPU each.
	four=$(submit alice --bid=linear:3000,100/m -n7 --ntasks-per-node=4 -c2 --gpus-per-task=1 --mem=100 -t1 -o four.out --wrap "$said")
	[ "$(receipt_get "$four" '"\(.plan[0].nodes | length) \(.per_node.cpu) \(.per_node["gpu:v100"])"')" = "2 8 4" ]
	for job in $two $three $prime $four; do
		wait_until 60 job_ended "$job"
		wait_until 30 sacct_is "$job" State COMPLETED
	done
	[ "$(tasks_by_node two.out)" = "2 1" ]
	[ "$(tasks_by_node three.out)" = "2 1 1" ]
	[ "$(output three.out | tail -n 1)" = "2,1(x2)" ]
	[ "$(tasks_by_node prime.out)" = "6 5" ]
	[ "$(tasks_by_node four.out)" = "4 3" ]
	# A GPU of its own each.
	[ "$(output two.out | grep '^task' | cut -d' ' -f4,6 | sort -u | wc -l)" = 3 ]
	[ "$(output four.out | grep '^task' | cut -d' ' -f4,6 | sort -u | wc -l)" = 7 ]
	[ "$(output prime.out | cut -d' ' -f2 | sort -n | paste -sd' ')" = "$(seq -s' ' 0 10)" ]
}

@test "of several numbers of nodes the one that pays best" {
	# All the same price: the sooner it is done the more it is worth.
	job=$(submit alice --bid=linear:3000,1000/m --nodes=1-4 --speedup=1:3m,2:2m,4:1m --gpus-per-node=1 --mem=500 -o elastic.out \
		--wrap 'echo nodes $SLURM_NNODES; srun -l hostname | wc -l')
	[ "$(receipt_get "$job" '"\(.plan[0].nodes | length) \(.completion - .start)"')" = "4 6" ]
	wait_until 90 job_ended "$job"
	[ "$(output elastic.out | paste -sd' ')" = "nodes 4 4" ]
}

@test "what a bid cannot have is refused, all in one answer" {
	run ! as alice sbatch --bid=3000 -N2 --wrap true
	[[ $output == *"auction: --time: not given, expected how long the job runs"* ]]
	for limit in 0 UNLIMITED; do
		run ! as alice sbatch --bid=3000 -N2 -t $limit --wrap true
		[[ $output == *"auction: --time: no limit (0 or UNLIMITED), expected how long the job runs at most"* ]]
	done
	run ! as alice sbatch --bid=3000 -N2 -t1 -w node1,plain1 --wrap true
	[[ $output == *"auction: --nodelist: plain1 is not for sale; \"sprice -N\" lists the nodes that are"* ]]
	run ! as alice sbatch --bid=3000 -N2 -t1 --mem=100 -x node1,nosuch --wrap true
	[[ $output == *"auction: --exclude: 'nosuch' is not the name of a node of this cluster, expected names that \"sinfo -N\" lists"* ]]
	run -0 as alice sbatch --test-only --bid=3000 -N2 -t1 --mem=100 -x node1,plain1 --wrap true
	# Slurm 22.05 starts it, later releases do not.
	over=(as alice sbatch --test-only --bid=3000 -N2 -n20 -c5 -t1 --exclusive --overcommit --wrap true)
	if [[ $(sbatch -V) == *' 22.05.'* ]]; then
		run -0 "${over[@]}"
	else
		run ! "${over[@]}"
		[[ $output == *"it needs 2 nodes with cpu=50 "*" each in one partition, and of the nodes that it may use 0 are as large"* ]]
	fi
	run ! as alice sbatch --bid=3000 -N2 -t1 -C nothing --wrap true
	[[ $output == *"auction: --constraint=nothing: no node for sale that the job may use is like that"* ]]
	run ! as alice sbatch --bid=3000 -N2 -n5 --ntasks-per-node=2 -t1 --wrap true
	[[ $output == *"auction: --ntasks=5 with --ntasks-per-node=2 on 2 nodes: expected at most 4 tasks, or --nodes=3"* ]]
	# slurmctld would refuse it before it asks anybody.
	run ! as alice sbatch --bid=3000 -N1 -t1 --wrap true : -N1
	[[ $output == *"auction: a heterogeneous job cannot bid; submit each part of it as a job of its own"* ]]
	run ! as alice sbatch --bid=3000 -N2 -t1 --exclusive=user --licenses=x --wrap true
	[[ $output == *"--exclusive=user or mcs, --licenses cannot be combined with a bid"* ]]
	run ! as alice sbatch --bid=3000 -N2 -t1 --gpus=3 --wrap true
	[[ $output == *"gpu: 3 on 2 nodes, expected as many of each node, as in --gpus-per-node=2"* ]]
	run ! as alice sbatch --bid=3000 -N2 -t1 --gpus-per-node=h100:1 --wrap true
	[[ $output == *"no node for sale has a 'gpu:h100', expected one of gpu:v100"* ]]
	run ! as alice sbatch --bid=3000 -N5 -t1 --mem=100 --wrap true
	[[ $output == *"refused: no schedule is possible at any price: it needs 5 nodes with cpu=1 mem=100 each in one partition, and of the nodes \
that it may use 4 are as large"* ]]
	# On any number of nodes: the one that comes nearest.
	run ! as alice sbatch --bid=3000 -n40 -t1 --mem-per-cpu=10 --wrap true
	[[ $output == *"it needs 5 nodes with cpu=8 mem=80 each in one partition, and of the nodes that it may use 4 are as large"* ]]
	run ! as alice sbatch --bid=3000 -N1 -t1 --mem=100 -b now+3hours --wrap true
	[[ $output == *"to the end of the horizon there are 00:00:00 (0): expected an earlier start (--begin, --dependency), by "* ]]
	# Which Slurm ignores without AllowSpecResourcesUsage.
	run -0 as alice sbatch --test-only --bid=3000 -N1 -t1 --mem=100 -S 1 --wrap true
	run ! as alice sbatch --bid=3000 -N1 -t1 --mem=100 --tmp=3000 --wrap true
	[[ $output == *"auction: --tmp=3000: expected at most 2000 MB, which each node for sale has"* ]]
	run ! as alice sbatch --bid=3000 -N1 -t 1-12 --mem=100 --wrap true
	[[ $output == *"refused: no schedule is possible at any price: it takes 1-12:00:00 (12960 slots), and from its earliest start to the \
end of the horizon there are 00:29:"?0" (1"??"): expected a shorter --time, at most 29 minutes"* ]]
	run -0 as alice sbatch --test-only --bid=3000 -N1 -t29 --mem=100 --wrap true
	run ! as alice sbatch --bid=3000 -N1 -t1 -d afterok:99999 --wrap true
	[[ $output == *"--dependency=afterok:99999: 99999 was not sold by this auction, or has ended"* ]]
	run ! as alice sbatch --bid=3000 -N1 -t1 -d expand:1 --wrap true
	[[ $output == *"--dependency=expand:1: expected afterok, afterany, afternotok, aftercorr, after or singleton"* ]]
	other=$(as alice sbatch --parsable -p plain -J waits --hold --wrap true)
	run ! as alice sbatch --bid=3000 -N1 -t1 -J waits -d singleton --wrap true
	[[ $output == *"--dependency=singleton: job $other has that name (waits) and has not bought its time: nobody knows when it ends"* ]]
	for word in gang=1:60:cpu=1 begin=1000 since=1 requeue=yes qos=normal accounts=training; do
		run ! as alice env SLURM_AUCTION_BID="3000 $word" sbatch -N1 -t1 --wrap true
		[[ $output == *"are no options"* ]]
	done
}

@test "nodes, earliest start and deadline are those of the job" {
	job=$(submit alice --bid=3000 -N2 -t1 --mem=100 -w node3,node4 -b now+60 --wrap true)
	[ "$(gang_nodes "$job")" = node3,node4 ]
	[ "$(plan_start "$job")" -ge $((EPOCHSECONDS + 50)) ]
	job=$(submit alice --bid=3000 -N2 -t1 --mem=100 -x 'node[1-2]' --wrap true)
	[ "$(gang_nodes "$job")" = node3,node4 ]
	run ! as alice sbatch --bid=3000 -N2 -t5 --mem=100 --deadline=now+120 --wrap true
	[[ $output == *"the best schedule comes after the deadline"* ]]
}

# bats test_tags=nightly
@test "a chain: the next one has bought the slots after the one before" {
	first=$(submit alice --bid=3000 -N2 -t1 --mem=100 -o chain.out --wrap 'echo first; sleep 2')
	second=$(submit alice --bid=3000 -N1 -t1 --mem=100 -d "afterok:$first" -o chain.out --open-mode=append --wrap 'echo second')
	[ "$(plan_start "$second")" -ge "$(plan_end "$first")" ]
	# By name: after all of that name, and nobody else's.
	one=$(submit alice --bid=3000 -J link -N1 -t1 --mem=100 -o link.out --wrap 'echo first; sleep 30')
	two=$(submit alice --bid=3000 -J link -N1 -t1 --mem=100 -d singleton -o link.out --open-mode=append --wrap 'echo second')
	[ "$(plan_start "$two")" -ge "$(plan_end "$one")" ]
	three=$(submit alice --bid=3000 -J link -N1 -t1 --mem=100 -d singleton -o /dev/null --wrap true)
	[ "$(plan_start "$three")" -ge "$(plan_end "$two")" ]
	scancel "$three"
	three=$(submit bob --bid=3000 -J link -N1 -t1 --mem=100 -d singleton -o /dev/null --wrap true)
	[ "$(plan_start "$three")" -lt "$(plan_end "$one")" ]
	three=$(submit alice --bid=3000 -N1 -t1 --mem=100 -d "$one" -o /dev/null --wrap true)
	[ "$(plan_start "$three")" -ge "$(plan_end "$one")" ]
	three=$(submit alice --bid=3000 -N1 -t1 --mem=100 -d "after:$one+1" -o /dev/null --wrap true)
	[ "$(plan_start "$three")" -ge $(($(plan_start "$one") + 60)) ]
	# A script of its user goes on at once, before the agent has seen the job: sbatch asks again by itself.
	fails=$(submit alice --bid=3000 -N1 -t1 --mem=100 --wrap 'exit 3')
	never=$(submit alice --bid=3000 -N1 -t1 --mem=100 -d "afterok:$fails" --wrap true)
	wait_until 150 job_ended "$second"
	[ "$(output chain.out | paste -sd' ')" = "first second" ]
	wait_until 60 job_ended "$two"
	[ "$(output link.out | paste -sd' ')" = "first second" ]
	wait_until 90 settled "$never"
	[ "$(database_receipt "$never" .why)" = cancelled ]
}

@test "salloc: what starts at once, or when it could" {
	run -0 as alice salloc --bid=3000 -N2 --gpus-per-node=2 -c2 -t1 --mem=100 srun -N2 bash -c 'echo "$SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME"'
	[[ $output == *"0 of 2 on node"* && $output == *"1 of 2 on node"* && $output == *"auction: offered: 2 nodes"* ]]
	job=$(sed -n 's/.*Granted job allocation //p' <<< "$output")
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	# What begins at once is bought, though what begins later costs nothing.
	busy=$(submit bob --bid=linear:3000,10 -N4 --gpus-per-node=1 -t1 --mem=100 -o /dev/null --wrap 'sleep 50')
	run -0 as alice salloc --bid=3000 -N2 --gpus-per-node=2 -t1 --mem=100 true
	[[ $output == *"auction: offered: 2 nodes"* ]]
	as bob scancel "$busy"
	wait_until 60 status_is .totals.live 0
	# All nodes are taken for a minute.
	busy=$(submit bob --bid=linear:3000,10 -N4 --gpus-per-node=4 -t1 --mem=100 -o /dev/null --wrap 'sleep 50')
	run ! as alice salloc --bid=3000 -N2 --gpus-per-node=4 -t1 --mem=100 true
	[[ $output == *"salloc and srun wait for this slot and the next only, and could have these nodes from $(date +%F) "*", for "* ]]
	# srun outside of a job is told the same.
	run ! as alice srun --bid=3000 -N2 --gpus-per-node=4 -t1 --mem=100 true
	[[ $output == *"salloc and srun wait for this slot and the next only, and could have these nodes from $(date +%F) "*", for "* ]]
	as bob scancel "$busy"
	wait_until 60 status_is .totals.live 0
}

ranks_run()
{
	output=$(as alice srun --bid=3000 -N2 --ntasks-per-node=2 --gpus-per-node=4 --mem=100 -t1 \
		bash -c 'echo "rank $SLURM_PROCID of $SLURM_NTASKS, gpus $CUDA_VISIBLE_DEVICES${SLURM_AUCTION_BID:+, a bid}"' 2>&1)
}

# bats test_tags=nightly
@test "srun outside of a job: waits for what starts at once, and runs in it" {
	# What the test before had sold may not be off its nodes yet.
	wait_until 60 ranks_run
	[ "$(grep -c '^rank [0-3] of 4, gpus 0,1,2,3$' <<< "$output")" = 4 ]
	[[ $output == *"auction: offered: 2 nodes"* ]]
	job=$(sed -n 's/^srun: job \([0-9]*\) has been allocated resources/\1/p' <<< "$output")
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	# Its exit code is the program's; of GPUs that are told by another option, too.
	run -7 as alice srun --bid=3000 -N1 --gpus=2 --mem=100 -t1 sh -c '[ "$CUDA_VISIBLE_DEVICES" = 0,1 ] && exit 7'
	run -8 as alice srun --bid=3000 -N1 -n2 --gpus-per-task=1 --mem=100 -t1 sh -c '[ "$SLURM_NTASKS" = 2 ] && [ -n "$CUDA_VISIBLE_DEVICES" ] && exit 8'
	run -9 as alice srun --bid=3000 --gpus=2 --mem=100 -t1 sh -c '[ "$CUDA_VISIBLE_DEVICES" = 0,1 ] && exit 9'
	run ! as alice srun --bid=3000 true
	[[ $output == *"auction: --time: not given, expected how long the job runs"* ]]
	# In a job it starts steps.
	run ! as alice salloc --bid=3000 -N1 --mem=100 -t1 srun --bid=4000 true
	[[ $output == *"--bid: bids are for sbatch, salloc and srun outside of a job; in a job srun runs in what it has bought"* ]]
}

# bats test_tags=nightly
@test "a node that is drained is replaced before the start, and slurmctld may be restarted meanwhile" {
	job=$(submit alice --bid=3000 -N2 --gpus-per-node=4 -t1 --mem=100 -b now+100 -o moved.out --wrap 'srun hostname; echo $SLURM_JOB_NODELIST')
	wait_until 30 receipt_state_is "$job" sold
	payment=$(receipt_get "$job" .payment) before=$(gang_nodes "$job")
	node=${before%%,*}
	# A slurmctld of 22.05 that ends before the database has answered cannot change the job any more (db_index).
	wait_until 30 eval '[ -n "$(sacct_field "$job" JobID)" ]'
	sandbox restart slurmctld
	scontrol update nodename="$node" state=drain reason=test
	wait_until 60 eval '[[ "$(gang_nodes '"$job"')" != *'"$node"'* ]]'
	after=$(gang_nodes "$job")
	wait_until 150 job_ended "$job"
	[ "$(output moved.out | wc -l)" = 3 ]
	[ "$(scontrol show hostnames "$(output moved.out | tail -n 1)" | paste -sd,)" = "$after" ]
	scontrol update nodename="$node" state=resume
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$payment" = "$(receipt_get "$job" .payment)" ] || [ "$(micro "$(database_receipt "$job" .payment)")" -le "$(micro "$payment")" ]
}

@test "gangs beside jobs of workers and PSs, and one that is cancelled" {
	wait_until 200 status_is .totals.live 0
	jobs=() gangs=()
	for i in 1 2 3; do
		jobs+=("$(submit bob $(small_bid 3000 2) --wrap 'sleep 3')")
		gangs+=("$(submit alice --bid=deadline:3000,10 -N2 --gpus-per-node=2 -c2 -t1 --mem=1000 --wrap 'srun sleep 3')")
	done
	# What is left of two nodes costs something.
	last=
	for job in "${gangs[@]}"; do
		[ "$(micro "$(receipt_get "$job" .payment)")" = 0 ] || last=$job
	done
	[ -n "$last" ]
	as alice scancel "$last"
	for job in "${jobs[@]}" "${gangs[@]}"; do
		wait_until 200 settled "$job"
		[ "$job" = "$last" ] || [ "$(database_receipt "$job" .why)" = completed ]
	done
	[ "$(database_receipt "$last" .why)" = cancelled ]
	[ "$(database_receipt "$last" .payment)" = 0.000000 ]
	! log_has 'not free in its slots' || false
}
