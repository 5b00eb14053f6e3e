# What is not sold: dry runs, quotes, and submissions that Slurm refuses after the auction said yes; and what can be done to a job
# between its bid and its sale.

load lib
load plugins

slot=5

setup_file()
{
	hold_make hold_writes
	auction_start --set AccountingStorageEnforce=associations --env LD_PRELOAD="$HOLD_DIR/hold_writes.so" --env HOLD_WRITES="$HOLD_DIR/hold"
}

teardown_file()
{
	hold_stop
}

teardown()
{
	rm -f "$HOLD_DIR/hold"
}

# The agent stands still, writing that $first is sold, until the file is away: whatever is sold from now on is a lien.
hold_agent()
{
	fresh_status
	wait_until 30 status_is .totals.liens 0
	touch "$HOLD_DIR/hold"
	first=$(submit bob $(later_bid) -o /dev/null --wrap 'sleep 60')
	wait_until 30 log_has "job $first: sale .* confirmed"
}

# One that begins when all is done here.
later_bid()
{
	echo "$(small_bid 1000 4) --upload=120s"
}

# The job was sold after all, and given back at once.
given_back()
{
	wait_until 30 job_is "$1" CANCELLED
	log_has "job $1 was changed after its bid; cancelled"
	wait_until 60 settled "$1"
	[ "$(database_receipt "$1" .payment)" = 0.000000 ]
}

# Every lien of now has gone, and nothing was sold.
nothing_sold()
{
	fresh_status
	wait_until 30 status_is .totals.liens 0
	[ "$(status .totals.sold)" = "$1" ]
	[ "$(status .totals.live)" = 0 ]
}

@test "sbatch --test-only says what it would get; its lien lapses within seconds" {
	for i in 1 2 3 4 5; do
		run -0 as alice sbatch --test-only $(small_bid 100 2) --wrap true
		grep -q 'auction: ' <<< "$output"
	done
	wait_until 30 eval '[ "$(status .totals.liens)" -ge 1 ]'
	wait_until 30 status_is .totals.lapsed 5
	nothing_sold 0
	[ -z "$(squeue -h)" ]
}

@test "a submission that Slurm refuses afterwards costs nothing" {
	lapsed=$(status .totals.lapsed)
	run ! as alice sbatch --prefer=nosuch $(small_bid 100 2) --wrap true
	grep -q 'Invalid preferred feature' <<< "$output"
	wait_until 30 status_is .totals.lapsed $((lapsed + 1))
	nothing_sold 0
}

@test "a quote says the price and puts no lien" {
	lapsed=$(status .totals.lapsed)
	run as alice sbatch --quote $(small_bid 100 2) --wrap true
	grep -q 'would be accepted' <<< "$output"
	fresh_status
	[ "$(status .totals.liens)" = 0 ]
	[ "$(status .totals.lapsed)" = "$lapsed" ]
	nothing_sold 0
}

@test "a quoted price is the price paid" {
	first=$(submit bob --bid=linear:1000,100 $(small_bid 1 4 | cut -d' ' -f2-) -o /dev/null --wrap true)
	for tries in 1 2 3 4 5; do
		asked=$(((EPOCHSECONDS + 2) / slot))
		quoted=$(as alice sbatch --quote --bid=linear:1000,100 $(small_bid 1 4 | cut -d' ' -f2-) --wrap true 2>&1 |
			sed -n 's/.* pays \([0-9.]*\) .*/\1/p')
		job=$(submit alice --bid=linear:1000,100 $(small_bid 1 4 | cut -d' ' -f2-) -o /dev/null --wrap true)
		[ $(((EPOCHSECONDS + 2) / slot)) != $asked ] || break
		# Another slot is the first now.
		as alice scancel "$job"
	done
	[ -n "$quoted" ]
	[ "$(receipt_get "$job" .payment)" = "$quoted" ]
	as bob scancel "$first"
	as alice scancel "$job"
	wait_until 60 settled "$job"
	fresh_status
	wait_until 60 status_is .totals.live 0
}

@test "a bid in the environment alone, as front ends without SPANK send it" {
	fresh_status
	sold=$(status .totals.sold)
	sed '/^PlugStackConfig=/d' "$SLURM_CONF" > "$SANDBOX_DIR/etc/no-spank.conf"
	echo 'PlugStackConfig=/dev/null' >> "$SANDBOX_DIR/etc/no-spank.conf"
	cat > "$SANDBOX_DIR/home/alice/rest.sh" <<'END'
#!/bin/sh
sleep 1
END
	bid="bid=100 epochs=1 chunks=1 minibatches=15 gradient-mb=0 worker-time=v100=1s ps-time=ps.s=0s"
	job=$(as alice env SLURM_CONF="$SANDBOX_DIR/etc/no-spank.conf" SLURM_AUCTION_BID="$bid" \
		sbatch --parsable -o /dev/null rest.sh 2> /dev/null)
	wait_until 30 receipt_state_is "$job" sold
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	wait_until 30 status_is .totals.sold $((sold + 1))
}

@test "an empty bid in the environment is none" {
	job=$(as alice env SLURM_AUCTION_BID= SLURM_AUCTION_EPOCHS= SLURM_AUCTION_QUOTE= sbatch --parsable -p main -o /dev/null --wrap true)
	wait_until 30 job_is "$job" COMPLETED
	[ -z "$(receipt "$job")" ]
}

@test "members take the account of their lead" {
	job=$(submit alice -A training $(wide_bid 1000) -o /dev/null --wrap 'sleep 1')
	wait_until 30 eval '[ -n "$(members '"$job"')" ]'
	for one in $(members "$job"); do
		[ "$(job_field "$one" Account)" = training ]
	done
	wait_until 40 settled "$job"
}

# bats test_tags=nightly
@test "between its bid and its sale the owner cannot change a job, nor any other, and for whoever else does it is cancelled" {
	sacctmgr -i add coordinator account=training names=carol
	other=$(submit alice -p main --hold -o /dev/null --wrap true)
	run -0 as alice scontrol update jobid="$other" timelimit=7
	hold_agent
	job=$(submit alice $(later_bid) -o /dev/null --wrap 'sleep 60')
	for what in NumCPUs=12-12 TimeLimit=100 StartTime=now TresPerJob=gpu:3 Comment=x; do
		run ! as alice scontrol update jobid="$job" "$what" || { echo "$what"; return 1; }
	done
	run ! as alice scontrol update jobid="$other" timelimit=8
	log_has "job $job: change by uid 2001 denied: .* try again in a moment"
	# Its coordinator has no bid.
	run -0 as carol scontrol update jobid="$job" NumCPUs=12-12 NumTasks=4
	[ "$(job_field "$job" NumTasks)" = 4 ]
	rm "$HOLD_DIR/hold"
	given_back "$job"
	wait_until 30 receipt_state_is "$first" sold
	run -0 as alice scontrol update jobid="$other" timelimit=8
	as bob scancel "$first"
	as alice scancel "$other"
	wait_until 60 settled "$first" # which is written before the agent stands still again
}

# bats test_tags=nightly
@test "a job that was changed when its lien had lapsed is not sold again as it stands" {
	hold_agent
	job=$(submit alice $(later_bid) -o /dev/null --wrap 'sleep 60')
	# Liens lapse when somebody asks.
	wait_until 60 eval '! as bob sbatch --quote $(small_bid 1 1) --wrap true; as alice scontrol update jobid="$job" NumCPUs=12-12 NumTasks=4'
	rm "$HOLD_DIR/hold"
	given_back "$job"
	wait_until 30 receipt_state_is "$first" sold
	as bob scancel "$first"
}
