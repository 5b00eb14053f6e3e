#!/usr/bin/env bats
# The command auctionsim with policy oasis and its setting. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	cd "$BATS_TEST_TMPDIR" || return
}

@test "schedules and payments stand the check, with learned, offline and given bounds, exact and as printed" {
	"$sim" gen oasis servers=8 ps_servers=8 slots=40 jobs=30 prices=learned -o learned.json
	"$sim" gen oasis servers=8 ps_servers=8 slots=40 jobs=30 -o offline.json
	jq '.prices = {mode: "bounds", lower: {cpu: 0.001, gpu: 0.01}, upper: {cpu: 10, gpu: 100},
		ps: {lower: {cpu: 0.002}, upper: {cpu: 5, net_mbps: 0.01}}}' offline.json > bounds.json
	for f in learned offline bounds; do
		"$sim" run -p oasis -p oasis,variant=paper --json $f.json > result.json
		run -0 "$sim" check $f.json result.json
		[ -z "$output" ]
		jq -e '.[0].totals.accepted > 3' result.json
	done
	# a payment that is not the price, a PS too few
	jq '(first(.jobs[] | select(.accepted)) | .payment) += 0.5' <<< "$(jq '.[0]' result.json)" > wrong.json
	run -1 "$sim" check bounds.json wrong.json
	[[ $output == *payment:* ]]
	jq '(first(.jobs[] | select(.accepted)) | .plan[0].ps | .[keys[0]]) += 1' <<< "$(jq '.[0]' result.json)" > wrong.json
	run -1 "$sim" check bounds.json wrong.json
	[[ $output == *"PSs for"* ]]
}

# small JOB: three slots of a second, one server, and the members that JOB has beside what a job needs
small()
{
	jq -n --argjson job "$1" '{format: "auction-scenario/1", name: "small", slots: 3, slot_seconds: 1,
		worker_types: [{name: "w", tres: {gpu: 1}, bandwidth_mbps: 1}],
		ps_types: [{name: "p0", tres: {cpu: 1}, bandwidth_mbps: 1}, {name: "p1", tres: {mem: 1}, bandwidth_mbps: 1}],
		servers: [{name: "s", capacity: {cpu: 2, gpu: 2, mem: 2}}],
		jobs: [{id: "j", arrival: 1, utility: {form: "constant", scale: 9}, epochs: 1, chunks: 1, minibatches: 1, gradient_mb: 0,
			worker_seconds: {w: 1}, ps_seconds: {p0: 0}} + $job]}'
}

# stands FILTER: what oasis makes of small.json by FILTER stands the check; its result is in result.json
stands()
{
	jq "$1" small.json > s.json
	"$sim" run -p oasis --json -o result.json s.json
	run -0 "$sim" check s.json result.json
	[ -z "$output" ]
	jq -e '.jobs[0].accepted' result.json
}

# pays AMOUNT FILTER: and pays so much
pays()
{
	stands "$2"
	jq -e ".jobs[0].payment - $1 | fabs < 1e-9" result.json
}

@test "prices of all jobs: of types that complete a job alike the scenario's first counts, then the job's own, whatever the order of its keys" {
	small '{"ps_types": [{"name": "own", "tres": {"gpu": 0.5}, "bandwidth_mbps": 1}]}' > small.json
	for keys in '{p0: 0, p1: 0, own: 0}' '{p1: 0, p0: 0}' '{own: 0, p1: 0}' '{own: 0, p1: 0, p0: 0}'; do
		stands ".jobs[0].ps_seconds = $keys"
	done
	small '{"worker_types": [{"name": "own", "tres": {"mem": 1}, "bandwidth_mbps": 1}]}' > small.json
	stands '.jobs[0].worker_seconds = {own: 1, w: 1}'
}

