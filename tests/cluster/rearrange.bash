# rearrange.bash - what the tests of jobs that wait and move share. Loaded after plugins.

slot=10

# A new cluster whose window is 200 slots, with learned prices.
# rearrange_start SANDBOX-OPTION...
rearrange_start()
{
	auction_start "$@"
	sed -i -e 's/^Prices=.*/Prices=learned/' -e '/^Eta=/d' -e 's/^Slots=.*/Slots=200/' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 auction_open
}

# WORKERS GPUs for four slots, from UPLOAD seconds on at the soonest, worth VALUE if done within DEADLINE seconds.
# Each mini-batch takes a worker $pace (1s).
# bid USER WORKERS VALUE UPLOAD DEADLINE SBATCH-WORDS
bid()
{
	local user=$1 words="--bid=deadline:$3,$5s --epochs=1 --chunks=$2 --minibatches=40 --upload=edge=$4s,cloud=$4s"

	shift 5
	submit "$user" $words --gradient-mb=0 --worker-time=v100="${pace:-1s}" --ps-time=ps.s=0s "$@"
}

# Bids for two GPUs of PARTITION from UPLOAD seconds on, far more than there are, of which most are refused: by the next fit these slots cost
# something. That fit would come when two hundred times as long as the last one took has passed (AUC_FIT_COST), but a slurmctld that has just begun
# makes one at once. No two of them are for the same work: a refused bid that its user makes again a slot later counts as one.
# A fit that comes in the middle of them, on a slow machine, has chosen prices by half of them, and looks again at double as many: then there
# are more.
# crowd PARTITION UPLOAD
crowd()
{
	local i round before

	for round in 1 2 4; do
		fresh_status
		before=$(status .learning.kept)
		for ((i = 1; i <= 16 * round; i++)); do
			pace=0.$((9800 + 16 * round + i))s bid bob 2 $((50 * i * i)) "$2" 390 --partition="$1" -o /dev/null \
				--wrap 'sleep 1' > /dev/null 2>&1 || true
		done
		wait_until 30 eval '[ "$(status .learning.kept)" -ge $((before + 16 * round)) ]'
		sandbox restart slurmctld
		wait_until 60 auction_open
		wait_until 60 eval '[ "$(status ".learning.bids >= $((before + 16 * round))")" = true ]'
		[ "$(status '.learning | .kind == "flat" or .kind == "learned"')" != true ] || return 0
	done
	echo "no prices were learned of $((before + 16 * round)) bids" >&2
	return 1
}
