#!/usr/bin/env bats
# slaunch in groups whose layout changes, on a real cluster, without the plugins: the tests do what the controller would, as root: new
# receipts, signals, members that come and go, a lead that is moved.

# shellcheck source=/dev/null
. "$(dirname "$BATS_TEST_FILENAME")/lib.bash"
# shellcheck source=/dev/null
. "$(dirname "$BATS_TEST_FILENAME")/group.bash"

setup_file()
{
	need_launcher
	cluster_start
}

teardown_file()
{
	cluster_stop
}

# member NODE WORKERS: a new member of the lead, held; sets members[NODE].
member()
{
	printf '#!/bin/sh\nexec sleep 1000000\n' >"$dir/placeholder"
	members[$1]=$(part "member-$1" "$1" $((2 * $2)) "v100:$2" $((200 * $2)) "$dir/placeholder")
	comment "${members[$1]}" "{\"auction\":1,\"sale\":\"00000000000000ab-1\",\"state\":\"member\",\"lead\":$lead}"
}

# plan "FROM TO NODE:PS:WORKERS..." ...: writes the lead's receipt, in slots of a second; all runs that are over are left out.
plan()
{
	local runs=() run from to specs spec node ps w workers pss first= last=

	for run in "$@"; do
		read -r from to specs <<<"$run"
		workers='' pss=''
		for spec in $specs; do
			IFS=: read -r node ps w <<<"$spec"
			[ "$w" = 0 ] || workers+=",\"$node\":$w"
			[ "$ps" = 0 ] || pss+=",\"$node\":$ps"
		done
		runs+=("{\"from\":$from,\"to\":$to,\"workers\":{${workers#,}},\"ps\":{${pss#,}}}")
		first=${first:-$from} last=$to
	done
	comment "$lead" "$(printf '{"auction":1,"sale":"00000000000000ab-1","state":"running","policy":"oasis","payment":"1.000000","value":"2.000000","slot_seconds":1,"worker_type":"v100","ps_type":"ps.m","colocated":false,"arrival":%d,"start":%d,"completion":%d,"plan":[%s],"worker_tres":{"cpu":2,"mem":200,"gpu:v100":1},"ps_tres":{"cpu":1,"mem":100},"bid":"bid=2"}' \
		"$first" "$first" $((last + 1)) "$(IFS=,; echo "${runs[*]}")")"
}

# new_group SCRIPT NODE WORKERS: a held lead with a PS and so many workers.
new_group()
{
	unset members
	declare -gA members=()
	printf '#!/bin/sh\n%s\n' "$1" >"$dir/script"
	lead=$(part lead "$2" $((1 + 2 * $3)) "v100:$3" $((100 + 200 * $3)) "$dir/script")
}

now()
{
	date +%s
}

past()
{
	[ "$(now)" -gt "$1" ]
}

# What the controller does of a change: the steps of the lead hear of it.
announce()
{
	timeout 20 scancel --signal=USR1 "$lead"
}

# As the controller ends a member that leaves.
end_member()
{
	timeout 20 scancel --signal=TERM "$1"
	timeout 20 scancel "$1"
}

lines()
{
	[ "$(grep -cE "$2" "$dir/lead.out")" -ge "$1" ]
}

# The loss of whole epochs ends well below where it began, and is nowhere above the least so far, but for noise.
downward()
{
	grep '^epoch=' "$dir/lead.out" | grep -o '\bloss=[^ ]*' | cut -d= -f2 |
		awk 'NR > 1 && $1 > min * 1.02 {print "loss rose from " min " to " $1; bad = 1}
			NR == 1 {first = $1}
			{last = $1; min = NR == 1 || $1 < min ? $1 : min}
			END {exit bad || NR < 2 || last > first * 0.97}'
}

seen_is()
{
	[ "$(seen "$1" "$2" "$3")" = "$4" ]
}

# How often slaunch has told of a change, or made one that it had no time to tell of.
changes()
{
	grep -cE '^slaunch: the layout changes (in|to)' "$dir/lead.out" || true
}

