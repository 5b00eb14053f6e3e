#!/usr/bin/env bats
# The command auctionsim: what its options do and what it prints. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	dir=$BATS_TEST_TMPDIR
	cat > "$dir/s.json" <<-'END'
		{"format": "auction-scenario/1", "name": "small", "slots": 20, "slot_seconds": 100,
		 "worker_types": [{"name": "w", "tres": {"gpu": 1, "cpu": 2}, "bandwidth_mbps": 1000}],
		 "ps_types": [{"name": "p", "tres": {"cpu": 1}, "bandwidth_mbps": 2000}],
		 "servers": [{"name": "e1", "capacity": {"gpu": 5, "cpu": 15}}, {"name": "e2", "capacity": {"gpu": 1, "cpu": 8}}],
		 "jobs": [
		  {"id": "a", "arrival": 2, "utility": {"form": "deadline", "scale": 300, "deadline": 4}, "epochs": 10, "chunks": 2,
		   "minibatches": 10, "gradient_mb": 1, "worker_seconds": {"w": 2}, "ps_seconds": {"p": 0.1}, "upload_default": 1},
		  {"id": "b", "arrival": 1, "utility": {"form": "deadline", "scale": 400, "deadline": 4}, "epochs": 10, "chunks": 4,
		   "minibatches": 10, "gradient_mb": 1, "worker_seconds": {"w": 2}, "ps_seconds": {"p": 0.1}, "upload_default": 1}],
		 "prices": {"mode": "eta", "eta": {"gpu": 25, "cpu": 2}}}
	END
}

# run_sim STATUS ARGUMENT...: standard output and error apart
run_sim()
{
	local status=$1

	shift
	run "-$status" --separate-stderr "$sim" "$@"
}

with()
{
	jq "$1" "$dir/s.json" > "$dir/with.json"
}

@test "--json prints one result and nothing else" {
	run_sim 0 run --policy dps --json "$dir/s.json"
	[ -z "$stderr" ]
	jq -e '.format == "auction-result/1" and .scenario == "small" and .policy == "dps" and .seed == 1' <<< "$output"
	jq -e '[.jobs[].id] == ["a", "b"] and .totals.accepted == 2 and .totals.jobs == 2' <<< "$output"
	jq -e '.jobs[1].payment == 0 and .jobs[0].payment > 0' <<< "$output" # b arrives first
	jq -e '.jobs[0] | .payoff == .value - .payment and .completion == .plan[-1].to + 1' <<< "$output"
}

@test "several policies: an array, and a line each in the table" {
	run_sim 0 run -p dps -p fifo,reading=reserving -p drf --json "$dir/s.json"
	jq -e 'map(.policy) == ["dps", "fifo,reading=reserving", "drf"]' <<< "$output"
	run_sim 0 run -p dps -p fifo -p unpriced "$dir/s.json"
	[ "${#lines[@]}" = 5 ]
	[[ ${lines[0]} == "small: 2 servers, 2 jobs, 20 slots of 100 s" ]]
	[[ ${lines[1]} == POLICY*ACCEPTED*WELFARE*REVENUE*MEAN_JCT* ]]
	[[ ${lines[3]} == fifo* ]]
}

@test "equal input gives equal bytes, timing aside" {
	"$sim" gen dps servers=20 jobs=60 -s 5 -o "$dir/g1.json"
	"$sim" gen dps servers=20 jobs=60 -s 5 > "$dir/g2.json"
	cmp "$dir/g1.json" "$dir/g2.json"
	"$sim" gen dps servers=20 jobs=60 -s 6 > "$dir/g2.json"
	! cmp -s "$dir/g1.json" "$dir/g2.json" || false
	"$sim" run --json "$dir/g1.json" | sed '/"timing"/,$d' > "$dir/r1"
	"$sim" run --json - < "$dir/g1.json" | sed '/"timing"/,$d' > "$dir/r2"
	[ "$(wc -l < "$dir/r1")" -gt 500 ]
	cmp "$dir/r1" "$dir/r2"
}

@test "--seed is in the result, -o writes there" {
	run_sim 0 run --json --seed 77 -o "$dir/out" "$dir/s.json"
	[ -z "$output" ]
	jq -e '.seed == 77' "$dir/out"
}

@test "every policy's results pass check" {
	"$sim" gen dps servers=15 jobs=60 spread=one -o "$dir/g.json"
	# offline and dorm-milp are for small scenarios: below, oasis.bats; eris, its baselines, posted and easy for other ones: eris.bats,
	# posted.bats, gangs.bats
	for p in $("$sim" policies | awk '$1 !~ /^(offline|offline-oasis|dorm-milp|eris|tiresias|antman|liquid|posted|bfp|easy)$/ {print $1}') dps,variant=paper fifo,reading=reserving drf,history=asked; do
		"$sim" run -p "$p" --json -o "$dir/r.json" "$dir/g.json"
		run_sim 0 check "$dir/g.json" "$dir/r.json"
		[ -z "$output" ]
		jq '.totals.welfare += 1' "$dir/r.json" > "$dir/bad.json"
		run_sim 1 check "$dir/g.json" "$dir/bad.json"
		[[ ${lines[0]} == *'$.totals.welfare: expected '* ]]
	done
}

