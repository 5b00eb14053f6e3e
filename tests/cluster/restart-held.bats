# bats file_tags=nightly
# A job that comes back from before its settlement may run somewhere, so that it is held until all nodes have told what runs there; then
# it is ended, also by a slurmctld that finds it held.

load lib
load plugins
load restart

slot=10

setup_file()
{
	need_plugins
	conf_write 4 4 one move
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'one1:partition=one,cpus=10,mem=16000,gpus=v100:4' --nodes 'move[1-2]:partition=move,cpus=10,mem=16000,gpus=v100:4'
	# As in restart-forgotten.
	sandbox restart slurmctld
}

# A sale is settled, and slurmctld comes back from before that, with its node away: $job is held, and shows that it is settled.
come_back_held()
{
	wait_until 60 open_for_bids one
	wait_until 60 nodes_settled
	job=$(submit alice $(bid one 4 1 6) -o /dev/null --wrap 'sleep 100')
	wait_until 30 receipt_state_is "$job" sold
	wait_until 60 saved
	cp "$SANDBOX_DIR/state/job_state" "$BATS_TEST_TMPDIR/job_state"
	as alice scancel "$job"
	wait_until 60 settled "$job"
	sandbox stop slurmctld --kill
	cp "$BATS_TEST_TMPDIR/job_state" "$SANDBOX_DIR/state/job_state"
	rm -f "$SANDBOX_DIR/state/job_state.old"
	sandbox stop one1
	sandbox start slurmctld
	wait_until 30 is_held
}

is_held()
{
	receipt_state_is "$job" settled && [ "$(job_field "$job" Priority)" = 0 ]
}

@test "a job that is held as it came back is ended when its node has told" {
	come_back_held
	sandbox start one1
	wait_until 60 job_ended "$job"
	wait_until 30 log_has "job $job is in the queue after its settlement; cancelled"
	# It was seen every two seconds, and said once.
	[ "$(grep -c "job $job is in the queue after its settlement" "$SANDBOX_DIR/log/slurmctld.log")" = 1 ]
	[ "$(database_receipt "$job" .why)" = cancelled ]
}

@test "and where slurmctld is killed before that" {
	come_back_held
	save_job "$job"
	sandbox stop slurmctld --kill
	sandbox start slurmctld
	sandbox start one1
	wait_until 60 job_ended "$job"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = cancelled ]
}

@test "a sale that was to end when slurmctld was killed ends for that cause, not as held" {
	local block from end running starter

	wait_until 60 open_for_bids move
	wait_until 60 nodes_settled
	# One slot on each node; Slurm comes back from before the first when both are over.
	wait_until 30 eval '[ $((EPOCHSECONDS % slot)) -le 2 ]'
	from=$((EPOCHSECONDS / slot))
	block=$(submit bob $(bid move 4 1 4) -o /dev/null --wrap 'sleep 1')
	job=$(submit alice $(bid move 4 2 $(($(receipt_get "$block" .start) - from - 2))) -o /dev/null --wrap 'while [ ! -e over.txt ]; do sleep 0.1; done')
	[ "$(receipt_get "$job" '[.plan[].workers | keys[]] | join(" ")')" = 'move1 move2' ] || skip "a slot is too short here to submit two jobs"
	wait_until 30 receipt_state_is "$job" sold
	end=$(plan_end "$job")
	running="\"event\":\"running\",\"sale\":\"$(receipt_get "$job" .sale)\""
	save_job "$job"
	job_is "$job" PENDING || skip "slurmctld saves its jobs too late here"
	cp "$SANDBOX_DIR/state/job_state" "$BATS_TEST_TMPDIR/job_state"
	wait_until 90 grep -q "$running" "$SANDBOX_DIR/state/auction/journal"
	sandbox stop slurmctld --kill
	touch "$SANDBOX_DIR/home/alice/over.txt"
	cp "$BATS_TEST_TMPDIR/job_state" "$SANDBOX_DIR/state/job_state"
	rm -f "$SANDBOX_DIR/state/job_state.old"
	wait_until 60 eval '[ $EPOCHSECONDS -ge '"$end"' ]'
	sandbox stop move2
	sandbox start slurmctld &
	starter=$!
	wait_until 60 log_has "job $job is ended: not_started"
	wait_until 30 eval '[ "$(job_field "$job" Priority)" = 0 ]'
	save_job "$job"
	sandbox stop slurmctld --kill
	sandbox start slurmctld
	wait $starter || true
	sandbox start move2
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = not_started ]
}
