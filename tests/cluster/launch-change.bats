#!/usr/bin/env bats
# Layouts that change, without a cluster: slaunch --local with --then and --plan, and auction-train through all of it.
#
# See lib.bash for what is tested. The plans here are short, but nothing is measured: a test waits for what has to come, and what
# it runs goes on until then.

# shellcheck source=/dev/null
. "$(dirname "$BATS_TEST_FILENAME")/lib.bash"

setup()
{
	need_launcher
	for v in $(compgen -e | grep -E '^(SLURM|AUCTION|SLAUNCH|DMLC)_'); do unset "$v"; done
	dir=$BATS_TEST_TMPDIR
	out=$dir/out
	launcher=
	# Each role does what its variable says.
	cat >"$dir/task" <<-'END'
		#!/bin/bash
		echo "$$" >>"$1.pids"
		group() { jq -c "$1" "$AUCTION_GROUP_FILE"; }
		say() { echo "$AUCTION_ROLE $AUCTION_ID: $*"; }
		forever() { while :; do sleep 0.05; done; }
		case $AUCTION_ROLE in
		worker) eval "${WORKER:-forever}" ;;
		ps) eval "${PS:-forever}" ;;
		esac
	END
	chmod +x "$dir/task"
	task=("$dir/task" "$dir/t")
}

# Ends what the test has left, and sees that nothing stays.
teardown()
{
	[ -z "$launcher" ] || kill -TERM "$launcher" 2>/dev/null || true
	[ ! -f "$out" ] || cat "$out"
	[ -f "${dir:-/nonexistent}/t.pids" ] || return 0
	wait_until 30 gone || { echo "left behind: $(cat "$dir/t.pids")"; return 1; }
}

gone()
{
	local pid
	for pid in $(cat "$dir/t.pids"); do
		! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$pid/status" 2>/dev/null || return 1
	done
}

# launch OPTION...: in the background; its output goes to $out.
launch()
{
	"$SLAUNCH" --grace 5 "$@" >"$out" 2>&1 3>&- &
	launcher=$!
}

# follow W:P OPTION...: like launch, with a plan that change alters.
follow()
{
	echo "0 $1" >"$dir/plan"
	shift
	started=$(date +%s.%N)
	launch --plan "$dir/plan" "$@"
}

