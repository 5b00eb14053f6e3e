# Job arrays with a bid: each task is decided for itself, and those that are sold are jobs like any other.

load lib
load plugins

slot=10

setup_file()
{
	conf_write
	auction_start --auction-conf "$BATS_FILE_TMPDIR/auction.conf" --set MaxArraySize=2001 --set OverTimeLimit=5 \
		--set Licenses=auction_cents:2000000000 \
		--nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	export SBID=$(program sbid)
}

teardown()
{
	cancel_all
	# What they had is free again.
	wait_until 60 status_is '.sales | length' 0
}

conf_write()
{
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=dps
		SlotSeconds=$slot
		Overrun=kill
		Slots=1000
		Prices=given
		Eta=gpu:v100=100
		CancelFee=0
		UserQuotes=1000
		UserJobs=5000
		StandsMax=1h
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
}

# A task of a whole node's GPUs for a minute, of which so many can be had in SECONDS. node_bid SECONDS
node_bid()
{
	echo "--bid=deadline:100000,${1}s --nodes=1 --gpus-per-node=4 --cpus-per-task=1 --mem=100 --time=1"
}

# One of one GPU, whenever.
gpu_bid()
{
	echo '--bid=1000 --nodes=1 --gpus-per-node=1 --cpus-per-task=1 --mem=100 --time=1'
}

# How many tasks of array $1 have a receipt in state $2, in slurmctld. tasks_in ARRAY STATE
tasks_in()
{
	scontrol -o show job "$1" | grep -o ' AdminComment={[^ ]*' | grep -c '"state":"'"$2"'"'
}

tasks_are()
{
	[ "$(tasks_in "$1" "$2")" = "$3" ]
}

# The record of task $2 of array $1: field $3. task_field ARRAY TASK FIELD
task_field()
{
	scontrol -o show job "$1_$2" | grep -oE "\b$3=[^ ]*" | head -n 1 | cut -d= -f2-
}

# Its receipt in the accounting, where the last task of an array is called "1_[6%1]" until it starts (26.05). task_receipt ARRAY TASK FILTER
task_receipt()
{
	in_receipt "$(sacct -nPX -j "$1" -S 1970-01-02 -E now+1day -o JobID,AdminComment | grep -E "^$1_(\[$2(%[0-9]+)?]|$2)\|" | tail -n 1 | cut -d'|' -f2-)" "$3"
}

task_receipt_is()
{
	[ "$(task_receipt "$1" "$2" "$3")" = "$4" ]
}

