# Bids are sealed: what a user bids is in nothing that another user can read, nor in what Slurm keeps, and the controller can sell a job again
# as it stood without its spool all the same. doc/threats.md refers to these tests.

load lib
load plugins

slot=10
# In no other number of the cluster.
ahead=edge=40s,cloud=40s

setup_file()
{
	# Of this run alone: what users see is the processes of the whole machine. Not in the environment, which jobs get.
	echo $((7000 + RANDOM % 1000)).25 > "$BATS_FILE_TMPDIR/secret"
	auction_start --set AccountingStoreFlags=job_comment,job_script,job_env
}

setup()
{
	secret=$(cat "$BATS_FILE_TMPDIR/secret")
}

# work SLOTS: what of small_bid is not the value.
work()
{
	small_bid 1 "$1" | cut -d' ' -f2-
}

# What any user can see of jobs, by each command and each field.
all_that_users_see()
{
	local job

	as bob scontrol -o show job
	as bob squeue -t all -o '%all'
	as bob sacct -aXP -S now-1day -o ALL
	as bob sacct -aP -S now-1day -o ALL
	as bob scontrol show reservations
	as bob scontrol show steps || true
	as bob scontrol show assoc_mgr || true
	as bob squeue -s || true
	as bob sacctmgr -nP show transactions || true
	for job in $(as bob squeue -ho %A); do
		as bob scontrol write batch_script "$job" - || true
		as bob sacct -nPXB -j "$job" || true
	done
	as bob cat "$SANDBOX_DIR/run/auction.json"
	as bob sprice || true
}

@test "no user can see what another has bid, in any form that sbatch takes" {
	local form n=0

	for form in "--bid=$secret" "--bid $secret" "--bi=$secret" "--bid=sigmoid:$secret,0.01" "--bid=deadline:$secret,40"; do
		# shellcheck disable=SC2086
		job=$(submit alice $form $(work 1) --upload=$ahead -o env.txt --wrap 'env; scontrol -o show job $SLURM_JOB_ID')
		wait_until 30 receipt_state_is "$job" sold
		n=$((n + 1))
	done
	printf '#!/bin/sh\n#SBATCH --bid=%s\n#SBATCH "--bi" '"'%s'"' -J x\nenv\n' $secret $secret > "$SANDBOX_DIR/home/alice/bid.sh"
	job=$(submit alice $(work 1) --upload=$ahead -o script.txt bid.sh)
	wait_until 30 receipt_state_is "$job" sold
	# The environment alone, as a front end without the SPANK plugin has it, and by --export.
	other=$(sandbox exec -u alice -- env SLURM_AUCTION_BID="$secret $(work 1 | sed 's/--//g') upload=$ahead" sbatch --parsable -o other.txt --wrap env |
		grep -E '^[0-9]+$')
	wait_until 30 receipt_state_is "$other" sold
	[ "$(spool_get "$job" .bid | cut -d' ' -f1)" = "bid=$secret" ]
	all_that_users_see > "$BATS_TEST_TMPDIR/seen"
	grep -q "$job" "$BATS_TEST_TMPDIR/seen"
	run -1 grep -n "$secret" "$BATS_TEST_TMPDIR/seen"
	# What Slurm keeps, and its logs; the auction's own files have it.
	wait_until 30 saved
	run -1 grep -rsl "$secret" "$SANDBOX_DIR/state" "$SANDBOX_DIR/log" "$SANDBOX_DIR/spool" --exclude-dir=auction
	wait_until 90 settled "$job"
	wait_until 90 settled "$other"
	rm "$SANDBOX_DIR/home/alice/bid.sh"
	run -1 grep -rsl "$secret" "$SANDBOX_DIR/home/alice"
	all_that_users_see > "$BATS_TEST_TMPDIR/seen"
	run -1 grep -n "$secret" "$BATS_TEST_TMPDIR/seen"
	run -1 grep -rsl "$secret" "$SANDBOX_DIR/state" "$SANDBOX_DIR/log" "$SANDBOX_DIR/spool" --exclude-dir=auction
	# Script and environment that the accounting keeps, if it keeps them, which administrators can read.
	sacct -B -j "$job" > "$BATS_TEST_TMPDIR/kept"
	sacct --env-vars -j "$other" >> "$BATS_TEST_TMPDIR/kept"
	grep -q '#SBATCH --bid= ' "$BATS_TEST_TMPDIR/kept"
	grep -q '^PATH=' "$BATS_TEST_TMPDIR/kept"
	run -1 grep -n "$secret" "$BATS_TEST_TMPDIR/kept"
}

