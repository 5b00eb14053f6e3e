# lib.bash - what the cluster tests share: a private cluster per file, submitting as an ordinary user, waiting for conditions,
# reading receipts and accounting.
#
# The environment says what is tested: AUCTION_PREFIX (an installation) or AUCTION_BUILD (a build tree); "tests/run FILE.bats" sets
# it. CLUSTER_KEEP=1 leaves the cluster up after the tests.

lib_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sandbox_program=$lib_dir/../../contrib/sandbox/sandbox

bats_require_minimum_version 1.5.0

# --- the cluster ---------------------------------------------------------------------------------------------------------------

# Options that put the plugins under test into a cluster.
plugin_options()
{
	if [ -n "${AUCTION_PREFIX-}" ]; then
		echo "--prefix $AUCTION_PREFIX"
	elif [ -n "${AUCTION_BUILD-}" ]; then
		echo "--build $AUCTION_BUILD"
	fi
}

need_plugins()
{
	[ -n "$(plugin_options)" ] || { echo "no plugins: set AUCTION_PREFIX or AUCTION_BUILD, or use tests/run" >&2; return 1; }
}

# Finds slaunch and auction-train: SLAUNCH, TRAIN.
need_launcher()
{
	if [ -n "${AUCTION_PREFIX-}" ]; then
		SLAUNCH=$AUCTION_PREFIX/bin/slaunch TRAIN=$AUCTION_PREFIX/bin/auction-train
	elif [ -n "${AUCTION_BUILD-}" ]; then
		SLAUNCH=$AUCTION_BUILD/contrib/slaunch/slaunch TRAIN=$AUCTION_BUILD/contrib/train/auction-train
	fi
	[ -x "${SLAUNCH-}" ] && [ -x "${TRAIN-}" ] || skip "no slaunch: set AUCTION_PREFIX or AUCTION_BUILD"
}

# cluster_start [OPTION...]: a new cluster, which the other functions then mean. For setup_file.
cluster_start()
{
	[ "$(id -u)" = 0 ] || { echo "needs root" >&2; return 1; }
	SANDBOX_DIR=$(mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX")
	export SANDBOX_DIR
	# bats keeps descriptor 3 for its own output; a daemon that held it would keep bats waiting.
	"$sandbox_program" up "$@" 3>&- || return
	export SLURM_CONF=$SANDBOX_DIR/etc/slurm.conf
}

# For teardown_file. Keeps the logs where tests/run collects them.
cluster_stop()
{
	[ -n "${SANDBOX_DIR-}" ] && [ -e "$SANDBOX_DIR/settings" ] || return 0
	if [ -n "${CLUSTER_KEEP-}" ]; then
		echo "# cluster kept in $SANDBOX_DIR" >&3
		return 0
	fi
	"$sandbox_program" down 3>&-
	if [ -n "${CLUSTER_LOGS-}" ]; then
		mkdir -p "$CLUSTER_LOGS/$(basename "$BATS_TEST_FILENAME" .bats)" &&
			cp -r "$SANDBOX_DIR"/{log,etc} "$CLUSTER_LOGS/$(basename "$BATS_TEST_FILENAME" .bats)/"
	fi
	"$sandbox_program" down --remove 3>&-
}

sandbox()
{
	"$sandbox_program" "$@" 3>&-
}

# as USER COMMAND...: in the home that the user has in the cluster.
as()
{
	local user=$1

	shift
	sandbox exec -u "$user" -- timeout 60 "$@"
}

# --- waiting -------------------------------------------------------------------------------------------------------------------

# wait_until SECONDS COMMAND...: polls; on a timeout says what it waited for.
wait_until()
{
	local limit=$1 end

	shift
	end=$((SECONDS + limit))
	until "$@" > /dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "waited $limit s in vain for: $*" >&2
			return 1
		fi
		sleep 0.1
	done
}

# --- jobs ----------------------------------------------------------------------------------------------------------------------

# submit USER SBATCH-ARGUMENT...: prints the job's id.
submit()
{
	local user=$1 out

	shift
	out=$(as "$user" sbatch --parsable "$@") || return
	# Messages of the plugins may precede the id.
	grep -E '^[0-9]+(;.*)?$' <<< "$out" | cut -d';' -f1
}

# job_field JOB FIELD, as scontrol shows it.
job_field()
{
	timeout 20 scontrol -o show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}

job_state()
{
	job_field "$1" JobState
}

job_is()
{
	local state

	state=$(job_state "$1")
	[[ $state =~ ^($2)$ ]]
}

job_ended()
{
	job_is "$1" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY|DEADLINE|BOOT_FAIL|PREEMPTED'
}

# sacct_field JOB FIELD: of the job itself, not its steps.
sacct_field()
{
	timeout 20 sacct -nPXD -S now-1day -j "$1" -o "$2" | tail -n 1
}

sacct_is()
{
	[[ $(sacct_field "$1" "$2") =~ ^($3)$ ]]
}

# --- receipts ------------------------------------------------------------------------------------------------------------------

# The receipt of a job, one line of JSON.
receipt()
{
	timeout 20 scontrol show job "$1" | sed -n 's/^ *AdminComment=//p'
}

# receipt_get JOB FILTER: jq's filter on it.
receipt_get()
{
	receipt "$1" | jq -r "$2"
}

receipt_state_is()
{
	[ "$(receipt_get "$1" .state)" = "$2" ]
}

# The jobs of a group: the lead, then its members, one a line.
group_jobs()
{
	local job

	echo "$1"
	for job in $(timeout 20 squeue -ho %A; timeout 20 scontrol -o show job | sed -n 's/^JobId=\([0-9]*\) .*/\1/p'); do
		echo "$job"
	done | sort -nu | while read -r job; do
		[ "$(receipt_get "$job" 'select(.state == "member") | .lead' 2> /dev/null)" != "$1" ] || echo "$job"
	done
}

# money: "12.600000" as micro-credits.
micro()
{
	local whole=${1%.*} part=${1#*.}

	[[ $1 =~ ^[0-9]+\.[0-9]{6}$ ]] || { echo "not money: '$1'" >&2; return 1; }
	echo $((10#$whole * 1000000 + 10#$part))
}
