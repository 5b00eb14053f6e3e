# Sales are carried out whatever happens: nodes that fail, slots that have begun, jobs that take longer, a database that is away.

load lib
load plugins

slot=10

setup_file()
{
	auction_start
}

teardown()
{
	kill -CONT "$(cat "$SANDBOX_DIR/run/slurmdbd.pid")" || true
}

# As wide_bid of plugins, but for twelve slots: there is time to look. long_bid VALUE
long_bid()
{
	echo "--bid=deadline:$1,14 --epochs=1 --chunks=8 --minibatches=$((12 * slot)) --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s"
}

# for_sale NODE true|false
for_sale()
{
	status_is ".servers[] | select(.name == \"$1\") | .for_sale" "$2"
}

# Nothing runs there. Not down: fail_node() says why.
away()
{
	local node

	for node; do
		scontrol update nodename="$node" state=drain reason=test
	done
	for node; do
		wait_until 30 for_sale "$node" false
	done
}

# A node that went down under jobs has to be drained before it comes back; and the auction has to have seen it, or what it says of the
# node is from before.
up()
{
	local node

	for node; do
		scontrol update nodename="$node" state=drain reason=test || return
		wait_until 30 eval 'scontrol show node '"$node"' | grep -q "AllocTRES=$"'
		wait_until 30 for_sale "$node" false
		scontrol update nodename="$node" state=resume || return
	done
	for node; do
		wait_until 30 for_sale "$node" true
	done
}

@test "a node that fails under a member: another takes over at no charge, and the job is told" {
	job=$(submit alice $(long_bid 1000) -o told.txt --wrap 'trap "echo told" USR1; for i in $(seq 200); do sleep 1 & wait; done')
	wait_until 30 receipt_state_is "$job" sold
	payment=$(receipt_get "$job" .payment) sale=$(receipt_get "$job" .sale) completion=$(receipt_get "$job" .completion)
	wait_until 30 group_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	node=$(job_field "$(members "$job" | head -n 1)" NodeList)
	lead=$(job_field "$job" NodeList)
	fail_node "$node"
	wait_until 30 eval '[[ " $(last_nodes '"$job"') " != *" '"$node"' "* ]]'
	nodes=$(last_nodes "$job")
	wait_until 30 runs_on "$job" "$nodes"
	wait_until 30 grep -q told "$SANDBOX_DIR/home/alice/told.txt"
	[ "$(receipt_get "$job" '"\(.payment) \(.sale) \(.completion)"')" = "$payment $sale $completion" ]
	[ "$(job_field "$job" NodeList)" = "$lead" ]
	as alice scancel "$job"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = cancelled ]
	[ "$(database_receipt "$job" .payment)" = "$payment" ]
	up "$node"
}

# bats test_tags=nightly
@test "a node that fails under a member, and there is no other: everything is paid back" {
	job=$(submit alice $(long_bid 1000) -o /dev/null --wrap 'sleep 100')
	wait_until 30 receipt_state_is "$job" sold
	others=$(status '.servers[] | select(.partition == "edge") | .name' | grep -vxF "$(last_nodes "$job" | tr ' ' '\n')")
	wait_until 30 group_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	away $others
	group=$(group_jobs "$job")
	node=$(job_field "$(members "$job" | head -n 1)" NodeList)
	fail_node "$node"
	for one in $group; do
		wait_until 30 job_ended "$one"
	done
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = node_fail ]
	[ "$(database_receipt "$job" .payment)" = 0.000000 ]
	up "$node" $others
}

@test "the lead's node fails: everything is paid back" {
	job=$(submit alice $(small_bid 100 12) -o /dev/null --wrap 'sleep 100')
	wait_until 30 job_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	node=$(job_field "$job" NodeList)
	fail_node "$node"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = node_fail ]
	[ "$(database_receipt "$job" .payment)" = 0.000000 ]
	up "$node"
}

