# bats file_tags=nightly
# Many users at once.

load lib
load plugins

slot=5

setup_file()
{
	auction_start
}

# submitter USER NUMBER: bids of several kinds, dry runs between them.
submitter()
{
	local i

	for i in 1 2 3 4 5; do
		as "$1" sbatch -o /dev/null --bid=linear:$((1000 + $2 * 10 + i)),30 $(small_bid 1 2 | cut -d' ' -f2-) --wrap 'sleep 1' || true
		[ $((i % 4)) != 2 ] || as "$1" sbatch --test-only $(small_bid 100 1) --wrap true || true
		[ $((i % 4)) != 1 ] || as "$1" sbatch -o /dev/null --bid=linear:1000,20 $(wide_bid 1 | cut -d' ' -f2-) --wrap 'sleep 1' || true
	done > "$BATS_TEST_TMPDIR/submitter.$2" 2>&1 3>&-
}

@test "eight submitters at once: every acceptance is kept, nothing is sold twice, the accounts agree" {
	users=(alice bob carol)
	pids=
	for n in 0 1 2 3 4 5 6 7; do
		submitter "${users[n % 3]}" $n &
		pids+=" $!"
	done
	wait $pids
	accepted=$(cat "$BATS_TEST_TMPDIR"/submitter.* | grep -c '^Submitted batch job')
	jobs=$(cat "$BATS_TEST_TMPDIR"/submitter.* | sed -n 's/^Submitted batch job //p')
	[ "$accepted" -ge 25 ]
	fresh_status
	[ "$(status '[.servers[].tres[] | .capacity as $c | .runs[] | select(.[2] > $c)] | length')" = 0 ]
	for job in $jobs; do
		wait_until 240 settled "$job"
		read -r why start node < <(database_receipt "$job" '"\(.why) \(.start * .slot_seconds) \(.plan[0].ps | keys[0])"')
		[ "$why" = completed ] || { database_receipt "$job" .; return 1; }
		# Begun in its slot, on the node that was sold.
		began=$(date -d "$(sacct_field "$job" Start)" +%s)
		[ "$began" -ge "$start" ]
		[ "$began" -le $((start + late)) ] || { echo "job $job began $((began - start)) s late"; return 1; }
		[ "$(sacct_field "$job" NodeList)" = "$node" ]
	done
	fresh_status
	wait_until 60 status_is .totals.live 0
	wait_until 30 status_is .agent.final_receipts_waiting 0
	[ "$(status .totals.sold)" = "$accepted" ]
	sum=0
	for payment in $(sacct -nPXaD -S now-1day -o AdminComment | grep '^{"auction":1' | jq -r 'select(.state != "member") | .payment'); do
		sum=$((sum + $(micro "$payment")))
	done
	[ "$sum" = "$(micro "$(status .totals.settled_revenue)")" ]
}
