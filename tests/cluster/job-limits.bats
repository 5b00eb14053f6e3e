# A plan on several nodes is as many jobs, one for each node: they are counted against MaxJobCount and the limits of the user's association
# and QOS before they are sold, and the refusal names the limit.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --set AccountingStorageEnforce=limits,qos --set MaxJobCount=20 \
		--nodes 'edge[1-4]:partition=edge,cpus=8,mem=16000,gpus=v100:4' --nodes 'cpu1:partition=main,cpus=8,mem=16000'
	as root sacctmgr -i add qos gold
	as root sacctmgr -i modify user alice set qos+=gold
}

teardown()
{
	as root sacctmgr -i modify user alice set maxsubmitjobs=-1 maxjobs=-1 maxwall=-1 grptres=gres/gpu=-1
	scontrol update partitionname=edge qos=
	scancel -u alice
	scancel -u bob
	wait_until 60 status_is '"\(.totals.live) \(.totals.liens)"' '0 0'
	# The partition has just changed.
	wait_until 60 rules_known
}

# What sbatch --quote says. said_to USER ARGUMENT...
said_to()
{
	local user=$1

	shift
	as "$user" sbatch --quote "$@" -o /dev/null --wrap true 2>&1
}

@test "MaxSubmitJobs: a plan of more nodes is refused, one of fewer is sold" {
	as root sacctmgr -i modify user alice set maxsubmitjobs=1
	wait_until 30 eval '[[ $(said_to alice '"$(wide_bid 1000)"') == *"refused: the best schedule is "*" jobs at once"*"MaxSubmitJobs of your association in training allows 1 more"* ]]'
	run ! as alice sbatch $(wide_bid 1000) -o /dev/null --wrap true
	[[ $output == *'MaxSubmitJobs of your association in training allows 1 more'* ]]
	[[ $(as alice sbid why) == *'MaxSubmitJobs of your association in training allows 1 more'* ]]
	# No lien is left of it, and others are not concerned.
	wait_until 30 status_is .totals.liens 0
	[[ $(said_to bob $(wide_bid 1000)) == *'would be accepted'* ]]
	job=$(submit alice $(small_bid 100 2) -o /dev/null --wrap 'sleep 60')
	wait_until 30 eval 'receipt_state_is "$job" sold || receipt_state_is "$job" running'
	# Now there is one.
	wait_until 30 eval '[[ $(said_to alice '"$(small_bid 100 1)"') == *"MaxSubmitJobs of your association in training allows 0 more"* ]]'
}

@test "two bids in one second: the second counts what the first bought" {
	as root sacctmgr -i modify user alice set maxsubmitjobs=2
	wait_until 30 eval '[[ $(said_to alice '"$(wide_bid 1000)"') == *"MaxSubmitJobs of your association in training allows 2 more"* ]]'
	as root sacctmgr -i modify user alice set maxsubmitjobs=3
	wait_until 30 eval 'first=$(submit alice '"$(wide_bid 1000)"' -o /dev/null --wrap "sleep 60")'
	run ! as alice sbatch $(small_bid 100 1) -o /dev/null --wrap true
	[[ $output == *MaxSubmitJobs* ]] || { echo "$output" >&2; return 1; }
	wait_until 60 group_is "$first" RUNNING
}

# bats test_tags=nightly
@test "MaxJobs bounds what runs at once, not what comes after" {
	as root sacctmgr -i modify user alice set maxjobs=1
	wait_until 30 eval '[[ $(said_to alice '"$(wide_bid 1000)"') == *"MaxJobs of your association in training is 1 at once, and the best schedule has "* ]]'
	first=$(submit alice $(small_bid 100 2) -o /dev/null --wrap 'sleep 5')
	[[ $(said_to alice $(small_bid 100 1)) == *'not sooner: MaxJobs of your association in training is 1 at once, and with what is sold already it would be 2'* ]]
	[[ $(said_to alice $(small_bid 100 1) --upload=60s) == *'would be accepted'* ]]
	wait_until 60 settled "$first"
	[ "$(database_receipt "$first" .why)" = completed ]
}

