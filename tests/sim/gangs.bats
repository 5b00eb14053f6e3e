#!/usr/bin/env bats
# Gangs and budgets in the simulator: read, decided, checked, drawn. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	cd "$BATS_TEST_TMPDIR" || return
}

# Six nodes on three switches; gangs of one to three nodes and jobs of workers and PSs in turn.
scenario()
{
	jq -n --argjson jobs "${1:-24}" '
		{format: "auction-scenario/1", name: "gangs", slots: 24, slot_seconds: 3600,
		worker_types: [{name: "w", tres: {"gpu:a100": 1, cpu: 4}, bandwidth_mbps: 1000}],
		ps_types: [{name: "p", tres: {cpu: 2}, bandwidth_mbps: 4000}],
		servers: [range(6) | {name: "n\(.)", switch: "leaf\(. / 2 | floor)", capacity: {"gpu:a100": 4, cpu: 32, mem: 256000}}],
		budgets: {alice: 40, bob: 5},
		jobs: [range($jobs) | {id: "j\(.)", arrival: (1 + . * 7 % 15), user: ["alice", "bob", "carol"][. % 3],
			utility: {form: "deadline", scale: (10 + . * 13 % 50), deadline: (2 + . * 5 % 9)}} +
			if . % 4 == 3 then {epochs: 3, chunks: 4, minibatches: 50, gradient_mb: 30, worker_seconds: {w: 20}, ps_seconds: {p: 0.05}}
			else {gang: ([{per_node: {"gpu:a100": (1 + . % 4), cpu: 6.5, mem: 64000}, nodes: (1 + . % 3), seconds: (1800 + . * 977 % 14000)}] +
					if . % 2 == 0 then [{per_node: {"gpu:a100": 1, cpu: 6.5}, nodes: (2 + . % 3), seconds: (1000 + . * 977 % 9000)}]
					else [] end)} + if . % 5 == 2 then {gang_within: "switch"} else {} end +
				if . % 7 == 4 then {upload_slots: {n0: 2, n1: 1.5}} else {} end
			end]}' > s.json
}

@test "policies that take gangs decide them beside other jobs, and stand the check" {
	scenario 48
	"$sim" run -p dps -p dps,bounds=off -p unpriced -p fifo -p fifo,reading=reserving --json s.json > result.json
	run -0 "$sim" check s.json result.json
	[ -z "$output" ]
	jq -e 'map([.jobs[] | select(.shape)] | length > 5) | all' result.json
	jq -e 'map([.jobs[] | select(.worker_type)] | length > 2) | all' result.json
	jq -e '.[0].jobs == .[1].jobs' result.json
	jq -e '[.[].jobs[] | select(.shape) | (has("worker_type") or has("colocated") | not) and (.plan | length == 1) and
		(.plan[0] | keys == ["from", "nodes", "to"])] | all' result.json
	# of two shapes sometimes the second
	jq -e '[.[0].jobs[].shape] | any(. == 1)' result.json
}

@test "the optimum is not below what policies find, and is their equal where there is room for all" {
	scenario 9
	jq '.slots = 12 | .jobs |= map(.arrival = (.arrival + 1) / 3 | .arrival |= floor | .arrival |= if . < 1 then 1 else . end)' s.json > small.json
	"$sim" run -p offline -p unpriced -p dps --json small.json > result.json || { [ "$("$sim" policies | grep -c '^offline')" -eq 0 ] && skip "no GLPK"; }
	run -0 "$sim" check small.json result.json
	[ -z "$output" ]
	jq -e 'map({(.policy): .totals.welfare}) | add | .offline >= .unpriced - 1e-6 and .offline >= .dps - 1e-6 and .offline > 0' result.json
}

@test "EASY backfill: what it does stands the check, and delays nobody that FIFO serves" {
	scenario 40
	jq 'del(.budgets) | .jobs |= map(select(.gang) | del(.gang_within, .upload_slots))' s.json > gangs.json
	"$sim" run -p easy -p easy,backfill=no -p dps --json gangs.json > result.json
	run -0 "$sim" check gangs.json result.json
	[ -z "$output" ]
	jq -e '.[0].totals.completed > 10 and .[0].totals.revenue == 0 and .[0].totals.completed >= .[1].totals.completed' result.json
	# some start before one that came earlier, none without backfill
	jq -e --slurpfile s gangs.json '($s[0].jobs | map({(.id): .arrival}) | add) as $a |
		map([.jobs[] | select(.start) | [$a[.id], .start]] | sort_by(.[0]) | [range(1; length) as $i | .[$i][1] < .[$i - 1][1]] | any) |
		.[0] and (.[1] | not)' result.json
	run -1 "$sim" run -p easy s.json
	[[ $output == *"which policy easy does not take"* || $output == *"policy easy"* ]]
	run -1 "$sim" run -p easy,backfill=maybe gangs.json
}

