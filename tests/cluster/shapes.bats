# Where a gang may be, and what of it: features of nodes, one leaf switch, whole nodes.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4,features=ib+old,switch=leaf1' \
		--nodes 'node[3-4]:partition=edge,cpus=8,mem=16000,gpus=v100:4,features=ib+new,switch=leaf2' \
		--nodes 'node[5-6]:partition=edge,cpus=4,mem=8000,features=cpu,switch=leaf2'
}

teardown()
{
	cancel_all
}

gang_nodes()
{
	receipt_get "$1" '.plan[0].nodes | join(",")'
}

# Waits for a job to have run, on the nodes that it bought. ran_as_sold JOB
ran_as_sold()
{
	wait_until 90 job_ended "$1"
	wait_until 60 sacct_is "$1" State COMPLETED
	wait_until 30 ran_where_sold "$1" || {
		echo "sacct: $(sacct_field "$1" NodeList); receipt: $(receipt "$1")"
		return 1
	}
}

ran_where_sold()
{
	[ "$(scontrol show hostnames "$(sacct_field "$1" NodeList)" | paste -sd,)" = "$(gang_nodes "$1")" ]
}

@test "--constraint: all of some features, one of some, and nothing else" {
	both=$(submit alice --bid=3000 -N2 -t1 --mem=100 -C 'ib&new' --wrap 'srun true')
	[ "$(gang_nodes "$both")" = node3,node4 ]
	# What its owner wrote stays in the job.
	[ "$(job_field "$both" Features)" = 'ib&new' ]
	either=$(submit alice --bid=3000 -N1 -t1 --mem=100 -C 'old|cpu' -x node1,node2 --wrap 'srun true')
	[ "$(gang_nodes "$either")" = node5 ]
	ran_as_sold "$both"
	ran_as_sold "$either"
	run ! as alice sbatch --bid=3000 -N1 -t1 --mem=100 -C '[ib*2&new*1]' --wrap true
	[[ $output == *"--constraint: '[ib*2&new*1]', expected features with & between all of them or | between all of them: counts, brackets and "* ]]
	run ! as alice sbatch --bid=3000 -N3 -t1 --mem=100 -C 'ib&new' --wrap true
	[[ $output == *"it needs 3 nodes with cpu=1 mem=100 each in one partition, and of the nodes that it may use 2 are as large"* ]]
	# A feature that comes while the cluster runs.
	scontrol update nodename=node5 availablefeatures=cpu,fast activefeatures=cpu,fast
	wait_until 60 eval 'job=$(submit alice --bid=3000 -N1 -t1 --mem=100 -C fast --wrap true)'
	[ "$(gang_nodes "$job")" = node5 ]
}

@test "--switches=1: all nodes on one leaf" {
	# Without it the first two that are free would do: node2, and one of the other leaf.
	busy=$(submit bob --bid=linear:3000,10 -N1 -t3 --mem=100 -c8 -w node1 --wrap 'sleep 100')
	wide=$(submit alice --bid=3000 -N2 -t1 --mem=100 --gpus-per-node=4 -x node4 --wrap true)
	[ "$(gang_nodes "$wide")" = node2,node3 ]
	as alice scancel "$wide"
	wait_until 60 settled "$wide"
	near=$(submit alice --bid=3000 -N2 -t1 --mem=100 --gpus-per-node=4 --switches=1 --wrap 'srun true')
	[ "$(gang_nodes "$near")" = node3,node4 ]
	[ "$(receipt_get "$near" .gang_within)" = switch ]
	run ! as alice sbatch --bid=3000 -N3 -t1 --mem=100 --gpus-per-node=1 --switches=1 --wrap true
	[[ $output == *"each on one switch, and of the nodes that it may use 2 are as large"* ]]
	ran_as_sold "$near"
	as bob scancel "$busy"
}

# bats test_tags=nightly
@test "a node that fails is replaced by one that has the features, not by another" {
	job=$(submit alice --bid=3000 -N1 -t1 --mem=100 -C old -b now+60 -o /dev/null --wrap 'srun true')
	wait_until 30 receipt_state_is "$job" sold
	before=$(gang_nodes "$job")
	wait_until 30 eval '[ -n "$(sacct_field "$job" JobID)" ]'
	fail_node "$before"
	wait_until 60 eval '[ "$(gang_nodes '"$job"')" != '"$before"' ]'
	[[ $(gang_nodes "$job") = node[12] ]]
	ran_as_sold "$job"
	scontrol update nodename="$before" state=resume
}

