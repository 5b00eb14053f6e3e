# Closed when in doubt: while nobody knows what is sold, or not yet, no job without a bid enters a partition that may be. Ordinary
# partitions go on.

load lib
load plugins

slot=10

setup_file()
{
	auction_start
	conf=$SANDBOX_DIR/etc/auction.conf
	cp "$conf" "$BATS_FILE_TMPDIR/auction.conf"
	cp "$SANDBOX_DIR/etc/slurm.conf" "$BATS_FILE_TMPDIR/slurm.conf"
	export conf
}

# As it was, whatever a test left.
teardown()
{
	rm -rf "$conf"
	cp "$BATS_FILE_TMPDIR/auction.conf" "$conf"
	cp "$BATS_FILE_TMPDIR/slurm.conf" "$SANDBOX_DIR/etc/slurm.conf"
	sandbox restart slurmctld
	wait_until 30 auction_open
}

# keeps_out PARTITION: no job without a bid gets in, with GPUs or without, by sbatch, srun or a change.
keeps_out()
{
	run ! as alice sbatch -p "$1" --gres=gpu:1 -o /dev/null --wrap true
	[[ $output == *"no bids and no jobs in the auction's partitions now"* ]]
	run ! as alice sbatch -p "$1" -o /dev/null --wrap true
	run ! as alice sbatch -p "$1,main" -o /dev/null --wrap true
	run ! as alice srun -p "$1" true
	run ! as alice scontrol update jobid="$held" partition="$1"
}

# That main takes jobs, and none gets into the sold partitions or those that are given.
stays_closed()
{
	local p job

	held=$(submit alice -p main --hold -o /dev/null --wrap true)
	for p in edge cloud "$@"; do
		keeps_out "$p"
	done
	as alice scancel "$held"
	job=$(submit alice -p main -o /dev/null --wrap true)
	wait_until 30 job_is "$job" COMPLETED
}

@test "a first start: the configuration is kept in both places, and nowhere else" {
	wait_until 30 test -s "$SANDBOX_DIR/state/auction/auction.conf"
	cmp "$SANDBOX_DIR/state/auction/auction.conf" "$SANDBOX_DIR/state/auction.conf"
	run ! log_has 'sched/auction: /auction.conf'
	[ ! -e /auction.conf ]
}

@test "auction.conf is missing at the start: what was sold is still sold" {
	job=$(submit carol $(small_bid 100 30) -o /dev/null --wrap 'sleep 600')
	wait_until 30 receipt_state_is "$job" running
	rm "$conf"
	sandbox restart slurmctld
	stays_closed
	as carol scancel "$job"
}

# bats test_tags=nightly
@test "auction.conf is empty at the start" {
	: > "$conf"
	sandbox restart slurmctld
	stays_closed
}

# bats test_tags=nightly
@test "auction.conf cannot be read at the start" {
	chmod 600 "$conf"
	chown root: "$conf"
	sandbox restart slurmctld
	log_has 'auction.conf: Permission denied'
	stays_closed
}

# bats test_tags=nightly
@test "auction.conf is a directory at the start, as where a file system is not mounted" {
	rm "$conf"
	mkdir "$conf"
	sandbox restart slurmctld
	stays_closed
}

# bats test_tags=nightly
@test "the copy in StateSaveLocation is lost, too: the one beside the spool counts" {
	[ "$(stat -c %a "$SANDBOX_DIR/state/auction/auction.conf")" = 600 ]
	rm "$conf" "$SANDBOX_DIR/state/auction.conf"
	sandbox restart slurmctld
	run -1 log_has 'nothing says what is sold'
	stays_closed
}

@test "nothing says what is sold: what has GPUs is closed, the rest goes on, until an administrator decides" {
	# Never sold, but with GPUs; and one without.
	echo "PartitionName=other Nodes=edge1 State=UP" >> "$SANDBOX_DIR/etc/slurm.conf"
	sandbox stop slurmctld
	rm "$conf" "$SANDBOX_DIR/state/auction.conf" "$SANDBOX_DIR/state/auction/auction.conf"
	sandbox start slurmctld
	log_has 'nothing says what is sold'
	stays_closed other
	# Likewise when the agent has asked slurmctld.
	wait_until 30 status_is .ready false
	stays_closed other
	cp "$BATS_FILE_TMPDIR/auction.conf" "$conf"
	scontrol reconfigure
	wait_until 30 auction_open
	job=$(submit alice -p other -o /dev/null --wrap true)
	as alice scancel "$job"
}

