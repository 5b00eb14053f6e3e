# Limits of accounts and QOS that several users share: what others have bought counts, and a bid is sold when there is room, or refused with
# the limit, its value and whose it is.

load lib
load plugins

slot=10
gpu=(--bid=linear:3000,100/m --gpus-per-node=v100:1 -c1 --mem=100 -t1 -o /dev/null)

setup_file()
{
	auction_start --set AccountingStorageEnforce=limits,qos --nodes 'edge[1-4]:partition=edge,cpus=8,mem=16000,gpus=v100:4' \
		--nodes 'cloud1:partition=cloud,cpus=8,mem=16000,gpus=v100:4'
	as root sacctmgr -i add qos gold
	as root sacctmgr -i modify user alice,bob,carol set qos+=gold
}

teardown()
{
	cancel_all
	wait_until 60 status_is '"\(.totals.live) \(.totals.liens)"' '0 0'
	as root sacctmgr -i modify account training set grpjobs=-1 grpwall=-1 grpsubmitjobs=-1 grptresrunmins=cpu=-1 grptresmins=cpu=-1
	as root sacctmgr -i modify qos gold set maxjobsperaccount=-1
	wait_until 30 says carol 'would be accepted' $(wide_bid 1000)
}

# True if the quote of a bid says TEXT. says USER TEXT BID...
says()
{
	local user=$1 text=$2

	shift 2
	[[ $(as "$user" sbatch --quote "$@" -o /dev/null --wrap true 2>&1) == *"$text"* ]]
}

# bats test_tags=nightly
@test "GrpJobs: a bid comes after what others of the account have bought, and runs then" {
	local first second job

	as root sacctmgr -i modify account training set grpjobs=1
	wait_until 30 says alice 'GrpJobs of account training is 1 at once, and the best schedule has' $(wide_bid 1000)
	first=$(submit alice "${gpu[@]}" --wrap 'sleep 5')
	run -0 --separate-stderr as bob sbatch --parsable "${gpu[@]}" --wrap true
	second=$output
	[[ $stderr == *'not sooner: GrpJobs of account training is 1 at once, and with what is sold already it would be 2'* ]]
	[ "$(plan_start "$second")" -ge "$(plan_end "$first")" ]
	for job in "$first" "$second"; do
		wait_until 200 settled "$job"
		[ "$(database_receipt "$job" .why)" = completed ]
	done
}

@test "limits of a QOS and of an account above; an association of one partition" {
	as root sacctmgr -i add account lab parent=training
	as root sacctmgr -i add user carol account=lab partition=edge qos=normal,gold
	as root sacctmgr -i modify user carol where account=lab partition=edge set maxjobs=1
	wait_until 30 says carol 'MaxJobs of your association in lab is 1 at once, and the best schedule has' --account=lab -p edge $(wide_bid 1000)
	says carol 'would be accepted' -p edge $(wide_bid 1000)
	says carol 'partition cloud: no association in account lab is for it' --account=lab -p cloud "${gpu[@]}"
	as root sacctmgr -i modify qos gold set flags=RequiresReservation
	wait_until 30 says carol 'QOS gold is for jobs in a reservation only' --qos=gold "${gpu[@]}"
	as root sacctmgr -i modify qos gold set flags-=RequiresReservation
	wait_until 30 says carol 'would be accepted' --qos=gold "${gpu[@]}"
	# What lab has counts for training, and in gold for gold.
	as root sacctmgr -i modify account training set grpjobs=2
	as root sacctmgr -i modify qos gold set maxjobsperaccount=1
	wait_until 30 says alice 'GrpJobs of account training is 2 at once, and the best schedule has' $(wide_bid 1000) --chunks=12
	wait_until 30 says alice 'MaxJobsPerAccount of QOS gold is 1 at once' --qos=gold $(wide_bid 1000)
	submit carol --account=lab -p edge "${gpu[@]}" --wrap 'sleep 60' > /dev/null
	says carol 'not sooner: MaxJobs of your association in lab is 1 at once' --account=lab -p edge "${gpu[@]}"
	says alice 'would be accepted' "${gpu[@]}"
	submit alice --qos=gold "${gpu[@]}" --wrap 'sleep 60' > /dev/null
	says bob 'not sooner: MaxJobsPerAccount of QOS gold is 1 at once' --qos=gold "${gpu[@]}"
	says bob 'not sooner: GrpJobs of account training is 2 at once, and with what is sold already it would be 3' "${gpu[@]}"
}

