# bats file_tags=nightly
# A script that does not leave its node when its job moves keeps itself waiting, for as long as Slurm lets it (KillWait, by default longer
# than a sale waits for a job that is late): it does not get its money back for that.

load lib
load plugins
load restart

slot=16

setup_file()
{
	need_plugins
	conf_write 4 4 move
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" --set KillWait=30 \
		--nodes 'move[1-2]:partition=move,cpus=10,mem=16000,gpus=v100:4'
	wait_until 30 open_for_bids move
	wait_until 60 nodes_settled
}

@test "a lead that ignores SIGTERM as it moves has paid" {
	wait_until 60 eval '[ $((EPOCHSECONDS % slot)) -le 3 ]'
	# Bob has the node in the middle of what alice needs.
	block=$(submit bob $(bid move 4 1 2) -o /dev/null --wrap 'sleep 1')
	job=$(submit alice $(bid move 4 4) -o /dev/null --wrap "trap '' TERM; while :; do sleep 1; done")
	[ "$(receipt_get "$job" '.plan | length')" -gt 1 ] || skip "a slot is too short here to submit two jobs"
	moved=$(receipt_get "$job" '(.plan[0].to + 1) * .slot_seconds')
	payment=$(receipt_get "$job" .payment)
	[ "$payment" != 0.000000 ]
	wait_until 90 eval '[ "$EPOCHSECONDS" -ge "$moved" ]'
	wait_until 150 settled "$job"
	[ "$(database_receipt "$job" '"\(.why) \(.payment)"')" = "timeout $payment" ]
}
