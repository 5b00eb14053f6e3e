# The private cluster itself, without the plugins.

load lib

# The other clusters begin with a copy, too.
database=${CLUSTER_DATABASE:+--database $CLUSTER_DATABASE}

setup_file()
{
	cluster_start --plugins off
	export sleeper=$((1000000 + RANDOM)) # seconds, like no other process's
}

# What a test that failed left behind.
teardown()
{
	for d in ${other-} ${dirs-}; do
		[ ! -e "$d" ] || sandbox -d "$d" down --remove
	done
}

sleeper_runs()
{
	cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' ' ' | grep -q "sleep [1]${sleeper#1}"
}

teardown_file()
{
	cluster_stop
}

@test "comes up with two kinds of GPU at the edge, a cloud and ordinary nodes" {
	run -0 sinfo -ho '%P %D %T' -S P
	[ "$output" = "cloud 2 idle
edge 6 idle
main* 2 idle" ]
	run -0 sinfo -p edge -Nho '%N %G'
	[ "${lines[0]}" = "edge1 gpu:v100:4" ]
	[ "${lines[5]}" = "edge6 gpu:t4:4" ]
	run -0 sandbox status
}

@test "listens on loopback only" {
	getent ahostsv4 "$(uname -n)" | grep -q '^127\.' || skip "the host name has no loopback address"
	base=$(sed -n 's/^SlurmctldPort=//p' "$SLURM_CONF")
	run -0 awk -v base="$base" '
		function hex(s, i, v) { for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789ABCDEF", substr(s, i, 1)) - 1; return v }
		$4 == "0A" { split($2, a, ":"); p = hex(a[2]); if (p >= base && p < base + 200) { n++; if (a[1] !~ /7F$/) print $2 } }
		END { print n + 0 }' /proc/net/tcp
	[ "$output" -ge 12 ]
}

@test "an ordinary user's job runs on the node it asks for, and is in the accounting" {
	job=$(submit alice -w node2 -J plain -o out.txt --wrap 'id -un; echo $SLURMD_NODENAME')
	wait_until 30 job_is "$job" COMPLETED
	[ "$(cat "$SANDBOX_DIR/home/alice/out.txt")" = "alice
node2" ]
	wait_until 30 sacct_is "$job" State COMPLETED
	wait_until 30 sacct_is "$job" User,Account,NodeList,Partition 'alice[|]training[|]node2[|]main'
}

@test "a job sees the GPUs that it was given" {
	run -0 as bob srun -p edge -w edge5 --gres=gpu:t4:3 sh -c 'echo $CUDA_VISIBLE_DEVICES'
	[ "${lines[-1]}" = 0,1,2 ]
}

@test "a job of several nodes" {
	run -0 as carol srun -p main -N2 -n4 sh -c 'echo $SLURMD_NODENAME'
	[ "$(grep '^node' <<< "$output" | sort | uniq -c | awk '{print $1, $2}' | paste -sd,)" = "2 node1,2 node2" ] ||
		[ "$(grep '^node' <<< "$output" | sort -u | paste -sd,)" = "node1,node2" ]
}

@test "up a second time changes nothing that runs" {
	before=$(sandbox status | sed 's/ rss .*//')
	run -0 sandbox up
	[ "$(sandbox status | sed 's/ rss .*//')" = "$before" ]
}

@test "slurmctld can be restarted and killed; jobs stay" {
	job=$(submit alice -o /dev/null --wrap 'sleep 60')
	wait_until 30 job_is "$job" RUNNING
	pid=$(cat "$SANDBOX_DIR/run/slurmctld.pid")
	run -0 sandbox restart slurmctld
	[ "$(cat "$SANDBOX_DIR/run/slurmctld.pid")" != "$pid" ]
	job_is "$job" RUNNING
	run -0 sandbox restart slurmctld --kill
	scontrol ping | grep -q 'is UP'
	scancel "$job"
}

@test "two clusters side by side do not know of each other" {
	other=$(mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX")
	mine=$SANDBOX_DIR
	run -0 sandbox -d "$other" up $database --nodes 'x[1-2]:partition=main,cpus=4,mem=4000'
	[ "$(SLURM_CONF=$other/etc/slurm.conf sinfo -ho %N)" = "x[1-2]" ]
	[ "$(sinfo -p main -ho %N)" = "node[1-2]" ]
	run -0 sandbox -d "$other" exec -u bob -- srun sh -c 'echo $SLURMD_NODENAME'
	[ "${lines[-1]}" = x1 ]
	# A mariadbd that starts deletes the temporary tables it finds in its temporary directory.
	[ "$(mariadb --no-defaults -S "$other/mysql/socket" -u root -Ne 'select @@tmpdir')" = "$other/mysql/tmp" ]
	# Slurm cannot do with it.
	[ -z "$(mariadb --no-defaults -S "$other/mysql/socket" -u root -Ne 'show variables like "innodb_snapshot_isolation"' | grep -w ON)" ]
	run -0 sandbox -d "$other" down --remove
	[ ! -e "$other" ]
	SANDBOX_DIR=$mine run -0 sandbox status
}

# bats test_tags=nightly
@test "clusters that start in the same moment take different ports" {
	dirs=$(for i in 1 2 3 4 5 6; do mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX"; done)
	for d in $dirs; do
		sandbox -d "$d" conf --write --plugins off &
	done
	wait
	[ "$(for d in $dirs; do sed -n 's/^SlurmctldPort=//p' "$d/etc/slurm.conf"; done | sort -u | wc -l)" = 6 ]
	for d in $dirs; do
		sandbox -d "$d" down --remove
	done
}

# elsewhere DIR: as in another root, where no claim of this one is seen.
elsewhere()
{
	unshare -m sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' - /run/slurm-auction-sandbox \
		"$sandbox_program" -d "$1" up $database --plugins off --nodes 'x1:partition=main,cpus=1,mem=1000' > "$1.log" 2>&1 3>&-
}

# bats test_tags=nightly
@test "clusters that start in the same moment in different roots take different ports" {
	unshare -m true || skip "no name space of mounts can be made here"
	dirs=$(for i in 1 2; do mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX"; done)
	for d in $dirs; do
		elsewhere "$d" &
	done
	wait
	cat $(printf '%s.log ' $dirs)
	for d in $dirs; do
		run -0 sandbox -d "$d" exec -- srun true
	done
	[ "$(for d in $dirs; do sed -n 's/^SlurmctldPort=//p' "$d/etc/slurm.conf"; done | sort -u | wc -l)" = 2 ]
	for d in $dirs; do
		sandbox -d "$d" down --remove
		rm "$d.log"
	done
}

@test "down ends only what up started, jobs too" {
	other=$(mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX")
	sandbox -d "$other" up $database --nodes 'x1:partition=main,cpus=4,mem=4000'
	sandbox -d "$other" exec -u bob -- sbatch -o /dev/null --wrap "exec sleep $sleeper"
	wait_until 30 sleeper_runs
	# A pid file that names somebody else's process, as after a crash.
	sleep 300 3>&- &
	stranger=$!
	slurmd=$(cat "$other/run/slurmd-x1.pid")
	echo $stranger > "$other/run/slurmd-x1.pid"
	run -0 sandbox -d "$other" down
	kill -0 $stranger
	kill $stranger
	run ! sleeper_runs
	run ! kill -0 "$slurmd" # the one whose pid file was taken away
	run -0 sandbox -d "$other" down --remove
}

# bats test_tags=nightly
@test "down ends what a slurmd that was killed left running" {
	other=$(mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX")
	sandbox -d "$other" up $database --nodes 'x1:partition=main,cpus=4,mem=4000'
	sandbox -d "$other" exec -u bob -- sbatch -o /dev/null --wrap "exec sleep $sleeper"
	wait_until 30 sleeper_runs
	sandbox -d "$other" stop x1 --kill
	sandbox -d "$other" stop slurmctld --kill
	sleeper_runs
	run -0 sandbox -d "$other" down --remove
	run ! sleeper_runs
}

# Its first thread has ended, and with that it has no command line any more; another one holds what it has open.
# bats test_tags=nightly
@test "a daemon that was killed is gone once its last thread is" {
	local dir=$BATS_TEST_TMPDIR in pid
	cat > "$dir/ends.c" <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		static void *wait_for_end(void *arg) { char c; if (read(0, &c, 1) < 1) exit(0); return arg; }
		int main(void) { pthread_t t; pthread_create(&t, NULL, wait_for_end, NULL); pthread_exit(NULL); }
	END
	gcc -pthread -o "$dir/slurmctld" "$dir/ends.c"
	mkfifo "$dir/in"
	SLURM_CONF=$dir/etc/slurm.conf "$dir/slurmctld" < "$dir/in" 3>&- &
	pid=$!
	exec {in}> "$dir/in"
	source "$(dirname "$BATS_TEST_FILENAME")/../../contrib/sandbox/daemons.bash"
	B=$dir
	no_command_line()
	{
		[ -z "$(tr -d '\0' < "/proc/$pid/cmdline")" ]
	}
	wait_until 10 no_command_line
	run gone "$pid" slurmctld
	[ "$status" -ne 0 ]
	exec {in}>&-
	wait_until 10 gone "$pid" slurmctld
}

# bats test_tags=nightly
@test "a cloud node boots when it is asked to, but not in the same second, in which slurmctld does not notice" {
	other=$(mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX")
	sandbox -d "$other" up $database --plugins off --nodes 'c1:partition=cloud,cpus=4,mem=4000,start=power'
	pid_file=$other/run/slurmd-c1.pid before=
	boots()
	{
		pid=$(cat "$pid_file") && [ -n "$pid" ] && [ "$pid" != "$before" ]
	}
	# Twice: one that is up boots anew.
	for i in 1 2; do
		now=$EPOCHSECONDS
		while [ "$EPOCHSECONDS" = "$now" ]; do :; done
		asked=$EPOCHSECONDS
		echo 'resume c1' > "$other/run/power"
		wait_until 30 boots
		[ "$(stat -c %Y "$pid_file")" -gt "$asked" ]
		before=$pid
	done
	run -0 sandbox -d "$other" down --remove
}

@test "wrong options are refused with a sentence" {
	run -1 sandbox -d /tmp/x up --slot-seconds none
	[ "$output" = "sandbox: --slot-seconds none: expected a number from 1 to 86400" ]
	run -1 sandbox -d '/tmp/a b' up
	[ "$output" = "sandbox: /tmp/a b: a cluster's directory may have letters, digits and ./_+- only" ]
	run -1 sandbox -d /tmp/x-none status
	[ "$output" = "sandbox: no cluster in /tmp/x-none (sandbox -d DIR up)" ]
	run -1 sandbox -d /tmp/x up --database "$SANDBOX_DIR/etc"
	[ "$output" = "sandbox: --database $SANDBOX_DIR/etc: expected mysql/data of a cluster" ]
	run -1 sandbox -d /tmp/x up --nodes 'edge1:cpus=3'
	[ "$output" = "sandbox: --nodes edge1:cpus=3: expected partition=P" ]
}

@test "all commands of a build tree or an installation are on the PATH" {
	local dir=$BATS_TEST_TMPDIR/c

	need_plugins
	"$sandbox_program" -d "$dir" conf --write $(plugin_options)
	run -0 "$sandbox_program" -d "$dir" exec -- bash -c 'type -P slaunch auction-train sprice auctionsim'
	[ ${#lines[@]} = 4 ]
	run -0 bash -c 'eval "$("$1" -d "$2" env)" && type -P slaunch auction-train sprice auctionsim' - "$sandbox_program" "$dir"
	[ ${#lines[@]} = 4 ]
	"$sandbox_program" -d "$dir" down --remove
	[ ! -e "$dir" ]
}
