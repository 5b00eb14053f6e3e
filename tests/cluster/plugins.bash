# plugins.bash - what the tests of job_submit/auction and sched/auction share. Loaded after lib.

# auction_start [OPTION...]: a new cluster with slots of $slot seconds, whose auction is open; options are sandbox's. For setup_file.
auction_start()
{
	need_plugins
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --slot-seconds "$slot" "$@"
	wait_until 30 auction_open
	wait_until 60 nodes_settled
}

# All nodes have told of their jobs after a start of slurmctld. Before, --test-only of Slurm knows no time at which a bid's nodes are free.
nodes_settled()
{
	[[ $(scontrol show reservations) != *auction-settling* ]]
}

# The end of every file that does not have its own.
teardown_file()
{
	cluster_stop
}

# What the spool says of the sale of job $1, which nobody else may read: jq's filter $2 on its last record with a bid. spool_get JOB FILTER
spool_get()
{
	local sale

	sale=$(database_receipt "$1" .sale)
	[ -n "$sale" ] || sale=$(receipt_get "$1" .sale)
	cat "$SANDBOX_DIR"/state/auction/{state,journal} | sed -n 's/^[^{]*\({.*"sale":"'"$sale"'".*"bid":.*\)$/\1/p' | tail -n 1 | jq -r "$2"
}

# A bid of one worker and one PS on one node: SLOTS slots long (of $slot seconds), worth VALUE, whenever it is done.
# small_bid VALUE SLOTS
small_bid()
{
	echo "--bid=$1 --epochs=1 --chunks=1 --minibatches=$(($2 * slot)) --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s"
}

# A bid that only eight workers can meet, so that it takes two nodes and more: SLOTS slots long (4), worth nothing later than one slot after
# that. wide_bid VALUE [SLOTS]
wide_bid()
{
	local slots=${2:-4}

	echo "--bid=deadline:$1,$((slots + 1)) --epochs=1 --chunks=8 --minibatches=$((slots * slot)) --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s"
}

# status FILTER: jq's filter on status.json, as the agent last wrote it.
status()
{
	jq -r "$1" "$SANDBOX_DIR/state/auction/status.json"
}

# status_is FILTER TEXT. A file that did not have it is not asked again.
status_is()
{
	local text

	text=$(< "$SANDBOX_DIR/state/auction/status.json")
	[ "$1 $2 $text" != "${status_was_not-}" ] || return 1
	[ "$(jq -r "$1" <<< "$text")" != "$2" ] || return 0
	status_was_not="$1 $2 $text"
	return 1
}

# Waits for a status.json that is written from now on: it follows changes within a second or so.
fresh_status()
{
	wait_until 30 status_after "${EPOCHREALTIME/[.,]/}"
}

