# bats file_tags=nightly
# A slurmctld that was killed has forgotten starts of its last seconds, and does not end what runs of a job that was cancelled before the
# nodes told of it: nothing is given again before slurmd there has nothing left of the job. What ended by itself meanwhile may begin again.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --nodes 'node[1-6]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
}

# Says each tenth of a second that it runs, and where, and heeds no warning.
talk='trap "" TERM USR1; while :; do echo "$SLURMD_NODENAME $(date +%s.%N)"; sleep 0.1; done'

# gang FILE OPTION...
gang()
{
	submit alice --bid=3000 --gpus-per-node=4 -t1 --mem=100 -o /dev/null "${@:2}" --wrap "srun bash -c '$talk' >> $1"
}

talks_on()
{
	[ "$(cut -d' ' -f1 "$SANDBOX_DIR/home/alice/$1" | sort -u | paste -sd' ')" = "$2" ]
}

silent_for_2s()
{
	[ $((EPOCHSECONDS - $(stat -c %Y "$SANDBOX_DIR/home/alice/$1"))) -ge 2 ]
}

# slurmctld, which does not run, comes back with the jobs of that file.
forget()
{
	cp "$1" "$SANDBOX_DIR/state/job_state"
	rm -f "$SANDBOX_DIR/state/job_state.old"
}

# Somebody else buys NODES, as soon as anybody can: its number into $next. buys FILE NODES
buys()
{
	next=$(submit carol --bid=3000 -N"$(scontrol show hostnames "$2" | wc -l)" -w "$2" --gpus-per-node=4 -t1 --mem=100 -o "$1" \
		--wrap 'date +%s.%N; srun hostname') && [ -n "$next" ]
}

@test "what slurmctld has forgotten and its owner cancels at once is off its nodes before the next begins" {
	local since
	local files=(cancelled.txt forgotten.txt unknown.txt) nodes=(node1,node2 node3,node4 node5)

	# Nothing is given again before it has ended by itself there: longer than is waited for here.
	[[ $(slurmctld -V) == *" "2[2-4].* ]] || skip "this slurmctld has nothing that ends what it has forgotten on nodes"
	cancelled=$(gang cancelled.txt -N2 -w node1,node2 -b now+30)
	forgotten=$(gang forgotten.txt -N2 -w node3,node4 -b now+30 --open-mode=append)
	# It ends while slurmctld is away, and slurmd keeps its number.
	twice=$(submit bob --bid=3000 -w node6 --gpus-per-node=4 -t1 --mem=100 -b now+30 -o twice.txt --open-mode=append \
		--wrap 'echo began; while [ ! -e away.txt ]; do sleep 0.1; done; echo ended')
	since=$(date +%s.%N)
	wait_until 30 receipt_state_is "$forgotten" sold
	wait_until 30 receipt_state_is "$twice" sold
	wait_until 20 jobs_saved "$since"
	job_is "$cancelled" PENDING || skip "slurmctld saves its jobs too late here"
	cp "$SANDBOX_DIR/state/job_state" "$BATS_TEST_TMPDIR/job_state"
	# Of this one it knows nothing at all then.
	as alice salloc --bid=3000 -N1 -w node5 --gpus-per-node=4 -t1 --mem=100 srun bash -c "$talk" > "$SANDBOX_DIR/home/alice/unknown.txt" 2> /dev/null 3>&- &
	client=$!
	wait_until 60 talks_on cancelled.txt 'node1 node2'
	wait_until 10 talks_on forgotten.txt 'node3 node4'
	wait_until 10 talks_on unknown.txt node5
	wait_until 10 grep -q began "$SANDBOX_DIR/home/bob/twice.txt"
	sandbox stop slurmctld --kill
	touch "$SANDBOX_DIR/home/bob/away.txt"
	wait_until 10 grep -q ended "$SANDBOX_DIR/home/bob/twice.txt"
	forget "$BATS_TEST_TMPDIR/job_state"
	# Its nodes tell some seconds after slurmctld answers.
	sandbox start slurmctld &
	starter=$!
	wait_until 30 as alice scancel "$cancelled"
	wait $starter

	wait_until 60 buys "next-0.txt" "${nodes[0]}"
	for file in "${files[@]}"; do
		wait_until 40 silent_for_2s "$file"
	done
	log_has "job $cancelled, which slurmctld has forgotten, still runs on node1,node2"
	wait_until 60 job_ended "$next"
	sacct_is "$next" State COMPLETED
	[ "$(printf '%s\n' "$(tail -n 1 "$SANDBOX_DIR/home/alice/cancelled.txt" | cut -d' ' -f2)" "$(head -n 1 "$SANDBOX_DIR/home/carol/next-0.txt")" | sort -n | head -n 1)" = \
		"$(tail -n 1 "$SANDBOX_DIR/home/alice/cancelled.txt" | cut -d' ' -f2)" ]
	kill $client 2> /dev/null || true
	# What it did not cancel itself comes later, on nodes that are free of it, or is paid back.
	wait_until 150 settled "$forgotten"
	wait_until 60 settled "$cancelled"
	wait_until 60 settled "$twice"
	[ "$(paste -sd' ' "$SANDBOX_DIR/home/bob/twice.txt")" = 'began ended began ended' ]
	[ "$(database_receipt "$twice" .why)" = completed ]
	[ "$(database_receipt "$cancelled" .why)" = cancelled ]
	[ "$(database_receipt "$forgotten" .why)" != not_launched ]
	! sinfo -hN -o '%N %T' | grep -E 'drain|down|maint' || false
	[ -z "$(scontrol -o show reservation | grep auction-settling)" ]
}

