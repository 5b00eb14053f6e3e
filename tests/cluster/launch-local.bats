#!/usr/bin/env bats
# slaunch --local and auction-train: everything about launching that needs no cluster.
#
# See lib.bash for what is tested.

# shellcheck source=/dev/null
. "$(dirname "$BATS_TEST_FILENAME")/lib.bash"

setup()
{
	need_launcher
	# Neither the job we may be in, nor tasks of it.
	for v in $(compgen -e | grep -E '^(SLURM|AUCTION|SLAUNCH|DMLC)_'); do unset "$v"; done
	dir=$BATS_TEST_TMPDIR
	# Each role does what its variable says; a marker in the arguments finds what is left of a test.
	cat >"$dir/task" <<-'END'
		#!/bin/bash
		echo "$$" >>"$1.pids"
		case $AUCTION_ROLE in
		worker) eval "${WORKER:-exit 0}" ;;
		ps) eval "${PS:-exit 0}" ;;
		scheduler) eval "${SCHEDULER:-exit 0}" ;;
		esac
	END
	chmod +x "$dir/task"
	task=("$dir/task" "$dir/t")
}

# No process of the test lives: neither a task nor what it has started.
teardown()
{
	[ -f "${dir:-/nonexistent}/t.pids" ] || return 0
	wait_until 30 gone || { echo "left behind: $(cat "$dir/t.pids")"; return 1; }
}

# A zombie lives no more: whoever inherited it reaps it when it likes.
gone()
{
	local pid
	for pid in $(cat "$dir/t.pids"); do
		! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$pid/status" 2>/dev/null || return 1
	done
}

lines_in()
{
	[ "$(cat "$1" 2>/dev/null | wc -l)" -ge "$2" ]
}

value()
{
	# value KEY LINE
	grep -o "\b$1=[^ ]*" <<<"$2" | cut -d= -f2
}

@test "3 workers and 2 PSs train: the loss falls, exit code 0" {
	run -0 --separate-stderr "$SLAUNCH" --local 3:2 "$TRAIN" --epochs 8 --checkpoint "$dir/ckpt"
	[ "$(grep -c '^seen .*role=worker' <<<"$output")" = 3 ]
	[ "$(grep -c '^seen .*role=ps' <<<"$output")" = 2 ]
	[ "$(grep -c '^epoch=' <<<"$output")" = 8 ]
	first=$(value loss "$(grep '^epoch=1 ' <<<"$output")")
	last=$(value loss "$(grep '^epoch=8 ' <<<"$output")")
	final=$(value loss "$(grep '^final ' <<<"$output")")
	echo "first $first last $last final $final"
	# Guessing costs log(4) = 1.386.
	awk -v a="$first" -v b="$last" -v c="$final" 'BEGIN { exit !(b < 0.75 * a && c < 0.9) }'
	[ -z "$stderr" ]
}

@test "synchronous averaging: n workers with batch b equal one with n*b" {
	run -0 "$SLAUNCH" --local 1:1 "$TRAIN" --minibatches 1 --chunks 16 --batch 64 --epochs 5
	one=$(grep '^final ' <<<"$output")
	run -0 "$SLAUNCH" --local 4:3 "$TRAIN" --minibatches 1 --chunks 64 --batch 16 --epochs 5
	four=$(grep '^final ' <<<"$output")
	echo "$one"; echo "$four"
	awk -v a="$(value loss "$one")" -v b="$(value loss "$four")" 'BEGIN { d = a - b; exit !(d < 1e-6 && d > -1e-6) }'
	# That the numbers of workers and the batch do matter otherwise:
	run -0 "$SLAUNCH" --local 2:1 "$TRAIN" --minibatches 1 --chunks 64 --batch 16 --epochs 5
	two=$(grep '^final ' <<<"$output")
	awk -v a="$(value loss "$one")" -v b="$(value loss "$two")" 'BEGIN { d = a - b; exit !(d > 1e-4 || d < -1e-4) }'
}

