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
	[[ $output == *"type w: expected bandwidth_mbps, found none" ]]
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
