#!/usr/bin/env bats
# Eris: chunks of data lie on nodes, are trained there or moved as the plan bought it, within the budget of each slot.

load lib
load plugins

slot=20
chunk=87040 # bytes: 20 mini-batches of 32 samples

setup_file()
{
	need_plugins
	need_launcher
	# A slot's budget is two chunks, and a bit.
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=eris
		SlotSeconds=$slot
		Slots=60
		TransferBudget=0.2
		Prices=given
		Eta=transfer=3
		PartitionName=gpu
		PartitionName=store
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.m TRES=cpu=1,mem=200
	END
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'g[1-2]:partition=gpu,cpus=8,mem=16000,gpus=v100:2' --nodes 'd1:partition=store,cpus=8,mem=16000'
	# See aonline.bats.
	sandbox restart slurmctld
	wait_until 30 auction_open_for_eris
}

setup()
{
	need_launcher
	home=$SANDBOX_DIR/home/alice
}

# In a slot a worker passes through two chunks for one epoch, or one for both. bid CHUNKS DATA
bid()
{
	echo "--bid=linear:1000,5 --chunks=$1 --data=$2 --data-mb=$(awk "BEGIN { print $1 * $chunk / 1e6 }")" \
		"--epochs=2 --minibatches=20 --gradient-mb=0 --worker-time=v100=0.5s --ps-time=ps.m=0s"
}

auction_open_for_eris()
{
	as alice sbatch --quote $(bid 1 g1=1) --wrap true 2>&1 | grep -q 'auction: .*accepted'
}

# Puts CHUNKS chunks on NODE, and a script that trains them. chunks_on NODE CHUNKS [SLAUNCH-OPTION]
chunks_on()
{
	rm -rf "$home/data" "$home/train.out" "$home/ckpt"
	as alice mkdir "$home/data"
	as alice "$TRAIN" --write-data="$home/data/$1" --chunks="$2" --minibatches=20
	cat > "$home/train.sh" <<-END
		#!/bin/sh
		exec $SLAUNCH -v --elastic --wait 40 --notice 3s --grace 2s --data-dir=$home/data/%n ${3-} \\
			$TRAIN --async --data --rate 0.05 --chunks $2 --minibatches 20 --epochs 2 --pace 40ms --checkpoint ckpt
	END
}

# What was moved by slot, "SLOT FROM TO CHUNKS BYTES", as the launcher has measured it.
moved()
{
	sed -n 's/^slaunch: slot \([0-9]*\): chunk [0-9]* moved from \(.*\) to \(.*\): \([0-9]*\) bytes$/\1 \2 \3 \4/p' "$home/train.out" |
		awk '{ n[$1 " " $2 " " $3]++; b[$1 " " $2 " " $3] += $4 } END { for (k in n) print k, n[k], b[k] }' | sort
}

# Every chunk of N was read on one node only, and trained twice.
trained()
{
	[ "$(sed -n 's/^reads chunk=\([0-9]*\) node=\([^ ]*\) .*/\1 \2/p' "$home/train.out" | sort -u | wc -l)" = "$1" ]
	[ "$(sed -n 's/^chunk=\([0-9]*\) pass=\([0-9]*\) node=.*/\1 \2/p' "$home/train.out" | sort -u | wc -l)" = $((2 * $1)) ]
}

