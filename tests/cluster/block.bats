# Blocks: whole nodes for a time, in which their owner and those whom they name run what they like.

load lib
load plugins

slot=5

setup_file()
{
	need_plugins
	export SBID=$(program sbid)
	# What its jobs are told before its end they can heed.
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=dps
		SlotSeconds=$slot
		EndMargin=4
		RefundUnused=seconds
		Overrun=extend
		Slots=400
		UserQuotes=1000
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	auction_start --auction-conf "$BATS_FILE_TMPDIR/auction.conf" --nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4' --nodes 'plain1:partition=main,cpus=8,mem=16000'
}

# block USER OPTION...: buys one, and prints the number of its job.
block()
{
	local user=$1

	shift
	as "$user" "$SBID" block "$@" | sed -nE 's/^Block ([0-9]+): .*/\1/p'
}

output()
{
	cat "$SANDBOX_DIR/home/$1"
}

reservations()
{
	scontrol -o show reservation | sed -nE 's/^ReservationName=([^ ]*) .*/\1/p' | grep -v '^auction-settling$' | paste -sd' '
}

no_reservations()
{
	[ -z "$(reservations)" ]
}

@test "a block is bought, and in it run an array, a step, a chain and a second user, without bids" {
	run -0 as alice "$SBID" block --nodes=2 --gpus-per-node=1 --time=1 --bid=300 --users=bob --begin=now+15
	# Whole nodes, whatever is asked for.
	[[ $output == *"auction: offered: a block of 2 whole nodes, node1, node2, all of it: cpu=8 mem=16000 gpu:v100=4 each, "*", pays "*" of value 300"* ]]
	[[ $output =~ Block\ ([0-9]+):\ node\[1-2\]\ from\ ([0-9T:-]+)\ to\ ([0-9T:-]+),\ for\ jobs\ with\ --reservation=auction_block_ ]]
	block=${BASH_REMATCH[1]} start=$(date -d "${BASH_REMATCH[2]}" +%s) end=$(date -d "${BASH_REMATCH[3]}" +%s)
	name=auction_block_$block
	[ $((end - start)) = 60 ]
	[ "$(receipt_get "$block" '"\(.gang_block) \(.plan[0].nodes | join(","))"')" = "true node1,node2" ]
	# The reservation says whose it is, and nothing of money.
	run -0 scontrol -o show reservation "$name"
	[[ $output == *" Users=2001,2002 "* && $output != *300* ]]
	# Before it begins.
	array=$(submit alice --reservation="$name" --array=1-4 --gpus=1 -o array-%a.out --wrap 'echo $SLURM_ARRAY_TASK_ID')
	first=$(submit bob --reservation="$name" -p edge -N2 -o first.out --wrap 'srun hostname; echo $CUDA_VISIBLE_DEVICES')
	second=$(submit bob --reservation="$name" -d "afterok:$first" -o second.out --wrap 'echo second')
	# Longer than the block, and one that never gets a node there.
	long=$(submit alice --reservation="$name" -c1 -o long.out --wrap 'trap "echo told; exit 3" TERM; sleep 1000 & wait')
	waiting=$(submit alice --reservation="$name" -c1 --hold --wrap true)
	# Nobody else, nothing without a bid beside it, and no bid in it.
	run ! as carol sbatch --reservation="$name" --wrap true
	[[ $output == *"Access denied to requested reservation"* ]]
	run ! as alice sbatch -p edge --wrap true
	[[ $output == *"auction: partition edge is sold by auction"* ]]
	run ! as alice sbatch --reservation="$name" --bid=3 -t1 --wrap true
	[[ $output == *"--reservation=$name: given with a bid, expected one of them"* ]]
	run ! as alice sbatch --reservation="$name,other" --wrap true
	[[ $output == *"there is no such block; expected one, and no other reservation beside it"* ]]
	run ! as alice sbatch --reservation=auction_block_99999 --wrap true
	[[ $output == *"there is no such block, or it is over"* ]]
	# What is in it stays in it, and its own job as it is.
	run ! as alice scontrol update jobid="$waiting" reservation=
	run ! as alice scontrol release "$block"
	plain=$(submit alice -p main --hold -o /dev/null --wrap true)
	run ! as alice scontrol update jobid="$plain" reservation="$name"
	as alice scancel "$plain"
	state=$(job_state "$first")
	[ "$EPOCHSECONDS" -ge "$start" ] || [ "$state" = PENDING ]
	wait_until $((start + 10 - EPOCHSECONDS)) job_is "$long" RUNNING
	began_in_time "$long" "$start"
	# A step in an allocation, while it runs.
	run -0 as bob srun --reservation="$name" -p edge -n1 hostname
	for job in "$array" "$first" "$second"; do
		wait_until 30 sacct_is "$job" State COMPLETED
	done
	[ "$(cat "$SANDBOX_DIR"/home/alice/array-*.out | sort | paste -sd' ')" = "1 2 3 4" ]
	[ "$(output bob/first.out | wc -l)" = 3 ]
	[ "$(output bob/second.out)" = second ]
	run -0 as alice "$SBID" show "$block"
	[[ $output == *"a block: jobs with --reservation=$name run in it"* ]]
	[ "$(as alice "$SBID" -nP -o job,state,sale list | grep -c "^$block|PENDING|running$")" = 1 ]
	# It ends, and what is in it: told first. Who comes next has the nodes at once.
	next=$(submit bob --bid=300 -N2 --gpus-per-node=4 -t1 --mem=100 -o next.out --wrap 'srun hostname')
	[ "$(plan_start "$next")" = "$end" ]
	wait_until $((end + 10 - EPOCHSECONDS)) settled "$block"
	[ "$(database_receipt "$block" '"\(.why) \(.refund)"')" = "timeout 0.000000" ]
	ended_in_time "$long" "$end"
	output alice/long.out | grep -qx told
	wait_until 20 job_is "$waiting" CANCELLED
	wait_until 60 sacct_is "$next" State COMPLETED
	began_in_time "$next" "$end"
	run ! as alice sbatch --reservation="$name" --wrap true
	[[ $output == *"there is no such block, or it is over"* ]]
}