@test "a policy that does not take gangs, or budgets, says so and names the job" {
	scenario
	for policy in oasis drf aonline elastic offline-oasis; do
		run -1 "$sim" run -p "$policy" s.json
		[[ $output == *"job j0 is a gang, which policy $policy"* || $output == *"no policy"* ]]
	done
	jq 'del(.jobs[] | select(.gang)) | .jobs |= map(.user = "bob")' s.json > budgets.json
	run -1 "$sim" run -p oasis budgets.json
	[[ $output == *'$.budgets: policy oasis does not keep to budgets'* ]]
}

@test "a user pays no more than the budget; who cannot pay is refused for that" {
	scenario 48
	jq '.jobs |= map(.user = "bob") | .prices = {mode: "given", values: [.servers[].name | {server: ., tres: "gpu:a100", from: 1, to: 24, price: 1}]}' \
		s.json > one.json
	"$sim" run -p dps --json one.json > result.json
	run -0 "$sim" check one.json result.json
	[ -z "$output" ]
	jq -e '.totals.revenue <= 5 and .totals.revenue >= 1 and ([.jobs[] | select(.reason == "budget")] | length > 3)' result.json
	jq 'del(.budgets)' one.json > free.json
	"$sim" run -p dps --json free.json > rich.json
	jq -e '.totals.revenue > 5 and ([.jobs[] | select(.reason == "budget")] | length == 0)' rich.json
	# what one cannot pay is noticed
	run -1 "$sim" check one.json rich.json
	[[ $output == *"payment: job"*"that its user has left"* ]]
}

@test "results of gangs that are changed are noticed" {
	scenario
	"$sim" run -p dps --json s.json > result.json
	"$sim" check s.json result.json
	first='first(.jobs[] | select(.shape == 0 and (.plan[0].nodes | length) > 1))'
	while IFS='	' read -r change message; do
		jq "$first |= ($change)" result.json > other.json
		run -1 "$sim" check s.json other.json
		[[ $output == *"$message"* ]] || { echo "$change: $output"; return 1; }
	done <<'END'
.shape = 7	expected one of the gang's
.plan[0].nodes |= .[1:]	nodes, found
.plan[0].nodes[1] = .plan[0].nodes[0]	once
.plan[0].to += 1	slots, found
.plan[0].nodes[0] = "n9"	expected a server of the scenario, found 'n9'
del(.plan[0].nodes)	expected workers and ps, or nodes
.plan[0].workers = {n0: 1}	expected workers and ps, or nodes
.worker_type = "w"	expected no types and colocated of a gang
.payment += 1	payment: job
.value += 1	value: job
END
}

@test "all nodes on one switch, and data on them, or it is noticed" {
	scenario
	"$sim" run -p unpriced --json s.json > result.json
	"$sim" check s.json result.json
	ids=$(jq -c '[.jobs[] | select(.gang_within) | .id]' s.json)
	jq -e --argjson ids "$ids" '[.jobs[] | select(.accepted and (.id | IN($ids[]))) | .plan[0].nodes | map(.[1:] | tonumber / 2 | floor) | unique |
		length == 1] | length > 0 and all' result.json
	jq 'del(.servers[].switch)' s.json > none.json
	"$sim" run -p unpriced --json none.json > without.json
	"$sim" check none.json without.json
	jq -e --argjson ids "$ids" '[.jobs[] | select(.id | IN($ids[])) | .reason] | all(. == "capacity")' without.json
	run -1 "$sim" check none.json result.json
	[[ $output == *"expected all nodes on one switch"* ]]
}

@test "keys of gangs are checked" {
	scenario
	while IFS='	' read -r change message; do
		jq "$change" s.json > bad.json
		run -1 "$sim" run -p dps bad.json
		[[ $output == *"$message"* ]] || { echo "$change: $output"; return 1; }
	done <<'END'
.jobs[0].gang = []	$.jobs[0].gang: expected an array of 1 to 64 shapes
.jobs[0].gang[0].nodes = 0	$.jobs[0].gang[0].nodes: expected a whole number from 1
.jobs[0].gang[0].seconds = 0	$.jobs[0].gang[0].seconds: expected a number above 0
.jobs[0].gang[0].per_node = {cpu: 0}	$.jobs[0].gang[0].per_node: expected an amount above 0
.jobs[0].gang[0].per_nodes = {cpu: 1}	$.jobs[0].gang[0].per_nodes: 
.jobs[0].gang_within = "rack"	$.jobs[0].gang_within: expected "switch"
.jobs[0].epochs = 1	$.jobs[0].epochs: expected no such key in a job with gang
.jobs[3].gang_within = "switch"	$.jobs[3].gang_within: expected only in a job with gang
.budgets.alice = -1	$.budgets.alice: expected a number from 0
.servers[0].switch = ""	$.servers[0].switch: expected a name
END
}