@test "prices: given, learned, none; state" {
	with '.prices = {mode: "given", values: [{server: "e1", tres: "gpu", from: 1, to: 20, price: 2},
	                                         {server: "e2", tres: "gpu", from: 1, to: 20, price: 1},
	                                         {server: "e2", tres: "gpu", from: 4, to: 20, price: 3}]}
	      | .jobs |= [.[1]]'
	run_sim 0 run --json "$dir/with.json"
	# 8.4 worker-slots in slots 2 to 4: three workers on e1 (18), or beside one on e2, which is dearer in slot 4 (12 + 5)
	jq -e '.jobs[0].payment == 17' <<< "$output"
	"$sim" check "$dir/with.json" - <<< "$output"
	with '.prices = {mode: "learned"}'
	run_sim 0 run --json "$dir/with.json"
	jq -e '.jobs[1].payment == 0' <<< "$output"
	"$sim" check "$dir/with.json" - <<< "$output"
	with 'del(.prices)'
	run_sim 0 run --json "$dir/with.json"
	"$sim" check "$dir/with.json" - <<< "$output"
	with '.state = [{server: "e1", tres: "gpu", from: 1, to: 20, used: 5}, {server: "e2", tres: "gpu", from: 1, to: 20, used: 1}]'
	run_sim 0 run --json "$dir/with.json"
	jq -e '[.jobs[].reason] == ["capacity", "capacity"]' <<< "$output"
	with '.prices = {mode: "bounds", lower: {}, upper: {}}'
	run_sim 1 run "$dir/with.json"
	[[ $stderr == *'with.json: $.prices.mode: expected "given", "eta" or "learned" for policy dps, found "bounds"' ]]
	run_sim 0 run -p fifo "$dir/with.json" # has no use for prices
}

@test "a job's own types are its own" {
	with '.jobs[0].worker_types = [{name: "half", tres: {gpu: 0.5}, bandwidth_mbps: 10}] | .jobs[0].worker_seconds = {half: 1}'
	run_sim 0 run --json "$dir/with.json"
	jq -e '.jobs[0].worker_type == "half"' <<< "$output"
	"$sim" check "$dir/with.json" - <<< "$output"
	with '.jobs[0].worker_types = [{name: "half", tres: {gpu: 0.5}, bandwidth_mbps: 10}] | .jobs[1].worker_seconds.half = 1'
	run_sim 1 run "$dir/with.json"
	[[ $stderr == *'$.jobs[1].worker_seconds.half: '* ]]
}

@test "a job's own types may take what no common type does" {
	with '.servers[].capacity.mem = 8 | .servers[0].capacity.mem = 16 |
		.jobs[0].worker_types = [{name: "own", tres: {gpu: 1, mem: 4}, bandwidth_mbps: 1000}] | .jobs[0].worker_seconds = {own: 2}'
	run_sim 0 bound --json "$dir/with.json"
	jq -e '.bound > 0' <<< "$output"
}

@test "an amount that cannot be counted beside the largest server is refused, not rounded" {
	with '.servers[0].capacity.gpu = 1e15'
	run_sim 0 run "$dir/with.json"
	with '.servers[0].capacity.gpu = 1e15 | .worker_types[0].tres.gpu = 1.5'
	run_sim 1 run "$dir/with.json"
	[[ $stderr == *"w: gpu=1.5: expected a multiple of 1, in which gpu is counted beside the largest server" ]]
	with '.worker_types[0].tres.gpu = 0.333333333333'
	run_sim 0 run "$dir/with.json"
}

@test "a job that arrives after the last slot is refused: capacity" {
	with '.jobs[0].arrival = 21'
	run_sim 0 run --json "$dir/with.json"
	jq -e '.jobs[0] == {id: "a", accepted: false, reason: "capacity"}' <<< "$output"
}

@test "errors name file, path, expectation and finding; nothing is printed" {
	with '.jobs[1].utility.scale = "400"'
	run_sim 1 run --json "$dir/with.json"
	[ -z "$output" ]
	[ "$stderr" = "auctionsim: $dir/with.json: \$.jobs[1].utility.scale: expected a number from 0 to 1000000000, found \"400\"" ]
	run_sim 1 run "$dir/none.json"
	[[ $stderr == *"none.json: No such file or directory" ]]
	run_sim 1 run -p lottery "$dir/s.json"
	[[ $stderr == *"'lottery' is no policy"* ]]
	run_sim 1 run -p dps,variant=best "$dir/s.json"
	[[ $stderr == *"expected variant=exact|paper or bounds=on|off"* ]]
	with 'del(.jobs[0].epochs)'
	run_sim 1 run "$dir/with.json"
	[[ $stderr == *'$.jobs[0]: expected the key epochs, found none' ]]
	with 'del(.worker_types[0].bandwidth_mbps)'
	run_sim 1 run "$dir/with.json"
	[[ $stderr == *'with.json: $.worker_types[0]: type w: expected bandwidth_mbps, found none' ]]
	with 'del(.jobs[1].upload_default) | .jobs[1].ps_types = [{name: "own", tres: {cpu: 1}}] | .jobs[1].ps_seconds = {own: 1}'
	run_sim 1 run "$dir/with.json"
	[[ $stderr == *'with.json: $.jobs[1].ps_types[0]: type own: expected bandwidth_mbps, found none' ]]
	with '.ps_types += [{name: "q", tres: {}, bandwidth_mbps: 1}]'
	run_sim 1 run "$dir/with.json"
	[[ $stderr == *'with.json: $.ps_types[1]: PS type q: uses no TRES' ]]
	with '.servers[1].capacity += ([range(33) | {"r\(.)": 1}] | add)'
	run_sim 1 run "$dir/with.json"
	[[ $stderr == *'with.json: $.servers[1]: server e2: r'*': more than 32 different TRES' ]]
	with '.ps_types[0].tres = .worker_types[0].tres | .jobs[] |= (.workers = 1 | .ps = 1 | .budget = 1 | .compute_seconds_per_epoch = 1)'
	run_sim 1 run -p bfp "$dir/with.json"
	[[ $stderr == *'with.json: $.worker_types[0]: type w: expected bandwidth_mbps, and TRES that no other type takes' ]]
	run_sim 1 gen dps 'servers=many'
	run_sim 1 gen dps 'chunks=9:3'
	run_sim 1 gen dps 'colour=red'
}

