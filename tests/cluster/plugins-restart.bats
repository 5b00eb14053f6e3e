# slurmctld restarted, killed and reconfigured with jobs accepted, pending and running: nothing is lost or sold twice.

load lib
load plugins

slot=10

setup_file()
{
	auction_start
}

# When data are there, so that slots begin after whatever is done to slurmctld.
ahead=edge=40s,cloud=40s

# Two jobs of several nodes and one alone: $running runs, $pending and $single are sold and wait for their slots.
three_jobs()
{
	local tries

	for tries in 1 2 3; do
		running=$(submit alice $(wide_bid 1000 9 | sed "s/,10 /,12 /") -o /dev/null --wrap 'sleep 200')
		wait_until 30 group_is "$running" RUNNING
		wait_until 30 receipt_state_is "$running" running
		[ "$(job_time "$running" StartTime)" -gt $(($(plan_start "$running") + 1)) ] || break
		# A start that was late is taken for one that slurmctld missed, once that is restarted.
		as alice scancel "$running"
		wait_until 60 settled "$running"
	done
	wait_until 30 eval '[ -n "$(members '"$running"')" ]'
	pending=$(submit bob --bid=deadline:1000,18 $(wide_bid 1 | cut -d' ' -f2-) --upload=$ahead -o /dev/null --wrap 'sleep 1')
	single=$(submit carol $(small_bid 100 2) --upload=$ahead -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$pending" sold
	wait_until 30 receipt_state_is "$single" sold
	before=$(state)
}

# What must be the same before and after.
state()
{
	local job

	for job in $running $pending $single; do
		receipt_get "$job" '"\(.sale) \(.payment) \(.start) \(.completion) \(.plan)"'
		group_jobs "$job" | paste -sd' '
	done
	fresh_status
	status '.totals | "sold \(.sold) charged \(.charged)"'
}

sold_as_before()
{
	[ "$(state)" = "$before" ] || { diff <(echo "$before") <(state); return 1; }
}

all_settle()
{
	local job sum=0 payment

	for job in $running $pending $single; do
		wait_until 90 settled "$job"
	done
	[ "$(database_receipt "$running" .why)" = timeout ]
	[ "$(database_receipt "$pending" .why)" = completed ]
	[ "$(database_receipt "$single" .why)" = completed ]
	fresh_status
	wait_until 60 status_is .totals.live 0
	wait_until 30 status_is .agent.final_receipts_waiting 0
	for payment in $(sacct -nPXaD -S now-1day -o AdminComment | grep '^{"auction":1' | jq -r 'select(.state != "member") | .payment'); do
		sum=$((sum + $(micro "$payment")))
	done
	[ "$sum" = "$(micro "$(status .totals.settled_revenue)")" ]
}

# True when slurmctld has saved what it knows, and no slot begins now: killed just as it starts a job, slurmctld would start it
# a second time, find it there, and drain the node.
quiet()
{
	local into=$((EPOCHSECONDS % slot))

	saved && [ $into -ge 6 ] && [ $into -le 7 ]
}

@test "scontrol reconfigure, and slurmctld restarted and killed" {
	ahead=edge=90s,cloud=90s
	three_jobs
	reconfigure
	wait_until 30 auction_open
	group_is "$running" RUNNING
	sold_as_before

	sandbox restart slurmctld
	wait_until 30 auction_open
	group_is "$running" RUNNING
	wait_until 30 sold_as_before

	# slurmctld saves its jobs some seconds after a change; what it forgets itself is another test.
	wait_until 60 quiet
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	wait_until 30 sold_as_before || sold_as_before
	all_settle
}

@test "slurmctld killed at once: a sale whose job it forgot is given back" {
	sold=$(status .totals.sold)
	job=$(submit alice $(small_bid 100 30) --upload=$ahead -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$job" sold
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	wait_until 30 status_is .totals.sold $((sold + 1))
	if [ -z "$(job_state "$job")" ]; then
		wait_until 60 status_is .totals.live 0
		log_has "job $job is gone from Slurm"
	else
		as alice scancel "$job"
		wait_until 60 settled "$job"
	fi
	[ "$(micro "$(status .totals.revenue)")" = "$(micro "$(status .totals.settled_revenue)")" ]
}

# Rows of job $1 that have a receipt of sale $2, as its states.
states_in_rows()
{
	sacct -nPXD -j "$1" -o AdminComment | jq -r --arg sale "$2" 'select(.sale == $sale) | "\(.state) \(.why)"'
}

# bats test_tags=nightly
@test "slurmctld killed at once: the next job gets the number of the one it forgot, and both are settled rightly" {
	# Just after the moment in which it saves its jobs: it does not do so again within the next five seconds.
	since=$EPOCHREALTIME
	held=$(submit alice -p main --hold -o /dev/null --wrap true)
	wait_until 30 jobs_saved "$since"
	first=$(submit alice $(small_bid 100 30) --upload=$ahead -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$first" sold
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	as alice scancel "$held"
	if [ -n "$(job_state "$first")" ]; then
		as alice scancel "$first"
		wait_until 60 settled "$first"
		skip "slurmctld remembers job $first"
	fi
	second=$(submit bob $(small_bid 200 1) -o /dev/null --wrap 'sleep 1')
	while [ "$second" -lt "$first" ]; do
		second=$(submit bob $(small_bid 200 1) -o /dev/null --wrap 'sleep 1')
	done
	[ "$second" = "$first" ]
	sale=$(receipt_get "$second" .sale)
	# The accounting may know the forgotten one, too: its row is as settled.
	wait_until 60 eval '[ "$(states_in_rows "$second" "$sale")" = "settled completed" ]'
	wait_until 30 status_is .agent.final_receipts_waiting 0
}

# bats test_tags=nightly
@test "slurmctld comes back from before a job that the accounting knows: the next job gets its number, and each its own receipt" {
	wait_until 60 status_is .totals.live 0
	sandbox stop slurmctld
	cp -p "$SANDBOX_DIR"/state/job_state* "$BATS_TEST_TMPDIR"
	sandbox start slurmctld
	wait_until 60 auction_open
	first=$(submit alice $(small_bid 100 30) --upload=$ahead -J first -o /dev/null --wrap 'sleep 60')
	sale=$(receipt_get "$first" .sale)
	wait_until 30 eval '[ -n "$(states_in_rows "$first" "$sale")" ]'
	sandbox stop slurmctld --kill
	cp -p "$BATS_TEST_TMPDIR"/job_state* "$SANDBOX_DIR/state"
	sandbox start slurmctld
	wait_until 60 auction_open
	wait_until 60 status_is .totals.live 0
	second=$(submit bob $(small_bid 200 1) -J second -o /dev/null --wrap 'sleep 1')
	[ "$second" = "$first" ]
	other=$(receipt_get "$second" .sale)
	wait_until 60 eval '[ "$(states_in_rows "$second" "$other")" = "settled completed" ]'
	wait_until 60 eval '[ "$(states_in_rows "$first" "$sale")" = "settled lost" ]'
	wait_until 60 status_is .agent.final_receipts_waiting 0
}

forgotten_runs()
{
	cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' ' ' | grep -q "sleep [1]${forgotten#1}"
}

# What is saved says that it waits, and then that its slots are over.
# bats test_tags=nightly
@test "slurmctld killed just after a start that it forgets: the job does not go on after its slots" {
	forgotten=$((1000000 + RANDOM)) # like no other process's
	job=$(submit alice $(small_bid 100 1) -o /dev/null --wrap "exec sleep $forgotten")
	wait_until 30 receipt_state_is "$job" sold
	end=$(plan_end "$job")
	wait_until 30 forgotten_runs
	sandbox stop slurmctld --kill
	wait_until $((end + 5 - EPOCHSECONDS)) eval '[ $EPOCHSECONDS -gt '"$end"' ]'
	sandbox start slurmctld
	wait_until 60 auction_open
	wait_until 30 eval '! forgotten_runs'
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .payment)" = 0.000000 ]
}

# bats test_tags=nightly
@test "slurmctld killed just after a settlement: the job comes back, and is neither sold nor paid again" {
	wait_until 60 status_is .totals.live 0 # what the test before may have left
	job=$(submit alice $(small_bid 100 1) -o /dev/null --wrap 'sleep 1')
	wait_until 40 settled "$job"
	fresh_status
	totals=$(status '.totals | "\(.sold) \(.settled) \(.revenue)"')
	text=$(database_receipt "$job" .)
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	# slurmctld has forgotten the end: it writes the row again, with the receipt of before.
	wait_until 30 status_is .agent.final_receipts_waiting 0
	wait_until 60 settled "$job"
	wait_until 30 job_ended "$job"
	wait_until 60 database_receipt_is "$job" . "$text"
	fresh_status
	[ "$(status '.totals | "\(.sold) \(.settled) \(.revenue)"')" = "$totals" ]
}

@test "a spool that is lost: jobs are sold again as they stood, at their price" {
	running= pending= single=
	single=$(submit carol $(small_bid 100 6) --upload=$ahead -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$single" sold
	payment=$(receipt_get "$single" .payment)
	sandbox stop slurmctld
	rm -rf "$SANDBOX_DIR/state/auction/"*
	sandbox start slurmctld
	wait_until 30 auction_open
	wait_until 30 status_is .totals.live 1
	log_has "job $single: sale .* was not in the spool and is sold again as it stood"
	wait_until 120 settled "$single"
	[ "$(database_receipt "$single" .payment)" = "$payment" ]
	[ "$(database_receipt "$single" .why)" = completed ]
	# Jobs of before that ended lately count again too, as far as Slurm knows them: their ledger is lost.
	[ "$(status .totals.sold)" -ge 1 ]
}

@test "a spool that was altered: bids are refused with the reason, ordinary jobs run, sold jobs stay protected" {
	single=$(submit carol $(small_bid 100 30) -o /dev/null --wrap 'sleep 600')
	wait_until 30 receipt_state_is "$single" sold
	wait_until 60 quiet
	sandbox stop slurmctld
	cp -r "$SANDBOX_DIR/state/auction" "$BATS_TEST_TMPDIR/spool"
	sed -i '1,$ s/"payment":"\([0-9]*\)\./"payment":"\19./' "$SANDBOX_DIR/state/auction/journal" "$SANDBOX_DIR/state/auction/state"
	sandbox start slurmctld
	wait_until 30 eval 'as alice sbatch $(small_bid 1 1) --wrap true 2>&1 | grep -q "no bids are taken now: .*auction"'
	job=$(submit alice -p main -o /dev/null --wrap true)
	wait_until 30 job_is "$job" COMPLETED
	run ! as carol scontrol update jobid="$single" timelimit=1
	sandbox stop slurmctld
	rm -rf "$SANDBOX_DIR/state/auction"
	cp -rp "$BATS_TEST_TMPDIR/spool" "$SANDBOX_DIR/state/auction"
	chown -R slurm: "$SANDBOX_DIR/state/auction"
	sandbox start slurmctld
	wait_until 30 auction_open
	as carol scancel "$single"
	wait_until 60 settled "$single"
}
