# bats file_tags=nightly
# Plans of several layouts on a real cluster: nodes come and go, the lead moves and keeps its number.

load lib
load plugins
load elastic

slot=15

setup_file()
{
	need_plugins
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=oasis
		SlotSeconds=$slot
		Overrun=kill
		Slots=60
		Prices=learned
		RefundUnused=yes
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'node[1-3]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	wait_until 30 eval 'as alice sbatch --quote --bid=1 --worker-time=v100=1s --wrap true 2>&1 | grep -q "auction: .*slots"'
}

@test "each layout stands soon after its first slot begins; the lead keeps its number where it moves" {
	rm -f "$SANDBOX_DIR/home/alice/elastic.txt"
	submit_elastic
	payment=$(receipt_get "$job" .payment)
	for ((run = 0; run < $(receipt_get "$job" '.plan | length'); run++)); do
		from=$(receipt_get "$job" ".plan[$run].from * .slot_seconds")
		nodes=$(receipt_get "$job" ".plan[$run] | (.workers + .ps) | keys | sort | join(\" \")")
		wait_until $((from + 2 - EPOCHSECONDS)) eval "[ \$EPOCHSECONDS -ge $from ]"
		wait_until $slot runs_on "$job" "$nodes"
		grep -q "$(job_field "$job" NodeList)" <<< "$nodes"
	done
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = timeout ]
	[ "$(database_receipt "$job" .payment)" = "$payment" ]
	# The script began on each node that the lead was on, and was told of each change while it was there.
	mapfile -t starts < <(grep ^start "$SANDBOX_DIR/home/alice/elastic.txt")
	for i in "${!starts[@]}"; do
		[[ ${starts[i]} == "start $i "* ]]
	done
	grep -q ^told "$SANDBOX_DIR/home/alice/elastic.txt"
	# Nobody is left of the group.
	wait_until 30 eval '[ -z "$(running_nodes '"$job"')" ]'
}

@test "what is not used is given back, and no member outlives its lead" {
	submit_elastic
	wait_until 60 job_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	as alice scancel "$job"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = cancelled ]
	for one in $(group_jobs "$job"); do
		wait_until 30 job_ended "$one"
	done
	fresh_status
	[ "$(status ".sales[] | select(.job == $job)")" = "" ]
}

# slurmctld then lets who changes a job of which it asks the database wait for up to 5 s.
# bats test_tags=nightly
@test "slurmdbd hangs: a lead that is to move may be late, but the agent waits for nothing, and the plan's end stands" {
	sandbox restart slurmctld # its figures begin again
	wait_until 30 auction_open
	submit_elastic
	kill -STOP "$(cat "$SANDBOX_DIR/run/slurmdbd.pid")"
	wait_until $(($(plan_end "$job") - EPOCHSECONDS + 30)) job_ended "$job"
	fresh_status
	# A machine that stalls makes one cycle long; an agent that waits, so many that the mean is twice that.
	status .agent.cycles >&2
	[ "$(status .agent.cycles.mean_us)" -lt 150000 ]
	kill -CONT "$(cat "$SANDBOX_DIR/run/slurmdbd.pid")"
	wait_until 60 settled "$job"
}
