# What a site and its machines do to what was sold: reservations over sold windows, members that do not start, slurmd
# restarted, nodes that leave the auction. A plan is made again on other nodes at its price and in its time, later if it has to be,
# and paid back if it cannot be.

load lib
load plugins

slot=5

setup_file()
{
	auction_start
}

teardown()
{
	scontrol delete reservation mend 2> /dev/null || true
}

# Of a job that waits for its slots for as long as --upload says. later_bid VALUE SLOTS
later_bid()
{
	echo "$(small_bid "$1" "$2") -p edge --upload=edge=40s"
}

moved_from()
{
	[[ " $(last_nodes "$1") " != *" $2 "* ]]
}

# reserve NAME NODES FROM TO: as a site does that has to mend them; Unix time.
reserve()
{
	scontrol create reservation reservationname="$1" nodes="$2" users=root flags=maint,ignore_jobs \
		starttime="$(date -d "@$3" +%FT%T)" endtime="$(date -d "@$4" +%FT%T)"
}

starts_in_time()
{
	local start

	start=$(plan_start "$1")
	wait_until $((start + 30 - EPOCHSECONDS)) job_is "$1" RUNNING
	began_in_time "$1" "$start"
}

# From now on each slot of a GPU has a price.
sell_dear()
{
	sed -i -e '/^Policy=/d' -e '/^Eta=/d' "$SANDBOX_DIR/etc/auction.conf"
	printf 'Policy=oasis\nLower=gpu:v100=0.5,gpu:t4=0.5\nUpper=gpu:v100=0.5,gpu:t4=0.5\n' >> "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	wait_until 30 eval 'as alice sbatch --quote $(small_bid 100 2) -p edge --wrap true 2>&1 | grep -F "pays 1.000000"'
}

@test "a member that is kept from starting: another node takes over" {
	job=$(submit alice --bid=deadline:1000,30 --epochs=1 --chunks=8 --minibatches=$((12 * slot)) --gradient-mb=0 \
		--worker-time=v100=1s --ps-time=ps.s=0s -p edge --upload=edge=20s -o /dev/null --wrap 'sleep 100')
	wait_until 30 receipt_state_is "$job" sold
	wait_until 30 eval '[ -n "$(members '"$job"')" ]'
	member=$(members "$job" | head -n 1)
	node=$(job_field "$member" ReqNodeList)
	payment=$(receipt_get "$job" .payment)
	# By the administrator; its owner cannot.
	scontrol hold "$member"
	wait_until 90 moved_from "$job" "$node"
	wait_until 60 eval '[ "$(members '"$job"' | wc -l)" -ge 1 ] && group_is '"$job"' "RUNNING|CANCELLED"'
	[ "$(receipt_get "$job" .payment)" = "$payment" ]
	wait_until 30 job_is "$member" CANCELLED
	as alice scancel "$job"
	wait_until 60 settled "$job"
}

# bats test_tags=nightly
@test "AdminComment of a member written over by root: it has its receipt again, by which a slurmctld that starts knows it" {
	job=$(submit alice --bid=deadline:1000,60 --epochs=1 --chunks=8 --minibatches=$((4 * slot)) --gradient-mb=0 \
		--worker-time=v100=1s --ps-time=ps.s=0s -p edge --upload=edge=150s -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	wait_until 30 eval '[ -n "$(members '"$job"')" ]'
	member=$(members "$job" | head -n 1) text=$(receipt "$member")
	in_state "$text" member
	for other in 'of the site' '' '{"auction":1,"sale":"1-1","state":"member","lead":1}'; do
		scontrol update jobid="$member" admincomment="$other"
		wait_until 30 eval '[ "$(receipt "$member")" = "$text" ]'
	done
	as alice scancel "$job"
	wait_until 60 settled "$job"
	wait_until 30 job_is "$member" CANCELLED
}

# bats test_tags=nightly
@test "a site reserves a node that a job runs on: the job goes on, as Slurm has it" {
	job=$(submit alice $(small_bid 100 6) -p edge -o /dev/null --wrap 'sleep 60')
	wait_until 30 job_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	node=$(job_field "$job" NodeList)
	reserve mend "$node" $((EPOCHSECONDS + 3)) $((EPOCHSECONDS + 120))
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = timeout ]
	[ "$(database_receipt "$job" '.plan[0].workers | keys[0]')" = "$node" ]
}

# bats test_tags=nightly
@test "slurmd is restarted, and killed and started again, under a job: it goes on" {
	job=$(submit alice $(small_bid 100 8) -p edge -o /dev/null --wrap 'sleep 15')
	wait_until 30 job_is "$job" RUNNING
	wait_until 30 receipt_state_is "$job" running
	node=$(job_field "$job" NodeList)
	plan=$(receipt_get "$job" .plan)
	sandbox restart "$node"
	sandbox restart "$node" --kill
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$(database_receipt "$job" .plan)" = "$plan" ]
}

