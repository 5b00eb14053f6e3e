# systems.bash - a Debian for each release of Slurm, whose packages alone bring Slurm, its headers and the database, and in it a clean
# clone of this repository, built against that release. Shared by tests/versions/run and tests/versions/upgrade.

# shellcheck source=/dev/null
. "$here/../bare/debian.bash"

# Slurm's release: Debian's release that has it.
suites=(22.05:bookworm 24.11:trixie 26.05:sid)
# Where a system builds and tests: kept, so that the next time compiles only what changed.
work=/var/tmp/slurm-auction
child=

suite_of()
{
	local s

	for s in "${suites[@]}"; do
		[ "${s%%:*}" != "$1" ] || echo "${s#*:}"
	done
}

# take_dir DIR: it is this run's alone, and dir is its full path.
take_dir()
{
	mkdir -p "$1" && dir=$(cd "$1" && pwd) && chmod 755 "$dir" || exit 1
	exec 9> "$dir/lock"
	flock -n 9 || die "$dir is in use by another run"
	trap 'stop_child; exit 130' INT TERM
}

# run_logged DIR LOG NETWORK COMMAND: in a process group of its own, so that an interrupt ends all of it.
run_logged()
{
	set -m
	run_inside "$1" "$3" "$4" > "$1/$2" 2>&1 9>&- &
	child=$!
	set +m
	wait "$child"
}

stop_child()
{
	[ -z "$child" ] || kill -TERM -- "-$child" 2> /dev/null
}

# prepare DIR VERSION: a system with the packages and a clean clone.
prepare()
{
	local t0=$SECONDS found

	mkdir -p "$1" || exit 1
	[ -d "$1/root" ] || make_system "$1" "$(suite_of "$2")"
	put_clone_in "$1"
	run_logged "$1" packages.log shared 'contrib/install-deps test' || die "packages: see $1/packages.log"
	found=$(chroot "$1/root" slurmctld -V) || die "no slurmctld in $1/root"
	[[ $found == *" $2."* ]] || die "Debian $(suite_of "$2") has $found now, not $2"
	say "$2: $found, ready in $((SECONDS - t0)) s"
}

# build_inside DIR VERSION
build_inside()
{
	rm -f "$1"/{tests,foreign}.log
	run_logged "$1" build.log own "contrib/build $work/plugins" && return
	say "$2: cannot be built: $1/build.log"
	return 1
}