@test "a scenario of gangs alone needs no types" {
	scenario
	jq 'del(.worker_types, .ps_types, (.jobs[] | select(.epochs)))' s.json > alone.json
	for policy in dps unpriced fifo; do
		"$sim" run -p $policy --json alone.json > result.json
		run -0 "$sim" check alone.json result.json
		[ -z "$output" ]
		jq -e '.totals.completed > 5' result.json
	done
}

@test "gen makes gangs; equal seeds give equal bytes" {
	"$sim" gen gangs -s 5 servers=20 jobs=120 budget=40 -o s.json
	"$sim" gen gangs -s 5 servers=20 jobs=120 budget=40 | cmp - s.json
	"$sim" gen gangs -s 6 servers=20 jobs=120 budget=40 -o other.json
	run -1 cmp -s s.json other.json
	jq -e '(.jobs | length == 120) and (.jobs | all(.gang | length > 0)) and (.budgets | length == 20) and ([.jobs[] | select(.gang_within)] | length > 0)' s.json
	"$sim" run -p dps -p unpriced -p fifo --json s.json > result.json
	run -0 "$sim" check s.json result.json
	[ -z "$output" ]
	jq -e '.[0].totals.accepted > 40' result.json
	run -1 "$sim" gen gangs nodes=0
	[[ $output == *"nodes: "* ]]
}

@test "gangs are drawn" {
	command -v gnuplot > /dev/null || skip "no gnuplot"
	scenario
	"$sim" run -p dps --json s.json > result.json
	for kind in gantt utilisation policies payments; do
		"$sim" plot -k $kind -f text s.json result.json > picture.txt
		[ -s picture.txt ]
	done

	jq '(.jobs[] | select(.shape) | .plan[0].nodes) |= ["n9"]' result.json > bad.json
	run -1 "$sim" plot -k gantt -f text -o pictures s.json bad.json
	[[ $output == *"expected a server of the scenario, found 'n9'"* ]]
}

@test "the bound of gangs is proven by other code, and nobody is above it" {
	scenario
	jq 'del(.budgets)' s.json > free.json
	"$sim" bound -n 60 -p dps -p unpriced -p fifo --prices proof.json --json free.json > bound.json
	jq -e '.policies | all(.share > 0.2 and .share <= 1)' bound.json
	run -0 "$sim" bound --verify proof.json free.json
	[[ $output == "verified bound "* ]]
	# gangs are searched anew: a proof that says less than they could gain does not lower the bound
	jq '[.jobs[].gang] as $gang | $gang' free.json > gangs.json
	jq --slurpfile gangs gangs.json '.payoffs |= [to_entries[] | if $gangs[0][.key] then .value / 2 else .value end]' proof.json > less.json
	run -0 "$sim" bound --verify less.json free.json
	[[ $output =~ "payoff is higher than the file says: "1[0-9]$ ]]
}

@test "prices learn from gangs" {
	for day in 1 2 3; do
		"$sim" gen gangs -s $day servers=10 jobs=150 slots=60 seconds=3600:60000 -o day$day.json
	done
	"$sim" run -p dps --prices learned --history day1.json --history day2.json --priced priced.json --no-rearrange --json day3.json > result.json
	"$sim" run -p dps --json day3.json > published.json
	jq -e --slurpfile p published.json '.totals.welfare > 1.2 * $p[0].totals.welfare' result.json
	run -0 "$sim" check priced.json result.json
	[ -z "$output" ]
	"$sim" run -p dps --prices flat --history day1.json --json day3.json > flat.json
	jq -e --slurpfile p published.json '.totals.welfare > $p[0].totals.welfare' flat.json
}

@test "import makes gangs of a log's jobs as they were" {
	logs=$(dirname "$BATS_TEST_FILENAME")/import
	for f in json txt; do
		"$sim" import -n "$logs/nodes-22.05.txt" "$logs/sacct-22.05.$f" slot_seconds=2 tail=0.1 as=gang 2> /dev/null |
			jq -S '.name = "log" | .jobs |= (map(select(.id != "8") | {id, arrival, utility: {form: "constant", scale: 1}, gang}) | sort_by(.id))' > $f.json
	done
	cmp json.json txt.json # but for what still ran
	jq -e '.jobs | all(has("gang") and (has("epochs") or has("worker_seconds") | not))' json.json
	# what ran, and for how long, is in the log
	jq -e '.jobs | map({(.id): .gang[0]}) | add | ."2".seconds == 7 and ."9".seconds == 20 and
		(."2".nodes * ([."2".per_node | to_entries[] | select(.key | startswith("gpu")) | .value] | add)) == 8' json.json
	"$sim" run -p dps -p fifo --json json.json > result.json
	run -0 "$sim" check json.json result.json
	[ -z "$output" ]
	jq -e '.[1].totals.completed == .[1].totals.jobs' result.json
}