# Times until something changes are long enough for a machine that stalls for some seconds meanwhile.
@test "elastic: a node joins, its count changes, it leaves and is killed hard; the PS moves, with the same job" {
	local t1 t2 t3 t4 end

	end=$(($(now) + 600))
	# After the move it has an epoch to go.
	new_group "epochs=1000; [ \"\$SLURM_RESTART_COUNT\" != 1 ] || epochs=\$((\$(grep -c ^epoch= $dir/lead.out) + 2))
$SLAUNCH -v --elastic --wait 60 --notice 3s --grace 5s $TRAIN --async --rate 0.1 --chunks 16 --minibatches 8 --epochs \$epochs --pace 5ms --checkpoint $dir/ckpt" edge1 1
	plan "$(now) $end edge1:1:1"
	start "$lead"
	wait_until 30 lines 1 '^epoch=1 '

	# It comes in some seconds, and has two workers some seconds later; only the first is announced.
	t1=$(($(now) + 7)) t2=$(($(now) + 16))
	member edge2 1
	old=${members[edge2]}
	plan "$(now) $((t1 - 1)) edge1:1:1" "$t1 $((t2 - 1)) edge1:1:1 edge2:0:1" "$t2 $end edge1:1:1 edge2:0:2"
	announce
	wait_until 30 lines 1 '^slaunch: a change is announced: looking at the plan$'
	wait_until 30 lines 1 '^checkpoint '
	start "$old"
	wait_until 30 lines 1 '^joined worker=1 workers=2$'
	wait_until 30 seen_is edge2 worker "job=$old " 1
	before=$(changes)
	member edge2 2
	wait_until 30 lines $((before + 1)) '^slaunch: the layout changes (in|to)'
	end_member "$old"
	start "${members[edge2]}"
	wait_until 30 lines 1 '^joined worker=[23] workers=3$'
	wait_until 30 seen_is edge2 worker "job=${members[edge2]} " 2

	# It leaves, and is given no time for it.
	t3=$(($(now) + 7))
	plan "$(now) $((t3 - 1)) edge1:1:1 edge2:0:2" "$t3 $end edge1:1:1"
	checkpoints=$(grep -c '^checkpoint' "$dir/lead.out")
	announce
	wait_until 30 lines $((checkpoints + 1)) '^checkpoint '
	timeout 20 scancel --signal=KILL "${members[edge2]}"
	timeout 20 scancel "${members[edge2]}"
	wait_until 30 lines 1 '^left worker=[123] workers=1$'
	job_is "$lead" RUNNING
	wait_until 30 past "$t3"
	# The PS has been there all the time, and nobody has failed.
	[ "$(seen edge1 ps)" = 1 ]
	! grep -q '^slaunch: .*\(exited\|ended\|lost\|did not\)' "$dir/lead.out" || false

	t4=$(($(now) + 7))
	plan "$(now) $((t4 - 1)) edge1:1:1" "$t4 $end edge3:1:1"
	checkpoints=$(grep -c '^checkpoint' "$dir/lead.out")
	announce
	wait_until 30 lines $((checkpoints + 1)) '^checkpoint '
	timeout 20 scontrol update jobid="$lead" requeue=1
	timeout 20 scontrol requeue "$lead"
	wait_until 30 moved edge3
	[ "$(result)" = 0 ]
	[ "$(seen edge3 ps "job=$lead ")" = 1 ]
	[ "$(seen edge3 worker "job=$lead ")" = 1 ]
	downward
	# Every epoch once, and after the move from where it was.
	[ "$(grep -o '^epoch=[0-9]*' "$dir/lead.out" | cut -d= -f2 | xargs)" = "$(seq "$(grep -c ^epoch= "$dir/lead.out")" | xargs)" ]
	[ "$(grep '^resumed' "$dir/lead.out" | cut -d' ' -f2-)" = "$(grep '^checkpoint' "$dir/lead.out" | tail -n 1 | cut -d' ' -f2-)" ]
}

# The requeued lead takes the node, and starts.
moved()
{
	timeout 20 scontrol update jobid="$lead" ReqNodeList="$1" StartTime=now || true
	job_is "$lead" RUNNING && [ "$(job_field "$lead" NodeList)" = "$1" ]
}

@test "not elastic: stopped and started again, also where a member is ended before its time; a pause" {
	local t1 t2 end

	end=$(($(now) + 600))
	# After the change it has an epoch to go.
	printf '#!/bin/sh\nepochs=1000\n[ "$AUCTION_RESTARTS" = 0 ] || epochs=$(($(grep -c ^epoch= %s/lead.out) + 2))\nexec %s --rate 0.1 --chunks 16 --minibatches 8 --epochs $epochs --pace 10ms --checkpoint %s/ckpt\n' "$dir" "$TRAIN" "$dir" >"$dir/task"
	chmod +x "$dir/task"
	new_group "$SLAUNCH -v --wait 60 --notice 4s --grace 5s $dir/task" edge1 1
	member edge2 1
	t1=$(($(now) + 12)) t2=$(($(now) + 14))
	plan "$(now) $((t1 - 1)) edge1:1:1 edge2:0:1" "$t2 $end edge1:1:1"
	start "$lead" "${members[@]}"
	# By the clock alone.
	wait_until 30 lines 1 '^slaunch: the layout changes in'
	end_member "${members[edge2]}"
	wait_until 30 lines 1 '^resumed '
	past "$((t2 - 1))"
	[ "$(result)" = 0 ]
	[ "$(seen edge1 worker)" = 2 ]
	! grep -q '^slaunch: .*\(exited\|lost\|did not\)' "$dir/lead.out" || false
	downward
}

@test "a worker that was not told to leave ends the launch with its code" {
	printf '#!/bin/sh\n[ "$AUCTION_ROLE$AUCTION_ID" = worker1 ] && exit 7\nexec sleep 500\n' >"$dir/task"
	chmod +x "$dir/task"
	local t1 end=$(($(now) + 600))

	new_group "$SLAUNCH --elastic --notice 1s --wait 60 --grace 5s $dir/task" edge1 1
	member edge2 1
	t1=$(($(now) + 3))
	plan "$(now) $((t1 - 1)) edge1:1:1" "$t1 $end edge1:1:1 edge2:0:1"
	start "$lead" "${members[@]}"
	[ "$(result)" = 7 ]
	grep -qx "slaunch: worker 1 on edge2 exited with code 7" "$dir/lead.out"
}
