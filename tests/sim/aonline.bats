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
