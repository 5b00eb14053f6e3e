# After a start of slurmctld no job of a sold partition begins before the agent has closed what may still run something, nor before Slurm
# has what was decided about it meanwhile. The agent's looks at nodes and its changes of jobs are held; Slurm begins jobs by backfill alone.

load lib
load plugins

slot=10

setup_file()
{
	hold_make hold_nodes
	gcc -shared -fPIC -o "$HOLD_DIR/hold_changes.so" "$BATS_TEST_DIRNAME/hold_changes.c" -ldl
	auction_start --nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4' --nodes 'plain1:partition=plain,cpus=4,mem=2000' \
		--set SchedulerParameters=sched_interval=-1,bf_interval=1,batch_sched_delay=0 \
		--env LD_PRELOAD="$HOLD_DIR/hold_nodes.so:$HOLD_DIR/hold_changes.so" \
		--env HOLD_NODES="$HOLD_DIR/nodes" --env HOLD_CHANGES="$HOLD_DIR/changes"
	# As in restart-forgotten.
	sandbox restart slurmctld
	wait_until 60 nodes_settled
}

teardown()
{
	rm -f "$HOLD_DIR"/nodes* "$HOLD_DIR/changes"
}

teardown_file()
{
	hold_stop
}

# A sold job, $job, that begins at $begin, a slot or so from now, and writes when it does; slurmctld is killed once it has saved it.
sell_and_kill()
{
	job=$(submit alice --bid=3000 -w node1 --gpus-per-node=4 -t1 --mem=100 -b now+15 -o "$1" --wrap 'date +%s; sleep 2')
	wait_until 30 receipt_state_is "$job" sold
	begin=$(plan_start "$job")
	save_job "$job"
	job_is "$job" PENDING || skip "slurmctld saves its jobs too late here"
	sandbox stop slurmctld --kill
}

has_begun()
{
	[ -s "$SANDBOX_DIR/home/alice/$1" ]
}

answers()
{
	timeout 20 scontrol ping | grep -q 'is UP'
}

@test "backfill begins nothing before what may still run is closed" {
	sell_and_kill early.txt
	touch "$HOLD_DIR/nodes"
	sandbox start slurmctld &
	starter=$!
	wait_until 60 test -e "$HOLD_DIR/nodes.asked"
	wait_until 60 answers
	wait_until 60 eval '[ $EPOCHSECONDS -ge '$((begin + 5))' ]'
	! has_begun early.txt || false
	job_is "$job" PENDING
	rm -f "$HOLD_DIR/nodes"
	wait $starter || true
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	# What is not sold it begins, too.
	late=$(submit bob -p plain -N1 -b now+2 -o /dev/null --wrap true)
	wait_until 60 job_ended "$late"
}