@test "mode bounds: of a TRES that a role names, all that stands above both roles is nothing to it" {
	small '{"ps_seconds": {"p1": 0}}' | jq '.worker_types[0].tres.mem = 1 |
		.servers = [{name: "s", roles: ["worker"], capacity: {gpu: 2, mem: 2}}, {name: "t", roles: ["ps"], capacity: {mem: 2}}] |
		.prices = {mode: "bounds", lower: {gpu: 0.1, mem: 0.01}, upper: {mem: 1}}' > small.json
	pays 0.12 .
	# no L, and so nothing until it is full; L alone, which is U, too
	pays 0.02 '.prices.worker = {lower: {}, upper: {gpu: 1}}'
	pays 3.11 '.prices.worker = {lower: {mem: 3}, upper: {}}'
	pays 0.11 '.prices.ps = {lower: {}, upper: {mem: 2}}'
}

@test "a type that takes 0 of what its server lacks costs nothing for it" {
	small '{}' | jq '.ps_types[0].tres.gpu = 0 |
		.servers = [{name: "s", roles: ["worker"], capacity: {gpu: 2}}, {name: "t", roles: ["ps"], capacity: {cpu: 2}}]' > small.json
	stands .
	pays 0.3 '.prices = {mode: "bounds", lower: {gpu: 0.1, cpu: 0.2}, upper: {gpu: 1, cpu: 1}}'
}

@test "amounts are counted in steps of 1e-9, what is free, taken and sold before" {
	small '{"chunks": 3}' | jq '.servers[0].capacity = {gpu: 2.9999999995, cpu: 9}' > small.json
	stands . # three of them fit
	jq -e '.jobs[0].plan[0].workers.s == 3' result.json
	stands '.servers[0].capacity.gpu = 9 | .worker_types[0].tres.gpu = 3.0000000003'
	jq -e '.jobs[0].plan[0].workers.s == 3' result.json
	stands '.servers[0].capacity.gpu = 4 | .state = [{server: "s", tres: "gpu", from: 1, to: 3, used: 1.0000000004}]'
	jq -e '.jobs[0].plan[0].workers.s == 3' result.json
	# not three, by a whole step
	stands '.servers[0].capacity.gpu = 2.999999999'
	jq -e '.jobs[0].plan[0].workers.s == 2' result.json
	jq '(.jobs[0].plan[0] | .workers.s, .ps.s) = 3 | .jobs[0].plan |= .[:1]' result.json > wrong.json
	run -1 "$sim" check s.json wrong.json
	[[ $output == *"expected gpu of server s within its capacity"* ]]
	jq '.servers[0].capacity.gpu = 2.999999999 | .state = [{server: "s", tres: "gpu", from: 1, to: 3, used: 1}] |
		.jobs[0].utility = {form: "deadline", scale: 9, deadline: 1} | .jobs += [.jobs[0] | .id = "k" | .utility = {form: "constant", scale: 3}]' \
		small.json > s.json
	"$sim" run -p dps --json -o result.json s.json
	"$sim" check s.json result.json
	# of what there is more than 4.5 million of, a step is larger
	stands '.servers[0].capacity.gpu = 9e6 | .worker_types[0].tres.gpu = 3000000.000000004'
	jq -e '.jobs[0].plan[0].workers.s == 3' result.json
}

@test "who is refused for capacity fits nowhere, who is refused for the payoff fits somewhere" {
	"$sim" gen oasis servers=4 ps_servers=4 slots=15 jobs=40 epochs=10:60 chunks=2:6 minibatches=20:60 bandwidth=1000:5000 -s 1 -o gen.json
	jq '.prices = {mode: "bounds", lower: {gpu: 0.5, cpu: 0.1}, upper: {gpu: 50, cpu: 10}}' gen.json > s.json
	"$sim" run -p oasis --json s.json > result.json
	run -0 "$sim" check s.json result.json
	jq -e '[.jobs[].reason | select(.)] | (index("capacity") and index("payoff"))' result.json
	jq '(.jobs[] | select(.reason == "payoff")) |= (.reason = "capacity" | del(.best_payoff))' result.json > wrong.json
	run -1 "$sim" check s.json wrong.json
	[[ $output == *"expected payoff, for "*" worker-slots of them fit, found capacity"* ]]
	jq '(.jobs[] | select(.reason == "capacity")) |= (.reason = "payoff" | .best_payoff = -1)' result.json > wrong.json
	run -1 "$sim" check s.json wrong.json
	[[ $output == *"expected capacity, for "*" worker-slots do not fit, found payoff"* ]]
	# with types that share what a server of both roles has
	jq '.servers[].roles = ["worker", "ps"]' s.json > both.json
	"$sim" run -p oasis --json both.json > result.json
	run -0 "$sim" check both.json result.json
	jq '(.jobs[] | select(.reason == "capacity")) |= (.reason = "payoff" | .best_payoff = -1)' result.json > wrong.json
	run -1 "$sim" check both.json wrong.json
	[[ $output == *"do not fit, found payoff"* ]]
}

