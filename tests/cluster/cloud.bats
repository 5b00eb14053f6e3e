# Cloud nodes, which Slurm starts and stops: sold while they are off, up when their slot begins.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --nodes 'edge1:partition=edge,cpus=8,mem=16000,gpus=t4:4' \
		--nodes 'cloud[1-3]:partition=cloud,cpus=8,mem=16000,gpus=v100:4,start=power'
}

node_is()
{
	[[ $(sinfo -hNo %T -n "$1") == $2 ]]
}

# bats test_tags=nightly
@test "a node that is off is sold, up before its slot though SuspendTime is shorter than that, and off again afterwards" {
	wait_until 30 node_is cloud1 'idle~'
	# Slurm's power saving gives it ten seconds; its slot is further ahead.
	job=$(submit alice --bid=100 --epochs=1 --chunks=1 --minibatches=20 --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s \
		--upload=cloud=30s -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$job" sold
	node=$(receipt_get "$job" '.plan[0].ps | keys[0]')
	start=$(plan_start "$job")
	wait_until $((start - EPOCHSECONDS)) node_is "$node" idle
	log_has "node $node is powered up for job $job, [0-9]* s ahead of its slot"
	wait_until $((start + 30 - EPOCHSECONDS)) job_is "$job" RUNNING
	began_in_time "$job" "$start"
	wait_until 60 settled "$job"
	wait_until 90 node_is "$node" 'idle~'
}

@test "nothing is sold below its Cost, and a cloud node is powered up for what pays that alone" {
	# A GPU costs ten credits a slot at any hour, which the hours say.
	sed -i 's/^PartitionName=cloud.*/PartitionName=cloud Site=cloud Cost=gpu:v100=1800 CostHours=0-13=2,13-24=2/' "$SANDBOX_DIR/etc/auction.conf"
	scontrol reconfigure
	wait_until 30 eval '[[ $(as alice sbatch --quote $(small_bid 1000 1) --wrap true 2>&1) == *"pays 10.000000 of"* ]]'
	for node in cloud1 cloud2 cloud3; do
		wait_until 90 node_is "$node" 'idle~'
	done
	powered=$(grep -c 'is powered up for job' "$SANDBOX_DIR/log/slurmctld.log" || true)
	run -1 as alice sbatch $(small_bid 9.99 1) --wrap true
	[[ $output == *"refused: the best schedule would cost 10.00 and be worth 9.99 (payoff -0.01"* ]]
	# What is free elsewhere costs nothing.
	run -1 as alice sbatch --quote -N1 --gpus-per-node=t4:1 -c1 --mem=100 -t1 --bid=1 --wrap true
	[[ $output == *"would be accepted"*"pays 0.000000 of"* ]]
	[ "$(grep -c 'is powered up for job' "$SANDBOX_DIR/log/slurmctld.log" || true)" = "$powered" ]
	for node in cloud1 cloud2 cloud3; do
		node_is "$node" 'idle~'
	done
	job=$(submit alice $(small_bid 100 1) --upload=cloud=30s -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$job" sold
	[ "$(micro "$(receipt_get "$job" .payment)")" = 10000000 ]
	wait_until 60 log_has "is powered up for job $job,"
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

@test "the time until data are there, by their size and the bandwidth of the site" {
	conf=$SANDBOX_DIR/etc/auction.conf
	sed -i 's/^PartitionName=cloud.*/PartitionName=cloud Site=cloud Upload=20s Bandwidth=80/' "$conf"
	scontrol reconfigure
	# 3000 MB at 80 Mbit/s: 300 s; without a size: 20 s; --upload wins.
	later()
	{
		local start

		start=$(as alice sbatch --quote $(small_bid 100 1) "$@" --wrap true 2>&1 | sed -nE 's/.*, ([0-9:]+) to [0-9:]+ \(slots.*/\1/p')
		echo $(($(seconds_until "$start") / 100))
	}
	wait_until 30 eval '[ "$(later --data-mb=3000)" = 3 ]'
	[ "$(later)" = 0 ]
	[ "$(later --data-mb=3000 --upload=cloud=20s)" = 0 ]
}

# bats test_tags=nightly
@test "a cloud that is one server: a co-located job has as many nodes as it takes, up in time; one that fails is replaced" {
	sed -i 's/^PartitionName=cloud.*/PartitionName=cloud Site=cloud OneServer=yes/' "$SANDBOX_DIR/etc/auction.conf"
	scontrol reconfigure
	wait_until 30 status_is '.servers[] | select(.name == "cloud") | .for_sale' true
	wait_until 30 rules_known
	# Four workers and a PS are more than a node has.
	job=$(submit alice --bid=1000 --epochs=1 --chunks=5 --minibatches=150 --gradient-mb=10 --worker-time=v100=1s --ps-time=ps.s=0s \
		--upload=cloud=30s -o /dev/null --wrap 'sleep 600')
	wait_until 30 receipt_state_is "$job" sold
	[ "$(receipt_get "$job" .colocated)" = true ]
	[ "$(receipt_get "$job" '[.plan[0].workers[]] | add')" = 5 ]
	[ "$(last_nodes "$job" | wc -w)" -ge 2 ]
	payment=$(receipt_get "$job" .payment) start=$(plan_start "$job")
	wait_until $((start + 30 - EPOCHSECONDS)) runs_on "$job" "$(last_nodes "$job")"
	for one in $(group_jobs "$job"); do
		began_in_time "$one" "$start"
	done
	member=$(members "$job" | head -n 1)
	node=$(job_field "$member" NodeList)
	fail_node "$node"
	wait_until 30 eval '[[ " $(last_nodes '"$job"') " != *" '"$node"' "* ]]'
	wait_until 60 runs_on "$job" "$(last_nodes "$job")"
	[ "$(receipt_get "$job" .payment)" = "$payment" ]
	[ "$(receipt_get "$job" '[.plan[-1].workers[]] | add')" = 5 ]
	as alice scancel "$job"
	wait_until 60 settled "$job"
}