@test "chunks are moved in the slots and to the nodes that the plan bought, streamed, within the budget; the loss falls" {
	chunks_on g1 8
	job=$(submit alice $(bid 8 g1=8) -o train.out "$home/train.sh")
	wait_until 30 receipt_state_is "$job" sold
	receipt "$job" >&2
	[ "$(receipt_get "$job" '[.transfers[].chunks] | add')" = 4 ]
	[ "$(receipt_get "$job" '[.transfers | group_by(.slot)[] | map(.chunks) | add] | max')" = 2 ]
	[ "$(receipt_get "$job" '.transfers | length')" -ge 2 ]
	wait_until 240 settled "$job"

	cat "$home/train.out" >&2
	[ "$(database_receipt "$job" .why)" = completed ]
	# As it was bought: each slot's moves, and not a byte more.
	receipt_get "$job" ".transfers[] | \"\(.slot) \(.from) \(.to) \(.chunks) \(.chunks * $chunk)\"" | sort > "$BATS_TEST_TMPDIR/bought"
	moved > "$BATS_TEST_TMPDIR/moved"
	diff "$BATS_TEST_TMPDIR/bought" "$BATS_TEST_TMPDIR/moved" >&2
	[ "$(awk '{ b[$1] += $5 } END { for (s in b) if (b[s] > 200000) print s }' "$BATS_TEST_TMPDIR/moved")" = '' ]
	trained 8
	for c in 4 5 6 7; do
		cmp "$home/data/g1/chunk.$c" "$home/data/g2/chunk.$c"
		grep -q "^reads chunk=$c node=g2 " "$home/train.out"
	done
	grep '^chunk=' "$home/train.out" | grep -o 'loss=[0-9.]*' | cut -d= -f2 |
		awk '{ x[NR] = $1 } END { n = int(NR / 4); for (i = 1; i <= n; i++) { a += x[i]; b += x[NR + 1 - i] }; print a / n, b / n; exit b >= a }'
}

# bats test_tags=nightly
@test "chunks of a node that has no workers are copied where directories are shared; what is half there is not sent twice" {
	chunks_on d1 2 --data-shared
	# A move that broke off.
	as alice mkdir "$home/data/g1"
	head -c 7040 "$home/data/d1/chunk.0" > "$home/data/g1/chunk.0.part"
	chown alice "$home/data/g1/chunk.0.part"
	job=$(submit alice $(bid 2 store=2) -o train.out "$home/train.sh")
	wait_until 30 receipt_state_is "$job" sold
	receipt "$job" >&2
	[ "$(receipt_get "$job" '[.transfers[] | select(.from == "d1") | .chunks] | add')" = 2 ]
	[ "$(receipt_get "$job" '.data[0] | "\(.server)=\(.chunks)"')" = d1=2 ]
	wait_until 240 settled "$job"
	cat "$home/train.out" >&2
	[ "$(database_receipt "$job" .why)" = completed ]
	trained 2
	moved > "$BATS_TEST_TMPDIR/moved"
	[ "$(awk '{ n += $4; b += $5 } END { print n, b }' "$BATS_TEST_TMPDIR/moved")" = "2 $((2 * chunk - $(already)))" ]
}

# What was there of chunk 0 before its move: where the plan has it on g1.
already()
{
	[ "$(receipt_get "$job" '.transfers[0].to')" = g1 ] && echo 7040 || echo 0
}

# An srun that lets the first 40000 bytes of a chunk through, and the others once the file "go" is there.
hold_moves()
{
	as alice mkdir -p "$home/bin"
	rm -f "$home/go"
	cat > "$home/bin/srun" <<-END
		#!/bin/bash
		case " \$* " in
		*" --chunk=receive "*)
			exec $(command -v srun) "\$@" < <(head -c 40000; for _ in {1..900}; do [ -e $home/go ] || sleep 0.1; done; exec cat)
			;;
		esac
		exec $(command -v srun) "\$@"
	END
	chmod 755 "$home/bin/srun"
	sed -i "2i PATH=$home/bin:\$PATH" "$home/train.sh"
}

# On a machine that stalls for a whole slot, nothing has been moved when the job is over.
begun_or_over()
{
	[ -s "$home/data/g2/chunk.2.part" ] || settled "$job"
}

# How much of the chunks of $job was sent, "CHUNK BYTES" for each, whether it came to an end or not.
sent()
{
	sed -n 's/^slaunch: slot [0-9]*: chunk \([0-9]*\) \(not \)\?moved from .*: \([0-9]*\) bytes$/\1 \3/p' "$home/train.out"
}

