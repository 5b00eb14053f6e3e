#!/usr/bin/env bats
# The command auctionsim with the setting of policy eris. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	cd "$BATS_TEST_TMPDIR" || return
}

# The reader takes FILE, and a policy that knows nothing of its keys runs it once it has those of its own.
takes()
{
	jq '.jobs[] |= (. + {minibatches: 1, worker_seconds: {w: 1}, ps_seconds: {p: 0}} |
		(.worker_types, .ps_types)[0].bandwidth_mbps = 1000)' "$1" > taken.json
	run -0 "$sim" run -p unpriced --json taken.json
	jq -e --slurpfile s "$1" '.totals.jobs == ($s[0].jobs | length)' <<< "$output"
}

@test "the paper's setting is the default" {
	"$sim" gen eris -s 3 -o s.json
	takes s.json
	run -1 "$sim" run -p unpriced s.json
	[[ $output == *"expected the key minibatches, found none" ]]
	jq -e '.slots == 150 and .slot_seconds == 1200 and .transfer_mb_per_slot == 20480' s.json
	jq -e '(.servers | length) == 50 and all(.servers[]; .capacity == {gpu: 4, cpu: 24, mem_gb: 32})' s.json
	jq -e '.prices == {mode: "eta", eta: {gpu: 1000, cpu: 1000, mem_gb: 1000, transfer: 1000}}' s.json
	jq -e '(.jobs | length) == 100 and all(.jobs[]; .arrival >= 1 and .arrival <= 150)' s.json
	jq -e 'all(.jobs[]; .chunks == ([.data_chunks[]] | add) and (.data_chunks | length) <= 10)' s.json
	jq -e 'all(.jobs[].utility; .form == "sigmoid" and .scale >= 3000 and .scale <= 6000 and .decay * 3 == 1)' s.json
	jq -e '([.jobs[].epochs] | unique) == [20, 30] and ([.jobs[].chunks] | unique) == [27, 115, 150]' s.json
	jq -e 'all(.jobs[]; .exchange_mb_per_slot == ([.gradient_mb * 20] | first | round / 10) and .chunk_mb == 2)' s.json
	jq -e '[.jobs[].data_chunks | keys[]] | unique | length == 50' s.json
	jq -e '[.jobs[] | (.worker_types, .ps_types)[0].tres] | all(.cpu >= 1 and .cpu <= 3 and .mem_gb >= 2 and .mem_gb <= 6)
		and (map(.gpu) | unique) == [null, 1]' s.json
	jq -e '([.jobs[].guaranteed] | unique) == [false, true]' s.json
}

@test "a seed gives the same bytes, another seed others" {
	"$sim" gen eris -s 5 > a.json
	"$sim" gen eris -s 5 -o b.json
	cmp a.json b.json
	"$sim" gen eris -s 6 -o b.json
	run ! cmp -s a.json b.json
}

