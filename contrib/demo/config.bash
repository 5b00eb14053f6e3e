# config.bash - the demo's cluster: its nodes, its auction.conf, who has how much money, and bids of before from which it learns prices.
# shellcheck disable=SC2154 # what run has

demo_nodes=(
	'edge[1-2]:partition=edge,cpus=16,mem=32000,gpus=v100:4'
	'edge[3-4]:partition=edge,cpus=16,mem=32000,gpus=t4:4'
	'cloud1:partition=cloud,cpus=32,mem=128000,gpus=v100:4'
	'node[1-2]:partition=main,cpus=8,mem=16000'
)
demo_users=(alice bob carol)

# Short slots, so that a person can watch. Times of the models fit train.sh.
print_conf()
{
	cat <<END
# Written by contrib/demo/run.
Policy=dps
SlotSeconds=10
Slots=90
StartMargin=2
EndMargin=1
LienSeconds=10
UserQuotes=1000
Prices=learned
Budgets=user
$(print_money)
SpoolDir=$SANDBOX_DIR/state/auction
PublicStatus=$SANDBOX_DIR/run/auction.json
PartitionName=edge Site=edge
PartitionName=cloud Site=cloud Upload=10s
WorkerType=v100 TRES=cpu=2,mem=500,gpu:v100=1 Bandwidth=1024
WorkerType=t4 TRES=cpu=2,mem=500,gpu:t4=1 Bandwidth=1024
PSType=ps.s TRES=cpu=1,mem=200 Bandwidth=2048
PSType=ps.m TRES=cpu=2,mem=400 Bandwidth=8192
Model=small Epochs=10 Chunks=2 Minibatches=15 GradientMB=0.1 WorkerTime=v100=100ms,t4=200ms PSTime=ps.s=10ms,ps.m=5ms
Model=medium Epochs=10 Chunks=4 Minibatches=15 GradientMB=0.2 WorkerTime=v100=100ms,t4=200ms PSTime=ps.s=10ms,ps.m=5ms
Model=large Epochs=10 Chunks=8 Minibatches=12 GradientMB=0.5 WorkerTime=v100=100ms,t4=200ms PSTime=ps.s=10ms,ps.m=5ms
END
}

# One that wants more than it has; enough for the others.
print_money()
{
	local u amount

	for u in "${demo_users[@]}"; do
		amount=1500
		[ "$u" != carol ] || amount=90
		printf 'Refill=user=%s Amount=%s Every=day\n' "$(id -u "$u")" $amount
	done
}

# The bids of contrib/demo/history as events of a spool: each so many seconds before now.
print_history()
{
	jq -R -c --argjson now "$EPOCHSECONDS" 'select(test("^[0-9]")) | capture("^(?<ago>[0-9]+) (?<user>[0-9]+) (?<taken>yes|no) (?<bid>.*)$")
		| {event: "bid", time: ($now - (.ago | tonumber)), slot_seconds: 10, accepted: (.taken == "yes"), user: (.user | tonumber), bid}' \
		"$here/history"
}

# prepare_cluster OPTION DIR: where sandbox finds the programs. Down if it was up; its spool has the bids of before.
prepare_cluster()
{
	local spec options=("$@" --auction-conf "$dir/auction.conf")

	[ ! -e "$SANDBOX_DIR/settings" ] || "$sandbox_program" down --remove || exit 1
	for spec in "${demo_nodes[@]}"; do
		options+=(--nodes "$spec")
	done
	: > "$dir/auction.conf"
	"$sandbox_program" conf --write "${options[@]}" || exit 1
	print_conf > "$dir/auction.conf"
	eval "$("$sandbox_program" env)"
	print_history | setpriv --reuid=slurm --regid=slurm --clear-groups env SAUCTION_SPOOL="$SANDBOX_DIR/state/auction" sauction spool import > "$dir/history.log" 2>&1 ||
		die "the bids of before cannot be taken over: $(cat "$dir/history.log")"
	"$sandbox_program" up || exit 1
}
