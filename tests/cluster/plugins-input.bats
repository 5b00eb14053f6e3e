# What cannot be combined with a bid, and what nobody can do to a sold job, each with its message.

load lib
load plugins

slot=5

setup_file()
{
	auction_start
}

# refused TEXT SBATCH-ARGUMENT...: with a bid, and the message has TEXT.
refused()
{
	local text=$1

	shift
	run ! as alice sbatch $(small_bid 100 1) -o /dev/null "$@" --wrap true
	grep -qF -- "sbatch: error: auction: $text" <<< "$output" || { echo "no '$text' in: $output"; return 1; }
}

decided=' cannot be combined with a bid: the auction decides nodes, tasks, CPUs, memory, GPUs, start and time; leave it out'
delaying=' cannot be combined with a bid: it could keep the job from starting in the slots it pays for; leave it out'

@test "options that the auction decides" {
	refused "--nodes$decided" -N 2
	refused "--ntasks$decided" -n 4
	refused "--cpus-per-task$decided" -c 2
	refused "--mem$decided" --mem=100
	refused "--mem$decided" --mem-per-cpu=10
	refused "--gres$decided" --gres=gpu:v100:1
	refused "--gpus$decided" --gpus=1
	refused "--gpus-per-task$decided" -n 1 --gpus-per-task=1
	refused "--time$decided" -t 5
	refused "--time-min$decided" --time-min 5
	refused "--begin$decided" --begin=now+60
	refused "--deadline$decided" --deadline=now+3600
	refused "--nodelist$decided" -w edge1
	refused "--exclude$decided" -x edge1
	refused "--exclusive$decided" --exclusive
	refused "--mincpus$decided" --mincpus=2
	refused "--core-spec$decided" --core-spec=1
	# It would get whole sockets.
	refused "--gres-flags=enforce-binding$decided" --gres-flags=enforce-binding
}

@test "options that could delay a sold job" {
	refused "--constraint$delaying" -C big
	refused "--dependency$delaying" -d afterany:1
	refused "--reservation$delaying" --reservation=r
	refused "--licenses$delaying" -L x:1
	refused "--switches$delaying" --switches=1
	refused "--hold$delaying" --hold
}

@test "all options that do not go with a bid are named at once, and the variables that they may come from" {
	refused "--time, --nodes, --mem, --exclude${decided/leave it out/leave them out}" -t 5 -N 2 --mem=100 -x edge1
	refused "--dependency, --hold${delaying/it could*/they could keep the job from starting in the slots it pays for; leave them out}" --hold -d afterany:1
	run ! sandbox exec -u alice -- env SBATCH_TIMELIMIT=5 SBATCH_MEM_PER_NODE=100 SBATCH_GRES=gpu:1 \
		sbatch $(small_bid 100 1) -d afterany:1 -o /dev/null --wrap true
	[[ $output == *"auction: --time (SBATCH_TIMELIMIT is set), --mem (SBATCH_MEM_PER_NODE is set), --gres (SBATCH_GRES is set), --dependency cannot be combined"* ]]
}

@test "one node and one task are what a sold job has anyway" {
	job=$(submit alice $(small_bid 100 1) -N 1 -n 1 -o /dev/null --wrap true)
	as alice scancel "$job"
}

@test "job arrays and heterogeneous jobs" {
	refused "--array=1-3: a job of workers and PSs cannot be an array; submit one job for each bid" --array=1-3
	run ! as alice sbatch $(small_bid 100 1) -o /dev/null : -n1 --wrap true
	[[ $output == *"auction: a heterogeneous job cannot bid; submit each part of it as a job of its own, with its own bid"* ]]
}

@test "srun and salloc cannot bid for workers and PSs" {
	run ! as alice srun $(small_bid 100 1) true
	[[ $output == *"only batch jobs can bid for them; use sbatch"* ]]
	run ! as alice salloc $(small_bid 100 1) true
	[[ $output == *"only batch jobs can bid for them; use sbatch"* ]]
	# Without the SPANK plugin's help, by the partition alone.
	run ! as alice srun -p edge true
	[[ $output == *"auction: partition edge is sold by auction: a job needs a bid"* ]]
}

