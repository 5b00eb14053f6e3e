# Budgets=account: whoever runs a job for a Slurm account spends its money, and that of the accounts above it that are limited. Eight
# clients at once cannot overdraw it. Who counts the money agrees to the last micro-credit.

load lib
load plugins

slot=5

setup_file()
{
	need_plugins
	export SBID=$(program sbid)
	# A GPU costs half a credit for each slot, whatever is sold.
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END_CONF
		Policy=oasis
		SlotSeconds=$slot
		Overrun=kill
		Slots=400
		Prices=given
		Lower=gpu:v100=0.5
		Upper=gpu:v100=0.5
		Budgets=account
		RefundUnused=no
		UserQuotes=600
		LienSeconds=10
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END_CONF
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--set Licenses=auction_cents:2000000000 --set AccountingStorageTRES=gres/gpu,gres/gpu:v100,license/auction_cents \
		--nodes 'node[1-2]:partition=edge,cpus=16,mem=16000,gpus=v100:8'
	as root sacctmgr -i add account physics Description=x Organization=sandbox
	as root sacctmgr -i add account lab,theory parent=physics Description=x Organization=sandbox
	as root sacctmgr -i add user alice,carol account=lab
	as root sacctmgr -i add user bob account=theory
	wait_until 60 status_is .ready true
	wait_until 60 nodes_settled
	# slurmctld has heard of the accounts.
	wait_until 60 knows alice lab
	wait_until 60 knows bob theory
}

