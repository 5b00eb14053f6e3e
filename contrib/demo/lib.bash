# lib.bash - what the demos of single policies share: their options, the cluster's life, what their jobs print, receipts. The caller has usage(),
# prepare(), submit_all(), follow() and results(), dir, keep, here, top and sandbox_program, and the arrays user and job.

main()
{
	local down=no

	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) usage; exit 0 ;;
		-d | --dir) dir=$(readlink -m "${2:?$1 expects a directory}"); shift ;;
		--down) down=yes ;;
		--no-keep) keep=no ;;
		*) die "$1: unknown option (see --help)" ;;
		esac
		shift
	done
	[ "$(id -u)" = 0 ] || die "must run as root: it starts a cluster that runs jobs of several users"
	export SANDBOX_DIR=$dir/cluster
	[ $down = no ] || { take_down; exit 0; }
	prepare
	submit_all
	follow
	results
	rc=$?
	[ $keep = yes ] || take_down
	[ $keep = no ] || say "the cluster stays up; $here/${0##*/} -d $dir --down stops it"
	[ $rc = 0 ] || die "not everything is as it should be"
}

say()
{
	printf 'demo: %s\n' "$*"
}

die()
{
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

take_down()
{
	[ -e "$SANDBOX_DIR/settings" ] || { say "no cluster in $dir"; return; }
	"$sandbox_program" down --remove || exit 1
	rm -rf -- "$dir/tree" "$dir/auction.conf" "$dir/build.log"
	rmdir "$dir" 2> /dev/null
	say "the cluster in $dir is gone"
}

receipt()
{
	timeout 20 sacct -nPXD -S now-1day -j "$1" -o AdminComment | tail -n 1 | jq -r "$2"
}

all_settled()
{
	local j

	for j in "${job[@]}"; do
		[ "$(receipt "$j" .state)" = settled ] || return 1
	done
}

build()
{
	"$top/contrib/install-deps" build run || exit 1
	mkdir -p "$dir" && [ -O "$dir" ] && chmod 755 "$dir" || die "$dir belongs to somebody else"
	say "building ($dir/build.log)"
	"$top/contrib/build" "$dir/tree" > "$dir/build.log" 2>&1 || { tail -n 20 "$dir/build.log" >&2; die "the build failed"; }
}

# A cluster with $dir/auction.conf. bring_up OPTION...
bring_up()
{
	[ ! -e "$SANDBOX_DIR/settings" ] || "$sandbox_program" down --remove || exit 1
	"$sandbox_program" up --prefix "$dir/tree/prefix" --auction-conf "$dir/auction.conf" "$@" || exit 1
	eval "$("$sandbox_program" env)"
	echo
	sinfo -o '%10P %5D %20N %15G %8c %m'
	echo
}

# Until all jobs are settled, shows each line of FILE in their homes that is like PATTERN as it comes. show FILE PATTERN
show()
{
	local -a seen=()
	local i out n line until=$((SECONDS + 240))

	while :; do
		for i in "${!job[@]}"; do
			out=$SANDBOX_DIR/home/${user[i]}/$1
			[ -e "$out" ] || continue
			n=${seen[i]:-0}
			while IFS= read -r line; do
				printf '%s  %-5s %s\n' "$(date +%T)" "${user[i]}" "$line"
			done < <(tail -n +$((n + 1)) "$out" | head -n $(($(wc -l < "$out") - n)) | grep -E "$2")
			seen[i]=$(wc -l < "$out")
		done
		! all_settled || break
		[ $SECONDS -lt $until ] || { say "not all jobs ended in time"; break; }
		sleep 1
	done
}

# Says the first and the last loss in OUT; false: it did not fall. On a busy machine a job may tell of but one. loss_fell OUT
loss_fell()
{
	local first last

	if [ "$(grep -c ' loss=' "$1")" = 1 ]; then
		echo "told of one loss only, $(grep -o ' loss=[0-9.]*' "$1" | cut -d = -f 2): this machine was too slow for more"
		return 0
	fi
	first=$(grep -m 1 -o ' loss=[0-9.]*' "$1") last=$(grep -o ' loss=[0-9.]*' "$1" | tail -n 1)
	echo "loss${first/loss=/} at first,${last/loss=/} at last"
	awk -v a="${first#*=}" -v b="${last#*=}" 'BEGIN { exit !(b < a) }' || { say "the loss did not fall: $1"; return 1; }
}
