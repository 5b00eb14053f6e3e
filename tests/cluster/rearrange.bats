# bats file_tags=nightly
# With learned prices, jobs that are sold and wait move to where they cost less by now, at their prices and no later.

load lib
load plugins
load rearrange

setup_file()
{
	rearrange_start --nodes edge1:partition=edge,cpus=8,mem=32000,gpus=v100:2 --nodes big1:partition=cloud,cpus=8,mem=32000,gpus=v100:2
}

@test "what a sale leaves is cheaper: a job moves there, and runs there, also if slurmctld is killed meanwhile" {
	# The whole of edge1. The job is left the cloud, for which there are many bids.
	first=$(bid bob 2 100 160 210 --partition=edge -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$first" sold
	job=$(bid alice 1 1000 160 210 -o where.txt --wrap 'echo "$SLURMD_NODENAME"; sleep 8')
	wait_until 30 receipt_state_is "$job" sold
	[ "$(nodes_of "$job")" = big1 ]
	payment=$(receipt_get "$job" .payment)
	completion=$(receipt_get "$job" .completion)
	crowd cloud 150
	as bob scancel "$first"
	wait_until 60 eval '[ "$(nodes_of "$job")" = edge1 ]'
	[ "$(receipt_get "$job" .payment)" = "$payment" ]
	[ "$(receipt_get "$job" .completion)" -le "$completion" ]
	wait_until 30 eval '[ "$(job_field "$job" ReqNodeList)" = edge1 ]'
	[ "$(job_field "$job" Partition)" = edge ]
	wait_until 10 log_has 'plans\? revised'

	# What slurmctld has not saved is lost with it.
	wait_until 60 saved
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	[ "$(nodes_of "$job")" = edge1 ]

	start=$(plan_start "$job")
	wait_until $((start + 40 - EPOCHSECONDS)) settled "$job"
	began_in_time "$job" "$start"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$(database_receipt "$job" .payment)" = "$payment" ]
	[ "$(cat "$SANDBOX_DIR/home/alice/where.txt")" = edge1 ]
}
