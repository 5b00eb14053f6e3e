#!/bin/bash
# ansible.sh - contrib/ansible on copies of a site's files, without packages and daemons: what is there stays, a second run changes nothing,
# the auction takes what is written, and leaving puts everything back. Run by "make check" in the build tree's tests/; $srcdir is the
# source tree's.
set -u
here=${srcdir:-$(dirname "$0")/..}/cmd
. "$here/built.bash"
books=$here/../../contrib/ansible
type -P ansible-playbook > /dev/null || { echo "no ansible-playbook"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export ANSIBLE_LOCALHOST_WARNING=False ANSIBLE_INVENTORY_UNPARSED_WARNING=False ANSIBLE_HOME=$dir/ansible ANSIBLE_LOCAL_TEMP=$dir/ansible \
	ANSIBLE_REMOTE_TEMP=$dir/ansible ANSIBLE_NOCOLOR=1 LC_ALL=C.UTF-8 ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
failed=0

fail()
{
	echo "FAIL: $*"
	failed=1
}

# play BOOK: prints how many things it changed
play()
{
	ansible-playbook -i "$dir/inventory" --skip-tags packages,restart -e ansible_become=false \
		-e "{\"slurm_etc\": \"$dir/{{ {'localhost': 'etc'}[inventory_hostname] | default(inventory_hostname) }}\"}" -e slurm_user="$(id -un)" \
		-e auction_public="$dir/public" -e auction_gpu=a100 -e auction_partition=long "$books/$1" > "$dir/out" 2>&1 ||
		{ fail "$1: $(tail -n 30 "$dir/out")"; return 1; }
	sed -n 's/^[a-z]* .* changed=\([0-9]*\) .*/\1/p' "$dir/out" | awk "{n += \$1} END {print n + 0}"
}

printf '%s\n' '[slurm_controllers]' 'localhost ansible_connection=local' '[slurm_submit]' localhost '[slurm_compute]' localhost \
	'node ansible_connection=local' 'configless ansible_connection=local' > "$dir/inventory"
mkdir "$dir/etc" "$dir/node" "$dir/configless"
printf '%s\n' ClusterName=site 'schedulertype=sched/backfill' 'PartitionName=long Nodes=n[1-2]' > "$dir/etc/slurm.conf"
printf '%s\n' 'optional other.so' > "$dir/etc/plugstack.conf"
cp -r "$dir/etc" "$dir/before"
cp "$dir/etc/slurm.conf" "$dir/node/"
[ "$(play slurm-auction.yml)" -gt 0 ] || fail "it changes nothing"
grep -qx JobSubmitPlugins=auction "$dir/etc/slurm.conf" || fail "no JobSubmitPlugins: $(cat "$dir/etc/slurm.conf")"
[ "$(grep -ci '^SchedulerType=' "$dir/etc/slurm.conf")" = 1 ] || fail "SchedulerType: $(cat "$dir/etc/slurm.conf")"
grep -qx SchedulerType=sched/auction "$dir/etc/slurm.conf" || fail "SchedulerType: $(cat "$dir/etc/slurm.conf")"
grep -qx SchedulerParameters=sched_interval=1 "$dir/etc/slurm.conf" || fail "SchedulerParameters: $(cat "$dir/etc/slurm.conf")"
cmp "$dir/etc/slurm.conf" "$dir/node/slurm.conf" || fail "a node has another slurm.conf: $(cat "$dir/node/slurm.conf")"
[ "$(ls "$dir/configless")" = '' ] || fail "a node without slurm.conf gets $(ls "$dir/configless")"
[ "$(cat "$dir/etc/plugstack.conf")" = 'optional other.so
optional spank_auction.so' ] || fail "plugstack.conf: $(cat "$dir/etc/plugstack.conf")"
[ -d "$dir/public" ] || fail "no directory for PublicStatus"
logs=$here/../sim/import/odd
"$(built auctionsim)" import -n "$logs/nodes" -c "$dir/etc/auction.conf" "$logs/crlf.sacct" -o "$dir/scenario" > "$dir/out" 2>&1 || fail "auction.conf: $(cat "$dir/out")"
echo '# ours' >> "$dir/etc/auction.conf"
[ "$(play slurm-auction.yml)" = 0 ] || fail "a second run changes something: $(grep -B3 ^changed "$dir/out")"
grep -qx '# ours' "$dir/etc/auction.conf" || fail "a site's auction.conf is written over"
play leave.yml > "$dir/changed"
sed -i 's/^SchedulerType=/schedulertype=/; /^SchedulerParameters=sched_interval=1$/d' "$dir/etc/slurm.conf" "$dir/node/slurm.conf"
diff -r -x auction.conf "$dir/before" "$dir/etc" || fail "leaving leaves something"
cmp "$dir/before/slurm.conf" "$dir/node/slurm.conf" || fail "leaving leaves something on a node"
[ "$(ls "$dir/configless")" = '' ] || fail "leaving makes $(ls "$dir/configless")"

# A plugin that a site has stays, and so do its parameters.
sed 's/^ClusterName/JobSubmitPlugins=lua\nSchedulerParameters=bf_continue,sched_interval=5\n&/' "$dir/before/slurm.conf" > "$dir/etc/slurm.conf"
cp "$dir/etc/slurm.conf" "$dir/lua"
play slurm-auction.yml > "$dir/changed"
grep -qx JobSubmitPlugins=lua,auction "$dir/etc/slurm.conf" || fail "lua: $(cat "$dir/etc/slurm.conf")"
grep -qx SchedulerParameters=bf_continue,sched_interval=5 "$dir/etc/slurm.conf" || fail "lua: $(cat "$dir/etc/slurm.conf")"
[ "$(play slurm-auction.yml)" = 0 ] || fail "lua: a second run changes something: $(grep -B3 ^changed "$dir/out")"
play leave.yml > "$dir/changed"
sed -i 's/^SchedulerType=/schedulertype=/' "$dir/etc/slurm.conf"
diff "$dir/lua" "$dir/etc/slurm.conf" || fail "leaving takes a site's plugin"

sed 's/^ClusterName/SchedulerParameters=bf_continue\n&/' "$dir/before/slurm.conf" > "$dir/etc/slurm.conf"
play slurm-auction.yml > "$dir/changed"
grep -qx SchedulerParameters=bf_continue,sched_interval=1 "$dir/etc/slurm.conf" || fail "bf_continue: $(cat "$dir/etc/slurm.conf")"
exit $failed
