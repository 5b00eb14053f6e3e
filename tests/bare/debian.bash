# debian.bash - a Debian in a directory, for what has to be seen on another machine than this one: made by debootstrap from the archive
# that this machine's apt uses, with a clean clone of this repository. Shared by tests/bare/run and tests/versions/run.

program=${program:-debian}

say()
{
	printf '%s: %s\n' "$program" "$*"
}

die()
{
	printf '%s: %s\n' "$program" "$*" >&2
	exit 2
}

# The archives of this machine's apt: URI, release, component.
archives()
{
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u
}

# mirror_of SUITE: where it comes from. A release that apt is not set up for lies beside the one that this machine runs.
mirror_of()
{
	local here

	here=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	archives | awk -v suite="$1" -v here="$here" '
		$3 == "main" && $2 == suite {print $1; found = 1; exit}
		$3 == "main" && $2 == here && beside == "" {beside = $1}
		END {if (!found) print beside}'
}

# make_system DIR SUITE: the smallest Debian in DIR/root, at once or not at all.
make_system()
{
	local t0=$SECONDS mirror

	type -P debootstrap > /dev/null || apt-get -qq install -y --no-install-recommends debootstrap > "$1/apt.log" 2>&1 || die "no debootstrap"
	mirror=$(mirror_of "$2")
	[ -n "$mirror" ] || die "this machine's apt has no archive of $2"
	rm -rf --one-file-system -- "$1/root" "$1/root.new"
	debootstrap --variant=minbase "$2" "$1/root.new" "$mirror" > "$1/debootstrap.log" 2>&1 || die "debootstrap failed: $1/debootstrap.log"
	{
		echo "deb $mirror $2 main"
		archives | grep -E " $2(-[a-z]+)? " | sed 's/^/deb /'
	} | sort -u > "$1/root.new/etc/apt/sources.list"
	apt-config dump | grep -i '::proxy' > "$1/root.new/etc/apt/apt.conf.d/proxy"
	# A mirror may lag behind an archive that changes daily; what it has must be signed all the same.
	echo 'Acquire::Check-Valid-Until "false";' > "$1/root.new/etc/apt/apt.conf.d/mirror"
	mv "$1/root.new" "$1/root" || exit 1
	say "debootstrap of $2: $((SECONDS - t0)) s, $(chroot "$1/root" dpkg-query -f . -W | wc -c) packages"
}

# put_clone_in DIR: /root/slurm-auction in the system.
put_clone_in()
{
	rm -rf "$1/root/root/slurm-auction"
	git clone -q --no-hardlinks "$top" "$1/root/root/slurm-auction" || die "cannot clone $top"
	[ -z "$(git -C "$top" status --porcelain)" ] || say "what is not committed is not in the clone"
}

# run_inside DIR NETWORK COMMAND: runs a line of shell in the clone, in name spaces of its own: the process name space ends everything
# in it with its first process, also when we are interrupted, and the mounts are gone with theirs. NETWORK: "shared" is this
# machine's; "own" has nothing but loopback and the host name "debian", so that no port and no name is anybody else's.
run_inside()
{
	local spaces=(--mount --pid --fork --kill-child) set_up='mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys"'

	# For "srun --unbuffered", whose tasks write to a terminal.
	set_up+=' && mount -t devpts -o newinstance,mode=620,ptmxmode=666 devpts "$1/dev/pts"'

	# As any installation has it.
	grep -qs localhost "$1/root/etc/hosts" || printf '127.0.0.1 localhost\n' > "$1/root/etc/hosts"
	if [ "$2" = own ]; then
		spaces+=(--net --uts)
		set_up+=' && ip link set lo up && ip address add 192.0.2.1 dev lo && hostname debian && printf "127.0.0.1 localhost debian\n" > "$1/etc/hosts"'
	fi
	unshare "${spaces[@]}" sh -c "$set_up"' && exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
		sh -c "cd /root/slurm-auction && $2"' sh "$1/root" "$3" < /dev/null
}
