# Policy posted on a real cluster: a price to take or to leave, now or as an offer that stands, and the user's limit nowhere afterwards.

load lib
load plugins

slot=5

setup_file()
{
	need_plugins
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=posted,ceiling=10
		SlotSeconds=$slot
		RefundUnused=no
		Slots=100
		OfferTime=600
		UserQuotes=1000
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:2'
	wait_until 30 eval 'quote | grep -q offered'
	wait_until 60 nodes_settled
	price > "$BATS_FILE_TMPDIR/fresh"
}

# A job of CHUNKS workers for SLOTS slots, without a price. work CHUNKS SLOTS
work()
{
	echo "--chunks=$1 --epochs=$2 --minibatches=$slot --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s -p edge"
}

# quote [USER]
quote()
{
	as "${1-alice}" sbatch --quote $(work 1 1) --wrap true 2>&1
}

# The price that is offered now. price [USER]
price()
{
	quote "$@" | price_in
}

# What an answer has of them: a price, and an offer to accept.
price_in()
{
	sed -n 's/.*--max-price=\([0-9.]*\);.*/\1/p'
}

offer_in()
{
	sed -n 's/.*--accept=\([0-9a-f]\{16\}\) .*/\1/p'
}

@test "an offer is taken at its price, and what was offered is what is paid" {
	offered=$(price)
	[ -n "$offered" ]
	[ "$(price)" = "$offered" ]
	job=$(submit alice --max-price="$offered" $(work 1 1) -o /dev/null --wrap 'sleep 3')
	wait_until 30 receipt_state_is "$job" sold
	[ "$(receipt_get "$job" .payment)" = "$offered" ]
	[ "$(receipt_get "$job" .policy)" = posted ]
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .payment)" = "$offered" ]
}

@test "a limit below the price is refused, with the price, and no job is left" {
	run -1 as alice sbatch --max-price=0.000001 $(work 1 1) --wrap true
	[[ $output == *"the price is above --max-price"*"price "* ]]
	[[ $output != *0.000001* ]]
	run -1 as alice sbatch $(work 1 1) --wrap true
	[[ $output == *"max-price"* ]]
	run -1 as alice sbatch --bid=300 $(work 1 1) --wrap true
	[[ $output == *"expected --max-price"* ]]
}

@test "the limit is in no job, no log and no file of the controller" {
	job=$(submit alice --max-price=987.654321 $(work 1 4) -o env.txt --wrap env)
	wait_until 30 receipt_state_is "$job" sold
	run -1 grep -rsl 987.654321 "$SANDBOX_DIR/state" "$SANDBOX_DIR/log"
	wait_until 30 job_is "$job" COMPLETED
	run -1 grep 987.654321 "$SANDBOX_DIR/home/alice/env.txt"
	wait_until 60 settled "$job"
	run -1 eval 'timeout 20 sacct -XP -o ALL -j "$job" | grep 987.654321'
	run -1 grep -rs 987.654321 "$SANDBOX_DIR/state" "$SANDBOX_DIR/log"
}

@test "a limit in the script is taken, and removed from the script that Slurm keeps" {
	{
		echo '#!/bin/sh'
		printf '#SBATCH --max-price=%s\n' 876.543219
		echo 'echo ran'
	} > "$SANDBOX_DIR/home/alice/limit.sh"
	job=$(submit alice $(work 1 4) -o ran.txt limit.sh)
	wait_until 30 receipt_state_is "$job" sold
	run -1 grep -rsl 876.543219 "$SANDBOX_DIR/state" "$SANDBOX_DIR/log"
	wait_until 60 settled "$job"
	grep -q ran "$SANDBOX_DIR/home/alice/ran.txt"
	run -1 grep -rsl 876.543219 "$SANDBOX_DIR/state" "$SANDBOX_DIR/log"
}

# bats test_tags=nightly
@test "a limit that is abbreviated, quoted, or the next word is taken, and kept nowhere" {
	local form forms=('--max-pr=765.432198' '--max-p 765.432198' '--max=765.432198' '--max-price 765.432198')

	for form in "${forms[@]}"; do
		# shellcheck disable=SC2086
		job=$(submit alice $form $(work 1 4) -o env.txt --wrap env)
		wait_until 30 receipt_state_is "$job" sold
		[[ $(scontrol show job "$job") != *765.432198* ]]
		wait_until 60 settled "$job"
		run -1 grep 765.432198 "$SANDBOX_DIR/home/alice/env.txt"
	done
	for form in "${forms[@]}" '"--max-price"=765.432198' '--max-p\rice "765.432198"'; do
		printf '#!/bin/sh\n#SBATCH %s\necho ran\n' "$form" > "$SANDBOX_DIR/home/alice/limit.sh"
		job=$(submit alice $(work 1 4) -o ran.txt limit.sh)
		wait_until 30 receipt_state_is "$job" sold
		run -1 eval 'scontrol write batch_script "$job" - | grep 765.432198'
		wait_until 60 settled "$job"
		run -1 eval 'timeout 20 sacct -XP -o ALL -j "$job" | grep 765.432198'
	done
	run -1 grep -rsl 765.432198 "$SANDBOX_DIR/state" "$SANDBOX_DIR/log" "$SANDBOX_DIR/spool"
}

