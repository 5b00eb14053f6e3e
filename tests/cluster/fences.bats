# Nodes that the auction shares with an ordinary partition: other jobs stay out of what is sold, and nothing is sold that others have.

load lib
load plugins

slot=10

setup_file()
{
	# Slurm knows by associations, too, who may use a reservation.
	auction_start --nodes 'edge1:partition=edge+main,cpus=8,mem=16000,gpus=v100:4' --set AccountingStorageEnforce=limits
}

fences()
{
	scontrol -o show reservation | sed -nE 's/^ReservationName=(auction-[0-9a-f]{16}-[^ ]*) .*/\1/p'
}

fence_count_is()
{
	[ "$(fences | wc -l)" = "$1" ]
}

# Slurm has looked at JOB, and does not start it beside a fence.
kept_out()
{
	[[ $(job_field "$1" Reason) =~ Reserved|ReqNodeNotAvail|^Resources$ ]]
}

@test "a job that would run into a sold window waits, one that ends before it runs, and the sold job starts on time" {
	# The node's four GPUs for four slots, from in three slots on.
	sold=$(submit alice --bid=100 --epochs=1 --chunks=4 --minibatches=40 --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s \
		--upload=30s -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$sold" sold
	wait_until 30 fence_count_is 1
	# With this Slurm 22.05 would forget all reservations; from 24.11 on it refuses it where PreemptMode=OFF.
	if [[ $(sbatch -V) == *' 22.05.'* ]]; then
		over=$(submit bob -p main -t 2 --signal=R:USR1@0 -o /dev/null --wrap 'sleep 60')
		wait_until 30 kept_out "$over"
		scancel "$over"
	fi
	long=$(submit bob -p main -t 2 -o /dev/null --wrap true)
	run -0 scontrol -o show reservation "$(fences)"
	[[ $output == *Nodes=edge1\ * ]]
	# Whose it is nobody else is told.
	[[ $output != *2001* && $output != *alice* ]]
	wait_until 30 kept_out "$long"
	start=$(plan_start "$sold")
	wait_until $((start + 30 - EPOCHSECONDS)) job_is "$sold" RUNNING
	began_in_time "$sold" "$start"
	job_is "$long" PENDING
	# Its owner has no other use of the reservation.
	run ! as alice sbatch -p main --reservation="$(fences)" --wrap true
	[[ $output == *"it is for what was sold only"* ]]
	plain=$(submit alice -p main --hold -o /dev/null --wrap true)
	run ! as alice scontrol update jobid="$plain" reservation="$(fences)"
	as alice scancel "$plain"
	as alice scancel "$sold"
	wait_until 60 settled "$sold"
	wait_until 30 fence_count_is 0
	wait_until 60 job_is "$long" COMPLETED
}

@test "many windows on a node, two fences; they are made again after a restart, foreign reservations are left alone" {
	scontrol create reservation reservationname=auction-site starttime=now+2days duration=60 users=root nodes=edge1
	jobs=
	for i in 1 2 3 4 5; do
		jobs+=" $(submit alice --bid=100 --epochs=1 --chunks=4 --minibatches=20 --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.s=0s \
			-o /dev/null --wrap 'sleep 60')"
	done
	# Not always the first one: where the job of the test before was seen to end late, others come before it.
	wait_until 30 eval '[ -n "$(squeue -h -t RUNNING -j '"$(paste -sd, <<< "$(xargs -n1 <<< "$jobs")")"')" ]'
	wait_until 30 fence_count_is 2
	# One that belongs to no sale.
	scontrol create reservation reservationname=auction-0123456789abcdef-7-1700000000 starttime=now+1day duration=60 users=root nodes=edge1
	sandbox restart slurmctld
	wait_until 30 eval '[ "$(fences | grep -c 0123456789abcdef-7)" = 0 ] && fence_count_is 2'
	scontrol delete reservation auction-site
	as alice scancel $jobs
	for job in $jobs; do
		wait_until 60 settled "$job"
	done
	wait_until 30 fence_count_is 0
}

# Seconds until the best schedule of a small job begins.
quoted_in()
{
	local start

	start=$(as alice sbatch --quote $(small_bid 100 1) --wrap true 2>&1 | sed -nE 's/.*, ([0-9:]+) to [0-9:]+ \(slots.*/\1/p')
	[ -n "$start" ] && seconds_until "$start"
}

quoted_later_than()
{
	[ "$(quoted_in)" -gt "$1" ]
}

quoted_within()
{
	[ "$(quoted_in)" -le "$1" ]
}

@test "what others have is not sold: a reservation, a job that runs" {
	wait_until 30 quoted_within 60
	scontrol create reservation reservationname=site starttime=now duration=10 users=root nodes=edge1
	wait_until 30 quoted_later_than 500
	scontrol delete reservation site
	wait_until 30 quoted_within 60
	job=$(submit bob -p main -t 10 -o /dev/null --wrap 'sleep 600')
	wait_until 30 job_is "$job" RUNNING
	wait_until 30 quoted_later_than 400
	as bob scancel "$job"
	wait_until 30 quoted_within 60
}