@test "partitions: a bid is for the auction's, others need one there" {
	refused '--partition=main: a bid is for a partition of the auction (edge, cloud); name one of them or none' -p main
	refused '--partition=edge,main: a bid is for a partition of the auction (edge, cloud); name one of them or none' -p edge,main
	run ! as alice sbatch -p cloud --wrap true
	grep -qF 'sbatch: error: auction: partition cloud is sold by auction: a job needs a bid, as in sbatch --bid=' <<< "$output"
	run ! as alice sbatch -p main,edge --wrap true
	grep -qF "auction: --partition=main,edge: the auction's partitions (edge, cloud) cannot be combined with others" <<< "$output"
	job=$(submit alice -p edge $(small_bid 100 1) -o /dev/null --wrap true)
	as alice scancel "$job"
}

@test "a bid that names partitions is kept to them" {
	# v100 are on edge nodes and in the cloud; data are sooner at the edge, so that is where it goes by itself.
	job=$(submit alice $(small_bid 100 1) -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	[ "$(job_field "$job" Partition)" = edge ]
	[[ $(receipt_get "$job" '.plan[0].workers | keys[0]') == edge* ]]
	as alice scancel "$job"
	job=$(submit alice -p cloud $(small_bid 100 1) -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	[ "$(job_field "$job" Partition)" = cloud ]
	[[ $(receipt_get "$job" '.plan[0].workers | keys[0]') == cloud* ]]
	as alice scancel "$job"
	job=$(submit alice -p cloud,edge $(small_bid 100 1) -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	[ "$(job_field "$job" Partition)" = edge ]
	as alice scancel "$job"
}

@test "an ordinary job does not get into the auction's partition by a change" {
	job=$(submit alice -p main --hold -o /dev/null --wrap true)
	run ! as alice scontrol update jobid="$job" partition=edge
	[ "$(job_field "$job" Partition)" = main ]
	log_has "job $job: change by uid 2001 denied: partition edge is sold by auction"
	# Other changes of ordinary jobs are as ever.
	run -0 as alice scontrol update jobid="$job" timelimit=7
	as alice scancel "$job"
}

@test "a receipt cannot be forged" {
	type -P cc > /dev/null && [ -e /usr/include/slurm/slurm.h ] || skip "no C compiler or no Slurm headers"
	cat > "$BATS_TEST_TMPDIR/forge.c" <<'END'
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <errno.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char *env[] = { "PATH=/bin" };
	submit_response_msg_t *r = NULL;
	job_desc_msg_t d;
	slurm_init(NULL);
	slurm_init_job_desc_msg(&d);
	d.user_id = getuid();
	d.group_id = getgid();
	d.script = "#!/bin/sh\ntrue\n";
	d.environment = env;
	d.env_size = 1;
	d.work_dir = "/";
	d.std_out = "/dev/null";
	d.partition = argv[1];
	d.admin_comment = argv[2];
	d.min_nodes = 1;
	if (slurm_submit_batch_job(&d, &r)) {
		printf("%s\n", slurm_strerror(errno));
		return 1;
	}
	printf("taken\n");
	return 0;
}
END
	cc -w -o "$SANDBOX_DIR/home/alice/forge" "$BATS_TEST_TMPDIR/forge.c" -lslurm || skip "cannot be compiled here"
	real=$(submit alice $(wide_bid 1000) -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$real" sold
	sale=$(receipt_get "$real" .sale)
	for text in "$(receipt "$real")" "{\"auction\":1,\"sale\":\"$sale\",\"state\":\"member\",\"lead\":$real}"; do
		for partition in edge main; do
			run ! as alice ./forge "$partition" "$text"
			[ "$output" = 'Access/permission denied' ]
		done
	done
	# Nor by a change, of one's own ordinary job.
	plain=$(submit alice -p main --hold -o /dev/null --wrap true)
	run ! as alice scontrol update jobid="$plain" AdminComment="$(receipt "$real")"
	[[ $(receipt "$plain") != *auction* ]]
	as alice scancel "$real" "$plain"
	wait_until 60 settled "$real"
}

# While a job pends Slurm shows "NumCPUs=10-10"; it may start meanwhile.
sold_fields()
{
	scontrol show job "$1" | grep -oE '\<(ReqNodeList|TimeLimit|NumCPUs|Partition)=[^ ]*' | sed 's/^\(NumCPUs=[0-9]*\)-.*/\1/' | sort | tr '\n' ' '
}

# unchangeable JOB: nothing that its owner tries with scontrol gets through.
unchangeable()
{
	local before after what

	before=$(sold_fields "$1")
	for what in TimeLimit=100 ReqNodeList=edge6 NodeList=edge6 NumCPUs=1 Partition=main Priority=1 Nice=100 Requeue=1 \
		MinMemoryNode=1 StartTime=now+600 Dependency=afterany:1 Comment=x Gres=gpu:1 ExcNodeList=edge1 Features=x; do
		run ! as alice scontrol update jobid="$1" "$what" || { echo "$what"; return 1; }
	done
	for what in hold uhold release requeue requeuehold; do
		run ! as alice scontrol "$what" "$1" || { echo "$what"; return 1; }
	done
	after=$(sold_fields "$1")
	[ "$after" = "$before" ] || { echo "was $before, is $after"; return 1; }
}

@test "a sold job cannot be changed by its owner, neither its lead nor its members, pending or running" {
	# Long enough for all of what is tried, on a slow machine, too.
	job=$(submit alice $(wide_bid 1000 60) -o /dev/null --wrap 'sleep 600')
	wait_until 30 receipt_state_is "$job" sold
	unchangeable "$job"
	wait_until 30 group_is "$job" RUNNING
	for one in $(group_jobs "$job"); do
		unchangeable "$one"
	done
	# From 26.05 on Slurm lets owners suspend their jobs; what was sold goes on at once.
	for one in $(group_jobs "$job"); do
		as alice scontrol suspend "$one" || continue
		wait_until 30 job_is "$one" RUNNING
	done
	log_has "job $job: change by uid 2001 denied: job $job was sold by auction as it stands and cannot be changed"
	as alice scancel "$job"
	wait_until 60 settled "$job"
}

@test "a sold job cannot be changed by a request that names two jobs" {
	type -P cc > /dev/null && [ -e /usr/include/slurm/slurm.h ] || skip "no C compiler or no Slurm headers"
	cat > "$BATS_TEST_TMPDIR/twoids.c" <<'END'
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	job_array_resp_msg_t *r = NULL;
	job_desc_msg_t d;
	slurm_init(NULL);
	slurm_init_job_desc_msg(&d);
	d.job_id_str = argv[1];
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	d.step_id.job_id = atoi(argv[2]);
#else
	d.job_id = atoi(argv[2]);
#endif
	d.time_limit = atoi(argv[3]);
	if (slurm_update_job2(&d, &r)) {
		printf("%s\n", slurm_strerror(errno));
		return 1;
	}
	printf("changed\n");
	return 0;
}
END
	cc -w -o "$SANDBOX_DIR/home/alice/twoids" "$BATS_TEST_TMPDIR/twoids.c" -lslurm || skip "cannot be compiled here"
	job=$(submit alice $(small_bid 100 4) -o /dev/null --wrap 'sleep 60')
	other=$(submit alice -p main --hold -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	before=$(sold_fields "$job")
	run ! as alice ./twoids "$job" "$other" 100
	# Newer releases print the reason, too.
	[[ $output == *'Access/permission denied' ]]
	[ "$(sold_fields "$job")" = "$before" ]
	# The other way round it is the other one that is changed.
	run -0 as alice ./twoids "$other" "$job" 100
	[ "$(job_field "$other" TimeLimit)" = 01:40:00 ]
	[ "$(sold_fields "$job")" = "$before" ]
	as alice scancel "$job" "$other"
	wait_until 60 settled "$job"
}

@test "a change in the moment before the sale is confirmed does not get through" {
	local i job wait

	# The controller's agent confirms a sale a few milliseconds after its submission.
	cat > "$SANDBOX_DIR/home/alice/quick.sh" <<'END'
wait=$1
shift
job=$(sbatch --parsable "$@" -o /dev/null --wrap 'sleep 60' 2> /dev/null)
sleep "$wait"
scontrol update jobid="$job" timelimit=100 2> /dev/null && exit 1
echo "$job"
END
	for i in {0..9}; do
		printf -v wait '0.%03d' "$i"
		job=$(as alice sh quick.sh "$wait" $(small_bid 100 20))
		wait_until 30 receipt_state_is "$job" sold
		[ "$(job_field "$job" TimeLimit)" != 01:40:00 ]
		as alice scancel "$job"
	done
}

@test "a broken auction.conf: the old one stays in force, and log and status say where" {
	conf=$SANDBOX_DIR/etc/auction.conf
	cp "$conf" "$BATS_TEST_TMPDIR/auction.conf"
	echo 'SlotSeconds=soon' >> "$conf"
	lines=$(wc -l < "$conf")
	scontrol reconfigure
	wait_until 30 log_has "configuration not reloaded: .*auction.conf:$lines: SlotSeconds=soon"
	warns()
	{
		[[ $(sandbox exec -- sauction -n -P state | sed -n 's/^warning|//p') == $1 ]]
	}
	wait_until 30 warns "configuration not reloaded: *auction.conf:$lines: SlotSeconds=soon*"
	# Until the agent has looked at Slurm's partitions again, bids are to try again in a moment.
	wait_until 30 eval 'job=$(submit alice $(small_bid 100 1) -o /dev/null --wrap true)'
	cp "$BATS_TEST_TMPDIR/auction.conf" "$conf"
	reconfigure
	wait_until 30 warns ''
	wait_until 60 settled "$job"
}

@test "a default bid for jobs without one" {
	conf=$SANDBOX_DIR/etc/auction.conf
	cp "$conf" "$BATS_TEST_TMPDIR/auction.conf"
	echo 'DefaultBid="bid=50 model=small"' >> "$conf"
	reconfigure
	wait_until 30 eval 'job=$(submit alice -p edge -o /dev/null --wrap true)'
	job=$(submit alice -p edge -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	run ! as alice srun -p edge true
	[[ $output == *"auction: partition edge is sold by auction: "* ]]
	cp "$BATS_TEST_TMPDIR/auction.conf" "$conf"
	reconfigure
	wait_until 30 eval '! submit alice -p edge -o /dev/null --wrap true'
}

# bats test_tags=nightly
@test "a broken auction.conf at the start: bids and the auction's partitions are refused with the reason, other jobs run" {
	conf=$SANDBOX_DIR/etc/auction.conf
	cp "$conf" "$BATS_TEST_TMPDIR/auction.conf"
	sed -i 's/^Slots=.*/Slots=many/' "$conf"
	sandbox restart slurmctld
	refused 'no bids and no jobs in the auction'\''s partitions now: '
	[[ $output == *Slots=many* ]]
	run ! as alice sbatch -p edge --wrap true
	[[ $output == *Slots=many* ]]
	job=$(submit alice -p main -o /dev/null --wrap true)
	wait_until 30 job_is "$job" COMPLETED
	cp "$BATS_TEST_TMPDIR/auction.conf" "$conf"
	scontrol reconfigure
	wait_until 30 auction_open
	job=$(submit alice $(small_bid 100 1) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
}
