# bats file_tags=nightly
#
# A job that is sold and waits moves when by a fit its node is dear (rearrange.bats: when a sale has ended).

load lib
load plugins
load rearrange

setup_file()
{
	rearrange_start --nodes edge1:partition=edge,cpus=8,mem=32000,gpus=v100:2 --nodes big1:partition=cloud,cpus=8,mem=32000,gpus=v100:2
}

@test "bids for more than its node has make prices, at which the job moves to the other one, and pays what it was sold for" {
	job=$(bid alice 1 1000 240 350 -o /dev/null --wrap 'sleep 1')
	was=$(nodes_of "$job")
	payment=$(receipt_get "$job" .payment)
	completion=$(receipt_get "$job" .completion)
	crowd "$(job_field "$job" Partition)" 240
	wait_until 60 eval '[ "$(nodes_of '"$job"')" != "$was" ]'
	[ "$(receipt_get "$job" .payment)" = "$payment" ]
	[ "$(receipt_get "$job" .completion)" -le "$completion" ]
	wait_until 30 eval '[ "$(job_field '"$job"' ReqNodeList)" = '"$(nodes_of "$job")"' ]'

	# Prices did it: nothing had a price before, and no sale has ended.
	fresh_status
	status_is .totals.settled 0
	wait_until 10 log_has 'plans\? revised'
}
