# bats file_tags=nightly
# Jobs that were sold ran on exactly the nodes, with the CPUs, memory and GPUs, and in the slots of their receipts, and paid what
# the spool says: contrib/demo/audit on real jobs, and audit itself on records that were tampered with.

load lib
load plugins

slot=15
audit=$lib_dir/../../contrib/demo/audit

setup_file()
{
	need_plugins
	command -v slaunch > /dev/null || { echo "slaunch is not installed" >&2; return 1; }
	# shellcheck disable=SC2046
	cluster_start $(plugin_options) --slot-seconds $slot
	wait_until 30 auction_open
	cat > "$SANDBOX_DIR/job.sh" <<'END'
#!/bin/bash
#SBATCH --output=%x-%j.out
exec slaunch auction-train --epochs=1 --chunks="$1" --minibatches=20 --pace=20ms
END
	# A slot is much longer than what is done in it. All in one, so that they run beside each other: on one node; on several; two that
	# share a node with what runs there.
	wait_until 60 eval '[ $((EPOCHSECONDS % slot)) -le 4 ]'
	v100='--worker-time=v100=100ms --ps-time=ps.s=5ms --minibatches=60'
	t4='--worker-time=t4=200ms --ps-time=ps.s=10ms --minibatches=60'
	export colocated distributed second third
	colocated=$(submit alice --bid=50 $v100 --chunks=2 -J one "$SANDBOX_DIR/job.sh" 2)
	distributed=$(submit bob --bid=deadline:500,3 $t4 --chunks=8 -J several "$SANDBOX_DIR/job.sh" 8)
	second=$(submit carol --bid=linear:400,100 $t4 --chunks=5 -J second "$SANDBOX_DIR/job.sh" 5)
	third=$(submit alice --bid=deadline:300,3 $v100 --chunks=8 -J third "$SANDBOX_DIR/job.sh" 8)
	wait_until 180 all_settled
}

all_settled()
{
	local job

	for job in "$colocated" "$distributed" "$second" "$third"; do
		sacct -nPX -j "$job" -o AdminComment | grep -q '"state":"settled"' || return 1
	done
}

run_audit()
{
	sandbox exec "$audit" "$@" "$SANDBOX_DIR/state/auction" "${home:-$SANDBOX_DIR/home}"
}

# One of the jobs' receipts as the accounting has it.
settled()
{
	sacct -nPX -j "$1" -o AdminComment | jq -r "$2"
}

@test "all jobs did their work" {
	for job in $colocated $distributed $second $third; do
		[ "$(sacct_field "$job" State)" = COMPLETED ]
		grep -q '^final epochs=1 ' "$SANDBOX_DIR"/home/*/*-"$job".out
	done
}

@test "a co-located and a distributed job ran as their receipts say" {
	[ "$(settled "$colocated" .colocated)" = true ]
	[ "$(settled "$distributed" .colocated)" = false ]
	[ "$(settled "$distributed" '.plan[0].workers | length')" -ge 2 ]
	run -0 run_audit --job "$colocated" --job "$distributed"
	[[ ${lines[0]} == "job $colocated: nodes, GPUs and slots of receipt, accounting and tasks agree ("*")" ]]
	[[ ${lines[1]} == "job $distributed: nodes, GPUs and slots of receipt, accounting and tasks agree ("*")" ]]
}

@test "payments in the accounting are the revenue in the spool, and the receipts have no values" {
	run -0 run_audit
	sum=0
	for job in $colocated $distributed $second $third; do
		paid=$(micro "$(settled "$job" .payment)")
		sum=$((sum + paid))
		[ "$(settled "$job" '[.value, .bid, .sealed]' | tr -d ' \n')" = '[null,null,null]' ]
	done
	[ $sum -gt 0 ]
	[ "$sum" = "$(micro "${lines[-1]##* }")" ]
	[[ ${lines[-1]} == "sum of 4 payments in the accounting = revenue in the spool = "* ]]
	[ "$sum" = "$(micro "$(jq -r .totals.settled_revenue "$SANDBOX_DIR/state/auction/status.json")")" ]
}

# The auditor must be able to find fault: each of these changes one record.
tamper()
{
	home=$BATS_TEST_TMPDIR/home
	cp -r "$SANDBOX_DIR/home" "$home"
	sed -i "$1" "$home"/*/*-"$2".out
	run -1 run_audit --job "$2"
}

@test "audit finds a task on another node" {
	tamper '/role=worker rank=0/s/node=[a-z0-9]*/node=edge9/' "$distributed"
	[[ $output == *"WRONG: its tasks saw"* ]]
}

@test "audit finds a task that is missing" {
	tamper '/role=ps rank=0/d' "$colocated"
	[[ $output == *"WRONG: its tasks saw"* ]]
}

@test "audit finds two workers on one GPU" {
	tamper 's/gpus=[0-9]/gpus=0/' "$distributed"
	[[ $output == *"WRONG: its tasks saw"* ]]
}

@test "audit finds a task outside of its slots" {
	tamper '/role=worker rank=0/s/time=1/time=2/' "$second"
	[[ $output == *"WRONG: worker 0 ran outside of its slots"* ]]
}

@test "audit finds a payment that the spool does not know" {
	spool=$BATS_TEST_TMPDIR/spool
	mkdir "$spool"
	for job in $colocated $distributed $second $third; do
		[ "$(settled "$job" .payment)" = 0.000000 ] || paying=$job
	done
	cp "$SANDBOX_DIR/state/auction/state" "$spool/"
	grep -v '"event":"settled".*"job":'"$paying," "$SANDBOX_DIR/state/auction/journal" > "$spool/journal"
	run -1 sandbox exec "$audit" "$spool" "$SANDBOX_DIR/home"
	[[ $output == *"WRONG: payments in the accounting are"* ]]
}
