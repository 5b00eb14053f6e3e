#!/usr/bin/env bats
# The setting of the preemptive A_online, its variants and its baselines. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	cd "$BATS_TEST_TMPDIR" || return
}

@test "the setting is that of the paper, and equal seeds give equal bytes" {
	"$sim" gen aonline -s 5 -o s.json
	"$sim" gen aonline -s 5 | cmp - s.json
	"$sim" gen aonline -s 6 -o other.json
	run -1 cmp -s s.json other.json
	jq -e '(.servers | length) == 101 and (.jobs | length) == 300 and .slot_seconds == 3600 and (.worker_types | length) == 8' s.json
	jq -e '[.servers[] | select(.site == "cloud")] | length == 1' s.json
	jq -e '[.jobs[] | (.chunks == 27 or .chunks == 115 or .chunks == 60) and .minibatches == 58 and .epochs >= 20 and .epochs <= 60 and
		.gradient_mb >= 30 and .gradient_mb <= 575 and .arrival >= 1 and .arrival <= 200 and (has("utility") | not) and
		.upload_slots.cloud >= 10 and .upload_slots.cloud <= 15 and .upload_slots.edge1 >= 1 and .upload_slots.edge1 <= 4] | all' s.json
	run -1 "$sim" gen aonline foo=1
	[[ $output == *"'foo=1' is no parameter of aonline"* ]]
	run -1 "$sim" gen aonline storage=5:1
	[[ $output == *"storage: '5:1', expected"* ]]
}

@test "all variants and baselines complete all jobs and stand the check; the guard is no worse than one site alone" {
	"$sim" gen aonline -s 3 servers=15 jobs=40 worker_slots=0.0001:0.005 -o s.json
	"$sim" run -p aonline -p aonline,variant=paper -p aonline,site=edge -p aonline,site=cloud -p aonline,guard=none,site=edge -p srtf -p tiresias-l \
		-p batchsche --json s.json > result.json
	run -0 "$sim" check s.json result.json
	[ -z "$output" ]
	jq -e 'map(.totals.completed == 40) | all' result.json
	jq -e 'map({(.policy): .totals.mean_jct_slots}) | add | .aonline <= .["aonline,site=edge"] and .aonline <= .["aonline,site=cloud"] and
		.aonline <= .["aonline,variant=paper"]' result.json
	# edge only, cloud only; with the guard a job is all at the edge or all in the cloud
	jq -e 'map({(.policy): [.jobs[].chunks | if . then map(.server == "cloud") | unique else [] end]}) | add |
		(.["aonline,site=edge"] | all(. == [false])) and (.["aonline,site=cloud"] | all(. == [true])) and
		(.aonline | all(length == 1)) and (.["aonline,variant=paper"] | any(length == 2)) and (.srtf | all(. == []))' result.json
}

@test "chunks stay on their worker; what is moved, or trained by two at once, is noticed" {
	"$sim" gen aonline -s 4 servers=6 jobs=30 worker_types=2 worker_slots=0.0001:0.005 -o s.json
	"$sim" run -p aonline,variant=paper,site=edge --json s.json > result.json
	"$sim" check s.json result.json
	jq -e '.totals.preemptions > 0 and ([.jobs[].chunks[] | select(.runs | length > 1)] | length > 0)' result.json
	jq '(.jobs[0].chunks[0].server) |= if . == "edge1" then "edge2" else "edge1" end' result.json > moved.json
	run -1 "$sim" check s.json moved.json
	jq '.jobs[0].chunks[1] = .jobs[0].chunks[0]' result.json > twice.json
	run -1 "$sim" check s.json twice.json
	jq '.jobs[0].chunks[0].runs[0][0] -= 1' result.json > early.json
	run -1 "$sim" check s.json early.json
}

@test "in a small cloud a chunk that was stopped keeps its number beside those that train" {
	jq -n 'def job($id; $arrival; $chunks; $slots; $ps; $ready): {id: $id, arrival: $arrival, chunks: $chunks, epochs: $slots, minibatches: 1,
			gradient_mb: 0, worker_seconds: {w: 1}, ps_seconds: {($ps): 0}, upload_slots: {c: $ready}};
		{format: "auction-scenario/1", name: "small", slots: 16, slot_seconds: 1,
		worker_types: [{name: "w", tres: {gpu: 0.4}, bandwidth_mbps: 1}],
		ps_types: [{name: "half", tres: {cpu: 0.5}, bandwidth_mbps: 1}, {name: "one", tres: {cpu: 1}, bandwidth_mbps: 1}],
		servers: [{name: "c", site: "cloud", capacity: {cpu: 2, gpu: 3}}],
		jobs: [job("a"; 5; 1; 4; "one"; 0), job("b"; 8; 1; 1; "one"; 0), job("c"; 8; 3; 1; "half"; 5), job("d"; 4; 2; 6; "one"; 2),
			job("e"; 4; 2; 4; "one"; 4), job("f"; 7; 1; 1; "one"; 5), job("g"; 8; 3; 1; "half"; 5)]}' > s.json
	"$sim" run -p aonline --json -o result.json s.json
	"$sim" check s.json result.json
	# seven fit
	jq -e '([.jobs[].chunks[].worker] | max) >= 7 and .totals.preemptions > 0' result.json
	jq '.jobs[0].chunks[0].worker = 13' result.json > beyond.json
	run -1 "$sim" check s.json beyond.json
	[[ $output == *"expected a worker of c, 0 to 12, found 13"* ]]
}

