# Slots of a minute over two days: short jobs pay for seconds, and share a slot one after the other.

load lib
load plugins

slot=60

setup_file()
{
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=oasis
		SlotSeconds=$slot
		Slots=2880
		LateStart=50
		UserQuotes=1000
		Prices=given
		Lower=gpu:v100=0.6
		Upper=gpu:v100=0.6
		PartitionName=edge
		WorkerType=v100 TRES=cpu=2,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	auction_start --auction-conf "$BATS_FILE_TMPDIR/auction.conf" --nodes 'edge1:partition=edge,cpus=4,mem=16000,gpus=v100:1'
}

# A job that runs for SECONDS of a slot has ended and is settled. brief SECONDS; sets job
brief()
{
	job=$(submit alice $(small_bid 100 1) -o /dev/null --wrap "sleep $1")
	wait_until 90 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

# Two jobs of a second in one slot of the only GPU.
share_slot()
{
	# The slot that it is lasts for long enough.
	wait_until 70 eval '[ $((EPOCHSECONDS % slot)) -lt 10 ]'
	brief 1
	first=$job
	brief 1
	[ "$(database_receipt "$first" .start)" = "$(database_receipt "$job" .start)" ]
}

@test "two days of slots of a minute are for sale" {
	fresh_status
	status '.first, .last' >&2
	[ "$(status '"\(.last - .first + 1) \(.slot_seconds)"')" = "2880 60" ]
	run -1 as alice sbatch --quote $(small_bid 1000 300) --wrap true
	[[ $output == *"would be accepted: "*" pays 180.000000 of value 1000.00"* ]]
}

@test "a job that ends early pays for its seconds, and the rest of its slot is for sale" {
	share_slot || share_slot || share_slot
	for one in $first $job; do
		paid=$(micro "$(database_receipt "$one" .payment)") back=$(micro "$(database_receipt "$one" .refund)")
		[ $((paid + back)) = 600000 ]
		# It ran within a minute that others ran in, too.
		[ "$paid" -gt 0 ] && [ "$paid" -lt 600000 ]
	done
}
