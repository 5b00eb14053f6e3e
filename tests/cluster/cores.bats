# bats file_tags=nightly
# What Slurm gives beyond what a job says: whole cores where these have two threads, defaults of partitions and of the cluster. Gangs buy
# that.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --set SelectTypeParameters=CR_Core_Memory --set DefCpuPerGPU=3 --set DefMemPerGPU=700 \
		--nodes 'node[1-2]:partition=edge,cpus=8,threads=2,mem=16000,gpus=v100:2' \
		--nodes 'node[3-4]:partition=cloud,cpus=16,threads=2,mem=16000,gpus=v100:2' --nodes 'node5:partition=cloud,cpus=8,mem=16000,gpus=t4:2'
	scontrol update partitionname=cloud DefaultTime=2 DefMemPerCPU=30 JobDefaults=DefCpuPerGPU=6,DefMemPerGPU=900
	wait_until 60 rules_known
}

teardown()
{
	cancel_all
}

# cpus_of JOB: what it bought of each node.
cpus_of()
{
	receipt_get "$1" .per_node.cpu
}

running_is()
{
	[ "$(timeout 20 squeue -h -t R -p edge | wc -l)" = "$1" ]
}

@test "jobs of one CPU: as many at once as there are cores, and all of them run" {
	begin=$(date -d "@$((EPOCHSECONDS + 60))" +%FT%T)
	for _ in 1 2 3 4; do
		jobs+=("$(submit alice --bid=linear:3000,100/m -w node1 -c1 --mem=100 -t3 -b "$begin" -o /dev/null --wrap 'sleep 170')")
	done
	start=$(plan_start "${jobs[3]}")
	next=$(submit alice --bid=linear:3000,100/m -w node1 -c1 --mem=100 -t1 -b "$(date -d "@$start" +%FT%T)" -o /dev/null --wrap true)
	for job in "${jobs[@]}"; do
		[ "$(cpus_of "$job")" = 2 ]
		[ "$(plan_start "$next")" -ge "$(plan_end "$job")" ]
	done
	wait_until 120 running_is 4
	# What was sold is what Slurm gives.
	[[ ,$(job_tres "${jobs[0]}"), == *,cpu=2,* ]]
}

@test "an odd number of CPUs, tasks, memory of a CPU, and workers: the next whole core" {
	three=$(submit alice --bid=linear:3000,100/m -c3 --mem-per-cpu=100 -t1 -o three.out --wrap 'echo $SLURM_CPUS_ON_NODE')
	[ "$(receipt_get "$three" '"\(.per_node.cpu) \(.per_node.mem)"')" = "4 400" ]
	tasks=$(submit alice --bid=linear:3000,100/m -N2 -n6 --ntasks-per-node=3 --mem=100 -t1 -o tasks.out --wrap 'srun -l true && echo all')
	[ "$(cpus_of "$tasks")" = 4 ]
	even=$(submit alice --bid=linear:3000,100/m -c2 --gpus-per-node=v100:1 --mem=100 -t1 -o /dev/null --wrap true)
	[ "$(cpus_of "$even")" = 2 ]
	array=$(submit alice --bid=linear:3000,100/m -a 1-2 -c1 --mem=100 -t1 -o /dev/null --wrap true)
	for job in "$three" "$tasks" "$even" "${array}_1" "${array}_2"; do
		wait_until 90 job_ended "$job"
		wait_until 60 sacct_is "$job" State COMPLETED
	done
	[ "$(cat "$SANDBOX_DIR/home/alice/three.out")" = 4 ]
	grep -q all "$SANDBOX_DIR/home/alice/tasks.out"
	[[ ,$(sacct_field "$three" AllocTRES), == *,cpu=4,*mem=400M,* ]]
	[[ ,$(sacct_field "${array}_2" AllocTRES), == *,cpu=2,* ]]
	# Workers of two CPUs are as they were; the log names what is sold in halves of cores.
	workers=$(submit bob $(small_bid 3000 2) -o /dev/null --wrap true)
	wait_until 90 job_ended "$workers"
	wait_until 60 sacct_is "$workers" State COMPLETED
	wait_until 30 log_has 'PSType=ps.s: cpu is no multiple of 2, by which Slurm hands CPUs out'
	! log_has 'WorkerType=v100: cpu is no multiple' || false
}