@test "where prices are posted, too, nobody pays more than the budget" {
	"$sim" gen posted servers=10 slots=150 jobs=150 | jq '.jobs |= map(.user = "u") | .budgets = {u: 50}' > s.json
	"$sim" run -p posted --json s.json > result.json
	run -0 "$sim" check s.json result.json
	[ -z "$output" ]
	jq -e '.totals.revenue <= 50 and ([.jobs[] | select(.reason == "budget")] | length > 0)' result.json
}

@test "gangs at posted prices: placed where they are done first, offered one price, learned from" {
	"$sim" gen gangs servers=10 jobs=400 slots=100 -s 7 -o s.json
	for pricing in shared bandit random; do
		"$sim" run -p posted,pricing=$pricing --json s.json > result.json
		run -0 "$sim" check s.json result.json
		[ -z "$output" ]
		jq -e '[.jobs[] | select(.accepted)] | length > 20 and all(.offer[1] == 0 and (.payment - .offer[0] | fabs) < 1e-9 and .payment <= .value)' result.json
		jq -e '[.jobs[] | .reason] | any(. == "price")' result.json
	done
	# what is learned earns more than a price drawn at random
	"$sim" run -p posted -p posted,pricing=random --json s.json > both.json
	jq -e '.[0].totals.revenue > .[1].totals.revenue' both.json
	# the budget alone decides where there is one, and equal budgets and answers make equal offers
	jq '.jobs |= map(.budget = 2 * .utility.scale)' s.json > a.json
	jq '.jobs |= map(.budget = 2 * .utility.scale | .utility = {form: "constant", scale: 7})' s.json > b.json
	for f in a b; do
		"$sim" run -p posted --json $f.json > $f.result
		"$sim" check $f.json $f.result
	done
	cmp <(jq .jobs a.result) <(jq .jobs b.result)
	run -1 "$sim" run -p posted,fixed=1 s.json
	[[ $output == *"fixed: expected no gangs"* ]]
	jq 'first(.jobs[] | select(.accepted)).payment += 1' result.json > other.json
	run -1 "$sim" check s.json other.json
	[[ $output == *"payment: job"* ]]
	# users pay no more than they have
	"$sim" gen gangs servers=10 jobs=400 slots=100 budget=20 -s 7 -o s.json
	"$sim" run -p posted --json s.json > result.json
	run -0 "$sim" check s.json result.json
	[ -z "$output" ]
	jq -e '[.jobs[] | select(.reason == "budget")] | length > 0' result.json
}

@test "fractions of GPUs, types of 63 bytes, and names of TRES in any case" {
	scenario 24
	type=nvidia_h100_80gb_hbm3_mig_1g.10gb_and_some_more_letters_of_63.b
	jq --arg type "gpu:$type" '
		def named(f): with_entries(.key |= if . == "gpu:a100" then f else . end);
		.servers |= map(.capacity |= (named($type | ascii_upcase) + {shard: 4})) |
		.worker_types |= map(.tres |= named($type)) |
		.jobs |= map(if .gang then .gang |= map(.per_node |= (named($type) + {Shard: 0.5})) else . end)' s.json > long.json
	jq --arg type "gpu:$type" 'walk(if type == "object" then with_entries(.key |= ascii_downcase) else . end)' long.json > lower.json
	"$sim" run -p dps -p unpriced -p fifo --json long.json > result.json
	run -0 "$sim" check long.json result.json
	[ -z "$output" ]
	jq -e '.[0].totals.accepted > 3' result.json
	"$sim" run -p dps -p unpriced -p fifo --json lower.json > lower-result.json
	[ "$(jq -c 'map(.jobs)' result.json)" = "$(jq -c 'map(.jobs)' lower-result.json)" ]
	# What they take of the new TRES counts.
	jq -e '[.[1].jobs[] | select(.accepted and has("shape"))] | length > 3' result.json
	jq '.servers |= map(.capacity.shard = 0.25)' lower.json > scarce.json
	"$sim" run -p unpriced --json scarce.json > scarce-result.json
	run -0 "$sim" check scarce.json scarce-result.json
	jq -e '([.jobs[] | select(.accepted)] | length > 1) and all(.jobs[]; has("shape") | not)' scarce-result.json
}
