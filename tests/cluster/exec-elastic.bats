# Plans of several layouts on a real cluster: nodes come and go, the lead moves and keeps its number.

load lib
load plugins

slot=10

setup_file()
{
	need_plugins
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=oasis
		SlotSeconds=$slot
		Slots=60
		Prices=learned
		RefundUnused=yes
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'node[1-3]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	wait_until 20 eval 'as alice sbatch --quote --bid=1 --worker-time=v100=1s --wrap true 2>&1 | grep -q "auction: .*slots"'
}

teardown_file()
{
	cluster_stop
}

# A bid for CHUNKS workers at most. bid CHUNKS EPOCHS
bid()
{
	echo "--bid=sigmoid:1000,0.1,60 --chunks=$1 --epochs=$2 --minibatches=$slot --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s"
}

# submit_elastic FILTER: bids among others until a plan is as jq's FILTER wants it; the job is in $job, the others are cancelled.
submit_elastic()
{
	local tries

	for tries in 1 2 3 4 5 6 7 8; do
		submit bob $(bid $((1 + tries % 3)) $((1 + tries % 2))) -o /dev/null --wrap 'sleep 200' > /dev/null || true
		job=$(submit alice $(bid $((3 + tries)) 3) -o elastic.txt --open-mode=append \
			--wrap 'echo start "${SLURM_RESTART_COUNT-0}" "$SLURMD_NODENAME"; trap "echo told" USR1; while :; do sleep 1 & wait; done') ||
			continue
		wait_until 5 receipt_state_is "$job" 'sold'
		[ "$(receipt_get "$job" "$1")" != true ] || return 0
		as alice scancel "$job"
		wait_until 20 job_ended "$job"
	done
	echo "no plan is such that $1" >&2
	return 1
}

# Nodes on which jobs of the group run.
running_nodes()
{
	timeout 20 squeue -ho %N -t R -j "$(group_jobs "$1" | paste -sd,)" | sort | paste -sd' '
}

runs_on()
{
	[ "$(running_nodes "$1")" = "$2" ]
}

@test "each layout stands soon after its first slot begins; the lead keeps its number where it moves" {
	rm -f "$SANDBOX_DIR/home/alice/elastic.txt"
	submit_elastic '(.plan | length) > 1'
	payment=$(receipt_get "$job" .payment)
	for ((run = 0; run < $(receipt_get "$job" '.plan | length'); run++)); do
		from=$(receipt_get "$job" ".plan[$run].from * .slot_seconds")
		nodes=$(receipt_get "$job" ".plan[$run] | (.workers + .ps) | keys | sort | join(\" \")")
		wait_until $((from - $(date +%s) + 1)) eval "[ \$(date +%s) -ge $from ]"
		wait_until $((slot - 2)) runs_on "$job" "$nodes"
		grep -q "$(job_field "$job" NodeList)" <<< "$nodes"
	done
	wait_until 30 settled "$job"
	[ "$(database_receipt "$job" .why)" = timeout ]
	[ "$(database_receipt "$job" .payment)" = "$payment" ]
	# The script began on each node that the lead was on, and was told of each change while it was there.
	mapfile -t starts < <(grep ^start "$SANDBOX_DIR/home/alice/elastic.txt")
	for i in "${!starts[@]}"; do
		[[ ${starts[i]} == "start $i "* ]]
	done
	grep -q ^told "$SANDBOX_DIR/home/alice/elastic.txt"
	# Nobody is left of the group.
	wait_until 10 eval '[ -z "$(running_nodes '"$job"')" ]'
}

@test "what is not used is given back, and no member outlives its lead" {
	submit_elastic '(.plan | length) > 1'
	wait_until 60 job_is "$job" RUNNING
	wait_until 5 receipt_state_is "$job" running
	as alice scancel "$job"
	wait_until 20 settled "$job"
	[ "$(database_receipt "$job" .why)" = cancelled ]
	for one in $(group_jobs "$job"); do
		wait_until 10 job_ended "$one"
	done
	fresh_status
	[ "$(status ".sales[] | select(.job == $job)")" = "" ]
}