@test "the receipt says what was sold and what it costs, and has neither value nor bid" {
	job=$(submit alice --bid=$secret $(work 1) --upload=$ahead -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	[ "$(receipt_get "$job" 'has("value") or has("bid")')" = false ]
	[ "$(receipt_get "$job" 'has("sealed") and has("payment") and has("plan")')" = true ]
	run -1 eval 'receipt_get "$job" .sealed | base64 -d | grep -aq "$secret"'
	as alice scancel "$job"
	wait_until 60 settled "$job"
	[ "$(database_receipt "$job" 'has("sealed")')" = false ]
}

@test "the spool is lost, its key is not: jobs are sold again as they stood, with value and bid" {
	job=$(submit carol --bid=$secret $(work 2) --upload=$ahead -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$job" sold
	before=$(spool_get "$job" '"\(.bid) \(.value) \(.payment)"')
	[[ $before == "bid=$secret "* ]]
	[ "$(stat -c '%a %U' "$SANDBOX_DIR/state/auction.key")" = '600 slurm' ]
	sandbox stop slurmctld
	rm -rf "$SANDBOX_DIR"/state/auction/*
	sandbox start slurmctld
	wait_until 60 auction_open
	log_has "job $job: sale .* was not in the spool and is sold again as it stood"
	[ "$(spool_get "$job" '"\(.bid) \(.value) \(.payment)"')" = "$before" ]
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
}

# bats test_tags=nightly
@test "spool and key are lost: jobs are sold again at their price" {
	job=$(submit carol --bid=$secret $(work 2) --upload=$ahead -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$job" sold
	payment=$(receipt_get "$job" .payment)
	sandbox stop slurmctld
	rm -rf "$SANDBOX_DIR"/state/auction/* "$SANDBOX_DIR/state/auction.key"
	sandbox start slurmctld
	wait_until 60 auction_open
	log_has 'auction.key: a new key for the bids in receipts was made'
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$(database_receipt "$job" .payment)" = "$payment" ]
}

# bats test_tags=nightly
@test "a receipt of a release that had bids in the clear is read, and sealed" {
	job=$(submit carol --bid=$secret $(work 2) --upload=$ahead -o /dev/null --wrap 'sleep 1')
	wait_until 30 receipt_state_is "$job" sold
	bid=$(spool_get "$job" .bid) value=$(spool_get "$job" .value)
	old=$(receipt "$job" | jq -c --arg bid "$bid" --arg value "$value" 'del(.sealed) + {value: $value, bid: $bid}')
	scontrol update jobid="$job" admincomment="$old"
	sandbox stop slurmctld
	rm -rf "$SANDBOX_DIR"/state/auction/*
	sandbox start slurmctld
	wait_until 60 auction_open
	[ "$(spool_get "$job" '"\(.bid) \(.value)"')" = "$bid $value" ]
	wait_until 30 eval '[ "$(receipt_get "$job" "has(\"sealed\") and (has(\"bid\") | not)")" = true ]'
	as carol scancel "$job"
	wait_until 60 settled "$job"
}

# Whoever settled the job has seen its row, and does not write it again. row_stays JOB
row_stays()
{
	[ "$(jq -c ".entries[] | select(.job == $1) | .done" "$SANDBOX_DIR/state/auction/receipts")" = true ]
}

# bats test_tags=nightly
@test "a row of an earlier release, in the clear, of a job that has ended: the administrator can blank it" {
	job=$(submit alice --bid=$secret $(work 1) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	old=$(database_receipt "$job" . | jq -c --arg value $secret '. + {value: $value, bid: "bid=\($value)"}')
	wait_until 60 row_stays "$job"
	sacctmgr -i modify job where jobid="$job" set admincomment="$old"
	run as bob sacct -anXP -j "$job" -o AdminComment
	[[ $output == *$secret* ]]
	# No user can.
	as alice sacctmgr -i modify job where jobid="$job" set admincomment=x || true
	[[ $(sacct_field "$job" AdminComment) == *$secret* ]]
	sacctmgr -i modify job where jobid="$job" set admincomment="$(jq -c 'del(.value, .bid)' <<< "$old")"
	run as bob sacct -anXP -j "$job" -o AdminComment
	[[ $output == *settled* && $output != *$secret* ]]
}

# bats test_tags=nightly
@test "with PrivateData as the guide says no user sees what another has bought, and without it the log says so" {
	local warning='PrivateData of slurm.conf does not have jobs' warnings settings
	mapfile -t settings < <(sed -n 's/^ *\(PrivateData=[a-z,]*\)$/\1/p' "$lib_dir/../../doc/admin-guide.md")
	[ "${#settings[@]}" = 2 ]
	log_has "$warning"
	job=$(submit alice --bid=$secret $(work 1) --upload=$ahead -o /dev/null --wrap true)
	wait_until 30 receipt_state_is "$job" sold
	wait_until 30 eval '[ -n "$(sacct_field "$job" AdminComment)" ]'
	run -0 as bob scontrol show job "$job"
	[[ $output == *'"payment"'* ]]
	sed -i '/^PrivateData=/d' "$SANDBOX_DIR/etc/slurm.conf" "$SANDBOX_DIR/etc/slurmdbd.conf"
	echo "${settings[0]}" >> "$SANDBOX_DIR/etc/slurm.conf"
	echo "${settings[1]}" >> "$SANDBOX_DIR/etc/slurmdbd.conf"
	warnings=$(grep -c "$warning" "$SANDBOX_DIR/log/slurmctld.log")
	sandbox restart slurmdbd
	sandbox restart slurmctld
	wait_until 60 auction_open
	[ "$(grep -c "$warning" "$SANDBOX_DIR/log/slurmctld.log")" = "$warnings" ]
	run ! as bob scontrol show job "$job"
	[ -z "$(as bob squeue -h -j "$job" -o %A 2> /dev/null)" ]
	wait_until 30 eval '[ -n "$(as alice sacct -nXP -j "$job" -o AdminComment)" ]'
	[ -z "$(as bob sacct -anXP -j "$job" -o JobID)" ]
	run -0 as alice scontrol show job "$job"
	as alice scancel "$job"
	wait_until 60 settled "$job"
}

@test "the command line of sbatch shows a bid to all while sbatch runs; a line of the script, or the environment, does not" {
	local how

	for how in line script; do
		mkfifo "$BATS_TEST_TMPDIR/$how"
		chmod 666 "$BATS_TEST_TMPDIR/$how"
		# It waits for its script.
		if [ $how = line ]; then
			sandbox exec -u alice -- sbatch --parsable -o /dev/null --bid=$secret $(work 1) < "$BATS_TEST_TMPDIR/$how" 3>&- > "$BATS_TEST_TMPDIR/job" &
		else
			sandbox exec -u alice -- sbatch --parsable -o /dev/null $(work 1) < "$BATS_TEST_TMPDIR/$how" 3>&- > "$BATS_TEST_TMPDIR/job" &
		fi
		exec 9> "$BATS_TEST_TMPDIR/$how"
		wait_until 30 eval 'pgrep -u alice -x sbatch'
		run as bob sh -c 'cat /proc/[0-9]*/cmdline 2> /dev/null | tr "\0" " "'
		if [ $how = line ]; then
			[[ $output == *"sbatch "*"--bid=$secret"* ]]
		else
			[[ $output == *"sbatch "* && $output != *"$secret"* ]]
		fi
		printf '#!/bin/sh\n#SBATCH --bid=%s\ntrue\n' $secret >&9
		exec 9>&-
		wait
		job=$(grep -E '^[0-9]+$' "$BATS_TEST_TMPDIR/job")
		as alice scancel "$job"
	done
}

# bats test_tags=nightly
@test "slurmctld's log has requests as they come at debug3 alone, and no user can read it" {
	scontrol setdebug debug3
	as bob sbatch --quote --bid=4827.75 $(work 1) --wrap true || true
	scontrol setdebug info
	as bob sbatch --quote --bid=4828.75 $(work 1) --wrap true || true
	log_has 4827.75
	run -1 log_has 4828.75
	run ! as bob cat "$SANDBOX_DIR/log/slurmctld.log"
}

@test "a key that is damaged: closed, with what to do" {
	sandbox stop slurmctld
	cp -p "$SANDBOX_DIR/state/auction.key" "$BATS_TEST_TMPDIR/auction.key"
	echo damaged > "$SANDBOX_DIR/state/auction.key"
	sandbox start slurmctld
	wait_until 30 eval 'as alice sbatch $(small_bid 1 1) --wrap true 2>&1 | grep -q "auction.key: not a key of this program"'
	cp -p "$BATS_TEST_TMPDIR/auction.key" "$SANDBOX_DIR/state/auction.key"
	scontrol reconfigure
	wait_until 30 auction_open
}