@test "a node that is drained before the slot: the job starts on another, in its slots" {
	# Another keeps it waiting.
	away edge2 edge3 edge4
	first=$(submit bob $(long_bid 1000 | sed "s/chunks=8/chunks=4/; s/,14/,7/; s/--minibatches=[0-9]*/--minibatches=$((5 * slot))/") -o /dev/null --wrap 'sleep 60')
	wait_until 30 job_is "$first" RUNNING
	job=$(submit alice $(small_bid 100 2) -p edge -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$job" sold
	[ "$(last_nodes "$job")" = edge1 ]
	plan=$(receipt_get "$job" '"\(.payment) \(.start) \(.completion)"')
	up edge3
	scontrol update nodename=edge1 state=drain reason=test
	wait_until 60 eval '[ "$(last_nodes '"$job"')" = edge3 ]'
	[ "$(receipt_get "$job" '"\(.payment) \(.start) \(.completion)"')" = "$plan" ]
	wait_until 60 job_is "$job" RUNNING
	[ "$(job_field "$job" NodeList)" = edge3 ]
	began_in_time "$job" "$(plan_start "$job")"
	as bob scancel "$first"
	as alice scancel "$job"
	wait_until 60 settled "$job"
	wait_until 60 settled "$first"
	scontrol update nodename=edge1 state=resume
	up edge2 edge4
}

@test "a job that takes longer buys slot by slot with --overrun=extend, and is ended without" {
	# There is time to buy the next slot although the agent does not come to it for some seconds.
	sed -i 's/^EndMargin=.*/EndMargin=7/' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 auction_open
	bob=$(submit bob $(small_bid 100 1) -o over.out --wrap 'sleep 60')
	job=$(submit alice $(small_bid 100 1) --overrun=extend -o /dev/null --wrap 'sleep 15')
	wait_until 30 receipt_state_is "$job" sold
	end=$(plan_end "$job")
	wait_until 60 settled "$bob"
	[ "$(database_receipt "$bob" .why)" = timeout ]
	# As in what Slurm itself ends.
	wait_until 30 grep -q "JOB $bob CANCELLED DUE TO TIME LIMIT" "$SANDBOX_DIR/home/bob/over.out"
	wait_until 60 job_is "$job" COMPLETED
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$(database_receipt "$job" '.completion * .slot_seconds')" -ge $((end + slot)) ]
	[ "$(database_receipt "$job" '.completion * .slot_seconds')" -ge "$(job_time "$job" EndTime)" ]
	# A result that is worth nothing later is not worth another slot.
	job=$(submit alice "$(small_bid 100 1 | sed 's/--bid=100/--bid=deadline:100,1/; s/ .*//')" $(small_bid 1 1 | cut -d' ' -f2-) \
		--overrun=extend -o /dev/null --wrap 'sleep 60')
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = timeout ]
	[ "$(database_receipt "$job" '.completion - .start')" = 1 ]
}

@test "a slot that has begun is sold with LateStart, and the job starts at once" {
	echo LateStart=4 >> "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 auction_open
	for tries in 1 2 3 4 5; do
		wait_until 30 eval '[ $((EPOCHSECONDS % slot)) = 1 ]'
		before=$EPOCHSECONDS
		job=$(submit alice $(small_bid 100 2) -o /dev/null --wrap 'sleep 1')
		[ "$(plan_start "$job")" -gt "$before" ] || break
		# It was not quick enough.
		as alice scancel "$job"
	done
	[ "$(plan_start "$job")" -le "$before" ]
	wait_until 30 job_is "$job" 'RUNNING|COMPLETED'
	[ "$(job_time "$job" StartTime)" -lt $(($(plan_start "$job") + slot)) ]
	wait_until 60 settled "$job"
	sed -i '/^LateStart/d' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
}

# bats test_tags=nightly
@test "slurmdbd is away for a while: jobs run, and their receipts arrive later" {
	wait_until 30 auction_open
	sandbox stop slurmdbd
	job=$(submit alice $(small_bid 100 2) -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$job" sold
	wait_until 60 job_is "$job" COMPLETED
	wait_until 60 status_is .totals.live 0
	sandbox start slurmdbd
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

# slurmctld then lets who changes a job of which it asks the database wait for up to 5 s, and refuses.
# bats test_tags=nightly
@test "slurmdbd hangs: jobs are started and ended with their slots all the same" {
	local jobs=() user job

	sandbox restart slurmctld
	wait_until 30 auction_open

	kill -STOP "$(cat "$SANDBOX_DIR/run/slurmdbd.pid")"
	for user in alice bob carol; do
		jobs+=("$(submit $user $(small_bid 100 2) -o /dev/null --wrap 'sleep 100')")
	done
	for job in "${jobs[@]}"; do
		wait_until 60 job_ended "$job"
	done
	wait_until 60 status_is .totals.live 0
	[ "$(status .agent.errors.start)" = 0 ]
	kill -CONT "$(cat "$SANDBOX_DIR/run/slurmdbd.pid")"
	for job in "${jobs[@]}"; do
		began_in_time "$job" "$(plan_start "$job")"
		ended_in_time "$job" "$(plan_end "$job")"
		wait_until 60 settled "$job"
	done
}

@test "what the agent does and how long it takes is in its status" {
	# A reconfigured slurmctld of 23.11 or later has seen no start.
	wait_until 30 auction_open
	job=$(submit alice $(small_bid 100 2) -o /dev/null --wrap 'sleep 1')
	wait_until 60 settled "$job"
	fresh_status
	[ "$(status '.agent | .cycles.count > 0 and .looks.count > 0 and .starts.count > 0 and .cycles.max_us >= .cycles.mean_us')" = true ]
	[ "$(status '.agent.states | keys | length')" = 8 ]
	[ "$(status '.agent.errors.submit')" = 0 ]
}
