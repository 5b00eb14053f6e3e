#!/bin/bash
# output.sh - what sprice, slaunch and auction-train print does not arrive: they say so and fail.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
here=${srcdir:-$(dirname "$0")/..}/cmd
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
for v in $(compgen -e | grep -E '^(SLURM|AUCTION|SLAUNCH|DMLC)_'); do unset "$v"; done
. "$here/built.bash"
sprice=$(built sprice) slaunch=$(built slaunch) train=$(built auction-train)
temp=$(mktemp) || exit 1
trap 'rm -f "$temp"' EXIT
failed=0

# lost NAME COMMAND...: with standard output full, closed, and closed with standard input
lost()
{
	local name=$1 code to

	shift
	for to in full closed 'closed, like the input'; do
		case $to in
		full) "$@" > /dev/full 2> "$temp" ;;
		closed) "$@" >&- 2> "$temp" ;;
		*) "$@" <&- >&- 2> "$temp" ;;
		esac
		code=$?
		if [[ $code -ne 1 ]] || ! grep -qE "^$name: standard output: (No space left on device|Bad file descriptor)$" "$temp"; then
			echo "FAIL: standard output is $to: $*: exit code $code: $(< "$temp")"
			failed=1
		fi
	done
}

for option in --help --version; do
	lost sprice "$sprice" "$option"
	lost slaunch "$slaunch" "$option"
	lost auction-train "$train" "$option"
done
for view in '' -P -s -t --json --metrics; do
	lost sprice "$sprice" ${view:+"$view"} -f "$here/status.json"
done
lost sprice "$sprice" --spool="$here/spool-1"
for view in -c -l; do
	lost sprice "$sprice" "$view" -f "$here/status-learned.json"
done
lost slaunch "$slaunch" --dry-run --local=2:1 program
lost auction-train "$slaunch" --local=2:1 "$train" --epochs=2
lost auction-train "$slaunch" --local=2:1 --elastic "$train" --async --epochs=2
exit $failed
