# Heterogeneous jobs beside the auction: Slurm takes them only where SchedulerType is sched/backfill to the letter.

load lib
load plugins

slot=5

setup_file()
{
	need_plugins
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --scheduler backfill --slot-seconds 5 --nodes 'n[1-2]:partition=main,cpus=4,mem=4000' \
		--nodes 'edge[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
}

@test "a heterogeneous job runs while a sold job does" {
	wait_until 30 auction_open
	log_has 'auction: other jobs are scheduled by .*/sched_backfill.so'
	bid=$(submit alice $(small_bid 100 3) -o /dev/null --wrap 'sleep 60')
	wait_until 30 job_is "$bid" RUNNING
	het=$(submit bob -p main -N1 -n1 -o out.txt --wrap 'srun --het-group=0,1 printenv SLURMD_NODENAME' : -p main -N1 -n2)
	wait_until 60 job_ended "$het"
	[ "$(sort "$SANDBOX_DIR/home/bob/out.txt" | uniq -c | awk '{print $1}' | sort | paste -sd' ')" = "1 2" ]
	job_is "$bid" 'RUNNING|COMPLETING|TIMEOUT|CANCELLED'
	wait_until 60 settled "$bid"
	[ "$(database_receipt "$bid" .why)" = timeout ]
}

@test "bids do not come as heterogeneous jobs, and ordinary ones are backfilled" {
	run ! as alice sbatch $(small_bid 100 1) -n1 --wrap true : -n1
	[[ $output == *auction* ]]
	job=$(submit bob -p main -t 1 -o /dev/null --wrap true)
	wait_until 30 job_is "$job" COMPLETED
	wait_until 30 eval '[ "$(sdiag | sed -n "s/.*Total cycles: *//p" | tail -n 1)" -gt 0 ]'
}