@test "parameters, to their limits" {
	"$sim" gen eris servers=1 jobs=5 slots=1 chunks=1 data_sites=100000 worker_chunks=1 exchanges=0 transfer_mb=0 gpus=2 \
		epochs=7 model=4 patience=0.01 scale=1e6 sensitivity=1e3 opportunistic=1 prices=learned -o s.json
	takes s.json
	jq -e '.prices == {mode: "learned"} and all(.jobs[]; .data_chunks == {site1: 1} and .epochs == 7 and .gradient_mb == 283 and
		.exchange_mb_per_slot == 0 and .guaranteed == false and .arrival == 1 and .utility.scale == 1e9)' s.json
	"$sim" gen eris servers=3 data_sites=3 chunks=1000000 jobs=2 arrival=4:5 prices=offline -o s.json
	takes s.json
	jq -e 'has("prices") == false and all(.jobs[]; ([.data_chunks[]] | length == 3 and add == 1000000) and .arrival >= 4)' s.json
	"$sim" gen eris servers=100 data_sites=100 chunks=2 jobs=1 gamma=1e9 -o s.json
	takes s.json
	"$sim" gen eris jobs=0 -o s.json
	takes s.json
	for p in servers=0 servers=nan servers=1:2 jobs=-1 slots=0 slots=1e9 slot_seconds=0 transfer_mb=inf site_gpus=-1 chunks=-1 chunks=2e6 \
		chunks=9:3 chunks=1.5 data_sites=0 data_sites=: worker_chunks=0 epochs=0 model=7 model=0:1 patience=0 patience= \
		sensitivity=1001 opportunistic=1.1 gamma=0.5 gamma=2:3 gpus=1e300 workers=0x5 prices=given prices= arrival=2:1 seed; do
		run -1 "$sim" gen eris "$p"
		[ "${#lines[@]}" = 1 ]
		[[ $output == "auctionsim: "?(\')"${p%%=*}"* ]]
	done
}

# market [KEY=VALUE...]: 8 sites and 20 jobs in s.json.
market()
{
	"$sim" gen eris servers=8 jobs=20 slots=30 arrival=1:20 gamma=50 "$@" -s 4 -o s.json
}

@test "eris runs, as itself and as printed, and what it sold is checked" {
	market
	"$sim" run -p eris -p eris,variant=paper -p eris,effort=0 --json s.json > r.json
	"$sim" check s.json r.json
	jq -e 'all(.[]; .totals.accepted > 5)' r.json
	jq -e '[.[0].jobs[].transfers | select(. != null and length > 0)] | length > 0' r.json
	run -1 "$sim" run -p eris,effort=-1 s.json
	[[ $output == *"'effort=-1' is no option, expected variant=best, effort=0 to 1000 or exact=on|off" ]]
	for prices in prices=offline prices=learned transfer_mb=500; do
		market "$prices"
		"$sim" run -p eris --json s.json > r.json
		"$sim" check s.json r.json
	done
}

@test "prices with a floor, or given, also of what is sent" {
	market
	jq '.prices = {mode: "bounds", lower: {gpu: 10, cpu: 2, transfer: 0.01},
		upper: {gpu: 100, cpu: 20, transfer: 1}}' s.json > b.json
	"$sim" run -p eris --json b.json > r.json
	"$sim" check b.json r.json
	jq -e '[.jobs[] | select(.accepted) | .payment] | length > 0 and min > 0' r.json
	# what is sent has no role: the lower L and the higher U
	for role in worker ps; do
		jq ".prices.$role = {lower: {transfer: 5}, upper: {transfer: 50}}" b.json > role.json
		"$sim" run -p eris --json role.json > r.json
		"$sim" check role.json r.json
	done
	jq '.prices = {mode: "given", values: [{server: "*", tres: "transfer", from: 1, to: 30, price: 0.5}]}' s.json > g.json
	"$sim" run -p eris --json g.json > r.json
	"$sim" check g.json r.json
	jq -e '.totals.revenue > 0' r.json
}

@test "prices follow from the types that a job may use, traffic is paid by the byte, a layout is one run" {
	cat > s.json <<-'END'
		{"format": "auction-scenario/1", "name": "types", "slots": 6, "slot_seconds": 10,
		 "worker_types": [{"name": "w", "tres": {"gpu": 1}, "bandwidth_mbps": 100},
		                  {"name": "half", "tres": {"gpu": 0.5}, "bandwidth_mbps": 100}],
		 "ps_types": [{"name": "p", "tres": {"cpu": 1}, "bandwidth_mbps": 200}],
		 "servers": [{"name": "a", "roles": ["ps"], "capacity": {"cpu": 8}}, {"name": "b", "roles": ["worker"], "capacity": {"gpu": 4}}],
		 "jobs": [{"id": "j", "arrival": 1, "utility": {"form": "linear", "intercept": 100, "slope": 20}, "epochs": 1, "chunks": 7,
		           "chunks_per_slot": 1, "exchange_mb_per_slot": 3.2466667, "chunk_mb": 1, "data_chunks": {"b": 7},
		           "worker_seconds": {"w": 1}, "ps_seconds": {"p": 0.1}}]}
	END
	jq '.jobs += [.jobs[0] | .id = "k"] | .servers[1].capacity.gpu = 20' s.json > two.json # without prices: from all jobs; the second one pays
	"$sim" run -p eris --json two.json > r.json
	"$sim" check two.json r.json
	jq -e '.totals.revenue > 0' r.json

	jq '.transfer_mb_per_slot = 1000 | .prices = {mode: "given", values: [{server: "*", tres: "transfer", from: 1, to: 6, price: 0.1}]} |
		.jobs[0] |= (.chunks = 8 | .data_chunks.b = 8)' s.json > g.json
	"$sim" run -p eris --json g.json > r.json
	"$sim" check g.json r.json
	jq -e '.totals.revenue > 2' r.json

	jq '.jobs[0].plan |= ([.[] | select(.from < .to)][0] as $r | map(if . == $r then (.to = .from), (.from += 1) else . end))' r.json > split.json
	run -1 "$sim" check g.json split.json
	[[ $output == *"expected one run of slots with one layout, found another from 2"* ]]
}

@test "a budget of 0: nothing is sent, all that runs is at one site" {
	market transfer_mb=0 data_sites=1
	"$sim" run -p eris -p eris,variant=paper --json s.json > r.json
	"$sim" check s.json r.json
	jq -e '.[0] | .totals.accepted > 5 and all(.jobs[] | select(.accepted); .colocated and .transfers == [])' r.json
}

@test "a price of traffic may hold beyond the last slot" {
	market
	jq '.prices = {mode: "given", values: [{server: "*", tres: "transfer", from: 1, to: 100000, price: 0.5}]}' s.json > g.json
	run -0 "$sim" run -p eris --json -o r.json g.json
	"$sim" check g.json r.json
}

@test "jobs that cannot finish by the horizon are refused for capacity" {
	market chunks=5000 slots=3 arrival=2:3
	"$sim" run -p eris -p eris,variant=paper --json s.json > r.json
	"$sim" check s.json r.json
	jq -e 'all(.[].jobs[]; .accepted == false and .reason == "capacity")' r.json
}

# refuses CHANGE SENTENCE: eris refuses the scenario after jq's CHANGE.
refuses()
{
	jq "$1" s.json > bad.json
	run -1 "$sim" run -p eris bad.json
	[ "${#lines[@]}" = 1 ]
	# shellcheck disable=SC2053 # a pattern
	[[ $output == *$2 ]]
}

@test "bad input is refused with a sentence" {
	market
	refuses '.jobs[3].chunks += 1' "jobs?3?.data_chunks: expected "*" chunks in all, found "*
	refuses '.jobs[3].data_chunks.nowhere = 1' "jobs?3?.data_chunks.nowhere: expected "*
	refuses 'del(.jobs[3].data_chunks)' "jobs?3?: expected the key data_chunks, found none"
	refuses 'del(.jobs[3].chunks_per_slot)' "jobs?3?: expected the key chunks_per_slot, found none"
	refuses 'del(.jobs[3].exchange_mb_per_slot)' "jobs?3?: expected the key exchange_mb_per_slot, found none"
	refuses '.jobs[3].chunks_per_slot = 0' "chunks_per_slot: expected "*
	refuses '.transfer_mb_per_slot = -1' "transfer_mb_per_slot: expected "*
	refuses '.transfer_mb_per_slot = 1e12' "transfer: 1e+12 MB in a slot: expected 0 to 4e+09"
	refuses '.state = [{server: "*", tres: "transfer", from: 2, to: 2, used: 30000}]' \
		"slot 2: transfer: 30000 MB wanted, 20480 left"
	refuses '.jobs[3] += {exchange_mb_per_slot: 1e9, epochs: 1000000}' "expected a job that sends 1e12 MB at most"
	run -1 "$sim" run -p tiresias bad.json
	[[ $output == *"expected a job that sends 1e12 MB at most" ]]
}

@test "tiresias, antman and liquid keep to sites and budget, at every number of workers" {
	local p=(-p tiresias -p antman -p liquid)
	for n in 1 7 40; do
		p+=(-p "tiresias,workers=$n" -p "antman,workers=$n" -p "liquid,workers=$n")
	done
	for budget in 20480 500 0; do
		market transfer_mb=$budget jobs=60
		"$sim" run "${p[@]}" --json s.json > r.json
		"$sim" check s.json r.json
		jq -e 'all(.[]; .totals.accepted == 60 and .totals.revenue == 0)' r.json
	done
	# nothing can be sent: data of two sites wait for each other's slots
	jq -e 'all(.[]; all(.jobs[]; .transfers == []))' r.json
	market jobs=60
	"$sim" run "${p[@]}" --json s.json > r.json
	jq -e '.[0].totals.preemptions >= 0 and ([.[].totals.completed] | max > 40)' r.json
	jq -e '.[3].totals.welfare < .[9].totals.welfare' r.json # one worker, forty
	run -1 "$sim" run -p antman,workers=0 s.json
	[[ $output == *"antman: 'workers=0' is no option, expected workers=1 to 1000000" ]]
	run -1 "$sim" run -p liquid,workers=2x s.json
	[[ $output == *"liquid: 'workers=2x' is no option, expected workers=1 to 1000000" ]]
}

@test "--prices learned: constant ones, found on days of the past; none where they bring nothing" {
	for seed in 1 2 3; do
		"$sim" gen eris servers=5 jobs=60 slots=30 -s $seed -o day$seed.json
	done
	run -0 --separate-stderr "$sim" run -p eris --json --prices=learned --history=day1.json --history=day2.json \
		--priced=priced.json -o r.json day3.json
	[[ $stderr == "auctionsim: eris: learned prices: gpu "*", transfer "*": the past would have been worth "* ]]
	"$sim" check priced.json r.json
	jq -e '.prices | .mode == "bounds" and .lower == .upper and (.lower | keys) == ["cpu", "gpu", "mem_gb", "transfer"]' priced.json
	"$sim" run -p eris --json priced.json | jq 'del(.timing)' > again.json
	jq 'del(.timing)' r.json | cmp - again.json
	jq '.prices = {mode: "given", values: []}' day3.json > free.json
	"$sim" run -p eris --json free.json > free-result.json
	jq -e -s '.[0].totals.welfare > 2 * .[1].totals.welfare' r.json free-result.json

	# a market that has room for everybody
	"$sim" gen eris servers=20 jobs=3 slots=30 -s 1 -o quiet.json
	run -0 --separate-stderr "$sim" run -p eris --prices=learned --history=quiet.json --priced=priced.json quiet.json
	[[ $stderr == *"eris: no prices: "* ]]
	jq -e '.prices == {mode: "given", values: []}' priced.json

	run -1 "$sim" run -p eris --prices=learned day3.json
	[[ $output == *"--prices: learned of a policy of sites needs a past: --history FILE" ]]
	jq '.transfer_mb_per_slot = 5' day1.json > other.json
	run -1 "$sim" run -p eris --prices=learned --history=other.json day3.json
	[[ $output == *"--history: other.json: its servers, types, slots or budget are not those of day3.json: \$.transfer_mb_per_slot: expected "*", found 5" ]]
}
