# bats file_tags=nightly
# Jobs that take longer than they said, whose own slots somebody else has bought: what may be requeued goes on on other nodes.

load lib
load plugins
load late

setup_file()
{
	late_start 'edge[1-5]'
}

sbid()
{
	as "$1" "${AUCTION_PREFIX:+$AUCTION_PREFIX/bin/sbid}${AUCTION_BUILD:+$AUCTION_BUILD/contrib/sbid/sbid}" "${@:2}"
}

# A script that goes on until it is told to end, and ends by itself when it has been started again.
again='echo "on $SLURMD_NODENAME"; [ -z "$SLURM_RESTART_COUNT" ] || exit 0; while :; do sleep 1; done'

# The nodes of run RUN of a job's plan. run_nodes JOB RUN
run_nodes()
{
	receipt_get "$1" ".plan[$2] | .nodes // (.workers + .ps | keys) | join(\",\")"
}

# A job's plan has a second run. goes_on JOB
goes_on()
{
	[[ $(receipt "$1") == *'"from":'*'"from":'* ]]
}

@test "a late job whose node is sold goes on on another, with --requeue" {
	run -0 as alice sbatch --parsable --requeue -N1 --gpus-per-node=4 -c1 --mem=100 -t1 --bid=300 -o moved.out --open-mode=append --wrap "$again"
	[[ $output == *"if it is late and its nodes are sold, it is requeued to others"* ]]
	slow=$(grep -Eo '^[0-9]+$' <<< "$output")
	lead=$(submit alice --requeue $(small_bid 300 6) -o lead.out --wrap "$again")
	stays=$(submit alice -N1 --gpus-per-node=4 -c1 --mem=100 -t1 --bid=300 -o /dev/null --wrap 'sleep 600')
	node=$(run_nodes "$slow" 0) lead_node=$(run_nodes "$lead" 0)
	# What follows on each of their nodes is bob's, for as long as it takes.
	for job in "$slow" "$lead" "$stays"; do
		whole "$(run_nodes "$job" 0)" bob --bid=300 -b "$(date -d "@$(plan_end "$job")" +%FT%T)" -o /dev/null --wrap 'sleep 1' > "$BATS_TEST_TMPDIR/next-$job"
	done
	paid=$(micro "$(receipt_get "$slow" .payment)") end=$(plan_end "$slow")
	wait_until 60 job_is "$slow" RUNNING
	wait_until 60 job_is "$lead" RUNNING
	wait_until 120 goes_on "$slow"
	wait_until 60 goes_on "$lead"
	other=$(run_nodes "$slow" 1)
	[ "$other" != "$node" ]
	[ "$(run_nodes "$lead" 1)" != "$lead_node" ]
	# Two minutes, more than it needs.
	[ "$(($(plan_end "$slow") - $(receipt_get "$slow" '.plan[1].from * .slot_seconds')))" = 120 ]
	[ "$(micro "$(receipt_get "$slow" .payment)")" -ge "$paid" ]
	for job in "$slow" "$lead"; do
		wait_until 180 settled "$job"
		[ "$(database_receipt "$job" .why)" = completed ]
		next=$(< "$BATS_TEST_TMPDIR/next-$job")
		wait_until 120 settled "$next"
		began_in_time "$next" "$(database_receipt "$next" '.start * .slot_seconds')"
		[ "$(database_receipt "$next" .why)" = completed ]
	done
	[ "$(as alice grep '^on ' moved.out)" = "on $node"$'\n'"on $other" ]
	[[ $(sbid alice show "$slow") == *"$node"*"$other"* ]]
	wait_until 120 settled "$stays"
	[ "$(database_receipt "$stays" .why)" = timeout ]
	ended_in_time "$stays" "$end"
}
