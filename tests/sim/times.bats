#!/usr/bin/env bats
# Jobs that take other than they say, and bids that stand, in the simulator. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	cd "$BATS_TEST_TMPDIR" || return
}

# One node with one GPU at 1 credit a slot, ten slots of 100 s; JOBS: an array of [id, arrival, slots, true_time, deadline, more...].
market()
{
	jq -n --argjson jobs "$1" --argjson top "${2:-{\}}" '
		{format: "auction-scenario/1", name: "true", slots: 10, slot_seconds: 100, servers: [{name: "n0", capacity: {gpu: 1}}],
		prices: {mode: "given", values: [{server: "n0", tres: "gpu", from: 1, to: 10, price: 1}]}} + $top + {
		jobs: [$jobs[] | {id: .[0], arrival: .[1], utility: {form: "deadline", scale: (.[5].scale // 20), deadline: .[4]},
			gang: [{per_node: {gpu: 1}, nodes: 1, seconds: (100 * .[2])}]} +
			(if .[3] then {true_time: .[3]} else {} end) + ((.[5] // {}) | del(.scale))]}' > s.json
}

# Runs with the words, checks, and prints what came of the jobs.
realised()
{
	"$sim" run -p "${policy:-dps}" --json "$@" s.json > result.json
	run -0 "$sim" check s.json result.json
	[ -z "$output" ]
	jq -c '.jobs | map({(.id): (if .accepted then [.realised | .completion, .value, .payment] else .reason end)}) | add' result.json
}

@test "a job that is done before gives the rest back, for later jobs, too" {
	market '[["a", 1, 4, 0.5, 9], ["b", 3, 2, 1, 2], ["c", 2, 3, 1, 5]]'
	# c bought nothing: when it came, the node was sold until slot 4
	[ "$(realised --margin=1)" = '{"a":[3,20,2],"b":[5,20,2],"c":"payoff"}' ]
	jq -e '.totals | .realised_welfare == 40 and .realised_revenue == 4 and .killed == 0 and .welfare == 40 and .revenue == 6' result.json
	jq -e '.jobs[0].realised | keys == ["completion", "payment", "value"]' result.json
}

@test "a job that is late goes on while nobody else has bought its node, and pays for that" {
	market '[["a", 1, 3, 1.5, 9]]'
	[ "$(realised --margin=1)" = '{"a":[6,20,5]}' ]
	[ "$(realised --margin=1 --overrun=kill)" = '{"a":[null,0,3]}' ]
	jq -e '.totals.killed == 1 and .times == {overrun: "kill", margin: 1}' result.json
	# what somebody has bought is theirs
	market '[["a", 1, 3, 1.5, 9], ["b", 2, 2, 1, 4]]'
	[ "$(realised --margin=1)" = '{"a":[null,0,3],"b":[6,20,2]}' ]
	# what comes in the same slot comes after it, but may buy the next one
	market '[["a", 1, 3, 1.5, 9], ["b", 4, 2, 1, 4]]'
	[ "$(realised --margin=1)" = '{"a":[null,0,4],"b":[7,20,2]}' ]
}

@test "a job that is late moves where somebody has bought its node, or waits for one" {
	market '[["a", 1, 3, 1.5, 9], ["b", 2, 4, 1, 6]]'
	jq '.servers += [{name: "n1", capacity: {gpu: 1}}] | .prices.values += [{server: "n1", tres: "gpu", from: 1, to: 10, price: 7}]' s.json > t.json && mv t.json s.json
	[ "$(realised --margin=1)" = '{"a":[null,0,3],"b":[8,20,4]}' ]
	[ "$(realised --margin=1 --overrun=move)" = '{"a":[6,20,17],"b":[8,20,4]}' ]
	jq -e '.jobs[0].realised.moves == 1 and .times.overrun == "move" and .totals.killed == 0' result.json
	for change in '.jobs[0].realised.moves = 2' 'del(.jobs[0].realised.moves)' '.times.overrun = "extend"'; do
		jq "$change" result.json > other.json
		run -1 "$sim" check s.json other.json
		[[ $output == *"realised"* ]]
	done
	# where there is no other, it waits for its own
	market '[["a", 1, 3, 1.5, 9], ["b", 2, 2, 1, 4]]'
	[ "$(realised --margin=1 --overrun=move)" = '{"a":[8,20,5],"b":[6,20,2]}' ]
	jq -e '.jobs[0].realised | has("moves") | not' result.json
}

@test "a job that says how long it takes at most is planned for what is worth most" {
	# all that it may take, and the rest is given back
	market '[["a", 1, 4, 1, 9, {"time_max": 2}], ["b", 6, 2, 1, 2]]'
	[ "$(realised --margin=1)" = '{"a":[5,20,4],"b":[8,20,2]}' ]
	jq -e '.jobs[0] | .planned == 2 and .plan[0].to == 8' result.json
	# what has a deadline before that gets less; no margin of others counts
	market '[["a", 1, 4, 1, 6, {"time_max": 2}]]'
	[ "$(realised --margin=3)" = '{"a":[5,20,4]}' ]
	jq -e '.jobs[0] | .planned > 1 and .planned < 2 and .plan[0].to == 6' result.json
	market '[["a", 1, 4, 1, 4, {"time_max": 2}]]'
	[ "$(realised)" = '{"a":[5,20,4]}' ]
	jq -e '.jobs[0].planned == 1' result.json
	# and what cannot even have what it states is refused
	market '[["a", 1, 4, 1, 3, {"time_max": 2}]]'
	[ "$(realised)" = '{"a":"payoff"}' ]
	# another plan than one of those is found
	market '[["a", 1, 4, 1, 9, {"time_max": 2}]]'
	realised
	jq '.jobs[0].planned = 1.9' result.json > bad.json
	run -1 "$sim" check s.json bad.json
	[[ $output == *planned* ]]
	market '[["a", 1, 4, 1, 9, {"time_max": 0.9}]]'
	run -1 "$sim" run -p dps s.json
	[[ $output == *time_max* ]]
}

@test "what a late job pays is never above its worth; nothing runs after the last slot or for nothing" {
	market '[["a", 1, 3, 2, 9, {"scale": 4}]]'
	[ "$(realised --margin=1)" = '{"a":[7,4,4]}' ]
	market '[["a", 5, 3, 4, 9]]'
	[ "$(realised --margin=1)" = '{"a":[null,0,6]}' ]
	market '[["a", 1, 3, 2, 4]]'
	[ "$(realised --margin=1)" = '{"a":[null,0,4]}' ]
	# nor above what is left to its user, who gets back what was not used
	market '[["a", 1, 2, 2, 9, {"user": "u"}]]' '{"budgets": {"u": 3}}'
	[ "$(realised --margin=1)" = '{"a":[5,20,3]}' ]
	market '[["a", 1, 4, 0.5, 9, {"user": "u"}], ["b", 5, 2, 1, 9, {"user": "u"}]]' '{"budgets": {"u": 4}}'
	[ "$(realised --margin=1)" = '{"a":[3,20,2],"b":[7,20,2]}' ]
}

@test "a margin plans jobs for longer, and what they do not use costs nothing" {
	market '[["a", 1, 3, 1.5, 9]]'
	[ "$(realised --margin=1.5 --overrun=kill)" = '{"a":[6,20,5]}' ]
	market '[["a", 1, 3, 1, 9]]'
	[ "$(realised --margin=1.5)" = '{"a":[4,20,3]}' ]
	jq -e '.jobs[0] | .payment == 5 and .completion == 6' result.json
	for bad in 0 -1 x 1e9; do
		run -1 "$sim" run --margin=$bad s.json
		[[ $output == *"--margin"* ]]
	done
	run -1 "$sim" run --overrun=never s.json
	[[ $output == *"--overrun: 'never', expected extend, kill or move"* ]]
}

@test "what is learned is what jobs that have ended took" {
	# twelve that are all a half slower, one after the other on ten nodes each; then one that must not be late
	jq -n '{format: "auction-scenario/1", name: "learned", slots: 60, slot_seconds: 100,
		servers: [range(4) | {name: "n\(.)", capacity: {gpu: 1}}],
		jobs: [range(50) | {id: "j\(.)", arrival: (1 + .), user: "u\(. % 3)", true_time: 1.5, utility: {form: "constant", scale: 20},
			gang: [{per_node: {gpu: 1}, nodes: 1, seconds: 200}]}]}' > s.json
	policy=unpriced realised > made
	# planned for two at first, for three at last
	jq -e '[.jobs[] | select(.accepted) | .plan[0] | .to - .from + 1] | .[0] == 3 and .[-1] == 3' result.json
	jq '.jobs[].gang[0].seconds = 160' s.json > t.json
	"$sim" run -p unpriced --json t.json > r.json
	jq -e '[.jobs[] | select(.accepted) | .plan[0] | .to - .from + 1] | .[0] < .[-1] and .[-1] == 3' r.json
	# a day before teaches the first one, too
	"$sim" run -p unpriced --history=t.json --json t.json > r.json
	jq -e '.jobs[0].plan[0] | .to - .from + 1 == 3' r.json
}

@test "no decision depends on what a job that has not ended takes" {
	"$sim" gen dps servers=4 jobs=40 slots=40 spread=one cloud_workers=0 cloud_ps=0 worker_slots=0.001:0.02 --noise=lognormal:0.3 -s 5 -o a.json
	"$sim" run --json a.json > whole.json
	for k in 5 15 25 35; do
		# all that end behind slot k take something else
		jq --argjson k $k --slurpfile r whole.json '($r[0].jobs | map({(.id): (.realised.completion // 99)}) | add) as $done
			| .jobs |= map(if $done[.id] > $k then .true_time = 7 else . end)' a.json > b.json
		"$sim" run --json b.json > other.json
		jq -e --argjson k $k --slurpfile s a.json --slurpfile o other.json '($s[0].jobs | map({(.id): .arrival}) | add) as $came
			| [[., $o[0]] | .[] | [.jobs[] | select($came[.id] <= $k) | del(.realised)]] | .[0] == .[1] and (.[0] | length > 3)' whole.json
	done
}

# bats test_tags=nightly
@test "results of every policy that takes true times stand the check" {
	while read -r setting policies; do
		# shellcheck disable=SC2086
		"$sim" gen ${setting//,/ } -s 3 --noise=lognormal:0.3,stragglers:5%x3 -o s.json
		for policy in $policies; do
			for words in "" "--overrun=kill --margin=1" "--margin=1.3" "--margin=learned:0.5" "--overrun=move --margin=1"; do
				# shellcheck disable=SC2086
				"$sim" run -p "$policy" $words --json s.json > result.json
				run -0 "$sim" check s.json result.json
				[ -z "$output" ] || { echo "$setting $policy $words: $output"; return 1; }
				jq -e '.totals | has("realised_welfare") and has("realised_revenue") and has("killed")' result.json
			done
			jq -e '[.jobs[] | select(.accepted)] | length > 0' result.json
		done
	done <<'END'
dps,servers=8,jobs=60,slots=50,spread=one	dps unpriced fifo drf
gangs,servers=6,jobs=80,slots=60,budget=60	dps
gangs,servers=6,jobs=80,slots=60	dps unpriced fifo
oasis,servers=6,jobs=25,slots=40	oasis
eris,jobs=12	eris
posted,jobs=200,slots=300,load=1	posted
END
}

@test "changed ends are noticed" {
	market '[["a", 1, 3, 1.5, 9], ["b", 2, 2, 1, 12], ["c", 9, 4, 1, 9]]'
	"$sim" run --margin=1 --json s.json > result.json
	"$sim" check s.json result.json
	while IFS='	' read -r change message; do
		jq "$change" result.json > other.json
		echo "$change"
		run -1 "$sim" check s.json other.json
		[[ $output == *"$message"* ]] || { echo "$change: $output"; return 1; }
	done <<'END'
.jobs[0].realised.completion = 7	realised.completion: job a
.jobs[1].realised.completion = null	realised.completion: job b
.jobs[1].realised.value = 1	realised.value: job b
.jobs[1].realised.payment += 1	realised.payment: job b
del(.jobs[0].realised)	realised: job a: expected completion, value and payment
.jobs[2].realised = {completion: null, value: 0, payment: 0}	job c
.totals.realised_welfare += 1	totals.realised_welfare
.totals.realised_revenue += 1	totals.realised_revenue
.totals.killed += 1	totals.killed
del(.totals.killed)	expected realised_welfare, realised_revenue and killed
.times.margin = 2	slots, found
.times.margin = 2	slots, found
END
	jq 'del(.jobs[].true_time)' s.json > exact.json
	run -1 "$sim" check exact.json result.json
	[[ $output == *"realised: job a: expected none without true times"* ]]
	run -0 "$sim" run exact.json
	[[ $output != *KILLED* ]]
	run -0 "$sim" run s.json
	[[ $output == *REALISED*KILLED* ]]
}

@test "policies that take what jobs say for the truth refuse true times; the keys are checked" {
	"$sim" gen dps servers=3 jobs=4 slots=20 --noise=slower:5% -o s.json
	jq -e '[.jobs[].true_time] == [1.05, 1.05, 1.05, 1.05]' s.json
	for policy in aonline srtf offline; do
		run -1 "$sim" run -p $policy s.json
		[[ $output == *'$.jobs[].true_time: policy '$policy* ]]
	done
	while IFS='	' read -r change message; do
		jq "$change" s.json > bad.json
		run -1 "$sim" run bad.json
		[[ $output == *"$message"* ]] || { echo "$change: $output"; return 1; }
	done <<'END'
.jobs[0].true_time = 0	$.jobs[0].true_time: expected a number above 0
.jobs[0].true_time = "1"	$.jobs[0].true_time: expected a number
.jobs[0].stands = -1	$.jobs[0].stands: expected a whole number from 0
END
	run -1 "$sim" gen dps --noise=normal:1
	[[ $output == *"--noise: 'normal:1', expected lognormal"* ]]
	# the same jobs with and without
	"$sim" gen dps servers=3 jobs=4 slots=20 | jq -S . > plain
	jq -S 'del(.jobs[].true_time)' s.json | cmp - plain
}

@test "a bid that stands is accepted when there is room, by what it is worth since it came" {
	market '[["a", 1, 3, 0.5, 9, {"scale": 30}], ["b", 1, 3, 1, 5, {"stands": 6}]]'
	[ "$(realised --margin=1)" = '{"a":[3,30,2],"b":[6,20,3]}' ]
	jq -e '.jobs[1] | .decided == 3 and .start == 3' result.json
	jq -e '.jobs[0] | has("decided") | not' result.json
	# not after its time, nor for what came too late
	market '[["a", 1, 3, 0.5, 9, {"scale": 30}], ["b", 1, 3, 1, 5, {"stands": 1}]]'
	[ "$(realised --margin=1)" = '{"a":[3,30,2],"b":"payoff"}' ]
	market '[["a", 1, 3, 0.5, 9, {"scale": 30}], ["b", 1, 3, 1, 4, {"stands": 6}]]'
	[ "$(realised --margin=1)" = '{"a":[3,30,2],"b":"payoff"}' ]
	# before what arrives in that slot
	market '[["a", 1, 3, 0.5, 9], ["b", 1, 3, 1, 5, {"stands": 6}], ["c", 3, 3, 1, 3]]'
	[ "$(realised --margin=1)" = '{"a":[3,20,2],"b":[6,20,3],"c":"payoff"}' ]
}

@test "those that stand take turns by user" {
	# a leaves room for two slots: to the second bid of x only after the first one of y
	market '[["a", 1, 8, 0.25, 9], ["x1", 1, 3, 1, 5, {"stands": 6, "user": "x", "scale": 1}], ["x2", 1, 3, 1, 5, {"stands": 6, "user": "x"}],
		["y1", 2, 3, 1, 4, {"stands": 6, "user": "y"}]]'
	[ "$(realised --margin=1)" = '{"a":[3,20,2],"x1":"capacity","x2":"capacity","y1":[6,20,3]}' ]
}

@test "bids that stand pass the check under each policy that knows them, and are worth something" {
	while read -r setting policies; do
		# shellcheck disable=SC2086
		"$sim" gen ${setting//,/ } -s 4 --noise=lognormal:0.3 | jq '.jobs |= [to_entries[] | .value + {stands: (.key % 3 * 8), user: "u\(.key % 4)"}]' > s.json
		for policy in $policies; do
			"$sim" run -p "$policy" --json s.json > result.json
			run -0 "$sim" check s.json result.json
			[ -z "$output" ] || { echo "$setting $policy: $output"; return 1; }
			jq -e '[.jobs[] | select(.decided)] | length > 0' result.json || { echo "$setting $policy: none stood"; return 1; }
		done
	done <<'END'
dps,servers=6,jobs=300,slots=50,spread=one,cloud_workers=0,cloud_ps=0,epochs=1:5,chunks=2:10	dps unpriced
gangs,servers=3,jobs=120,slots=60	dps
oasis,servers=3,jobs=120,slots=60	oasis
END
	jq '.jobs[0].stands = 3' s.json > t.json
	for policy in fifo posted; do
		run -1 "$sim" run -p $policy t.json
		[[ $output == *"stands"* ]]
	done
	first='first(.jobs[] | select(.decided))'
	for change in 'decided = 1' 'decided += 30' 'start -= 1'; do
		jq "$first.$change" result.json > other.json
		run -1 "$sim" check s.json other.json
		[[ $output == *decided* || $output == *start* ]]
	done
	jq "(.jobs[] | select(.accepted | not)) += {decided: 7}" result.json > other.json
	run -1 "$sim" check s.json other.json
}

@test "results with true times and bids that stand can be drawn" {
	"$sim" gen gangs servers=3 jobs=120 slots=60 -s 4 --noise=lognormal:0.3 | jq '.jobs |= [to_entries[] | .value + {stands: (.key % 3 * 8)}]' > s.json
	"$sim" run --margin=1.2 --json s.json > result.json
	jq -e '.times and ([.jobs[] | select(.decided)] | length > 0)' result.json
	"$sim" plot --no-png -k gantt,prices -o pictures s.json result.json
	[ -s pictures/gantt.dat ]
}

@test "import: jobs say their limits, and take what they ran for" {
	printf 'node,gpus,gpu_type,cpus,mem_mb\nn1,8,v100,64,500000\n' > nodes
	printf 'job_id,submit_s,duration_s,gpus,limit_s\na,0,3600,1,14400\nb,600,7200,2,\nc,900,1800,1,1800\n' > log
	"$sim" import -n nodes -o s.json log as=gang times=stated slot_seconds=900
	jq -e '[.jobs[] | [.id, .gang[0].seconds, .true_time]] == [["a", 14400, 0.25], ["b", 7200, null], ["c", 1800, null]]' s.json
	"$sim" import -n nodes -o used.json log as=gang slot_seconds=900
	jq -e '[.jobs[] | [.id, .gang[0].seconds, .true_time]] == [["a", 3600, null], ["b", 7200, null], ["c", 1800, null]]' used.json
	printf 'JobID|Submit|Elapsed|Timelimit|TimelimitRaw|State|AllocTRES\n1|1700000000|01:00:00|04:00:00|240|COMPLETED|gres/gpu=1\n' > sacct
	printf '2|1700000000|01:00:00|UNLIMITED|UNLIMITED|COMPLETED|gres/gpu=1\n3|1700000000|01:00:00|1-00:00:00||COMPLETED|gres/gpu=1\n' >> sacct
	"$sim" import -n nodes sacct as=gang times=stated slot_seconds=900 -o s.json
	jq -e '[.jobs[] | .true_time] | map(. // 1 | . * 1e4 | round) == [2500, 10000, 417]' s.json
	"$sim" import -n nodes sacct times=stated slot_seconds=900 -o s.json
	jq -e '[.jobs[] | .true_time] | map(. // 1 | . * 1e4 | round) == [2500, 10000, 417]' s.json
	echo '{"jobs": [{"job_id": 7, "time": {"submission": 1700000000, "start": 1700000000, "end": 1700003600, "elapsed": 3600, "suspended": 0,
		"limit": {"set": true, "infinite": false, "number": 240}}, "state": {"current": ["COMPLETED"]},
		"tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 1}], "requested": []}, "partition": "p", "nodes": "n1", "name": "x"}]}' > json
	"$sim" import -n nodes json times=stated slot_seconds=900 -o s.json
	jq -e '.jobs[0].true_time == 0.25' s.json
}

@test "sold jobs that move keep the margin that they were sold with" {
	"$sim" gen dps servers=10 jobs=90 slots=60 spread=one epochs=5:15 -s 6 --noise=slower:20% -o s.json
	"$sim" run --prices=learned --margin=1.25 --json s.json > result.json 2> err
	grep 'times a sold job that waited moved' err
	run "$sim" check s.json result.json
	[ -z "$(grep -v 'payment\|payoff\|revenue' <<< "$output")" ]
	jq -e '.totals | .killed == 0 and .accepted > 5' result.json
}

# Two users, three jobs on a node for ten slots; b gets nothing.
@test "tables and results say how what was sold is spread over users" {
	market '[["a", 1, 4, null, 9, {"user": "u"}], ["b", 1, 8, null, 9, {"user": "v"}], ["c", 2, 2, null, 9, {"user": "u", "scale": 1}]]'
	"$sim" run -p dps --json s.json > result.json
	run -0 "$sim" check s.json result.json
	[ -z "$output" ]
	jq -e '.fairness | [.users, .users_with_nothing, .kept, .short_jobs, .short_accepted] == [2, 1, 16, 1, 0] and (.gini - 0.5 | fabs) < 1e-9' result.json
	run -0 "$sim" run -p dps s.json
	[[ $output == *"KEPT USERS NOTHING  GINI SHORT"*" 16.00     2       1 0.500   0/1"* ]]
	jq '.fairness.kept = 17' result.json > false.json
	run -1 "$sim" check s.json false.json
	[[ $output == *"fairness: expected kept 16 "* ]]
	# where jobs have no users, nothing is said of them
	market '[["a", 1, 4, null, 9]]'
	"$sim" run -p dps --json s.json > result.json
	jq -e 'has("fairness") | not' result.json
}

# Two nodes, of which one costs its owner 36 credits an hour: 1 a slot.
@test "nothing is sold below what it costs, wherever prices come from" {
	market '[["a", 1, 4, null, 9], ["b", 1, 4, null, 9], ["c", 1, 4, null, 9, {"scale": 3}]]'
	jq 'del(.prices) | .servers += [{name: "n1", capacity: {gpu: 1}, cost: {gpu: 36}}]' s.json > t.json && mv t.json s.json
	for prices in none published learned; do
		"$sim" run -p dps --prices=$prices --json s.json > result.json
		run -0 "$sim" check s.json result.json
		# a takes what is free; b pays what the other costs; c is not worth that, and comes too late for the first
		jq -e '.jobs | map(.accepted) == [true, true, false] or map(.accepted) == [true, true, true]' result.json
		jq -e '[.jobs[] | select(.accepted and .plan[0].nodes == ["n1"]) | .payment >= 4] | all' result.json
		jq -e '.totals.cost == ([.jobs[] | select(.accepted and .plan[0].nodes == ["n1"])] | length * 4)' result.json
	done
	jq '.servers[1].cost.gpu = 36000' s.json > t.json && mv t.json s.json
	"$sim" run -p dps --prices=none --json s.json > result.json
	jq -e '[.jobs[] | select(.accepted) | .plan[0].nodes[0]] | unique == ["n0"]' result.json
	"$sim" run -p posted --json s.json > result.json
	jq -e '[.jobs[] | select(.accepted) | .plan[0].nodes[0]] | unique == ["n0"]' result.json
	run -0 "$sim" run -p dps s.json
	[[ $output == *" COST"* ]]
	jq '.servers[1].cost.gpu = -1' s.json > t.json
	run -1 "$sim" run t.json
	[[ $output == *"servers[1].cost.gpu"* ]]
}

# Slots of 20 minutes from half past ten in the evening on; a unit costs 1 a slot, twice that from ten to eleven, half of it in the next hour.
@test "what a server costs its owner may depend on the hour of the day" {
	market '[["a", 1, 2, null, 9], ["b", 1, 2, null, 2], ["c", 6, 1, null, 1]]'
	jq 'del(.prices) | .hour = 22.5 | .slot_seconds = 1200 | .jobs[].gang[0].seconds *= 12 | .servers[0] += {cost: {gpu: 3},
		cost_hours: ([range(24)] | map(if . == 22 then 2 elif . == 23 then 0.5 else 1 end))}' s.json > t.json && mv t.json s.json
	for prices in none learned; do
		"$sim" run -p dps --prices=$prices --json s.json > result.json
		run -0 "$sim" check s.json result.json
		jq -e '.jobs | map([.start, .payment]) == [[3, 1], [1, 4], [6, 1]]' result.json
		jq -e '.totals.cost == 6' result.json
	done
	jq '.jobs[1].payment = 2 | .jobs[1].payoff = 18 | .totals.revenue = 4' result.json > other.json
	run -1 "$sim" check s.json other.json
	[[ $output == *payment* ]]
	jq '.hour = 21.5' s.json > day.json
	run -1 "$sim" run -p dps --prices=learned --history day.json s.json
	[[ $output == *'$.hour: expected 22.5, found 21.5'* ]]
	jq '.servers[0].cost_hours |= .[1:]' s.json > t.json
	run -1 "$sim" run t.json
	[[ $output == *'servers[0].cost_hours: expected an array of 24 factors'* ]]
	jq '.servers[0].cost_hours[5] = -1' s.json > t.json
	run -1 "$sim" run t.json
	[[ $output == *'servers[0].cost_hours[5]'* ]]
}
