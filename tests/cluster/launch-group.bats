#!/usr/bin/env bats
# slaunch in the jobs of a group on a real cluster, without the plugins: the tests write the receipts by hand, as root, so that each kind
# of group can be had at will.

# shellcheck source=/dev/null
. "$(dirname "$BATS_TEST_FILENAME")/lib.bash"
# shellcheck source=/dev/null
. "$(dirname "$BATS_TEST_FILENAME")/group.bash"

setup_file()
{
	need_launcher
	cluster_start
	export sleeper=$((1000000 + RANDOM)) # seconds, like no other process's
}

teardown_file()
{
	cluster_stop
}

@test "co-located: one PS and two workers in the lead's own allocation" {
	group "$SLAUNCH --wait 60 $TRAIN --epochs 3" "edge1:1:2"
	start "$lead"
	[ "$(result)" = 0 ]
	[ "$(seen edge1 ps "gpus=none job=$lead ")" = 1 ]
	[ "$(seen edge1 worker "type=v100 .* job=$lead ")" = 2 ]
	# One GPU each, not the same one.
	[ "$(grep -o '^seen .*role=worker.*' "$dir/lead.out" | grep -o 'gpus=[^ ]*' | sort -u | wc -l)" = 2 ]
	grep -q '^final epochs=3 ' "$dir/lead.out"
	# No noise: what is in the file is the program's.
	! grep -q 'srun:\|slaunch:\|slurmstepd:' "$dir/lead.out" || false
	# The steps carry the names of their roles.
	wait_until 30 steps_are "$lead" "ps:COMPLETED worker:COMPLETED"
}

none_sleeps()
{
	! pgrep -f "sleep $sleeper" || false
}

steps_are()
{
	[ "$(timeout 20 sacct -nPX -S now-1day --steps -j "$1" -o JobName,State 2>/dev/null; timeout 20 sacct -nP -S now-1day -j "$1" -o JobID,JobName,State | grep '\.[0-9]' | cut -d'|' -f2,3 | tr '|' : | sort | xargs)" = "$2" ]
}

@test "distributed: workers on three nodes, PSs with the lead" {
	group "$SLAUNCH --wait 60 --label $TRAIN --epochs 3 --chunks 12" "edge1:2:1 edge2:0:2 edge3:0:3"
	start "$lead" "${members[@]}"
	[ "$(result)" = 0 ]
	sed -i 's/^[a-z]* [0-9]*: //' "$dir/lead.out"
	[ "$(seen edge1 ps "gpus=none job=$lead ")" = 2 ]
	[ "$(seen edge1 worker "gpus=0 job=$lead ")" = 1 ]
	[ "$(seen edge2 worker "job=${members[edge2]} ")" = 2 ]
	[ "$(seen edge3 worker "job=${members[edge3]} ")" = 3 ]
	# Ranks 0 to 5, each once; each GPU of a node once.
	[ "$(grep -o 'role=worker rank=[0-9]*' "$dir/lead.out" | sort | cut -d= -f3 | xargs)" = "0 1 2 3 4 5" ]
	[ "$(grep '^seen node=edge3 role=worker' "$dir/lead.out" | grep -o 'gpus=[^ ]*' | sort | xargs)" = "gpus=0 gpus=1 gpus=2" ]
	grep -q '^final epochs=3 ' "$dir/lead.out"
	# The members stay: whoever started them ends them.
	job_is "${members[edge2]}" RUNNING
}

@test "PSs on a node of their own, without GPU" {
	group "$SLAUNCH --wait 60 $TRAIN --epochs 2" "edge4:1:0 edge1:0:2"
	start "$lead" "${members[@]}"
	[ "$(result)" = 0 ]
	[ "$(seen edge4 ps "gpus=none")" = 1 ]
	[ "$(seen edge1 worker)" = 2 ]
}

