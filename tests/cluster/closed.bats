# The auction is closed: its disk is full, its spool or auction.conf is broken. Bids are refused with the reason, the status, the public
# one and sprice say so, the log says it once, and it opens again. What else auction.conf and accounts can have wrong is said, too.

load lib
load plugins

slot=5

setup_file()
{
	hold_make hold_nodes
	auction_start --set AccountingStorageEnforce=limits --env LD_PRELOAD="$HOLD_DIR/hold_nodes.so" --env HOLD_NODES="$HOLD_DIR/nodes"
}

# As it was, whatever a test left.
teardown()
{
	if is_mounted; then
		rm -f "$(spool)/fill"
	fi
	rm -f "$HOLD_DIR"/nodes*
	[ ! -e "$BATS_TEST_TMPDIR/state" ] || cp -p "$BATS_TEST_TMPDIR/state" "$(spool)/state"
	[ ! -e "$BATS_TEST_TMPDIR/auction.conf" ] || cp "$BATS_TEST_TMPDIR/auction.conf" "$SANDBOX_DIR/etc/auction.conf"
	sandbox start slurmctld
	scontrol reconfigure
	wait_until 30 auction_open
}

teardown_file()
{
	if is_mounted; then # as a test failed
		umount -l "$(spool)"
	fi
	hold_stop
}

spool()
{
	echo "$SANDBOX_DIR/state/auction"
}

is_mounted()
{
	[ -n "${SANDBOX_DIR-}" ] && grep -qF " $(spool) tmpfs " /proc/mounts
}

sprice_here()
{
	"$(program sprice)" "$@"
}

bid_refused()
{
	said=$(as alice sbatch $(small_bid 100 1) -o /dev/null --wrap true 2>&1) && return 1
	grep -q -- "$1" <<< "$said"
}

# Both files, and sprice with each of them: closed_says TEXT
closed_says()
{
	local file

	for file in "$(spool)/status.json" "$SANDBOX_DIR/run/auction.json"; do
		[ "$(jq .ready "$file")" = false ] || return
		jq -r .reason "$file" | grep -q -- "$1" || return
		sprice_here -f "$file" 2>&1 | grep -q "^sprice: the auction is closed: .*$1" || return
		sprice_here -f "$file" > /dev/null 2>&1 || return
		sprice_here --metrics -f "$file" | grep -qx 'auction_ready 0' || return
	done
}

logged()
{
	grep -c -- "$1" "$SANDBOX_DIR/log/slurmctld.log" || true
}

# How often anybody has asked slurmctld for its nodes.
node_looks()
{
	timeout 20 sdiag | sed -n 's/^[[:space:]]*REQUEST_NODE_INFO .*count:\([0-9]*\).*/\1/p' | head -n 1
}

# Takes all that is left of the disk, once more.
fill()
{
	dd if=/dev/zero bs=4k oflag=append conv=notrunc of="$(spool)/fill" 2> /dev/null || true
}

@test "the disk is full when a job ends: bids are refused until there is room again, and nothing is lost" {
	sandbox stop slurmctld
	mount -t tmpfs -o size=1m,mode=700,uid="$(id -u slurm)" auction "$(spool)" || skip "no file system can be mounted here"
	sandbox start slurmctld
	wait_until 30 auction_open
	first=$(submit alice $(small_bid 100 60) -o /dev/null --wrap "until [ -e $BATS_TEST_TMPDIR/first ]; do sleep 0.2; done")
	second=$(submit bob $(small_bid 100 60) -o /dev/null --wrap "until [ -e $BATS_TEST_TMPDIR/second ]; do sleep 0.2; done")
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
	wait_until 30 receipt_state_is "$first" running
	wait_until 30 receipt_state_is "$second" running
	fill
	touch "$BATS_TEST_TMPDIR/first"
	wait_until 30 job_is "$first" COMPLETED
	# Room that the agent makes is taken, too.
	wait_until 60 eval 'fill; bid_refused "No space left" && closed_says "No space left"'
	touch "$BATS_TEST_TMPDIR/second"
	wait_until 30 job_is "$second" COMPLETED
	wait_until 60 eval 'fill; bid_refused "No space left" && closed_says "No space left"'
	# It tries again twice a second, and says so once.
	looks=$(node_looks)
	wait_until 60 eval '[ "$(node_looks)" -gt $looks ]'
	log_has 'receipts: No space left'
	[ -z "$(grep 'No space left' "$SANDBOX_DIR/log/slurmctld.log" | sed 's/^[^]]*] //' | sort | uniq -d)" ]
	rm "$(spool)/fill"
	wait_until 30 auction_open
	wait_until 60 settled "$first"
	wait_until 60 settled "$second"
	[ "$(database_receipt "$first" .why)" = completed ]
	third=$(submit carol $(small_bid 100 2) -o /dev/null --wrap true)
	wait_until 60 settled "$third"
	wait_until 60 status_is '"\(.totals.live) \(.totals.liens) \(.agent.final_receipts_waiting)"' '0 0 0'
	totals=$(status '.totals | "\(.sold) \(.settled) \(.charged)"')
	sandbox stop slurmctld
	cp -a "$(spool)" "$BATS_TEST_TMPDIR/spool"
	umount "$(spool)"
	rm -rf "$(spool)"
	cp -a "$BATS_TEST_TMPDIR/spool" "$(spool)"
	sandbox start slurmctld
	wait_until 30 auction_open
	[ "$(status '.totals | "\(.sold) \(.settled) \(.charged)"')" = "$totals" ]
}

