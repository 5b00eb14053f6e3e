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
	! cmp -s "$dir/g1.json" "$dir/g2.json"
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
	for p in $("$sim" policies | awk '{print $1}') dps,variant=paper fifo,reading=reserving drf,history=asked; do
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
	[[ $stderr == *"expected variant=exact|paper"* ]]
	with 'del(.jobs[0].epochs)'
	run_sim 1 run "$dir/with.json"
	[[ $stderr == *'$.jobs[0]: expected the key epochs, found none' ]]
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