@test "the tasks of an array are sold one by one, and run as Slurm's own do" {
	run -0 as alice sbatch $(gpu_bid) --array=1-5:2 -o %A_%a.txt --wrap 'env | grep ^SLURM_ARRAY_ | sort; echo $SLURM_JOB_ID $CUDA_VISIBLE_DEVICES'
	[[ $output == *'auction: would be accepted: 1 node, '* ]]
	[[ $output == *'auction: that is one task now; each of the 3 is decided in its turn, at the prices of its moment; "sbid list" shows'* ]]
	array=$(grep -o 'Submitted batch job [0-9]*' <<< "$output" | grep -o '[0-9]*$')
	for task in 1 3 5; do
		wait_until 60 task_receipt_is "$array" $task .why completed
		run -0 cat "$SANDBOX_DIR/home/alice/${array}_$task.txt"
		echo "$output"
		[ "${lines[0]}" = "SLURM_ARRAY_JOB_ID=$array" ] && [ "${lines[1]}" = SLURM_ARRAY_TASK_COUNT=3 ]
		[ "${lines[2]}" = "SLURM_ARRAY_TASK_ID=$task" ] && [ "${lines[3]}" = SLURM_ARRAY_TASK_MAX=5 ]
		[ "${lines[4]}" = SLURM_ARRAY_TASK_MIN=1 ] && [ "${lines[5]}" = SLURM_ARRAY_TASK_STEP=2 ]
		[[ ${lines[6]} =~ ^[0-9]+\ [0-3]$ ]]
	done
	# GPUs of tasks have the type of their node.
	of_tasks=$(submit bob --bid=1000 -N1 -n2 --gpus-per-task=1 --mem=100 -t1 -a 0-1 -o %A_%a.txt --wrap 'srun true && echo $SLURM_GPUS_ON_NODE')
	for task in 0 1; do
		wait_until 60 task_receipt_is "$of_tasks" $task .why completed
		[ "$(cat "$SANDBOX_DIR/home/bob/${of_tasks}_$task.txt")" = 2 ]
	done
	# What each GPU brings along, too, with which Slurm keeps GPUs of no type in the record.
	brings=$(submit bob --bid=linear:100000,6000/m -N1 --gres=gpu:2 --cpus-per-gpu=2 --mem-per-gpu=200 -t1 -a 0-1 -o %A_%a.txt \
		--wrap 'echo $SLURM_GPUS_ON_NODE $SLURM_CPUS_ON_NODE')
	several=$(submit bob --bid=linear:100000,6000/m -N1 --gpus-per-node=1 --ntasks-per-gpu=2 --mem=200 -t1 -a 0-1 -o %A_%a.txt \
		--wrap 'echo $SLURM_GPUS_ON_NODE $SLURM_CPUS_ON_NODE')
	for task in 0 1; do
		wait_until 60 task_receipt_is "$brings" $task .why completed
		wait_until 60 task_receipt_is "$several" $task .why completed
		[ "$(cat "$SANDBOX_DIR/home/bob/${brings}_$task.txt")" = "2 4" ]
		[ "$(cat "$SANDBOX_DIR/home/bob/${several}_$task.txt")" = "1 2" ]
		[[ ,$(sacct_field "${brings}_$task" AllocTRES), == *,mem=400M,* ]]
	done
	# Each has a sale of its own, and the accounting tells them apart.
	[ "$(for task in 1 3 5; do task_receipt "$array" $task .sale; done | sort -u | wc -l)" = 3 ]
	run -0 as alice "$SBID" -nPo job,sale list
	[ "$output" = "${array}_1|completed"$'\n'"${array}_3|completed"$'\n'"${array}_5|completed" ]
	run -0 as alice "$SBID" -nPo job,sale show "$array"
	[ "$output" = "${array}_1|completed"$'\n'"${array}_3|completed"$'\n'"${array}_5|completed" ]
	run -0 as alice "$SBID" show "${array}_3"
	[ "${lines[0]}" = "job ${array}_3 (wrap): COMPLETED" ]
}

# bats test_tags=nightly
@test "a task that goes on ends with its plan, whatever Slurm allows beyond its limit; told before if its script traps that" {
	traps="trap 'echo USR1' USR1; trap 'echo USR2' USR2; while :; do sleep 0.2; done"
	soon="$(gpu_bid) --bid=linear:100000,6000/m"
	run -0 as alice "$SBID" block --nodes=1 --gpus-per-node=1 --time=1 --bid=100000
	[[ $output =~ Block\ ([0-9]+): ]]
	inside=$(submit alice --reservation="auction_block_${BASH_REMATCH[1]}" -c1 -o inside.out --wrap "$traps")
	array=$(submit alice $soon -a 1-2 -o /dev/null --wrap 'sleep 600')
	told=$(submit alice $soon -a 1 -o told.out --wrap "$traps")
	own=$(submit alice $soon --signal=B:USR2@5 -o own.out --wrap "$traps")
	for task in "${array}_1" "${array}_2" "${told}_1" "$own"; do
		wait_until 180 job_ended "$task"
		ended_in_time "$task" "$(plan_end "$task")"
		wait_until 60 settled "$task"
	done
	wait_until 120 job_ended "$inside"
	# Who says --signal gets that only.
	[ "$(grep USR "$SANDBOX_DIR/home/alice/told.out")" = USR1 ]
	[ "$(grep USR "$SANDBOX_DIR/home/alice/inside.out")" = USR1 ]
	[ "$(grep USR "$SANDBOX_DIR/home/alice/own.out")" = USR2 ]
	log_has 'is told that its time ends'
}