@test "members that start later are waited for" {
	group "$SLAUNCH -v --wait 60 $TRAIN --epochs 2" "edge1:1:1 edge2:0:1"
	start "$lead"
	wait_until 30 grep -q "^slaunch: waiting for the group: edge2 (job ${members[edge2]} is PENDING)$" "$dir/lead.out"
	start "${members[edge2]}"
	[ "$(result)" = 0 ]
	[ "$(seen edge2 worker)" = 1 ]
}

@test "a change that is announced while the group is waited for ends nothing" {
	group "echo pid \$\$; exec $SLAUNCH -v --wait 60 $TRAIN --epochs 2" "edge1:1:1 edge2:0:1"
	start "$lead"
	wait_until 30 grep -q '^slaunch: waiting for the group: edge2 ' "$dir/lead.out"
	timeout 20 scancel --batch --signal=USR1 "$lead"
	wait_until 30 signal_is_there "$(sed -n 's/^pid //p' "$dir/lead.out")"
	start "${members[edge2]}"
	[ "$(result)" = 0 ]
	[ "$(seen edge2 worker)" = 1 ]
	grep -qx 'slaunch: a change is announced: looking at the plan' "$dir/lead.out"
}

# True when process $1 has SIGUSR1, and has not looked at it.
signal_is_there()
{
	grep -qE '^(SigPnd|ShdPnd):.*[2367abef]..$' "/proc/$1/status"
}

# Lines of the lead's output: told_is COUNT SIGNAL, from each of the four tasks.
told_is()
{
	[ "$(grep -c "^told $2 on " "$dir/lead.out")" = $((4 * $1)) ] && [ "$(grep "^told $2 on " "$dir/lead.out" | sort | uniq -c | awk '{print $1}' | sort -u)" = "$1" ]
}

# bats test_tags=nightly
@test "scancel -s and --signal reach the tasks on all nodes, once" {
	# In perl, as a shell cannot trap what it found ignored: the signal that may announce a change.
	cat > "$dir/told.pl" <<-'END'
		$| = 1;
		my $me = "$ENV{SLURM_STEP_NODELIST} $ENV{AUCTION_ROLE} $ENV{AUCTION_RANK}";
		for my $sig (qw(USR1 USR2 URG)) { $SIG{$sig} = sub { print "told $sig on $me\n" } }
		print "trains $me\n";
		select undef, undef, undef, 0.1 until -e "$0.end";
	END
	group "#SBATCH --time=1 --signal=USR2@58
exec $SLAUNCH --wait 60 perl $dir/told.pl" "edge1:1:1 edge2:0:1 edge3:0:1"
	start "$lead" "${members[@]}"
	wait_until 60 eval '[ "$(grep -c trains "$dir/lead.out")" = 4 ]'
	timeout 20 scancel --signal=URG "$lead"
	wait_until 10 told_is 1 URG
	# This one may announce a change as well; there is none.
	timeout 20 scancel --signal=USR1 "$lead"
	wait_until 10 told_is 1 USR1
	# Slurm looks at limits twice a minute.
	wait_until 60 told_is 1 USR2
	touch "$dir/told.pl.end"
	[ "$(result)" = 0 ]
	told_is 1 URG && told_is 1 USR1 && told_is 1 USR2
}

@test "--wait: a member that does not start is named" {
	group "$SLAUNCH --wait 2s $TRAIN" "edge1:1:1 edge2:0:1 edge3:0:1"
	start "${members[edge3]}"
	wait_until 30 job_is "${members[edge3]}" RUNNING
	start "$lead"
	[ "$(result)" = 1 ]
	grep -qx "slaunch: after 2 s (--wait) the group is not complete: edge2 (job ${members[edge2]} is PENDING)" "$dir/lead.out"
}

@test "--wait: a member that does not exist is named" {
	group "$SLAUNCH --wait 1s $TRAIN" "edge1:1:1 edge2:0:1"
	timeout 20 scancel "${members[edge2]}"
	start "$lead"
	[ "$(result)" = 1 ]
	grep -qx "slaunch: after 1 s (--wait) the group is not complete: edge2 (no member job)" "$dir/lead.out"
}