@test "usage: exit code 2" {
	run_sim 2
	run_sim 2 run
	run_sim 2 run a b
	run_sim 2 walk
	run_sim 2 gen
	run_sim 2 run --seed=-1 "$dir/s.json"
	run_sim 0 --help
	run_sim 0 gen dps --help
	[[ $output == *cloud_workers* ]]
	run_sim 0 --version
}

@test "usage: an option of another command is refused, and so is an argument too many" {
	local words

	for words in 'gen dps --policy dps' 'gen dps --iterations 5' 'gen dps -j' 'check --json a b' 'check -s 2 a b' 'policies --json' \
		'bound --history a b' 'run --iterations 5 a'; do
		run_sim 2 $words
		[[ $stderr == "auctionsim: ${words%% *}: "*" option "* && -z $output ]]
	done
	run_sim 2 gen --iterations 5
	[[ $stderr == "auctionsim: gen: '--iterations' is no setting, expected dps, oasis, eris, aonline, posted, gangs first" ]]
	run_sim 2 policies dps
	[[ ${stderr_lines[0]} == "auctionsim: policies: 'dps', expected no argument" ]]
}

@test "--help: of every command, with every word that a parameter may have" {
	local words

	for words in '' run check gen 'gen dps' 'gen oasis' 'gen eris' 'gen aonline' 'gen posted' import plot bound policies; do
		run_sim 0 $words --help
		[[ ${lines[0]} == "Usage: auctionsim "* && -z $stderr ]]
		run_sim 0 $words -h
	done
	for words in 'gen dps:spread:each one' 'gen dps:utility:sigmoid linear inverse' 'gen aonline:pattern:even peaks' \
		'gen eris:prices:printed offline learned' 'import:utility:sigmoid linear deadline constant' \
		'import:types:own any' 'import:states:all ended completed'; do
		IFS=: read -r command parameter words <<< "$words"
		run_sim 0 $command --help
		for word in $words; do
			grep -E "^  $parameter .*\\b$word\\b" <<< "$output"
		done
	done
}

# complete_words WORD...: what may follow, if the last is being typed
complete_words()
{
	COMP_WORDS=("$sim" "$@")
	COMP_CWORD=$#
	_auctionsim 2> /dev/null || true # compopt works only while bash completes
	echo " ${COMPREPLY[*]} "
}

@test "completion: knows every command, option and setting, and no other" {
	local command option at

	. "$BATS_TEST_DIRNAME/../../contrib/completion/auctionsim"
	for command in run check gen import plot bound policies; do
		[[ $(complete_words '') == *" $command "* ]]
		at=()
		[ $command != gen ] || at=(dps)
		# each is taken, and each that --help or the manual page's synopsis shows is there
		for option in $(complete_words $command "${at[@]}" --); do
			run --separate-stderr "$sim" $command "${at[@]}" "$option=" < /dev/null
			[[ $stderr != *unrecognized* && $stderr != *ambiguous* ]] || { echo "$command $option"; false; }
		done
		for option in $("$sim" $command --help | case $command in
			run) sed -n '/^run:/,/^$/p' ;;
			gen) sed -n '/^gen:/,/^$/p' ;;
			check | policies) true ;;
			*) cat ;;
			esac | grep -o '^  .*' | grep -oE -- '--[a-z-]+' | sort -u) --help; do
			[[ $(complete_words $command "${at[@]}" --) == *" $option "* ]] || { echo "$command $option"; false; }
		done
	done
	"$sim" gen 2>&1 | grep -F "expected $(complete_words gen '' | sed 's/ --help $//; s/^ //; s/ /, /g') first"
	[[ $(complete_words run -p d) == " dps drf dorm dorm-milp " ]]
	[[ $(complete_words bound --policy = un) == *" unpriced "* ]]
	[[ $(complete_words run --prices = f) == " flat " ]]
	[[ $(complete_words bound --schedules '') == " dps oasis " ]]
	[[ $(complete_words bound --prices f) == "  " ]] # a file
	[[ $(complete_words gen aonline pat) == " pattern= " ]]
	[[ $(complete_words import slack) == " slack= " ]]
	[[ $(complete_words plot -k g) == " gantt " ]]
	[[ $(complete_words plot --format = s) == " svg " ]]
}

