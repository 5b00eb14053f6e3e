# One sale after the other, from the bid to the settlement, on a real cluster.

load lib
load plugins

slot=5

setup_file()
{
	auction_start
}

@test "a co-located job runs on the node, GPU and slots of its receipt" {
	job=$(submit alice $(small_bid 100 4) -o co.txt \
		--wrap 'echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES $(date +%s) $SLURM_AUCTION_SALE ${SLURM_AUCTION_BID-none}; sleep 8')
	wait_until 30 receipt_state_is "$job" sold
	start=$(plan_start "$job") end=$(plan_end "$job")
	[ $((end - start)) = 20 ]
	# The accounting shows the payment before the job has begun, at least before it has ended.
	wait_until 30 database_receipt_is "$job" .payment "$(receipt_get "$job" .payment)"
	wait_until 30 job_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	node=$(receipt_get "$job" '.plan[0].workers | keys[0]')
	[ "$(job_field "$job" NodeList)" = "$node" ]
	[ "$(job_field "$job" NumCPUs)" = 3 ]
	began_in_time "$job" "$start"
	wait_until 30 job_is "$job" COMPLETED
	read -r ran_on gpu at sale bid < "$SANDBOX_DIR/home/alice/co.txt"
	[ "$ran_on" = "$node" ]
	[ "$gpu" = 0 ]
	[ "$at" -ge "$start" ]
	[ "$at" -le $((start + late)) ]
	[ "$sale" = "$(receipt_get "$job" .sale)" ]
	# What a submission inside the job would otherwise take for its own bid.
	[ "$bid" = none ]
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

@test "sbatch in a sold job submits an ordinary job, or bids what it says itself" {
	cat > "$SANDBOX_DIR/home/alice/outer.sh" <<-END
		#!/bin/bash
		sbatch --parsable -p main -o plain.txt --wrap 'env | grep -c ^SLURM_AUCTION_'
		sbatch --parsable $(small_bid 90 1) -o inner.txt --wrap 'env | grep ^SLURM_AUCTION_SALE='
	END
	job=$(submit alice $(small_bid 100 2) --upload=${slot}s -o outer.txt outer.sh)
	wait_until 40 job_is "$job" COMPLETED
	cat "$SANDBOX_DIR/home/alice/outer.txt" >&2
	inner=($(grep -E '^[0-9]+$' "$SANDBOX_DIR/home/alice/outer.txt"))
	wait_until 30 job_is "${inner[0]}" FAILED
	[ "$(cat "$SANDBOX_DIR/home/alice/plain.txt")" = 0 ]
	[ -z "$(receipt "${inner[0]}")" ]
	[[ $(spool_get "$job" .bid) == "bid=100 "*upload* ]]
	[[ $(spool_get "${inner[1]}" .bid) == "bid=90 "* ]]
	[[ $(spool_get "${inner[1]}" .bid) != *upload* ]]
	wait_until 60 settled "${inner[1]}"
	[ "$(cat "$SANDBOX_DIR/home/alice/inner.txt")" = "SLURM_AUCTION_SALE=$(database_receipt "${inner[1]}" .sale)" ]
}

@test "a distributed job gets exact members, which start with it and end with it" {
	job=$(submit alice $(wide_bid 1000) -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$job" sold
	nodes=$(receipt_get "$job" '.plan[0] | (.workers * .ps) | keys | length')
	[ "$nodes" -ge 2 ]
	wait_until 30 member_count_is "$job" $((nodes - 1))
	start=$(plan_start "$job") end=$(plan_end "$job")
	wait_until 30 group_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	ps_node=$(receipt_get "$job" '.plan[0].ps | keys[0]')
	[ "$(job_field "$job" NodeList)" = "$ps_node" ]
	workers=0
	for one in $(group_jobs "$job"); do
		node=$(job_field "$one" NodeList)
		w=$(receipt_get "$job" ".plan[0].workers[\"$node\"] // 0")
		p=$(receipt_get "$job" ".plan[0].ps[\"$node\"] // 0")
		[ "$(job_field "$one" NumCPUs)" = $((2 * w + p)) ]
		[ "$(job_field "$one" MinMemoryNode)" = "$((500 * w + 200 * p))M" ]
		grep -q "gres/gpu=$w" <<< "$(job_tres "$one")"
		[ "$(job_field "$one" UserId)" = 'alice(2001)' ]
		began_in_time "$one" "$start"
		workers=$((workers + w))
	done
	[ "$workers" = 8 ]
	group=$(group_jobs "$job")
	wait_until 40 job_ended "$job"
	for one in $group; do
		wait_until 30 job_ended "$one"
		ended_in_time "$one" "$end"
	done
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = timeout ]
	[ "$(database_receipt "$job" .payment)" = "$(receipt_get "$job" .payment)" ]
}

@test "a job that ends early takes its members with it" {
	job=$(submit bob $(wide_bid 1000) -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$job" sold
	wait_until 30 eval '[ -n "$(members '"$job"')" ]'
	group=$(group_jobs "$job")
	wait_until 30 job_is "$job" COMPLETED
	for one in $group; do
		wait_until 30 job_ended "$one"
	done
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

@test "a job that ignores SIGTERM is ended before its plan's end" {
	job=$(submit bob $(small_bid 100 1) -o /dev/null --wrap 'trap "" TERM; while :; do sleep 1; done')
	end=$(plan_end "$job")
	wait_until 30 job_ended "$job"
	ended_in_time "$job" "$end"
	# Its node is free for the next one when the slot begins.
	node=$(job_field "$job" NodeList)
	wait_until $((end + late - EPOCHSECONDS)) eval '! scontrol show node '"$node"' | grep -q COMPLETING'
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = timeout ]
}

@test "cancelled before its slot: everything is paid back" {
	job=$(submit carol $(wide_bid 1000) -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$job" sold
	wait_until 30 eval '[ -n "$(members '"$job"')" ]'
	group=$(group_jobs "$job")
	as carol scancel "$job"
	for one in $group; do
		wait_until 30 job_ended "$one"
	done
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = cancelled ]
	[ "$(database_receipt "$job" .payment)" = 0.000000 ]
}

@test "cancelled while it runs: it has paid" {
	# Every node with its kind of GPU has sold something in the same slots, so that there is a price.
	others=
	for i in 1 2 3; do
		others+=" $(submit bob --bid=linear:1000,100 $(small_bid 1 4 | cut -d' ' -f2-) -o /dev/null --wrap 'sleep 60')"
	done
	job=$(submit carol --bid=linear:1000,100 $(small_bid 1 4 | cut -d' ' -f2-) -o /dev/null --wrap 'sleep 60')
	wait_until 30 job_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	payment=$(receipt_get "$job" .payment)
	[ "$(micro "$payment")" -gt 0 ]
	as carol scancel "$job"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = cancelled ]
	[ "$(database_receipt "$job" .payment)" = "$payment" ]
	as bob scancel $others
}

@test "a job that fails has paid" {
	job=$(submit alice $(small_bid 100 3) -o /dev/null --wrap 'exit 3')
	wait_until 30 job_is "$job" FAILED
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = failed ]
}

