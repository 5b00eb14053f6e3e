# lib.bash - what the cluster tests share: a private cluster per file, submitting as an ordinary user, waiting for conditions,
# reading receipts and accounting.
#
# The environment says what is tested: AUCTION_PREFIX (an installation) or AUCTION_BUILD (a build tree); "tests/run FILE.bats" sets
# it. CLUSTER_KEEP=1 leaves the cluster up after the tests. CLUSTER_DATABASE, if set, is a database that they begin with a copy of.

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
	[ -x "${SLAUNCH-}" ] && [ -x "${TRAIN-}" ] || { echo "no slaunch: set AUCTION_PREFIX or AUCTION_BUILD" >&2; return 1; }
}

# The program NAME under test. program NAME
program()
{
	echo "${AUCTION_PREFIX:+$AUCTION_PREFIX/bin/$1}${AUCTION_BUILD:+$AUCTION_BUILD/contrib/$1/$1}"
}

# cluster_start [OPTION...]: a new cluster, which the other functions then mean. For setup_file.
cluster_start()
{
	[ "$(id -u)" = 0 ] || { echo "needs root" >&2; return 1; }
	SANDBOX_DIR=$(mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX")
	export SANDBOX_DIR
	# bats keeps descriptor 3 for its own output; a daemon that held it would keep bats waiting.
	"$sandbox_program" up ${CLUSTER_DATABASE:+--database "$CLUSTER_DATABASE"} "$@" 3>&- || return
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

# What is asked again and again starts few processes: where one costs 10 ms, and jq 50, the tests would load the machine more than Slurm
# does. slurmctld need not answer all the same: scontrol gives up by itself (MessageTimeout).

# Nothing is ever written there: reading from it with a limit is a sleep that starts no process.
exec {never}<> <(:)

# wait_until SECONDS COMMAND...: polls, at first every 100 ms, later every 300, and for what stays as it is once it is so every 600; on a timeout
# says what it waited for. SECONDS are enough on a quiet machine; where other work runs beside the tests it may take three times that. COMMAND
# may be "eval" of words with the caller's variables, so the names here are not common ones. bats' trap at each command, which doubles the
# costs of a process, is off meanwhile.
wait_until()
{
	local wait_limit=$((3 * $1)) wait_end=$((SECONDS + 3 * $1)) wait_ms=100 wait_most=300 wait_traced=false

	shift
	case $1 in
	settled | job_ended | sacct_is | database_receipt_is) wait_most=600 ;;
	esac
	[[ $- != *T* ]] || wait_traced=true
	set +T
	until "$@" > /dev/null 2>&1; do
		if [ $SECONDS -ge $wait_end ]; then
			! $wait_traced || set -T
			echo "waited $wait_limit s in vain for: $*" >&2
			return 1
		fi
		read -rt "0.$wait_ms" -u "$never" || true
		[ $wait_ms -ge $wait_most ] || wait_ms=$((wait_ms + 50))
	done
	! $wait_traced || set -T
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

# job_field JOB FIELD, as scontrol shows it; nothing if there is none.
job_field()
{
	local text

	text=" $(scontrol -o show job "$1")" || true
	[[ ! $text =~ \ $2=([^\ ]*) ]] || echo "${BASH_REMATCH[1]}"
}

job_state()
{
	job_field "$1" JobState
}

# job_is JOB STATE[|STATE...]
job_is()
{
	local text

	text=" $(scontrol -o show job "$1")" || true
	[[ $text =~ \ JobState=([^\ ]*) && ${BASH_REMATCH[1]} =~ ^($2)$ ]]
}

job_ended()
{
	job_is "$1" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY|DEADLINE|BOOT_FAIL|PREEMPTED'
}

# sacct_field JOB FIELD: of the job itself, not its steps.
sacct_field()
{
	local rows

	rows=$(sacct -nPXD -S now-1day -j "$1" -o "$2") || true
	echo "${rows##*$'\n'}"
}

sacct_is()
{
	local rows

	rows=$(sacct -nPXD -S now-1day -j "$1" -o "$2") || true
	[[ ${rows##*$'\n'} =~ ^($3)$ ]]
}

# --- receipts ------------------------------------------------------------------------------------------------------------------

# The receipt of a job, one line of JSON.
receipt()
{
	local text

	text=$(scontrol show job "$1") || true
	[[ ! $text =~ $'\n'\ *AdminComment=([^$'\n']*) ]] || echo "${BASH_REMATCH[1]}"
}

# receipt_get JOB FILTER: jq's filter on it.
receipt_get()
{
	in_receipt "$(receipt "$1")" "$2"
}

# in_receipt RECEIPT FILTER. A number, word or short text of the receipt itself is found without jq, which takes 35 ms to start: up to there one
# brace more is open than closed.
in_receipt()
{
	local before opened closed

	if [[ $2 =~ ^\.[a-z_]+$ && $1 =~ [{,]\"${2#.}\":(\"([^\"\\]*)\"|[-0-9.]+|true|false)[,}] ]]; then
		before=${1%%"${BASH_REMATCH[0]}"*}
		opened=${before//[!\{[]/} closed=${before//[!\}\]]/}
		[[ ${BASH_REMATCH[0]} != \{* ]] || opened+='{'
		if [ ${#opened} = $((${#closed} + 1)) ]; then
			[[ ${BASH_REMATCH[1]} == \"* ]] && echo "${BASH_REMATCH[2]}" || echo "${BASH_REMATCH[1]}"
			return
		fi
	fi
	[ -z "$1" ] || jq -r "$2" <<< "$1"
}

# in_state RECEIPT STATE. Only a receipt itself has a "state", nothing in it.
in_state()
{
	[[ $1 == *'"state":"'"$2"'"'* ]]
}

# receipt_state_is JOB STATE. What was sold runs soon, or has ended: that it is "sold" might be seen too late.
receipt_state_is()
{
	local text

	text=$(scontrol show job "$1") || true
	[[ $text =~ $'\n'\ *AdminComment=([^$'\n']*) ]] || return
	text=${BASH_REMATCH[1]}
	in_state "$text" "$2" || { [ "$2" = sold ] && { in_state "$text" running || in_state "$text" settled; }; }
}

# The jobs of a group: the lead, then its members, one a line.
group_jobs()
{
	echo "$1"
	timeout 20 scontrol show job | awk -v member='"state":"member","lead":'"$1[,}]" \
		'/^JobId=/ { job = substr($1, 7) } /^ *AdminComment=/ && $0 ~ member { print job }' | sort -n
}

# money: "12.600000" as micro-credits.
micro()
{
	local whole=${1%.*} part=${1#*.}

	[[ $1 =~ ^[0-9]+\.[0-9]{6}$ ]] || { echo "not money: '$1'" >&2; return 1; }
	echo $((10#$whole * 1000000 + 10#$part))
}
