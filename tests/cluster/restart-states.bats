# slurmctld is stopped and started, and killed and started, with a sale in each state of its machine (doc/executor.md): it ends as
# it would have, and nothing is sold, paid or run twice.

load lib
load plugins
load restart

slot=14

setup_file()
{
	need_plugins
	hold_make hold_writes
	conf_write 7 6 wide one move pause boot
	# The node of boot is off, and boots when this file lets it.
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" --env LD_PRELOAD="$HOLD_DIR/hold_writes.so" \
		--env HOLD_WRITES="$HOLD_DIR/hold" --nodes 'wide[1-2]:partition=wide,cpus=10,mem=16000,gpus=v100:4' \
		--nodes 'one1:partition=one,cpus=10,mem=16000,gpus=v100:4' \
		--nodes 'move[1-2]:partition=move,cpus=10,mem=16000,gpus=v100:4' \
		--nodes 'pause1:partition=pause,cpus=10,mem=16000,gpus=v100:4' \
		--nodes 'boot1:partition=boot,cpus=10,mem=16000,gpus=v100:4,start=power' --set ResumeTimeout=900
	# One that is killed while the database is away does not start again before it has ended in good order once: it misses files of its state.
	sandbox restart slurmctld
	wait_until 30 open_for_bids wide
}

teardown_file()
{
	boots CONT || true
	hold_stop
}

# boots STOP|CONT: whether cloud nodes come up when slurmctld asks for them.
boots()
{
	kill -"$1" "$(cat "$SANDBOX_DIR/run/power.pid")"
}

# Waits until SECONDS before slot $1. before_slot SLOT SECONDS
before_slot()
{
	local at=$(($1 * slot - $2))

	wait_until $((at + 2 - EPOCHSECONDS)) eval '[ $EPOCHSECONDS -ge '$at' ]'
}

# What a restart must not change.
state()
{
	local job

	for job; do
		receipt_get "$job" '"\(.sale) \(.payment) \(.start) \(.completion) \(.plan)"'
	done
	fresh_status
	status '.totals | "sold \(.sold) charged \(.charged)"'
}

# same_as FILE JOB...
same_as()
{
	diff "$1" <(shift; state "$@") >&2
}

# The script of a job that is asked what it saw: each start with its node, and each notice.
talker()
{
	cat <<-'END'
		echo "start ${SLURM_RESTART_COUNT-0} $SLURMD_NODENAME"
		trap 'echo told' USR1
		trap '' TERM
		while :; do sleep 1 & wait; done
	END
}

# Receipts, ledger and accounting agree on all that was ever sold here: at the end of the file, as slurmctld writes rows again for
# a while after an outage of the database.
books_agree()
{
	local payment sum=0

	wait_until 60 status_is .totals.live 0
	wait_until 60 status_is .agent.final_receipts_waiting "$(sort -u "$BATS_FILE_TMPDIR/without-row" 2> /dev/null | wc -l)"
	fresh_status
	for payment in $(sacct -nPXaD -S now-1day -o AdminComment | grep '^{"auction":1' |
		jq -rs 'map(select(.state != "member")) | group_by(.sale)[] | last | "\(.state) \(.payment)"' | sed -n 's/^settled //p'); do
		sum=$((sum + $(micro "$payment")))
	done
	status .totals >&2
	echo "settled payments: $sum" >&2
	[ "$sum" = "$(micro "$(status .totals.settled_revenue)")" ]
	[ "$(micro "$(status .totals.charged)")" = $(($(micro "$(status .totals.refunded)") + sum)) ]
	# A node whose jobs slurmctld takes for somebody else's is drained.
	! sinfo -hN -o '%N %T' | grep -E 'drain|down' || false
}

# Its notices as of each layout but the first, and where it ran in which order. ran_on FILE NODE...
ran_on()
{
	local expected=() i=0 node

	for node in "${@:2}"; do
		expected+=("start $i $node")
		i=$((i + 1))
	done
	cat "$SANDBOX_DIR/home/alice/$1" >&2
	[ "$(grep ^start "$SANDBOX_DIR/home/alice/$1")" = "$(printf '%s\n' "${expected[@]}")" ]
}

# True once $move was told of a change, or moved: an agent that is late does not tell it any more. change_begun [NODE]: since it moved
# to NODE.
change_begun()
{
	awk -v told="job $move is told that its layout changes" -v moved="job $move moves to" -v from="${1:+job $move moves to $1}" '
		index($0, told) || index($0, moved) { begun = 1 }
		from != "" && index($0, from) { begun = 0 }
		END { exit !begun }' "$SANDBOX_DIR/log/slurmctld.log"
}

