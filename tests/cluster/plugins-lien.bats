# What is not sold: dry runs, quotes, and submissions that Slurm refuses after the auction said yes.

load lib
load plugins

slot=5

setup_file()
{
	need_plugins
	cluster_start $(plugin_options) --slot-seconds 5 --set AccountingStorageEnforce=associations
	wait_until 30 auction_open
}

teardown_file()
{
	cluster_stop
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
	run ! as alice sbatch -A nobody $(small_bid 100 2) --wrap true
	grep -q 'Invalid account' <<< "$output"
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
		asked=$((($(date +%s) + 2) / slot))
		quoted=$(as alice sbatch --quote --bid=linear:1000,100 $(small_bid 1 4 | cut -d' ' -f2-) --wrap true 2>&1 |
			sed -n 's/.* pays \([0-9.]*\) .*/\1/p')
		job=$(submit alice --bid=linear:1000,100 $(small_bid 1 4 | cut -d' ' -f2-) -o /dev/null --wrap true)
		[ $((($(date +%s) + 2) / slot)) != $asked ] || break
		# Another slot is the first now.
		as alice scancel "$job"
	done
	[ -n "$quoted" ]
	[ "$(receipt_get "$job" .payment)" = "$quoted" ]
	as bob scancel "$first"
	as alice scancel "$job"
	wait_until 30 settled "$job"
	fresh_status
	wait_until 30 status_is .totals.live 0
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
	wait_until 30 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	wait_until 30 status_is .totals.sold $((sold + 1))
}

@test "members take the account of their lead" {
	job=$(submit alice -A training $(wide_bid 1000) -o /dev/null --wrap 'sleep 1')
	wait_until 30 eval '[ -n "$(members '"$job"')" ]'
	for one in $(members "$job"); do
		[ "$(job_field "$one" Account)" = training ]
	done
	wait_until 40 settled "$job"
}
