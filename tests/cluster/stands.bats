# Bids that stand: what is refused waits as a held job, is decided again as room and prices change, and is sold, or ends with a clear word.

load lib
load plugins

slot=10

setup_file()
{
	conf_write 100000000
	auction_start --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	export SBID=$(program sbid)
}

teardown()
{
	local job jobs

	jobs=$(timeout 20 squeue -ho %A)
	cancel_all
	# What they had is free again.
	for job in $jobs; do
		wait_until 60 over "$job"
	done
}

over()
{
	settled "$1" || in_state "$(sacct_field "$1" AdminComment)" unsold
}

# A GPU costs BASE to the power of the share of its node that is in use, less 1. conf_write BASE
conf_write()
{
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=dps
		SlotSeconds=$slot
		Overrun=kill
		Slots=200
		Prices=given
		Eta=gpu:v100=$1
		CancelFee=0
		UserQuotes=1000
		UserStands=3
		StandsMax=1h
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
}

# All of both nodes, for a while: alice's.
fill()
{
	submit alice --bid=100000000 --nodes=2 --gpus-per-node=4 --cpus-per-task=8 --mem=1000 --time=15 -o /dev/null --wrap 'sleep 1000'
}

# One GPU of each node: what is left costs 99 a slot.
load_nodes()
{
	submit alice --bid=1000 --nodes=2 --gpus-per-node=1 --cpus-per-task=1 --mem=100 --time=10 -o /dev/null --wrap 'sleep 1000'
}

# A job of two nodes that is worth something for SECONDS only. gang SECONDS
gang()
{
	echo "--bid=deadline:1000000,${1}s --nodes=2 --ntasks-per-node=1 --gpus-per-node=3 --cpus-per-task=2 --mem=600 --time=0:20"
}

# waiting JOB: it stands, seen by the agent.
waiting()
{
	receipt_state_is "$1" waiting && sbid_says bob "$1" waiting
}

# A row of sbid. sbid_says USER JOB WORD
sbid_says()
{
	as "$1" "$SBID" -nPo job,sale list | grep -qx "$2|$3"
}

@test "a bid that finds no room stands, and is sold when there is some" {
	alice=$(fill)
	wait_until 60 receipt_state_is "$alice" running
	run -0 as bob sbatch $(gang 150) --stands=10m -o two.txt --wrap 'srun -l sh -c "echo \$SLURMD_NODENAME \$CUDA_VISIBLE_DEVICES"'
	[[ $output == *'auction: refused: '* ]]
	[[ $output == *'auction: it stands until '*': the job is held, and is decided again as prices and bookings change; scancel withdraws it'* ]]
	job=$(grep -o 'Submitted batch job [0-9]*' <<< "$output" | grep -o '[0-9]*$')
	wait_until 30 waiting "$job"
	[ "$(job_field "$job" Reason)" = JobHeldUser ]
	# Nobody reads what it is worth, and its owner cannot let it go.
	[[ $(receipt "$job") != *1000000* ]] && [[ $(scontrol show job "$job") != *1000000* ]]
	run as bob scontrol release "$job"
	[ "$status" -ne 0 ]
	run as bob scontrol update jobid="$job" timelimit=1
	[ "$status" -ne 0 ]
	[ "$(job_field "$job" Reason)" = JobHeldUser ]
	as alice scancel "$alice"
	wait_until 60 eval '! in_state "$(receipt '"$job"')" waiting'
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$(database_receipt "$job" '.plan[0].nodes | join(",")')" = node1,node2 ]
	run -0 cat "$SANDBOX_DIR/home/bob/two.txt"
	[[ $output == *'0: node1 0,1,2'* ]] && [[ $output == *'1: node2 0,1,2'* ]]
	# Its value counts from its submission.
	[[ $(spool_get "$job" .bid) == *' since='* ]]
}

@test "a bid that does not pay stands, and is sold when prices fall" {
	alice=$(load_nodes)
	wait_until 60 receipt_state_is "$alice" running
	job=$(submit bob $(small_bid deadline:10,8m 2) --stands=10m -o one.txt --wrap 'echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES; sleep 1')
	wait_until 30 waiting "$job"
	conf_write 1
	cp "$BATS_FILE_TMPDIR/auction.conf" "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	grep -qE '^node[12] [0-3]$' "$SANDBOX_DIR/home/bob/one.txt"
	conf_write 100000000
	cp "$BATS_FILE_TMPDIR/auction.conf" "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
}

