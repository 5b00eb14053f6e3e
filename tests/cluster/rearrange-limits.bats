# A job that waits and moves (rearrange.bats) has the limits of its owner that it had.

load lib
load plugins
load rearrange

setup_file()
{
	rearrange_start --set AccountingStorageEnforce=limits --nodes edge[1-2]:partition=edge,cpus=8,mem=32000,gpus=v100:2 --nodes big1:partition=cloud,cpus=8,mem=32000,gpus=v100:2
}

# sell GPUS UPLOAD DEADLINE SBATCH-WORDS: to bob, at once
sell()
{
	local job gpus=$1 upload=$2 deadline=$3

	shift 3
	job=$(bid bob "$gpus" 1000 "$upload" "$deadline" "$@" --partition=edge -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$job" sold
	echo "$job"
}

@test "where its owner has limits: it needs no more jobs than before, and a larger one where Slurm lets it begin" {
	# Both nodes; and behind that, for long, a GPU of each.
	early=$(sell 2 250 290)
	sell 2 250 290
	both=$(sell 2 260 400 --minibatches=80)
	one=$(sell 1 260 400 --minibatches=80)
	as bob scancel "$both"
	wait_until 60 settled "$both"
	other=$(sell 1 260 400 --minibatches=80)
	[ "$(nodes_of "$one")" != "$(nodes_of "$other")" ]
	job=$(bid alice 2 2000 250 360 --partition=edge -o /dev/null --wrap 'sleep 8')
	wait_until 30 group_is "$job" PENDING
	[ "$(nodes_of "$job")" = edge1,edge2 ]
	was=$(plan_start "$job")
	to=$(nodes_of "$early")
	cpus=$(job_field "$job" MinCPUsNode)
	as root sacctmgr -i modify user alice set maxtresperjob=cpu="$cpus" maxsubmitjobs=2
	[ "$(sacctmgr -nP show assoc user=alice format=maxtres,maxsubmit)" = "cpu=$cpus|2" ]
	crowd edge $((was - $(date +%s))) 4
	as bob scancel "$early"
	wait_until 30 eval '[ "$(nodes_of '"$job"')" = '"$to"' ]'
	[ "$(plan_start "$job")" -lt "$was" ]
	wait_until 30 eval '[ "$(job_field "$job" MinCPUsNode)" -gt '"$cpus"' ]'
	start=$(plan_start "$job")
	wait_until $((start + 40 - $(date +%s))) settled "$job"
	began_in_time "$job" "$start"
	[ "$(database_receipt "$job" .why)" = completed ]
	as root sacctmgr -i modify user alice set maxtresperjob=cpu=-1 maxsubmitjobs=-1
}
