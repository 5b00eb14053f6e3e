# Slurm's rules of a partition hold for what is sold there: State, who may use it, how long and how wide a job may be. Quotes and bids
# obey them at once, per user; what is sold already runs (DRAIN) or waits and is put off (DOWN, INACTIVE); refusals name the rule.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --nodes 'edge[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4' \
		--nodes 'cloud1:partition=cloud,cpus=8,mem=16000,gpus=v100:4'
	as root sacctmgr -i add account other Description=other Organization=sandbox
	as root sacctmgr -i add user bob account=other
	as root sacctmgr -i add qos gold
	as root sacctmgr -i modify user alice,bob set qos+=gold
	as root sacctmgr -i modify qos normal set GraceTime=0
}

setup()
{
	wait_until 30 rules_known
}

# As slurm.conf has it.
teardown()
{
	local p u

	for p in edge cloud; do
		scontrol update partitionname=$p State=UP MaxTime=INFINITE MaxNodes=UNLIMITED MinNodes=0 AllowGroups=ALL AllowAccounts=ALL \
			AllowQos=ALL DenyAccounts= DenyQos= RootOnly=NO Hidden=NO AllocNodes=ALL OverSubscribe=NO ReqResv=NO ExclusiveUser=NO
	done
	for u in alice bob carol; do
		scancel -u $u
	done
	wait_until 60 status_is '"\(.totals.live) \(.totals.liens)"' '0 0'
}

# What sbatch answers to a bid of one slot, once the rules are known: partitions that have just changed are looked at first.
# answer USER [SBATCH-ARGUMENT...]
answer()
{
	local user=$1 tries=0

	shift
	while said=$(as "$user" sbatch --quote $(small_bid 100 1) -o /dev/null "$@" --wrap true 2>&1); [[ $said == *'try again in a moment'* ]]; do
		[ $((++tries)) -lt 50 ] || return 1
		read -rt 0.2 -u "$never" || true
	done
}

# Bids for edge are refused at once, with these words, and those for anywhere are sold in the cloud. barred USER WORDS [SBATCH-ARGUMENT...]
barred()
{
	local user=$1 words=$2

	shift 2
	answer "$user" -p edge "$@"
	[[ $said == *refused*"partition edge: "*"$words"* || $said == *"auction: partition edge: "*"$words"* ]] || { echo "$said" >&2; return 1; }
	answer "$user" "$@"
	[[ $said == *'would be accepted'*'on cloud1'* ]] || { echo "$said" >&2; return 1; }
}

# A bid for anywhere is best on edge. open_to USER [SBATCH-ARGUMENT...]
open_to()
{
	answer "$@"
	[[ $said == *'would be accepted'*'on edge'* ]] || { echo "$said" >&2; return 1; }
}

@test "DRAIN, DOWN and INACTIVE: nothing new is sold there, at once, and the refusal says why" {
	open_to alice
	for state in DRAIN DOWN INACTIVE; do
		scontrol update partitionname=edge State=$state
		barred alice "State=$state"
		wait_until 30 status_is '[.servers[] | select(.partition == "edge") | .for_sale] | any' false
		wait_until 30 log_has "partition edge: State=$state"
	done
	scontrol update partitionname=edge State=UP
	open_to alice
	scontrol update partitionname=edge State=DRAIN
	scontrol update partitionname=cloud State=DRAIN
	answer alice
	[[ $said == *'partition edge: State=DRAIN'*'partition cloud: State=DRAIN'* || $said == *'partition cloud: State=DRAIN'*'partition edge: State=DRAIN'* ]]
}

