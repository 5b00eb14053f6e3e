# A job that is sold and waits moves when a fit publishes prices at which its node is dear (rearrange.bats: when a sale ends).

load lib
load plugins

slot=10

setup_file()
{
	auction_start --nodes edge1:partition=edge,cpus=8,mem=32000,gpus=v100:2 --nodes big1:partition=cloud,cpus=8,mem=32000,gpus=v100:2
	sed -i -e 's/^Prices=.*/Prices=learned/' -e '/^Eta=/d' -e 's/^Slots=.*/Slots=40/' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 auction_open
}

# bid USER VALUE DEADLINE WORKERS SECONDS SBATCH-WORDS: WORKERS GPUs for SECONDS, four minutes from now at the soonest
bid()
{
	local user=$1 words="--bid=deadline:$2,$3s --epochs=1 --chunks=$4 --minibatches=$(($4 * $5))"

	shift 5
	submit "$user" $words --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s --upload=edge=240s,cloud=240s -o /dev/null "$@" \
		--wrap 'sleep 1'
}

@test "bids for more than its node has make prices, at which the job moves to the other one, and pays what it was sold for" {
	job=$(bid alice 1000 350 1 40)
	was=$(nodes_of "$job")
	payment=$(receipt_get "$job" .payment)
	completion=$(receipt_get "$job" .completion)
	partition=$(job_field "$job" Partition)
	# Those come last who would pay most, and find what they need sold.
	for i in {1..16}; do
		bid bob $((50 * i * i)) 390 2 40 --partition="$partition" > /dev/null 2>&1 || true
	done
	wait_until 60 eval '[ "$(nodes_of '"$job"')" != "$was" ]'
	[ "$(receipt_get "$job" .payment)" = "$payment" ]
	[ "$(receipt_get "$job" .completion)" -le "$completion" ]
	wait_until 30 eval '[ "$(job_field '"$job"' ReqNodeList)" = '"$(nodes_of "$job")"' ]'

	# Prices did it: nothing had a price before, and no sale has ended.
	status_is .learning.kind learned
	fresh_status
	status_is .totals.settled 0
	log_has '1 plans revised'
}