# too_slow WHY JOB...: ends them and skips the test, on a machine that is too slow for it.
too_slow()
{
	local job

	boots CONT
	scancel "${@:2}"
	for job in "${@:2}"; do
		wait_until 90 settled "$job"
	done
	skip "$1"
}

# True once $move runs on move2, or leaves that where two restarts, after each of which the nodes have to register, took the most of
# its time there.
moved_or_late()
{
	runs_on "$move" move2 || { [ "$left" -lt 30 ] && [ $EPOCHSECONDS -ge $((second * slot)) ]; }
}

# They only keep others out of their slots: the plan of $move is on move2 while move1 is taken, that of $pause has a pause.
sell_changes()
{
	block_move=$(submit bob $(bid move 4 4 4) -o /dev/null --wrap 'sleep 1')
	first=$(receipt_get "$block_move" .start) second=$(receipt_get "$block_move" .completion)
	block_pause=$(submit bob $(bid pause 4 7 2) -o /dev/null --wrap 'sleep 1')
	move=$(submit alice $(bid move 4 "$(slots_to $((second + 3)))") -o move.txt --open-mode=append --wrap "$(talker)")
	pause=$(submit alice $(bid pause 4 3) -o pause.txt --open-mode=append --wrap "$(talker)")
	boot=$(submit alice $(bid boot 1 "$(slots_to $((second + 6)))") -o /dev/null --wrap 'sleep 1')
	wait=$(submit carol $(bid one 1 1 10) -o /dev/null --wrap 'sleep 1')
	made="$block_move $block_pause $move $pause $boot $wait"
}

# One ends where $move moves, one where it moves back.
sell_to_changes()
{
	end1=$(submit carol $(bid one 1 "$(slots_to "$first")") -o /dev/null --wrap "$(talker)")
	end2=$(submit carol $(bid one 1 "$(slots_to "$second")") -o /dev/null --wrap "$(talker)")
	run=$(submit alice $(bid wide 8 "$(slots_to $((second + 3)))") -o /dev/null --wrap "$(talker)")
	made="$end1 $end2 $run"
}

# bats test_tags=nightly
@test "waiting, starting, running, changing, pausing and ending: stopped, stopped in the middle of a change, and killed" {
	local first second gap slow left
	boots STOP
	in_one_slot sell_changes
	in_one_slot sell_to_changes
	[ "$(receipt_get "$move" '[.plan[].workers | keys[]] | join(" ")')" = 'move1 move2 move1' ]
	[ "$(receipt_get "$move" "[.plan[].from] | .[1:] == [$first, $second]")" = true ]
	[ "$(receipt_get "$pause" ".plan | length == 2 and .[0].to < $first - 1 and .[1].from > $second")" = true ]
	[ "$(receipt_get "$end1" .completion) $(receipt_get "$end2" .completion)" = "$first $second" ]
	[ "$(receipt_get "$wait" ".start > $second")" = true ]
	all="$move $pause $boot $wait $end1 $end2 $run"
	for job in $block_move $block_pause; do
		wait_until 30 receipt_state_is "$job" sold
		as bob scancel "$job"
	done

	# All but boot's run, and pause has begun its pause.
	for job in $move $end1 $end2 $run; do
		wait_until 40 group_is "$job" RUNNING
		wait_until 30 receipt_state_is "$job" running
	done
	# A machine that starts jobs late does not get through two restarts between the changes.
	slow=
	for job in $move $end1 $end2 $run; do
		[ "$(job_time "$job" StartTime)" -le $(($(plan_start "$job") + 1)) ] || slow=$job
	done
	[ -z "$slow" ] || too_slow "job $slow began late" $all
	[ "$(members "$run" | wc -l)" -ge 1 ]
	gap=$(receipt_get "$pause" '.plan[0].to + 1')
	before_slot $((gap + 1)) $((slot - 2))
	wait_until 30 eval 'receipt_state_is "$pause" running && job_is "$pause" PENDING'
	job_is "$boot" CONFIGURING
	receipt_state_is "$wait" sold
	state $all > "$BATS_TEST_TMPDIR/before"
	group_jobs "$run" > "$BATS_TEST_TMPDIR/group"

	# Told of the change, and ending.
	wait_until $((first * slot + 30 - EPOCHSECONDS)) change_begun
	wait_until 30 log_has "job $end1 is ended: timeout"
	sandbox restart slurmctld
	# In the middle of the change, which comes late now.
	wait_until 30 log_has "job $move moves to move2"
	sandbox restart slurmctld
	left=$((second * slot - EPOCHSECONDS))
	wait_until 40 moved_or_late
	runs_on "$move" move2 || too_slow "two restarts left $left s on move2" $all
	wait_until 60 settled "$end1"
	wait_until 30 same_as "$BATS_TEST_TMPDIR/before" $all
	[ "$(group_jobs "$run")" = "$(cat "$BATS_TEST_TMPDIR/group")" ]
	group_is "$run" RUNNING

	# Not in the moment in which a job starts or moves: slurmctld does not get over that.
	wait_until 30 saved
	wait_until $((second * slot + 30 - EPOCHSECONDS)) change_begun move2
	if [ $((EPOCHSECONDS + 4)) -lt $((second * slot)) ]; then
		sandbox restart slurmctld --kill
	else
		echo "# too late: slurmctld is not killed before the second change" >&3
	fi
	wait_until 30 runs_on "$move" move1
	group_is "$run" RUNNING
	wait_until 30 same_as "$BATS_TEST_TMPDIR/before" $all
	boots CONT

	for job in $move $pause $boot $wait $end1 $end2 $run; do
		wait_until 90 settled "$job"
		[ "$(database_receipt "$job" .sale)" = "$(receipt_get "$job" .sale)" ]
	done
	for job in $move $pause $end1 $end2 $run; do
		[ "$(database_receipt "$job" .why)" = timeout ]
	done
	[ "$(database_receipt "$wait" .why)" = completed ]
	[ "$(database_receipt "$boot" .why)" = completed ]
	ran_on move.txt move1 move2 move1
	# A job that moves as slurmctld is restarted is not one that it forgot.
	! log_has "job $move, which slurmctld has forgotten" || false
	ran_on pause.txt pause1 pause1
	# What began after the restarts began in time.
	for job in $pause $wait; do
		begin=$(receipt_get "$job" '.plan[-1].from * .slot_seconds')
		began_in_time "$job" "$begin"
	done
}