@test "lists of accounts, QOS and groups hold per user, by what the job has if it names none" {
	scontrol update partitionname=edge AllowAccounts=other
	barred alice 'AllowAccounts=other, not training'
	barred bob 'AllowAccounts=other, not training'
	open_to bob -A other
	scontrol update partitionname=edge AllowAccounts=ALL DenyAccounts=other
	barred bob DenyAccounts=other -A other
	open_to bob
	scontrol update partitionname=edge DenyAccounts= AllowQos=gold
	barred alice 'AllowQos=gold, not normal'
	open_to alice --qos=gold
	scontrol update partitionname=edge AllowQos=ALL DenyQos=gold
	barred alice DenyQos=gold --qos=gold
	open_to alice
	scontrol update partitionname=edge DenyQos= AllowGroups=bob
	barred alice AllowGroups=bob
	open_to bob
	job=$(submit bob $(small_bid 100 1) -p edge -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

# bats test_tags=nightly
@test "RootOnly, AllocNodes, and partitions in which no share of a node can be sold" {
	scontrol update partitionname=edge RootOnly=YES
	barred alice RootOnly=YES
	scontrol update partitionname=edge RootOnly=NO AllocNodes=elsewhere
	barred alice AllocNodes=elsewhere
	scontrol update partitionname=edge AllocNodes=ALL OverSubscribe=EXCLUSIVE
	barred alice OverSubscribe=EXCLUSIVE
	# Slurm gives each job all of its nodes, so jobs as they are buy them whole; of any partition, those that share are taken first.
	whole=$(submit alice --bid=3000 -p edge -c1 --mem=100 -t1 -o /dev/null --wrap true)
	[ "$(receipt_get "$whole" '"\(.gang_whole) \(.per_node.cpu) \(.per_node["gpu:v100"])"')" = 'true 8 4' ]
	part=$(submit alice --bid=3000 -c1 --mem=100 -t1 -o /dev/null --wrap true)
	[ "$(receipt_get "$part" '"\(.gang_whole) \(.plan[0].nodes[0])"')" = 'null cloud1' ]
	# Only there are two nodes, which are bought whole, and the answer says so.
	run as alice sbatch --quote --bid=3000 -N2 -t1 --mem=100 --wrap true
	[[ $output == *'would be accepted: 2 whole nodes, edge1, edge2, with cpu=8 mem=16000 gpu:v100=4 each, '* ]]
	wide=$(submit alice --bid=3000 -N2 -t1 --mem=100 -o /dev/null --wrap true)
	[ "$(receipt_get "$wide" '"\(.gang_whole) \(.plan[0].nodes | join(","))"')" = 'true edge1,edge2' ]
	for job in "$whole" "$wide"; do
		wait_until 120 job_ended "$job"
		wait_until 60 sacct_is "$job" State COMPLETED
	done
	[[ ,$(sacct_field "$whole" AllocTRES), == *,cpu=8,*gres/gpu=4,* ]]
	scontrol update partitionname=edge OverSubscribe=NO MinNodes=2
	barred alice MinNodes
	scontrol update partitionname=edge MinNodes=0 ReqResv=YES
	barred alice ReqResv=YES
	scontrol update partitionname=edge ReqResv=NO
	open_to alice
}

# bats test_tags=nightly
@test "AllocNodes that has the host of the submission: members get in as their lead does" {
	scontrol update partitionname=edge AllocNodes=localhost
	answer alice
	job=$(submit alice $(wide_bid 1000 2) -p edge -o /dev/null --wrap 'sleep 60')
	wait_until 60 group_is "$job" RUNNING
	wait_until 30 member_count_is "$job" 1
}

@test "MaxTime: what takes longer is sold elsewhere, or the refusal says so; bids of that length run to their end" {
	scontrol update partitionname=edge MaxTime=1
	answer alice $(small_bid 1000 7)
	[[ $said == *'would be accepted'*'on cloud1'* ]]
	answer alice $(small_bid 1000 7) -p edge
	[[ $said == *'partition edge: MaxTime is 1 minute, and the best schedule there takes 2'* ]]
	job=$(submit alice $(small_bid 1000 6) -p edge -o /dev/null --wrap "sleep $((4 * slot))")
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

# change_meets COMMAND...: whenever it comes it succeeds, and once in time.
change_meets()
{
	local try

	for try in {1..30}; do
		scontrol update partitionname=cloud MaxTime=$((1000 + try)) &
		run -0 as alice "$@"
		wait "$!"
		[[ $output != *'try again in a moment'* ]] || return 0
	done
	return 1
}

@test "in the second after a change a bid waits: sbatch, salloc and srun ask again by themselves" {
	change_meets sbatch $(small_bid 100 1) -o /dev/null --wrap true
	change_meets salloc --bid=100 -N1 -c1 --mem=10 -t1 true
	change_meets srun --bid=100 -N1 -c1 --mem=10 -t1 true
}

@test "MaxNodes and MaxMemPerCPU bound a plan" {
	scontrol update partitionname=edge MaxNodes=1
	answer alice $(wide_bid 1000) -p edge
	[[ $said == *'partition edge: MaxNodes=1, and the best schedule there takes 2'* ]]
	open_to alice
}

@test "hidden: not in the public status, nor in messages" {
	scontrol update partitionname=edge Hidden=YES
	wait_until 30 eval '[ "$(jq "[.servers[].partition] | index(\"edge\")" "$SANDBOX_DIR/run/auction.json")" = null ]'
	[ "$(status '[.servers[].partition] | index("edge") != null')" = true ]
	run ! as alice sbatch $(small_bid 100 1) -p main -o /dev/null --wrap true
	[[ $output != *edge* ]]
}

@test "DRAIN while jobs wait and run: both go on to their ends" {
	first=$(submit alice $(small_bid 100 3) -p edge -o /dev/null --wrap 'sleep 15')
	second=$(submit bob --upload=30s $(small_bid 100 2) -p edge -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$second" sold
	wait_until 60 receipt_state_is "$first" running
	scontrol update partitionname=edge State=DRAIN
	wait_until 60 settled "$first"
	wait_until 90 settled "$second"
	[ "$(database_receipt "$first" .why) $(database_receipt "$second" .why)" = 'completed completed' ]
}

@test "DOWN: what has begun goes on, what waits is put off and runs when the partition is up" {
	first=$(submit alice $(small_bid 100 4) -p edge -o /dev/null --wrap "sleep $((2 * slot))")
	second=$(submit bob --upload=20s $(small_bid 100 3) -p edge -o /dev/null --wrap 'sleep 5')
	wait_until 30 receipt_state_is "$second" sold
	start=$(plan_start "$second")
	wait_until 60 receipt_state_is "$first" running
	scontrol update partitionname=edge State=DOWN
	wait_until 60 settled "$first"
	[ "$(database_receipt "$first" .why)" = completed ]
	wait_until 90 eval '[ "$(plan_start $second)" -gt $((start + slot)) ]'
	job_is "$second" PENDING
	scontrol update partitionname=edge State=UP
	wait_until 90 settled "$second"
	[ "$(database_receipt "$second" .why)" = completed ]
}

# bats test_tags=nightly
@test "INACTIVE until it can be of no use any more: paid back, for that reason" {
	# So that it costs something.
	for node in 1 2; do
		submit carol $(small_bid 100 6) -p edge -o /dev/null --wrap 'sleep 100'
	done
	job=$(submit alice --bid=deadline:100,5 $(small_bid 1 3 | cut -d' ' -f2-) --upload=20s -p edge -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	[ "$(receipt_get "$job" .payment)" != 0.000000 ]
	scontrol update partitionname=edge State=INACTIVE
	wait_until 120 job_ended "$job"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" '"\(.why) \(.payment)"')" = 'partition_down 0.000000' ]
}
