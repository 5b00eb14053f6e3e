# bats file_tags=nightly
# sbid profile, as a user has it: a trial of a program on a GPU that is bought, and the options of a bid.

load lib
load plugins

slot=10

setup_file()
{
	auction_start
}

@test "a trial times mini-batches on a GPU of the type, and its options make a bid" {
	cat > "$SANDBOX_DIR/home/alice/steps" <<-'END'
		#!/bin/bash
		[ -n "$CUDA_VISIBLE_DEVICES" ] || exit 1
		while sleep 0.5; do echo auction-minibatch; done
	END
	chmod 755 "$SANDBOX_DIR/home/alice/steps"
	run -0 as alice sbid profile --types=v100 --bid=1000 --seconds=8 --minibatches=40 -t1 -c1 --mem=100 -- "$SANDBOX_DIR/home/alice/steps"
	[[ $output == *"v100: a mini-batch takes "*" by "*" of them"* ]]
	line=$(grep ^--gpu-time= <<< "$output")
	# Half a second at least, and what the machine adds.
	seconds=${line#--gpu-time=v100=}
	[ "${seconds%%[.s]*}" -ge 19 ] && [ "${seconds%%[.s]*}" -lt 200 ]
	# The trial has ended, and what it did not use is paid back or not, as the site has it.
	wait_until 60 eval '[ -z "$(squeue -h -u alice -t R,PD)" ]'
	run -1 as alice sbatch --quote --bid=1000 -N1 --gpus-per-node=v100:1 "$line" --wrap true
	[[ $output == *"would be accepted: 1 node"* ]]
}