# Bob's job $late on node6, sold until $over, began and ended; slurmctld forgot both, put its plan off, and has not heard of the node. With a
# second argument all of its slots are over then, and somebody else has bought those behind it, so that it comes much later; with a third, the
# auction's spool does not say either that it began. begins_and_is_put_off FILE [behind [unseen]]
begins_and_is_put_off()
{
	local carols running

	[[ $(slurmctld -V) == *" "2[2-4].* ]] || skip "this slurmctld lets a node register that has a job's number still"
	late=$(submit bob --bid=3000 -w node6 --gpus-per-node=4 -t1 --mem=100 -b now+30 -o "$1.txt" --open-mode=append \
		--wrap "echo began; while [ ! -e gone-$1.txt ]; do sleep 0.1; done; echo ended")
	wait_until 30 receipt_state_is "$late" sold
	if [ $# -gt 1 ]; then
		carols=$(submit carol --bid=3000 -w node6 --gpus-per-node=4 -t$(($# > 2 ? 2 : 1)) --mem=100 -o /dev/null --wrap true)
		wait_until 30 receipt_state_is "$carols" sold
	fi
	save_job "${carols-$late}"
	job_is "$late" PENDING || skip "slurmctld saves its jobs too late here"
	cp "$SANDBOX_DIR/state/job_state" "$BATS_TEST_TMPDIR/job_state"
	[ $# -lt 3 ] || cp -a "$SANDBOX_DIR/state/auction" "$BATS_TEST_TMPDIR/spool"
	wait_until 60 grep -q began "$SANDBOX_DIR/home/bob/$1.txt"
	over=$(plan_end "$late")
	running="\"event\":\"running\",\"sale\":\"$(receipt_get "$late" .sale)\""
	wait_until 30 grep -q "$running" "$SANDBOX_DIR/state/auction/journal"
	sandbox stop slurmctld --kill
	if [ $# -gt 2 ]; then
		if grep -q "$running" "$BATS_TEST_TMPDIR/spool/journal"; then skip "the job began too early here"; fi
		rm -r "$SANDBOX_DIR/state/auction"
		cp -a "$BATS_TEST_TMPDIR/spool" "$SANDBOX_DIR/state/auction"
	fi
	touch "$SANDBOX_DIR/home/bob/gone-$1.txt"
	wait_until 10 grep -q ended "$SANDBOX_DIR/home/bob/$1.txt"
	[ $# = 1 ] || wait_until 90 eval '[ $EPOCHSECONDS -ge '$over' ]'
	kill -STOP "$(cat "$SANDBOX_DIR/run/slurmd-node6.pid")"
	forget "$BATS_TEST_TMPDIR/job_state"
	sandbox start slurmctld &
	starter=$!
	wait_until 60 log_has "job $late: what it missed (outage) comes later"
}

# The one after it has, and comes back with the jobs of SAVED. begins_again FILE [SAVED]
begins_again()
{
	sandbox stop slurmctld --kill
	kill -CONT "$(cat "$SANDBOX_DIR/run/slurmd-node6.pid")"
	[ $# = 1 ] || forget "$2"
	sandbox start slurmctld
	wait $starter || true
	wait_until 250 settled "$late"
	[ "$(paste -sd' ' "$SANDBOX_DIR/home/bob/$1.txt")" = 'began ended began ended' ]
	[ "$(database_receipt "$late" .why)" = completed ]
	! sinfo -hN -o '%N %T' | grep -E 'drain|down|maint' || false
}

@test "a job that began after its plan was put off, and is forgotten, may begin again" {
	begins_and_is_put_off late
	begins_again late "$BATS_TEST_TMPDIR/job_state"
}

@test "so may one of which Slurm has saved that it begins later" {
	begins_and_is_put_off later behind
	wait_until 30 eval '[ "$(date -d "$(job_field "$late" EligibleTime)" +%s)" -gt '$over' ]'
	save_job "$late"
	begins_again later
}

@test "nor does it matter that the auction had not seen it begin" {
	begins_and_is_put_off unseen behind unseen
	wait_until 30 eval '[ "$(date -d "$(job_field "$late" EligibleTime)" +%s)" -gt '$over' ]'
	# What slurmd has of a step it would tell, and slurmctld would end it.
	wait_until 60 eval '! compgen -G "$SANDBOX_DIR/spool/node6/*_$late.*"'
	save_job "$late"
	begins_again unseen
}