@test "the limits of a QOS hold for jobs in it" {
	as root sacctmgr -i modify qos gold set maxsubmitjobsperuser=1
	wait_until 30 eval '[[ $(said_to alice --qos=gold '"$(wide_bid 1000)"') == *"MaxSubmitJobsPerUser of QOS gold allows 1 more"* ]]'
	[[ $(said_to alice $(wide_bid 1000)) == *'would be accepted'* ]]
}

# bats test_tags=nightly
@test "a QOS that there is not, that the user may not have, or that wants more fairshare" {
	[[ $(said_to alice --qos=nosuch $(small_bid 100 1)) == *'there is no QOS nosuch'* ]]
	[[ $(said_to bob --qos=gold $(small_bid 100 1)) == *'your association in training may not have QOS gold'* ]]
	# As Slurm would.
	run ! as bob sbatch -p main --qos=gold -o /dev/null --wrap true
	run ! as bob sbatch -p main --qos=nosuch -o /dev/null --wrap true
	[[ $(said_to alice --qos=gold $(small_bid 100 1)) == *'would be accepted'* ]]
	as root sacctmgr -i modify qos gold set flags=EnforceUsageThreshold usagethreshold=2
	wait_until 30 eval '[[ $(said_to alice --qos=gold '"$(small_bid 100 1)"') == *"UsageThreshold of QOS gold is 2, and the fairshare of your association in training is "* ]]'
	as root sacctmgr -i modify qos gold set flags-=EnforceUsageThreshold usagethreshold=-1
	wait_until 30 eval '[[ $(said_to alice --qos=gold '"$(small_bid 100 1)"') == *"would be accepted"* ]]'
}

@test "MaxWall, and the limits of a partition's own QOS" {
	as root sacctmgr -i modify user alice set maxwall=1
	wait_until 30 eval '[[ $(said_to alice '"$(small_bid 100 9)"') == *"refused: in the best schedule a job takes 2 minutes, and MaxWall of your association in training is 1"* ]]'
	[[ $(said_to alice $(small_bid 100 5)) == *'would be accepted'* ]]
	[[ $(said_to bob $(small_bid 100 9)) == *'would be accepted'* ]]
	as root sacctmgr -i modify user alice set maxwall=-1
	as root sacctmgr -i add qos narrow
	as root sacctmgr -i modify qos narrow set maxsubmitjobsperuser=1 maxwall=1
	wait_until 30 eval 'scontrol update partitionname=edge qos=narrow'
	wait_until 30 eval '[[ $(said_to bob '"$(wide_bid 1000)"') == *"MaxSubmitJobsPerUser of QOS narrow allows 1 more"* ]]'
	wait_until 30 eval '[[ $(said_to bob '"$(small_bid 100 9)"') == *"MaxWallDurationPerJob of QOS narrow is 1"* ]]'
	scontrol update partitionname=edge qos=
	wait_until 30 eval '[[ $(said_to bob '"$(wide_bid 1000)"') == *"would be accepted"* ]]'
}

