# Two slurmctld, each on a machine of its own as far as Slurm can tell (name spaces of network and host name), share
# StateSaveLocation: the backup takes over when the primary dies, and gives way when it is back. Takes some minutes; run it with
#   tests/run tests/failover/failover.bats

load ../cluster/lib
load ../cluster/plugins

slot=5

setup_file()
{
	need_plugins
	SANDBOX_DIR=$(mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX")
	export SANDBOX_DIR MACHINES=$SANDBOX_DIR/machines
	# shellcheck disable=SC2046
	sandbox conf --write $(plugin_options) --slot-seconds 5 --nodes 'edge[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	export HOLD_NODES=$SANDBOX_DIR/hold/nodes
	mkdir -m 1777 "$SANDBOX_DIR/hold"
	gcc -shared -fPIC -o "$SANDBOX_DIR/hold_nodes.so" "$(dirname "$BATS_TEST_FILENAME")/../cluster/hold_nodes.c" -ldl
	mkdir "$MACHINES"
	make_network
	for name in ctl1 ctl2; do
		slurm_conf $name > "$SANDBOX_DIR/etc/$name.conf"
	done
	cp "$SANDBOX_DIR/etc/ctl1.conf" "$SANDBOX_DIR/etc/slurm.conf"
	export SLURM_CONF=$SANDBOX_DIR/etc/slurm.conf
	munged --socket="$SANDBOX_DIR/munge/socket" --key-file="$SANDBOX_DIR/munge/key" --pid-file="$SANDBOX_DIR/munge/munged.pid" \
		--log-file="$SANDBOX_DIR/munge/munged.log" --seed-file="$SANDBOX_DIR/munge/seed" --origin=127.0.0.1 3>&-
	start_ctl ctl1
	start_ctl ctl2
	for name in edge1 edge2; do
		mkdir -p "$SANDBOX_DIR/spool/$name"
		on compute slurmd -f "$SLURM_CONF" -N $name 3>&-
	done
}

teardown_file()
{
	local file

	for file in "$SANDBOX_DIR"/run/*.pid "$SANDBOX_DIR/munge/munged.pid" "$MACHINES"/*; do
		[ ! -s "$file" ] || kill -KILL "$(cat "$file")" 2> /dev/null || true
	done
	if [ -n "${CLUSTER_LOGS-}" ]; then
		mkdir -p "$CLUSTER_LOGS/failover" && cp -r "$SANDBOX_DIR/log" "$SANDBOX_DIR/etc" "$CLUSTER_LOGS/failover/"
	fi
	sandbox down --remove
}

# A machine is a process that keeps its name spaces; "hub" has the bridge between them.
make_network()
{
	local name number=0

	for name in hub ctl1 ctl2 compute; do
		unshare --net --uts sleep infinity 3>&- &
		echo $! > "$MACHINES/$name"
		wait_until 5 eval '[ "$(readlink /proc/'$!'/ns/net)" != "$(readlink /proc/self/ns/net)" ]'
		on $name hostname $name
		on $name ip link set lo up
	done
	on hub ip link add bridge type bridge
	on hub ip link set bridge up
	for name in ctl1 ctl2 compute; do
		number=$((number + 1))
		on hub ip link add $name type veth peer name eth0 netns "$(cat "$MACHINES/$name")"
		on hub ip link set $name master bridge up
		on $name ip address add 192.0.2.$number/24 dev eth0
		on $name ip link set eth0 up
	done
}

# on MACHINE COMMAND...
on()
{
	nsenter -t "$(cat "$MACHINES/$1")" -n -u "${@:2}"
}

# What the sandbox wrote, with two controllers and no database. In one space of processes two controllers need two pid files.
slurm_conf()
{
	grep -vE '^(SlurmctldHost|CommunicationParameters|SlurmctldPidFile|SlurmctldLogFile|SlurmctldTimeout|AccountingStor|# The host name)' \
		"$SANDBOX_DIR/etc/slurm.conf" | sed -E -e 's/NodeHostname=[^ ]* NodeAddr=[^ ]*/NodeHostname=compute NodeAddr=192.0.2.3/' \
		-e "s|^(SchedulerParameters=.*)|\1,auction_conf=$SANDBOX_DIR/etc/auction.conf|"
	cat <<END
SlurmctldHost=ctl1(192.0.2.1)
SlurmctldHost=ctl2(192.0.2.2)
SlurmctldTimeout=5
SlurmctldPidFile=$SANDBOX_DIR/run/$1.pid
SlurmctldLogFile=$SANDBOX_DIR/log/$1.log
DebugFlags=NO_CONF_HASH
END
}

start_ctl()
{
	local env=()

	[ "$1" != ctl2 ] || env=(env LD_PRELOAD="$SANDBOX_DIR/hold_nodes.so")
	on "$1" "${env[@]}" slurmctld -f "$SANDBOX_DIR/etc/$1.conf" 3>&-
}

# as USER COMMAND..., on the machine that users work on.
as()
{
	on compute setpriv --reuid="$1" --regid="$(id -g "$1")" --init-groups env HOME="$SANDBOX_DIR/home/$1" timeout 60 "${@:2}"
}

scontrol()
{
	on compute timeout 20 scontrol "$@"
}

squeue()
{
	on compute timeout 20 squeue "$@"
}

timeout()
{
	case $2 in
	scontrol | squeue) on compute /usr/bin/timeout "$@" ;;
	*) /usr/bin/timeout "$@" ;;
	esac
}