@test "-o: after an error what was there is there; else it is replaced, and its mode kept" {
	local words inode

	echo old > "$dir/f"
	chmod 640 "$dir/f"
	for words in 'gen dps colour=red' "import -n $dir/none $dir/none" "import -n $dir/s.json $dir/s.json" "run -p lottery $dir/s.json" \
		"bound --schedules fifo $dir/s.json" "run $dir/none"; do
		run_sim 1 $words -o "$dir/f"
		[ "$(cat "$dir/f")" = old ]
	done
	for words in "gen dps jobs=3" "run -j $dir/s.json" "bound -n 2 -j $dir/s.json"; do
		run_sim 0 $words -o "$dir/f"
		[ -z "$output" ]
		jq -e .format "$dir/f"
		[ "$(stat -c %a "$dir/f")" = 640 ]
	done
	[ "$(cd "$dir" && echo f*)" = f ]
	(umask 027 && "$sim" gen dps -o "$dir/new")
	[ "$(stat -c %a "$dir/new")" = 640 ]
	# a link stays a link, a file with two names has both, a device is none
	ln -s new "$dir/link"
	ln "$dir/f" "$dir/f2"
	for words in link f; do
		run_sim 0 gen posted jobs=2 -o "$dir/$words"
	done
	[ -L "$dir/link" ]
	cmp "$dir/new" "$dir/f2"
	run_sim 1 gen dps -o /dev/full
	[[ $stderr == "auctionsim: /dev/full: No space left on device" && -c /dev/full ]]
	[ "$("$sim" gen dps -o /dev/stdout | jq -r .format)" = auction-scenario/1 ]
	run_sim 1 gen dps -o "$dir/none/f"
	[[ $stderr == *"none/f: No such file or directory" ]]
}

