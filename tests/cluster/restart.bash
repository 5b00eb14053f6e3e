# restart.bash - what the tests share that kill slurmctld while sales are carried out. Behind plugins; slot is the seconds of a slot.

# Makes auction.conf, in which every GPU costs the same: four workers and one PS fill a node of 10 CPUs.
# conf_write NOTICE MARGIN PARTITION...
conf_write()
{
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=oasis
		SlotSeconds=$slot
		Overrun=kill
		Slots=60
		Prices=given
		CancelFee=0
		RefundUnused=no
		UserQuotes=1000
		Lower=gpu:v100=0.5
		Upper=gpu:v100=0.5
		ChangeNotice=$1
		EndMargin=$2
		$(printf 'PartitionName=%s\n' "${@:3}")
		WorkerType=v100 TRES=cpu=2,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=2,mem=200
	END
}

# A bid for WORKERS at a time in SLOTS slots, on nodes of one partition, which do not begin before DELAY more are over.
# bid PARTITION WORKERS SLOTS [DELAY]
bid()
{
	echo "--bid=linear:1000,5 -p $1 --chunks=$2 --epochs=1 --minibatches=$(($3 * slot)) --gradient-mb=0 --worker-time=v100=1s" \
		"--ps-time=ps.s=0s ${4+--upload=$1=$(($4 * slot))s}"
}

# True when a whole node of a partition can be bought. open_for_bids PARTITION
open_for_bids()
{
	as alice sbatch --quote $(bid "$1" 4 1) --wrap true 2>&1 | grep -q 'auction: .*accepted'
}

# Waits for a moment from which on there are some seconds until the next slot.
early_in_slot()
{
	wait_until 60 eval '[ $((EPOCHSECONDS % slot)) -le '$((slot / 3))' ]'
}

# Slots from the first one that can be bought now, to slot $1.
slots_to()
{
	echo $(($1 - (EPOCHSECONDS + 2) / slot - 1))
}

# in_one_slot COMMAND: it submits jobs, $made, whose plans count from the same slot. Where another one came first, they are given back,
# and it is tried again. A machine that is too slow for it skips the test.
in_one_slot()
{
	local tries from made

	for tries in 1 2 3 4; do
		early_in_slot
		from=$(slots_to 0) made=
		"$1"
		[ "$(slots_to 0)" != "$from" ] || return 0
		scancel $made
		for job in $made; do
			wait_until 60 settled "$job"
		done
	done
	skip "too slow: no slot is long enough for $1"
}
