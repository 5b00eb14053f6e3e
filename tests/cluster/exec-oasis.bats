#!/usr/bin/env bats
# OASiS as in its paper: servers of workers and servers of PSs, asynchronous training whose workers come and go, under one sale.

load lib
load plugins

slot=10

setup_file()
{
	need_plugins
	need_launcher
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=oasis
		SlotSeconds=$slot
		RefundUnused=no
		Overrun=kill
		Slots=60
		PartitionName=gpu Roles=worker
		PartitionName=cpu Roles=ps
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1 Bandwidth=1000
		PSType=ps.m TRES=cpu=1,mem=200 Bandwidth=100000
		PSType=ps.slow TRES=cpu=1,mem=200 Bandwidth=500
	END
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'g[1-2]:partition=gpu,cpus=8,mem=16000,gpus=v100:4' --nodes 'c1:partition=cpu,cpus=8,mem=16000'
	wait_until 30 auction_open_for_oasis
}

setup()
{
	need_launcher
	home=$SANDBOX_DIR/home/alice
}

# A bid for at most CHUNKS workers at a time and CHUNKS * MINIBATCHES worker-seconds. bid CHUNKS MINIBATCHES [PS-TYPE]
bid()
{
	echo "--bid=linear:1000,5 --chunks=$1 --epochs=1 --minibatches=$2" \
		"--gradient-mb=0 --worker-time=v100=1s --ps-time=${3-ps.m}=0s"
}

auction_open_for_oasis()
{
	as alice sbatch --quote $(bid 1 1) --wrap true 2>&1 | grep -q 'auction: .*accepted'
}

# reserved NODES FROM TO: the administrator's, in Unix time.
reserved()
{
	scontrol create reservation starttime="$(date -d "@$2" +%FT%T)" endtime="$(date -d "@$3" +%FT%T)" \
		users=root nodes="$1" flags=ignore_jobs
}

lines()
{
	[ "$(grep -cE "$2" "$home/train.out")" -ge "$1" ]
}

closed()
{
	as alice sbatch --quote $(bid 8 35) --wrap true 2>&1 | grep -q ", $1 to "
}

@test "workers join and leave on their servers while the PS goes on, and the loss falls" {
	local t0

	# From t0 on one server of workers can be had, two slots later both: 4, 4, 8, 8 and, as that is all, 4 workers.
	t0=$(((EPOCHSECONDS / slot + 4) * slot))
	reserved g1 $((t0 - 4 * slot)) "$t0"
	reserved g2 $((t0 - 4 * slot)) $((t0 + 2 * slot))
	wait_until 30 closed "$(date -d "@$t0" +%T)"
	cat > "$home/train.sh" <<-END
		#!/bin/sh
		exec $SLAUNCH -v --elastic --wait 30 --notice 3s --grace 2s $TRAIN --async --rate 0.01 \\
			--chunks 32 --minibatches 25 --epochs 1000 --pace 20ms --checkpoint ckpt
	END
	rm -f "$home/train.out" "$home/ckpt"
	job=$(submit alice $(bid 8 35) -o train.out "$home/train.sh")
	wait_until 30 receipt_state_is "$job" sold
	receipt "$job" >&2
	[ "$(receipt_get "$job" '[.plan[] | "\(.workers | add) \((.workers | keys) + (.ps | keys) | join(" "))"] | join(", ")')" \
		= '4 g1 c1, 8 g1 g2 c1, 4 g1 c1' ]
	[ "$(receipt_get "$job" '.start * .slot_seconds')" = "$t0" ]

	wait_until 60 job_is "$job" RUNNING
	[ "$(job_field "$job" NodeList)" = c1 ]
	wait_until 60 lines 1 '^joined worker=[0-9]* workers=4$'
	wait_until 60 lines 1 '^joined worker=[0-9]* workers=8$'
	wait_until 60 lines 1 '^left worker=[0-9]* workers=4$'
	[ "$EPOCHSECONDS" -ge $((t0 + 4 * slot - 6)) ]
	wait_until 60 settled "$job"

	cat "$home/train.out" >&2
	[ "$(grep -c '^seen node=c1 role=ps ' "$home/train.out")" = 1 ]
	[ "$(grep -c '^seen node=g1 role=worker ' "$home/train.out")" = 4 ]
	[ "$(grep -c '^seen node=g2 role=worker ' "$home/train.out")" = 4 ]
	[ "$(grep -c '^seen ' "$home/train.out")" = 9 ]
	# On the held-out samples, before each change and at the end: downward but for the noise of single mini-batches.
	grep '^checkpoint ' "$home/train.out" | grep -o ' loss=[0-9.]*' | cut -d= -f2 |
		awk '$1 > min * 1.02 && NR > 1 { bad = 1 } NR == 1 { first = $1 } { last = $1; if (NR == 1 || $1 < min) min = $1 }
			END { print first, last, NR; exit bad || NR < 4 || last > first * 0.95 }'
	[ "$(database_receipt "$job" .payment)" = "$(receipt_get "$job" .payment)" ]
}

@test "what cannot be had is refused, and the reason said" {
	run as alice sbatch $(bid 2 20 ps.slow) --wrap true
	[ "$status" != 0 ]
	[[ $output == *"no PS that it may use has the bandwidth of a worker"* ]]
	run as alice sbatch $(bid 2 10000) --wrap true
	[ "$status" != 0 ]
	[[ $output == *"end of the horizon"* ]]
	# A partition of one role alone hosts no job.
	run as alice sbatch -p gpu $(bid 2 20) --wrap true
	[ "$status" != 0 ]
	echo "$output" >&2
	[[ $output == *"no node it may use can hold one PS"* ]]
}

@test "prices of each TRES are fitted to bids, those of workers on their nodes, of PSs on theirs, from the next slot on" {
	local sprice=$(program sprice)
	local file=$SANDBOX_DIR/state/auction/status.json

	sed -i "1a Prices=flat" "$SANDBOX_DIR/etc/auction.conf"
	scontrol reconfigure
	wait_until 30 status_is .prices flat
	wait_until 30 auction_open_for_oasis
	for i in {1..16}; do
		as alice sbatch $(bid 8 40) -o /dev/null --wrap true > /dev/null 2>&1 || true
	done
	wait_until 180 eval '[ "$(status ".learning | .kind == \"flat\" and .day_bids >= 10")" = true ]'
	fresh_status
	"$sprice" -l -f "$file" >&2
	"$sprice" -cP -f "$file" >&2
	"$sprice" -cP -f "$file" | grep -q '^gpu|gpu:v100|'
	"$sprice" -cP -f "$file" | grep -q '^cpu|cpu|'
	[ "$(status '.learning | .slot > .time / .slot_seconds and .day_worth > 0 and .day_worth <= .day_bound')" = true ]
	status .learning.why | grep -Eq '^flat \((bounds|flat) x [0-9.]*\): replayed, the last [0-9]* bids are worth'
	[ "$(status '[.learning.classes[] | select(.partition == "gpu" and .tres == "gpu:v100").runs[][2]] | length > 0 and all(. > 0)')" = true ]
	# In all slots the same, whatever is sold.
	"$sprice" -cPh -f "$file" | awk -F '|' '$5 != $6 || $6 != $7 || $7 != $8 { exit 1 }'
}