# bats test_tags=nightly
@test "nor while slurmctld does not answer its own agent, who cannot close it" {
	local asked begun=no

	sell_and_kill unanswered.txt
	touch "$HOLD_DIR/nodes.unanswered"
	sandbox start slurmctld &
	starter=$!
	wait_until 60 test -e "$HOLD_DIR/nodes.asked"
	asked=$(stat -c %Y "$HOLD_DIR/nodes.asked")
	wait_until 60 answers
	# Not yet the 30 s after which nodes are not waited for. Backfill looks again only after a change.
	wait_until 60 eval 'timeout 20 scontrol update jobid='"$job"' comment=tried
		[ $EPOCHSECONDS -ge '$((asked + 22))' ] && [ $EPOCHSECONDS -ge '$((begin + 2))' ]'
	if has_begun unanswered.txt; then begun=yes; fi
	[ "$EPOCHSECONDS" -ge $((asked + 28)) ] || [ "$begun" = no ]
	rm -f "$HOLD_DIR/nodes.unanswered"
	wait $starter || true
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

# bats test_tags=nightly
@test "a job that is put off does not begin as it stood while Slurm has not changed it yet" {
	sell_and_kill late.txt
	wait_until 60 eval '[ $EPOCHSECONDS -ge '$((begin + 4))' ]'
	touch "$HOLD_DIR/changes"
	sandbox start slurmctld &
	starter=$!
	wait_until 60 log_has "job $job: what it missed (outage) comes later"
	# The nodes have told, and slurmd that it has nothing of the job, seconds ago.
	wait_until 60 eval '[ "$(timeout 20 scontrol -o show node | grep -c "SlurmdStartTime=[0-9]")" = 3 ]'
	told=$EPOCHSECONDS
	wait_until 30 eval '[ $EPOCHSECONDS -ge $((told + 9)) ]'
	job_is "$job" PENDING
	[[ $(scontrol -o show reservation) == *auction-settling* ]]
	rm -f "$HOLD_DIR/changes"
	wait_until 30 nodes_settled
	wait $starter || true
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	began=$(head -n 1 "$SANDBOX_DIR/home/alice/late.txt")
	[ "$began" -gt "$((begin + slot - 1))" ]
}

named_members_are()
{
	[ "$(timeout 20 squeue -ho %j | grep -c "^auction-$1-")" = "$2" ]
}

@test "a member whose receipt was written over as slurmctld is killed is still the member" {
	local job member text

	wait_until 60 status_is .totals.live 0
	job=$(submit alice --bid=deadline:1000,60 --epochs=1 --chunks=8 --minibatches=$((4 * slot)) --gradient-mb=0 --worker-time=v100=1s \
		--ps-time=ps.s=0s -p edge --upload=edge=300s -o /dev/null --wrap true)
	wait_until 90 member_count_is "$job" 1
	member=$(members "$job") text=$(receipt "$member")
	save_job "$job"
	touch "$HOLD_DIR/changes"
	scontrol update jobid="$member" admincomment="of the site"
	save_job "$member"
	[[ $(receipt "$member") == "of the site"* ]]
	sandbox stop slurmctld --kill
	rm -f "$HOLD_DIR/changes"
	sandbox start slurmctld
	wait_until 60 auction_open
	wait_until 30 eval '[ "$(receipt '"$member"')" = '"'$text'"' ]'
	named_members_are "$job" 1
	as alice scancel "$job"
	wait_until 60 settled "$job"
	wait_until 30 named_members_are "$job" 0
}

# completed_tasks ARRAY: how many of its tasks the accounting has as completed and settled.
completed_tasks()
{
	sacct -nPX -S now-1day -E now+1day -j "$1" -o State,AdminComment | grep -c '^COMPLETED|.*"why":"completed"'
}

# bats test_tags=nightly
@test "an array that comes back from before its tasks were split off stands again, and all of them run" {
	local array

	wait_until 60 status_is .totals.live 0
	touch "$HOLD_DIR/changes"
	array=$(submit alice --bid=linear:3000,100 --array=0-2 -w node2 --gpus-per-node=1 -t1 --mem=100 -b now+40 -o /dev/null --wrap true)
	save_job "$array"
	cp -p "$SANDBOX_DIR/state/job_state" "$BATS_TEST_TMPDIR"
	rm -f "$HOLD_DIR/changes"
	wait_until 60 status_is .totals.live 3
	wait_until 60 saved
	sandbox stop slurmctld --kill
	cp -p "$BATS_TEST_TMPDIR/job_state" "$SANDBOX_DIR/state/job_state"
	# Backfill alone looks again only after a change, and that a job's time to begin has come is none.
	sed -i 's/sched_interval=-1/sched_interval=1/' "$SANDBOX_DIR/etc/slurm.conf"
	sandbox start slurmctld
	wait_until 60 nodes_settled
	wait_until 180 eval '[ "$(completed_tasks '"$array"')" = 3 ]'
	# Nothing else says that it was sold.
	[ "$(sacct -nPXD -S now-1day -E now+1day -j "$array" -o AdminComment | grep -c '"state":"settled"')" = 3 ]
}
