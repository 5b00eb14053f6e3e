# What one buyer leaves behind does not cost the next one its job: its node is still COMPLETING when the slot begins.

load lib
load plugins

slot=20

setup_file()
{
	# As long as it runs the node is COMPLETING, as with processes that do not end.
	printf '%s\n' '#!/bin/bash' '[ "$SLURM_JOB_USER" != alice ] || sleep 45' > "$BATS_FILE_TMPDIR/epilog"
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/epilog"
	auction_start --set Epilog="$BATS_FILE_TMPDIR/epilog" --nodes 'node1:partition=edge,cpus=8,mem=16000,gpus=v100:2'
}

# Both GPUs of the node.
whole_bid()
{
	echo "--bid=1000 --epochs=1 --chunks=2 --minibatches=$(($1 * slot)) --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s -p edge"
}

node_completing()
{
	[[ $(scontrol -o show node node1) =~ State=[A-Z+]*COMPLETING ]]
}

# bats test_tags=nightly
@test "the next buyer's job waits until the node is free, and is not lost" {
	first=$(submit alice $(whole_bid 1) -o /dev/null --wrap 'sleep 2')
	next=$(submit bob $(whole_bid 1) -o /dev/null --wrap 'sleep 5')
	wait_until 60 node_completing
	wait_until 120 job_is "$next" 'RUNNING|COMPLETED'
	wait_until 90 settled "$next"
	[ "$(database_receipt "$next" .why)" = completed ]
	log_has "job $next waits: node1 still ends job $first of uid 2001, which left processes behind; of this user, delay 1 since the start"
	# Once more: it is counted.
	again=$(submit alice $(whole_bid 1) -o /dev/null --wrap 'sleep 2')
	next=$(submit bob $(whole_bid 1) -o /dev/null --wrap 'sleep 5')
	wait_until 120 log_has "still ends job $again of uid 2001, which left processes behind; of this user, delay [2-9] since the start"
	wait_until 120 settled "$next"
	[ "$(database_receipt "$next" .why)" = completed ]
}

# bats test_tags=nightly
@test "who has left it himself does not get all of it back, nor other slots" {
	scancel -u bob
	first=$(submit alice $(whole_bid 1) -o /dev/null --wrap 'sleep 2')
	next=$(submit alice $(whole_bid 1) -o /dev/null --wrap 'sleep 5')
	completion=$(receipt_get "$next" .completion)
	wait_until 60 node_completing
	wait_until 120 settled "$next"
	[ "$(database_receipt "$next" '"\(.why) \(.completion)"')" = "own_job $completion" ]
	log_has "job $next waits: node1 still ends job $first of uid 2001"
	wait_until 60 settled "$first"
}

@test "a process that leaves the session of its job does not cost the next buyer its job" {
	first=$(submit carol $(whole_bid 1) -o /dev/null --wrap "setsid sh -c 'trap \"\" TERM HUP; exec sleep 60' & sleep 2")
	next=$(submit bob $(whole_bid 1) -o /dev/null --wrap 'sleep 5')
	wait_until 120 settled "$next"
	[ "$(database_receipt "$next" .why)" = completed ]
	wait_until 60 settled "$first"
}