@test "chunks that do not divide by the workers are all trained on" {
	run -0 "$SLAUNCH" --local 3:1 "$TRAIN" --chunks 4 --epochs 2
	[ "$(grep -c '^epoch=' <<<"$output")" = 2 ]
}

@test "a checkpoint goes on with other numbers of workers and PSs" {
	run -0 "$SLAUNCH" --local 1:1 "$TRAIN" --minibatches 1 --chunks 16 --batch 64 --epochs 6
	whole=$(grep '^final ' <<<"$output")
	run -0 "$SLAUNCH" --local 1:1 "$TRAIN" --minibatches 1 --chunks 16 --batch 64 --epochs 3 --checkpoint "$dir/ckpt"
	run -0 "$SLAUNCH" --local 1:3 "$TRAIN" --minibatches 1 --chunks 16 --batch 64 --epochs 6 --checkpoint "$dir/ckpt"
	grep -q '^resumed file=.* epochs=3$' <<<"$output"
	[ "$(grep -c '^epoch=' <<<"$output")" = 3 ]
	[ "$(grep '^final ' <<<"$output")" = "$whole" ]
	[ ! -e "$dir/ckpt.new" ]
}

@test "a checkpoint of other data is refused" {
	run -0 "$SLAUNCH" --local 1:1 "$TRAIN" --epochs 1 --checkpoint "$dir/ckpt"
	run -1 "$SLAUNCH" --local 1:1 "$TRAIN" --epochs 1 --checkpoint "$dir/ckpt" --seed 9
	grep -q "auction-train: $dir/ckpt: made with --seed=1, not 9" <<<"$output"
}

@test "--pace stretches each mini-batch" {
	start=$(date +%s%N)
	AUCTION_WORKER_TYPE=slow run -0 "$SLAUNCH" --local 1:1 "$TRAIN" --epochs 2 --chunks 2 --minibatches 5 --pace slow=50ms,quick=1ms
	ms=$((($(date +%s%N) - start) / 1000000))
	[ "$ms" -ge 1000 ]
	AUCTION_WORKER_TYPE=quick run -0 "$SLAUNCH" --local 1:1 "$TRAIN" --epochs 2 --chunks 2 --minibatches 5 --pace slow=50s,quick=1ms
}

@test "a failing worker ends all and gives its exit code" {
	WORKER='[ $AUCTION_RANK = 1 ] && exit 7; exec sleep 100' PS='exec sleep 100' \
		run -7 "$SLAUNCH" --local 3:1 --grace 5 "${task[@]}"
	grep -q '^slaunch: worker 1 on localhost exited with code 7$' <<<"$output"
}

@test "a killed worker: 128 + signal" {
	WORKER='[ $AUCTION_RANK = 2 ] && kill -9 $$; exec sleep 100' PS='exec sleep 100' \
		run -137 "$SLAUNCH" --local 3:1 --grace 5 "${task[@]}"
	grep -q '^slaunch: worker 2 on localhost was ended by signal 9 (Killed)$' <<<"$output"
}

@test "a killed worker of a real training" {
	printf '#!/bin/sh\necho $$ >"%s/$AUCTION_ROLE$AUCTION_RANK"; echo $$ >>"%s/t.pids"\nexec "$@"\n' "$dir" "$dir" >"$dir/mark"
	chmod +x "$dir/mark"
	"$SLAUNCH" --local 3:2 --grace 5 "$dir/mark" "$TRAIN" --pace 20ms --epochs 100 >"$dir/out" 2>&1 3>&- &
	launcher=$!
	wait_until 30 grep -q '^epoch=1 ' "$dir/out"
	kill -9 "$(cat "$dir/worker2")"
	wait "$launcher" || code=$?
	cat "$dir/out"
	# A PS that misses the worker may be the first to fail.
	[ "${code:-0}" = 137 ] || { [ "$code" = 1 ] && grep -q '^auction-train: worker 2 went away$' "$dir/out"; }
}

