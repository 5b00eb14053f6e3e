# The bid's options of sbatch (spank/auction) alone: no other plugin of ours is loaded, so what a job was given can be seen in its
# environment, and a bid that is refused was refused before it was submitted.

load lib

setup_file()
{
	need_plugins
	plugin=$(find "${AUCTION_PREFIX:-$AUCTION_BUILD/plugins}" -name spank_auction.so | head -n 1)
	cluster_start --plugins off
	# "optional": a refusal must not depend on the word that the administrator chose
	echo "optional $plugin" > "$SANDBOX_DIR/etc/plugstack.conf"
	cat > "$SANDBOX_DIR/etc/auction.conf" <<-END
		SlotSeconds=300
		Overrun=kill
		PartitionName=main
		WorkerType=v100 TRES=cpu=1,gpu:v100=1
		WorkerType=t4 TRES=cpu=1,gpu:t4=1
		PSType=ps TRES=cpu=1
		Model=small Epochs=3 WorkerTime=v100=1s,t4=2s
	END
}

teardown_file()
{
	cluster_stop
}

jobs_so_far()
{
	scontrol show config | sed -n 's/^NEXT_JOB_ID *= //p'
}

# refused LINE ARGUMENT...: sbatch fails with LINE on stderr, among Slurm's own, and no job is made.
refused()
{
	local line=$1 before

	shift
	before=$(jobs_so_far)
	run as alice "$@"
	[ "$status" -ne 0 ]
	echo "$output"
	[ "${lines[0]}" = "$line" ]
	[ "$(jobs_so_far)" = "$before" ]
}

# bid_of ARGUMENT...: the bid that a job submitted so arrives with.
bid_of()
{
	local job

	job=$(as alice "$@" --parsable -o bid.txt --wrap 'echo "${SLURM_SPANK_SLURM_AUCTION_BID-none}"') &&
		wait_until 30 job_is "$job" COMPLETED && cat "$SANDBOX_DIR/home/alice/bid.txt"
}

@test "sbatch --help lists every option" {
	run -0 as alice sbatch --help
	for option in bid=UTILITY epochs=N chunks=N minibatches=N gradient-mb=MB worker-time=TYPE=TIME ps-time=TYPE=TIME \
		upload=SITE=TIME data-mb=MB model=NAME quote overrun=kill max-price=CREDITS accept=OFFER; do
		[[ $output == *"--$option"* ]]
	done
}

@test "srun --help lists no option that it refuses, salloc --help those of a bid" {
	run -0 as alice salloc --help
	[[ $output == *--bid=* ]]
	run -0 as alice srun --help
	[[ $output == *--nodes=* ]]
	for option in --bid --epochs --quote --max-price --accept; do
		[[ $output != *"$option"* ]]
	done
}

@test "options make one bid" {
	run -0 bid_of sbatch --bid=sigmoid:300,0.02 --model small --epochs=30 --chunks 27 --minibatches=58 --gradient-mb=97.4 \
		--worker-time=v100=1.9s,t4=3.4s --ps-time=ps=50ms --upload=node1=2,cloud=12h --overrun=kill
	[ "$output" = "bid=sigmoid:300,0.02 epochs=30 chunks=27 minibatches=58 gradient-mb=97.4 worker-time=v100=1.9s,t4=3.4s \
ps-time=ps=50ms upload=node1=2,cloud=12h model=small overrun=kill" ]
}

# It would be a job.
@test "nobody asks a slurmctld without the auction" {
	refused "sbatch: error: auction: --quote: slurmctld does not run the auction (JobSubmitPlugins of slurm.conf)" \
		sbatch --bid=5 --model=small --quote --wrap true
}

@test "a job without a bid gets nothing and hears nothing" {
	run -0 --separate-stderr bid_of sbatch
	[ "$output" = none ]
	[ -z "$stderr" ]
	run -0 bid_of env SLURM_AUCTION_EPOCHS=nonsense SLURM_AUCTION_BID= sbatch
	[ "$output" = none ]
}

@test "#SBATCH lines bid, and the command line wins" {
	cat > "$SANDBOX_DIR/home/alice/bid.sh" <<-'END'
		#!/bin/bash
		#SBATCH --bid=300
		#SBATCH --model small
		#SBATCH -o bid.txt
		echo "$SLURM_SPANK_SLURM_AUCTION_BID"
	END
	job=$(submit alice bid.sh)
	wait_until 30 job_is "$job" COMPLETED
	[ "$(cat "$SANDBOX_DIR/home/alice/bid.txt")" = "bid=300 model=small" ]
	job=$(submit alice --bid=500 bid.sh)
	wait_until 30 job_is "$job" COMPLETED
	[ "$(cat "$SANDBOX_DIR/home/alice/bid.txt")" = "bid=500 model=small" ]
}

