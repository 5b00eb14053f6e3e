# elastic.bash - jobs whose plans have several layouts. Behind plugins; slot is the seconds of a slot, and the policy one whose plans are
# elastic.

# A bid for CHUNKS workers at most. bid CHUNKS EPOCHS
bid()
{
	echo "--bid=sigmoid:1000,0.1,60 --chunks=$1 --epochs=$2 --minibatches=$slot --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s"
}

# Bids among others until a plan has several layouts; the job is in $job, the others are cancelled. It writes what it sees to elastic.txt.
submit_elastic()
{
	local tries

	for tries in 1 2 3 4 5 6 7 8; do
		submit bob $(bid $((1 + tries % 3)) $((1 + tries % 2))) -o /dev/null --wrap 'sleep 200' > /dev/null || true
		job=$(submit alice $(bid $((3 + tries)) 3) -o elastic.txt --open-mode=append \
			--wrap 'echo start "${SLURM_RESTART_COUNT-0}" "$SLURMD_NODENAME"; trap "echo told" USR1; while :; do sleep 1 & wait; done') ||
			continue
		wait_until 30 receipt_state_is "$job" 'sold'
		[ "$(receipt_get "$job" '.plan | length > 1')" != true ] || return 0
		as alice scancel "$job"
		wait_until 30 job_ended "$job"
	done
	echo "no plan has several layouts" >&2
	return 1
}
