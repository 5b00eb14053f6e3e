# A job that waits and moves (rearrange.bats) has the limits of its owner that it had.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --set AccountingStorageEnforce=limits --nodes edge[1-2]:partition=edge,cpus=8,mem=32000,gpus=v100:2
	sed -i -e 's/^Prices=.*/Prices=learned/' -e '/^Eta=/d' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 auction_open
}

# bid USER WORKERS: WORKERS GPUs for four slots, as soon as the data are there
bid()
{
	submit "$1" --bid=deadline:1000,170s --epochs=1 --chunks="$2" --minibatches=40 --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s \
		--upload=edge=130s -o /dev/null --wrap 'sleep 8'
}

@test "where its owner has limits: it needs no more jobs than before, and a larger one where Slurm lets it begin" {
	# All of them come in one slot.
	wait_until 20 eval '[ "$(($(date +%s) % slot))" -le 1 ]'
	both=$(bid bob 2)
	second=$(bid bob 1)
	wait_until 30 receipt_state_is "$second" sold
	as bob scancel "$both"
	wait_until 30 settled "$both"
	first=$(bid bob 1)
	wait_until 30 receipt_state_is "$first" sold
	job=$(bid alice 2)
	wait_until 30 group_is "$job" PENDING
	[ "$(nodes_of "$job")" = edge1,edge2 ]
	to=$(nodes_of "$first")
	cpus=$(job_field "$job" MinCPUsNode)
	as root sacctmgr -i modify user alice set maxtresperjob=cpu="$cpus" maxsubmitjobs=2
	[ "$(sacctmgr -nP show assoc user=alice format=maxtres,maxsubmit)" = "cpu=$cpus|2" ]
	as bob scancel "$first"
	wait_until 30 eval '[ "$(nodes_of '"$job"')" = '"$to"' ]'
	wait_until 30 eval '[ "$(job_field "$job" MinCPUsNode)" -gt '"$cpus"' ]'
	start=$(plan_start "$job")
	wait_until $((start + 40 - $(date +%s))) settled "$job"
	began_in_time "$job" "$start"
	[ "$(database_receipt "$job" .why)" = completed ]
	as root sacctmgr -i modify user alice set maxtresperjob=cpu=-1 maxsubmitjobs=-1
	as bob scancel "$second"
	wait_until 30 settled "$second"
}

