# bats file_tags=nightly
# The auction is taken out as doc/admin-guide.md says ("Leaving"), and a plugin that is missing stops no job.

load lib
load plugins

slot=5

setup_file()
{
	auction_start --set MinJobAge=5
	plugstack=$SANDBOX_DIR/etc/plugstack.conf
	export plugstack
}

ordinary_jobs_run()
{
	local job

	job=$(submit alice -p "$1" -o /dev/null --wrap true)
	wait_until 30 job_is "$job" COMPLETED
	run -0 as alice srun -p "$1" -n 1 echo ran
	[[ $output == *ran* ]]
}

@test "plugstack.conf: a file that is missing, or of another release, stops no job where the line says optional" {
	cp "$plugstack" "$BATS_FILE_TMPDIR/plugstack.conf"
	# As the site has it: etc/plugstack.conf.d/auction.conf.
	grep -q '^optional spank_auction.so' "$lib_dir/../../etc/plugstack.conf.d/auction.conf"
	echo "optional $SANDBOX_DIR/gone/spank_auction.so" > "$plugstack"
	ordinary_jobs_run main
	# What of Slurm cannot be a plugin of this release.
	head -c 100 /dev/urandom > "$BATS_TEST_TMPDIR/spank_auction.so"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/spank_auction.so"
	echo "optional $BATS_TEST_TMPDIR/spank_auction.so" > "$plugstack"
	ordinary_jobs_run main
	# Nor does it let a bid become an ordinary job.
	run ! as alice sbatch --bid=100 --wrap true
	cp "$BATS_FILE_TMPDIR/plugstack.conf" "$plugstack"
}

@test "leaving: in the order of the guide, jobs run after each step" {
	sold=$(submit alice $(small_bid 100 1) -o /dev/null --wrap true)
	wait_until 60 settled "$sold"
	# 1. Nothing is sold any more, and what was sold has ended.
	fresh_status
	wait_until 60 status_is .totals.live 0
	# slurmctld writes the rows of jobs that it remembers anew when it starts, with the receipts of before their end.
	wait_until 150 eval '[ -z "$(job_state "$sold")" ]'
	# 2. The options go.
	sed -i '/spank_auction/d' "$plugstack"
	ordinary_jobs_run main
	run ! as alice sbatch --bid=100 --wrap true
	# 3. slurm.conf is as before, 4. slurmctld is started again.
	sed -i -e '/^JobSubmitPlugins=/d' -e 's/^SchedulerType=.*/SchedulerType=sched\/backfill/' \
		-e 's,^PluginDir=.*:,PluginDir=,' "$SANDBOX_DIR/etc/slurm.conf"
	sandbox restart slurmctld
	wait_until 30 eval 'squeue > /dev/null'
	ordinary_jobs_run main
	# Partitions that were sold are ordinary ones.
	wait_until 60 eval '[[ $(sinfo -h -p edge -o %T) == *idle* ]]'
	ordinary_jobs_run edge
	# 5. No reservation is left.
	wait_until 60 eval '! scontrol -o show reservation | grep -q "ReservationName=auction-"'
	# 6. The files.
	rm -rf "$SANDBOX_DIR"/state/auction "$SANDBOX_DIR"/state/auction.* "$SANDBOX_DIR/etc/auction.conf"
	sandbox restart slurmctld
	wait_until 30 eval 'squeue > /dev/null'
	ordinary_jobs_run edge
	# Receipts stay in the accounting.
	[ "$(database_receipt "$sold" .state)" = settled ]
}
