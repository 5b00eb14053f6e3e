# bats file_tags=nightly
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
	refused='auction: a heterogeneous job cannot bid; submit each part of it as a job of its own'
	run ! as alice sbatch $(small_bid 100 1) -n1 --wrap true : -n1
	[[ $output == *"$refused"* ]]
	printf '#!/bin/sh\n#SBATCH --bid=100 -n1 -t1\n#SBATCH hetjob\n#SBATCH -n2\ntrue\n' > "$SANDBOX_DIR/home/alice/het.sh"
	run ! as alice sbatch het.sh
	[[ $output == *"$refused"* ]]
	run ! as alice salloc -n1 -t1 : --bid=100 -n1 -t1 true
	[[ $output == *"$refused"* ]]
	job=$(submit bob -p main -t 1 -o /dev/null --wrap true)
	wait_until 30 job_is "$job" COMPLETED
	wait_until 30 eval '[ "$(sdiag | sed -n "s/.*Total cycles: *//p" | tail -n 1)" -gt 0 ]'
}