# status_after MICROSECONDS
status_after()
{
	local text fraction

	text=$(< "$SANDBOX_DIR/state/auction/status.json")
	[[ $text =~ \"time\":([0-9]+)\.?([0-9]*) ]] || return
	fraction=${BASH_REMATCH[2]}000000
	[ "${BASH_REMATCH[1]}${fraction:0:6}" -gt "$1" ]
}

# Bids are taken: not while it starts, nor in the second or so after partitions have changed.
auction_open()
{
	status_is .ready true && ! grep -qE 'starting|try again in a moment' <<< "$(as alice sbatch --quote $(small_bid 1 1) --wrap true 2>&1)"
}

# For teardown: no job is left in the queue.
cancel_all()
{
	local user

	for user in alice bob carol; do
		scancel -u "$user"
	done
	wait_until 60 queue_empty
}

queue_empty()
{
	[ -z "$(timeout 20 squeue -ho %A)" ]
}

reloads()
{
	grep -c 'auction: configuration reloaded' "$SANDBOX_DIR/log/slurmctld.log" || true
}

# Returns when the agent has read a changed auction.conf.
reconfigure()
{
	local before

	before=$(reloads)
	scontrol reconfigure
	wait_until 30 eval '[ "$(reloads)" -gt '"$before"' ]'
	# Slurm has read its partitions again, too.
	wait_until 30 rules_known
}

# What Slurm says of the partitions is known: not in the second or so after they have changed. A site may sell workers only, or gangs.
rules_known()
{
	local bid said

	for bid in "$(small_bid 1 1)" '--bid=1 -N1 -c1 --mem=1 -t1'; do
		said=$(as alice sbatch --quote $bid --wrap true 2>&1)
		[[ $said != *'try again in a moment'* ]] || return 1
	done
}

# Makes $HOLD_DIR with NAME.so, of NAME.c, for slurmctld to preload, which is held while there are certain other files in it. hold_make NAME
hold_make()
{
	HOLD_DIR=$(mktemp -d "${TMPDIR:-/tmp}/auction-hold-XXXXXX")
	export HOLD_DIR
	chmod 1777 "$HOLD_DIR"
	gcc -shared -fPIC -o "$HOLD_DIR/$1.so" "$lib_dir/$1.c" -ldl
}

# For teardown_file: nothing is held any longer, so that slurmctld can end, and the cluster is stopped.
hold_stop()
{
	[ -z "${HOLD_DIR-}" ] || find "$HOLD_DIR" -type f ! -name '*.so' -delete
	cluster_stop
	[ -z "${HOLD_DIR-}" ] || rm -rf "$HOLD_DIR"
}

# The receipt in the accounting database. database_receipt JOB FILTER
database_receipt()
{
	in_receipt "$(sacct_field "$1" AdminComment)" "$2"
}

database_receipt_is()
{
	[ "$(database_receipt "$1" "$2")" = "$3" ]
}

settled()
{
	sacct_is "$1" AdminComment '.*"state":"settled".*'
}

# Unix time of the plan's first slot and after its last. plan_start JOB
plan_start()
{
	plan_time "$1" .start
}

plan_end()
{
	plan_time "$1" .completion
}

plan_time()
{
	local text

	text=$(receipt "$1")
	[ -z "$text" ] || echo $(($(in_receipt "$text" "$2") * $(in_receipt "$text" .slot_seconds)))
}

# The nodes that a job's workers are to have. nodes_of JOB
nodes_of()
{
	receipt_get "$1" '[.plan[].workers | keys[]] | unique | join(",")'
}

# Seconds that something may come later than it should where the machine is slow or stalls for a moment.
late=10

# began_in_time JOB START: not before START, and soon after it.
began_in_time()
{
	local began

	began=$(job_time "$1" StartTime)
	[ "$began" -ge "$2" ] && [ "$began" -le $(($2 + late)) ] || { echo "job $1 began $((began - $2)) s behind its time" >&2; return 1; }
}

# ended_in_time JOB END
ended_in_time()
{
	local ended

	ended=$(job_time "$1" EndTime)
	[ "$ended" -le $(($2 + late)) ] || { echo "job $1 ended $((ended - $2)) s behind its time" >&2; return 1; }
}

# When a job began or ended, in Unix time. job_time JOB StartTime|EndTime
job_time()
{
	date -d "$(job_field "$1" "$2")" +%s
}

# Seconds until TIME, a time of day within twelve hours, as quotes have it: maybe tomorrow's.
seconds_until()
{
	echo $((($(date -d "$1" +%s) - EPOCHSECONDS + 129600) % 86400 - 43200))
}

# What Slurm gave a job; before 23.02 the same field is what it asks for.
job_tres()
{
	local tres

	tres=$(job_field "$1" AllocTRES)
	echo "${tres:-$(job_field "$1" TRES)}"
}

members()
{
	group_jobs "$1" | grep -vx "$1"
}

member_count_is()
{
	[ "$(members "$1" | wc -l)" = "$2" ]
}

group_is()
{
	local job

	for job in $(group_jobs "$1"); do
		job_is "$job" "$2" || return 1
	done
}

log_has()
{
	grep -q -- "$1" "$SANDBOX_DIR/log/slurmctld.log"
}

# The node fails, and stays away: one that is only down comes back as soon as slurmctld pings it (ReturnToService=2).
fail_node()
{
	scontrol update nodename="$1" state=down reason=test && scontrol update nodename="$1" state=drain reason=test
}

# The nodes of the plan of job $1 in its last run.
last_nodes()
{
	receipt_get "$1" '.plan[-1] | (.workers + .ps) | keys | join(" ")'
}

# Nodes on which jobs of the group run.
running_nodes()
{
	timeout 20 squeue -ho %N -t R -j "$(group_jobs "$1" | paste -sd,)" | sort | paste -sd' '
}

runs_on()
{
	[ "$(running_nodes "$1")" = "$2" ]
}

# True when slurmctld has saved its jobs since $1, in Unix time.
jobs_saved()
{
	[ -n "$(find "$SANDBOX_DIR/state/job_state" -newermt "@$1")" ]
}

# Until slurmctld has saved job $1, which it does when that is changed.
save_job()
{
	local since

	since=$(date +%s.%N)
	scontrol update jobid="$1" comment=saved
	wait_until 30 jobs_saved "$since"
}

# True when slurmctld has saved its jobs after the last that the ledger did, and not while it was asking the accounting for a job's row:
# of a slurmctld that is killed then, the next one lets nobody change that job. A job is saved when it is changed.
saved()
{
	local journal=$SANDBOX_DIR/state/auction/journal since=$BATS_TEST_TMPDIR/since job jobs

	if [ ! "$since" -nt "$journal" ]; then
		jobs=$(timeout 20 squeue -ho %A)
		# No job is left that could be saved once more: slurmctld saves what has changed within 5 s.
		[ -n "$jobs" ] || { jobs_saved "$(stat -c %.Y "$journal")" || [ $((EPOCHSECONDS - $(stat -c %Y "$journal"))) -gt 15 ]; return; }
		for job in $jobs; do
			[ -n "$(timeout 20 sacct -nXP -j "$job" -o JobID)" ] || return 1
		done
		touch "$since"
		for job in $jobs; do
			timeout 20 scontrol update jobid="$job" comment=saved || { rm "$since"; return 1; }
		done
	fi
	jobs_saved "$(stat -c %.Y "$since")"
}
