# auction-setup: from a cluster without the auction to the first sale, with nothing named but the partition, and back.

load lib
load plugins

setup_file()
{
	need_plugins
	for stock in /usr/lib/*/slurm-wlm /usr/lib/*/slurm /usr/lib64/slurm /usr/lib/slurm; do
		[ ! -e "$stock/auth_munge.so" ] || break
	done
	export stock
	export plugins
	plugins=$(readlink -f "$(dirname "$(find "${AUCTION_PREFIX:-${AUCTION_BUILD-}/plugins}" -name job_submit_auction.so | head -n 1)")")
	export setup=$lib_dir/../../contrib/setup/auction-setup
	cluster_start $(plugin_options) --plugins off --set "PluginDir=$plugins:$stock" \
		--nodes 'gpu[1-2]:partition=gpu,cpus=8,mem=16000,gpus=a100:2' --nodes 'node1:partition=main,cpus=2,mem=2000'
	rm "$SANDBOX_DIR/etc/auction.conf"
	cp -r "$SANDBOX_DIR/etc" "$SANDBOX_DIR/before"
}

teardown_file()
{
	cluster_stop
}

# setup_auction WORD...: as root, with the cluster's commands
setup_auction()
{
	sandbox exec -- "$setup" --public "$SANDBOX_DIR/public" "$@"
}

@test "what it cannot do it says, and changes nothing" {
	run -1 setup_auction
	[[ $output == *"expected --partition=NAME"* ]]
	run -1 setup_auction --partition none
	[[ $output == *"--partition none: slurmctld has no such partition"* ]]
	run -1 setup_auction --partition main
	[[ $output == *"this is the default partition"* ]]
	run -2 setup_auction --partitio gpu
	run -0 setup_auction -n --partition gpu
	[[ $output == *"WorkerType=a100 TRES=cpu=3,mem=6400,gpu:a100=1"* ]]
	[[ $output == *"nothing was changed (--dry-run)" ]]
	diff -r "$SANDBOX_DIR/before" "$SANDBOX_DIR/etc"
	[ ! -e "$SANDBOX_DIR/public" ]
}

@test "with another scheduler it writes nothing" {
	sed -i 's|^SchedulerType=.*|SchedulerType=sched/builtin|' "$SANDBOX_DIR/etc/slurm.conf"
	run -1 setup_auction --partition gpu
	sed -i 's|^SchedulerType=.*|SchedulerType=sched/backfill|' "$SANDBOX_DIR/etc/slurm.conf"
	[[ $output == *"SchedulerType=sched/builtin: the auction runs Slurm's backfill"* ]]
	diff -r "$SANDBOX_DIR/before" "$SANDBOX_DIR/etc"
	[ ! -e "$SANDBOX_DIR/public" ]
}

@test "it finds the plugins of its own installation, and without any it writes nothing" {
	local own=$BATS_TEST_TMPDIR/prefix

	mkdir -p "$own/bin" "$own/lib" "$own/fake"
	cp "$setup" "$own/bin/auction-setup"
	printf '#!/bin/sh\n%q "$@" | sed "s|^PluginDir .*|PluginDir = %s|"\n' "$(type -P scontrol)" "$stock" > "$own/fake/scontrol"
	chmod 755 "$own/fake/scontrol"
	if [ ! -e /usr/lib/slurm-auction/job_submit_auction.so ]; then
		run -1 sandbox exec -- env PATH="$own/fake:$PATH" "$own/bin/auction-setup" --public "$SANDBOX_DIR/public" --partition gpu
		[[ $output == *"no directory of PluginDir=$stock has job_submit_auction.so"* ]]
		diff -r "$SANDBOX_DIR/before" "$SANDBOX_DIR/etc"
	fi
	ln -s "$plugins" "$own/lib/slurm-auction"
	run -0 sandbox exec -- env PATH="$own/fake:$PATH" "$own/bin/auction-setup" --public "$SANDBOX_DIR/public" -n --partition gpu
	[[ $output == *"> PluginDir=$plugins:$stock"* ]]
}

@test "where slurmctld does not run the auction its commands say so, and submit nothing" {
	run -1 as alice sbid balance
	[[ $output == *"sbid: slurmctld does not run the auction"* ]]
	run -1 as alice sprice --history
	[[ $output == *"sprice: slurmctld does not run the auction"* ]]
	[ -z "$(squeue -h -t all)" ]
}