@test "the death of a PS ends all" {
	WORKER='exec sleep 100' PS='[ $AUCTION_RANK = 1 ] && exit 3; exec sleep 100' \
		run -3 "$SLAUNCH" --local 2:2 --grace 5 "${task[@]}"
	grep -q '^slaunch: ps 1 on localhost exited with code 3$' <<<"$output"
}

@test "SIGTERM reaches tasks that are only just starting" {
	SECONDS=0
	for _ in 1 2 3 4 5; do
		WORKER='exec sleep 100' PS='exit 3' run -3 "$SLAUNCH" --local 8:1 --grace 60 "${task[@]}"
	done
	[ $SECONDS -lt 60 ]
}

@test "PSs that stay are ended after the last worker: no failure" {
	WORKER='exit 0' PS='exec sleep 100' run -0 "$SLAUNCH" --local 2:2 --grace 10s "${task[@]}"
	[ -z "$output" ]
}

@test "what ignores SIGTERM is killed after the grace time" {
	WORKER='[ $AUCTION_RANK = 0 ] && exit 4; trap "" TERM; while :; do sleep 0.1; done' \
		run -4 "$SLAUNCH" --local 2 --grace 300ms "${task[@]}"
	WORKER='exit 0' PS='trap "" TERM; while :; do sleep 0.1; done' \
		run -0 "$SLAUNCH" --local 1:1 --grace 300ms "${task[@]}"
}

@test "children of a task do not outlive it" {
	WORKER='sleep 1000 & echo $! >>'"$dir/t.pids"'; exit 0' run -0 "$SLAUNCH" --local 2 "${task[@]}"
}

@test "SIGUSR1 and SIGTERM are passed on; a worker that ends well on SIGTERM ends well" {
	export WORKER='trap "echo usr1 >>'"$dir/usr1"'" USR1; trap "exit 0" TERM; echo up >>'"$dir/up"'; while :; do sleep 0.05; done'
	"$SLAUNCH" --local 2 --grace 5 "${task[@]}" 3>&- &
	launcher=$!
	wait_until 30 lines_in "$dir/up" 2
	kill -USR1 $launcher
	wait_until 30 lines_in "$dir/usr1" 2
	kill -TERM $launcher
	wait $launcher
}

@test "SIGTERM without a trap: 143" {
	export WORKER='echo up >>'"$dir/up"'; exec sleep 100'
	"$SLAUNCH" --local 2 --grace 5 "${task[@]}" 3>&- &
	launcher=$!
	wait_until 30 lines_in "$dir/up" 2
	kill -TERM $launcher
	wait $launcher || code=$?
	[ "${code:-0}" = 143 ]
}

@test "a launcher killed by SIGKILL leaves nothing behind" {
	export WORKER='echo up >>'"$dir/up"'; exec sleep 100' PS='trap "" TERM; echo up >>'"$dir/up"'; while :; do sleep 0.1; done'
	"$SLAUNCH" --local 2:1 --grace 500ms "${task[@]}" 3>&- 2>"$dir/err" &
	launcher=$!
	wait_until 30 lines_in "$dir/up" 3
	kill -KILL $launcher
	wait_until 30 gone
	grep -q '^slaunch: worker 1: the launcher is gone: ending the program$' "$dir/err"
}

@test "a program that does not exist: 127" {
	run -127 "$SLAUNCH" --local 1 "$dir/nosuch"
	grep -q "^slaunch: $dir/nosuch: No such file or directory$" <<<"$output"
}

@test "--label names each line's task, also unfinished and long ones" {
	WORKER='printf "a\nb"; head -c 10000 /dev/zero | tr "\0" x; echo err >&2' PS='echo p' \
		run -0 "$SLAUNCH" --local 1:1 --label "${task[@]}"
	grep -qx 'worker 0: a' <<<"$output"
	grep -qx 'worker 0: err' <<<"$output"
	grep -qx 'ps 0: p' <<<"$output"
	[ "$(grep -c '^worker 0: b\?x*$' <<<"$output")" -ge 3 ]
	[ "$(tr -dc x <<<"$output" | wc -c)" = 10000 ]
}