# bats test_tags=nightly
@test "--exclusive: whole nodes are bought and had" {
	job=$(submit alice --bid=3000 -N2 -t1 --exclusive -o whole.out --wrap 'srun -l bash -c "echo \$CUDA_VISIBLE_DEVICES"; sleep 3')
	[ "$(receipt_get "$job" .gang_whole)" = true ]
	case $(gang_nodes "$job") in
	node5,node6) all='4 8000 null' ;;
	*) all='8 16000 4' ;;
	esac
	[ "$(receipt_get "$job" '"\(.per_node.cpu) \(.per_node.mem) \(.per_node["gpu:v100"])"')" = "$all" ]
	# Nobody else gets anything of them meanwhile.
	node=$(gang_nodes "$job")
	beside=$(submit bob --bid=3000 -N1 -t1 -c1 --mem=100 -w "${node%,*}" --wrap true)
	[ "$(plan_start "$beside")" -ge "$(plan_end "$job")" ]
	# With GPUs, all of the node's are its own.
	gpus=$(submit alice --bid=3000 -N1 -t1 --exclusive --mem=0 --gpus-per-node=1 -o gpus.out --wrap 'echo $SLURM_CPUS_ON_NODE')
	[ "$(receipt_get "$gpus" '"\(.per_node.cpu) \(.per_node.mem) \(.per_node["gpu:v100"])"')" = "8 16000 4" ]
	wait_until 90 job_is "$gpus" 'RUNNING|COMPLETED'
	ran_as_sold "$gpus"
	[ "$(cat "$SANDBOX_DIR/home/alice/gpus.out")" = 8 ]
	ran_as_sold "$job"
	# Nodes that somebody has a part of are not whole.
	part=$(submit bob --bid=linear:3000,10 -N1 -t2 -c1 --mem=100 -w node4 --wrap 'sleep 60')
	run ! as alice sbatch --bid=deadline:3000,1m -N2 -t1 --exclusive -w node3,node4 --wrap true
	[[ $output == *"refused"* ]]
	as bob scancel "$part"
	run ! as alice sbatch --bid=3000 -N1 -t1 --exclusive=user --mem=100 --wrap true
	[[ $output == *"--exclusive=user or mcs cannot be combined with a bid"* ]]
	# All memory of nodes that have the same; which of them may be said by features.
	run ! as alice sbatch --bid=3000 -N1 -t1 --mem=0 --wrap true
	[[ $output == *"all of a node: node1 and node5 have different amounts"* ]]
	memory=$(submit alice --bid=3000 -N1 -t1 --mem=0 -C cpu -o /dev/null --wrap true)
	[ "$(receipt_get "$memory" '"\(.per_node.cpu) \(.per_node.mem)"')" = "1 8000" ]
}

@test "--max-price: the soonest that costs at most that, and no more than it costs" {
	# Nothing costs anything while nothing is sold.
	fresh_status
	wait_until 60 status_is .totals.live 0
	free=$(submit alice --max-price=0 -N1 -t1 --mem=100 -o /dev/null --wrap true)
	[ "$(receipt_get "$free" .payment)" = 0.000000 ]
	# Half of the nodes with GPUs is sold for a while: beside it something costs.
	busy=$(submit bob --bid=linear:3000,10 -N4 --gpus-per-node=2 -c4 --mem=8000 -t2 -o /dev/null --wrap 'sleep 100')
	gang=(-N4 --gpus-per-node=2 -c2 --mem=1000 -t1 -o /dev/null)
	run ! as alice sbatch --max-price=0.000000 "${gang[@]}" --deadline="$(date -d "@$(plan_end "$busy")" +%FT%T)" --wrap true
	[[ $output == *"auction: refused: the cheapest schedule is above --max-price: 4 nodes, "*", price "* ]]
	price=$(sed -n 's/.*, price \([0-9.]*\)$/\1/p' <<< "$output")
	[ "$(micro "$price")" -gt 0 ]
	# For nothing it can be had when the other is gone; for something at once.
	late=$(submit alice --max-price=0 "${gang[@]}" --wrap true)
	[ "$(plan_start "$late")" -ge "$(plan_end "$busy")" ]
	[ "$(receipt_get "$late" .payment)" = 0.000000 ]
	run -0 as alice sbatch --max-price=1234.5 "${gang[@]}" --wrap 'srun sleep 2'
	[[ $output == *"auction: offered: 4 nodes, "*", pays "* && $output != *1234* && $output != *"of value"* ]]
	soon=$(grep -o 'Submitted batch job [0-9]*' <<< "$output" | grep -o '[0-9]*$')
	[ "$(plan_start "$soon")" -lt "$(plan_start "$late")" ]
	[ "$(micro "$(receipt_get "$soon" .payment)")" -gt 0 ]
	[ "$(micro "$(receipt_get "$soon" .payment)")" -le 1234500000 ]
	ran_as_sold "$soon"
	# A job of workers and PSs likewise; and nobody says both.
	small=$(submit alice $(small_bid 1 2 | sed 's/--bid=1/--max-price=50/') -o /dev/null --wrap true)
	wait_until 90 settled "$small"
	run ! as alice sbatch --max-price=3 --bid=3 "${gang[@]}" --wrap true
	[[ $output == *"--max-price: given with --bid, expected one of them"* ]]
	as bob scancel "$busy"
}

