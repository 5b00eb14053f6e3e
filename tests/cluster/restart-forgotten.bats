# bats file_tags=nightly
# slurmctld saves what becomes of jobs some seconds late. One that was killed comes back with jobs as pending that run, and with a
# lead where it was before: nothing begins where what it has forgotten still runs, and that is ended.

load lib
load plugins
load restart

slot=16

setup_file()
{
	need_plugins
	conf_write 4 4 one move
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'one1:partition=one,cpus=10,mem=16000,gpus=v100:4' --nodes 'move[1-2]:partition=move,cpus=10,mem=16000,gpus=v100:4'
	# A slurmctld of 26.05 that is killed before it has ended in good order once does not start again: it misses files of its state.
	sandbox restart slurmctld
	wait_until 30 open_for_bids one
}

# The script of a job that says each tenth of a second that it runs, and where, and heeds no warning.
talker()
{
	cat <<-'END'
		trap '' TERM USR1
		while :; do echo "$SLURMD_NODENAME $(date +%s.%N)"; sleep 0.1; done
	END
}

# All in one slot, so that the plans fit each other: what runs in the slot after the next, $away, is forgotten.
sell_all()
{
	local from=$((EPOCHSECONDS / slot))

	block=$(submit bob $(bid move 4 1 1) -o /dev/null --wrap 'sleep 1')
	away=$(receipt_get "$block" .start)
	alone=$(submit alice $(bid one 4 1 1) -o alone.txt --wrap "$(talker)")
	moves=$(submit alice $(bid move 4 $((away - from))) -o moves.txt --open-mode=append --wrap "$(talker)")
	next=() expected="$((away + 1)) $((away + 1)) $((away + 1))"
	for partition in one move move; do
		next+=("$(submit carol $(bid $partition 4 2 2) -o "next-${#next[@]}.txt" --wrap 'echo "$SLURMD_NODENAME $(date +%s.%N)"; sleep 1')")
	done
	[ "$(receipt_get "$alone" .start) $(receipt_get "$moves" .completion)" = "$away $((away + 1))" ] &&
		[ "$(receipt_get "$moves" '[.plan[].workers | keys[]] | join(" ")')" = 'move1 move2' ] &&
		[ "$(for job in "${next[@]}"; do receipt_get "$job" .start; done | paste -sd' ')" = "$expected" ]
}

silent_for_3s()
{
	[ $((EPOCHSECONDS - $(stat -c %Y "$SANDBOX_DIR/home/alice/$1"))) -ge 3 ]
}

# The last line of a talker on NODE. last_on FILE NODE
last_on()
{
	grep "^$2 " "$SANDBOX_DIR/home/alice/$1" | tail -n 1 | cut -d' ' -f2
}

@test "what slurmctld has forgotten is ended before anything begins there" {
	local job since node began
	wait_until 30 eval '[ $((EPOCHSECONDS % slot)) -le 4 ]'
	if ! sell_all; then
		scancel $block $alone $moves "${next[@]}"
		skip "a slot is too short here to submit six jobs"
	fi
	# Saved while one job is still ahead, and the other on its first node.
	wait_until $((2 * slot)) runs_on "$moves" move1
	since=$(date +%s.%N)
	wait_until $slot jobs_saved "$since"
	runs_on "$moves" move1 || skip "slurmctld saves its jobs too late here"
	cp "$SANDBOX_DIR/state/job_state" "$BATS_TEST_TMPDIR/job_state"
	wait_until $((2 * slot)) runs_on "$alone" one1
	wait_until $slot runs_on "$moves" move2
	sandbox stop slurmctld --kill
	cp "$BATS_TEST_TMPDIR/job_state" "$SANDBOX_DIR/state/job_state"
	rm -f "$SANDBOX_DIR/state/job_state.old"
	wait_until $((2 * slot)) eval '[ "$EPOCHSECONDS" -ge $(((away + 1) * slot)) ]'
	! silent_for_3s alone.txt || false
	! silent_for_3s moves.txt || false
	sandbox start slurmctld

	wait_until 30 silent_for_3s alone.txt
	wait_until 30 silent_for_3s moves.txt
	for job in "${next[@]}"; do
		wait_until $((3 * slot)) job_ended "$job"
	done
	[ "$(cat "$SANDBOX_DIR"/home/carol/next-[0-2].txt | cut -d' ' -f1 | sort | paste -sd' ')" = 'move1 move2 one1' ]
	while read -r node began; do
		[ "$(printf '%s\n' "$(last_on "$([ "$node" = one1 ] && echo alone.txt || echo moves.txt)" "$node")" "$began" | sort -n | tail -n 1)" = "$began" ]
	done < <(cat "$SANDBOX_DIR"/home/carol/next-[0-2].txt)
	for job in $alone "${next[@]}"; do
		wait_until 60 settled "$job"
	done
	# Of its last run the accounting knows nothing but that it began; its receipt is in the row after.
	wait_until 60 eval '[ "$(sacct -nPXDj "$moves" -o AdminComment | grep settled | jq -r .why)" = timeout ]'
	for job in "${next[@]}"; do
		[ "$(database_receipt "$job" .why)" = completed ]
	done
	# The reservation is gone, and nothing else in the way.
	[ -z "$(scontrol -o show reservation | grep auction-settling)" ]
	! sinfo -hN -o '%N %T' | grep -E 'drain|down|maint' || false
}
