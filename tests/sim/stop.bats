#!/usr/bin/env bats
# What a command of auctionsim shows on a terminal while it works, and how it ends when it is asked to. Where the work has to last, a pipe
# that nobody has written to is its input. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	dir=$BATS_TEST_TMPDIR
	mkfifo "$dir/pipe"
	"$sim" gen dps servers=10 jobs=30 slots=30 spread=one -s 3 -o "$dir/s.json"
	"$sim" run --json -o "$dir/r.json" "$dir/s.json"
	printf 'node,gpu,gpus\nn1,v100,8\n' > "$dir/nodes"
	began=
}

teardown()
{
	exec 4>&-
	[ -z "$began" ] || kill -KILL "$began" 2> /dev/null || true
}

# begin WORD...: it runs with the signals of a shell at a terminal, and has opened the pipe
begin()
{
	env --default-signal=INT,TERM "$sim" "$@" > "$dir/out" 2> "$dir/err" 4>&- 3>&- &
	began=$!
	exec 4> "$dir/pipe" # once it reads
}

# stopped SIGNAL FILE WORD...: it ends with a sentence that names FILE, what it reads, and nothing else
stopped()
{
	local signal=$1 file=$2 code=0

	shift 2
	begin "$@"
	kill "-$signal" "$began"
	wait "$began" || code=$?
	began=
	exec 4>&-
	[ "$code" = 1 ] || { echo "$*: exit code $code"; cat "$dir/err"; return 1; }
	[[ $(cat "$dir/err") == "auctionsim: $1: stopped by SIG$signal (reading "$file")" ]] || { echo "$*: $(cat "$dir/err")"; return 1; }
	[ ! -s "$dir/out" ]
}

@test "every command ends when it is asked to" {
	for signal in INT TERM; do
		stopped $signal "$dir/pipe" run "$dir/pipe"
		stopped $signal "$dir/pipe" check "$dir/pipe" "$dir/r.json"
		stopped $signal "$dir/pipe" check "$dir/s.json" "$dir/pipe"
		stopped $signal "$dir/pipe" plot -o "$dir/plots" "$dir/s.json" "$dir/pipe"
		stopped $signal "$dir/pipe" bound "$dir/pipe"
		stopped $signal "$dir/pipe" bound --state "$dir/state" "$dir/pipe"
		stopped $signal "$dir/pipe" bound --verify "$dir/pipe" "$dir/s.json"
		stopped $signal "*" import -n "$dir/nodes" "$dir/pipe" -o "$dir/made" # its other files are read in between
		stopped $signal "*" replay -n "$dir/nodes" "$dir/pipe" -o "$dir/made"
	done
	[ ! -e "$dir/plots" ] && [ ! -e "$dir/made" ] && [ ! -e "$dir/state" ]
}

@test "a signal that was ignored stays so" {
	"$sim" check "$dir/pipe" "$dir/r.json" > "$dir/out" 2> "$dir/err" 4>&- 3>&- & # without job control: SIGINT is ignored
	began=$!
	exec 4> "$dir/pipe"
	kill -INT "$began"
	cat "$dir/s.json" >&4
	exec 4>&-
	wait "$began"
	began=
	[ ! -s "$dir/err" ]
}

@test "a terminal shows what goes on, within a second" {
	script -qefc "'$sim' check '$dir/pipe' '$dir/r.json'" /dev/null > "$dir/shown" 4>&- 3>&- < /dev/null &
	began=$!
	exec 4> "$dir/pipe"
	opened=$EPOCHREALTIME
	until grep -q "reading $dir/pipe" "$dir/shown"; do sleep 0.01; done
	# a second, and what a machine that is busy adds to it
	awk -v from="$opened" -v to="$EPOCHREALTIME" 'BEGIN {exit !(to - from < 10)}'
	cat "$dir/s.json" >&4
	exec 4>&-
	wait "$began"
	began=
	# the line goes when it is done
	[[ $(cat "$dir/shown") == *$'\r\e[K' ]]
}

@test "half a picture does not stay" {
	mkdir "$dir/bin" "$dir/plots"
	cat > "$dir/bin/gnuplot" <<-END
		#!/bin/bash
		# as long as it takes
		echo half > "\${2%.gp}.png"
		echo "\$\$" > "$dir/pipe"
		exec sleep 1000
	END
	chmod +x "$dir/bin/gnuplot"
	PATH=$dir/bin:$PATH env --default-signal=INT,TERM "$sim" plot -k payments -o "$dir/plots" "$dir/s.json" "$dir/r.json" \
		> "$dir/out" 2> "$dir/err" 3>&- &
	began=$!
	read -r gnuplot < "$dir/pipe"
	kill -TERM "$began"
	code=0
	wait "$began" || code=$?
	began=
	[ "$code" = 1 ]
	[ "$(cat "$dir/err")" = "auctionsim: plot: stopped by SIGTERM (drawing payments)" ]
	[ "$(ls "$dir/plots")" = $'payments.dat\npayments.gp' ]
	! kill -0 "$gnuplot" 2> /dev/null || false
}