@test "tasks that do not pay are refused together, and the others run" {
	array=$(submit bob $(node_bid 150) --array=0-9 -o /dev/null --wrap 'sleep 1')
	# Two nodes, a minute each, and what is left of the slot.
	wait_until 30 eval '[ "$(sacct_field '"$array"' AdminComment | jq -r .state)" = unsold ]'
	rest=$(database_receipt "$array" .tasks)
	[ "$rest" -ge 5 ] && [ "$rest" -le 8 ]
	[ "$(database_receipt "$array" .why)" = refused ]
	run -0 as bob "$SBID" why
	[[ $output == *"auction: job $array: $rest of 10 tasks "*" not sold: ${array}_[$((10 - rest))-9]"* ]]
	[[ $output == *'auction: refused: the best schedule would cost '*'comes after the deadline'* ]]
	for ((task = 0; task < 10 - rest; task++)); do
		wait_until 60 eval '[[ $(task_receipt '"$array $task"' .state) =~ ^(sold|running|settled)$ ]]'
	done
	# What no task would get is no array.
	run as bob sbatch $(node_bid 20) --array=0-9 -o /dev/null --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *'auction: refused: '* ]] && [[ $output != *'Submitted'* ]]
}

# A task that waits. task_plan ARRAY TASK
task_plan()
{
	local text

	text=$(task_receipt "$1" "$2" .)
	[ -n "$text" ] && jq -r '"\(.start) \(.completion)"' <<< "$text"
}

# bats test_tags=nightly
@test "no more tasks have their plans at a time than %N says, and an owner gives up one of them" {
	array=$(submit carol $(node_bid 3600) --array=1-6%1 -o /dev/null --wrap 'sleep 100')
	wait_until 30 eval 'tasks_are '"$array"' sold 6 || tasks_are '"$array"' running 1'
	wait_until 30 eval '[ "$(squeue -rho %K -j '"$array"' | wc -l)" = 6 ]'
	for task in 1 2 3 4 5 6; do
		wait_until 30 task_plan "$array" $task
		task_plan "$array" $task
	done | sort -n > "$BATS_TEST_TMPDIR/plans"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/plans")" = 6 ]
	awk '$1 < end {exit 1} {end = $2}' "$BATS_TEST_TMPDIR/plans"
	# Its owner changes none of them, whatever it calls them.
	for name in "$array" "${array}_2" "$(task_field "$array" 2 JobId)"; do
		run as carol scontrol update jobid="$name" timelimit=2
		[ "$status" -ne 0 ]
	done
	# One of them has the number of the array, and is no more than one.
	last=$(squeue -rho '%K %A' -j "$array" | awk '$2 == '"$array"' {print $1}')
	other=$((last % 6 + 1))
	left=6
	for task in "$other" "$last"; do
		as carol scancel "${array}_$task"
		wait_until 60 task_receipt_is "$array" "$task" .why cancelled
		[ "$(squeue -rho %K -j "$array" | wc -l)" = $((--left)) ]
	done
	[ "$(sacct -nPXj "$array" -E now+1day -o AdminComment | grep -c '"why":"cancelled"')" = 2 ]
	as carol "$SBID" cancel "$array"
	wait_until 60 eval '[ -z "$(squeue -ho %A -j '"$array"')" ]'
}

