#!/usr/bin/env bats
# auctionsim plot: scripts, data and pictures. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

# b comes first and pays nothing, a pays for what b has taken, c is worth nothing by the time it could be done.
setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	dir=$BATS_TEST_TMPDIR
	cat > "$dir/s.json" <<-'END'
		{"format": "auction-scenario/1", "name": "small", "slots": 20, "slot_seconds": 100,
		 "worker_types": [{"name": "w", "tres": {"gpu": 1, "cpu": 2}, "bandwidth_mbps": 1000}],
		 "ps_types": [{"name": "p", "tres": {"cpu": 1}, "bandwidth_mbps": 2000}],
		 "servers": [{"name": "e1", "capacity": {"gpu": 5, "cpu": 15}},
		             {"name": "far", "site": "cloud", "capacity": {"gpu": 1, "cpu": 8}}],
		 "jobs": [
		  {"id": "a", "arrival": 2, "utility": {"form": "deadline", "scale": 300, "deadline": 4}, "epochs": 10, "chunks": 2,
		   "minibatches": 10, "gradient_mb": 1, "worker_seconds": {"w": 2}, "ps_seconds": {"p": 0.1}, "upload_default": 1},
		  {"id": "b", "arrival": 1, "utility": {"form": "deadline", "scale": 400, "deadline": 4}, "epochs": 10, "chunks": 4,
		   "minibatches": 10, "gradient_mb": 1, "worker_seconds": {"w": 2}, "ps_seconds": {"p": 0.1}, "upload_default": 1},
		  {"id": "c", "arrival": 9, "utility": {"form": "deadline", "scale": 70, "deadline": 1}, "epochs": 10, "chunks": 4,
		   "minibatches": 10, "gradient_mb": 1, "worker_seconds": {"w": 2}, "ps_seconds": {"p": 0.1}, "upload_default": 1}],
		 "prices": {"mode": "eta", "eta": {"gpu": 25, "cpu": 2}}}
	END
	"$sim" run -p dps -p fifo -p srtf --json -o "$dir/r.json" "$dir/s.json"
	jq '.[0]' "$dir/r.json" > "$dir/dps.json"
}

# run_sim STATUS ARGUMENT...: standard output and error apart
run_sim()
{
	local status=$1

	shift
	run "-$status" --separate-stderr "$sim" "$@"
}

# block N FILE: the Nth block of data, from 0
block()
{
	awk -v n="$1" 'BEGIN {RS = "\n\n\n"} NR == n + 1' "$2"
}

# refused FILTER TEXT: the dps result, changed, is refused with a sentence that has TEXT
refused()
{
	jq "$1" "$dir/dps.json" > "$dir/bad.json"
	run_sim 1 plot --no-png -o "$dir/bad" "$dir/s.json" "$dir/bad.json"
	[[ $stderr == *"$2"* ]] || { echo "$stderr"; return 1; }
}