# bats test_tags=nightly
@test "its time is over, it is worth nothing any more, or its owner withdraws it" {
	alice=$(load_nodes)
	wait_until 60 receipt_state_is "$alice" running
	over=$(submit bob $(small_bid deadline:10,8m 2) --stands=45s -o /dev/null --wrap true)
	late=$(submit bob $(small_bid deadline:10,50s 2) --stands=10m -o /dev/null --wrap true)
	gone=$(submit bob $(small_bid deadline:10,8m 2) --stands=10m -o /dev/null --wrap true)
	# No more than three of a user, and nobody else is kept.
	run as bob sbatch $(small_bid deadline:10,8m 2) --stands=10m --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *'auction: it does not stand: 3 of your bids stand (UserStands=3); withdraw one with scancel, or bid without --stands'* ]]
	wait_until 30 waiting "$gone"
	# Not by an administrator who releases all that waits.
	scontrol release "$gone"
	wait_until 30 log_has "job $gone stands as a bid and was released; it is held again"
	wait_until 30 eval '[ "$(job_field "$gone" Priority)" = 0 ]'
	waiting "$gone"
	as bob scancel "$gone"
	wait_until 60 database_receipt_is "$gone" .why cancelled
	wait_until 60 database_receipt_is "$over" .why expired
	wait_until 60 database_receipt_is "$late" .why worthless
	wait_until 30 job_ended "$over"
	wait_until 30 job_ended "$late"
	[ "$(database_receipt "$over" .state)" = unsold ]
	sbid_says bob "$over" expired
	run -0 as bob "$SBID" why
	[[ $output == *"job $late: the bid stood and was not sold: its result is worth nothing any more"* ]]
	# They make room for others.
	wait_until 60 eval 'job=$(submit bob $(small_bid deadline:10,8m 2) --stands=10m -o /dev/null --wrap true)'
}

@test "who does not want to wait is told so" {
	alice=$(load_nodes)
	wait_until 60 receipt_state_is "$alice" running
	run as bob sbatch $(small_bid deadline:10,8m 2) --stands=2h --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *"--stands: '2h', expected at most 3600 s (StandsMax)"* ]]
	run as bob sbatch $(small_bid deadline:10,8m 2) --stands=10m --quote --wrap true
	[[ $output == *'--stands: given with --quote, expected one of them'* ]]
	run as bob salloc $(gang 150) --stands=10m true
	[ "$status" -ne 0 ]
	[[ $output == *'nobody sits before a salloc for long; use sbatch'* ]]
	run as bob sbatch --bid=1 --stands=10m --nodes=1 --gpus-per-node=1 --gpus-per-task=1 --mem=100 --time=1 --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *'--gpus-per-task: of no type, expected one with --stands, as in --gpus-per-task=a100:1'* ]]
	[ "$(squeue -ho %A)" = "$alice" ]
}

# bats test_tags=nightly
@test "a job that stood is what its options say, however they say it" {
	local late='--bid=deadline:1000000,600s --mem=300 --time=0:20 --stands=20m'

	alice=$(fill)
	wait_until 60 receipt_state_is "$alice" running
	# GPUs of all nodes together, a range of nodes with their times, GPUs of tasks, all of a node.
	all=$(submit bob $late --nodes=2 --gpus=4 --cpus-per-task=1 -o all.txt --wrap 'srun -l sh -c "echo \$SLURMD_NODENAME \$CUDA_VISIBLE_DEVICES"')
	range=$(submit carol $late --nodes=1-2 --speedup=1:40s,2:20s --ntasks-per-node=1 --gpus-per-node=2 -o range.txt --wrap 'srun -l sh -c "echo \$SLURMD_NODENAME \$CUDA_VISIBLE_DEVICES"')
	task=$(submit bob $late --nodes=1 --ntasks=2 --gpus-per-task=v100:1 -o task.txt --wrap 'srun -l sh -c "echo \$CUDA_VISIBLE_DEVICES"')
	whole=$(submit carol $late --nodes=1 --exclusive -o whole.txt --wrap 'echo $SLURM_CPUS_ON_NODE')
	for job in "$all" "$range" "$task" "$whole"; do
		wait_until 30 receipt_state_is "$job" waiting
	done
	as alice scancel "$alice"
	for job in "$all" "$range" "$task" "$whole"; do
		wait_until 120 settled "$job"
		[ "$(database_receipt "$job" .why)" = completed ]
	done
	run -0 sort "$SANDBOX_DIR/home/bob/all.txt"
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[0]} =~ ^0:\ node1\ [0-3],[0-3]$ ]] && [[ ${lines[1]} =~ ^1:\ node2\ [0-3],[0-3]$ ]]
	nodes=$(database_receipt "$range" '.plan[0].nodes | length')
	[ "$(grep -cE '^[01]: node[12] [0-3],[0-3]$' "$SANDBOX_DIR/home/carol/range.txt")" = "$nodes" ]
	[ "$(grep -c '^[01]: ' "$SANDBOX_DIR/home/bob/task.txt")" = 2 ] && [[ $(job_tres "$task") == *gres/gpu=2* ]]
	[ "$(cat "$SANDBOX_DIR/home/carol/whole.txt")" = 8 ]
}

@test "bids stand through a crash of slurmctld" {
	alice=$(fill)
	wait_until 60 receipt_state_is "$alice" running
	job=$(submit bob $(gang 400) --stands=30m -o /dev/null --wrap 'sleep 2')
	wait_until 30 waiting "$job"
	# slurmctld writes its jobs every five seconds.
	wait_until 30 grep -qaF "$(receipt_get "$job" .sale)" "$SANDBOX_DIR/state/job_state"
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	[ "$(job_field "$job" Reason)" = JobHeldUser ]
	run as bob scontrol release "$job"
	[ "$status" -ne 0 ]
	as alice scancel "$alice"
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}