# bats test_tags=nightly
@test "tasks that are refused stand, if they are to, and other jobs wait for all of them" {
	alice=$(submit alice --bid=1000000 --nodes=2 --gpus-per-node=4 --cpus-per-task=1 --mem=100 --time=30 -o /dev/null --wrap 'sleep 2000')
	wait_until 60 receipt_state_is "$alice" running
	# There is room in half an hour, which is too late.
	array=$(submit bob $(node_bid 900) --array=3,5 --stands=20m -o /dev/null --wrap 'sleep 1')
	wait_until 30 eval 'as bob "$SBID" -nPo job,sale list | grep -qx "'"$array"'_\[3,5\]|waiting"'
	[ "$(job_field "$array" Reason)" = JobHeldUser ]
	run as bob scontrol release "$array"
	[ "$status" -ne 0 ]
	# Until they have bought something nobody knows when they end.
	run as bob sbatch --bid=1000 --nodes=1 --cpus-per-task=1 --mem=100 --time=1 --dependency=afterok:"$array" --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *"$array was not sold by this auction, or has ended"* ]]
	run as bob sbatch --bid=1000 --nodes=1 --cpus-per-task=1 --mem=100 --time=1 --dependency=afterok:"${array}_3" --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *"${array}_3 was not sold by this auction, or has ended"* ]]
	as alice scancel "$alice"
	wait_until 60 tasks_are "$array" waiting 0
	after=$(submit bob --bid=1000 --nodes=1 --cpus-per-task=1 --mem=100 --time=1 --dependency=afterok:"$array" -o /dev/null --wrap true)
	[ "$(receipt_get "$after" .start)" -ge "$(receipt_get "${array}_3" .completion)" ]
	[ "$(receipt_get "$after" .start)" -ge "$(receipt_get "${array}_5" .completion)" ]
	# Nor does one task end later than all.
	one=$(submit bob --bid=1000 --nodes=1 --cpus-per-task=1 --mem=100 --time=1 --dependency=afterok:"${array}_3" -o /dev/null --wrap true)
	[ "$(receipt_get "$one" .start)" -ge "$(receipt_get "${array}_3" .completion)" ]
	for task in 3 5; do
		wait_until 90 task_receipt_is "$array" $task .why completed
	done
	wait_until 120 database_receipt_is "$one" .why completed
}

# Column $3 of sbid's rows of array $2, which is $1's, added up. sum_of USER ARRAY COLUMN
sum_of()
{
	as "$1" "$SBID" -nPo "job,$3" list | awk -F'|' '$1 ~ /^'"$2"'_/ {sum += $2 * 1e6} END {printf "%.0f\n", sum}'
}

# True if LICENSES show PAYMENT, in credits for a minute, an hour of each being a hundredth of a credit. shows LICENSES PAYMENT
shows()
{
	[[ $1 == auction_cents:* ]] && awk -v n="${1#*:}" -v paid="$2" 'BEGIN {d = n / 100 - paid * 60; exit !(d <= 0.01 && d >= -0.01)}'
}

@test "each task pays for itself, all who count agree, and what is given up is paid back" {
	local sauction=$(program sauction)

	# One GPU of each node, so that the others have a price.
	alice=$(submit alice --bid=1000000 --nodes=2 --gpus-per-node=1 --cpus-per-task=1 --mem=100 --time=30 -o /dev/null --wrap 'sleep 2000')
	wait_until 60 receipt_state_is "$alice" running
	array=$(submit carol --bid=deadline:1000000,100s --nodes=1 --gpus-per-node=1 --cpus-per-task=1 --mem=100 --time=1 --array=1-6 -o /dev/null --wrap 'sleep 100')
	wait_until 60 eval '[ "$(as carol "$SBID" -nPo job list | grep -c "^'"$array"'_[1-6]$")" = 6 ]'
	# Later ones cost more, as less is left.
	run -0 as carol "$SBID" -nPo paid show "$array"
	[ "$(sort -u <<< "$output" | wc -l)" -gt 1 ]
	paid=$(sum_of carol "$array" paid)
	[ "$paid" -gt 0 ]
	[ "$("$lib_dir/../cmd/audit" "$SANDBOX_DIR/state/auction" | sed -n 's/^charged \([0-9]*\) .*/\1/p')" -ge "$paid" ]
	# As sreport will have it; a job that is none of an array, too.
	for task in 1 5; do
		shows "$(task_field "$array" $task Licenses)" "$(as carol "$SBID" -nPo job,paid list | sed -n "s/^${array}_$task|//p")"
	done
	one=$(submit carol --bid=deadline:1000000,10m --nodes=1 --gpus-per-node=1 --cpus-per-task=1 --mem=100 --time=1 -o /dev/null --wrap true)
	shows "$(job_field "$one" Licenses)" "$(receipt_get "$one" .payment)"
	as carol scancel "${array}_6"
	wait_until 60 task_receipt_is "$array" 6 .why cancelled
	back=$(task_receipt "$array" 6 '.refund | tonumber * 1000000 | round')
	[ "$back" -gt 0 ]
	wait_until 60 eval '[ "$(sum_of carol '"$array"' paid)" = '"$((paid - back))"' ]'
	[ "$(sum_of carol "$array" back)" = "$back" ]
	# A line for each job.
	run -0 "$sauction" report --focus -nP -o ResourceId,BilledCost
	[ "$(awk -F'|' '$1 ~ /^'"$array"'_/ {sum += $2 * 1e6} END {printf "%.0f", sum}' <<< "$output")" = "$((paid - back))" ]
}

