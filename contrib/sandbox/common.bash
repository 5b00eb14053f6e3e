# common.bash - messages, waiting, settings kept in the cluster's directory, users and ports. Part of "sandbox".

# The usual cluster: two kinds of GPU at the edge, a larger cloud, and ordinary nodes for everybody else's jobs.
default_nodes=(
	'edge[1-3]:partition=edge,cpus=16,mem=32000,gpus=v100:4'
	'edge[4-6]:partition=edge,cpus=16,mem=32000,gpus=t4:4'
	'cloud[1-2]:partition=cloud,cpus=64,mem=256000,gpus=v100:8'
	'node[1-2]:partition=main,cpus=8,mem=16000'
)
sandbox_users=(alice:2001 bob:2002 carol:2003)
claims=/run/slurm-auction-sandbox
# Slurm looks up the host's name at every submission. Where only a name server could answer, and drops a question in a burst of
# them, five seconds of waiting are too many.
impatient='timeout:1 attempts:2'

# What "up" was told, kept in DIR/settings.
PORT_BASE= PLUGINS= PLUGIN_DIR= PROGRAM_PATH= SLOT_SECONDS=10 SLOTS=180 AUCTION_CONF= DATABASE= DEBUG=info SCHEDULER=auction
NODES=() SET=() ENVIRONMENT=()
# Not empty: this "up" chose the ports.
PORTS_CHOSEN= # by this command
PORTS_FOUND=  # by an earlier one, not by --port-base

say()
{
	printf 'sandbox: %s\n' "$*"
}

die()
{
	printf 'sandbox: %s\n' "$*" >&2
	exit 1
}

# Says what failed, with what the log that tells why begins and ends with.
fail_with_log()
{
	printf 'sandbox: %s\n' "$1" >&2
	if [ -s "$2" ]; then
		printf 'sandbox: the beginning and the end of %s:\n' "$2" >&2
		awk 'NR <= 8 { print; next } { last[NR % 15] = $0 }
			END { i = NR - 14; if (i > 9) print "..."; else i = 9; for (; i <= NR; i++) print last[i % 15] }' "$2" | sed 's/^/    /' >&2
	fi
	return 1
}

# Seconds since $1, an earlier $EPOCHREALTIME.
elapsed()
{
	local us=$((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}))
	printf '%d.%d' $((us / 1000000)) $((us / 100000 % 10))
}

# wait_for SECONDS CMD...: polls until CMD succeeds; fails when the time is over.
wait_for()
{
	local end=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000)) ms=50

	shift
	until "$@" > /dev/null 2>&1; do
		[ "${EPOCHREALTIME/[.,]/}" -lt $end ] || return 1
		sleep "${ms}e-3"
		[ $ms -ge 200 ] || ms=$((ms + 50))
	done
}

settings_load()
{
	[ -e "$B/settings" ] || return 0
	[ -O "$B/settings" ] || die "$B/settings belongs to somebody else"
	# shellcheck source=/dev/null
	. "$B/settings"
}

settings_need()
{
	[ -e "$B/settings" ] || die "no cluster in $B (sandbox -d DIR up)"
	settings_load
}

settings_save()
{
	mkdir -p "$B" || die "cannot make $B"
	[ -O "$B" ] || die "$B belongs to somebody else"
	chmod 755 "$B"
	# -g: they are read inside a function.
	declare -p PORT_BASE PORTS_FOUND PLUGINS PLUGIN_DIR PROGRAM_PATH SLOT_SECONDS SLOTS AUCTION_CONF DATABASE DEBUG SCHEDULER NODES SET ENVIRONMENT |
		sed 's/^declare /declare -g /' > "$B/settings.new" && mv "$B/settings.new" "$B/settings"
}