@test "environment defaults: options before variables before the words of SLURM_AUCTION_BID" {
	run -0 bid_of env SLURM_AUCTION_BID=70 SLURM_AUCTION_MODEL=small sbatch
	[ "$output" = "bid=70 model=small" ]
	run -0 bid_of env SLURM_AUCTION_BID='70 epochs=1;chunks=1 minibatches=1 model=small' SLURM_AUCTION_EPOCHS=2 \
		SLURM_AUCTION_CHUNKS=2 sbatch --chunks=3
	[ "$output" = "bid=70 epochs=2 chunks=3 minibatches=1 model=small" ]
	run -0 bid_of env SLURM_AUCTION_BID='linear:7,1/h model=small' sbatch --bid=9
	[ "$output" = "bid=9 model=small" ]
}

@test "what is no bid is refused at the terminal and not submitted" {
	refused "sbatch: error: auction: --bid: 'sigmod:300' is not a utility: expected a value in credits, such as 300, or \
sigmoid:, linear:, inverse:, deadline: or table:" sbatch --bid=sigmod:300 --model=small --wrap true
	refused "sbatch: error: auction: --bid: '1,000' has a comma: write a value in credits without one, such as 1000 or 0.5, or \
name its form: sigmoid:, linear:, inverse:, deadline: or table:" sbatch --bid=1,000 --model=small --wrap true
	refused "sbatch: error: auction: --bid: value: '-5' is out of range, expected 0 to 1000000000" \
		sbatch --bid=-5 --model=small --wrap true
	refused "sbatch: error: auction: --bid: value: '1e99' is out of range, expected 0 to 1000000000" \
		sbatch --bid=1e99 --model=small --wrap true
	refused "sbatch: error: auction: --bid: decay: 'nan' is not a decimal number" \
		sbatch --bid=sigmoid:1,nan --model=small --wrap true
	refused "sbatch: error: auction: --bid: value 20 after 10 in a table, expected values that never rise with time" \
		sbatch --bid=table:1=10,2=20 --model=small --wrap true
	refused "sbatch: error: auction: --epochs: '0' is out of range, expected 1 to 1000000000" \
		sbatch --bid=5 --epochs=0 --model=small --wrap true
	refused "sbatch: error: auction: --worker-time: 'h100' is not a worker type of this cluster, expected v100, t4" \
		sbatch --bid=5 --worker-time=h100=3s --wrap true
	refused "sbatch: error: auction: --model: 'vgg' is not a model of this cluster, expected one of small" \
		sbatch --bid=5 --model=vgg --wrap true
	refused "sbatch: error: auction: --epochs: '3 quote' has white space or ';', expected none" \
		sbatch --bid=5 --epochs='3 quote' --model=small --wrap true
}

@test "what is no whole bid is refused too" {
	refused "sbatch: error: auction: --bid: not given, expected what the job is worth, such as 300 or deadline:300,4h" \
		sbatch --epochs=3 --model=small --wrap true
	refused "sbatch: error: auction: --worker-time: not given, expected the time of one mini-batch on at least one of v100, t4, \
or a --model that has it" sbatch --bid=5 --epochs=2 --wrap true
}

@test "errors of the environment name the variable" {
	refused "sbatch: error: auction: SLURM_AUCTION_EPOCHS: --epochs: 'x' is not a whole number" \
		env SLURM_AUCTION_EPOCHS=x sbatch --bid=5 --model=small --wrap true
	refused "sbatch: error: auction: SLURM_AUCTION_BID: --bid: 'foo' is not a utility: expected a value in credits, such as 300, or \
sigmoid:, linear:, inverse:, deadline: or table:" env SLURM_AUCTION_BID=foo sbatch --wrap true
	refused "sbatch: error: auction: SLURM_AUCTION_BID: bid: 'gpus' is not a key, expected bid, epochs, chunks, minibatches, \
gradient-mb, worker-time, ps-time, upload, data-mb, model, quote, overrun, max-price, data, accept, speedup, gpu-time, stands or time-max" env SLURM_AUCTION_BID='3 gpus=2' sbatch --wrap true
}