# knows USER ACCOUNT: a bid of USER for ACCOUNT is refused for want of money, and of nothing else.
knows()
{
	[[ $(as "$1" sbatch -A "$2" --quote $(small_bid 100 2) --wrap true 2>&1) == *"account:$2 was granted nothing"* ]]
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

# left ACCOUNT: what the independent reader says that it has left, in micro-credits.
left()
{
	audit "account:$1" | awk '{print $2 - $3}'
}

# Of lab and those above it; slurmctld is asked, as a file may be behind.
nothing_held()
{
	as alice "$SBID" -P -n -A lab balance > "$BATS_TEST_TMPDIR/held" || return 1
	[ "$(grep -c '^account:.*|0\.000000$' "$BATS_TEST_TMPDIR/held")" = 2 ]
}

@test "a job is paid by its account and counted for those above that are limited" {
	sauction grant physics 5
	sauction grant lab 3
	job=$(submit alice -A lab $(small_bid 100 2) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	[ "$(left lab) $(left physics)" = "2000000 4000000" ]
	[ "$(database_receipt "$job" '.payers | join(" ")')" = "account:lab account:physics" ]
	# Theory was granted nothing itself, and has what physics has.
	job=$(submit bob -A theory $(small_bid 100 2) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	[ "$(left lab) $(left physics)" = "2000000 3000000" ]
	output=$(as alice sbatch -A theory --quote $(small_bid 100 2) --wrap true 2>&1) || true
	[[ $output == *"auction: account 'theory' is not known as one of yours, and pays for nothing"* ]]
	[[ $(as alice "$SBID" -A lab balance) == "2.000000 is left"*"account:lab"*"account:physics"* ]]
	audit
}

# bats test_tags=nightly
@test "a bid is held to the account that has least, here to the parent, with warnings at 80 and 95 %" {
	output=$(as bob sbatch -A theory $(small_bid 100 7) -o /dev/null --wrap true 2>&1) && false
	[[ $output == *"refused: budget: the best schedule costs 3.500000, and 3.00 of 5.00 is left of account:physics (2.00 spent, 0.00 held for bids)"* ]]
	output=$(as alice sbatch -A lab $(small_bid 100 5) -o /dev/null --wrap true 2>&1) && false
	[[ $output == *"refused: budget: the best schedule costs 2.500000, and 2.00 of 3.00 is left of account:lab"* ]]
	output=$(as bob sbatch -A theory --test-only $(small_bid 100 4) -o /dev/null --wrap true 2>&1) || true
	[[ $output == *"auction: budget: with this 80 % of the budget of account:physics is spent or held"* ]]
	wait_until 60 nothing_held
	output=$(as bob sbatch -A theory --test-only $(small_bid 100 6) -o /dev/null --wrap true 2>&1) || true
	[[ $output == *"auction: budget almost spent: with this 100 % of the budget of account:physics is spent or held"* ]]
	wait_until 60 nothing_held
	output=$(as bob sbatch -A theory --test-only $(small_bid 100 3) -o /dev/null --wrap true 2>&1) || true
	[[ $output != *"of the budget of"* ]]
	wait_until 60 nothing_held
}

@test "of eight clients at once, as many buy as there is money for" {
	local before bought i pids=()
	wait_until 60 nothing_held
	before=$(left lab)
	[ "$before" = 2000000 ]
	# 8 x 1.5, for 2.
	for i in {1..8}; do
		if [ $((i % 2)) = 0 ]; then who=alice; else who=carol; fi
		as "$who" sbatch -A lab $(small_bid 100 3) --upload=edge=120s -o /dev/null --wrap true > "$BATS_TEST_TMPDIR/$i" 2>&1 &
		pids+=($!)
	done
	bought=0
	for i in "${pids[@]}"; do
		if wait "$i"; then bought=$((bought + 1)); fi
	done
	cat "$BATS_TEST_TMPDIR"/[1-8] >&2
	[ $bought = 1 ]
	[ "$(cat "$BATS_TEST_TMPDIR"/[1-8] | grep -c 'refused: budget: ')" = 7 ]
	job=$(cat "$BATS_TEST_TMPDIR"/[1-8] | grep -oE '^Submitted batch job [0-9]+' | grep -oE '[0-9]+$')
	wait_until 60 receipt_state_is "$job" sold
	wait_until 60 eval '[ "$(left lab)" = 500000 ]'
	[ "$(left physics)" = 1500000 ]
	# What comes back comes back to all who paid.
	as root scancel "$job"
	wait_until 60 settled "$job"
	refund=$(micro "$(database_receipt "$job" .refund)")
	[ "$refund" -gt 0 ]
	wait_until 60 eval '[ "$(left lab) $(left physics)" = "$((500000 + refund)) $((1500000 + refund))" ]'
	audit
}

# One of eight clients, until DONE is there: its bids in a row. client N USER DONE
client()
{
	while [ ! -e "$3" ]; do
		as "$2" sbatch -A lab $(small_bid 100 1) -o /dev/null --wrap true >> "$BATS_TEST_TMPDIR/client-$1" 2>&1 || true
	done
}

# bats test_tags=nightly
@test "eight clients that bid for ten minutes against one budget never overdraw it" {
	local done=$BATS_TEST_TMPDIR/done pids=() i seconds=${CLIENT_SECONDS:-600} until

	wait_until 60 nothing_held
	for i in {1..8}; do
		if [ $((i % 2)) = 0 ]; then who=alice; else who=carol; fi
		client "$i" "$who" "$done" &
		pids+=($!)
	done
	# There is always a little, and never enough for all.
	until=$((EPOCHSECONDS + seconds))
	while [ $EPOCHSECONDS -lt $until ]; do
		sauction grant account:physics 2
		sauction grant account:lab 2
		for i in {1..5}; do
			for account in lab physics; do
				# Not while the spool is being replaced.
				has=$(left $account)
				[ -n "$has" ] || continue
				[ "$has" -ge 0 ] || { echo "$account: $has" >&2; touch "$done"; return 1; }
			done
			sleep 1
		done
	done
	touch "$done"
	wait "${pids[@]}"
	bought=$(cat "$BATS_TEST_TMPDIR"/client-* | grep -c '^Submitted batch job ')
	refused=$(cat "$BATS_TEST_TMPDIR"/client-* | grep -c 'refused: budget: ')
	echo "$bought bought, $refused refused for want of money" >&3
	[ "$bought" -gt 8 ]
	[ "$refused" -gt 8 ]
	wait_until 300 status_is '"\(.totals.live) \(.agent.final_receipts_waiting)"' '0 0'
	audit
	[ "$(left lab)" -ge 0 ]
	[ "$(left physics)" -ge 0 ]
}

# cents JOB: of the licence that shows what jobs pay, as the accounting has it.
cents()
{
	sacct -nPX -j "$1" -o AllocTRES | grep -oE 'license/auction_cents=[0-9]+' | cut -d= -f2
}

@test "what jobs pay is a licence that sreport adds up, and that nobody else gets" {
	local id job

	sauction grant account:physics 20
	sauction grant account:lab 20
	wait_until 60 nothing_held
	job=$(as alice sbatch --parsable -A lab $(small_bid 100 2) -o /dev/null --wrap true)
	wait_until 120 settled "$job"
	# Two slots of 5 s at half a credit, which are 360 credits an hour.
	[ "$(micro "$(database_receipt "$job" .payment)")" = 1000000 ]
	wait_until 60 eval '[ "$(cents $job)" = 36000 ]'
	for id in 'auction_cents:1' 'auction_cents' 'x,auction_cents:2000000000'; do
		run as alice sbatch -A lab -L "$id" --wrap true
		[ "$status" != 0 ]
		[[ $output == *"--licenses=$id: auction_cents shows what was paid, and jobs that are sold alone have it; leave it out"* ]]
	done
}

@test "the licence of what was paid is not to be had for tasks either" {
	local asked

	# Slurm has it from 23.02 on.
	run as alice sbatch --test-only --tres-per-task=cpu=1 --wrap true
	[[ $output != *"unrecognized option '--tres-per-task"* ]] || skip "this sbatch has no --tres-per-task"
	for asked in license/auction_cents:1 license/auction_cents=1 cpu=1,license/auction_cents=5; do
		run as alice sbatch -A lab -n 1 --tres-per-task="$asked" --wrap true
		[ "$status" != 0 ]
		[[ $output == *"--tres-per-task="*"auction_cents"*": auction_cents shows what was paid, and jobs that are sold alone have it; leave it out"* ]]
	done
}

@test "sacct, sbid, sauction report and the independent reader agree to the last micro-credit" {
	wait_until 120 status_is '"\(.totals.live) \(.agent.final_receipts_waiting)"' '0 0'
	for account in lab theory; do
		paid=0 shown=0
		# With -E: also those that were bought for later.
		for job in $(sacct -nPXD -a -S now-1day -E now+1day -A $account -o JobIDRaw); do
			paid=$((paid + $(micro "$(database_receipt "$job" '.payment // "0.000000"')")))
		done
		[ $paid -gt 0 ]
		report=$(sauction --by=account -n -P --since=now-1day report | awk -F'|' -v a=$account '$1 == a {print $4}')
		echo "$account: sacct $paid, report $report" >&2
		[ "$(micro "$report")" = $paid ]
		for user in alice bob carol; do
			for amount in $(as "$user" "$SBID" -P -n -o job,paid --since=now-1day | while IFS='|' read -r job amount; do
				[ "$(sacct -nPX -j "$job" -o Account)" != $account ] || echo "$amount"
			done); do
				shown=$((shown + $(micro "$amount")))
			done
		done
		[ $shown = $paid ]
		# What went out less what came back; grants are what else came in.
		read -r _ in out < <(audit account:$account)
		granted=$(sauction spool export | jq -r --arg account "account:$account" 'select(.event == "transfer" and .account == $account) | .amount' |
			awk '{sub(/\./, ""); sum += $1} END {printf "%d", sum}')
		[ $((out - in + granted)) = $paid ]
	done
	sauction spool check
}