# What is bought is what Slurm gives a job of such options: two GPUs of each node, and as many tasks as the options say.
# bats test_tags=nightly
@test "GPUs that several options name are bought once" {
	local options=('-N2 --ntasks-per-node=2 --gpus-per-node=2 --gpus-per-task=1' '--gpus=4 --gpus-per-node=2'
		'-n4 --gpus-per-node=2 --gpus-per-task=1' '-N1 -n2 --gpus=2 --gpus-per-task=1')
	local nodes=(2 2 2 1) tasks=(4 2 4 2) jobs=() i

	for i in 0 1 2 3; do
		# shellcheck disable=SC2086
		jobs[i]=$(submit alice --bid=3000 -t1 --mem=100 ${options[i]} -o "once$i.out" --wrap 'srun sh -c "echo \$SLURM_NTASKS"')
		[ "$(receipt_get "${jobs[i]}" '"\(.plan[0].nodes | length) \(.per_node["gpu:v100"])"')" = "${nodes[i]} 2" ]
	done
	for i in 0 1 2 3; do
		ran_as_sold "${jobs[i]}"
		[[ ,$(sacct_field "${jobs[i]}" AllocTRES), == *,gres/gpu=$((2 * nodes[i])),* ]]
		[ "$(sort "$SANDBOX_DIR/home/alice/once$i.out" | uniq -c | tr -s ' ')" = " ${tasks[i]} ${tasks[i]}" ]
	done
}

# bats test_tags=nightly
@test "a step may name GPUs in another way than its job" {
	local steps='srun -n1 --gres=gpu:1 true && srun -n1 --gpus=1 true && srun -N1 -n1 --gpus-per-task=1 true && srun true'

	job=$(submit alice --bid=3000 -N1 -n2 --gpus-per-task=1 -t1 --mem=100 -o /dev/null --wrap "$steps")
	# On whole nodes no type is said in one option and none in another. Beside --gpus-per-node srun of 26.05 takes no --gres.
	whole=$(submit alice --bid=3000 -N2 --exclusive --ntasks-per-node=2 --gpus-per-node=2 --gpus-per-task=1 -t1 --mem=100 -o /dev/null \
		--wrap "${steps#*&& }")
	ran_as_sold "$job"
	ran_as_sold "$whole"
	# What is bought at once: the steps in a salloc, and the one of an srun, in which a task has what it has without a bid.
	as alice salloc --bid=linear:3000,60/m -N1 -n2 --gpus-per-task=1 -t1 --mem=100 bash -c "$steps"
	for options in '-N1 -n2 --gpus-per-node=2 --gpus-per-task=1' '-N2 -n3 --gpus-per-task=1' '-n2 --gpus=2 --gpus-per-task=1' --gpus=2; do
		# shellcheck disable=SC2086
		as alice srun --bid=linear:3000,60/m $options -t1 --mem=100 env > "$BATS_TEST_TMPDIR/env"
		run ! grep 'TRES_PER_TASK=.*v100' "$BATS_TEST_TMPDIR/env"
		grep '^SLURM_GPUS_ON_NODE=2$' "$BATS_TEST_TMPDIR/env"
	done
}
