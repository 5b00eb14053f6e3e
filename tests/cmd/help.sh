#!/bin/bash
# help.sh - the options of sprice, sauction, sbid, slaunch and auction-train: --help has those that the manual has, the command knows them, and
# bash-completion, which reads --help, offers them.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
top=${srcdir:-$(dirname "$0")/..}/..
. "$top/tests/cmd/built.bash"
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
failed=0

for command in sprice sauction sbid slaunch auction-train; do
	program=$(built "$command")
	help=$("$program" --help) || failed=1
	listed=$(grep -oE '^ +(-[A-Za-z], +)?--[a-z-]+' <<< "$help" | grep -oE -- '--[a-z-]+' | sort)
	manual=$(sed -n '/^\.SH OPTIONS/,/^\.SH/{s/\\-/-/g; p}' "$top/doc/man/$command.1" | grep -A1 '^\.T[PQ]' | grep -oE -- '--[a-z-]+' | sort)
	[[ -n $listed && $listed == "$manual" ]] || { echo "FAIL: $command: --help and the manual:"; diff <(echo "$listed") <(echo "$manual"); failed=1; }
	# As _longopt of bash-completion finds them: the first one of each line.
	offered=$(while read -r line; do [[ $line =~ --[A-Za-z0-9]+([-_][A-Za-z0-9]+)* ]] && echo "${BASH_REMATCH[0]}"; done <<< "$help" | sort -u)
	[[ $offered == "$listed" ]] || { echo "FAIL: $command: completion offers:"; diff <(echo "$listed") <(echo "$offered"); failed=1; }
	for option in $listed; do
		"$program" "$option=" --help 2>&1 | grep -q 'unrecognized option' && { echo "FAIL: $command $option: not known"; failed=1; }
	done
done

# complete_words WORD...: what completion offers for the last one.
complete_words()
{
	COMP_WORDS=("$program" "$@") COMP_CWORD=$#
	"_$command" 2> /dev/null # compopt works only while bash completes
	printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

# same WHAT LISTED OFFERED
same()
{
	[[ -n $2 && $2 == "$3" ]] || { echo "FAIL: $command: completion of $1:"; diff <(echo "$2") <(echo "$3"); failed=1; }
}

for command in sauction sbid; do
	program=$(built "$command")
	. "$top/contrib/completion/$command"
	help=$("$program" --help)
	same options "$(grep -oE -- '--[a-z-]+' <<< "$(grep -E '^ +(-[A-Za-z], +)?--' <<< "$help")" | sort)" "$(complete_words --)"
	same commands "$(sed -nE 's/, (resume)/\n  \1 /; s/^  ([a-z]+) .*/\1/Mgp' <<< "$help" | grep -oE '^[a-z]+' | sort -u)" "$(complete_words -P '')"
	for word in $(complete_words ''); do
		# --help of quote is sbatch's.
		[ "$word" = quote ] || "$program" --json "$word" --help > /dev/null || { echo "FAIL: $command $word --help"; failed=1; }
	done
done
program=$(built sbid) command=sbid
for word in block profile; do
	same "$word" "$("$program" "$word" --help | grep -oE -- '--[a-z-]+' | sort -u)" "$(complete_words -n "$word" --)"
done
exit $failed
