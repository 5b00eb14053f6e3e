# Prices that learn: bids are fitted in the background; prices change at a slot's begin, survive a crash, follow auction.conf.

load lib
load plugins

slot=10

setup_file()
{
	auction_start
}

# prices WORD: changes Prices= in auction.conf
prices()
{
	sed -i "s/^Prices=.*/Prices=$1/" "$SANDBOX_DIR/etc/auction.conf"
	scontrol reconfigure
	wait_until 30 status_is .prices "$1"
	wait_until 30 auction_open
}

# Sixteen bids, more than there is room for, no two of them for the same work: a refused one that its user makes again a slot later counts as one.
crowd()
{
	local i words

	for i in {1..16}; do
		words=$(wide_bid $((1000 + i)))
		as alice sbatch ${words/v100=1s/v100=0.$((980 + i))s} -o /dev/null --wrap 'sleep 1' > /dev/null 2>&1 || true
	done
}

# The highest price of any class and slot
dearest()
{
	sprice_here -cPh -o max -f "$SANDBOX_DIR/state/auction/status.json" | sort -g | tail -n 1
}

sprice_here()
{
	"$(program sprice)" "$@"
}

above()
{
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'
}

@test "bids more than there is room for make prices, from the next slot on" {
	sed -i 's/^Slots=.*/Slots=20/' "$SANDBOX_DIR/etc/auction.conf"
	prices flat
	status_is .learning.kept 0
	run -1 sprice_here -l -f /dev/null
	crowd
	wait_until 90 eval '[ "$(status ".learning | .kind == \"flat\" and .bids >= 10")" = true ]'
	fresh_status
	wait_until 30 status_is .learning.kept 16 # an accepted one counts when it has become a job
	[ "$(status '.learning.bids >= 10 and .learning.bound > 0 and .learning.seconds >= 0')" = true ]
	status '.totals.refused' | grep -qv '^0$'
	sprice_here -c -f "$SANDBOX_DIR/state/auction/status.json"
	sprice_here -l -f "$SANDBOX_DIR/state/auction/status.json"
	above "$(dearest)" 0
	sprice_here -lP -f "$SANDBOX_DIR/state/auction/status.json" | grep -q '^kind|flat$'
	[ "$(status .learning.slot)" -gt $(($(status '.learning.time | floor') / slot)) ]
}

# bats test_tags=nightly
@test "a refused bid that its user makes again is kept once" {
	local kept refused

	kept=$(status .learning.kept)
	refused=$(status .totals.refused)
	for _ in 1 2 3; do
		run -1 as bob sbatch $(wide_bid 0.000001) -o /dev/null --wrap 'sleep 1'
		now=$EPOCHSECONDS
		wait_until 30 eval '[ "$EPOCHSECONDS" -gt $((now + slot)) ]'
	done
	fresh_status
	[ "$(status .totals.refused)" = $((refused + 3)) ]
	[ "$(status .learning.kept)" = $((kept + 1)) ]
}

@test "a bid of which no job comes, as with sbatch --test-only, is not kept; that of a job is" {
	local kept lapsed

	kept=$(status .learning.kept)
	lapsed=$(status .totals.lapsed)
	as bob sbatch --test-only $(small_bid 1000000 1) --wrap true
	wait_until 60 status_is .totals.lapsed $((lapsed + 1))
	[ "$(status .learning.kept)" = "$kept" ]
	as bob sbatch $(small_bid 1000000 1) -o /dev/null --wrap true
	wait_until 60 status_is .learning.kept $((kept + 1))
}

@test "slurmctld killed and restarted: bids and prices are what they were" {
	fresh_status
	before=$(status '.learning | del(.kept) | tojson')
	kept=$(status .learning.kept)
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	wait_until 30 eval '[ "$(status .learning.kept)" = '"$kept"' ]'
	# Unless a fit of the same bids has followed by now, whose prices are of the same kind.
	[ "$(status .learning.kind)" = flat ]
	[ "$(status '.learning | del(.kept) | tojson')" = "$before" ] || [ "$(status .learning.time)" != "$(jq .time <<< "$before")" ]
}

# bats test_tags=nightly
@test "a job that was sold keeps its price when others change" {
	job=$(submit alice $(small_bid 900000 10) -o /dev/null --wrap 'sleep 60')
	payment=$(receipt_get "$job" .payment)
	prices none
	[ "$(receipt_get "$job" .payment)" = "$payment" ]
	fresh_status
	[ "$(status '[.servers[].tres[].runs[][3]] | add')" = 0 ]
	status_is .learning null
	run -1 sprice_here -l -f "$SANDBOX_DIR/state/auction/status.json"
	[[ $output == *"prices are not fitted: Prices=none"* ]]
	# Before its slot it would get everything back.
	wait_until $(($(plan_start "$job") + 30 - EPOCHSECONDS)) receipt_state_is "$job" running
	as alice scancel "$job"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .payment)" = "$payment" ]
}

@test "reconfigured to learned: the guard chooses, and says why" {
	prices learned
	crowd # those of before may be more than a period ago
	wait_until 90 eval '[ "$(status ".learning | .guard.flat == false and .day_bids >= 10")" = true ]'
	[ "$(status '.learning | .day_worth as $w | [.worth.none, .worth.published] | map(. <= $w * 1.000001) | all')" = true ]
	[ "$(status '.learning.guard | .periods >= 1 and (.kind == "none" or .kind == "published") == (.gain <= .needed)')" = true ]
	[ "$(status '.learning | .gap >= 0 and .gap <= 1')" = true ]
	status .learning.why | grep -q 'replayed, the last [0-9]* bids are worth'
	log_has 'prices from the next slot on: '
	log_has 'forecast: [0-9.]* bids in a period, made of [0-9]*; those of two are worth [0-9.e+]* at most; the bids replayed fall'
	sprice_here -l -f "$SANDBOX_DIR/state/auction/status.json"
}

@test "users see prices and what they were learned from, not what others bid" {
	public=$SANDBOX_DIR/run/auction.json
	wait_until 30 test -s "$public"
	job=$(submit alice $(small_bid 900000 10) -o /dev/null --wrap 'sleep 60')
	fresh_status
	[ "$(status '.sales | length')" -ge 1 ]
	wait_until 30 eval '[ "$(jq .totals.live "$public")" = "$(status .totals.live)" ]'
	[ "$(status '.activity.accepted > 0 and .activity.value_sold > 0')" = true ]
	[ "$(jq 'has("activity")' "$public")" = false ]
	[ "$(jq 'has("sales") or has("agent")' "$public")" = false ]
	# Without --file: root reads the whole status, a user the public one.
	sprice_here -sPh -o job | grep -qx "$job"
	export -f sprice_here program
	run as bob bash -c 'sprice_here --nodes'
	[[ $output == *edge1* ]]
	as bob bash -c 'sprice_here --learning' | grep -q '^kind'
	run -1 as bob bash -c 'sprice_here --sales'
	[[ $output == "sprice: --sales: this status is the public one, which has none" ]]
	as alice scancel "$job"
}

@test "a public status that cannot be written is said once, and is no harm" {
	sed -i "s,^PublicStatus=.*,PublicStatus=$SANDBOX_DIR/run/none/auction.json," "$SANDBOX_DIR/etc/auction.conf"
	scontrol reconfigure
	wait_until 30 log_has 'PublicStatus: .*/run/none/auction.json: No such file'
	fresh_status
	fresh_status
	[ "$(grep -c 'run/none/auction.json' "$SANDBOX_DIR/log/slurmctld.log")" = 1 ]
	auction_open
}
