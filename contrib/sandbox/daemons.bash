# daemons.bash - starting and stopping the daemons of a cluster. Part of "sandbox".
#
# A process is ours if its pid file names it, it runs the daemon's program, and its command line or environment names this
# cluster's directory: a pid file left over from a crash must not end somebody else's process.

PATH=$PATH:/usr/sbin:/sbin

all_daemons()
{
	echo munged mariadbd slurmdbd slurmctld
	[ -z "$(power_nodes)" ] || echo power
	started_nodes
}

log_of()
{
	case $1 in
	munged) echo "$B/munge/munged.log" ;;
	mariadbd | slurmdbd | slurmctld | power) echo "$B/log/$1.log" ;;
	*) echo "$B/log/slurmd-$1.log" ;;
	esac
}

# True if a daemon runs: then the caller's $pid is its process.
daemon_runs()
{
	local file

	case $1 in
	munged) file=$B/munge/munged.pid ;;
	mariadbd | slurmdbd | slurmctld | power) file=$B/run/$1.pid ;;
	*) file=$B/run/slurmd-$1.pid ;;
	esac
	pid=
	read -r pid 2> /dev/null < "$file" || [ -n "$pid" ] || return 1
	is_ours "$pid" "$1"
}

# is_ours PID DAEMON
is_ours()
{
	local words program=slurmd

	case $2 in
	munged | mariadbd | slurmdbd | slurmctld) program=$2 ;;
	power) program=bash ;;
	esac
	[[ $1 =~ ^[0-9]+$ ]] || return 1
	mapfile -d '' -t words 2> /dev/null < "/proc/$1/cmdline" || return 1
	[ ${#words[@]} -gt 0 ] && [ "${words[0]##*/}" = "$program" ] || return 1
	[[ " ${words[*]} " == *"$B/"* ]] || grep -qzx "SLURM_CONF=$B/etc/slurm.conf" "/proc/$1/environ" 2> /dev/null
}

# run_daemon COMMAND...: starts a daemon that puts itself into the background, away from our terminal and open files.
run_daemon()
{
	env -i PATH="$PATH" LANG=C.UTF-8 SLURM_CONF="$B/etc/slurm.conf" MYSQL_UNIX_PORT="$B/mysql/socket" RES_OPTIONS="$impatient" \
		"${ENVIRONMENT[@]+"${ENVIRONMENT[@]}"}" "$@" < /dev/null >> "$B/log/start.log" 2>&1
}

start_munged()
{
	daemon_runs munged && return
	run_daemon munged --socket="$B/munge/socket" --key-file="$B/munge/key" --pid-file="$B/munge/munged.pid" \
		--log-file="$B/munge/munged.log" --seed-file="$B/munge/seed" --num-threads=4 --origin=127.0.0.1 ||
		fail_with_log "munged did not start" "$B/log/start.log"
}

# The database is a scratch one: no protection against a crash of the machine, no network. Its temporary directory is its own: a
# mariadbd that starts deletes the temporary tables that it finds in the one it is given, another server's too. slurmdbd's statements fail
# with error 1020 where MariaDB isolates snapshots, as it does by default from 11.6.2 on, and slurmdbd of 26.05 ends then.
start_mariadbd()
{
	daemon_runs mariadbd && return
	mkdir -p "$B/mysql/tmp"
	if [ ! -d "$B/mysql/data/mysql" ]; then
		rm -rf "$B/mysql/data"
		make_database > "$B/log/mariadb-install.log" 2>&1 ||
			fail_with_log "the database could not be made" "$B/log/mariadb-install.log" || return
	fi
	env -i PATH="$PATH" LANG=C.UTF-8 SLURM_CONF="$B/etc/slurm.conf" setsid mariadbd --no-defaults --user=root \
		--datadir="$B/mysql/data" --tmpdir="$B/mysql/tmp" --socket="$B/mysql/socket" \
		--pid-file="$B/run/mariadbd.pid" --skip-networking --innodb-buffer-pool-size=64M --innodb-log-file-size=8M \
		--innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --skip-log-bin \
		--loose-innodb-snapshot-isolation=OFF \
		< /dev/null > "$B/log/mariadbd.log" 2>&1 &
	disown
	wait_for 60 sql 'select 1' || fail_with_log "mariadbd does not answer" "$B/log/mariadbd.log" || return
	sql "create database if not exists slurm_acct;
		create user if not exists slurm@localhost identified via unix_socket;
		grant all on slurm_acct.* to slurm@localhost" || fail_with_log "the database refused its set-up" "$B/log/mariadbd.log"
}

make_database()
{
	if [ -n "$DATABASE" ]; then
		cp -r "$DATABASE" "$B/mysql/data"
	else
		mariadb-install-db --no-defaults --user=root --datadir="$B/mysql/data" --tmpdir="$B/mysql/tmp" --skip-test-db --force \
			--innodb-log-file-size=8M --auth-root-authentication-method=socket
	fi
}

sql()
{
	mariadb --no-defaults -S "$B/mysql/socket" -u root -e "$1"
}

# True if nothing listens on the ports that were chosen. Clusters of another root (a chroot, a container with this network) do not see
# our claim and may choose the same in the same moment; of two, the slurmdbd that comes later, the first of a cluster's daemons to
# listen, ends.
ports_are_ours()
{
	[ -n "$PORTS_CHOSEN" ] && ! daemon_runs slurmdbd || return 0
	rm -f "$B/log/slurmdbd.log"
	run_daemon slurmdbd || return 0
	wait_for 60 slurmdbd_has_tried
	! port_was_taken
}

slurmdbd_has_tried()
{
	port_was_taken || slurm sacctmgr -n list cluster
}

port_was_taken()
{
	grep -q 'Address already in use' "$B/log/slurmdbd.log"
}

start_slurmdbd()
{
	if ! daemon_runs slurmdbd; then
		run_daemon slurmdbd || fail_with_log "slurmdbd did not start" "$B/log/slurmdbd.log" || return
	fi
	wait_for 60 slurm sacctmgr -n list cluster || fail_with_log "slurmdbd does not answer" "$B/log/slurmdbd.log" || return
	[ -z "$(slurm sacctmgr -nP list user alice format=user)" ] || return 0
	{
		slurm sacctmgr -i add cluster sandbox &&
			slurm sacctmgr -i add account training Description=training Organization=sandbox &&
			slurm sacctmgr -i add user root,alice,bob,carol account=training
	} >> "$B/log/start.log" 2>&1 || fail_with_log "the accounts could not be made" "$B/log/start.log"
}

start_slurmctld()
{
	local ignore=()

	# Slurm 26.05 does not start again if it was killed before it first wrote this file, minutes after its first start.
	[ ! -e "$B/state/clustername" ] || [ -e "$B/state/assoc_usage" ] || [[ $(slurmctld -V) != *" 26."* ]] || ignore=(-i)
	if ! daemon_runs slurmctld; then
		touch "$B/run/slurmctld.starts"
		run_daemon slurmctld "${ignore[@]+"${ignore[@]}"}" -f "$B/etc/slurm.conf" || fail_with_log "slurmctld did not start" "$B/log/slurmctld.log" || return
	fi
	wait_for 60 controller_serves || fail_with_log "slurmctld does not answer" "$B/log/slurmctld.log"
}

# The auction opens when it knows the nodes and has read its spool; sched/auction then writes this file anew. If it does not,
# the cluster is up all the same, for its ordinary jobs.
wait_for_auction()
{
	[ "$PLUGINS" = on ] || return 0
	wait_for 15 auction_ready ||
		say "no bids are taken: $(sed -n 's/.*"ready":false,"reason":"\([^"]*\).*/\1/p' "$B/state/auction/status.json" 2> /dev/null | tr -d '\\')"
}

auction_ready()
{
	[ "$B/state/auction/status.json" -nt "$B/run/slurmctld.starts" ] && grep -q '"ready":true' "$B/state/auction/status.json"
}

controller_serves()
{
	slurm scontrol ping | grep -q 'is UP'
}

# The helper that starts and stops cloud nodes for Slurm's ResumeProgram and SuspendProgram: they run as Slurm's user, slurmd as root.
start_power()
{
	[ -n "$(power_nodes)" ] || return 0
	daemon_runs power && return
	SLURM_CONF=$B/etc/slurm.conf setsid bash "$here/sandbox" -d "$B" power < /dev/null > "$B/log/power.log" 2>&1 &
	echo $! > "$B/run/power.pid"
	disown
}

serve_power()
{
	local word list node

	# Open for writing, too, so that it does not end with the first writer.
	exec 8<> "$B/run/power"
	while read -r word list <&8; do
		for node in $(node_names "$list"); do
			case $word in
			resume) boot_node "$node" 8>&- ;;
			suspend) stop_one "$node" 8>&- ;;
			esac
		done
	done
}

# A machine that boots. Not in the second in which it was asked to: slurmctld knows a boot by whole seconds of two clocks, and
# takes a slurmd that registers in that second for one that has not booted yet; it registers only once.
boot_node()
{
	local asked=$EPOCHSECONDS

	stop_one "$1"
	while [ "$EPOCHSECONDS" = "$asked" ]; do
		sleep 0.05
	done
	start_node "$1" -b
}

start_slurmds()
{
	local node

	for node in $(started_nodes); do
		start_node "$node" || return
	done
	wait_for_nodes && wait_for_auction
}

wait_for_nodes()
{
	wait_for 60 nodes_serve ||
		fail_with_log "not all nodes came up: $(slurm sinfo -Nho '%N=%T' | paste -sd' ')" "$B/log/slurmctld.log"
}

# start_node NAME [OPTION...]
start_node()
{
	daemon_runs "$1" && return
	mkdir -p "$B/spool/$1"
	run_daemon slurmd -f "$B/etc/slurm.conf" -N "$@" || fail_with_log "slurmd of $1 did not start" "$(log_of "$1")"
}

# True if no node with a slurmd that runs is down, unknown or not answering.
nodes_serve()
{
	local pid states nodes= node

	for node in $(started_nodes); do
		! daemon_runs "$node" || nodes+=,$node
	done
	[ -n "$nodes" ] || return 0
	states=$(slurm sinfo -Nho '%T' -n "${nodes#,}") || return 1
	[[ $states =~ ^((idle|mixed|allocated|completing|reserved|planned)($'\n'|$))+$ ]]
}

slurm()
{
	SLURM_CONF=$B/etc/slurm.conf timeout 20 "$@"
}

start_one()
{
	case $1 in
	munged | mariadbd | slurmdbd) "start_$1" || exit 1 ;;
	slurmctld)
		start_slurmctld && wait_for_nodes && wait_for_auction || exit 1
		;;
	*)
		started_nodes | grep -x -- "$1" > /dev/null || die "start: $1: expected munged, mariadbd, slurmdbd, slurmctld or a node"
		start_node "$1" || exit 1
		;;
	esac
}

