#!/bin/bash
# slaunch.sh - how slaunch and auction-train complain about their options; what they do is in cluster/launch-local.bats.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
. "${srcdir:-$(dirname "$0")/..}/cmd/built.bash"
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
for v in $(compgen -e | grep -E '^(SLURM|AUCTION|SLAUNCH|DMLC)_'); do unset "$v"; done
slaunch=$(built slaunch) train=$(built auction-train)
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
failed=0

# refused COMMAND MESSAGE ARGS...
refused()
{
	local command=$1 expected="${1##*/}: $2" got code

	got=$("$command" "${@:3}" 2>&1)
	code=$?
	if [[ $code -ne 1 || $got != "$expected" ]]; then
		printf 'FAIL: %s\n--- expected (exit 1)\n%s\n--- got (exit %s)\n%s\n' "${*:3}" "$expected" "$code" "$got"
		failed=1
	fi
}

for option in wait grace notice; do
	refused "$slaunch" "--$option: '2x' is not a time, expected a number and ms, s, m, h or d" --$option=2x --local=1 true
	refused "$slaunch" "--$option: '2slots' cannot be in slots here, expected a number and ms, s, m, h or d" --$option=2slots --local=1 true
done
refused "$slaunch" '--local=2:1: expected only once; --then=TIME:WORKERS[:PS] says what comes later' --local=1:1 --local=2:1 true
refused "$slaunch" '--local=1:1: expected only once; --then=TIME:WORKERS[:PS] says what comes later' --local=1:1 --then=5s:2 --local=1:1 true

# Layouts to come: by options, and by a file.
counts='expected WORKERS[:PS], 1 to 256 workers and at most 256 PSs'
refused "$slaunch" "--local=: $counts" --local= true
refused "$slaunch" "--then=5s:: $counts, or 0 for a pause" --local=1 --then=5s: true
refused "$slaunch" "--then=5s:x:1: $counts, or 0 for a pause" --local=1 --then=5s:x:1 true
refused "$slaunch" '--then=0s:2: expected a later time than that of the line or option before' --local=1 --then=0s:2 true
refused "$slaunch" '--then=: expected TIME:WORKERS[:PS]' --local=1 --then= true
refused "$slaunch" "--plan=$temp: Is a directory" --plan="$temp" true
refused "$slaunch" '--plan=: expected the name of a file' --plan= true
refused "$slaunch" '--plan=/no/such: No such file or directory' --plan=/no/such true
# plan LINES MESSAGE
plan()
{
	printf '%s' "$1" > "$temp/plan"
	refused "$slaunch" "--plan=$temp/plan: $2" --plan="$temp/plan" true
}
plan '' 'expected lines TIME WORKERS[:PS]'
plan $'0s 1:1\n5s\n' 'expected lines TIME WORKERS[:PS]'
plan $'0s 1:1\n5s 2:x\n' "5s 2:x: $counts, or 0 for a pause"
plan $'0s 1:1\n0s 2:1\n' '0s 2:1: expected a later time than that of the line or option before'
plan $'soon 1:1\n' "'soon' is not a time, expected a number and ms, s, m, h or d"

# Names that are empty.
refused "$slaunch" 'no program given: slaunch [OPTIONS] PROGRAM [ARGUMENTS]' --local=1:1 ''
refused "$slaunch" '--data-dir=: expected an absolute path' --local=1:1 --data-dir= true
refused "$train" '--checkpoint=: expected the name of a file' --checkpoint=
refused "$train" '--write-data=: expected the name of a directory' --write-data=
exit $failed