@test "--wait: tasks that do not report are named, and nothing stays" {
	mkdir "$dir/bin"
	# An srun that starts nothing on edge2.
	printf '#!/bin/sh\ncase "$*" in *--jobid=%s*) exec %s "$@";; esac\nexec sleep %s\n' '$lead' "$(command -v srun)" "$sleeper" >"$dir/bin/srun"
	chmod +x "$dir/bin/srun"
	group "PATH=$dir/bin:\$PATH; $SLAUNCH --wait 12s --grace 2s $TRAIN" "edge1:1:1 edge2:0:2"
	sed -i "s/[\$]lead/$lead/" "$dir/bin/srun"
	start "$lead" "${members[@]}"
	[ "$(result)" = 1 ]
	grep -qx "slaunch: after 12 s (--wait) these tasks have not reported: worker 1 on edge2, worker 2 on edge2" "$dir/lead.out"
	wait_until 30 none_sleeps
}

@test "a worker that fails on another node: its code is the script's, the others end" {
	printf '#!/bin/sh\n[ "$AUCTION_ROLE$AUCTION_RANK" = worker2 ] && { sleep 1; exit 7; }\nexec sleep %s\n' "$sleeper" >"$dir/task"
	chmod +x "$dir/task"
	group "$SLAUNCH --wait 60 --grace 5 $dir/task" "edge1:1:1 edge2:0:2"
	start "$lead" "${members[@]}"
	[ "$(result)" = 7 ]
	grep -qx "slaunch: worker 2 on edge2 exited with code 7" "$dir/lead.out"
	wait_until 30 none_sleeps
	# Accounting says what happened where; of a step's tasks it keeps one code, that of the failed one or of one that was ended.
	wait_until 30 step_failed "${members[edge2]}"
}

step_failed()
{
	timeout 20 sacct -nP -S now-1day -j "$1" -o JobName,State,ExitCode | grep -qxE 'worker\|FAILED\|[1-9][0-9]*:0'
}

@test "a member that is cancelled ends the group" {
	group "$SLAUNCH --wait 60 --grace 5 $TRAIN --epochs 1000 --pace 50ms" "edge1:1:1 edge2:0:1"
	start "$lead" "${members[@]}"
	wait_until 30 grep -q '^epoch=1 ' "$dir/lead.out"
	timeout 20 scancel "${members[edge2]}"
	code=$(result)
	# Ended by SIGTERM, or by the SIGKILL after it, or the PS misses it first.
	[ "$code" = 143 ] || [ "$code" = 137 ] || [ "$code" = 1 ]
	grep -q 'worker 1' "$dir/lead.out"
}

@test "PSs that stay are ended without noise" {
	printf '#!/bin/sh\n[ "$AUCTION_ROLE" = worker ] && exit 0\nexec sleep %s\n' "$sleeper" >"$dir/task"
	chmod +x "$dir/task"
	group "$SLAUNCH --wait 60 --grace 10s $dir/task" "edge1:2:1"
	start "$lead"
	[ "$(result)" = 0 ]
	[ ! -s "$dir/lead.out" ]
}

@test "the lead's cancellation ends all steps of the members too" {
	printf '#!/bin/sh\necho up\nexec sleep %s\n' "$sleeper" >"$dir/task"
	chmod +x "$dir/task"
	group "$SLAUNCH --wait 60 --grace 10s $dir/task" "edge1:1:1 edge2:0:2"
	start "$lead" "${members[@]}"
	wait_until 30 three_up
	timeout 20 scancel "$lead"
	wait_until 30 finished
	wait_until 30 no_step "${members[edge2]}"
	wait_until 30 none_sleeps
	job_is "${members[edge2]}" RUNNING
}

three_up()
{
	[ "$(grep -cx up "$dir/lead.out")" = 4 ]
}