@test "defaults of the cluster and of a partition: memory, CPUs and memory of a GPU, time" {
	gpu=(--bid=linear:3000,100/m --gpus-per-node=v100:1)
	run ! as alice sbatch "${gpu[@]}" -p edge --wrap true
	[[ $output == *"--time: not given"* ]]
	# DefCpuPerGPU and DefMemPerGPU of slurm.conf.
	cluster=$(submit alice "${gpu[@]}" -p edge -t1 -o /dev/null --wrap true)
	[ "$(receipt_get "$cluster" '"\(.per_node.cpu) \(.per_node.mem)"')" = "4 700" ]
	own=$(submit alice "${gpu[@]}" -p cloud -o /dev/null --wrap true)
	[ "$(receipt_get "$own" '"\(.per_node.cpu) \(.per_node.mem) \(.completion - .start)"')" = "6 900 12" ]
	array=$(submit alice "${gpu[@]}" -p cloud -a 1-2 -o /dev/null --wrap true)
	# What a job says holds, and the rest is the partition's; without GPUs it has memory by CPU.
	said=$(submit alice "${gpu[@]}" -p cloud -c2 --mem=100 -t1 -o /dev/null --wrap true)
	[ "$(receipt_get "$said" '"\(.per_node.cpu) \(.per_node.mem)"')" = "2 100" ]
	plain=$(submit alice --bid=linear:3000,100/m -p cloud -c2 -t1 -o /dev/null --wrap true)
	[ "$(receipt_get "$plain" '"\(.per_node.cpu) \(.per_node.mem)"')" = "2 60" ]
	# Of no partition: where its GPUs are, the first one of auction.conf.
	any=$(submit alice --bid=linear:3000,100/m --gpus-per-node=t4:1 -o /dev/null --wrap true)
	[ "$(receipt_get "$any" '"\(.per_node.cpu) \(.per_node.mem)"')" = "6 900" ]
	run -0 as alice salloc "${gpu[@]}" -p edge -t1 true
	for job in "$cluster" "$own" "${array}_1" "${array}_2" "$said" "$plain" "$any"; do
		wait_until 90 job_ended "$job"
		wait_until 60 sacct_is "$job" State COMPLETED
	done
	[[ ,$(sacct_field "$cluster" AllocTRES), == *,cpu=4,*mem=700M,* ]]
	[[ ,$(sacct_field "$own" AllocTRES), == *,cpu=6,*mem=900M,* ]]
	[[ ,$(sacct_field "${array}_2" AllocTRES), == *,cpu=6,*mem=900M,* ]]
	[[ ,$(sacct_field "$plain" AllocTRES), == *,cpu=2,*mem=60M,* ]]
	! log_has 'changed' || false
}

@test "a site of no WorkerType: prices of all types of GPUs, and names that no node has" {
	sed -i -e '/^WorkerType=/d; /^PSType=/d; /^Model=/d' -e 's/^Eta=.*/Eta=GPU=20,gpu:V10=8/' -e '/^PartitionName=edge/s/$/ Cost=gpu=60/' \
		"$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 log_has 'auction.conf: Eta=gpu:V10: no node of the auction has such a TRES'
	wait_until 60 rules_known
	job=$(submit alice --bid=3000 -w node1 -t1 -c2 --mem=100 --gpus-per-node=1 -o /dev/null --wrap true)
	# A credit for a minute; and where half of them are sold, what Eta says.
	[ "$(receipt_get "$job" '.payment | tonumber == 1')" = true ]
	begin=$(date -d "@$((EPOCHSECONDS + 90))" +%FT%T)
	gpu=(--bid=linear:3000,500/m -w node1 -t1 -c2 --mem=100 --gpus-per-node=v100:1 -b "$begin" -o /dev/null)
	first=$(submit alice "${gpu[@]}" --wrap true)
	again=$(submit alice "${gpu[@]}" --wrap true)
	[ "$(plan_start "$again")" = "$(plan_start "$first")" ]
	[ "$(receipt_get "$again" '(.payment | tonumber) > 2')" = true ]
	wait_until 90 job_ended "$job"
	wait_until 60 sacct_is "$job" State COMPLETED
	run ! as alice sbatch $(small_bid 3000 2) --wrap true
	[[ $output == *auction:* ]]
}
