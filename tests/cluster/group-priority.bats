# bats file_tags=nightly
#
# Limits of accounts and QOS where usage decays and priorities count (priority/multifactor): what is sold starts in its slots all the same.

load lib
load plugins

slot=10
gpu=(--bid=linear:3000,100/m --gpus-per-node=v100:1 -c1 --mem=100 -t1 -o /dev/null)

setup_file()
{
	auction_start --set AccountingStorageEnforce=limits,qos --set PriorityType=priority/multifactor --set PriorityCalcPeriod=1 \
		--set PriorityDecayHalfLife=1-0 --set PriorityWeightFairshare=10000 --set PriorityWeightAge=1000 \
		--nodes 'edge[1-4]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	as root sacctmgr -i add qos gold
	as root sacctmgr -i modify user alice,bob set qos+=gold
}

teardown()
{
	cancel_all
	wait_until 60 status_is '"\(.totals.live) \(.totals.liens)"' '0 0'
	as root sacctmgr -i modify account training set grpjobs=-1 grptresrunmins=cpu=-1 grptresmins=cpu=-1
	as root sacctmgr -i modify qos gold set flags-=EnforceUsageThreshold usagethreshold=-1
}

# True if the quote of a bid says TEXT. says USER TEXT BID...
says()
{
	local user=$1 text=$2

	shift 2
	[[ $(as "$user" sbatch --quote "$@" -o /dev/null --wrap true 2>&1) == *"$text"* ]]
}

@test "GrpJobs and GrpTRESRunMins: who comes later starts in its slot, whatever its priority" {
	local first second third job begin

	as root sacctmgr -i modify account training set grpjobs=1 grptresrunmins=cpu=1
	wait_until 30 says alice 'GrpTRESRunMins of account training is cpu=1 at once, and the best schedule has 2' "${gpu[@]}" -c2
	first=$(submit alice "${gpu[@]}" --wrap 'sleep 50')
	second=$(submit bob "${gpu[@]}" --wrap 'sleep 5')
	begin=$(plan_start "$second")
	[ "$begin" -ge "$(plan_end "$first")" ]
	for job in "$first" "$second"; do
		wait_until 200 settled "$job"
		[ "$(database_receipt "$job" .why)" = completed ]
	done
	began_in_time "$second" "$begin"
}

@test "GrpTRESMins: what has run counts as used" {
	wait_until 120 eval '[[ $(as alice sshare -nPU -o rawusage 2> /dev/null) =~ [1-9] ]]'
	as root sacctmgr -i modify account training set grptresmins=cpu=1
	wait_until 30 says bob 'GrpTRESMins of account training is cpu=1 in all: ' "${gpu[@]}" -c2
	says bob ' minutes are used, 0 are sold already, and the best schedule has 2' "${gpu[@]}" -c2
}

@test "a QOS whose UsageThreshold is above the user's fairshare buys nothing" {
	as root sacctmgr -i modify qos gold set flags=EnforceUsageThreshold usagethreshold=0.9999
	wait_until 30 says alice 'UsageThreshold of QOS gold is 0.9999, and the fairshare of your association in training is ' --qos=gold "${gpu[@]}"
	run ! as alice sbatch --qos=gold "${gpu[@]}" --wrap true
	says alice 'would be accepted' "${gpu[@]}"
	as root sacctmgr -i modify qos gold set usagethreshold=0.0001
	wait_until 30 says alice 'would be accepted' --qos=gold "${gpu[@]}"
	job=$(submit alice --qos=gold "${gpu[@]}" --wrap true)
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}
