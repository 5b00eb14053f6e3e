# One user against all the others: dry runs that hold places, quotes in a loop, and jobs that are bought and cancelled.

load lib
load plugins

slot=5

setup_file()
{
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=oasis
		SlotSeconds=$slot
		Overrun=kill
		Slots=200
		Prices=given
		Lower=gpu:v100=0.5
		Upper=gpu:v100=0.5
		LienSeconds=60
		RefundUnused=no
		UserLiens=3
		UserQuotes=10
		PartitionName=edge
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
	END
	auction_start --auction-conf "$BATS_FILE_TMPDIR/auction.conf" \
		--nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:2'
}

# COUNT commands of USER at once, so that they come together also where one takes seconds to start; what they said, a line each.
# together COUNT USER COMMAND...
together()
{
	local count=$1 user=$2

	shift 2
	as "$user" bash -c 'for ((i = 0; i < '"$count"'; i++)); do { said=$("$@" 2>&1) || true; echo ${said//$'"'\n'"'/ }; } & done; wait' - "$@"
}

@test "dry runs hold a few places at most, which others and the same user's next bids get" {
	# The agent finds soon that they are no jobs, on a slow machine sooner than the third one comes: then somebody else tries.
	for user in alice bob; do
		said=$(together 6 $user sbatch --test-only $(small_bid 100 2) --wrap true)
		echo "$said" >&2
		[ "$(grep -c 'auction: ' <<< "$said")" = 6 ]
		[ "$(grep -vc '(UserLiens=3)' <<< "$said")" -ge 3 ]
		[[ $said != *"(UserLiens=3)"* ]] || break
	done
	[[ $said == *"(UserLiens=3)"* ]]
	[[ $said == *"--quote asks for a price and holds nothing"* ]]
	# Nobody else waits for that.
	job=$(submit carol $(small_bid 100 2) -o /dev/null --wrap true)
	# Liens last a minute here. The agent sees sooner that they are no jobs, and the next bid takes a place of theirs.
	began=$SECONDS
	wait_until 30 eval 'mine=$(submit $user $(small_bid 100 2) -o /dev/null --wrap true)'
	[ $((SECONDS - began)) -lt 40 ]
	wait_until 60 settled "$mine"
	wait_until 60 settled "$job"
	fresh_status
	[ "$(status .totals.sold)" = 2 ]
	[ "$(status .decisions.limited)" -ge 1 ]
}

@test "quotes are limited by the minute, for one user at a time" {
	said=$(together 16 carol sbatch --quote $(small_bid 100 2) --wrap true)
	echo "$said" >&2
	[ "$(grep -c 'would be accepted' <<< "$said")" -ge 9 ]
	[[ $said == *"bids and quotes in a minute that became no jobs (UserQuotes=10); try again in "* ]]
	output=$(as bob sbatch --quote $(small_bid 100 2) --wrap true 2>&1) || true
	[[ $output == *"would be accepted"* ]]
}

@test "whoever buys and cancels pays a share, the less the earlier" {
	late=$(submit bob $(small_bid 1000 2) --upload=edge=60s -o /dev/null --wrap true)
	early=$(submit bob $(small_bid 1000 2) --upload=edge=700s -o /dev/null --wrap true)
	for job in "$late" "$early"; do
		wait_until 30 receipt_state_is "$job" sold
		paid[job]=$(micro "$(receipt_get "$job" .payment)")
		[ "${paid[job]}" -gt 0 ]
		as bob scancel "$job"
		wait_until 60 settled "$job"
		[ "$(database_receipt "$job" .why)" = cancelled ]
	done
	[ "$(micro "$(database_receipt "$late" .payment)")" = $(((paid[late] + 1) / 2)) ] ||
		[ "$(micro "$(database_receipt "$late" .payment)")" = $((paid[late] / 2)) ]
	[ "$(micro "$(database_receipt "$early" .payment)")" = $((paid[early] / 4)) ]
	# The charge and what is paid back add up.
	fresh_status
	[ "$(micro "$(status .totals.charged)")" = $(($(micro "$(status .totals.refunded)") + $(micro "$(status .totals.settled_revenue)"))) ]
}

@test "a job that ended before anybody saw it run has paid" {
	for i in 1 2 3; do
		jobs+=("$(submit bob $(small_bid 1000 2) -o /dev/null --wrap true)")
	done
	for job in "${jobs[@]}"; do
		wait_until 60 settled "$job"
		[ "$(database_receipt "$job" '"\(.why) \(.refund)"')" = 'completed 0.000000' ]
		[ "$(micro "$(database_receipt "$job" .payment)")" -gt 0 ]
	done
}

# has_job JOB COMMAND...: a row of it, with its receipt.
has_job()
{
	local job=$1

	shift
	as bob "$@" -o JobID,State,AdminComment | grep -q "^$job|.*\"auction\":1"
}

@test "what was bought for later is found with the commands of the guide" {
	job=$(submit bob $(small_bid 1000 2) --upload=edge=600s -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	guide=$BATS_TEST_DIRNAME/../../doc/user-guide.md
	grep -qF 'sacct -XP -S now-30days -E now+30days -o JobID,State,AdminComment' "$guide"
	wait_until 30 has_job "$job" sacct -XP -S now-30days -E now+30days
	grep -qF 'sacct -XP -j JOB -o JobID,State,AdminComment' "$guide"
	wait_until 30 has_job "$job" sacct -XP -j "$job"
	as bob scancel "$job"
	wait_until 60 settled "$job"
}