# bats test_tags=nightly
@test "GrpTRESRunMins, GrpTRESMins and GrpWall: the minutes of what is sold count" {
	# What ran before this test is no minute of it.
	as root sacctmgr -i modify account training set rawusage=0
	as root sacctmgr -i modify account training set grptresrunmins=cpu=3
	wait_until 30 says alice 'GrpTRESRunMins of account training is cpu=3 at once, and the best schedule has 4' "${gpu[@]}" -c4
	run ! as alice sbatch "${gpu[@]}" -c4 --wrap true
	[[ $(as alice sbid why) == *'GrpTRESRunMins of account training is cpu=3 at once, and the best schedule has 4'* ]]
	job=$(submit alice "${gpu[@]}" -c2 --wrap 'sleep 30')
	says bob 'not sooner: GrpTRESRunMins of account training is cpu=3 at once' "${gpu[@]}" -c2
	says bob 'would be accepted' "${gpu[@]}" -c1
	as root sacctmgr -i modify account training set grptresrunmins=cpu=-1 grptresmins=cpu=4 grpwall=2
	wait_until 30 says bob 'GrpTRESMins of account training is cpu=4 in all: 0 minutes are used, 2 are sold already, and the best schedule has 3' "${gpu[@]}" -c3
	wait_until 30 says bob 'GrpWall of account training is 2 in all: 0 minutes are used, 1 are sold already, and the best schedule has 2' "${gpu[@]}" -t2
	says bob 'would be accepted' "${gpu[@]}"
	wait_until 90 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

@test "GrpSubmitJobs: two users in one second do not both take the last room, and each task of an array is a job" {
	as root sacctmgr -i modify account training set grpsubmitjobs=2
	wait_until 30 says bob 'refused: the array is 9 jobs; GrpSubmitJobs of account training allows 2 more' "${gpu[@]}" -a 1-9
	submit alice "${gpu[@]}" --wrap 'sleep 60' > /dev/null
	wait_until 30 says bob 'refused: the array is 9 jobs; GrpSubmitJobs of account training allows 1 more' "${gpu[@]}" -a 1-9
	# It counts once: not as a job of the account and as a bid of the last seconds.
	submit alice "${gpu[@]}" --wrap 'sleep 60' > /dev/null
	run ! as bob sbatch "${gpu[@]}" --wrap true
	[[ $output == *'GrpSubmitJobs of account training allows '* ]] || { echo "$output" >&2; return 1; }
	wait_until 30 says carol 'refused: the best schedule is 1 job at once, one for each node; GrpSubmitJobs of account training allows 0 more' "${gpu[@]}"
}

# bats test_tags=nightly
@test "GrpJobs: what is put off comes when the others of the account are through, not beside them" {
	as root sacctmgr -i modify account training set grpjobs=1
	wait_until 30 says alice 'GrpJobs of account training is 1 at once, and the best schedule has' $(wide_bid 1000)
	first=$(submit alice $(small_bid 1000 2) --upload=20s -p edge -o /dev/null --wrap 'sleep 5')
	second=$(submit bob "${gpu[@]}" -p cloud --wrap 'sleep 45')
	begin=$(plan_start "$second") end=$(plan_end "$second")
	[ "$begin" -ge "$(plan_end "$first")" ]
	# The first misses its slots; when it could start, the second is what runs, for long enough that slot by slot it would not come behind it.
	scontrol update partitionname=edge State=DOWN
	wait_until 90 job_is "$second" RUNNING
	wait_until 10 eval '[ "$(plan_start "$first")" -ge '"$end"' ]'
	[ "$EPOCHSECONDS" -lt $((end - 2 * slot)) ]
	scontrol update partitionname=edge State=UP
	for job in "$second" "$first"; do
		wait_until 150 settled "$job"
		[ "$(database_receipt "$job" .why)" = completed ]
	done
	[ "$(database_receipt "$first" '.start * .slot_seconds')" -ge "$end" ]
	began_in_time "$second" "$begin"
}
