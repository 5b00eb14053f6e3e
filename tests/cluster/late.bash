# late.bash - a cluster for jobs that take longer than they said. Loaded after plugins.

slot=10

# late_start NODES: a cluster of such nodes, each with eight CPUs and four GPUs.
late_start()
{
	auction_start --nodes "$1:partition=edge,cpus=8,mem=16000,gpus=v100:4"
	# As where auction.conf does not say it; the next slot is bought in time although the agent does not come to it for some seconds.
	sed -i -e '/^Overrun=/d' -e '/^RefundUnused=/d' -e 's/^EndMargin=.*/EndMargin=7/' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 auction_open
}

# A gang that has all of NODE for a minute. whole NODE USER SBATCH-WORDS
whole()
{
	local node=$1 user=$2

	shift 2
	submit "$user" -N1 -w "$node" --gpus-per-node=4 -c1 --mem=100 -t1 "$@"
}