# bats test_tags=nightly
@test "a thousand tasks, and a slurmctld that is killed while they are decided" {
	local log="$SANDBOX_DIR/log/slurmctld.log" before began took

	confirmed() { grep -c 'sale .* confirmed' "$log"; }
	before=$(confirmed || true)
	began=$(date +%s%N)
	array=$(submit alice $(gpu_bid) --array=0-999 -o /dev/null --wrap true)
	took=$((($(date +%s%N) - began) / 1000000))
	echo "sbatch took $took ms"
	[ "$took" -lt 2000 ]
	wait_until 60 eval '[ "$(($(confirmed) - '"$before"'))" = 1000 ]'
	echo "all are sold after $((($(date +%s%N) - began) / 1000000)) ms"
	# No decision was made under the lock together with others.
	[ "$(squeue -rho %K -j "$array" | sort -un | wc -l)" -gt 900 ]
	as alice scancel "$array"
	wait_until 120 status_is '.sales | length' 0
	before=$(confirmed)
	array=$(submit carol $(gpu_bid) --array=0-599 -o /dev/null --wrap true)
	wait_until 30 eval '[ "$(($(confirmed) - '"$before"'))" -ge 100 ]'
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	# Each has one sale, whatever of it slurmctld had forgotten.
	wait_until 120 eval '[ -z "$(squeue -rho %r -j '"$array"' | grep Held)" ]'
	wait_until 120 status_is '.sales | length' "$(squeue -rho %K -j "$array" | wc -l)"
	[ -z "$(squeue -rho %K -j "$array" | sort | uniq -d)" ]
	[ -z "$(scontrol -o show job "$array" | grep -o '"sale":"[^"]*"' | sort | uniq -d)" ]
}

@test "what is no bid of an array is refused with the reason" {
	run as alice sbatch $(small_bid 1000 2) --array=0-3 --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *'--array=0-3: a job of workers and PSs cannot be an array; submit one job for each bid'* ]]
	run as alice sbatch $(gpu_bid) --array=0-3 --dependency=singleton --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *'--dependency=singleton: the tasks of an array have one name, so that Slurm would run one after another, whatever they have bought'* ]]
	run as alice sbatch $(gpu_bid) --array=5000 --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *'--array=5000: expected numbers of tasks below 2001 (MaxArraySize), as in 0-9, 1,3,7 or 0-99%10'* ]]
	run as alice sbatch $(gpu_bid) --array=0-3 --quote --wrap true
	[[ $output == *'auction: would be accepted: '*'that is one task now; each of the 4 is decided in its turn, at the prices of its moment'* ]]
	[[ $output != *Submitted* ]]
	run as alice sbatch $(gpu_bid) --array=3 --quote --wrap true
	[[ $output == *'auction: would be accepted: '*'that is one task now; it is decided in its turn, at the prices of its moment'* ]]
}