@test "standard output that cannot be written is an error" {
	local words

	"$sim" run -j "$dir/s.json" > "$dir/r.json"
	"$sim" bound -n 3 --prices "$dir/p.json" "$dir/s.json"
	jq '.totals.welfare += 1' "$dir/r.json" > "$dir/bad.json"
	for words in 'gen dps' "run $dir/s.json" "run -j $dir/s.json" "check $dir/s.json $dir/bad.json" "bound -n 3 $dir/s.json" \
		"bound -j -n 3 $dir/s.json" "bound --verify $dir/p.json $dir/s.json" policies --help --version 'import --help' 'gen dps --help' \
		"plot --no-png -o $dir/plots $dir/s.json $dir/r.json"; do
		for out in '> /dev/full' '>&-'; do
			run -1 --separate-stderr bash -c "\"\$0\" $words $out" "$sim"
			[[ $stderr == "auctionsim: "*"standard output: "* && ${#stderr_lines[@]} = 1 ]]
		done
	done
	# what is closed is not needed where nothing is written, and becomes no file of ours
	"$sim" check "$dir/s.json" "$dir/r.json" >&-
	"$sim" run -j -o "$dir/r2.json" "$dir/s.json" <&- >&- 2>&-
	jq -e .format "$dir/r2.json"
}

@test "standard input is read once; a file name is not empty" {
	local words

	"$sim" run -j "$dir/s.json" > "$dir/r.json"
	for words in 'check - -' 'import -n - -' 'bound --verify - -' 'plot --no-png - -' 'run --prices flat --history - -'; do
		run -1 --separate-stderr "$sim" $words < "$dir/s.json"
		[[ $stderr == *"-: expected the name of a file: standard input is read once"* && -z $output ]]
	done
	run -2 --separate-stderr "$sim" run --priced "$dir/f" - < "$dir/s.json"
	[[ $stderr == *"--priced: SCENARIO is -"* && ! -e $dir/f ]]
	cd "$dir"
	for words in 'run s.json -o' 'run s.json --priced' 'run s.json --history' 'gen dps -o' 'bound s.json --state' 'bound -n 2 s.json --prices' \
		'bound s.json --verify' 'import s.json -n' 'import s.json -n s.json -c' 'import s.json -p' 'plot --no-png s.json r.json -o'; do
		run_sim 2 $words ''
		[[ ${stderr_lines[0]} == "auctionsim: --"*": '', expected the name of a file" ]]
	done
	for words in run 'check s.json' bound 'import -n s.json' plot 'plot s.json'; do
		run_sim 1 $words ''
		[[ $stderr == *": '': expected the name of a file, or -" ]]
	done
}

@test "bound: policies stay below it, the prices prove it" {
	"$sim" gen dps servers=10 jobs=30 slots=30 spread=one -s 3 -o "$dir/g.json"
	run_sim 0 bound -p dps -p unpriced -p fifo -p drf -n 30 --json --prices "$dir/p.json" "$dir/g.json"
	[ -z "$stderr" ]
	jq -e '.format == "auction-bound/1" and .iterations == 30 and (.policies | length) == 4' <<< "$output"
	jq -e '.bound as $b | all(.policies[]; .welfare > 0 and .welfare <= $b and .gap >= 0 and .share + .gap == 1)' <<< "$output"
	run_sim 0 bound --verify "$dir/p.json" "$dir/g.json"
	[[ $output == "verified bound "* ]]
	jq '.bound *= 0.999' "$dir/p.json" > "$dir/claim.json"
	run_sim 1 bound --verify "$dir/claim.json" "$dir/g.json"
	[[ $output == *"which its prices do not prove"* ]]
	# payoffs that are too low are found out
	jq '.payoffs |= map(. / 2)' "$dir/p.json" > "$dir/low.json"
	run_sim 0 bound --verify "$dir/low.json" "$dir/g.json"
	[[ $output == *"payoff is higher than the file says"* ]]
	run_sim 0 bound -p fifo -n 3 "$dir/g.json"
	[[ ${lines[1]} == "bound "*" after 3 iterations: "* ]]
	[[ ${lines[2]} == POLICY*WELFARE*OF_BOUND*GAP* ]]
	[[ ${lines[3]} == fifo*%*% ]]
}

@test "bound: goes on where it was interrupted, to the same bytes" {
	"$sim" gen dps servers=10 jobs=30 slots=30 spread=one -s 4 -o "$dir/g.json"
	"$sim" bound -p dps -n 40 -j -o "$dir/whole" --prices "$dir/whole.p" "$dir/g.json"
	# told to stop, it stops after an iteration
	script -qefc "echo \$\$ > '$dir/pid'; exec env --default-signal=INT '$sim' bound -p dps -n 1000000 --state '$dir/state' '$dir/g.json'" \
		/dev/null > "$dir/shown" < /dev/null 3>&- &
	until grep -q "iteration " "$dir/shown"; do sleep 0.01; done
	kill -INT "$(cat "$dir/pid")"
	wait $! && false # its exit status is 1
	[[ $(head -n 1 "$dir/state") == "auction-bound-state/2 dps 1000000 "* ]]
	run_sim 1 bound -p dps -n 40 --state "$dir/state" "$dir/g.json"
	[[ $stderr == *"expected --iterations 40"* ]]
	# one iteration more each time, as an interrupt after each would have it
	rm "$dir/state"
	for i in 1 2 3; do
		"$sim" bound -p dps -n 40 -j -o "$dir/part" --prices "$dir/part.p" --state "$dir/state" --seconds 0 "$dir/g.json"
	done
	! cmp -s "$dir/whole" "$dir/part" || false
	"$sim" bound -p dps -n 40 -j -o "$dir/part" --prices "$dir/part.p" --state "$dir/state" "$dir/g.json"
	cmp "$dir/whole" "$dir/part"
	cmp "$dir/whole.p" "$dir/part.p"
	# without a state it stops wherever it is
	run_sim 1 bound -p dps --seconds 0 "$dir/g.json"
	[[ $stderr == "auctionsim: bound: --seconds: there is no bound after 0 s (dps), expected more time" ]]
	run_sim 1 bound --seconds 0 "$dir/g.json"
	[[ $stderr == *"no bound after 0 s (first prices), expected more time" ]]
	"$sim" bound -n 1000000 --seconds 1 -j -o "$dir/part" "$dir/g.json"
	jq -e '.iterations >= 1 and .iterations < 1000000 and .bound > 0' "$dir/part"
	# another scenario, and a state that is damaged
	"$sim" gen dps servers=11 jobs=30 slots=30 spread=one -s 4 -o "$dir/other.json"
	run_sim 1 bound -p dps -n 40 --state "$dir/state" "$dir/other.json"
	[[ $stderr == "auctionsim: bound: $dir/state: the state of another scenario than $dir/other.json" ]]
	jq '.jobs[0].utility.scale *= 2' "$dir/g.json" > "$dir/dearer.json" # of the same name
	run_sim 1 bound -p dps -n 40 --state "$dir/state" "$dir/dearer.json"
	[[ $stderr == *"the state of another scenario"* && -z $output ]]
	echo 'auction-bound-state/1 dps 40 40 2 dps-s10-j30' > "$dir/older"
	run_sim 1 bound -p dps -n 40 --state "$dir/older" "$dir/g.json"
	[[ $stderr == *"expected the state of a bound, auction-bound-state/2, found 'auction-bound-state/1'" ]]
	printf x | dd of="$dir/state" bs=1 seek=2000 conv=notrunc status=none
	run_sim 1 bound -p dps -n 40 --state "$dir/state" "$dir/g.json"
	[[ $stderr == *"is damaged"* ]]
}

@test "bound: goes on, whatever the name of the scenario" {
	with '.name = " two\nlines "'
	run_sim 0 bound -n 20 --state "$dir/state" -j "$dir/with.json"
	first=$output
	jq . "$dir/with.json" > "$dir/laid-out.json" # the same, in other words
	run_sim 0 bound -n 20 --state "$dir/state" -j "$dir/laid-out.json"
	[ "$output" = "$first" ]
}

@test "bound: what it refuses" {
	run_sim 2 bound -p srtf "$dir/s.json"
	[[ $stderr == *"the bound does not hold for it"* ]]
	run_sim 2 bound --gap 5 "$dir/s.json"
	run_sim 1 bound --schedules fifo "$dir/s.json"
	[[ $stderr == *"--schedules: 'fifo'"* ]]
	run_sim 2 bound -n 0 "$dir/s.json"
}

@test "learned prices that know nothing but the day turn nobody away where there is room" {
	"$sim" gen dps servers=20 jobs=40 slots=60 spread=each -s 2 -o "$dir/day.json"
	run_sim 0 run -p dps --prices none --json "$dir/day.json"
	worth=$(jq .totals.welfare <<< "$output")
	run_sim 0 run -p dps --prices learned --json "$dir/day.json"
	jq -e --argjson worth "$worth" '.totals.welfare == $worth' <<< "$output"
	"$sim" gen dps servers=20 jobs=240 slots=60 spread=one cloud_workers=20 cloud_ps=10 -s 12 -o "$dir/day.json"
	run_sim 0 run -p dps --prices none --json "$dir/day.json"
	worth=$(jq .totals.welfare <<< "$output")
	run_sim 0 run -p dps --prices learned --json "$dir/day.json"
	jq -e --argjson worth "$worth" '.totals.welfare > 1.05 * $worth' <<< "$output"
}

# bats test_tags=nightly
@test "with learned prices what waits moves to where it costs less; all of it can be executed; --no-rearrange" {
	"$sim" gen dps servers=20 jobs=120 slots=60 spread=one cloud_workers=20 cloud_ps=10 -s 12 -o "$dir/day.json"
	run_sim 0 run -p dps --prices learned --json "$dir/day.json"
	[[ $stderr == *"dps: "[1-9]*" times a sold job that waited moved to where it cost less by then"* ]]
	# As a baseline's, which asks nothing for it: check then asks whether all of it fits, and what it is worth.
	jq '.policy = "fifo" | .totals.revenue = 0 | .jobs[] |= if .accepted then .payment = 0 | .payoff = .value
		else .reason = "capacity" | del(.best_payoff) end' <<< "$output" > "$dir/result"
	run_sim 0 check "$dir/day.json" "$dir/result"
	for words in '--prices learned --no-rearrange' '--prices none' ''; do
		run_sim 0 run -p dps $words --json "$dir/day.json"
		[[ $stderr != *moved* ]]
	done
	# A scenario cannot say it.
	"$sim" gen dps servers=20 jobs=240 slots=60 spread=one cloud_workers=20 cloud_ps=10 -s 12 -o "$dir/all.json"
	jq -c '.jobs |= .[:120]' "$dir/all.json" > "$dir/day.json"
	jq -c '.jobs |= .[120:]' "$dir/all.json" > "$dir/past.json"
	run_sim 1 run -p dps --prices learned --history "$dir/past.json" --priced "$dir/priced.json" "$dir/day.json"
	[[ $stderr == *"--priced: sold jobs have moved"*"--no-rearrange"* ]]
	[ ! -e "$dir/priced.json" ]
	run_sim 0 run -p dps --prices learned --no-rearrange --history "$dir/past.json" --priced "$dir/priced.json" --json "$dir/day.json"
	jq 'del(.timing)' <<< "$output" > "$dir/result"
	"$sim" check "$dir/priced.json" "$dir/result"
}

@test "the base of a price leaves out what nobody can be served with" {
	cat > "$dir/late.json" <<-'END'
		{"format": "auction-scenario/1", "name": "late", "slots": 4, "slot_seconds": 10,
		 "worker_types": [{"name": "w", "tres": {"gpu": 1}, "bandwidth_mbps": 100}],
		 "ps_types": [{"name": "p", "tres": {"cpu": 1}, "bandwidth_mbps": 100}],
		 "servers": [{"name": "a", "capacity": {"gpu": 2, "cpu": 2}}],
		 "jobs": [
		  {"id": "first", "arrival": 1, "utility": {"form": "constant", "scale": 10}, "epochs": 1, "chunks": 1,
		   "minibatches": 1, "gradient_mb": 0, "worker_seconds": {"w": 10}, "ps_seconds": {"p": 0}},
		  {"id": "second", "arrival": 1, "utility": {"form": "deadline", "scale": 10, "deadline": 1}, "epochs": 1,
		   "chunks": 1, "minibatches": 1, "gradient_mb": 0, "worker_seconds": {"w": 10}, "ps_seconds": {"p": 0}},
		  {"id": "late", "arrival": 4, "utility": {"form": "constant", "scale": 10000}, "epochs": 1, "chunks": 1,
		   "minibatches": 1, "gradient_mb": 0, "worker_seconds": {"w": 20}, "ps_seconds": {"p": 0}}]}
	END
	run_sim 0 run -p dps --json "$dir/late.json"
	[ "$(jq -c '[.jobs[].accepted]' <<< "$output")" = "[true,true,false]" ]
	"$sim" run -p dps --json "$dir/late.json" -o "$dir/late.result"
	"$sim" check "$dir/late.json" "$dir/late.result"
}

@test "--prices: goes before the scenario's; learned ones come from the past, through a guard" {
	local day

	"$sim" gen dps servers=8 jobs=90 slots=30 spread=one cloud_workers=20 cloud_ps=10 -s 12 -o "$dir/all.json"
	for day in 0 1 2; do
		jq -c ".jobs |= .[$((day * 30)):$((day * 30 + 30))]" "$dir/all.json" > "$dir/day$day.json"
	done
	run_sim 0 run -p dps --json --prices none "$dir/day0.json"
	none=$(jq '.totals | del(.revenue)' <<< "$output")
	jq -e '.totals.revenue == 0' <<< "$output"
	run_sim 0 run -p unpriced --json "$dir/day0.json"
	[ "$none" = "$(jq '.totals | del(.revenue)' <<< "$output")" ]
	run_sim 0 run -p dps --json "$dir/day0.json"
	published=$(jq -c .jobs <<< "$output")
	jq '.prices = {"mode": "eta", "eta": {}}' "$dir/day0.json" > "$dir/own.json"
	run_sim 0 run -p dps --json --prices published "$dir/own.json"
	[ "$(jq -c .jobs <<< "$output")" = "$published" ]
	run_sim 0 run -p dps --json --prices flat --history "$dir/day1.json" --history "$dir/day2.json" --priced "$dir/priced.json" "$dir/day0.json"
	[[ $stderr == "auctionsim: dps: learned prices: one price of each TRES, "*": the past would have been worth "* ]]
	jq 'del(.timing)' <<< "$output" > "$dir/flat"
	"$sim" check "$dir/priced.json" "$dir/flat"
	"$sim" run -p dps --json "$dir/priced.json" | jq 'del(.timing)' | cmp - "$dir/flat"
	run_sim 0 run -p dps --json --prices learned --history "$dir/day1.json" --history "$dir/day2.json" "$dir/day0.json"
	[[ $stderr == "auctionsim: dps: "*": the past would have been worth "* ]]
	run_sim 0 run -p dps --json --prices learned --history "$dir/day1.json" "$dir/day0.json"
	run_sim 1 run -p dps --prices flat "$dir/day0.json"
	[[ $stderr == *"--history FILE"* ]]
	run_sim 1 run -p dps --prices free "$dir/day0.json"
	[[ $stderr == *"--prices: 'free', expected published, none, flat or learned"* ]]
	run_sim 1 run -p dps --prices learned --history "$dir/s.json" "$dir/day0.json"
	[[ $stderr == *"are not those of"* ]]
}

@test "--prices flat: says nothing of prices that were not replayed, and needs jobs in the past" {
	local policy setting

	"$sim" gen dps servers=4 jobs=12 slots=20 cloud_workers=0 cloud_ps=0 -o "$dir/dps.json"
	"$sim" gen oasis servers=4 ps_servers=4 jobs=6 slots=20 -o "$dir/oasis.json"
	"$sim" gen eris servers=4 jobs=6 slots=20 -o "$dir/eris.json"
	for policy in dps oasis eris; do
		run_sim 0 run -p $policy --prices flat --history "$dir/$policy.json" "$dir/$policy.json"
		[[ $stderr == *": the past would have been worth "*" with learned ones" && $stderr != *published* && $stderr != *teach* ]]
		[[ $policy == eris || $stderr != *without* ]]
		run_sim 0 run -p $policy --prices learned --history "$dir/$policy.json" "$dir/$policy.json"
		[[ $stderr == *" without prices, "*" with the published, "*" with learned ones"* ]]
		[[ $policy != dps || $stderr == *"; users would have kept "*", and "*" without prices"* ]]
		jq '.jobs = []' "$dir/$policy.json" > "$dir/empty.json"
		run_sim 1 run -p $policy --prices flat --history "$dir/empty.json" --history "$dir/empty.json" "$dir/$policy.json"
		[[ $stderr == *"--history: expected jobs, from which --prices flat comes, found none in $dir/empty.json and the others" ]]
		run_sim 0 run -p $policy --prices flat --history "$dir/empty.json" --history "$dir/$policy.json" "$dir/$policy.json"
		run_sim 0 run -p $policy --prices learned --history "$dir/empty.json" "$dir/$policy.json"
	done
}

@test "--history: says what is not the same" {
	local change said

	while IFS=@ read -r change said; do
		with "$change"
		run_sim 1 run --prices learned --history "$dir/with.json" "$dir/s.json"
		[[ $stderr == "auctionsim: --history: $dir/with.json: "*" not those of $dir/s.json: \$.$said" ]] || { echo "$change: $stderr"; false; }
	done <<-'END'
		.slots = 10@slots: expected 20, found 10
		.slot_seconds = 10.5@slot_seconds: expected 100, found 10.5
		.transfer_mb_per_slot = 4@transfer_mb_per_slot: expected none, found 4
		.worker_types[0].tres.cpu = 1@worker_types[0].tres.cpu: expected 2, found 1
		.worker_types += [{name: "v", tres: {gpu: 1}, bandwidth_mbps: 1}]@worker_types[1].name: expected none, found v
		.ps_types[0].bandwidth_mbps = 1@ps_types[0].bandwidth_mbps: expected 2000, found 1
		.servers[0].name = "e0"@servers[0].name: expected e1, found e0
		del(.servers[1])@servers[1].name: expected e2, found none
		.servers[1].site = "cloud"@servers[1].site: expected edge, found cloud
		.servers[1].roles = ["worker"]@servers[1].roles: expected worker and ps, found worker
		.servers[0].capacity.cpu = 16@servers[0].capacity.cpu: expected 15, found 16
		del(.servers[1].capacity.cpu)@servers[1].capacity (TRES 2): expected cpu, found none
	END
}

@test "a scenario without jobs: no decisions" {
	with '.jobs = []'
	for policy in dps fifo srtf aonline offline oasis-fifo; do
		run --separate-stderr "$sim" run -p $policy -j "$dir/with.json"
		[[ $stderr != *"built without"* ]] || continue
		jq -e '.totals.jobs == 0 and .timing.decisions == 0 and .timing.max_us == 0' <<< "$output"
		"$sim" check "$dir/with.json" - <<< "$output"
	done
}

@test "--history: a file that cannot be read is named" {
	local policy word file

	for policy in dps oasis; do
		for word in learned flat; do
			for file in "$dir/none.json" "$dir"; do # an empty name: see above
				run_sim 1 run -p "$policy" --prices "$word" --history "$dir/s.json" --history "$file" "$dir/s.json"
				[[ $stderr == "auctionsim: "*": "* && $stderr == *"$file"* && -z $output ]]
			done
		done
	done
}

@test "--prices learned: where many more jobs come than in the past, prices are fitted again" {
	"$sim" gen dps servers=8 jobs=120 slots=30 spread=one cloud_workers=20 cloud_ps=10 -s 12 -o "$dir/all.json"
	jq -c '.jobs |= .[0:15]' "$dir/all.json" > "$dir/past.json"
	jq -c '.jobs |= .[15:30]' "$dir/all.json" > "$dir/like.json"
	jq -c '.jobs |= .[30:120]' "$dir/all.json" > "$dir/more.json"
	run_sim 0 run -p dps --prices learned --history "$dir/past.json" --priced "$dir/priced.json" "$dir/like.json"
	run_sim 1 run -p dps --prices learned --history "$dir/past.json" --priced "$dir/priced.json" "$dir/more.json"
	[[ $stderr == *"--priced: the prices change as the day goes on"* ]]
	run_sim 0 run -p dps --prices flat --history "$dir/past.json" --priced "$dir/priced.json" "$dir/more.json"
}

@test "--prices learned: where other jobs come than in the past, prices are those of a day without one" {
	"$sim" gen dps servers=20 jobs=120 slots=30 spread=one cloud_workers=20 cloud_ps=10 -s 12 -o "$dir/all.json"
	jq -c '.jobs |= .[0:60]' "$dir/all.json" > "$dir/like.json"
	jq -c '.jobs |= .[60:120]' "$dir/all.json" > "$dir/day.json"
	jq -c '.jobs |= map(.worker_seconds.w1 = 1)' "$dir/like.json" > "$dir/other.json"
	run_sim 0 run -p dps --prices learned --history "$dir/like.json" --priced "$dir/priced.json" "$dir/day.json"
	run_sim 1 run -p dps --prices learned --history "$dir/other.json" --priced "$dir/priced.json" "$dir/day.json"
	[[ $stderr == *"--priced: the prices change as the day goes on"* ]]
	# not if those are one user's
	jq -c --slurpfile like "$dir/like.json" '.jobs |= map(.id += "x" | .user = "x") | .jobs += $like[0].jobs' \
		"$dir/other.json" > "$dir/both.json"
	run_sim 0 run -p dps --prices learned --history "$dir/both.json" --priced "$dir/priced.json" "$dir/day.json"
}

@test "--prices learned: a user who bids much, and often, makes little of the past" {
	"$sim" gen dps servers=8 jobs=60 slots=30 spread=one cloud_workers=20 cloud_ps=10 -s 12 -o "$dir/all.json"
	jq -c '.jobs |= .[0:30]' "$dir/all.json" > "$dir/past.json"
	jq -c '.jobs |= .[30:60]' "$dir/all.json" > "$dir/day.json"
	jq -c '.jobs += [.jobs[] as $j | range(5) as $i | $j | .id += "x\($i)" | .user = "x" | .utility.scale *= 100]' "$dir/past.json" > "$dir/x.json"
	jq -c '.jobs |= map(del(.user))' "$dir/x.json" > "$dir/many.json"
	for past in past x many; do
		run_sim 0 run -p dps --prices flat --history "$dir/$past.json" --priced "$dir/priced-$past.json" "$dir/day.json"
	done
	dearest='[.prices.values[].price] | max'
	[ "$(jq -n "(input | $dearest) as \$x | (input | $dearest) as \$past | \$x < 20 * \$past" "$dir/priced-x.json" "$dir/priced-past.json")" = true ]
	[ "$(jq -n "(input | $dearest) as \$many | (input | $dearest) as \$x | \$many > 5 * \$x" "$dir/priced-many.json" "$dir/priced-x.json")" = true ]
	jq -c '.jobs[0].user = 7' "$dir/day.json" > "$dir/wrong.json"
	run_sim 1 run -p dps "$dir/wrong.json"
	[[ $stderr == *'jobs[0].user'* ]]
}

# bats test_tags=nightly
@test "--prices learned without a past: from the jobs of the day, as they come" {
	"$sim" gen dps servers=40 jobs=120 slots=100 spread=one cloud_workers=40 cloud_ps=20 -s 12 -o "$dir/day.json"
	run_sim 0 run -p dps --json --prices learned "$dir/day.json"
	jq -e '.totals.revenue > 0 and all(.jobs[] | select(.payment > 0); .payment <= .value)' <<< "$output"
	# the first jobs meet no prices
	[ "$(jq '[.jobs | to_entries[] | select(.value.payment > 0)] | length' <<< "$output")" -le 110 ]
	jq 'del(.timing)' <<< "$output" > "$dir/first"
	"$sim" run -p dps --json --prices learned "$dir/day.json" | jq 'del(.timing)' | cmp - "$dir/first"
	run_sim 1 run -p dps --prices learned --priced "$dir/priced.json" "$dir/day.json"
	[[ $stderr == *"--priced: the prices change as the day goes on"* ]]
	[ ! -e "$dir/priced.json" ]
	# where much is scarce, prices soon are what the day's jobs are worth
	for prices in none learned; do
		"$sim" run -p dps --json --prices "$prices" "$dir/day.json" | jq .totals.welfare
	done > "$dir/worth"
	awk 'NR == 1 {none = $1} END {exit !(NR == 2 && none > 0 && $1 > 1.25 * none)}' "$dir/worth"
}

@test "offline: the optimum, checked; too large, or out of time" {
	run --separate-stderr "$sim" run -p offline "$dir/s.json"
	[[ $stderr != *"built without"* ]] || skip "built without GLPK"
	[ "$status" = 0 ]
	"$sim" gen dps servers=3 jobs=6 slots=12 worker_types=2 ps_types=2 cloud_workers=0 cloud_ps=0 chunks=1:4 epochs=2:6 \
		minibatches=10:40 arrival=1:3 workers=1:2 -s 2 -o "$dir/g.json"
	"$sim" run -p offline --json "$dir/g.json" > "$dir/r.json"
	"$sim" check "$dir/g.json" "$dir/r.json"
	run_sim 0 bound -p offline -p dps --json "$dir/g.json"
	jq -e '.policies | .[0].welfare >= .[1].welfare - 1e-6' <<< "$output"
	run_sim 1 run -p offline,columns=100 "$dir/g.json"
	[[ $stderr == *"tries at most 100"* ]]
	run_sim 1 run -p offline,speed=1 "$dir/g.json"
	[[ $stderr == *"expected seconds=0.001 to 1000000, columns=1 to 10000000 or keep=no|yes"* ]]
	"$sim" gen dps servers=4 jobs=30 slots=24 worker_types=2 ps_types=2 cloud_workers=0 cloud_ps=0 chunks=2:6 epochs=2:6 \
		minibatches=10:40 -o "$dir/long.json"
	run_sim 0 run -p offline,columns=1e6,seconds=0.01 "$dir/long.json"
	[[ $stderr == *"not exact"* ]]
}