# How many answers the spool has.
answers()
{
	grep -rhos '"event":"answer"' "$SANDBOX_DIR/state" | wc -l
}

# bats test_tags=nightly
@test "whoever says yes to a price without a job teaches nothing" {
	before=$(answers)
	for i in 1 2; do
		run -0 as alice sbatch --test-only --max-price=1000 $(work 1 1) --wrap true
	done
	job=$(submit alice --max-price=1000 $(work 1 1) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	wait_until 10 eval '[ "$(answers)" = $((before + 1)) ]'
}

@test "no loop of refusals drives the price down" {
	before=$(answers)
	offered=$(price)
	for i in 1 2 3 4; do
		run -1 as alice sbatch --test-only --max-price=0 $(work 1 1) --wrap true
		run -1 as alice sbatch --tes --max-price="$(jq -n "$offered * 0.6")" $(work 1 1) --wrap true
		run -1 as alice sbatch --max-price=0 $(work 1 1) --wrap true
	done
	[ "$(price)" = "$offered" ]
	for i in 1 2 3 4; do
		run -1 as alice sbatch --max-price="$(jq -n "$offered * 0.6")" $(work 1 1) --wrap true
	done
	wait_until 30 eval '[ "$(answers)" = $((before + 1)) ]'
	# From then on alice is believed again.
	job=$(submit alice --max-price=1000 $(work 1 1) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	wait_until 30 eval '[ "$(answers)" = $((before + 2)) ]'
}

# bats test_tags=nightly
@test "slurmctld is restarted: it asks for what it asked for before" {
	before=$(answers)
	run -1 as alice sbatch --max-price="$(jq -n "$(price) / 2")" $(work 1 1) --wrap true
	for i in 1 2 3; do
		job=$(submit alice --max-price=1000 $(work 1 1) -o /dev/null --wrap true)
	done
	wait_until 60 settled "$job"
	wait_until 30 eval '[ "$(answers)" = $((before + 4)) ]'
	offered=$(price)
	[ -n "$offered" ]
	[ "$offered" != "$(cat "$BATS_FILE_TMPDIR/fresh")" ]
	sandbox restart slurmctld
	# it may depend on how much is idle, and nodes take their time
	wait_until 60 eval '[ "$(price)" = "$offered" ]'
}

# bob leaves what he is offered and buys; has the price changed? moved_from PRICE
moved_from()
{
	local now

	as bob sbatch --max-price=0 $(work 1 1) --wrap true || true
	submit bob --max-price=1000 $(work 1 1) -o /dev/null --wrap true || true
	now=$(price bob)
	[ -n "$now" ] && [ "$now" != "$1" ]
}

@test "an offer is accepted at its price when the price has changed, by its user for its job, once" {
	wait_until 30 eval 'answer=$(quote); offer=$(offer_in <<< "$answer"); [ -n "$offer" ]'
	offered=$(price_in <<< "$answer")
	[ -n "$offered" ]
	wait_until 60 moved_from "$offered"
	run -1 as bob sbatch --accept="$offer" $(work 1 1) --wrap true
	[[ $output == *"offer $offer was made to another user; ask for another with --quote"* ]]
	run -1 as alice sbatch --accept="$offer" $(work 2 1) --wrap true
	[[ $output == *"offer $offer was made for another job"* ]]
	printf '#!/bin/sh\n#SBATCH --accept=%s\nsleep 3\n' "$offer" > "$SANDBOX_DIR/home/alice/accept.sh"
	# what ends in the second in which it began is paid back; bob's jobs may be in its place
	wait_until 60 eval 'job=$(submit alice $(work 1 1) -o /dev/null accept.sh)'
	wait_until 60 settled "$job"
	echo "$answer: job $job: $(database_receipt "$job" .)"
	# on a busy machine it may begin too late, and is paid back
	[ "$(database_receipt "$job" '((.payment | tonumber) + (.refund // "0" | tonumber)) * 1e6 | round')" = "$(jq -n "$offered * 1e6 | round")" ]
	run -1 as alice sbatch --accept="$offer" $(work 1 1) --wrap true
	[[ $output == *"offer $offer has become a job"* ]]
}

@test "an offer expires" {
	sed -i 's/^OfferTime=.*/OfferTime=1/' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 60 eval 'answer=$(quote); grep -q "at this price within 1 s" <<< "$answer"'
	offer=$(offer_in <<< "$answer")
	# until then it is one for another job
	wait_until 30 eval 'as alice sbatch --accept="$offer" $(work 2 1) --wrap true 2>&1 | grep -q "offer $offer has expired: it stood for 1 s"'
}