@test "--label: lines that cannot be written are told of once, and the program goes on" {
	WORKER='for i in 1 2 3; do echo line; sleep 0.1; done; exit 3' run -3 bash -c '"$0" --local 1 --label "$@" 2>&1 > /dev/full' "$SLAUNCH" "${task[@]}"
	[ "$(grep -c '^slaunch: worker 0: output is lost: No space left on device$' <<<"$output")" = 1 ]
}

@test "every framework finds its variables" {
	print='echo "$AUCTION_ROLE $AUCTION_RANK: $DMLC_ROLE $DMLC_NUM_WORKER $DMLC_NUM_SERVER $DMLC_WORKER_ID rank=$RANK/$WORLD_SIZE local=$LOCAL_RANK/$LOCAL_WORLD_SIZE root=$DMLC_PS_ROOT_URI:$DMLC_PS_ROOT_PORT master=$MASTER_ADDR:$MASTER_PORT port=$AUCTION_PORT w=$AUCTION_WORKER_HOSTS p=$AUCTION_PS_HOSTS tf=$TF_CONFIG secret=$SLAUNCH_TOKEN"'
	RANK=99 WORKER=$print PS=$print SCHEDULER=$print run -0 "$SLAUNCH" --local 2:1 --scheduler "${task[@]}"
	w1=$(grep '^worker 1:' <<<"$output") p0=$(grep '^ps 0:' <<<"$output") s=$(grep '^scheduler 0:' <<<"$output")
	echo "$output"
	[[ $w1 == "worker 1: worker 2 1 1 rank=1/2 local=1/2 root=127.0.0.1:"* ]]
	[[ $p0 == "ps 0: server 2 1  rank=/ local=/ root=127.0.0.1:"* ]]
	[[ $s == "scheduler 0: scheduler 2 1  rank=/ local=/ root=127.0.0.1:$(value port "$s") "* ]]
	[[ $w1 == *" root=127.0.0.1:$(value port "$s") "* ]]
	hosts=$(value w "$p0")
	[ "$(value w "$w1")" = "$hosts" ]
	[ "${hosts#*,}" = "127.0.0.1:$(value port "$w1")" ]
	[ "${hosts%,*}" = "$(value master "$p0")" ]
	[ "$(value p "$w1")" = "127.0.0.1:$(value port "$p0")" ]
	[[ $w1 == *" tf={\"cluster\":{\"worker\":[\"${hosts%,*}\",\"${hosts#*,}\"],\"ps\":[\"$(value p "$w1")\"]},\"task\":{\"type\":\"worker\",\"index\":1}} secret=" ]]
	[[ $s == *" tf= secret=" ]]
}

@test "many tasks report at once" {
	run -0 "$SLAUNCH" --local 200:20 --scheduler true
	[ -z "$output" ]
	# More than the soft limit of open files; the tasks keep it.
	ulimit -Sn 100
	WORKER='ulimit -Sn' run -0 "$SLAUNCH" --local 60 "${task[@]}"
	[ "$(sort -u <<<"$output")" = 100 ]
}

@test "all ports of a group differ" {
	WORKER='echo $AUCTION_PORT' PS='echo $AUCTION_PORT' run -0 "$SLAUNCH" --local 10:10 "${task[@]}"
	[ "$(sort -u <<<"$output" | wc -l)" = 20 ]
}

@test "DMLC variables alone are enough for auction-train" {
	port=$((21000 + RANDOM % 1000))
	common=(DMLC_NUM_WORKER=1 DMLC_NUM_SERVER=1 DMLC_PS_ROOT_URI=127.0.0.1 DMLC_PS_ROOT_PORT=$port)
	env "${common[@]}" DMLC_ROLE=server "$TRAIN" >"$dir/ps" 3>&- &
	ps=$!
	run -0 env "${common[@]}" DMLC_ROLE=worker DMLC_WORKER_ID=0 "$TRAIN" --epochs 2
	wait $ps
	grep -q '^final epochs=2 ' <<<"$output"
}

