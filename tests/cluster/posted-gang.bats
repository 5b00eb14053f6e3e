# Gangs at posted prices: one price for the whole job as its owner wrote it, to take or to leave, now or as an offer that stands.

load lib
load plugins

slot=5

setup_file()
{
	need_plugins
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=posted,ceiling=10
		SlotSeconds=$slot
		RefundUnused=no
		Slots=100
		OfferTime=600
		UserQuotes=1000
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'node[1-3]:partition=edge,cpus=8,mem=16000,gpus=v100:2'
	wait_until 30 eval 'quote | grep -q offered'
	wait_until 60 nodes_settled
}

gang()
{
	echo "-N2 --gpus-per-node=2 -c2 --mem=500 -t1 -o /dev/null"
}

quote()
{
	as alice sbatch --quote $(gang) --wrap true 2>&1 || true
}

price_in()
{
	sed -n 's/.*--max-price=\([0-9.]*\);.*/\1/p'
}

offer_in()
{
	sed -n 's/.*--accept=\([0-9a-f]\{16\}\) .*/\1/p'
}

@test "the price that is offered is paid, and the job runs on the nodes of the offer" {
	answer=$(quote)
	[[ $answer == *'auction: offered: 2 nodes, node1, node2, with cpu=2 mem=500 gpu:v100=2 each, '* ]]
	price=$(price_in <<< "$answer")
	[ -n "$price" ] && [ "$(micro "$price")" -gt 0 ]
	job=$(submit alice --max-price="$price" $(gang) --wrap 'srun sleep 3')
	[ "$(receipt_get "$job" '"\(.payment) \(.policy) \(.plan[0].nodes | join(","))"')" = "$price posted node1,node2" ]
	wait_until 60 settled "$job"
	sacct_is "$job" State COMPLETED
	[ "$(database_receipt "$job" .payment)" = "$price" ]
}

@test "below the price it is refused, and the limit is said nowhere" {
	run -1 as alice sbatch --max-price=1.618034 $(gang) --wrap true
	[[ $output == *"refused: the price is above --max-price: 2 nodes, "*", price "* ]]
	[[ $output != *1.618034* ]]
	run -1 as alice sbatch --bid=300 $(gang) --wrap true
	[[ $output == *"expected --max-price"* ]]
	run -1 as alice sbatch --max-price=1000 -N4 -t1 --mem=100 --wrap true
	[[ $output == *"it needs 4 nodes with cpu=1 mem=100 each in one partition, and of the nodes that it may use 3 are as large"* ]]
	run -1 grep -rsl 1.618034 "$SANDBOX_DIR/state" "$SANDBOX_DIR/log"
}

@test "an offer that stands is accepted for its job alone, once" {
	answer=$(quote)
	offer=$(offer_in <<< "$answer") price=$(price_in <<< "$answer")
	[ -n "$offer" ]
	run -1 as bob sbatch --accept="$offer" $(gang) --wrap true
	[[ $output == *"offer $offer was made to another user"* ]]
	run -1 as alice sbatch --accept="$offer" -N1 --gpus-per-node=2 -c2 --mem=500 -t1 --wrap true
	[[ $output == *"offer $offer was made for another job"* ]]
	job=$(submit alice --accept="$offer" $(gang) --wrap 'srun sleep 3')
	[ "$(receipt_get "$job" .payment)" = "$price" ]
	wait_until 60 settled "$job"
	sacct_is "$job" State COMPLETED
	run -1 as alice sbatch --accept="$offer" $(gang) --wrap true
	[[ $output == *"offer $offer has become a job"* ]]
}

@test "whole nodes and jobs of workers and PSs in one market" {
	whole=$(submit alice --max-price=1000 -N1 -t1 --exclusive --mem=0 -o /dev/null --wrap 'srun sleep 3')
	[ "$(receipt_get "$whole" '"\(.per_node.cpu) \(.per_node["gpu:v100"])"')" = "8 2" ]
	work=$(submit bob --max-price=1000 --chunks=2 --epochs=2 --minibatches=$slot --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s \
		-o /dev/null --wrap 'sleep 3')
	gang=$(submit alice --max-price=1000 $(gang) --wrap 'srun sleep 3')
	for job in $whole $work $gang; do
		wait_until 90 settled "$job"
		[ "$(database_receipt "$job" .why)" = completed ]
	done
	! log_has 'not free in its slots' || false
}

@test "each task of an array is offered the price of its moment" {
	run as alice sbatch --max-price=0.01 $(gang) -N1 --array=0-3 --wrap true
	[ "$status" -ne 0 ]
	[[ $output == *'auction: refused: the price is above --max-price: 1 node, '* ]] && [[ $output != *0.01* ]]
	run as alice sbatch --max-price=100 $(gang) -N1 --array=0-3 --accept=0123456789abcdef --wrap true
	[[ $output == *'--accept: given with --array, expected one of them: an offer is for one job'* ]]
	array=$(submit alice --max-price=100 $(gang) -N1 --array=0-3 --wrap true)
	for task in 0 1 2 3; do
		wait_until 60 eval '[ "$(receipt_get '"${array}_$task"' ".payment // \"0\" | tonumber > 0")" = true ]'
	done
	as alice scancel "$array"
}
