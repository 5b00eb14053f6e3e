# Why a sale ended is one word for each cause in its receipt, and nobody pays for what the cluster did not do; a job that is suspended is
# resumed, and the log says so.

load lib
load plugins

slot=10

setup_file()
{
	# What an administrator may have slurmd do before a job: here it fails for alice, or waits, while there is a file.
	export PROLOG=$BATS_FILE_TMPDIR/prolog
	cat > "$PROLOG" <<-END
		#!/bin/bash
		[ "\$SLURM_JOB_USER" = alice ] || exit 0
		while [ -e $PROLOG.waits ]; do sleep 0.1; done
		[ ! -e $PROLOG.fails ]
	END
	chmod 755 "$BATS_FILE_TMPDIR" "$PROLOG"
	auction_start --nodes 'edge1:partition=edge,cpus=8,mem=16000,gpus=v100:4' --set Prolog="$PROLOG" \
		--set RequeueExit=17 --set RequeueExitHold=18
}

teardown()
{
	rm -f "$PROLOG".*
	scontrol update partitionname=edge MaxTime=INFINITE
	scancel -u alice
	wait_until 60 status_is '"\(.totals.live) \(.totals.liens)"' '0 0'
	wait_until 30 rules_known
}

# The sale of job $1 has ended for cause $2, and all was paid back.
gone_for()
{
	wait_until 90 job_ended "$1"
	wait_until 60 settled "$1"
	[ "$(database_receipt "$1" '"\(.why) \(.payment)"')" = "$2 0.000000" ] || { database_receipt "$1" . >&2; return 1; }
}

# What costs something, by what others have.
submit_paid()
{
	submit carol $(small_bid 100 12) -o /dev/null --wrap 'sleep 200' > /dev/null || return
	submit alice "$@" -o /dev/null --wrap 'sleep 60'
}

@test "cancelled: only by somebody" {
	job=$(submit alice $(small_bid 100 2) --upload=30s -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	as alice scancel "$job"
	gone_for "$job" cancelled
}

# bats test_tags=nightly
@test "held by root over its slots" {
	job=$(submit_paid --bid=deadline:100,6 $(small_bid 1 2 | cut -d' ' -f2-) --upload=20s)
	wait_until 30 receipt_state_is "$job" sold
	[ "$(receipt_get "$job" .payment)" != 0.000000 ]
	scontrol hold "$job"
	gone_for "$job" held
	scancel -u carol
}

# bats test_tags=nightly
@test "barred by a limit of its partition that came after the sale" {
	job=$(submit_paid --bid=deadline:100,12 $(small_bid 1 7 | cut -d' ' -f2-) --upload=20s)
	wait_until 30 receipt_state_is "$job" sold
	scontrol update partitionname=edge MaxTime=1
	gone_for "$job" barred
	scancel -u carol
}

# As tools of a site do that keep something of their own there.
# bats test_tags=nightly
@test "AdminComment written over by root: what was sold stays sold, and has its receipt again" {
	job=$(submit alice $(small_bid 100 12) -o /dev/null --wrap 'sleep 600')
	later=$(submit alice $(small_bid 100 1) --upload=600s -o /dev/null --wrap true)
	wait_until 60 receipt_state_is "$job" running
	wait_until 60 receipt_state_is "$later" sold
	for j in "$job" "$later"; do
		scontrol update jobid="$j" admincomment='of the site'
	done
	wait_until 30 receipt_state_is "$job" running
	wait_until 30 receipt_state_is "$later" sold
	[ "$(status .totals.live)" = 2 ]
	as alice scancel "$job" "$later"
	for j in "$job" "$later"; do
		wait_until 60 settled "$j"
		[ "$(database_receipt "$j" .why)" = cancelled ]
	done
}

# bats test_tags=nightly
@test "suspended by root: resumed, counted, and said once" {
	job=$(submit alice $(small_bid 100 4) -o /dev/null --wrap "sleep $((2 * slot))")
	wait_until 60 receipt_state_is "$job" running
	scontrol suspend "$job"
	wait_until 30 log_has "job $job is suspended; what it holds was sold to it for now, so that it is resumed"
	wait_until 30 job_is "$job" RUNNING
	wait_until 30 status_is .agent.resumed 1
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$(grep -c "job $job is suspended" "$SANDBOX_DIR/log/slurmctld.log")" = 1 ]
}

# bats test_tags=nightly
@test "not launched: slurmd could not, and cancelled it as root" {
	job=$(submit_paid --bid=deadline:100,12 $(small_bid 1 2 | cut -d' ' -f2-) --upload=20s)
	wait_until 30 receipt_state_is "$job" sold
	[ "$(receipt_get "$job" .payment)" != 0.000000 ]
	touch "$PROLOG.fails"
	gone_for "$job" not_launched
	[ "$(sacct_field "$job" State)" = 'CANCELLED by 0' ]
	scontrol update nodename=edge1 state=resume
	scancel -u carol
}

@test "cancelled by its owner before its script ran: as cancelled" {
	touch "$PROLOG.waits"
	job=$(submit_paid --bid=deadline:100,10 $(small_bid 1 6 | cut -d' ' -f2-))
	wait_until 60 receipt_state_is "$job" running
	as alice scancel "$job"
	rm "$PROLOG.waits"
	wait_until 90 job_ended "$job"
	[ "$(job_field "$job" ExitCode)" = 0:0 ]
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = cancelled ]
	[ "$(database_receipt "$job" .payment)" != 0.000000 ]
	scancel -u carol
}

# Slurm lets an owner ask for what it itself does when a node cannot be booted.
# bats test_tags=nightly
@test "ended by its owner as if its node had not booted: as cancelled" {
	cc -o "$SANDBOX_DIR/client" "$lib_dir/../attack/client.c" -lslurm
	job=$(submit_paid --bid=deadline:100,10 $(small_bid 1 6 | cut -d' ' -f2-))
	wait_until 60 receipt_state_is "$job" running
	run as alice "$SANDBOX_DIR/client" requeue-fail "$job"
	wait_until 90 job_is "$job" BOOT_FAIL
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" .why)" = cancelled ]
	[ "$(database_receipt "$job" .payment)" != 0.000000 ]
	scancel -u carol
}

@test "ended with a code for which the site has jobs requeued, or held: it has failed, and pays" {
	for code in 17 18; do
		job=$(submit carol $(small_bid 100 30) -o /dev/null --wrap 'sleep 400')
		wait_until 60 job_is "$job" RUNNING
		job=$(submit alice --bid=deadline:100,10 $(small_bid 1 6 | cut -d' ' -f2-) -o /dev/null --wrap "sleep 5; exit $code")
		wait_until 90 job_ended "$job"
		wait_until 60 settled "$job"
		[ "$(database_receipt "$job" .why)" = failed ]
		[ "$(database_receipt "$job" .payment)" != 0.000000 ]
		scancel -u carol
		wait_until 60 status_is .totals.live 0
	done
}