# stop_one NAME [SIGNAL]: ends a daemon and waits until it is gone.
stop_one()
{
	local pid

	daemon_runs "$1" || return 0
	kill -"${2:-TERM}" "$pid" 2> /dev/null
	wait_for 30 gone "$pid" "$1" && return
	say "$1 (pid $pid) ignores SIG${2:-TERM}: killed"
	kill -KILL "$pid" 2> /dev/null
	wait_for 10 gone "$pid" "$1"
}

# gone PID DAEMON. A process that ends has no command line any more, but its ports, until its last thread has ended: what is left
# then is nothing, or a zombie.
gone()
{
	local words=() stat=

	mapfile -d '' -t words 2> /dev/null < "/proc/$1/cmdline"
	[[ "${words[*]}" != *[!\ ]* ]] || { ! is_ours "$1" "$2"; return; }
	read -r stat 2> /dev/null < "/proc/$1/stat" || return 0
	[[ "${stat##*) }" = Z* ]] && [ "$(ls "/proc/$1/task" 2> /dev/null | wc -l)" -le 1 ]
}

stop_all()
{
	local what names pid

	end_jobs
	stop_one power
	mapfile -t names < <(started_nodes; power_nodes)
	for what in "${names[@]}"; do
		! daemon_runs "$what" || kill -TERM "$pid"
	done
	for what in "${names[@]}" slurmctld slurmdbd mariadbd munged; do
		stop_one "$what"
	done
	end_leftovers
}