@test "a spool that is broken: closed, and said once; it opens when it is mended" {
	sandbox stop slurmctld
	mv "$(spool)/state" "$BATS_TEST_TMPDIR/state"
	echo broken > "$(spool)/state"
	before=$(logged 'nodes are for sale')
	sandbox start slurmctld
	wait_until 30 bid_refused 'no bids are taken now: .*state'
	wait_until 30 closed_says 'state'
	# It has tried again, and does once a minute.
	looks=$(node_looks)
	wait_until 70 eval '[ "$(node_looks)" -gt $looks ]'
	[ "$(logged 'nodes are for sale')" = $((before + 1)) ]
	cp -p "$BATS_TEST_TMPDIR/state" "$(spool)/state"
	scontrol reconfigure
	wait_until 30 auction_open
	[ "$(jq .ready "$SANDBOX_DIR/run/auction.json")" = true ]
}

@test "an auction.conf that is broken at the start: closed" {
	conf=$SANDBOX_DIR/etc/auction.conf
	cp "$conf" "$BATS_TEST_TMPDIR/auction.conf"
	sed -i 's/^Slots=.*/Slots=many/' "$conf"
	sandbox restart slurmctld
	wait_until 30 closed_says 'Slots=many'
	cp "$BATS_TEST_TMPDIR/auction.conf" "$conf"
	scontrol reconfigure
	wait_until 30 auction_open
	[ "$(jq .ready "$SANDBOX_DIR/run/auction.json")" = true ]
}

# What an editor, a package or a copy by root leaves behind. slurmctld runs as SlurmUser, who is not root.
# bats test_tags=nightly
@test "an auction.conf that slurmctld may not read, that is empty or not there: closed, and open again" {
	conf=$SANDBOX_DIR/etc/auction.conf
	cp "$conf" "$BATS_TEST_TMPDIR/auction.conf"
	[ "$(stat -c %U "/proc/$(cat "$SANDBOX_DIR/run/slurmctld.pid")")" = slurm ]
	for how in unreadable empty missing; do
		case $how in
		unreadable) chown root: "$conf"; chmod 600 "$conf"; said='auction.conf: Permission denied' ;;
		empty) chmod 644 "$conf"; : > "$conf"; said='no line PartitionName=' ;;
		missing) rm "$conf"; said='auction.conf: No such file or directory' ;;
		esac
		sandbox restart slurmctld
		wait_until 30 closed_says "$said"
		echo "$how: $(status .reason)"
		run ! as alice sbatch $(small_bid 100 1) --wrap true
		echo "$output"
		[[ $output == *"no bids and no jobs in the auction's partitions now"* || $output == *"no bids are taken now"* ]]
		run ! as alice sbatch -p edge --wrap true
		as alice scancel "$(submit alice -p main -o /dev/null --wrap true)"
		cp "$BATS_TEST_TMPDIR/auction.conf" "$conf"
		chmod 644 "$conf"
		scontrol reconfigure
		wait_until 30 auction_open
	done
}

@test "slurmctld is stopped: closed" {
	sandbox stop slurmctld
	closed_says 'stopped'
	sandbox start slurmctld
	wait_until 30 auction_open
}

# bats test_tags=nightly
@test "slurmctld is stopped while it does not answer its agent: closed" {
	touch "$HOLD_DIR/nodes"
	wait_until 60 test -e "$HOLD_DIR/nodes.asked"
	[ "$(status .ready)" = true ]
	sandbox stop slurmctld
	log_has 'the agent did not stop within 6 s and was abandoned'
	closed_says 'stopped'
	rm "$HOLD_DIR"/nodes*
	sandbox start slurmctld
	wait_until 30 auction_open
}