@test "the baselines keep to its model" {
	"$sim" gen oasis servers=8 ps_servers=8 slots=40 jobs=40 -o s.json
	"$sim" run -p oasis-fifo -p oasis-drf -p rrh -p dorm --json s.json > result.json
	run -0 "$sim" check s.json result.json
	[ -z "$output" ]
	jq -e 'map(.totals.accepted > 5) | all' result.json
	jq '.[1] | (first(.jobs[] | select(.plan[0])) | .plan[0].workers | .[keys[0]]) += 1' result.json > wrong.json
	run -1 "$sim" check s.json wrong.json
	run -1 "$sim" run -p rrh,site=any s.json
	[[ $output == *"rrh: 'site=any' is no option, expected none"* ]]
}

@test "dorm by its integer program: what it lays out stands the check, and the program is said to have been solved" {
	for seed in 1 2 3; do
		"$sim" gen oasis servers=2 ps_servers=2 slots=15 jobs=6 epochs=20:50 chunks=2:6 minibatches=20:60 bandwidth=1000:5000 \
			arrival=1:6 target=1:4 -s $seed -o s.json
		run --separate-stderr "$sim" run -p dorm-milp,seconds=60 --json s.json
		[[ $stderr != *"needs GLPK"* ]] || skip "no GLPK"
		[ "$status" = 0 ]
		[[ $stderr == *" programs solved, 0 cut short with the best so far, 0 without one left to the rule;"* ]]
		echo "$output" > r.json
		run -0 "$sim" check s.json r.json
		[ -z "$output" ]
	done
	run -1 "$sim" run -p dorm-milp,unfair=2 s.json
	[[ $output == *"unfair"* ]]
}

@test "what cannot be is said" {
	"$sim" gen oasis servers=2 ps_servers=2 slots=20 jobs=3 bandwidth=6000 ps_bandwidth=5000 -o narrow.json
	[ "$("$sim" run -p oasis --json narrow.json | jq -c '[.jobs[].reason]')" = '["capacity","capacity","capacity"]' ]
	"$sim" gen oasis servers=2 ps_servers=2 slots=20 jobs=3 worker_slots=9 -o long.json
	[ "$("$sim" run -p oasis --json long.json | jq -c '[.jobs[].reason]')" = '["capacity","capacity","capacity"]' ]
	jq '.prices = {mode: "eta", eta: {cpu: 2}}' long.json > eta.json
	run -1 "$sim" run -p oasis eta.json
	[[ $output == *'$.prices.mode: expected "given", "bounds" or "learned" for policy oasis, found "eta"'* ]]
	jq '.prices = {mode: "bounds", lower: {cpu: 2}, upper: {cpu: 1}}' long.json > bounds.json
	run -1 "$sim" run -p oasis bounds.json
	[[ $output == *"expected at least the lower bound 2, found 1"* ]]
	run -1 "$sim" run -p oasis,variant=print long.json
	[[ $output == *"'variant=print' is no option, expected variant=exact|paper or bounds=on|off"* ]]
}

