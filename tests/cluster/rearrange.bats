# With learned prices, a job that is sold and waits moves to where it costs less by now, at its price and no later.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --nodes edge1:partition=edge,cpus=8,mem=32000,gpus=v100:2 --nodes big1:partition=cloud,cpus=8,mem=32000,gpus=v100:2
	sed -i -e 's/^Prices=.*/Prices=learned/' -e '/^Eta=/d' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 auction_open
}

# bid USER SBATCH-WORDS: one GPU for four slots, as soon as the data are there
bid()
{
	local user=$1

	shift
	submit "$user" --bid=deadline:1000,170s --epochs=1 --chunks=1 --minibatches=40 --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s \
		--upload=edge=130s,cloud=130s "$@" --wrap 'echo "$SLURMD_NODENAME"; sleep 8'
}

# Two jobs that may be on one node each, and $job, which was cheaper beside the second when it came: $first and $second.
sell_three()
{
	first=$(bid bob --partition=edge -o /dev/null)
	wait_until 30 receipt_state_is "$first" sold
	job=$(bid alice -o where.txt)
	wait_until 30 receipt_state_is "$job" sold
	second=$(bid bob --partition=cloud -o /dev/null)
	wait_until 30 receipt_state_is "$second" sold
	[ "$(nodes_of "$job")" = big1 ]
	payment=$(receipt_get "$job" .payment)
	completion=$(receipt_get "$job" .completion)
}

@test "what a sale leaves is cheaper: the job moves there, and runs there, also if slurmctld is killed meanwhile" {
	sell_three
	as bob scancel "$first"
	wait_until 30 eval '[ "$(nodes_of '"$job"')" = edge1 ]'
	[ "$(receipt_get "$job" .payment)" = "$payment" ]
	[ "$(receipt_get "$job" .completion)" -le "$completion" ]
	wait_until 30 eval '[ "$(job_field '"$job"' ReqNodeList)" = edge1 ]'
	[ "$(job_field "$job" Partition)" = edge ]
	grep -q '1 plans revised' "$SANDBOX_DIR/log/slurmctld.log"

	# What slurmctld has not saved is lost with it.
	touch "$BATS_TEST_TMPDIR/moved"
	wait_until 30 test "$SANDBOX_DIR/state/job_state" -nt "$BATS_TEST_TMPDIR/moved"
	sandbox restart slurmctld --kill
	wait_until 60 auction_open
	[ "$(nodes_of "$job")" = edge1 ]

	start=$(plan_start "$job")
	wait_until $((start + 40 - $(date +%s))) settled "$job"
	began_in_time "$job" "$start"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$(database_receipt "$job" .payment)" = "$payment" ]
	[ "$(cat "$SANDBOX_DIR/home/alice/where.txt")" = edge1 ]
	wait_until 40 settled "$second"
	[ "$(database_receipt "$second" .why)" = completed ]
}

# Is one of $job and $second to begin sooner than $was? Then it is $moved.
one_moved()
{
	for moved in "$job" "$second"; do
		[ "$(plan_start "$moved")" -ge "$was" ] || return 0
	done
	return 1
}

@test "the same node is free sooner: one of two jobs begins sooner, with Slurm, too" {
	first=$(bid bob --partition=edge --chunks=2 -o /dev/null)
	wait_until 30 receipt_state_is "$first" sold
	job=$(bid alice --partition=edge --bid=deadline:1000,215s -o /dev/null)
	second=$(bid bob --partition=edge --bid=deadline:1000,215s -o /dev/null)
	wait_until 30 receipt_state_is "$second" sold
	was=$(plan_start "$job")
	[ "$was" -ge "$(plan_end "$first")" ]
	as bob scancel "$first"
	wait_until 30 one_moved
	start=$(plan_start "$moved")
	wait_until 30 eval '[ "$(job_time "$moved" EligibleTime)" = "$start" ]'
	wait_until $((start + 40 - $(date +%s))) settled "$moved"
	began_in_time "$moved" "$start"
	[ "$(database_receipt "$moved" .why)" = completed ]
	as root scancel "$job" "$second"
	wait_until 30 settled "$job"
	wait_until 30 settled "$second"
}

@test "Rearrange=no: it stays" {
	sed -i '1i Rearrange=no' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 auction_open
	sell_three
	as bob scancel "$first"
	wait_until 30 settled "$first"
	fresh_status
	fresh_status
	[ "$(nodes_of "$job")" = big1 ]
	as alice scancel "$job"
	as bob scancel "$second"
	wait_until 30 settled "$job"
	wait_until 30 settled "$second"
}
