# bats file_tags=nightly
# The clock of the whole cluster is set, forward and back: libfaketime shows every daemon another one.

load lib
load plugins

slot=5

setup_file()
{
	local library

	need_plugins
	library=$(find /usr/lib -name libfaketimeMT.so.1 | head -n 1)
	[ -n "$library" ] || { echo "no libfaketime" >&2; return 1; }
	# slurmctld reads it as its own user.
	CLOCK_DIR=$(mktemp -d "${TMPDIR:-/tmp}/auction-clock-XXXXXX")
	export CLOCK_DIR
	chmod 755 "$CLOCK_DIR"
	echo +0 > "$CLOCK_DIR/clock"
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --slot-seconds 5 --slots 300 --env LD_PRELOAD="$library" \
		--env FAKETIME_TIMESTAMP_FILE="$CLOCK_DIR/clock" --env FAKETIME_NO_CACHE=1 \
		--env FAKETIME_DONT_FAKE_MONOTONIC=1 || { echo "slurmctld $(slurmctld -V) does not start under libfaketime" >&2; return 1; }
	wait_until 30 auction_open
}

teardown_file()
{
	cluster_stop
	[ -z "${CLOCK_DIR-}" ] || rm -rf "$CLOCK_DIR"
}

# step_clock SECONDS: forward, or back with a minus; returns when the agent has seen it.
step_clock()
{
	printf '%+d\n' $(($(cat "$CLOCK_DIR/clock") + $1)) > "$CLOCK_DIR/new"
	mv "$CLOCK_DIR/new" "$CLOCK_DIR/clock"
	wait_until 30 log_has "the clock was set by $1[.]"
}

# The cluster's time.
cluster_now()
{
	echo $((EPOCHSECONDS + $(cat "$CLOCK_DIR/clock")))
}

starts_in_time()
{
	local start

	start=$(plan_start "$1")
	wait_until $((start + 30 - $(cluster_now))) job_is "$1" RUNNING
	began_in_time "$1" "$start"
}

waiting_job()
{
	submit alice $(small_bid 100 2) -p edge --upload=edge="$1" -o /dev/null --wrap 'sleep 600'
}

@test "the clock is set forward: what waits starts in its slot by the new clock, what runs ends with its plan" {
	runs=$(submit bob $(small_bid 100 12) -p edge -o /dev/null --wrap 'sleep 600')
	wait_until 30 job_is "$runs" RUNNING
	wait_until 30 receipt_state_is "$runs" running
	waits=$(waiting_job 55s)
	wait_until 30 receipt_state_is "$waits" sold
	step_clock 25
	starts_in_time "$waits"
	end=$(plan_end "$runs")
	wait_until $((end + 40 - $(cluster_now))) settled "$runs"
	[ "$(database_receipt "$runs" .why)" = timeout ]
	ended_in_time "$runs" "$end"
	[ "$(job_time "$runs" EndTime)" -ge $((end - 3)) ]
	wait_until 60 settled "$waits"
}

@test "the clock is set back: jobs go on, bids are taken at once, what is sold starts in its slot" {
	runs=$(submit bob $(small_bid 100 7) -p edge -o /dev/null --wrap 'sleep 600')
	wait_until 30 job_is "$runs" RUNNING
	wait_until 30 receipt_state_is "$runs" running
	wait_until 30 eval '[ $(($(cluster_now) - $(plan_start '"$runs"'))) -ge 7 ]'
	step_clock -4
	end=$(plan_end "$runs")
	wait_until $((end + 40 - $(cluster_now))) settled "$runs"
	[ "$(database_receipt "$runs" .why)" = timeout ]
	[ "$(job_field "$runs" Restarts)" = 0 ]
	ended_in_time "$runs" "$end"
	[ "$(job_time "$runs" EndTime)" -ge $((end - 3)) ]
	waits=$(waiting_job 30s)
	wait_until 30 receipt_state_is "$waits" sold
	step_clock -15
	starts_in_time "$waits"
	wait_until 40 settled "$waits"
	[ "$(database_receipt "$waits" .why)" = timeout ]
	# By an hour: what was sold before is an hour ahead. slurmctld itself starts no job before its clock is where it was.
	later=$(waiting_job 5s)
	wait_until 30 receipt_state_is "$later" sold
	step_clock -3600
	wait_until 30 auction_open
	new=$(waiting_job 5s)
	wait_until 30 receipt_state_is "$new" sold
	[ "$(plan_start "$new")" -le $(($(cluster_now) + 20)) ]
	[ "$(plan_start "$later")" -ge $(($(cluster_now) + 3500)) ]
	as alice scancel "$later" "$new"
	for job in $later $new; do
		wait_until 60 settled "$job"
		[ "$(database_receipt "$job" .why)" = cancelled ]
	done
}

@test "the clock is set back: bids that stand are decided by the new one" {
	local nodes='-p edge --nodes=3 --ntasks-per-node=1 --cpus-per-task=1 --mem=500'

	all=$(submit alice --bid=100000000 $nodes --gpus-per-node=v100:4 --time=15 -o /dev/null --wrap true)
	stands=$(submit bob --bid=deadline:100000000,2m $nodes --gpus-per-node=v100:1 --time=1 --stands=2h -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$stands" waiting
	# What ALL has bought is an hour ahead then.
	step_clock -3600
	wait_until 60 receipt_state_is "$stands" sold
	as alice scancel "$all"
	as bob scancel "$stands"
	for job in $all $stands; do
		wait_until 60 settled "$job"
	done
}
