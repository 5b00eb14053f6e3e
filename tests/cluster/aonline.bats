# Policy aonline on a real cluster: nothing is priced, a shorter job takes a worker from a longer one between two slots, chunks
# are trained where they lie, and all of it comes through the death of slurmctld.

load lib
load plugins

slot=10

setup_file()
{
	need_plugins
	need_launcher
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=aonline,guard=job
		SlotSeconds=$slot
		Slots=100
		ChangeNotice=3
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:2'
	# A slurmctld of 26.05 that is killed before it has ended in good order once does not start again: it misses files of its state.
	sandbox restart slurmctld
	wait_until 30 eval 'as alice sbatch --quote $(work 1 1) --wrap true 2>&1 | grep -q "would be accepted"'
}

setup()
{
	need_launcher
}

# A job's work, without what it is worth: CHUNKS chunks of SLOTS slots each. work CHUNKS SLOTS
work()
{
	echo "--chunks=$1 --epochs=$2 --minibatches=$slot --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s -p edge"
}

# Nodes on which jobs of the group run, each with its CPUs: "node1:3 node2:2".
group_nodes()
{
	timeout 20 squeue -ho '%N:%C' -t R -j "$(group_jobs "$1" | paste -sd,)" | sort | paste -sd' '
}

group_nodes_are()
{
	[ "$(group_nodes "$1")" = "$2" ]
}

# True when the stepper has seen the job among all others.
dispatched()
{
	[ "$(receipt_get "$1" .due)" != 0 ]
}

completion_is()
{
	[ "$(receipt_get "$1" .completion)" = "$2" ]
}

# Worker-slots of a job's chunks, and how many chunks were stopped: "24 1".
trained()
{
	receipt_get "$1" '[([.chunks[].runs[] | .[1] - .[0] + 1] | add), ([.chunks[] | select(.runs | length > 1)] | length)] |
		join(" ")'
}

# "node1 node1 node2"
chunk_servers()
{
	receipt_get "$1" '[.chunks[].server] | join(" ")'
}

# True while a job can be sold, and seen among the others, before the next slot (ChangeNotice).
early()
{
	[ $((EPOCHSECONDS % slot)) -le 3 ]
}

# True when slurmctld has saved what it knows, and no slot begins now (as in plugins-restart.bats).
quiet()
{
	local into=$((EPOCHSECONDS % slot))

	saved && [ $into -ge 4 ] && [ $into -le 7 ]
}

# True if in each slot of the plan its workers are where the chunks are that are trained in it.
chunks_fit_plan()
{
	receipt_get "$1" '. as $r | [.plan[] | .workers as $w | range(.from; .to + 1) as $s | $w == ([$r.chunks[] |
		select(any(.runs[]; .[0] <= $s and $s <= .[1])) | .server] | group_by(.) | map({(.[0]): length}) | add)] | all'
}

@test "a job that says nothing is told what to say, and that is no bid" {
	run -1 as alice sbatch -p edge --wrap true
	[[ $output == *"partition edge is sold by auction: a job says how much it trains, as in sbatch --epochs=N --chunks=N"* ]]
	[[ $output != *--bid* ]]
}

@test "a shorter job takes a worker from a longer one, through the death of slurmctld; no chunk moves, nothing is paid" {
	cat > "$SANDBOX_DIR/home/alice/task" <<-'END'
		#!/bin/sh
		# A worker of slaunch --elastic: says where it is and which chunks lie there.
		echo "$AUCTION_ROLE on $SLURMD_NODENAME of $AUCTION_CHUNKS"
		exec sleep 1000
	END
	chmod +x "$SANDBOX_DIR/home/alice/task"
	wait_until 20 early
	long=$(submit alice $(work 4 8) -o long.txt --open-mode=append \
		--wrap "echo start \$SLURMD_NODENAME; exec $SLAUNCH --elastic ./task")
	wait_until 30 receipt_state_is "$long" sold
	wait_until 30 dispatched "$long"
	wait_until 30 group_nodes_are "$long" 'node1:3 node2:2'
	[ "$(trained "$long")" = '32 0' ]
	[ "$(chunk_servers "$long")" = 'node1 node1 node2 node2' ]
	completion=$(receipt_get "$long" .completion)

	# Its data lie on node2: node1 would have them when long is over.
	wait_until 20 early
	short=$(submit bob $(work 1 3) --upload=node1=1000,node2=0 -o /dev/null --wrap 'sleep 1000')
	wait_until 30 dispatched "$short"
	wait_until 30 completion_is "$long" $((completion + 3))
	[ "$(chunk_servers "$short")" = node2 ]
	completion_is "$short" $(($(receipt_get "$short" .start) + 3))
	[ "$(trained "$long")" = '32 1' ]
	[ "$(chunk_servers "$long")" = 'node1 node1 node2 node2' ]
	[ "$(chunks_fit_plan "$long")" = true ]
	plans=$(receipt_get "$long" .plan) chunks=$(receipt_get "$long" .chunks)

	# The member on node2 gets smaller, the lead goes on; the short job runs beside it.
	wait_until 60 group_nodes_are "$short" node2:2
	wait_until 60 group_nodes_are "$long" 'node1:3 node2:1'
	# Nothing begins or ends as long as it runs, so that it does not matter how long slurmctld takes to come back.
	wait_until 60 quiet
	sandbox restart slurmctld --kill
	wait_until 90 status_is .ready true
	[ "$(receipt_get "$long" .plan)" = "$plans" ]
	[ "$(receipt_get "$long" .chunks)" = "$chunks" ]

	# Then all is as it was; at the end one chunk is left, on node2, and the PS, which the lead is restarted for.
	wait_until $((3 * slot + 60)) group_nodes_are "$long" 'node1:3 node2:2'
	wait_until 90 group_nodes_are "$long" 'node1:1 node2:1'
	[ "$(receipt_get "$long" .chunks)" = "$chunks" ]
	wait_until 90 settled "$short"
	wait_until 90 settled "$long"
	for job in "$short" "$long"; do
		[ "$(database_receipt "$job" .why)" = timeout ] # it used all of its plan
		[ "$(database_receipt "$job" .payment)" = 0.000000 ]
	done
	[ "$(grep ^start "$SANDBOX_DIR/home/alice/long.txt" | paste -sd' ')" = 'start node1 start node1' ]
	for node in node1 node2; do
		grep -q "^worker on $node of node1=0,1;node2=2,3$" "$SANDBOX_DIR/home/alice/long.txt"
	done
}
