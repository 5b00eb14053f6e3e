# bats file_tags=nightly
# Nodes that the auction shares with an ordinary partition, and plans of several layouts: what is fenced follows the plan.

load lib
load plugins
load elastic

slot=12

setup_file()
{
	need_plugins
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=oasis
		SlotSeconds=$slot
		RefundUnused=no
		Overrun=kill
		Slots=60
		Prices=published
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'node[1-3]:partition=edge+main,cpus=8,mem=16000,gpus=v100:4'
	wait_until 30 eval 'as alice sbatch --quote --bid=1 --worker-time=v100=1s --wrap true 2>&1 | grep -q "auction: .*slots"'
}

fences()
{
	scontrol -o show reservation | sed -nE 's/^ReservationName=(auction-[0-9a-f]{16}-[^ ]*) .*/\1/p'
}

no_fences()
{
	[ -z "$(fences)" ]
}

# Every job of the group that runs is behind a fence of its sale, whose users are its owner alone. All are seen at one moment.
group_is_inside()
{
	local sale running

	sale=$(receipt_get "$1" .sale)
	running=$(timeout 20 scontrol -o show job | grep -F "\"sale\":\"$sale\"" | grep ' JobState=RUNNING ') || return 0
	inside=$((inside + $(wc -l <<< "$running")))
	[ -z "$(grep -v " Reservation=auction-$sale-" <<< "$running")" ]
}

@test "elastic: each layout stands on time behind its fences, an ordinary job that would be in the way waits" {
	submit_elastic
	start=$(plan_start "$job") end=$(plan_end "$job")
	payment=$(receipt_get "$job" .payment)
	wait_until $((start + 30 - EPOCHSECONDS)) job_is "$job" RUNNING
	# Each of them would take a whole node for longer than any pause.
	long=
	for node in node1 node2 node3; do
		long+=" $(submit bob -p main -w "$node" --exclusive -t 5 -o /dev/null --wrap 'sleep 1')"
	done
	inside=0
	for ((run = 0; run < $(receipt_get "$job" '.plan | length'); run++)); do
		from=$(receipt_get "$job" ".plan[$run].from * .slot_seconds")
		nodes=$(receipt_get "$job" ".plan[$run] | (.workers + .ps) | keys | sort | join(\" \")")
		wait_until $((from - EPOCHSECONDS + 30)) eval "[ \$EPOCHSECONDS -ge $from ]"
		# A test that is late itself sees another layout.
		to=$(receipt_get "$job" "(.plan[$run].to + 1) * .slot_seconds")
		[ $((to - EPOCHSECONDS)) -ge 8 ] || continue
		wait_until $slot runs_on "$job" "$nodes"
		group_is_inside "$job"
	done
	[ "$inside" -gt 0 ]
	wait_until $((end + 60 - EPOCHSECONDS)) settled "$job"
	[ "$(database_receipt "$job" .why)" = timeout ]
	[ "$(database_receipt "$job" .payment)" = "$payment" ]
	# None of them began on a node while it was sold.
	for one in $long; do
		wait_until 60 job_is "$one" COMPLETED
		node=$(job_field "$one" NodeList)
		last=$(database_receipt "$job" "[.plan[] | select((.workers + .ps) | has(\"$node\")) | .to + 1] | max // 0 | . * $slot")
		[ "$(job_time "$one" StartTime)" -ge $((last - 1)) ]
	done
	wait_until 30 no_fences
}

@test "--overrun=extend: the fence is extended with the plan, and goes with the job" {
	job=$(submit alice --overrun=extend --bid=1000 --chunks=1 --epochs=1 --minibatches=$slot --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s \
		-o /dev/null --wrap 'sleep 25')
	wait_until 30 receipt_state_is "$job" sold
	end=$(plan_end "$job")
	wait_until 30 job_is "$job" RUNNING
	node=$(job_field "$job" NodeList)
	long=$(submit bob -p main -w "$node" --exclusive -t 5 -o /dev/null --wrap 'sleep 1')
	fence=$(job_field "$job" Reservation)
	until_now=$(scontrol -o show reservation "$fence" | grep -o 'EndTime=[^ ]*')
	wait_until 30 eval '[ "$(plan_end '"$job"')" -gt '"$end"' ]'
	wait_until 30 eval '[ "$(scontrol -o show reservation '"$fence"' | grep -o "EndTime=[^ ]*")" != '"$until_now"' ]'
	wait_until 40 job_is "$job" COMPLETED
	[ "$(job_time "$job" EndTime)" -ge $((end + 5)) ]
	wait_until 30 job_is "$long" COMPLETED
	[ "$(job_time "$long" StartTime)" -ge "$(job_time "$job" EndTime)" ]
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	wait_until 30 no_fences
}

# True when the auction knows that all three nodes are free: an ordinary job that was there is seen to be gone at the next look at nodes.
all_for_sale()
{
	as alice sbatch --quote --bid=linear:1000,400 --chunks=12 --epochs=1 --minibatches=$slot --gradient-mb=0 --worker-time=v100=1s \
		--ps-time=ps.s=0s --wrap true 2>&1 | grep -q ' 12 x v100 on '
}

@test "a node that fails behind its fence: the plan and the fence move to another" {
	wait_until 60 all_for_sale
	job=$(submit alice --bid=1000 --chunks=8 --epochs=1 --minibatches=$((6 * slot)) --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s \
		-o /dev/null --wrap 'trap : USR1; while :; do sleep 1 & wait; done')
	wait_until 30 receipt_state_is "$job" sold
	wait_until 30 eval '[ -n "$(members '"$job"')" ] && group_is '"$job"' RUNNING'
	wait_until 30 receipt_state_is "$job" running
	node=$(job_field "$(members "$job" | head -n 1)" NodeList)
	others=$(printf '%s\n' node1 node2 node3 | grep -vx "$node" | paste -sd' ')
	fail_node "$node"
	wait_until 30 eval '[[ " $(running_nodes '"$job"') " != *" '"$node"' "* ]] && [ "$(receipt_get '"$job"' ".plan[-1] | (.workers + .ps) | has(\"'"$node"'\")")" = false ]'
	wait_until 30 runs_on "$job" "$others"
	wait_until 30 group_is_inside "$job"
	as alice scancel "$job"
	wait_until 60 settled "$job"
	wait_until 30 no_fences
}