@test "data: payments, plans, use and prices are those of the result" {
	run_sim 0 plot --no-png -o "$dir/out" "$dir/s.json" "$dir/dps.json"
	[ "${#lines[@]}" = 4 ]
	[ -z "$stderr" ]
	diff <(block 0 "$dir/out/payments.dat" | tail -n +2 | sort -n) \
		<(jq -r '.jobs[] | select(.accepted) | "\(.value) \(.payment)"' "$dir/dps.json" | sort -n)
	[ "$(block 1 "$dir/out/payments.dat" | tail -n +2)" = "70 1" ]
	# a bar for each job, role, node and run
	[ "$(grep -vc -e NaN -e '^$' "$dir/out/gantt.dat")" = \
		"$(jq '[.jobs[] | select(.accepted) | .plan[] | (.workers, .ps) | length] | add' "$dir/dps.json")" ]
	# GPUs in use on e1 in each slot, and the price of the dearer server, from the plans
	jq -r '[.jobs[] | select(.accepted) | .plan[]] as $runs | range(1; 21) as $t |
		([$runs[] | select(.from <= $t and $t <= .to) | .workers["e1"] // 0] | add // 0) as $e |
		([$runs[] | select(.from <= $t and $t <= .to) | .workers["far"] // 0] | add // 0) as $f |
		"\($t) \($e * 20) \($f * 100) \([pow(25; $e / 5), pow(25; $f)] | max - 1)"' "$dir/dps.json" |
		awk '{printf "%d %.4g %.4g %.4g\n", $1, $2, $3, $4}' > "$dir/expected"
	paste <(block 0 "$dir/out/utilisation.dat") <(block 1 "$dir/out/utilisation.dat") \
		<(block 1 "$dir/out/prices.dat" | awk 'NR % 2') |
		awk 'NF > 8 {printf "%d %.4g %.4g %.4g\n", $1, $3, $6, $10}' > "$dir/found"
	# to slot 9, in which the last job arrives
	[ "$(wc -l < "$dir/found")" = 9 ]
	diff <(head -n 9 "$dir/expected") "$dir/found"
}

@test "which pictures: one scenario, several policies, sweeps" {
	run_sim 0 plot --no-png -o "$dir/out" "$dir/s.json" "$dir/r.json"
	[ "${lines[0]}" = "$dir/out/policies.gp" ]
	ls "$dir/out/gantt-1.gp" "$dir/out/gantt-3.gp" "$dir/out/prices.gp"
	run -1 grep -e fifo -e srtf "$dir/out/prices.gp"
	jq '.jobs |= .[:2]' "$dir/s.json" > "$dir/s2.json"
	jq '.jobs |= .[:1] | .servers |= [.[0], {name: "e2", capacity: {gpu: 1}}]' "$dir/s.json" > "$dir/s3.json"
	"$sim" run --json -o "$dir/r2.json" "$dir/s2.json"
	"$sim" run --json -o "$dir/r3.json" "$dir/s3.json"
	run_sim 0 plot --no-png -o "$dir/sweep" "$dir/s.json" "$dir/r.json" "$dir/s2.json" "$dir/r2.json" "$dir/s3.json" "$dir/r3.json"
	[ "${#lines[@]}" = 3 ]
	# dps: 1 edge server with 2 and 3 jobs; 2 with one job; then fifo
	[ "$(block 0 "$dir/sweep/welfare-jobs.dat" | cut -d' ' -f1 | paste -sd' ')" = "2 3" ]
	[ "$(block 1 "$dir/sweep/welfare-jobs.dat" | cut -d' ' -f1 | paste -sd' ')" = "1" ]
	[ "$(block 0 "$dir/sweep/welfare-jobs.dat" | awk '$1 == 3 {print $2}')" = "$(jq .totals.welfare "$dir/dps.json")" ]
	run_sim 1 plot -k gantt -o "$dir/sweep" "$dir/s.json" "$dir/r.json" "$dir/s2.json" "$dir/r2.json"
	[[ $stderr == *"--kind: gantt: expected one scenario" ]]
}

@test "pictures, also of names that are code elsewhere" {
	type -P gnuplot || skip "no gnuplot"
	local evil='`touch a`$(touch b)'\''; system("touch c") # %s%n "{x}" \\'$'\n''!touch d'$'\n' k

	jq --arg n "$evil" '.name = $n | .jobs[0].id = $n | .servers[0].name = "e'\''`touch e`%s%n\"{\\" |
		.worker_types[0].tres["gpu:'\''%d`touch f`"] = 1 | .servers[].capacity["gpu:'\''%d`touch f`"] = 8' "$dir/s.json" > "$dir/evil.json"
	"$sim" run -p dps --json "$dir/evil.json" | jq --arg n "$evil" '.policy += "," + $n' > "$dir/evil-r.json"
	"$sim" run -p dps --json -o "$dir/evil-r2.json" "$dir/evil.json"
	cd "$dir"
	LC_ALL=C run_sim 0 plot -o out evil.json evil-r.json evil-r2.json
	[ -z "$stderr" ] || { echo "$stderr"; false; }
	for k in policies utilisation prices-1 prices-2 gantt-1 gantt-2 payments; do
		[ "$(head -c 8 "out/$k.png" | od -An -tx1)" = ' 89 50 4e 47 0d 0a 1a 0a' ]
	done
	[ "$(find . -name '?')" = . ]
	for eta in 1 1.3 1e6; do # axes of any prices
		jq --argjson eta "$eta" '.prices.eta = {gpu: $eta}' s.json > eta.json
		"$sim" run --json -o eta-r.json eta.json
		run_sim 0 plot -o out -k prices eta.json eta-r.json
		[ -z "$stderr" ]
	done
	jq '.jobs[0].utility.scale = 9e8 | .jobs += [range(40) as $i | .jobs[1] | .id = "x\($i)"]' s.json > wide.json
	"$sim" run --json -o wide-r.json wide.json
	run_sim 0 plot -o out -k payments wide.json wide-r.json
	[ -z "$stderr" ]
	grep -q "log10(1 + x)" out/payments.gp
	run_sim 0 plot -o out -f svg -k gantt --size 400x300 s.json dps.json
	grep -q 'width="400" height="300"' out/gantt.svg
	run_sim 0 plot -o out -f text -k gantt s.json dps.json
	[[ $output == *"small: dps"* ]]
}

@test "without gnuplot: scripts and data, and what to do with them" {
	mkdir "$dir/bin"
	find /usr/bin /bin -maxdepth 1 ! -name 'gnuplot*' -exec ln -sft "$dir/bin" {} +
	sim=$(type -P "$sim")
	PATH=$dir/bin run_sim 0 plot -o "$dir/out" "$dir/s.json" "$dir/dps.json"
	[[ $stderr == *"gnuplot is not installed: scripts and data are in $dir/out"* ]]
	[[ ${lines[0]} == *utilisation.gp ]]
}

@test "results that cannot be of the scenario are refused" {
	refused '.scenario = "other"' '$.scenario: expected "small", the name of the scenario before it, found "other"'
	refused '.jobs[0].plan[0].workers = {"e1": 6}' 'job a: '
	refused '.jobs[0].plan[0].workers = {"e9": 1}' "\$.jobs[0].plan[0].workers.e9: expected a server of the scenario, found 'e9'"
	refused '.jobs[0].plan[0].to = 21' 'expected slots in order from 2 to 20'
	refused '.jobs[0].plan[0].from = 1' 'expected slots in order from 2 to 20'
	refused '.jobs[0].plan += .jobs[0].plan' 'expected slots in order from'
	refused '.jobs[0].start = 1' 'expected start and completion to be those of the plan'
	refused '.jobs[0].worker_type = "x"' 'expected a worker type of the scenario'
	refused '.jobs[0].ps_type = "w"' 'expected a PS type of the scenario'
	refused '.jobs[1].id = "a"' 'job a: expected once, found twice'
	refused '.jobs[1].id = "x"' 'job x: expected one of the scenario'
	refused 'del(.jobs[1])' 'job b: expected once, found nowhere'
	refused '.jobs[2].reason = "tired"' "found 'tired'"
	refused '.jobs[0].value = -1' '$.jobs[0].value: expected a number from 0'
	refused '.colour = 1' '$.colour'
	run_sim 1 plot -o "$dir/bad" "$dir/dps.json" "$dir/s.json"
	[[ $stderr == *'expected a scenario (auction-scenario/1) before its results' ]]
	run_sim 1 plot -o "$dir/bad" "$dir/s.json"
	[[ $stderr == *'expected a result of this scenario after it' ]]
	[ ! -e "$dir/bad/gantt.gp" ]
}

@test "usage: exit code 2" {
	run_sim 2 plot
	run_sim 2 plot --format=jpeg "$dir/s.json" "$dir/dps.json"
	run_sim 2 plot --size=12 "$dir/s.json" "$dir/dps.json"
	run_sim 2 plot --size=100000x100 "$dir/s.json" "$dir/dps.json"
	run_sim 2 plot --kind=pie "$dir/s.json" "$dir/dps.json"
	run_sim 2 plot --nodes=0 "$dir/s.json" "$dir/dps.json"
	run_sim 0 plot --help
	[[ $output == *welfare-servers* ]]
}
