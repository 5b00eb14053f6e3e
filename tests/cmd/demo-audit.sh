#!/bin/bash
# demo-audit.sh - contrib/demo/audit over made-up records of a group of two nodes, one of which failed at first.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
audit=${srcdir:-$(dirname "$0")/..}/../contrib/demo/audit
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
type -P jq > /dev/null || exit 77
failed=0

mkdir "$temp/bin" "$temp/spool" "$temp/seen"
cat > "$temp/bin/sacct" <<'END'
#!/bin/sh
cat "$ROWS"
END
chmod +x "$temp/bin/sacct"
export PATH=$temp/bin:$PATH ROWS=$temp/rows
echo '0 0 = 1' > "$temp/spool/state"
printf '%s\n' '0 1 = 1' '0 2 = {"event":"settled","sale":"x-1","kept":"1.000000"}' > "$temp/spool/journal"
cat > "$temp/seen/one-17.out" <<'END'
seen node=cloud1 role=worker rank=0 type=v100 gpus=0 job=17 time=106.0
seen node=edge1 role=worker rank=1 type=v100 gpus=0 job=18 time=101.0
seen node=edge2 role=worker rank=1 type=v100 gpus=0 job=19 time=107.0
END

# expect WHAT CODE WORDS NODE STATE [START]: what audit says where the first member, which started at START, ended on NODE with STATE.
expect()
{
	local got rc tres='cpu=2,gres/gpu=1,mem=500M'

	cat > "$ROWS" <<-END
		17|alice|one|COMPLETED|100|120|cloud1|$tres|{"auction":1,"sale":"x-1","state":"settled","why":"completed","payment":"1.000000","slot_seconds":10,"worker_type":"v100","ps_type":"p","worker_tres":{"cpu":2,"mem":500,"gpu:v100":1},"ps_tres":{"cpu":1,"mem":100},"plan":[{"from":10,"to":14,"workers":{"cloud1":1,"edge2":1},"ps":{}}]}
		18|alice|one|$5|${6-100}|102|$4|$tres|{"auction":1,"state":"member","lead":17}
		19|alice|one|COMPLETED|105|120|edge2|$tres|{"auction":1,"state":"member","lead":17}
	END
	got=$("$audit" "$temp/spool" "$temp/seen" 2>&1)
	rc=$?
	if [ $rc != "$2" ] || [[ $got != *"$3"* ]]; then
		printf 'FAIL: %s\n--- exit %s\n%s\n' "$1" $rc "$got"
		failed=1
	fi
}

expect 'its node failed, and another took its place' 0 'job 17: nodes, GPUs and slots of receipt, accounting and tasks agree (cloud1,edge2)' edge1 NODE_FAIL
expect 'its node failed before it started, and another took its place' 0 'job 17: nodes, GPUs and slots of' 'None assigned' 'CANCELLED by 992' None
expect 'it ran where nothing was sold' 1 'job 17: WRONG: accounting says' edge1 COMPLETED
exit $failed
