# A plan that is shorter than the time after which a job counts as late: where Slurm does not begin it in its slots, by nobody's fault, it comes
# later, as a longer one does.

load lib
load plugins

slot=5

setup_file()
{
	export HOLD=$BATS_FILE_TMPDIR/hold
	# As long as it runs the node is COMPLETING, as with processes that do not end.
	cat > "$BATS_FILE_TMPDIR/epilog" <<-END
		#!/bin/bash
		[ "\$SLURM_JOB_USER" != alice ] || while [ -e $HOLD-\$SLURMD_NODENAME ]; do sleep 0.2; done
	END
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/epilog"
	auction_start --set Epilog="$BATS_FILE_TMPDIR/epilog" --nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:1'
}

teardown()
{
	rm -f "$HOLD"-*
}

# True once what $1 missed was put off, or the sale is over.
put_off_or_over()
{
	log_has "job $1: what it missed (node_busy) comes later" || log_has "job $1: sale [^ ]* settled"
}

# One worker on each of both nodes, for a slot. both_bid VALUE
both_bid()
{
	echo "--bid=$1 --epochs=1 --chunks=2 --minibatches=$slot --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s"
}

# Alice has both nodes for a slot, and keeps them; then bob has bought the same. Sets first and next.
alice_before_bob()
{
	touch "$HOLD-node1" "$HOLD-node2"
	first=$(submit alice $(both_bid 1000) -o /dev/null --wrap true)
	next=$(submit bob $(both_bid 1000) -o /dev/null --wrap "${1-true}")
	payment=$(receipt_get "$next" .payment)
	[ "$(receipt_get "$first" '[.plan[].workers | keys[]] | unique | length')" = 2 ]
	[ "$(receipt_get "$next" '[.plan[].workers | keys[]] | unique | length')" = 2 ]
}

@test "nodes that others still hold when a short plan is over: it begins when they are free" {
	alice_before_bob
	# Twice, as it may take long.
	wait_until 90 put_off_or_over "$next"
	start=$(plan_start "$next")
	wait_until 60 eval '[ "$(plan_start '"$next"')" -gt '"$start"' ]'
	rm -f "$HOLD"-*
	wait_until 90 settled "$next"
	[ "$(database_receipt "$next" '"\(.why) \(.payment)"')" = "completed $payment" ]
	wait_until 60 settled "$first"
}

@test "a node that others still hold under a member alone: all of it begins when it is free, and buys no time for that" {
	# It has nothing to do before its member could be there.
	go=$SANDBOX_DIR/home/bob/go
	alice_before_bob "until [ -e $go ]; do sleep 0.2; done"
	rm -f "$HOLD-$(receipt_get "$next" '.plan[0].ps | keys[0]')"
	wait_until 90 job_is "$next" RUNNING
	start=$(plan_start "$next")
	wait_until 90 eval '[ "$(plan_start '"$next"')" -gt '"$start"' ]'
	touch "$go"
	rm -f "$HOLD"-*
	wait_until 90 settled "$next"
	[ "$(database_receipt "$next" '"\(.why) \(.payment)"')" = "completed $payment" ]
	wait_until 60 settled "$first"
	! log_has "job $next: bought another slot" || false
}