@test "the optimum: no policy has more, and a job alone gets what it can get" {
	for seed in 1 2 5 6; do
		"$sim" gen oasis servers=2 ps_servers=2 slots=6 jobs=4 epochs=10:30 chunks=2:8 minibatches=10:40 bandwidth=1000:5000 arrival=1:3 \
			target=1:4 -s $seed -o s.json
		run --separate-stderr "$sim" run -p offline-oasis,seconds=20 -p oasis -p oasis-drf --json s.json
		[[ $stderr != *"needs GLPK"* ]] || skip "no GLPK"
		[ "$status" = 0 ]
		echo "$output" > r.json
		run -0 "$sim" check s.json r.json
		[ -z "$output" ]
		jq -e 'map(.totals.welfare) | .[0] >= .[1] - 1e-6 and .[0] >= .[2] - 1e-6 and .[0] > 0' r.json
		# With one job all that is free is its own, and oasis is exact.
		jq '.jobs = [.jobs | max_by(.utility.scale)] | .prices = {mode: "given", values: []}' s.json > one.json
		"$sim" run -p offline-oasis -p oasis --json one.json > r.json
		jq -e 'map(.jobs[0].value // 0) | (.[0] - .[1] | fabs) < 1e-6' r.json
	done
	"$sim" run -p offline-oasis,keep=yes s.json
	grep -q '^Maximize' s.json.lp
	run -1 "$sim" run -p offline-oasis,columns=10 s.json
	[[ $output == *"tries at most 10"* ]]
}

@test "--prices learned: bounds that days of the past teach, whose jobs have types of their own" {
	"$sim" gen oasis servers=4 ps_servers=4 slots=40 jobs=180 -s 4 -o all.json
	for day in 0 1 2; do
		jq -c --argjson day $day '.jobs = .jobs[60 * $day:60 * ($day + 1)]' all.json > day$day.json
	done
	run -0 --separate-stderr "$sim" run -p oasis --json --prices=learned --history=day1.json --history=day2.json \
		--priced=priced.json -o r.json day0.json
	[[ $stderr == "auctionsim: oasis: learned prices: bounds times "*": the past would have been worth "* ]]
	"$sim" check priced.json r.json
	jq -e '.prices | .mode == "bounds" and (.worker.lower.gpu | . > 0) and (.ps.lower | has("gpu") | not) and (.ps.upper.cpu > 0)' priced.json
	"$sim" run -p oasis --json priced.json | jq 'del(.timing)' > again.json
	jq 'del(.timing)' r.json | cmp - again.json
	"$sim" run -p oasis --json --prices=none day0.json > free.json
	jq -e -s '.[0].totals.welfare > 1.5 * .[1].totals.welfare' r.json free.json
	# of all schedules none is worth more than the bound
	"$sim" bound --schedules oasis -n 3 --json day0.json > bound.json
	jq -e -s '.[0].totals.welfare <= .[1].bound' r.json bound.json
	# some 20 iterations go beyond the prices of the pool
	"$sim" bound --schedules oasis -n 30 --json day0.json > tight.json
	jq -e -s '.[0].totals.welfare <= .[1].bound and .[1].bound < 0.995 * .[2].bound' r.json tight.json bound.json

	# flat: L is U; of a single day
	run -0 --separate-stderr "$sim" run -p oasis --prices=flat --history=day1.json --priced=priced.json day0.json
	jq -e '.prices | .worker.lower == .worker.upper and .ps.lower == .ps.upper' priced.json

	# without a past: what the day's own jobs teach as they come
	run -0 --separate-stderr "$sim" run -p oasis --json --prices=learned --priced=priced.json -o r.json day0.json
	[ -z "$stderr" ]
	jq -e '.prices == {mode: "learned"}' priced.json
	"$sim" run -p oasis --json priced.json | jq 'del(.timing)' > again.json
	jq 'del(.timing)' r.json | cmp - again.json
	jq '.servers[0].capacity.cpu += 1' day1.json > other.json
	run -1 "$sim" run -p oasis --prices=learned --history=other.json day0.json
	[[ $output == *"--history: other.json: its servers, types, slots or budget are not those of day0.json: \$.servers[0].capacity.cpu: expected "*", found "* ]]
	# policies whose prices stand for classes of servers do not learn from such jobs
	run -1 "$sim" run -p dps --prices=learned --history=day1.json day0.json
	[[ $output == *'$.jobs[0]: has types of its own, from which nothing can be learned'* ]]
}
