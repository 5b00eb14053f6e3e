# bats file_tags=nightly
# slurmctld is killed in the middle of a change, and refuses to move a job: its moments are held (hold_requeue.c), so that they are
# these and no others.

load lib
load plugins
load restart

slot=16

setup_file()
{
	need_plugins
	hold_make hold_requeue
	conf_write 8 14 before behind stuck
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" --env LD_PRELOAD="$HOLD_DIR/hold_requeue.so" \
		--env HOLD_REQUEUE="$HOLD_DIR" --nodes 'before[1-2]:partition=before,cpus=10,mem=16000,gpus=v100:4' \
		--nodes 'behind[1-2]:partition=behind,cpus=10,mem=16000,gpus=v100:4' \
		--nodes 'stuck[1-2]:partition=stuck,cpus=10,mem=16000,gpus=v100:4'
	# Slurm starts a job that was requeued once its credential has expired, which is sooner in a sandbox, on the node that it was on.
	sed -i 's/cred_expire=[0-9]*$/cred_expire=120/' "$SANDBOX_DIR/etc/slurm.conf"
	grep -q 'cred_expire=120' "$SANDBOX_DIR/etc/slurm.conf"
	sandbox restart slurmctld
	wait_until 30 open_for_bids stuck
}

teardown_file()
{
	hold_stop
}

# A job whose first node is taken from slot $first on, so that it moves to the second then, and is there for four slots.
# moving PARTITION
moving()
{
	submit alice $(bid "$1" 4 $((first + 3 - EPOCHSECONDS / slot))) -o "$1.txt" \
		--wrap "echo start \${SLURM_RESTART_COUNT-0} \$SLURMD_NODENAME; trap '' USR1; while :; do sleep 1 & wait; done"
}

# All in one slot; bob's jobs only take the second part of alice's first nodes.
sell_moves()
{
	local partition

	for partition in before behind stuck; do
		of[$partition-block]=$(submit bob $(bid $partition 4 4 3) -o /dev/null --wrap 'sleep 1')
	done
	first=$(receipt_get "${of[before-block]}" .start)
	for partition in before behind stuck; do
		of[$partition]=$(moving $partition)
	done
	made="${of[*]}"
}

# starts FILE: each start of its script, with its node.
starts()
{
	grep ^start "$SANDBOX_DIR/home/alice/$1" | cut -d' ' -f2- | paste -sd,
}

# Its requeue is being asked for.
moves()
{
	log_has "job $1 moves to"
}

@test "slurmctld killed in the middle of a change, before and after the requeue; a lead that it then refuses to move" {
	local partition job since later
	declare -A of

	in_one_slot sell_moves
	for partition in before behind stuck; do
		[ "$(receipt_get "${of[$partition-block]}" .start)" = "$first" ]
		job=${of[$partition]}
		[ "$(receipt_get "$job" '[.plan[].workers | keys[]] | join(" ")')" = "${partition}1 ${partition}2" ]
		[ "$(receipt_get "$job" ".plan[1].from == $first and .completion == $((first + 4))")" = true ]
	done
	for partition in before behind stuck; do
		wait_until 30 receipt_state_is "${of[$partition-block]}" sold
		as bob scancel "${of[$partition-block]}"
	done
	touch "$HOLD_DIR/before-${of[before]}" "$HOLD_DIR/behind-${of[behind]}" "$HOLD_DIR/before-${of[stuck]}"
	for partition in before behind stuck; do
		wait_until $((2 * slot)) receipt_state_is "${of[$partition]}" running
	done

	# The change comes: one is requeued and is nowhere yet, the others are about to be requeued.
	for partition in before behind stuck; do
		wait_until $(((first + 1) * slot - EPOCHSECONDS)) moves "${of[$partition]}"
	done
	wait_until 30 job_is "${of[behind]}" PENDING
	# slurmctld saves that before it is killed: it does not get over a job that is not where it left it.
	since=$(date +%s.%N)
	later=$(submit bob $(bid before 4 1 9) -o /dev/null --wrap true)
	wait_until 30 jobs_saved "$since"
	job_is "${of[before]}" RUNNING
	job_is "${of[behind]}" PENDING
	job_is "${of[stuck]}" RUNNING
	sandbox stop slurmctld --kill
	touch "$HOLD_DIR/refuse-${of[stuck]}"
	rm "$HOLD_DIR"/before-* "$HOLD_DIR"/behind-*
	sandbox start slurmctld

	wait_until 60 status_is .ready true
	as bob scancel "$later"

	for partition in before behind; do
		wait_until 60 runs_on "${of[$partition]}" ${partition}2
		wait_until 30 eval '[ "$(starts $partition.txt)" = "0 ${partition}1,1 ${partition}2" ]'
		as alice scancel "${of[$partition]}"
	done
	wait_until 60 log_has "job ${of[stuck]} is ended: not_moved"
	for partition in before behind stuck; do
		wait_until 60 settled "${of[$partition]}"
	done
	[ "$(database_receipt "${of[before]}" '"\(.why) \(.refund)"')" = 'cancelled 0.000000' ]
	[ "$(database_receipt "${of[behind]}" '"\(.why) \(.refund)"')" = 'cancelled 0.000000' ]
	[ "$(database_receipt "${of[stuck]}" '"\(.why) \(.payment)"')" = 'not_moved 0.000000' ]
	[ "$(starts stuck.txt)" = '0 stuck1' ]
	[ "$(job_time "${of[stuck]}" EndTime)" -ge $((first * slot + 7)) ]
	wait_until 60 status_is .totals.live 0
	! sinfo -hN -o '%N %T' | grep -E 'drain|down' || false
}
