# Money that is scarce: budgets of users, grants, two bids at once that together are more than there is, slurmctld killed in between, and
# that all who count the money say the same to the last micro-credit.

load lib
load plugins

slot=5

setup_file()
{
	need_plugins
	export SBID=$(program sbid)
	# A GPU costs half a credit for each slot, whatever is sold.
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=oasis
		SlotSeconds=$slot
		RefundUnused=no
		Overrun=kill
		Slots=400
		Prices=given
		Lower=gpu:v100=0.5
		Upper=gpu:v100=0.5
		Budgets=user
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:2'
	# Alice was granted nothing, and is told so.
	wait_until 60 status_is .ready true
	wait_until 60 nodes_settled
	wait_until 60 takes_bids
}

takes_bids()
{
	! grep -qE 'starting|try again in a moment' <<< "$(as carol sbatch --quote $(small_bid 1 1) --wrap true 2>&1)" || return 1
}

sauction()
{
	"$(program sauction)" \
		--spool="$SANDBOX_DIR/state/auction" "$@"
}

audit()
{
	"$lib_dir/../cmd/audit" "$SANDBOX_DIR/state/auction" "$@"
}

# account USER: "user:UID"
account()
{
	echo "user:$(id -u "$1")"
}

# What the independent reader says that USER has left, in micro-credits. left USER
left()
{
	audit "$(account "$1")" | awk '{print $2 - $3}'
}

@test "who was granted nothing is refused, and told so" {
	output=$(as alice sbatch $(small_bid 100 4) -o /dev/null --wrap true 2>&1) && false
	[[ $output == *"auction: refused: budget: the best schedule costs 2.000000, and $(account alice) was granted nothing; Policy=oasis looks for no cheaper one"* ]]
}

@test "a grant is made once, however often it is asked for" {
	[ "$(sauction --id=one grant user:alice 10)" = one ]
	[ "$(sauction --id=one grant user:alice 10)" = one ]
	[ "$(left alice)" = 10000000 ]
	fresh_status
	[ "$(sauction -n -P -o account,left money | grep "^$(account alice)|")" = "$(account alice)|10.000000" ]
	# Nobody else has anything of it, and nobody but root can give.
	output=$(as bob sbatch $(small_bid 100 4) -o /dev/null --wrap true 2>&1) && false
	[[ $output == *"$(account bob) was granted nothing"* ]]
	output=$(as alice "$(program sauction)" \
		--spool="$SANDBOX_DIR/state/auction" grant user:alice 10 2>&1) && false
	[[ $output == *"this is for administrators"* ]]
	[ "$(left alice)" = 10000000 ]
}

