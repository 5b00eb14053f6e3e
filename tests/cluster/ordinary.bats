# Everybody else's jobs: with the plugins they are what they are without.

load lib

setup_file()
{
	need_plugins
	cluster_start --plugins off --nodes 'n[1-2]:partition=main,cpus=8,mem=16000,gpus=t4:2' --nodes 'edge[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	export WITHOUT=$SANDBOX_DIR
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --nodes 'n[1-2]:partition=main,cpus=8,mem=16000,gpus=t4:2' --nodes 'edge[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	export WITH=$SANDBOX_DIR
}

teardown_file()
{
	[ -z "${WITHOUT-}" ] || SANDBOX_DIR=$WITHOUT cluster_stop
	[ -z "${WITH-}" ] || SANDBOX_DIR=$WITH cluster_stop
}

# in DIR COMMAND...: as alice, in that cluster.
in_cluster()
{
	SANDBOX_DIR=$1 SLURM_CONF=$1/etc/slurm.conf as alice "${@:2}"
}

# What scontrol says of all jobs named $2 in cluster $1, without what differs between any two clusters: times and directories. A job
# without a limit that backfill happens to start gets one of a year.
jobs_of()
{
	SLURM_CONF=$1/etc/slurm.conf timeout 20 scontrol -o show job | grep "JobName=$2 " | sed "s|$1|DIR|g" | tr ' ' '\n' |
		grep -vE '^(JobId|.*Time|AllocNode:Sid|LastSchedEval|Scheduler|SecsPreSuspend|Deadline|ArrayJobId|Priority|Dependency)=' |
		sed -E -e 's/-[0-9]+(_[0-9]+)?\.out/-N.out/' -e 's/^TimeLimit=365-00:00:00/TimeLimit=UNLIMITED/' | sort
}

all_ended()
{
	! SLURM_CONF=$1/etc/slurm.conf squeue -ho '%j %T' -t all | grep "^$2 " | grep -qvE 'COMPLETED|FAILED|CANCELLED' || false
}

# Nor what srun and salloc say where they have to wait for a moment.
without_numbers()
{
	sed -E -e 's/job [0-9]+/job N/g' -e 's/allocation [0-9]+/allocation N/' -e '/has been revoked/d' \
		-e '/Pending job allocation|queued and waiting|has been allocated|Waiting for resource|ready for job/d'
}

# same NAME COMMAND...: gives the command to both clusters, and compares the jobs named NAME that come of it, and what was printed.
same()
{
	local name=$1 a b

	shift
	a=$(in_cluster "$WITHOUT" "$@" 2>&1 | without_numbers)
	b=$(in_cluster "$WITH" "$@" 2>&1 | without_numbers)
	[ "$a" = "$b" ] || { printf 'without: %s\nwith: %s\n' "$a" "$b"; return 1; }
	wait_until 60 all_ended "$WITHOUT" "$name"
	wait_until 60 all_ended "$WITH" "$name"
	[ -n "$(jobs_of "$WITH" "$name")" ]
	diff <(jobs_of "$WITHOUT" "$name") <(jobs_of "$WITH" "$name")
}

@test "a batch job" {
	same one sbatch -J one -n 2 --mem=100 -t 5 --comment=mine --wrap 'sleep 1'
}

@test "a job of two nodes with GPUs" {
	same two sbatch -J two -N 2 --gres=gpu:2 --wrap 'srun true'
}

@test "an array" {
	same array sbatch -J array --array=1-3 --wrap 'exit $((SLURM_ARRAY_TASK_ID == 2))'
}

@test "a dependency" {
	same chain sh -c 'sbatch -J chain --dependency=afterok:$(sbatch --parsable -J chain --wrap "sleep 1") --wrap true | sed "s/.*/ok/"'
}

@test "srun and salloc" {
	same run srun -J run -n 3 true
	same alloc salloc -J alloc -n 1 srun echo here
}

@test "a job that fails, and one that Slurm refuses" {
	same fails sbatch -J fails --wrap 'exit 7'
	same one sbatch -J one -w nonode --wrap true
	same one sbatch -J one -p nowhere --wrap true
}

@test "a held job, changed and released by its owner" {
	same held sh -c 'j=$(sbatch --parsable -J held --hold --wrap true); scontrol update jobid=$j timelimit=9 comment=x && scontrol release $j'
}

@test "none of them has a receipt" {
	run ! grep -q . <(SLURM_CONF=$WITH/etc/slurm.conf scontrol show job | grep AdminComment)
}

@test "sbatch --help lists the bid's options, and only with the plugins" {
	run -0 in_cluster "$WITH" sbatch --help
	for option in bid epochs chunks minibatches gradient-mb worker-time ps-time upload model quote; do
		[[ $output == *"--$option"* ]] || { echo "no --$option"; return 1; }
	done
	run -0 in_cluster "$WITHOUT" sbatch --help
	[[ $output != *--bid* ]]
}