# made FILTER: what jobs a and b of turns.json do instead. run(JOB; RUNS): its only chunk is trained in these slots
made()
{
	jq 'def run($i; $runs): .jobs[$i] |= (.chunks[0].runs = $runs | .start = $runs[0][0] | .completion = $runs[-1][1] + 1 |
			.plan = [$runs[] | {from: .[0], to: .[1], workers: {e1: 1}, ps: {e1: 1}}]);
		'"$1"' | .totals.preemptions = ([.jobs[].chunks[].runs | length - 1 | select(. > 0)] | add // 0) |
		.totals.completed = ([.jobs[].completion | select(.)] | length) |
		.totals.mean_jct_slots = ([.jobs[] | select(.completion) | .completion - {a: 1, b: 2}[.id]] | add / length)' turns.json > made.json
}

@test "who waits longer than it has to, and a PS that is not where it belongs, is noticed" {
	# a takes four slots from 1 on, b two from 2 on, both on the one worker
	jq -n '{epochs: 1, chunks: 1, gradient_mb: 0, worker_seconds: {w: 1}, ps_seconds: {p: 0}} as $job |
		{format: "auction-scenario/1", name: "turns", slots: 9, slot_seconds: 1,
		worker_types: [{name: "w", tres: {gpu: 1}, bandwidth_mbps: 1}], ps_types: [{name: "p", tres: {cpu: 1}, bandwidth_mbps: 1}],
		servers: [{name: "e1", capacity: {gpu: 1, cpu: 1}}, {name: "e2", roles: ["ps"], capacity: {cpu: 2}}],
		jobs: [$job + {id: "a", arrival: 1, minibatches: 4}, $job + {id: "b", arrival: 2, minibatches: 2}]}' > s.json
	"$sim" run -p aonline --json -o turns.json s.json
	made 'run(0; [[1, 1], [4, 6]]) | run(1; [[2, 3]])'
	diff <(jq -S 'del(.timing)' turns.json) <(jq -S 'del(.timing)' made.json)
	run -0 "$sim" check s.json made.json
	for wrong in '1 a: run(0; [[2, 2], [5, 7]]) | run(1; [[3, 4]])' '2 b: run(0; [[1, 4]]) | run(1; [[5, 6]])' \
			'2 b: run(0; [[1, 2], [5, 6]]) | run(1; [[3, 4]])' '4 a: run(0; [[1, 1], [5, 7]])' \
			'2 b: run(0; [[1, 4]]) | .jobs[1] |= {id, accepted, value, payment, payoff, plan: [], transfers: [], chunks} |
				.jobs[1].chunks[0].runs = []'; do
		made "${wrong#*: }"
		run -1 "$sim" check s.json made.json
		[[ $output == *"job ${wrong:2:1}: chunk 0: expected training on e1 in slot ${wrong:0:1}, where it is its turn"* ]]
	done
	# while it runs, and when it begins
	made '.jobs[0].plan |= [.[0], (.[1] | .to = 4), (.[1] | .from = 5 | .ps = {e2: 1})]'
	run -1 "$sim" check s.json made.json
	[[ $output == *"job a: expected the PS on e1 in slot 5, too, for nobody who goes first has taken its place, found e2"* ]]
	made '.jobs[0].plan[1].ps = {e2: 1}'
	run -1 "$sim" check s.json made.json
	[[ $output == *"job a: expected the new PS of slot 4 on e1, the first server with room, found e2"* ]]
}

@test "no server stores more than it can; without a cloud a job waits its turn or is refused" {
	"$sim" gen aonline -s 5 servers=5 jobs=30 worker_types=2 worker_slots=0.0001:0.001 storage=100:200 -o s.json
	"$sim" run -p aonline -p aonline,guard=none --json s.json > result.json
	"$sim" check s.json result.json
	# seen from here, too: chunk_mb from the arrival to the end of the slot before the completion
	jq -e --slurpfile s s.json '($s[0].jobs | map({key: .id, value: .}) | from_entries) as $job
		| ($s[0].servers | map(select(.capacity.storage) | {key: .name, value: .capacity.storage}) | from_entries) as $room
		| map([.jobs[] | select(.chunks) | .completion as $done | $job[.id] as $j | .chunks[] | {server, mb: $j.chunk_mb, from: $j.arrival, done: $done}] as $stored
			| [$room | to_entries[] | .key as $n | .value as $most | range(1; 300) as $t
				| ([$stored[] | select(.server == $n and .from <= $t and $t < .done).mb] | add // 0) <= $most] | all) | all' result.json
	"$sim" gen aonline -s 5 servers=3 jobs=20 worker_types=2 worker_slots=0.0001:0.001 storage=100:150 cloud=no -o edge.json
	"$sim" run -p aonline --json edge.json > result.json
	"$sim" check edge.json result.json
	jq -e '[.jobs[] | select(.accepted | not) | .reason] | length > 0 and all(. == "capacity")' result.json
}

@test "options that are none are refused" {
	"$sim" gen aonline servers=2 jobs=2 -o s.json
	for o in guard=x variant=x site=x speed=2; do
		run -1 "$sim" run -p "aonline,$o" s.json
		[[ $output == *"'$o' is no option, expected guard=job|none, variant=paper or site=any|edge|cloud"* ]]
	done
}