# Where the plugin of sbatch is already, or still, there.
@test "a quote asked of a slurmctld that does not run the auction is no job" {
	local plugstack=$SANDBOX_DIR/etc/plugstack.conf

	cp "$plugstack" "$BATS_TEST_TMPDIR/plugstack.conf" 2> /dev/null || true
	spank=$(readlink -f "$(find "${AUCTION_PREFIX:-${AUCTION_BUILD-}/plugins}" -name spank_auction.so | head -n 1)")
	echo "optional $spank" > "$plugstack"
	printf '#!/bin/sh\n#SBATCH --quote --bid=3\ntrue\n' > "$SANDBOX_DIR/quote.sh"
	chmod 644 "$SANDBOX_DIR/quote.sh"
	for call in 'sbatch --quote --bid=3 --nodes=1 --time=1 --wrap true' "sbatch $SANDBOX_DIR/quote.sh" \
		'env SLURM_AUCTION_BID=3 SLURM_AUCTION_QUOTE=yes sbatch --wrap true' \
		'salloc --quote --bid=3 --nodes=1 true' 'srun --quote --bid=3 --nodes=1 true' 'sbid quote --bid=3 --wrap true'; do
		# shellcheck disable=SC2086
		run ! as alice $call
		echo "$call: $output"
		[[ $output == *"--quote: slurmctld does not run the auction (JobSubmitPlugins of slurm.conf)"* ]]
	done
	[ -z "$(squeue -h -t all)" ]
	[ ! -e "$BATS_TEST_TMPDIR/plugstack.conf" ] && rm "$plugstack" || cp "$BATS_TEST_TMPDIR/plugstack.conf" "$plugstack"
}

@test "one command and a restart: an ordinary user's bid is sold, runs and is paid" {
	run -0 setup_auction --partition gpu
	echo "$output"
	[[ $output == *"restart slurmctld"* ]]
	grep -qx JobSubmitPlugins=auction "$SANDBOX_DIR/etc/slurm.conf"
	[ "$(stat -c %U "$SANDBOX_DIR/public")" = slurm ]
	cmp "$SANDBOX_DIR/etc/slurm.conf.before-auction" "$SANDBOX_DIR/before/slurm.conf"
	# Nobody waits five minutes here.
	sed -i 's/^SlotSeconds=.*/SlotSeconds=10/; s/^Slots=.*/Slots=60/' "$SANDBOX_DIR/etc/auction.conf"
	sandbox restart slurmctld
	wait_until 30 grep -q '2 nodes are for sale' "$SANDBOX_DIR/log/slurmctld.log"
	sold()
	{
		job=$(submit alice --bid=100 --nodes=2 --gpus-per-node=2 --mem=1G --time=1 -o /dev/null --wrap 'srun true')
	}
	wait_until 30 sold
	settled()
	{
		sacct -nPX -j "$1" -o State,AdminComment | grep '^COMPLETED|.*"state":"settled"'
	}
	wait_until 60 settled "$job"
	run -0 as alice sprice
	run -0 as alice srun -p main hostname
}

@test "a second time changes nothing" {
	run -0 setup_auction --partition gpu
	[[ $output == *"nothing to change"* ]]
	# The directory is the one that auction.conf names.
	run -0 sandbox exec -- "$setup" --public "$SANDBOX_DIR/other" --partition gpu
	[[ $output == *"nothing to change"* ]]
	[ ! -e "$SANDBOX_DIR/other" ]
}

@test "out again: not while something is sold, then Slurm is as it was" {
	job=$(submit bob --bid=100 --gpus-per-node=1 --mem=1G --time=5 -o /dev/null --wrap 'sleep 300')
	run -1 setup_auction --remove
	[[ $output == *"bids are still taken: sauction pause"* ]]
	sandbox exec -- sauction pause
	wait_until 30 eval 'sandbox exec -- sauction -n -P state | grep -qx "ready|no"'
	run -1 setup_auction --remove
	[[ $output == *"something is still sold"* ]]
	as bob scancel "$job"
	wait_until 30 setup_auction -n --remove
	run -0 setup_auction --remove
	echo "$output"
	# Else it writes the receipts of before the settlement once more.
	[[ $output == *"slurmctld still knows "*"sold jobs: restart it when it has forgotten them (MinJobAge="* ]]
	run -0 diff -i <(grep -vE '^(SchedulerParameters|PluginDir)' "$SANDBOX_DIR/before/slurm.conf" | sort) \
		<(grep -vE '^(SchedulerParameters|PluginDir)' "$SANDBOX_DIR/etc/slurm.conf" | sort)
	# A directory of plugins that goes, too, is not named any more.
	grep -qx "PluginDir=$stock" "$SANDBOX_DIR/etc/slurm.conf"
	cmp <(grep . "$SANDBOX_DIR/before/plugstack.conf") <(grep . "$SANDBOX_DIR/etc/plugstack.conf")
	sandbox restart slurmctld
	run -0 as alice srun -p gpu hostname
	run -255 as alice sbatch --bid=100 --wrap true
}