# Bids are needed in the default partition from now on.
default_is_sold()
{
	sed -i -e 's/^\(PartitionName=main .*\)Default=YES/\1Default=NO/' -e 's/^\(PartitionName=edge .*\)$/\1 Default=YES/' "$SANDBOX_DIR/etc/slurm.conf"
	sed -i 's/^\(PartitionName=edge .*\)Default=NO \(.*Default=YES\)/\1\2/' "$SANDBOX_DIR/etc/slurm.conf"
	grep -q '^PartitionName=edge .*Default=YES' "$SANDBOX_DIR/etc/slurm.conf"
}

# Submits without a bid and a partition until $1 is there; prints what got in.
knock()
{
	while [ ! -e "$1" ]; do
		as alice sbatch --parsable -o /dev/null --wrap true 2> /dev/null || true
	done
}

@test "the default partition is sold, and no job names one: none gets in, also while slurmctld starts" {
	default_is_sold
	knock "$BATS_TEST_TMPDIR/stop" > "$BATS_TEST_TMPDIR/in" 3>&- &
	# The first start is that which makes it the default.
	sandbox stop slurmctld
	wait_until 30 eval '! squeue'
	: > "$BATS_TEST_TMPDIR/in"
	for i in 1 2 3; do
		sandbox start slurmctld
		wait_until 30 auction_open
		sandbox stop slurmctld
	done
	# Nor while auction.conf has an error.
	sed -i 's/^Slots=.*/Slots=many/' "$conf"
	sandbox start slurmctld
	run ! as alice sbatch -o /dev/null --wrap true
	[[ $output == *"no bids and no jobs in the auction's partitions now"* ]]
	touch "$BATS_TEST_TMPDIR/stop"
	wait
	[ ! -s "$BATS_TEST_TMPDIR/in" ] || { cat "$BATS_TEST_TMPDIR/in"; return 1; }
}

@test "the default partition is changed while slurmctld runs: it counts at once" {
	for i in 1 2 3; do
		scontrol update partitionname=edge default=yes
		run ! as alice sbatch -o /dev/null --wrap true
		[[ $output == *"is sold by auction"* ]]
		scontrol update partitionname=main default=yes
		job=$(submit alice -o /dev/null --wrap true)
		[ "$(job_field "$job" Partition)" = main ]
	done
}

# Slurm puts a job into the Alternate= of a partition that takes none, after job_submit has seen it.
# bats test_tags=nightly
@test "a partition that is shut and whose Alternate= is sold: no job for it gets in there without a bid" {
	scontrol create partitionname=plain nodes="$(sinfo -ho %N -p main)" state=UP
	held=$(submit alice -p plain --hold -o /dev/null --wrap true)
	scontrol update partitionname=main alternate=edge
	wait_until 30 rules_known
	for state in DRAIN INACTIVE; do
		# At once, and when it has been looked at.
		scontrol update partitionname=main state=$state
		run ! as alice sbatch -p main -o /dev/null --wrap true
		[[ $output == *"partition main takes no jobs now, and its Alternate=, edge, is sold by auction"* ]]
		run ! as alice sbatch -o /dev/null --wrap true
		run ! as alice sbatch -p plain,main -o /dev/null --wrap true
		run ! as alice srun -p main true
		run ! as alice scontrol update jobid="$held" partition=main
		[ "$(job_field "$held" Partition)" = plain ]
		scontrol update partitionname=main state=UP
		as alice scancel "$(submit alice -p main --hold -o /dev/null --wrap true)"
	done
	# By way of another that is shut, too.
	scontrol update partitionname=plain alternate=main
	wait_until 30 rules_known
	scontrol update partitionname=main state=DRAIN
	scontrol update partitionname=plain state=INACTIVE
	run ! as alice sbatch -p plain -o /dev/null --wrap true
	[[ $output == *"its Alternate=, edge, is sold by auction"* ]]
	[ -z "$(squeue -ho %A -p edge)" ]
	as alice scancel "$held"
}

@test "a job_submit plugin after the auction's is named in the log" {
	sed -i 's/^JobSubmitPlugins=.*/JobSubmitPlugins=auction,throttle/' "$SANDBOX_DIR/etc/slurm.conf"
	sandbox restart slurmctld
	log_has 'JobSubmitPlugins=auction,throttle: auction has to be the last'
}
