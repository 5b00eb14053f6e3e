# bats file_tags=nightly
#
# A job that is sold, waits and moves is not ended by a limit of its owner's.

load lib
load plugins
load rearrange

setup_file()
{
	rearrange_start --set AccountingStorageEnforce=limits --nodes edge1:partition=edge,cpus=8,mem=32000,gpus=v100:2 \
		--nodes big[1-2]:partition=cloud,cpus=8,mem=32000,gpus=v100:1
}

@test "where its owner has limits: it needs no more jobs than before, and a larger one where Slurm lets it begin" {
	# The whole of edge1. The job is left a GPU of each node of the cloud, for which there are many bids.
	first=$(bid bob 2 100 200 250 --partition=edge -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$first" sold
	job=$(bid alice 2 1000 200 250 -o /dev/null --wrap 'sleep 8')
	wait_until 30 group_is "$job" PENDING
	[ "$(nodes_of "$job")" = big1,big2 ]
	completion=$(receipt_get "$job" .completion)
	cpus=$(job_field "$job" MinCPUsNode)
	as root sacctmgr -i modify user alice set maxtresperjob=cpu="$cpus" maxsubmitjobs=2
	[ "$(sacctmgr -nP show assoc user=alice format=maxtres,maxsubmit)" = "cpu=$cpus|2" ]
	crowd cloud 190
	as bob scancel "$first"
	wait_until 60 eval '[ "$(nodes_of "$job")" = edge1 ]'
	[ "$(receipt_get "$job" .completion)" -le "$completion" ]
	wait_until 30 eval '[ "$(job_field "$job" MinCPUsNode)" -gt '"$cpus"' ]'
	start=$(plan_start "$job")
	wait_until $((start + 40 - EPOCHSECONDS)) settled "$job"
	began_in_time "$job" "$start"
	[ "$(database_receipt "$job" .why)" = completed ]
	as root sacctmgr -i modify user alice set maxtresperjob=cpu=-1 maxsubmitjobs=-1
}