# bats test_tags=nightly
@test "a node leaves the auction's partition before its slot: the plan is made again on another" {
	job=$(submit alice $(later_bid 100 4) -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$job" sold
	plan=$(receipt_get "$job" '"\(.payment) \(.start) \(.completion)"') node=$(last_nodes "$job")
	cp "$SLURM_CONF" "$BATS_TEST_TMPDIR/slurm.conf"
	others=$(sinfo -hNo %N -p edge | grep -vx "$node" | paste -sd,)
	sed -i "s/^\(PartitionName=edge .*\)Nodes=[^ ]*/\1Nodes=$others/" "$SLURM_CONF"
	grep -q "^PartitionName=edge .*Nodes=$others" "$SLURM_CONF"
	scontrol reconfigure
	wait_until 60 moved_from "$job" "$node"
	[ "$(receipt_get "$job" '"\(.payment) \(.start) \(.completion)"')" = "$plan" ]
	starts_in_time "$job"
	as alice scancel "$job"
	wait_until 60 settled "$job"
	cat "$BATS_TEST_TMPDIR/slurm.conf" > "$SLURM_CONF"
	scontrol reconfigure
	wait_until 30 status_is "[.servers[] | select(.name == \"$node\" and .for_sale)] | length" 1
	wait_until 30 rules_known
}

@test "a site reserves a node that was sold: the plan is made again on another, at its price and in its slots" {
	sell_dear
	job=$(submit alice $(later_bid 100 4) -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$job" sold
	plan=$(receipt_get "$job" '"\(.payment) \(.start) \(.completion)"') node=$(last_nodes "$job")
	reserve mend "$node" "$(plan_start "$job")" $(($(plan_end "$job") + 60))
	wait_until 30 moved_from "$job" "$node"
	[ "$(receipt_get "$job" '"\(.payment) \(.start) \(.completion)"')" = "$plan" ]
	starts_in_time "$job"
	[ "$(job_field "$job" NodeList)" = "$(last_nodes "$job")" ]
	as alice scancel "$job"
	wait_until 60 settled "$job"
}

# bats test_tags=nightly
@test "a site reserves all nodes: later at the same price, or paid back where that is worth nothing" {
	patient=$(submit alice $(later_bid 100 4) -o /dev/null --wrap 'sleep 60')
	# Worth nothing a slot later.
	urgent=$(submit bob --bid=deadline:100,10 $(later_bid 1 2 | cut -d' ' -f2-) -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$patient" sold
	wait_until 30 receipt_state_is "$urgent" sold
	[ "$(micro "$(receipt_get "$urgent" .payment)")" -gt 0 ]
	payment=$(receipt_get "$patient" .payment) start=$(plan_start "$patient")
	reserve mend "$(sinfo -hNo %N -p edge | sort -u | paste -sd,)" "$start" $((start + 15))
	wait_until 30 eval '[ "$(plan_start '"$patient"')" -ge '$((start + 15))' ]'
	[ "$(receipt_get "$patient" .payment)" = "$payment" ]
	wait_until 90 settled "$urgent"
	[ "$(database_receipt "$urgent" .why)" = node_fail ]
	[ "$(database_receipt "$urgent" .payment)" = 0.000000 ]
	starts_in_time "$patient"
	as alice scancel "$patient"
	wait_until 60 settled "$patient"
}

# bats test_tags=nightly
@test "types, prices and policy change under what was sold: it keeps what it has, at its price" {
	conf=$SANDBOX_DIR/etc/auction.conf
	# On GPUs of the other kind, so that what runs has one layout all the while.
	waits=$(submit alice $(later_bid 100 4 | sed s/v100=/t4=/) -o /dev/null --wrap 'sleep 60')
	runs=$(submit bob --bid=deadline:1000,50 $(wide_bid 1 | cut -d' ' -f2- | sed "s/--minibatches=[0-9]*/--minibatches=$((30 * slot))/") \
		-p edge -o /dev/null --wrap 'sleep 200')
	wait_until 30 group_is "$runs" RUNNING
	wait_until 30 receipt_state_is "$runs" running
	group=$(group_jobs "$runs")
	before=$(for job in $waits $runs; do receipt_get "$job" '"\(.sale) \(.payment) \(.start) \(.plan)"'; done)
	cp "$conf" "$BATS_TEST_TMPDIR/auction.conf"
	# Workers need less, PSs have another name, prices are higher.
	sed -i -e '/^Policy=/d' -e '/^Eta=/d' -e '/^Lower=/d' -e '/^Upper=/d' -e '/^WorkerType=v100/s/cpu=[0-9]*/cpu=1/' \
		-e 's/^PSType=ps.s/PSType=ps.new/' -e 's/ps\.s=/ps.new=/g' "$conf"
	printf 'Policy=dps\nEta=gpu:v100=200\n' >> "$conf"
	reconfigure
	wait_until 30 eval 'as alice sbatch --quote --bid=100 --epochs=1 --chunks=1 --minibatches=5 --gradient-mb=0 --worker-time=v100=1s \
		--ps-time=ps.new=0s -p edge --wrap true 2>&1 | grep -E accepted'
	[ "$(for job in $waits $runs; do receipt_get "$job" '"\(.sale) \(.payment) \(.start) \(.plan)"'; done)" = "$before" ]
	[ "$(group_jobs "$runs")" = "$group" ]
	group_is "$runs" RUNNING
	# What is sold now has the new types and prices.
	new=$(submit carol --bid=100 --epochs=1 --chunks=1 --minibatches=5 --gradient-mb=0 --worker-time=v100=1s --ps-time=ps.new=0s -p edge \
		-o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$new" sold
	[ "$(receipt_get "$new" '"\(.policy) \(.ps_type) \(.worker_tres.cpu)"')" = 'dps ps.new 1' ]
	starts_in_time "$waits"
	[ "$(receipt_get "$waits" .ps_type)" = ps.s ]
	as alice scancel "$waits"
	as bob scancel "$runs"
	as carol scancel "$new"
	for job in $waits $runs $new; do
		wait_until 60 settled "$job"
	done
	cat "$BATS_TEST_TMPDIR/auction.conf" > "$conf"
	scontrol reconfigure
	wait_until 30 auction_open
}