# Cancels what runs or waits, so that no job outlives its cluster.
end_jobs()
{
	daemon_runs slurmctld && controller_serves || return 0
	[ -n "$(slurm squeue -ho %i)" ] || return 0
	slurm scancel -f --state=PENDING > /dev/null 2>&1
	slurm scancel --state=RUNNING > /dev/null 2>&1
	slurm scancel --state=SUSPENDED > /dev/null 2>&1
	wait_for 10 no_jobs
}

no_jobs()
{
	local jobs

	jobs=$(slurm squeue -ho %i) && [ -z "$jobs" ]
}

# Ends what is left over, with its processes: a killed slurmd leaves its jobs running, and a pid file may be lost. The
# environment that run_daemon() gave it tells a process of this cluster.
end_leftovers()
{
	local p program killed=()

	# Debian's names end in -wlm.
	while read -r p program; do
		case $program in
		*/slurmstepd | */slurmd | */slurmctld | */slurmdbd | */slurm*-wlm | */munged | */mariadbd) ;;
		*) continue ;;
		esac
		started_here "${p#/proc/}" || continue
		kill_tree "${p#/proc/}"
	done < <(find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -printf '%h %l\n' 2> /dev/null)
	wait_for 10 no_process "${killed[@]+"${killed[@]}"}"
	return 0
}

# A slurmstepd of 24.11 has its title where its environment was; its tasks tell.
started_here()
{
	local pid variables variable children

	children_of "$1"
	for pid in "$1" "${children[@]+"${children[@]}"}"; do
		mapfile -d '' -t variables 2> /dev/null < "/proc/$pid/environ" || continue
		for variable in "${variables[@]+"${variables[@]}"}"; do
			[ "$variable" != "SLURM_CONF=$B/etc/slurm.conf" ] || return 0
		done
	done
	return 1
}

# Sets the caller's $children to the processes that process $1 started.
children_of()
{
	local task some

	children=()
	for task in "/proc/$1/task/"*/children; do
		some=()
		read -ra some 2> /dev/null < "$task" || true
		children+=("${some[@]+"${some[@]}"}")
	done
}

no_process()
{
	local pid

	for pid; do
		[ ! -e "/proc/$pid" ] || return
	done
}

# Names in killed what it kills.
kill_tree()
{
	local child children

	children_of "$1"
	for child in "${children[@]+"${children[@]}"}"; do
		kill_tree "$child"
	done
	kill -KILL "$1" 2> /dev/null
	killed+=("$1")
}