@test "salloc and srun refuse a bid that makes no sense, and ignore the environment" {
	run ! as alice salloc --bid=much true
	[[ $output == *"auction: --bid: 'much' is not a utility"* ]]
	run ! as alice srun --bid=much true
	[[ $output == *"auction: --bid: 'much' is not a utility"* ]]
	as alice env SLURM_AUCTION_BID=foo srun true
	as alice env SLURM_AUCTION_BID=foo salloc true
}

@test "srun in a job that bid works, with what it inherits" {
	cat > "$SANDBOX_DIR/home/alice/nested.sh" <<-'END'
		#!/bin/bash
		srun -n 1 sh -c 'echo step'
		srun -n 1 --epochs=4 true || echo refused
	END
	job=$(as alice env SLURM_AUCTION_EPOCHS=2 sbatch --parsable --bid=3 --model=small --gradient-mb=1 \
		-o nested.txt -e nested.err nested.sh)
	wait_until 30 job_is "$job" COMPLETED
	[ "$(cat "$SANDBOX_DIR/home/alice/nested.txt")" = "step
refused" ]
	[ "$(head -n 1 "$SANDBOX_DIR/home/alice/nested.err")" = "srun: error: auction: --epochs: bids are for sbatch, salloc and \
srun outside of a job; in a job srun runs in what it has bought" ]
}

@test "sbatch in a job that bid bids what it says itself, mostly nothing" {
	cat > "$SANDBOX_DIR/home/alice/outer.sh" <<-'END'
		#!/bin/bash
		show='echo "${SLURM_SPANK_SLURM_AUCTION_BID-none}"'
		sbatch -o inner1.txt --wrap "$show"
		sbatch --bid=3 --worker-time=v100=2s -o inner2.txt --wrap "$show"
		env | grep -c '^SLURM_SPANK__SLURM_SPANK_OPTION_auction_' > outer.txt
	END
	job=$(as alice sbatch --parsable --bid=3 --model=small --epochs=4 --overrun=kill -o /dev/null outer.sh)
	wait_until 30 job_is "$job" COMPLETED
	# It would be there to be taken up.
	[ "$(cat "$SANDBOX_DIR/home/alice/outer.txt")" = 4 ]
	wait_until 30 eval '[ -s "$SANDBOX_DIR/home/alice/inner1.txt" ] && [ -s "$SANDBOX_DIR/home/alice/inner2.txt" ]'
	[ "$(cat "$SANDBOX_DIR/home/alice/inner1.txt")" = none ]
	[ "$(cat "$SANDBOX_DIR/home/alice/inner2.txt")" = "bid=3 worker-time=v100=2s" ]
}

@test "without auction.conf here, what can be checked is checked" {
	mv "$SANDBOX_DIR/etc/auction.conf" "$SANDBOX_DIR/etc/away"
	run -0 --separate-stderr bid_of sbatch
	[ "$output$stderr" = none ]
	run -0 --separate-stderr bid_of sbatch --bid=deadline:5,4h --model=any
	[ "$output$stderr" = "bid=deadline:5,4h model=any" ]
	refused "sbatch: error: auction: --epochs: '0' is out of range, expected 1 to 1000000000" \
		sbatch --bid=5 --epochs=0 --wrap true
	mv "$SANDBOX_DIR/etc/away" "$SANDBOX_DIR/etc/auction.conf"
}

@test "conf= names another auction.conf; other arguments are errors" {
	cp "$SANDBOX_DIR/etc/plugstack.conf" "$SANDBOX_DIR/etc/before"
	sed 's/v100/a100/g' "$SANDBOX_DIR/etc/auction.conf" > "$SANDBOX_DIR/etc/other.conf"
	sed -i "s|\$| conf=$SANDBOX_DIR/etc/other.conf|; s/optional/required/" "$SANDBOX_DIR/etc/plugstack.conf"
	refused "sbatch: error: auction: --worker-time: 'v100' is not a worker type of this cluster, expected a100, t4" \
		sbatch --bid=5 --worker-time=v100=1 --wrap true
	sed -i 's/conf=/config=/' "$SANDBOX_DIR/etc/plugstack.conf"
	refused "sbatch: error: auction: plugstack.conf: 'config=$SANDBOX_DIR/etc/other.conf' is not an argument, expected conf=/PATH" \
		sbatch --wrap true
	mv "$SANDBOX_DIR/etc/before" "$SANDBOX_DIR/etc/plugstack.conf"
}