@test "an owner who cancels a member ends the job and has paid" {
	job=$(submit alice $(wide_bid 1000) -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$job" sold
	wait_until 30 group_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	member=$(members "$job" | head -n 1)
	as alice scancel "$member"
	wait_until 30 job_ended "$job"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = cancelled ]
	[ "$(database_receipt "$job" .refund)" = 0.000000 ]
}

@test "jobs that compete pay, and the accounts agree to the last micro-credit" {
	jobs=
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		job=$(submit alice --bid=linear:$((200 + i)),20 $(small_bid 1 2 | cut -d' ' -f2-) -o /dev/null --wrap 'sleep 2') || continue
		jobs+=" $job"
	done
	[ "$(wc -w <<< "$jobs")" -ge 10 ]
	paying=0
	for job in $jobs; do
		wait_until 60 settled "$job"
		payment=$(database_receipt "$job" .payment)
		[ "$(micro "$payment")" -le "$(micro "$(spool_get "$job" .value)")" ]
		[ "$(micro "$payment")" = 0 ] || paying=$((paying + 1))
	done
	[ "$paying" -ge 3 ]
	fresh_status
	wait_until 60 status_is .totals.live 0
	wait_until 30 status_is .agent.final_receipts_waiting 0
	sum=0
	for payment in $(sacct -nPXaD -S now-1day -o AdminComment | grep '^{"auction":1' | jq -r 'select(.state != "member") | .payment'); do
		sum=$((sum + $(micro "$payment")))
	done
	[ "$sum" = "$(micro "$(status .totals.settled_revenue)")" ]
	[ "$sum" = "$(micro "$(status .totals.revenue)")" ]
	[ "$sum" -gt 0 ]
}

@test "other jobs are scheduled as ever" {
	job=$(submit alice -p main -w node2 -o /dev/null --wrap true)
	wait_until 30 job_is "$job" COMPLETED
	run -0 sdiag
	grep -q 'Backfilling stats' <<< "$output"
	log_has 'other jobs are scheduled by .*/sched_backfill.so'
}