# The state in the final receipt of a job that waits for the database.
undelivered()
{
	jq -r ".entries[] | select(.job == $1 and .done == false) | .text" "$SANDBOX_DIR/state/auction/receipts" | jq -r .state
}

# not_on_disk [--kill]: slurmctld ends when one sale is settled and its receipt not delivered, one is sold, but in memory alone,
# and one is a lien.
not_on_disk()
{
	local done sold lien before

	# The database is away: what is settled meanwhile has its receipt in a file.
	done=$(submit alice $(bid one 1 1) -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$done" sold
	sandbox stop slurmdbd
	wait_until 40 eval '[ "$(undelivered '"$done"')" = settled ]'

	touch "$HOLD_DIR/hold"
	sold=$(submit alice $(bid wide 8 1 6) -o /dev/null --wrap 'sleep 1')
	wait_until 30 log_has "job $sold: sale .* confirmed"
	lien=$(submit bob $(bid move 4 1 6) -o /dev/null --wrap 'sleep 1')
	before=$(for job in $sold $lien; do receipt_get "$job" '"\(.sale) \(.payment) \(.start) \(.plan)"'; done)
	# Saved with both, whether before or after sbatch came back.
	for job in $sold $lien; do
		wait_until 30 grep -q "$(receipt_get "$job" .sale)" "$SANDBOX_DIR/state/job_state"
	done
	receipt_state_is "$sold" lien
	receipt_state_is "$lien" lien
	! grep -q "$(receipt_get "$sold" .sale)" "$SANDBOX_DIR/state/auction/journal" || false
	sandbox stop slurmctld "$@"
	rm "$HOLD_DIR/hold"
	sandbox start slurmctld
	sandbox start slurmdbd
	for job in $sold $lien; do
		wait_until 60 receipt_state_is "$job" sold
	done
	[ "$(for job in $sold $lien; do receipt_get "$job" '"\(.sale) \(.payment) \(.start) \(.plan)"'; done)" = "$before" ]
	# slurmctld writes rows that it kept while the database was away over it, as they were, and it is put right again.
	wait_until 60 database_receipt_is "$done" '"\(.state) \(.why) \(.payment)"' 'settled completed 0.500000'
	as alice scancel "$sold"
	as bob scancel "$lien"
	for job in $sold $lien; do
		wait_until 60 database_receipt_is "$job" '"\(.state) \(.why) \(.payment)"' 'settled cancelled 0.000000' || without_row "$job"
	done
}

# slurmctld of 24.11, killed while slurmdbd is away, never tells it of a job that is cancelled before it could begin: its final receipt
# waits for a row.
without_row()
{
	[ -z "$(timeout 20 sacct -nXPj "$1" -o JobID)" ] && log_has "receipt of job $1 not delivered: it is not in the accounting" &&
		echo "$1" >> "$BATS_FILE_TMPDIR/without-row"
}

# bats test_tags=nightly
@test "lien, sold and settled, not on disk or not delivered: stopped" {
	not_on_disk
}

@test "lien, sold and settled, not on disk or not delivered: killed" {
	not_on_disk --kill
}

# Job $1, whose slot began while slurmctld was away, began within a slot before what is its plan now, or a little after its start,
# and once.
put_off_to_its_start()
{
	local start began

	start=$(plan_start "$1") began=$(job_time "$1" StartTime)
	[ "$began" -gt $((start - slot)) ]
	[ "$began" -le $((start + late)) ]
	[ "$(job_field "$1" Restarts)" = 0 ]
}

# All begin in slot $first.
sell_starts()
{
	local up=$((2 * slot))s
	alone=$(submit alice $(bid one 1 1) --upload=one=$up -o /dev/null --wrap 'sleep 4')
	group=$(submit alice $(bid wide 8 2) --upload=wide=$up -o /dev/null --wrap 'sleep 200')
	first=$(receipt_get "$alone" .start)
	# Worth nothing a slot later.
	urgent=$(submit carol --bid=deadline:1000,3 $(bid move 4 1 | cut -d' ' -f2-) --upload=move=$up -o /dev/null --wrap 'sleep 200')
	# Another has the slots after this one's.
	short=$(submit alice $(bid pause 4 4) --upload=pause=$up -o /dev/null --wrap 'sleep 200')
	next=$(submit bob $(bid pause 4 1 6) -o /dev/null --wrap 'sleep 1')
	made="$alone $group $urgent $short $next"
}

# bats test_tags=nightly
@test "a start that slurmctld missed: made up for after the plan, or the slots paid back, or everything" {
	local first
	in_one_slot sell_starts
	for job in $alone $group $urgent $short; do
		[ "$(receipt_get "$job" .start)" = "$first" ]
		wait_until 30 receipt_state_is "$job" sold
	done
	[ "$(receipt_get "$short" .completion) $(receipt_get "$next" .start)" = "$((first + 4)) $((first + 4))" ]
	[ "$(micro "$(receipt_get "$urgent" .payment)")" -gt 0 ]
	for job in $alone $group $short; do
		eval "paid_$job=$(receipt_get "$job" .payment)"
	done
	before_slot "$first" 10
	sandbox stop slurmctld
	before_slot "$first" -5
	sandbox start slurmctld

	wait_until 30 eval '[ "$(receipt_get "$alone" .start)" -gt '"$first"' ]'
	wait_until 30 eval '[ "$(receipt_get "$group" .start)" -gt '"$first"' ]'
	wait_until 30 eval '[ "$(receipt_get "$short" ".lost // 0")" -gt 0 ]'
	wait_until $((2 * slot + 5)) runs_on "$group" 'wide1 wide2'
	for job in $alone $group $short; do
		wait_until $((2 * slot + 5)) job_is "$job" 'RUNNING|COMPLETED'
	done
	for job in $alone $group; do
		put_off_to_its_start "$job"
		[ "$(receipt_get "$job" .payment)" = "$(eval "echo \$paid_$job")" ]
		[ "$(receipt_get "$job" '.lost // 0')" = 0 ]
	done
	[ "$(receipt_get "$alone" '.completion - .start') $(receipt_get "$group" '.completion - .start')" = '1 2' ]
	put_off_to_its_start "$short"
	[ "$(receipt_get "$short" '.completion - .start + .lost')" = 4 ]

	for job in $alone $group $urgent $short $next; do
		wait_until 90 settled "$job"
	done
	[ "$(database_receipt "$alone" .why)" = completed ]
	[ "$(database_receipt "$group" .why)" = timeout ]
	[ "$(job_time "$group" EndTime)" -gt $(((first + 2) * slot)) ]
	[ "$(database_receipt "$urgent" '"\(.why) \(.payment)"')" = 'outage 0.000000' ]
	[ "$(database_receipt "$short" .why)" = timeout ]
	paid=$(micro "$(eval "echo \$paid_$short")") lost=$(receipt_get "$short" .lost)
	[ "$(micro "$(database_receipt "$short" .refund)")" = $((paid * lost / 4)) ]
	[ "$(database_receipt "$next" .why)" = completed ]
	for job in $alone $group; do
		[ "$(database_receipt "$job" .payment)" = "$(eval "echo \$paid_$job")" ]
	done
	books_agree
}