# bats test_tags=nightly
@test "slurmctld is killed in the middle of a move: no byte is sent twice, a chunk is there whole or not at all, and the job ends" {
	local c

	chunks_on g1 4
	hold_moves
	job=$(submit alice $(bid 4 g1=4) -o train.out "$home/train.sh")
	wait_until 30 receipt_state_is "$job" sold
	[ "$(receipt_get "$job" '[.transfers[].chunks] | add')" = 2 ]
	wait_until 90 begun_or_over
	wait_until 60 saved
	sandbox restart slurmctld --kill
	as alice touch "$home/go"
	wait_until 150 settled "$job"

	cat "$home/train.out" >&2
	[ "$(sent | awk -v most=$chunk '$2 > most' | wc -l)" = 0 ]
	for c in 2 3; do
		[ ! -e "$home/data/g2/chunk.$c" ] || cmp "$home/data/g1/chunk.$c" "$home/data/g2/chunk.$c"
	done
	# The slot may be over before slurmctld is back: then what is not there stays away, and the job is not whole.
	if [ "$(database_receipt "$job" .why)" = completed ]; then
		[ "$(sent | sort)" = "$(printf '%s\n' "2 $chunk" "3 $chunk")" ]
		trained 4
	fi
}

@test "what cannot be had is refused, and the reason said" {
	run as alice sbatch $(bid 3 g1=1,g9=2) --wrap true
	[ "$status" != 0 ]
	[[ $output == *"--data: 'g9' is no node or site of this cluster"* ]]
	run as alice sbatch $(bid 3 g1=1,gpu=2) --wrap true
	[[ $output == *"--data: 'gpu' has 2 nodes, expected the name of one"* ]]
	run as alice sbatch $(bid 3 g1=1,g2=1) --wrap true
	[[ $output == *"--data: 2 chunks in all, expected 3, as many as --chunks"* ]]
	run as alice sbatch --bid=9 --chunks=3 --data-mb=3 --worker-time=v100=1s --wrap true
	[[ $output == *"--data: not given"* ]]
	# Chunks that no slot's budget can move.
	run as alice sbatch --bid=9 --data=d1=2 --data-mb=3 --worker-time=v100=1s --wrap true
	echo "$output" >&2
	[ "$status" != 0 ]
	[[ $output == *"no schedule is possible at any price"* ]]
}

# sprice's word on fitted prices, as the last status has them.
sprice_here()
{
	"$(program sprice)" "$@" \
		-f "$SANDBOX_DIR/state/auction/status.json"
}

@test "prices are fitted to bids, that of what nodes send, too, from the next slot on" {
	sed -i 's/^Prices=.*/Prices=flat/' "$SANDBOX_DIR/etc/auction.conf"
	scontrol reconfigure
	wait_until 30 status_is .prices flat
	wait_until 30 auction_open_for_eris
	for i in {1..12}; do
		as alice sbatch $(bid 8 g1=8) -o /dev/null --wrap true > /dev/null 2>&1 || true
	done
	wait_until 180 eval '[ "$(status ".learning | .kind == \"flat\" and .day_bids >= 10")" = true ]'
	fresh_status
	sprice_here -cP >&2
	sprice_here -l >&2
	sprice_here -cP | grep -q '^\*|transfer|'
	sprice_here -cP | grep -q '^gpu|gpu:v100|'
	[ "$(status '.learning | .slot > .time / .slot_seconds and .day_worth > 0 and .day_worth <= .day_bound')" = true ]
	status .learning.why | grep -q '^flat .*replayed, the last [0-9]* bids are worth'
	# What is sold of traffic costs what was published.
	[ "$(status '(.learning.classes[] | select(.partition == "*").runs[0][2]) as $p |
		[.servers[] | select(.name == "*").tres[].runs[][3]] | all(. > $p * (1 - 1e-9) and . < $p * (1 + 1e-9))')" = true ]
}