# The auction is open, and its status is written by a controller since $1.
open_since()
{
	[ "$(status "(.time > $1) and .ready")" = true ] && as alice sbatch --quote $(small_bid 1 1) --wrap true 2>&1 | grep -q 'slots'
}

log_of_has()
{
	grep -q -- "$2" "$SANDBOX_DIR/log/$1.log"
}

# The primary has opened the spool file N times, and bids are taken since $2. On 24.11 a backup may keep it for some seconds of the
# primary's start, which says so and waits.
primary_open()
{
	[ "$(grep -c "sched/auction: spool .* records" "$SANDBOX_DIR/log/ctl1.log")" = "$1" ] && open_since "$2"
}

# settled_as JOB WHY: without a database the log alone tells.
settled_as()
{
	grep -hq "job $1: sale [^ ]* settled: $2" "$SANDBOX_DIR"/log/ctl?.log
}

@test "the backup waits: only the primary's agent works" {
	# From 24.11 on a primary that starts waits for half a minute for a backup that is only just starting, too.
	wait_until 90 open_since 0
	log_of_has ctl1 'sched/auction: spool '
	wait_until 20 log_of_has ctl2 'running in background\|in standby\|slurmctld version'
	run ! log_of_has ctl2 'sched/auction: spool '
}

@test "kill -9 of the primary: sales go on at the backup, none is lost; it gives way to the primary, which knows them all" {
	runs=$(submit alice $(small_bid 100 12) -o /dev/null --wrap 'sleep 600')
	waits=$(submit bob --upload=100s $(small_bid 100 2) -o /dev/null --wrap 'sleep 600')
	wait_until 30 job_is "$runs" RUNNING
	wait_until 10 receipt_state_is "$waits" sold
	# Slurm itself writes its jobs with a delay of some seconds, and loses what it has not written.
	wait_until 30 grep -aq '"state":"running"' "$SANDBOX_DIR/state/job_state"
	wait_until 30 grep -aq "$(receipt_get "$waits" .sale)" "$SANDBOX_DIR/state/job_state"
	began=$(date +%s)
	kill -KILL "$(cat "$SANDBOX_DIR/run/ctl1.pid")"
	wait_until 90 open_since "$began"
	echo "# bids are taken again $(($(date +%s) - began)) s after the kill" >&3
	log_of_has ctl2 'sched/auction: spool '
	new=$(submit carol $(small_bid 100 2) -o /dev/null --wrap 'sleep 600')
	wait_until 10 receipt_state_is "$new" sold
	job_is "$waits" PENDING
	wait_until 90 settled_as "$runs" timeout
	wait_until 90 settled_as "$new" timeout
	status_is .totals.sold 3

	# While it waits for its slot, the primary comes back.
	last=$(submit carol --upload=100s $(small_bid 100 2) -o /dev/null --wrap 'sleep 600')
	wait_until 10 receipt_state_is "$last" sold
	began=$(date +%s)
	start_ctl ctl1
	wait_until 120 primary_open 2 "$began"
	echo "# bids are taken by the primary $(($(date +%s) - began)) s after its start" >&3
	fresh_status
	status_is .totals.sold 4
	more=$(submit alice $(small_bid 100 1) -o /dev/null --wrap true)
	wait_until 200 settled_as "$waits" timeout
	wait_until 200 settled_as "$last" timeout
	wait_until 60 settled_as "$more" completed
	fresh_status
	status_is .totals.sold 5
	status_is .totals.live 0

	# And away once more: what the backup knew of its first time does not count.
	began=$(date +%s)
	kill -KILL "$(cat "$SANDBOX_DIR/run/ctl1.pid")"
	wait_until 90 open_since "$began"
	status_is .totals.sold 5
}

