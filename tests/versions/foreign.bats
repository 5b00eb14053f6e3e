# Plugins that were built for another release of Slurm: FOREIGN_PREFIX.

load ../cluster/lib

teardown()
{
	[ -z "${SANDBOX_DIR-}" ] || sandbox down --remove
}

@test "slurmctld refuses the plugins of another release, and says which release they are of" {
	SANDBOX_DIR=$(mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX")
	export SANDBOX_DIR
	run -1 sandbox up --prefix "$FOREIGN_PREFIX"
	grep -E 'job_submit_auction.so .*version' "$SANDBOX_DIR/log/slurmctld.log"
	sandbox down
	# sched/auction alone is refused as well.
	run -1 sandbox up --prefix "$FOREIGN_PREFIX" --set JobSubmitPlugins=defaults
	grep -E 'sched_auction.so .*version' "$SANDBOX_DIR/log/slurmctld.log"
}