@test "what cannot be had is refused, with the least that would do" {
	wait_until 60 no_reservations
	run ! as alice "$SBID" block --nodes=3 --time=1 --bid=1000
	[[ $output == *"no schedule is possible at any price"* ]]
	run ! as alice "$SBID" block --nodes=1 --time=1 --bid=100 --users=bob,nobody-of-that-name
	[[ $output == *"--users: there is no user 'nobody-of-that-name'"* ]]
	run ! as alice "$SBID" block --nodes=1 --time=1 --bid=100 --accounts=no-such-account
	[[ $output == *"--accounts: there is no account 'no-such-account'"* ]]
	run ! as alice "$SBID" block --nodes=1 --time=1 --bid=100 --stands=1h
	[[ $output == *"--stands: given, expected none with a block"* ]]
	run ! as alice "$SBID" block --nodes=1 --bid=100
	[[ $output == *"--time: not given"* ]]
	run ! as alice env SLURM_AUCTION_BID='300 block=yes,alice' sbatch -N1 -t1 --wrap true
	[[ $output == *"--block: 'alice', expected numbers of users, and accounts as @NAME"* ]]
	no_reservations
}

bob_buys()
{
	next=$(submit bob --max-price=100000 -N2 --gpus-per-node=4 -t1 --mem=100 -o /dev/null --wrap true)
}

# For how many slots nodes of $block could not be used, as slurmctld has said last.
missed()
{
	grep -o "block $block: nodes of it could not be used for [0-9]*" "$SANDBOX_DIR/log/slurmctld.log" | tail -n 1 | grep -o '[0-9]*$'
}

# More than a node that is away for two slots explains.
missed_more()
{
	[ "$(missed)" -ge $((before + 4)) ]
}

# bats test_tags=nightly
@test "given up: what was not used is paid back and sold again; an account's users; slurmctld restarted and killed meanwhile" {
	# At posted prices, as whole nodes that nobody has a part of cost nothing otherwise.
	sed -i 's/^Policy=.*/Policy=posted,ceiling=10/' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 eval '[[ "$(as alice "$SBID" block --quote --nodes=2 --time=10 2>&1)" == *"offered: a block of 2 whole nodes, node1, node2, all of it: "* ]]'
	run ! as alice "$SBID" block --nodes=2 --time=10 --max-price=0.000321
	[[ $output == *"refused: the price is above --max-price: a block of 2 whole nodes, "*", price "* ]]
	account=$(sacctmgr -nP show assoc user=carol format=account | head -n 1)
	block=$(block alice --nodes=2 --time=10 --max-price=100000 --accounts="$account" --begin=now+10)
	name=auction_block_$block
	start=$(plan_start "$block") payment=$(micro "$(receipt_get "$block" .payment)")
	[ "$payment" -gt 0 ]
	# Those of the account now: Slurm would ask each job to name it.
	run -0 scontrol -o show reservation "$name"
	[[ $output =~ \ Users=2001,[0-9,]*2003\  ]]
	job=$(submit carol --reservation="$name" -o /dev/null --wrap 'sleep 1000')
	wait_until 30 eval '[ -n "$(sacct_field "$block" JobID)" ]'
	sandbox restart slurmctld
	wait_until 60 job_is "$job" RUNNING
	[ "$(reservations)" = "$name" ]
	wait_until 30 receipt_state_is "$block" running
	sandbox restart slurmctld --kill
	wait_until 60 status_is .ready true
	# An administrator who removes the reservation does not end the block.
	as root scancel "$job"
	wait_until 30 job_ended "$job"
	wait_until 30 scontrol delete reservation "$name"
	wait_until 30 eval '[ "$(reservations)" = "$name" ]'
	wait_until 30 eval 'job=$(submit alice --reservation="$name" -w node1 -o /dev/null --wrap "sleep 1000")'
	wait_until 60 job_is "$job" RUNNING
	# A node fails for a while: the other one goes on.
	fail_node node2
	wait_until 60 log_has "block $block: nodes of it could not be used for"
	scontrol update nodename=node2 state=resume
	job_is "$job" RUNNING
	# Nor is the time paid in which nothing can begin there.
	before=$(missed)
	scontrol update partitionname=edge state=down
	wait_until 60 missed_more
	scontrol update partitionname=edge state=up
	job_is "$job" RUNNING
	as alice "$SBID" cancel "$block"
	wait_until 60 settled "$block"
	wait_until 30 job_ended "$job"
	wait_until 30 no_reservations
	# To the second, as it was cancelled, whatever ran in it, but for what one of its two nodes was away.
	missing=$(database_receipt "$block" '.gang_missing * 1000 | floor')
	[ "$missing" -ge 1000 ]
	ended=$(date -d "$(sacct_field "$block" End)" +%s) kept=$(micro "$(database_receipt "$block" .payment)")
	[ "$(database_receipt "$block" .why)" = cancelled ]
	used=$(((ended - start) * 1000 - missing * slot / 2))
	[ "$kept" -ge $((payment / 600000 * (used - 2000))) ] && [ "$kept" -le $((payment / 600000 * (used + 2000))) ]
	# Others have the rest, once the node that was away is known to be back.
	wait_until 30 bob_buys
	[ "$(plan_start "$next")" -lt $((start + 600)) ]
	wait_until 60 sacct_is "$next" State COMPLETED
}