@test "a backup that gives way while Slurm does not answer its agent gives the spool back, and can take over again" {
	touch "$HOLD_NODES"
	wait_until 30 test -e "$HOLD_NODES.asked"
	began=$(date +%s)
	start_ctl ctl1
	wait_until 120 log_of_has ctl2 'the agent did not stop within 6 s and was abandoned'
	wait_until 60 log_of_has ctl1 'another process has it open'
	rm "$HOLD_NODES"
	wait_until 60 log_of_has ctl2 'the abandoned agent has ended'
	wait_until 120 primary_open 3 "$began"
	status_is .totals.sold 5
	began=$(date +%s)
	kill -KILL "$(cat "$SANDBOX_DIR/run/ctl1.pid")"
	wait_until 90 open_since "$began"
	status_is .totals.sold 5
}

@test "scontrol takeover with sales live and bids arriving: the backup has them all" {
	# A backup that was the primary before begins anew: slurmctld 22.05 joins its main scheduler's thread each time that it gives way, though it
	# starts that once only, and may die of it.
	kill -KILL "$(cat "$SANDBOX_DIR/run/ctl2.pid")"
	kill -0 "$(cat "$SANDBOX_DIR/run/ctl1.pid")" 2> /dev/null || start_ctl ctl1
	wait_until 120 eval 'scontrol ping | grep -q "primary.*ctl1 is UP"'
	start_ctl ctl2
	wait_until 120 eval 'scontrol ping | grep -q "backup.*ctl2 is UP"'
	wait_until 120 open_since "$(date +%s)"
	sold=$(status .totals.sold) opened=$(grep -c 'sched/auction: spool .* records' "$SANDBOX_DIR/log/ctl2.log" || true)
	waits=$(submit alice --upload=200s $(small_bid 100 2) -o /dev/null --wrap 'sleep 600')
	wait_until 30 receipt_state_is "$waits" sold
	wait_until 30 grep -aq "$(receipt_get "$waits" .sale)" "$SANDBOX_DIR/state/job_state"
	began=$(date +%s)
	scontrol takeover &
	# sbatch waits for a controller by itself; one that has just begun may say that it has to look at its partitions first.
	wait_until 60 eval 'during=$(submit bob --upload=200s $(small_bid 100 2) -o /dev/null --wrap "sleep 600")'
	wait
	wait_until 90 open_since "$began"
	[ "$(grep -c 'sched/auction: spool .* records' "$SANDBOX_DIR/log/ctl2.log")" = $((opened + 1)) ]
	after=$(submit carol --upload=200s $(small_bid 100 2) -o /dev/null --wrap 'sleep 600')
	for job in $waits $during $after; do
		wait_until 30 receipt_state_is "$job" sold
	done
	fresh_status
	status_is .totals.sold $((sold + 3))
	[ "$(status .totals.live)" = 3 ]
	for job in $waits $during $after; do
		on compute scancel "$job"
		wait_until 60 settled_as "$job" cancelled
	done
	# Each of them once.
	[ -z "$(grep -ho 'sale [^ ]* settled: ' "$SANDBOX_DIR"/log/ctl?.log | sort | uniq -d)" ]
}
