#!/usr/bin/env bats
# The whole way: a bid is sold, and one line of its script trains on exactly the nodes, GPUs and slots of the receipt.

load lib
load plugins

slot=5

setup_file()
{
	need_plugins
	need_launcher
	cluster_start $(plugin_options) --slot-seconds 5
	wait_until 30 auction_open
}

setup()
{
	need_launcher
	home=$SANDBOX_DIR/home/alice
}

# seen OUTPUT KEY=VALUE...: the lines "seen" that have all of these.
seen()
{
	local out=$1 word lines

	shift
	lines=$(grep '^seen ' "$out")
	for word; do
		lines=$(grep " $word\( \|$\)" <<< "$lines")
	done
	[ -z "$lines" ] || echo "$lines"
}

count()
{
	[ -z "$1" ] && echo 0 || wc -l <<< "$1"
}

# What the tasks of lead JOB saw of themselves (OUTPUT) is what its receipt says, no more and no less.
seen_is_sold()
{
	local job=$1 out=$2 receipt node one lines n total=0 at

	receipt=$(receipt "$job")
	for node in $(jq -r '.plan[0] | (.workers * .ps) | keys[]' <<< "$receipt"); do
		one=
		for n in $(group_jobs "$job"); do
			[ "$(job_field "$n" NodeList)" != "$node" ] || one=$n
		done
		lines=$(seen "$out" "node=$node" role=worker "job=$one")
		n=$(jq -r ".plan[0].workers[\"$node\"] // 0" <<< "$receipt")
		echo "$node (job $one): $n workers bought, seen: $(count "$lines")" >&2
		[ "$(count "$lines")" = "$n" ] || return 1
		# Each its own GPU.
		[ "$n" = 0 ] || [ "$(grep -o 'gpus=[0-9]* ' <<< "$lines" | sort -u | wc -l)" = "$n" ] || return 1
		total=$((total + n))
		lines=$(seen "$out" "node=$node" role=ps "job=$one" gpus=none)
		n=$(jq -r ".plan[0].ps[\"$node\"] // 0" <<< "$receipt")
		[ "$(count "$lines")" = "$n" ] || return 1
		total=$((total + n))
	done
	[ "$(grep -c '^seen ' "$out")" = "$total" ] || return 1
	[ "$(count "$(seen "$out" role=worker "type=$(jq -r .worker_type <<< "$receipt")")")" = \
		"$(jq '[.plan[0].workers[]] | add' <<< "$receipt")" ] || return 1
	for at in $(grep -o '^seen .*time=[0-9]*' "$out" | sed 's/.*time=//'); do
		[ "$at" -ge "$(plan_start "$job")" ] && [ "$at" -lt "$(plan_end "$job")" ] || return 1
	done
}

@test "co-located: one line trains on what was bought" {
	job=$(submit alice $(small_bid 100 5) -o co.txt --wrap "$SLAUNCH $TRAIN --epochs 1 --chunks 1 --minibatches 15 --pace v100=400ms")
	wait_until 30 job_is "$job" COMPLETED
	cat "$home/co.txt"
	grep -q '^final epochs=1 ' "$home/co.txt"
	seen_is_sold "$job" "$home/co.txt"
	# It took the time of its mini-batches, and its steps are in the accounting.
	[ "$(sed -n 's/^epoch=1 .*seconds=\([0-9]*\).*/\1/p' "$home/co.txt")" -ge 6 ]
	wait_until 30 steps_completed "$job"
}

steps_completed()
{
	[ "$(timeout 20 sacct -nP -j "$1" -o JobName,State | grep -v batch | tail -n +2 | sort | xargs)" = 'ps|COMPLETED worker|COMPLETED' ]
}

@test "distributed: eight workers and their PSs on several nodes" {
	job=$(submit alice $(wide_bid 1000) -o wide.txt --wrap "$SLAUNCH -v $TRAIN --epochs 1 --chunks 8 --minibatches 20 --pace v100=100ms; echo code \$?; exec sleep 60")
	wait_until 60 grep -q '^code ' "$home/wide.txt"
	cat "$home/wide.txt"
	grep -qx 'code 0' "$home/wide.txt"
	seen_is_sold "$job" "$home/wide.txt"
	[ "$(grep -c '^seen .*role=worker' "$home/wide.txt")" = 8 ]
	grep -q '^final epochs=1 ' "$home/wide.txt"
	timeout 20 scancel "$job"
	wait_until 30 no_jobs
}

no_jobs()
{
	[ -z "$(timeout 20 squeue -ho %A)" ]
}

# bats test_tags=nightly
@test "a failing worker's exit code is the job's, and the sale is settled" {
	printf '#!/bin/sh\n[ $AUCTION_ROLE = ps ] && exec sleep 100\nexit 9\n' > "$home/fail"
	chmod +x "$home/fail"
	job=$(submit alice $(small_bid 100 4) -o fail.txt --wrap "$SLAUNCH --grace 10 ./fail")
	wait_until 30 job_is "$job" FAILED
	[ "$(job_field "$job" ExitCode)" = 9:0 ]
	grep -q '^slaunch: worker 0 on .* exited with code 9$' "$home/fail.txt"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = failed ]
}

# bats test_tags=nightly
@test "several sales train side by side" {
	jobs=()
	for i in 1 2 3 4; do
		jobs+=("$(submit alice $(small_bid 200 5) -o "side$i.txt" --wrap "$SLAUNCH $TRAIN --epochs 2 --chunks 1 --minibatches 10 --pace v100=200ms")")
	done
	for i in 1 2 3 4; do
		wait_until 60 job_is "${jobs[i - 1]}" COMPLETED
		cat "$home/side$i.txt"
		seen_is_sold "${jobs[i - 1]}" "$home/side$i.txt"
	done
}