@test "a partition that slurm.conf does not have is named" {
	conf=$SANDBOX_DIR/etc/auction.conf
	cp "$conf" "$BATS_TEST_TMPDIR/auction.conf"
	said='PartitionName=nowhere: slurm.conf has no such partition'
	echo 'PartitionName=nowhere' >> "$conf"
	reconfigure
	wait_until 30 eval 'status .warning | grep -q "$said"'
	[ "$(status .ready)" = true ]
	sprice_here -f "$(spool)/status.json" 2>&1 | grep "^sprice: warning: .*$said"
	[ "$(logged "$said")" = 1 ]
	pid=$(cat "$SANDBOX_DIR/run/slurmctld.pid")
	reconfigure
	fresh_status
	[ "$pid" != "$(cat "$SANDBOX_DIR/run/slurmctld.pid")" ] || [ "$(logged "$said")" = 1 ]
	cp "$BATS_TEST_TMPDIR/auction.conf" "$conf"
	reconfigure
	wait_until 30 status_is .warning ''
}

@test "a type that no node can hold is named when the configuration is read again" {
	conf=$SANDBOX_DIR/etc/auction.conf
	cp "$conf" "$BATS_TEST_TMPDIR/auction.conf"
	said='WorkerType=huge: no node of the auction can hold one'
	echo 'WorkerType=huge TRES=cpu=2,mem=500,gpu:v100=99' >> "$conf"
	reconfigure
	wait_until 30 eval 'status .warning | grep -q "$said"'
	log_has "auction.conf: $said"
	cp "$BATS_TEST_TMPDIR/auction.conf" "$conf"
	reconfigure
	wait_until 30 status_is .warning ''
}

# bats test_tags=nightly
@test "SpoolDir is changed: the old one stays until slurmctld is started again, and the log says so" {
	conf=$SANDBOX_DIR/etc/auction.conf
	pid=$(cat "$SANDBOX_DIR/run/slurmctld.pid")
	cp "$conf" "$BATS_TEST_TMPDIR/auction.conf"
	sed -i 's,^SpoolDir=.*,SpoolDir='"$SANDBOX_DIR/state/elsewhere," "$conf"
	scontrol reconfigure
	if [ "$pid" = "$(cat "$SANDBOX_DIR/run/slurmctld.pid")" ]; then
		wait_until 30 log_has "SpoolDir=$SANDBOX_DIR/state/elsewhere: .* $(spool) .*"
		fresh_status
		[ ! -e "$SANDBOX_DIR/state/elsewhere" ]
	fi
	cp "$BATS_TEST_TMPDIR/auction.conf" "$conf"
	reconfigure
	wait_until 30 auction_open
}

# bats test_tags=nightly
@test "an account that may not run as many jobs at once as it bought: the job is ended, for that reason" {
	job=$(submit alice --bid=deadline:1000,14 $(wide_bid 1 | cut -d' ' -f2-) -p edge --upload=edge=20s -o /dev/null --wrap 'sleep 60')
	wait_until 30 receipt_state_is "$job" sold
	# It was sold before.
	as root sacctmgr -i modify user alice set maxjobs=1
	wait_until 60 receipt_state_is "$job" running
	wait_until 60 job_ended "$job"
	wait_until 60 settled "$job"
	as root sacctmgr -i modify user alice set maxjobs=-1
	[ "$(database_receipt "$job" .why)" = limit ]
}

# Modes of all that the auction keeps, and has no business to be anybody's.
modes_of_kept_files()
{
	find "$(spool)" "$SANDBOX_DIR"/state/auction.[ck]* -type f -exec stat -c '%a %U' {} + | sort -u
}

@test "a spool that was made with open modes: what is kept is slurmctld's alone from the next start on" {
	job=$(submit alice $(small_bid 100 1) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	[ "$(modes_of_kept_files)" = '600 slurm' ]
	sandbox stop slurmctld
	chmod 755 "$(spool)"
	find "$(spool)" "$SANDBOX_DIR"/state/auction.[ck]* -type f -exec chmod 644 {} +
	sandbox start slurmctld
	wait_until 30 auction_open
	fresh_status
	[ "$(modes_of_kept_files)" = '600 slurm' ]
	[ "$(stat -c %a "$SANDBOX_DIR/run/auction.json")" = 644 ]
	chmod 700 "$(spool)"
}

# bats test_tags=nightly
@test "a file of the spool that is somebody else's, and a directory that others can write to: closed" {
	sandbox stop slurmctld
	chown alice "$(spool)/journal"
	sandbox start slurmctld
	wait_until 30 bid_refused 'journal: '
	chown slurm: "$(spool)/journal"
	scontrol reconfigure
	wait_until 30 auction_open
	sandbox stop slurmctld
	chmod 777 "$(spool)"
	sandbox start slurmctld
	wait_until 30 bid_refused 'others can write to it (chmod go-w)'
	chmod 700 "$(spool)"
	scontrol reconfigure
	wait_until 30 auction_open
}