@test "a user is told what is left, and why a bid was refused, and nothing of others" {
	sauction grant user:carol 3
	output=$(as carol sbatch $(small_bid 100 30) -o /dev/null --wrap true 2>&1) && false
	[[ $(as carol "$SBID" balance) == "3.000000 is left"*"$(account carol)"* ]]
	[[ $(as carol "$SBID" why) == *"auction: refused: budget: the best schedule costs 15.000000, and 3.00 of 3.00 is left"* ]]
	[[ $(as bob "$SBID" why) != *"$(account carol)"* ]]
	output=$(as bob "$SBID" balance)
	[[ $output == "0.000000 is left"*"$(account bob)"* && $output != *"$(account carol)"* ]]
	[[ $(as carol "$SBID" quote $(small_bid 100 2) --wrap true) == "would be accepted: "*"pays 1.000000 of value 100.00"* ]]
	job=$(submit carol $(small_bid 100 2) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	[ "$(as carol "$SBID" -P -n -o job,sale,paid,back)" = "$job|completed|1.000000|0.000000" ]
	sauction correct user:carol 2
	[ "$(left carol)" = 0 ]
}

@test "what is granted is spent, with a warning, and what is more is refused with the sums" {
	job=$(submit alice $(small_bid 100 2) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	[ "$(left alice)" = 9000000 ]
	output=$(as alice sbatch --test-only $(small_bid 100 15) -o /dev/null --wrap true 2>&1) || true
	[[ $output == *"auction: budget: with this 85 % of the budget of $(account alice) is spent or held"* ]]
	output=$(as alice sbatch $(small_bid 100 30) -o /dev/null --wrap true 2>&1) && false
	[[ $output == *"refused: budget: the best schedule costs 15.000000, and "*" of 10.00 is left of $(account alice) (1.00 spent, "* ]]
	wait_until 60 status_is '.totals.liens' 0
}

@test "why a sale is where it is can be told later, from the spool" {
	job=$(submit alice $(small_bid 100 2) --upload=edge=20s -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	wait_until 60 saved
	output=$(sauction explain "$job")
	[[ $output == *"pays 1.000000, worth 100.000000"*"replayed: the same plan at the same price"*"chosen: gpu:v100 0.500000 on 1 node"* ]]
	as alice scancel "$job"
	wait_until 60 settled "$job"
	wait_until 60 eval 'sauction explain '"$job"' | grep -q "^since then: settled, cancelled: kept "'
}

@test "users see prices without a file of the administrator's, and nothing else" {
	sprice=$(program sprice)
	wait_until 30 eval 'as carol "$sprice" > /dev/null'
	[[ $(as carol "$sprice" -nP -o partition,gpu,nodes,units,now) == "edge|v100|2|4|0.500000" ]]
	[[ $(as carol "$sprice" -n --heat) == "edge/v100 "* ]]
	# Not the sales of which root knows, nor what anybody has.
	[ "$(as carol "$sprice" --json | jq -c '[keys - ["classes","first","format","last","policy","prices","ready","reason","slot_seconds","time","warning"], (.classes[0] | keys)]')" = \
		'[[],["nodes","partition","times","tres","units"]]' ]
	run -1 as carol "$sprice" --sales
	[[ $output == "sprice: this needs a status file"* ]]
}

# bats test_tags=nightly
@test "of two bids at once that together are more than there is, exactly one is sold" {
	sauction grant user:bob 5
	for i in 1 2 3 4 5; do
		for k in 1 2; do
			as bob sbatch $(small_bid 100 6) -o /dev/null --wrap "sleep 600" > "$BATS_TEST_TMPDIR/$k" 2>&1 &
			pids[k]=$!
		done
		sold=0
		for k in 1 2; do
			if wait "${pids[k]}"; then sold=$((sold + 1)); fi
		done
		[ $sold = 1 ]
		cat "$BATS_TEST_TMPDIR"/[12] | grep -q "refused: budget: the best schedule costs 3.000000, and 2.00 of "
		job=$(grep -ohE '^Submitted batch job [0-9]+' "$BATS_TEST_TMPDIR"/[12] | grep -oE '[0-9]+$')
		wait_until 30 receipt_state_is "$job" sold
		audit
		[ "$(left bob)" -ge 0 ]
		as bob scancel "$job"
		wait_until 60 settled "$job"
		# What was kept of it is given again.
		sauction grant user:bob "$(awk -v n=$((5000000 - $(left bob))) 'BEGIN {printf "%.6f", n / 1e6}')"
		[ "$(left bob)" = 5000000 ]
	done
}

@test "eight clients of one user at once: as many bids are sold as the budget pays for" {
	had=$(left bob)
	[ "${had:-0}" = 5000000 ] || sauction grant user:bob "$(awk -v n=$((5000000 - ${had:-0})) 'BEGIN {printf "%.6f", n / 1e6}')"
	wait_until 30 eval '[ "$(left bob)" = 5000000 ]'
	# By libslurm, so that no process is started between two bids.
	cc -o "$SANDBOX_DIR/home/bob/client" "$lib_dir/../attack/client.c" -lslurm
	as bob bash -c 'for i in 1 2 3 4 5 6 7 8; do ./client submit "env=SLURM_AUCTION_BID=$0" TIMES=2 & done; wait' \
		"$(small_bid 100 4 | sed 's/--//g') upload=edge=60s" > "$BATS_TEST_TMPDIR/said" 2>&1 || true
	jobs=$(sed -n 's/^taken \([0-9]*\).*/\1/p' "$BATS_TEST_TMPDIR/said")
	[ "$(wc -w <<< "$jobs")" = 2 ] || { cat "$BATS_TEST_TMPDIR/said" >&2; false; }
	[ "$(grep -c 'refused: budget: the best schedule costs 2.000000' "$BATS_TEST_TMPDIR/said")" = 14 ]
	for job in $jobs; do
		wait_until 30 receipt_state_is "$job" sold
	done
	audit
	[ "$(left bob)" = 1000000 ]
	as bob scancel $jobs
	for job in $jobs; do
		wait_until 60 settled "$job"
	done
	sauction grant user:bob "$(awk -v n=$((5000000 - $(left bob))) 'BEGIN {printf "%.6f", n / 1e6}')"
}

@test "killed in between: nothing is charged twice, nothing is lost, and a grant that waits is made" {
	job=$(submit bob $(small_bid 100 6) --upload=edge=60s -o /dev/null --wrap true)
	wait_until 60 saved
	# What bob was told of his last bid is known afterwards, too.
	output=$(as bob sbatch $(small_bid 100 30) -o /dev/null --wrap true 2>&1) && false
	[[ $output == *"refused: budget: the best schedule costs 15.000000"* ]]
	wait_until 30 grep -q '"uid":2002,.* costs 15.000000' "$SANDBOX_DIR/state/auction/refusals"
	[ "$(stat -c %a "$SANDBOX_DIR/state/auction/refusals")" = 600 ]
	sandbox stop slurmctld --kill
	sauction --wait=0 --id=waits grant user:carol 7
	[ "$(left bob)" = 2000000 ]
	sandbox start slurmctld
	wait_until 60 eval '[ "$(left carol)" = 7000000 ]'
	wait_until 60 takes_bids
	[ ! -e "$SANDBOX_DIR/state/auction/transfers/waits.json" ]
	[[ $(as bob "$SBID" why last) == *"refused: budget: the best schedule costs 15.000000"* ]]
	[[ $(as alice "$SBID" why) != *user:2002* ]]
	[ "$(left bob)" = 2000000 ]
	output=$(as bob sbatch $(small_bid 100 6) -o /dev/null --wrap true 2>&1) && false
	[[ $output == *"refused: budget: "* ]]
	# At once: whether Slurm still knows the job or not, it is paid once or not at all.
	submit carol $(small_bid 100 6) --upload=edge=60s -o /dev/null --wrap true
	sandbox restart slurmctld --kill
	wait_until 60 takes_bids
	wait_until 120 status_is .totals.live 0
	wait_until 60 settled "$job"
	[[ $(left carol) =~ ^(4000000|7000000)$ ]]
	[ "$(left bob)" = 2000000 ]
	sauction spool check
}

@test "paused, nothing new is sold, and the rest is carried out" {
	job=$(submit alice $(small_bid 100 3) -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	sauction pause 'new disks'
	wait_until 30 status_is .ready false
	output=$(as alice sbatch $(small_bid 100 2) -o /dev/null --wrap true 2>&1) && false
	[[ $output == *"the auction is paused: new disks"* ]]
	wait_until 60 settled "$job"
	[ "$(sacct_field "$job" State)" = COMPLETED ]
	sauction resume
	wait_until 30 status_is .ready true
}

@test "sacct, sauction report, the ledger and an independent reader agree to the last micro-credit" {
	wait_until 120 status_is '"\(.totals.live) \(.agent.final_receipts_waiting)"' '0 0'
	for user in alice bob; do
		paid=0
		for job in $(sacct -nPXD -a -S now-1day -u $user -o JobIDRaw); do
			paid=$((paid + $(micro "$(database_receipt "$job" '.payment // "0.000000"')")))
		done
		report=$(sauction --by=user -n -P --since=now-1day report | awk -F'|' -v user=$user '$1 == user {print $4}')
		[ "$(micro "$report")" = $paid ]
		# What went out less what came back: grants are what else came in.
		read -r _ in out < <(audit "$(account $user)")
		granted=$(sauction spool export | jq -r --arg account "$(account $user)" 'select(.event == "transfer" and .account == $account) | .amount' |
			awk '{sub(/\./, ""); sum += $1} END {printf "%d", sum}')
		[ $((out - in + granted)) = $paid ]
	done
	audit | grep -q "^charged $(micro "$(status .totals.charged)") refunded $(micro "$(status .totals.refunded)") "
	sauction spool check
}

# bats test_tags=nightly
@test "money comes by itself: for one with a line of its own, and for whoever comes; once, also after a restart" {
	local before mine others
	before=$(left carol) mine=${before:-0}
	before=$(left bob) others=${before:-0}
	sed -i -e "1i Refill=user=carol Amount=7 Every=day Carry=yes" -e "1i Refill=user=* Amount=3 Carry=yes" -e '1i Return=equal' \
		"$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 60 eval '[ "$(left carol)" = '$((mine + 7000000))' ]'
	wait_until 60 eval '[ "$(left bob)" = '$((others + 3000000))' ]'
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	reconfigure
	fresh_status
	[ "$(left carol)" = $((mine + 7000000)) ]
	[ "$(left bob)" = $((others + 3000000)) ]
	sauction spool check
	output=$(as carol "$SBID" balance)
	[[ $output == *"$(awk 'BEGIN {printf "%.2f", '$((mine + 7000000))' / 1e6}')"* ]]
}