settings_parse()
{
	local new_nodes=no new_set=no new_env=no option value

	while [ $# -gt 0 ]; do
		option=$1
		case $option in
		--*=*) value=${option#*=}; option=${option%%=*}; shift ;;
		--*) [ $# -ge 2 ] || die "$option: expected a value"; value=$2; shift 2 ;;
		*) die "$option: unknown argument (see --help)" ;;
		esac
		case $option in
		--port-base)
			check_number "$option" "$value" 1200 65000
			[ $((value % 200)) = 0 ] || die "--port-base $value: expected a multiple of 200, as claims are of ranges"
			PORT_BASE=$value PORTS_FOUND=
			;;
		--build)
			PLUGIN_DIR=$(plugin_dir_of "$value/plugins" "$value") || exit 1
			value=$(readlink -f "$value")
			PROGRAM_PATH=$value/contrib/slaunch:$value/contrib/train:$value/contrib/sprice:$value/contrib/sauction:$value/contrib/sbid:$value/contrib/auctionsim PLUGINS=on
			;;
		--prefix)
			PLUGIN_DIR=$(plugin_dir_of "$value" "$value") || exit 1
			PROGRAM_PATH=$(readlink -f "$value")/bin PLUGINS=on
			;;
		--plugins)
			case $value in
			on | off) PLUGINS=$value ;;
			*) die "--plugins $value: expected on or off" ;;
			esac
			;;
		--slot-seconds) check_number "$option" "$value" 1 86400; SLOT_SECONDS=$value ;;
		--slots) check_number "$option" "$value" 1 10000; SLOTS=$value ;;
		--auction-conf) [ -r "$value" ] || die "$option $value: cannot be read"; AUCTION_CONF=$(readlink -f "$value") ;;
		--database) [ -d "$value/mysql" ] || die "--database $value: expected mysql/data of a cluster"; DATABASE=$(readlink -f "$value") ;;
		--scheduler)
			case $value in
			auction | backfill) SCHEDULER=$value ;;
			*) die "--scheduler $value: expected auction or backfill" ;;
			esac
			;;
		--debug) DEBUG=$value ;;
		--nodes)
			[ $new_nodes = yes ] || NODES=()
			new_nodes=yes
			node_parse "$value"
			NODES+=("$value")
			;;
		--set)
			[[ $value =~ ^[A-Za-z]+=.+$ ]] || die "--set $value: expected KEY=VALUE"
			[ $new_set = yes ] || SET=()
			new_set=yes
			SET+=("$value")
			;;
		--env)
			[[ $value =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] || die "--env $value: expected NAME=VALUE"
			[ $new_env = yes ] || ENVIRONMENT=()
			new_env=yes
			ENVIRONMENT+=("$value")
			;;
		*) die "$option: unknown option (see --help)" ;;
		esac
	done
	[ ${#NODES[@]} -gt 0 ] || NODES=("${default_nodes[@]}")
	if [ "$PLUGINS" = on ]; then
		[ -n "$PLUGIN_DIR" ] || die "--plugins on: needs --build or --prefix"
	else
		PLUGINS=off
	fi
}

check_number()
{
	[[ $2 =~ ^[0-9]{1,9}$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || die "$1 $2: expected a number from $3 to $4"
}

# The directory below $1 that holds the plugins; slurmctld reads them as its own user, so that must be possible.
plugin_dir_of()
{
	local found

	found=$(find "$1" -name job_submit_auction.so -printf '%h\n' 2> /dev/null | head -n 1)
	[ -n "$found" ] || die "no job_submit_auction.so below $2: is it built?"
	found=$(readlink -f "$found")
	setpriv --reuid=nobody --regid=nogroup --clear-groups test -r "$found/job_submit_auction.so" ||
		die "$found cannot be read by other users than root: build or install somewhere else"
	printf '%s' "$found"
}

plugins_word()
{
	if [ "$PLUGINS" = on ]; then
		printf 'from %s' "$PLUGIN_DIR"
	else
		printf 'off'
	fi
}

need_programs()
{
	local p missing=

	for p in munged mariadbd mariadb-install-db mariadb slurmdbd slurmctld slurmd sacctmgr; do
		PATH=$PATH:/usr/sbin:/sbin type -P "$p" > /dev/null || missing+=" $p"
	done
	[ -z "$missing" ] || die "not installed:$missing (contrib/install-deps run installs what is needed)"
}

user_exists()
{
	id "$1" > /dev/null 2>&1
}

make_users()
{
	local u name uid error

	for u in "${sandbox_users[@]}"; do
		name=${u%:*} uid=${u#*:}
		user_exists "$name" && continue
		groupadd -g "$uid" "$name" 2> /dev/null
		# Another sandbox may start in this moment and create the same user.
		error=$(useradd -u "$uid" -g "$uid" -M -d /nonexistent -s /bin/bash "$name" 2>&1) || wait_for 5 user_exists "$name" ||
			die "cannot create the user $name with uid $uid: $error"
	done
}

# Replaces this shell by a command of an ordinary user.
as_user()
{
	local user=$1 group

	shift
	group=$(id -g -- "$user" 2> /dev/null) || die "exec: no user $user"
	export HOME=$B/home/$user USER=$user LOGNAME=$user SHELL=/bin/bash
	[ -d "$HOME" ] || HOME=/
	cd "$HOME" || exit 1
	exec setpriv --reuid="$user" --regid="$group" --init-groups "$@"
}

export_environment()
{
	export SLURM_CONF=$B/etc/slurm.conf SANDBOX_DIR=$B RES_OPTIONS=$impatient PATH=${PROGRAM_PATH:+$PROGRAM_PATH:}$PATH
}

# True if nothing listens on any of the 200 ports from $1 on.
ports_free()
{
	local hex port

	while read -r _ hex _ state _; do
		[ "$state" = 0A ] || continue
		port=$((16#${hex##*:}))
		[ $port -lt "$1" ] || [ $port -ge $(($1 + 200)) ] || return 1
	done < <(tail -q -n +2 /proc/net/tcp /proc/net/tcp6 2> /dev/null)
}

# A claim is a link from the port to the directory of its cluster: made in one step, so that two clusters cannot take the same.
claim()
{
	local owner

	owner=$(readlink "$claims/$1") && [ "$owner" != "$B" ] && {
		claim_is_stale "$1" "$owner" || return 1
		rm -f "$claims/$1"
	}
	[ "$owner" = "$B" ] && return 0
	# -T: not into the directory that a link of the same moment points to.
	ports_free "$1" && ln -sT "$B" "$claims/$1" 2> /dev/null
}

claim_is_stale()
{
	! grep -qsx "declare -g -- PORT_BASE=\"$1\"" "$2/settings" && [ -n "$(find "$claims/$1" -mmin +1)" ]
}

claim_ports()
{
	local base first=$(((${SANDBOX_PORT_BASE:-25000} + 199) / 200 * 200))

	mkdir -p -m 755 "$claims" || die "cannot make $claims"
	# While the cluster was down others may have found the same.
	[ -z "$PORTS_FOUND" ] || claim "$PORT_BASE" || PORT_BASE=
	if [ -n "$PORT_BASE" ]; then
		claim "$PORT_BASE" || die "the ports from $PORT_BASE on are taken (by $(readlink "$claims/$PORT_BASE" || echo another program))"
		return
	fi
	for ((base = first; base < 32600; base += 200)); do
		if claim "$base"; then
			PORT_BASE=$base PORTS_CHOSEN=yes PORTS_FOUND=yes
			return
		fi
	done
	die "no free range of 200 ports between $first and 32600"
}

# Takes the next range that is free.
move_ports()
{
	local taken=$PORT_BASE

	PORT_BASE= PORTS_FOUND=
	SANDBOX_PORT_BASE=$((taken + 200)) claim_ports
	rm -f "$claims/$taken"
	say "the ports from $taken on were taken meanwhile; those from $PORT_BASE on are used"
	settings_save
	config_write
}

release_ports()
{
	[ -n "$PORT_BASE" ] && [ "$(readlink "$claims/$PORT_BASE")" = "$B" ] && rm -f "$claims/$PORT_BASE"
	return 0
}
