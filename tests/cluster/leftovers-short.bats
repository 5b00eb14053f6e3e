# A plan that is shorter than the time after which a job counts as late: where Slurm does not begin it in its slots, by nobody's fault, it comes
# later, as a longer one does.

load lib
load plugins

slot=5

setup_file()
{
	export HOLD=$BATS_FILE_TMPDIR/hold
	# As long as it runs the node is COMPLETING, as with processes that do not end.
	printf '%s\n' '#!/bin/bash' "[ \"\$SLURM_JOB_USER\" != alice ] || while [ -e $HOLD ]; do sleep 0.2; done" > "$BATS_FILE_TMPDIR/epilog"
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/epilog"
	auction_start --set Epilog="$BATS_FILE_TMPDIR/epilog" --nodes 'node1:partition=edge,cpus=8,mem=16000,gpus=v100:1'
}

teardown()
{
	rm -f "$HOLD"
}

# True once what $1 missed was put off, or the sale is over.
put_off_or_over()
{
	log_has "job $1: what it missed (node_busy) comes later" || log_has "job $1: sale [^ ]* settled"
}

@test "a node that others still hold when a short plan is over: it begins when the node is free" {
	touch "$HOLD"
	first=$(submit alice $(small_bid 1000 1) -o /dev/null --wrap true)
	next=$(submit bob $(small_bid 1000 2) -o /dev/null --wrap true)
	payment=$(receipt_get "$next" .payment)
	# Twice, as it may take long.
	wait_until 90 put_off_or_over "$next"
	start=$(plan_start "$next")
	wait_until 60 eval '[ "$(plan_start '"$next"')" -gt '"$start"' ]'
	rm -f "$HOLD"
	wait_until 90 settled "$next"
	[ "$(database_receipt "$next" '"\(.why) \(.payment)"')" = "completed $payment" ]
	wait_until 60 settled "$first"
}