# change SECONDS W:P [SECONDS W:P...]: what comes in so many seconds from now, and so many after that.
change()
{
	local at

	at=$(awk -v a="$started" -v b="$(date +%s.%N)" 'BEGIN {print b - a}')
	while [ $# -gt 0 ]; do
		at=$(awk -v a="$at" -v b="$1" 'BEGIN {print a + b}')
		echo "$at $2" >>"$dir/plan"
		shift 2
	done
	kill -USR1 "$launcher"
}

# ends CODE: the launcher does, with that exit code.
ends()
{
	local code=0

	wait_until 60 launcher_ended
	wait "$launcher" || code=$?
	launcher=
	[ "$code" = "$1" ] || { echo "exit code $code, not $1"; return 1; }
}

launcher_ended()
{
	! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$launcher/status" 2>/dev/null || false
}

# lines N REGEX: at least so many in the output.
lines()
{
	[ "$(grep -cE "$2" "$out")" -ge "$1" ]
}

value()
{
	grep -o "\b$1=[^ ]*" <<<"$2" | cut -d= -f2
}

# The losses of the states that were saved or taken up, and the last: but for the noise of single mini-batches that asynchronous training
# has, none above the least so far; and the last well below the first loss that was said, be it the first epoch's.
downward()
{
	grep -E '^(epoch=|checkpoint |resumed |final )' "$out" | sed 's/^\([a-z]*\).*\bloss=\([^ ]*\).*/\1 \2/' |
		awk 'NR == 1 {first = $2}
			$1 == "epoch" {next}
			n++ && $2 > min * 1.02 {print "loss rose from " min " to " $2; bad = 1}
			{last = $2; min = n == 1 || $2 < min ? $2 : min}
			END {exit bad || n < 3 || last > first * 0.97}'
}

# Every epoch is there once, in order, and has all its samples: what is printed is the mean over them.
epochs()
{
	[ "$(grep -o '^epoch=[0-9]*' "$out" | cut -d= -f2 | xargs)" = "$(seq "$1" | xargs)" ]
}

@test "elastic: workers join and leave, those that stay are left alone and told" {
	WORKER='trap "say told \$(group .)" USR1; trap "say ended; exit 9" TERM; say start $AUCTION_RANK/$AUCTION_NUM_WORKERS $RANK/$WORLD_SIZE $DMLC_NUM_WORKER $(jq ".cluster.worker | length" <<<"$TF_CONFIG"); forever' \
	PS='trap "say told \$(group .)" USR1; say start; forever' \
		follow 2:1 --elastic "${task[@]}"
	wait_until 30 lines 2 '^worker [01]: start [01]/2 [01]/2 2 2$'
	wait_until 30 lines 1 '^ps 0: start$'
	change 6 3:1
	# The notice, with what comes and who leaves.
	wait_until 30 lines 1 '^worker 0: told .*"next":\{.*"change":"resize",.*"workers":3,"ps":1,"leaves":false\}'
	# The new one: rank, numbers and lists are those of the new layout.
	wait_until 30 lines 1 '^worker 2: start 2/3 2/3 3 3$'
	wait_until 30 lines 1 '^worker 0: told .*"next":null,"workers":\[.*"id":2,"rank":2,.*\]'
	change 6 1:1
	wait_until 30 lines 1 '^worker 2: told .*"next":\{.*"change":"resize",.*"workers":1,"ps":1,"leaves":true\}'
	# The latest of a node leave, and that is no failure.
	wait_until 30 lines 1 '^worker 2: ended$'
	wait_until 30 lines 1 '^worker 1: ended$'
	wait_until 30 lines 1 '^ps 0: told .*"next":null,"workers":\[\{"id":0,[^}]*\}\],'
	[ "$(grep -c ': start' "$out")" = 4 ]
	kill -0 "$launcher"
	! grep -q '^worker 0: ended' "$out" || false
	! grep -q '^slaunch:' "$out" || false
}

@test "without --elastic all are stopped and started again with each layout, also after a pause" {
	WORKER='say start $AUCTION_RANK/$AUCTION_NUM_WORKERS restarts=$AUCTION_RESTARTS; forever' PS='say ps of $AUCTION_NUM_WORKERS; forever' \
		follow 2:1 -v --notice 500ms "${task[@]}"
	wait_until 30 lines 2 '^worker [0-9]*: start [0-9]/2 restarts=0$'
	change 1 1:1
	wait_until 30 lines 1 '^worker [0-9]*: start 0/1 restarts=1$'
	change 1 0 1 3:2
	wait_until 30 lines 3 '^worker [0-9]*: start [012]/3 restarts=2$'
	wait_until 30 lines 2 '^ps [0-9]*: ps of 3$'
	kill -TERM "$launcher"
	ends 143
}

@test "the same layout once more leaves all as it is" {
	WORKER='trap "say told" USR1; say start; sleep 2 & wait $!; wait $!; say end' \
		launch -v --notice 500ms --local 2 --then 500ms:2 --then 500ms:2 "${task[@]}"
	ends 0
	lines 2 ': end$'
	! grep -q 'told\|changes' "$out" || false
}

@test "without --elastic a task that ends after the notice stops all; they start with the next layout" {
	WORKER='trap "say leaves; exit 3" USR1; say start; forever' PS='say start; forever' follow 2:1 "${task[@]}"
	wait_until 30 lines 2 '^worker [01]: start$'
	change 6 1:1
	wait_until 30 lines 1 '^worker 2: start$'
	wait_until 30 lines 1 '^ps 1: start$'
	lines 1 '^worker [01]: leaves$'
	! grep -q '^slaunch:' "$out" || false
	! grep -q '^worker 3:' "$out" || false
}

@test "PSs that change stop even an elastic program" {
	WORKER='say start $AUCTION_NUM_PS; forever' follow 1:1 --elastic --notice 500ms "${task[@]}"
	wait_until 30 lines 1 '^worker 0: start 1$'
	change 1 1:2
	wait_until 30 lines 1 '^worker 1: start 2$'
}

@test "what a leaving task does is no failure; what another does, is" {
	# Worker 1 leaves as it likes once it is told, worker 2 does not want to and is killed hard.
	WORKER='[ $AUCTION_ID = 1 ] && trap "say code 7; exit 7" USR1; trap "say no" TERM; say start; forever' \
		follow 3 --elastic --grace 3s "${task[@]}"
	wait_until 30 lines 3 'start$'
	change 6 1
	wait_until 30 lines 1 '^worker 1: code 7$'
	wait_until 30 lines 1 '^worker 2: no$'
	change 1 2
	wait_until 30 lines 1 '^worker 3: start$'
	kill -KILL "$(tail -n 1 "$dir/t.pids")"
	ends 137
	[ "$(grep -c '^slaunch:' "$out")" = 1 ]
	grep -qx 'slaunch: worker 3 on localhost was ended by signal 9 (Killed)' "$out"
}

@test "a failure in an elastic group before any notice: its exit code" {
	WORKER='[ $AUCTION_ID = 1 ] && exit 5; forever' launch --elastic --notice 1s --local 2:1 --then 100s:1:1 "${task[@]}"
	ends 5
}

@test "a program without a handler does not die of the signal" {
	WORKER='say start; forever' follow 1 --elastic "${task[@]}"
	wait_until 30 lines 1 '^worker 0: start$'
	change 1 2
	wait_until 30 lines 1 '^worker 1: start$'
	kill -USR1 "$launcher"
	kill -TERM "$launcher"
	ends 143
}

@test "--change-signal is what tasks get" {
	WORKER='trap "say usr1" USR1; trap "say winch" WINCH; forever' \
		launch --change-signal=WINCH --notice 1s --elastic --local 1 --then 8s:2 "${task[@]}"
	wait_until 30 lines 1 '^worker 0: winch$'
	wait_until 30 test "$(wc -l <"$dir/t.pids")" -ge 1
	! grep -q usr1 "$out" || false
}

@test "--plan: a plan that is made anew is read when the signal says so" {
	printf '# now, and much later\n0 1\n\n1000s 2\n' >"$dir/plan"
	WORKER='say start $AUCTION_NUM_WORKERS; forever' launch --elastic --notice 1s --plan "$dir/plan" "${task[@]}"
	wait_until 30 lines 1 '^worker 0: start 1$'
	printf '0 1\n1s 3\n' >"$dir/plan"
	kill -USR1 "$launcher"
	wait_until 30 lines 2 '^worker [12]: start 3$'
	# A file that is wrong is said to be, and the plan stays.
	echo "nonsense" >"$dir/plan"
	kill -USR1 "$launcher"
	wait_until 30 lines 1 '^slaunch: --plan=.*: expected lines TIME WORKERS\[:PS\]$'
	kill -TERM "$launcher"
	ends 143
}

@test "a signal between two layouts ends the launcher" {
	WORKER='say start; forever' follow 1 --notice 100ms -v "${task[@]}"
	wait_until 30 lines 1 '^worker 0: start$'
	change 0.5 0 1000 1
	wait_until 30 lines 1 '^slaunch: the layout changes: ending all tasks$'
	wait_until 30 gone
	kill -TERM "$launcher"
	ends 143
}

@test "a launcher killed by SIGKILL leaves nothing behind, whoever has joined" {
	WORKER='say start; forever' launch --elastic --grace 500ms --local 1:1 --then 500ms:3:1 "${task[@]}"
	wait_until 30 lines 3 '^worker [012]: start$'
	kill -KILL "$launcher"
	wait_until 30 gone
	launcher=
}

@test "changes that cannot be are named" {
	run -1 "$SLAUNCH" --then 5s:1 true
	[ "$output" = "slaunch: --then=5s:1: only after --local" ]
	run -1 "$SLAUNCH" --local 1 --then 5 true
	[ "$output" = "slaunch: --then=5: expected TIME:WORKERS[:PS]" ]
	run -1 "$SLAUNCH" --local 1 --then 5s:x true
	[[ $output == "slaunch: --then=5s:x: expected WORKERS[:PS], 1 to 256 workers"*", or 0 for a pause" ]]
	run -1 "$SLAUNCH" --local 1 --then 0s:2 true
	[[ $output == "slaunch: --then=0s:2: expected a later time"* ]]
	run -1 "$SLAUNCH" --local 1 --plan /nonexistent true
	[[ $output == "slaunch: --plan=/nonexistent: not together with --local or --then" ]]
	run -1 "$SLAUNCH" --plan /nonexistent true
	[ "$output" = "slaunch: --plan=/nonexistent: No such file or directory" ]
	run -1 "$SLAUNCH" --local 1 --change-signal=TERM true
	[[ $output == "slaunch: --change-signal=TERM: expected a signal that ends no task"* ]]
}

# --- auction-train ---------------------------------------------------------------------------------------------------------------

@test "async: 3 workers and 2 PSs train" {
	launch --local 3:2 "$TRAIN" --async --epochs 6 --checkpoint "$dir/ckpt"
	ends 0
	epochs 6
	last=$(value loss "$(grep '^final ' "$out")")
	awk -v a="$last" 'BEGIN {exit !(a < 0.9)}'
	[ "$(grep -c '^joined' "$out")" = 3 ]
	# All is done: nothing is trained on again.
	launch --local 1:1 "$TRAIN" --async --epochs 6 --checkpoint "$dir/ckpt"
	ends 0
	! grep -q '^epoch=' "$out" || false
	[ "$(value loss "$(grep '^final ' "$out")")" = "$last" ]
}

# bats test_tags=nightly
@test "async: workers join and leave a running PS, and the loss goes down" {
	follow 1:2 --elastic "$TRAIN" --async --rate 0.1 --epochs 8 --chunks 16 --minibatches 8 --pace 20ms --checkpoint "$dir/ckpt"
	wait_until 30 lines 1 '^epoch=1 '
	change 0.5 3:2
	wait_until 30 lines 3 '^joined'
	wait_until 30 lines 1 '^epoch=2 '
	change 0.5 1:2
	wait_until 30 lines 2 '^left worker=[12] '
	change 0.5 2:2
	wait_until 30 lines 4 '^joined'
	ends 0
	epochs 8
	downward
	[ "$(grep -c '^checkpoint' "$out")" -ge 3 ]
	[ "$(grep -c '^seen .*role=ps' "$out")" = 2 ]
	[ ! -e "$dir/ckpt.new" ]
}

@test "async: a worker that is killed, and one that hangs, do no harm to the others" {
	port=$((22000 + RANDOM % 1000))
	export AUCTION_NUM_WORKERS=3 AUCTION_NUM_PS=1 AUCTION_PS_HOSTS=127.0.0.1:$port AUCTION_TOKEN=0123456789abcdef0123456789abcdef
	work=(--async --epochs 3 --chunks 6 --minibatches 4 --pace 20ms --lost 8s)
	AUCTION_ROLE=ps AUCTION_RANK=0 "$TRAIN" "${work[@]}" >"$out" 2>&1 3>&- &
	ps=$!
	workers=()
	for i in 0 1 2; do
		AUCTION_ROLE=worker AUCTION_RANK=$i "$TRAIN" "${work[@]}" >"$dir/w$i" 2>&1 3>&- &
		workers+=($!)
	done
	wait_until 30 lines 3 '^joined'
	kill -KILL "${workers[1]}"
	kill -STOP "${workers[2]}"
	wait "${workers[0]}"
	kill -KILL "${workers[2]}"
	wait $ps
	epochs 3
	grep -q '^left worker=1 ' "$out"
	grep -q '^auction-train: worker 2 has been silent for too long (--lost)$' "$out"
}

# train_on NODE RANK: a worker of the group that the environment tells of.
train_on()
{
	SLURMD_NODENAME=$1 AUCTION_ROLE=worker AUCTION_RANK=$2 "$TRAIN" "${work[@]}" >"$dir/w$2" 2>&1 3>&- &
}

@test "chunks that have a home are trained there, each as often as there are epochs, and none waits for another" {
	port=$((22000 + RANDOM % 1000))
	export AUCTION_NUM_WORKERS=3 AUCTION_NUM_PS=1 AUCTION_PS_HOSTS=127.0.0.1:$port AUCTION_TOKEN=0123456789abcdef0123456789abcdef
	export AUCTION_CHUNKS='edge1=0,2;edge2=1,3,4'
	work=(--epochs 3 --minibatches 8 --rate 0.1 --checkpoint "$dir/ckpt")
	AUCTION_ROLE=ps AUCTION_RANK=0 "$TRAIN" "${work[@]}" >"$out" 2>&1 3>&- &
	ps=$!
	# All of edge1's, then, after a change, all of edge2's; edge3 has none.
	train_on edge1 0
	first=$!
	train_on edge3 1
	wait_until 30 lines 6 '^chunk='
	wait_until 30 lines 1 '^auction-train: worker 1 is on a node where no chunk lies, and has nothing to do$'
	kill -TERM $ps "$first" $!
	wait $ps || [ $? = 143 ]
	wait
	[ "$(sed -n 's/^\(chunk=[0-9]* pass=[0-9]* node=[a-z0-9]*\) .*/\1/p' "$out" | sort | paste -sd,)" = "$(
		for i in 0 2; do for pass in 1 2 3; do echo "chunk=$i pass=$pass node=edge1"; done; done | paste -sd,)" ]
	AUCTION_ROLE=ps AUCTION_RANK=0 "$TRAIN" "${work[@]}" >"$dir/second" 2>&1 3>&- &
	ps=$!
	train_on edge2 0
	train_on edge2 1
	wait $ps
	[ "$(sed -n 's/^\(chunk=[0-9]* pass=[0-9]* node=[a-z0-9]*\) .*/\1/p' "$dir/second" | sort | paste -sd,)" = "$(
		for i in 1 3 4; do for pass in 1 2 3; do echo "chunk=$i pass=$pass node=edge2"; done; done | paste -sd,)" ]
	grep -q '^resumed file=.* chunks=1 epochs=1$' "$dir/second"
	cat "$dir/second" >>"$out"
	epochs 3
	downward
	# The plan says how many chunks there are.
	run -1 "$TRAIN" --chunks 4
	[[ $output == *"--chunks=4: the job's plan has 5 (AUCTION_CHUNKS)"* ]]
}

@test "the PS moves: the job's script starts anew, and so does training where it was" {
	for mode in "--async --pace 2ms" "--pace 2ms"; do
		rm -f "$dir/ckpt" "$out"
		# shellcheck disable=SC2086
		SLURM_RESTART_COUNT=0 launch --local 2:2 "$TRAIN" $mode --rate 0.1 --epochs 1000 --checkpoint "$dir/ckpt"
		wait_until 30 lines 1 '^epoch=2 '
		# As Slurm ends a job that it requeues.
		kill -TERM "$launcher"
		ends 143
		mv "$out" "$dir/before"
		epochs=$(($(grep -c '^epoch=' "$dir/before") + 2))
		# shellcheck disable=SC2086
		SLURM_RESTART_COUNT=1 launch --local 3:1 "$TRAIN" $mode --rate 0.1 --epochs "$epochs" --checkpoint "$dir/ckpt"
		ends 0
		cat "$dir/before" "$out" >"$dir/both"
		mv "$dir/both" "$out"
		epochs "$epochs"
		downward
		# In the middle of an epoch, with exactly what was saved.
		[ "$(grep '^resumed' "$out" | cut -d' ' -f2-)" = "$(grep '^checkpoint' "$out" | tail -n 1 | cut -d' ' -f2-)" ]
	done
}

# bats test_tags=nightly
@test "synchronous training forms anew with each layout, also after a pause, and the loss goes down" {
	follow 1:1 "$TRAIN" --rate 0.1 --epochs 10 --minibatches 8 --chunks 16 --pace 20ms --checkpoint "$dir/ckpt"
	wait_until 30 lines 1 '^epoch=1 '
	change 1 3:2
	wait_until 30 lines 1 '^resumed'
	wait_until 30 lines 1 '^epoch=2 '
	change 0.2 0 0.5 2:1
	ends 0
	epochs 10
	downward
	[ "$(grep -c '^resumed' "$out")" = 2 ]
}

@test "async: what was saved from time to time is good after a hard end" {
	port=$((22000 + RANDOM % 1000))
	export AUCTION_NUM_WORKERS=1 AUCTION_NUM_PS=1 AUCTION_PS_HOSTS=127.0.0.1:$port AUCTION_RANK=0
	work=(--async --epochs 2 --chunks 64 --checkpoint "$dir/ckpt")
	AUCTION_ROLE=ps "$TRAIN" "${work[@]}" --checkpoint-every 100ms >"$out" 2>&1 3>&- &
	ps=$!
	AUCTION_ROLE=worker "$TRAIN" "${work[@]}" --pace 5ms >"$dir/worker" 2>&1 3>&- &
	wait_until 30 test -s "$dir/ckpt"
	sum=$(md5sum <"$dir/ckpt")
	wait_until 30 changed
	kill -KILL $ps
	wait
	launch --local 2:2 "$TRAIN" "${work[@]}"
	ends 0
	epochs 2
	grep -q '^resumed .* epochs=0$' "$out"
}

changed()
{
	[ "$(md5sum <"$dir/ckpt")" != "$sum" ]
}