no_step()
{
	! timeout 20 squeue -hs -j "$1" | grep -v batch | grep -q . || false
}

@test "the environment of a task: one world of all workers, GPUs of its own, and the step's, not the lead's" {
	printf '#!/bin/sh\necho "$AUCTION_ROLE $AUCTION_RANK: nodelist=$SLURM_JOB_NODELIST job=$SLURM_JOB_ID lead=$AUCTION_JOB_ID sale=$AUCTION_SALE type=$AUCTION_WORKER_TYPE local=$LOCAL_RANK/$LOCAL_WORLD_SIZE rank=$RANK slurm=$SLURM_PROCID/$SLURM_NTASKS node=$AUCTION_NODE_JOB_ID gpus=$CUDA_VISIBLE_DEVICES end=$AUCTION_SLOT_END mine=$MINE bid=$SLURM_AUCTION_BID cpus=$SLURM_CPUS_PER_TASK conf=$SLURM_CONF"\n' >"$dir/task"
	chmod +x "$dir/task"
	group "MINE=kept SLURM_AUCTION_BID=5; export MINE SLURM_AUCTION_BID; $SLAUNCH --wait 60 $dir/task" "edge1:1:1 edge2:0:2"
	start "$lead" "${members[@]}"
	[ "$(result)" = 0 ]
	end=$(receipt_get "$lead" '.completion * .slot_seconds')
	grep -qx "worker 2: nodelist=edge1,edge2 job=$lead lead=$lead sale=00000000000000ab-1 type=v100 local=0/1 rank=2 slurm=2/3 node=${members[edge2]} gpus=1 end=$end mine=kept bid= cpus=2 conf=$SLURM_CONF" "$dir/lead.out"
	grep -qx "worker 0: nodelist=edge1,edge2 job=$lead lead=$lead sale=00000000000000ab-1 type=v100 local=0/1 rank=0 slurm=0/3 node=$lead gpus=0 end=$end mine=kept bid= cpus=2 conf=$SLURM_CONF" "$dir/lead.out"
	grep -q "^ps 0: nodelist=edge1 job=$lead .* local=/ rank= slurm=/ node= gpus= .* cpus=1 " "$dir/lead.out"
}

@test "--dry-run prints the sruns of the group" {
	group "$SLAUNCH --dry-run prog 'x y'" "edge1:1:2 edge2:0:1"
	start "$lead" "${members[@]}"
	wait_until 30 job_is "${members[edge2]}" RUNNING
	[ "$(result)" = 0 ]
	grep -q "^srun --jobid=$lead --job-name=ps --ntasks=1 --exact --cpus-per-task=1 --mem=100 --gres=none .* --task=ps:0 -- prog 'x y'$" "$dir/lead.out"
	grep -q "^srun --jobid=$lead --job-name=worker --ntasks=2 --exact --cpus-per-task=2 --mem=400 --gpus-per-task=1 .* --task=worker:0 -- prog 'x y'$" "$dir/lead.out"
	grep -q "^srun --jobid=\(${members[edge2]}\|0\) --job-name=worker --ntasks=1 .* --task=worker:2 -- prog 'x y'$" "$dir/lead.out"
}

@test "a job that was not sold" {
	lead=$(submit alice -p edge -w edge1 -c 1 --mem=100 -o "$dir/lead.out" --wrap "$SLAUNCH true")
	[ "$(result)" = 1 ]
	grep -qx "slaunch: job $lead was not sold by the auction: submit it with sbatch --bid, or try your program out with slaunch --local" "$dir/lead.out"
}

@test "a sale whose time is over" {
	now=$((EPOCHSECONDS / 10))
	group "$SLAUNCH true" "edge1:1:1" $((now - 9)) $((now - 3))
	start "$lead"
	[ "$(result)" = 1 ]
	grep -qx "slaunch: the time that job $lead bought is over" "$dir/lead.out"
}
