# bats file_tags=nightly
# The disk of the spool is full: what is sold keeps its fences, what is on disk is carried out, and a sale whose start came late for it is
# put off, as after an outage.

load lib
load plugins

slot=10

setup_file()
{
	# edge1 and edge2 serve an ordinary partition, too, so that what is sold there is fenced.
	auction_start --nodes 'edge[1-2]:partition=edge+main,cpus=8,mem=16000,gpus=v100:4'
	sandbox stop slurmctld
	mount -t tmpfs -o size=1m,mode=700,uid="$(id -u slurm)" auction "$(spool)" || { echo "no file system can be mounted here" >&2; return 1; }
	sandbox start slurmctld
	wait_until 60 auction_open
	wait_until 60 nodes_settled
}

teardown()
{
	rm -f "$(spool)/fill"
	scancel -u alice
	scancel -u bob
	wait_until 60 auction_open
	wait_until 60 status_is '"\(.totals.live) \(.totals.liens)"' '0 0'
}

teardown_file()
{
	if [ -n "${SANDBOX_DIR-}" ] && grep -qF " $(spool) tmpfs " /proc/mounts; then
		umount -l "$(spool)"
	fi
	cluster_stop
}

spool()
{
	echo "$SANDBOX_DIR/state/auction"
}

# Takes all that is left of the disk, once more.
fill()
{
	dd if=/dev/zero bs=4k oflag=append conv=notrunc of="$(spool)/fill" 2> /dev/null || true
}

full()
{
	fill
	as alice sbatch --quote $(small_bid 100 1) -o /dev/null --wrap true 2>&1 | grep -q 'No space left'
}

# One more sale and its end; true if the journal has too little room in its last block then for another sale.
last_block_is_full()
{
	local job

	job=$(submit bob $(small_bid 100 1) --upload=600s -o /dev/null --wrap true) || return
	as bob scancel "$job"
	wait_until 60 settled "$job" || return
	wait_until 30 status_is '"\(.totals.live) \(.totals.liens) \(.agent.final_receipts_waiting)"' '0 0 0' || return
	[ $(($(stat -c %s "$(spool)/journal") % 4096)) -ge 3200 ]
}

fence_of()
{
	scontrol -o show reservation | grep -q "^ReservationName=auction-$(receipt_get "$1" .sale)-"
}

@test "fences stay, and what is on disk already begins and ends in its slots" {
	first=$(submit alice $(small_bid 100 3) -o /dev/null --wrap 'sleep 100')
	second=$(submit bob $(small_bid 100 2) --upload=30s -o /dev/null --wrap 'sleep 100')
	wait_until 30 receipt_state_is "$second" sold
	wait_until 30 fence_of "$first"
	wait_until 30 fence_of "$second"
	fill
	wait_until 60 job_is "$first" RUNNING
	wait_until 60 full
	start=$(plan_start "$second") end=$(plan_end "$second")
	wait_until $((start + 30 - EPOCHSECONDS)) eval 'fill; job_is '"$second"' RUNNING'
	began_in_time "$second" "$start"
	fence_of "$second"
	wait_until $((end + 30 - EPOCHSECONDS)) eval 'fill; job_ended '"$second"
	ended_in_time "$second" "$end"
	! log_has 'removing reservation' || false
	rm "$(spool)/fill"
	wait_until 60 settled "$second"
	[ "$(database_receipt "$second" .why)" = timeout ]
}

@test "sold as the disk was filling: its fence is there, and what could not begin in time comes later" {
	wait_until 180 last_block_is_full
	fill
	# Two nodes, in two slots from now: the second is a member's, which nobody asks for before the sale is on disk.
	job=$(submit alice --bid=1000 $(wide_bid 1 3 | cut -d' ' -f2-) --upload=20s -o /dev/null --wrap 'sleep 100')
	start=$(plan_start "$job")
	wait_until 30 full
	wait_until 30 fence_of "$job"
	receipt_state_is "$job" lien
	wait_until $((start + 3 * slot - EPOCHSECONDS)) eval 'fill; [ $EPOCHSECONDS -ge '$((start + slot / 2))' ]'
	fence_of "$job"
	rm "$(spool)/fill"
	wait_until 60 log_has "job $job: what it missed"
	wait_until 60 eval '[ "$(plan_start $job)" -gt '"$start"' ]'
	wait_until 90 runs_on "$job" 'edge1 edge2'
	wait_until 90 settled "$job"
	[ "$(database_receipt "$job" .why)" = timeout ]
}