# bats test_tags=nightly
@test "limits on TRES: a bid is kept within them, later where others have them used up" {
	local gpu=(--qos=gold --bid=linear:3000,100/m --gpus-per-node=v100:1 -c1 --mem=100 -t1)

	as root sacctmgr -i modify qos gold set maxtresperuser=gres/gpu=1 maxsubmitjobsperuser=-1
	wait_until 30 eval '[[ $(said_to alice '"${gpu[*]}"' -N2) == *"MaxTRESPerUser of QOS gold is gres/gpu=1 at once, and the best schedule has 2"* ]]'
	# One of the two runs until all has been asked, also on a slow machine.
	first=$(submit alice "${gpu[@]}" -o /dev/null --wrap 'sleep 50')
	run -0 --separate-stderr as alice sbatch --parsable "${gpu[@]}" -o /dev/null --wrap 'sleep 40'
	second=$output
	[[ $stderr == *'not sooner: MaxTRESPerUser of QOS gold is gres/gpu=1 at once, and with what is sold already it would be 2'* ]]
	[ "$(plan_start "$second")" -ge "$(plan_end "$first")" ]
	# Tasks of an array one after the other.
	array=$(submit alice "${gpu[@]}" -a 1-2 -o /dev/null --wrap true)
	wait_until 30 eval 'receipt_state_is "${array}_2" sold'
	[ "$(plan_start "${array}_1")" -ge "$(plan_end "$second")" ]
	[ "$(plan_start "${array}_2")" -ge "$(plan_end "${array}_1")" ]
	as alice scancel "$array"
	# Others, and jobs in another QOS, have their own.
	[[ $(said_to alice "${gpu[@]:1}" -N2) == *'would be accepted'* ]]
	# Workers and PSs count, too, and a job by itself.
	[[ $(said_to alice --qos=gold $(small_bid 1000 2)) == *'not sooner: MaxTRESPerUser'* ]]
	as root sacctmgr -i modify qos gold set maxtresperuser=gres/gpu=-1 maxtresperjob=cpu=2
	wait_until 30 eval '[[ $(said_to alice '"${gpu[*]}"' -c3) == *"MaxTRESPerJob of QOS gold is cpu=2, and the best schedule has a job of"* ]]'
	as root sacctmgr -i modify qos gold set maxtresperjob=cpu=-1
	wait_until 120 job_ended "$second"
	wait_until 60 sacct_is "$second" State COMPLETED
}

# bats test_tags=nightly
@test "GrpTRES that came after a sale: it ends as limit, also where its owner cancels it while it waits" {
	local job jobs=()

	for i in 1 2; do
		jobs+=("$(submit alice $(small_bid 100 4) --upload=30s -o /dev/null --wrap true)")
	done
	as root sacctmgr -i modify user alice set grptres=gres/gpu=0
	wait_until 90 eval '[[ "$(timeout 20 squeue -ho %r -j '"${jobs[1]}"')" == AssocGrpGRES* ]] && status_is .agent.states.starting 2'
	# The agent has looked since.
	fresh_status
	fresh_status
	as alice scancel "${jobs[1]}"
	for job in "${jobs[@]}"; do
		wait_until 90 settled "$job"
		[ "$(database_receipt "$job" .why)" = limit ]
	done
}

# bats test_tags=nightly
@test "a coordinator who lowers MaxWall under what he has bought has given it up, others have not" {
	as root sacctmgr -i add coordinator account=training names=alice
	wait_until 60 eval 'scontrol -o show assoc_mgr users=alice flags=users | grep -q alice'
	his=$(submit alice --bid=3000 -N1 -t3 --mem=100 -b now+60 -o /dev/null --wrap 'sleep 60')
	other=$(submit bob --bid=3000 -N1 -t3 --mem=100 -b now+60 -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$his" sold
	wait_until 30 receipt_state_is "$other" sold
	as alice sacctmgr -i modify user name=alice,bob account=training set maxwall=1
	wait_until 150 settled "$his"
	wait_until 90 settled "$other"
	as root sacctmgr -i modify user name=alice,bob account=training set maxwall=-1
	as root sacctmgr -i delete coordinator account=training names=alice
	[ "$(database_receipt "$his" .why) $(database_receipt "$other" .why)" = "limit barred" ]
}

# bats test_tags=nightly
@test "MaxJobCount: no sale makes more jobs than slurmctld takes" {
	local more=1

	# Up to 25.05 it never has as many as that.
	[[ ! $(sbatch -V) =~ \ (2[2-4]|25\.05)\. ]] || more=0
	for _ in {1..19}; do
		submit bob --hold -o /dev/null --wrap true || break
	done
	run ! as alice sbatch $(wide_bid 1000) -o /dev/null --wrap true
	[[ $output == *"MaxJobCount=20 allows $more more"* ]]
}