@test "a PS does not fall for strangers" {
	port=$((21000 + RANDOM % 1000))
	token=0123456789abcdef0123456789abcdef
	common=(AUCTION_NUM_WORKERS=1 AUCTION_NUM_PS=1 AUCTION_PS_HOSTS=127.0.0.1:$port AUCTION_RANK=0)
	env "${common[@]}" AUCTION_TOKEN=$token AUCTION_ROLE=ps "$TRAIN" >"$dir/ps" 2>&1 3>&- &
	ps=$!
	wait_until 30 bash -c "exec 9<>/dev/tcp/127.0.0.1/$port" 2>/dev/null
	# Noise, an enormous message, silence, a worker with another token.
	head -c 3000 /dev/urandom >"/dev/tcp/127.0.0.1/$port" 2>/dev/null || true
	printf 'AUTR\001\000\000\000%8s%8s\377\377\377\377\377\377\377\377' >"/dev/tcp/127.0.0.1/$port" 2>/dev/null || true
	for fd in $(seq 20 29); do eval "exec $fd<>/dev/tcp/127.0.0.1/$port"; done
	run -1 env "${common[@]}" AUCTION_TOKEN=${token//0/1} AUCTION_ROLE=worker "$TRAIN" --epochs 2
	grep -q 'auction-train: PS 0 went away' <<<"$output"
	kill -0 $ps
	run -0 env "${common[@]}" AUCTION_TOKEN=$token AUCTION_ROLE=worker "$TRAIN" --epochs 2
	for fd in $(seq 20 29); do eval "exec $fd>&-"; done
	wait $ps
}

@test "bad options are named" {
	run -1 "$SLAUNCH" --local 1
	[ "$output" = "slaunch: no program given: slaunch [OPTIONS] PROGRAM [ARGUMENTS]" ]
	run -1 "$SLAUNCH" --local 0:1 true
	[ "$output" = "slaunch: --local=0:1: expected WORKERS[:PS], 1 to 256 workers and at most 256 PSs" ]
	run -1 "$SLAUNCH" --local 1 --wait=soon true
	[[ $output == "slaunch: --wait"*"'soon'"* ]]
	run -2 "$SLAUNCH" --nonsense true
	run -1 "$SLAUNCH" --task=worker:0 true
	[ "$output" = "slaunch: --task is for slaunch itself: SLAUNCH_TOKEN is not set" ]
	run -1 "$TRAIN" --epochs 0
	[[ $output == "auction-train: --epochs"*"0"* ]]
	run -1 "$TRAIN" extra
	[ "$output" = "auction-train: 'extra': no arguments expected" ]
	run -1 "$TRAIN"
	[[ $output == *"start this program with slaunch"* ]]
}

@test "outside a job slaunch says what to do" {
	run -1 "$SLAUNCH" true
	[[ $output == "slaunch: not in a job (SLURM_JOB_ID is not set): submit a script with sbatch --bid"*"--local WORKERS:PS" ]]
}

@test "help and version" {
	run -0 "$SLAUNCH" --help
	[[ $output == "Usage: slaunch "* ]]
	run -0 "$SLAUNCH" -V
	[[ $output == "slurm-auction "* ]]
	run -0 "$TRAIN" --help
	[[ $output == "Usage: slaunch "* ]]
}

@test "--dry-run starts nothing" {
	run -0 "$SLAUNCH" --local 1:1 --dry-run "${task[@]}" 'a b'
	[ "$(wc -l <<<"$output")" = 2 ]
	[[ $output == *"--task=worker:0 -- $dir/task $dir/t 'a b'" ]]
	[ ! -e "$dir/t.pids" ]
}
