#!/usr/bin/env bats
# auctionsim import of logs as sites have them: what Slurm's tools print that no manual promises, records that are odd, and files of
# another format than the one that was meant. import/odd/ holds small ones of each kind. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	out=$BATS_TEST_TMPDIR/s.json
	export TZ=UTC
	cd "$BATS_TEST_DIRNAME/import/odd"
}

# import STATUS LOG NODES WORD...
import()
{
	local status=$1 log=$2 nodes=$3

	shift 3
	run "-$status" --separate-stderr "$sim" import -n "$nodes" "$log" -o "$out" slot_seconds=600 "$@"
}

# imported IDS LOG [NODES [WORD...]]: exactly these, and they can be sold
imported()
{
	local ids=$1 log=$2 nodes=${3:-nodes}

	shift 2
	[ $# = 0 ] || shift
	import 0 "$log" "$nodes" "$@"
	[ "$(jq -r '[.jobs[].id] | sort | join(" ")' "$out")" = "$ids" ] || { echo "$log: $(jq -c '[.jobs[].id]' "$out")"; echo "$stderr"; false; }
	[[ $stderr == *", $(wc -w <<< "$ids") imported"* ]]
	"$sim" run -p dps --json "$out" > "$BATS_TEST_TMPDIR/result"
	jq -e --argjson n "$(wc -w <<< "$ids")" '.totals.completed == $n' "$BATS_TEST_TMPDIR/result" || { echo "$log"; false; }
}

# says TEXT: in the report
says()
{
	[[ $stderr == *"$1"* ]] || { echo "no '$1' in: $stderr"; false; }
}

# refused LOG NODES SENTENCE: exit code 1, no scenario, and the sentence in the error
refused()
{
	rm -f "$out"
	import 1 "$1" "$2"
	[ ! -e "$out" ]
	[[ $(tail -n 1 <<< "$stderr") == "auctionsim: "*"$3"* ]] || { echo "$stderr"; false; }
}

@test "types are the same in capitals and small letters, in the nodes' spelling or that of auction.conf" {
	imported '1 2' capitals.sacct capitals.nodes
	jq -e '[.worker_types[].name] == ["A100"] and all(.servers[]; .capacity["gpu:A100"] == 4)' "$out"
	imported 1 capitals.json capitals.nodes
	printf '%s\n' PartitionName=long Prices=given Eta=gpu:a100=20,cpu=1,mem=1.01 'WorkerType=big TRES=gpu:a100=1,cpu=4,mem=500' \
		'PSType=ps TRES=cpu=1,mem=100' > "$BATS_TEST_TMPDIR/auction.conf"
	sed 's/gpu:a100:4$/gpu:A100:4/' capitals.nodes > "$BATS_TEST_TMPDIR/nodes"
	imported '1 2' capitals.sacct "$BATS_TEST_TMPDIR/nodes" -c "$BATS_TEST_TMPDIR/auction.conf"
	jq -e '.worker_types[0].tres["gpu:a100"] == 1 and all(.servers[]; .capacity["gpu:a100"] == 4)' "$out"
}

@test "names of jobs hold bars and ends of lines, as the last column and inside" {
	imported '1 2 3' bars.sacct
	imported '1 2 3' bars-inside.sacct
	imported '1 2' trailing-bar.sacct
	imported '1 2 3' lines.sacct
	says ' 2 lines that go on with a text, passed over'
	imported '1 2 4' lines-inside.sacct
	says ' 1 that cannot be read, skipped: 1 of unknown GPU time'
	says 'line 6, column 1: expected 6 fields as in the header, found 2'
}

@test "names of types as long as Slurm has them stay apart" {
	imported '1 2' long-type.sacct long-type.nodes
	jq -e '([.worker_types[].name] | unique | length) == 2 and all(.worker_types[].name; length < 80)' "$out"
	jq -e '[.servers[].capacity | keys[] | select(startswith("gpu:"))] | unique | length == 2' "$out"
}

@test "a node with more types than four" {
	imported '1 2 3 4 5 6 7 9' profiles.sacct profiles.nodes
	jq -e '.servers[0].capacity | ."gpu:h100_1g.10gb+me" == 2 and ."gpu:h100" == 1 and ."gpu:h100_7g.80gb" == 7' "$out"
}

@test "a job with GPUs of several types is skipped for that" {
	imported '1 4' two-types.sacct two-types.nodes
	says ' 2 with GPUs of several types at once, skipped: 5.0 GPU-hours; the first: 2'
	says ' 4.0 GPU-hours imported; 5.0 that cannot be, 56 % of all'
	imported 1 two-types.json two-types.nodes
	says ' 1 with GPUs of several types at once, skipped: 2.0 GPU-hours: job 2'
}

@test "equal ids of two clusters, ids that come again, requeues and records that are there twice" {
	imported '7 7_1 south:7 south:7_1' clusters.sacct
	imported '7 8 south:7' clusters.json
	imported '5 5#2 6 8' reused.sacct
	says ' 2 earlier or later runs of jobs that were requeued'
	jq -e '.jobs[] | select(.id == "8") | .epochs * .minibatches * (.worker_seconds.a100 + .ps_seconds.ps) | . > 3590 and . < 3610' "$out"
}

@test "one odd record is skipped and counted with its GPU time, and the first is named" {
	local log

	for log in one-*.sacct one-*.json; do
		imported '1 3' "$log"
		says ' 1 that cannot be read, skipped: '
		[[ $stderr == *"skipped: 2.0 GPU-hours: job "* || $stderr == *"skipped: 1 of unknown GPU time: job "* ]]
		[[ $stderr == *$'\n'"           $log: line 3, "* || $stderr == *$'\n'"           $log: \$.jobs[1]"* ]] || { echo "$stderr"; false; }
	done
	imported '1 3' one-minus.sacct
	says ' 2.0 GPU-hours: job 2'
	says "line 3, column 63: expected a time span as [days-]hours:min:s as Elapsed, found '-00:00:16'"
	imported '1 3' one-count.json
	says '$.jobs[1].tres.allocated[0].count: expected a number, or an object with set and number, found "2"'
	imported '1 3' one-submit0.json
	says '$.jobs[1].time: expected submission to be a time in seconds since 1970, found 0'
	imported '1 3' one-tres-null.json
	says '$.jobs[1].tres.'
	jq -c '.jobs[1].tres.allocated[0].count = null' one-count.json > "$BATS_TEST_TMPDIR/log"
	imported '1 3' "$BATS_TEST_TMPDIR/log"
	says ' 1 that cannot be read, skipped: 1 of unknown GPU time: job 2'
	says '$.jobs[1].tres.allocated[0]: expected count to be a number up to 1000000, found null'
	printf '%s\n' 'JobID|Submit|Start|End|State|AllocTRES' '1|2026-03-02T08:00:00|2026-03-02T09:00:00|2026-03-02T10:00:00|COMPLETED|gres/gpu=2' \
		'2|2026-03-02T08:00:00|2026-03-02T10:00:00|2026-03-02T09:59:59|COMPLETED|gres/gpu=2' > "$BATS_TEST_TMPDIR/log"
	imported 1 "$BATS_TEST_TMPDIR/log"
	says ' 1 that cannot be read, skipped: 1 of unknown GPU time: job 2'
	says "line 3, column 43: expected a time that is not before Start as End, found '2026-03-02T09:59:59'"
	jq -c '.jobs[1:2] as $odd | .jobs = $odd' one-count.json > "$BATS_TEST_TMPDIR/log"
	refused "$BATS_TEST_TMPDIR/log" nodes 'none imported: '
	[[ $stderr == *'$.jobs[0].tres.allocated[0].count: expected a number, or an object with set and number, found "2"' ]]
}

@test "byte order marks, headers that come again, two documents, CRLF, other encodings" {
	imported '1 2' mark.sacct
	imported '1 2 3' header-again.sacct
	imported '1 2' two-documents.json
	imported '1 2' crlf.sacct
	imported 1 latin1.sacct
	imported 1 latin1.json
	refused utf16.sacct nodes 'expected ASCII or UTF-8, found UTF-16: convert it with iconv'
	{ printf '\xEF\xBB\xBF'; cat nodes; } > "$BATS_TEST_TMPDIR/nodes"
	imported '1 2' crlf.sacct "$BATS_TEST_TMPDIR/nodes"
}

@test "jobs longer than the rest of the log: the slots are as many as they need, or the GPU time that is lost is told" {
	imported '1 2' long-jobs.sacct
	jq -e '.slots >= 6.5 * 144' "$out"
	import 0 long-jobs.sacct nodes slots=144
	says ' 1 longer than all slots, skipped: 312.0 GPU-hours: job 1'
	says ' 2.0 GPU-hours imported; 312.0 that cannot be, 99 % of all'
	import 0 endless.sacct nodes slot_seconds=300
	says ' 1 longer than all slots, skipped: 2880.0 GPU-hours: job 1'
	jq -e '.slots == 289' "$out"
	import 0 reused.sacct nodes slots=75
	says ' 1 taken that the slots end before'
}

@test "nodes that are down, drained or of the future are no servers; their types are known" {
	imported '1 3' down.sacct down.nodes
	jq -e '[.servers[].name] == ["n0", "n6", "n8"]' "$out"
	says ' 7 nodes that are down, drained or the like, skipped: 28 GPUs; the first: n1'
	says ' 1 for types of GPUs that no server has, skipped: 1.0 GPU-hours: job 2'
	refused down.sacct all-down.nodes 'expected a node that is up, found 2 that are down or drained, the first n1'
	imported '1 2 3' down.sacct one-odd.nodes
	says ' 4 nodes that cannot be read, skipped: 8 GPUs'
	says "one-odd.nodes: line 2, column 73: expected a number from 1 to 1000000000 after CPUTot=, found 'many'"
}

@test "no job imported is an error that says why" {
	refused no-gres.sacct nodes 'none has gres/gpu: Slurm accounts for GPUs only if AccountingStorageTRES of slurm.conf names gres/gpu'
	refused no-gres.json nodes 'AccountingStorageTRES'
	refused other-types.sacct nodes '2 for types of GPUs that no server has, skipped; the first: 1'
	refused empty.json nodes 'empty.json: no job in it'
	run -1 --separate-stderr "$sim" import -n nodes --from=2027-01-01 crlf.sacct
	[[ $stderr == *'none imported: 2 outside the window, skipped; the first: 1' ]]
}

@test "another format: the error names the option to use" {
	refused without-P.sacct nodes 'use sacct -P (--parsable2)'
	refused squeue.sacct nodes 'use sacct -P'
	refused delimiter.sacct nodes 'without --delimiter'
	refused without-header.sacct nodes 'use sacct without -n (--noheader)'
	refused without-columns.sacct nodes 'expected a column Submit in the header: name it in sacct --format (-o)'
	refused squeue.json nodes 'expected the output of sacct --json, found that of squeue or scontrol'
	refused nodes nodes 'or the output of sacct -P or sacct --json'
	refused crlf.sacct without-o.nodes 'use scontrol -o show node'
	refused crlf.sacct json.nodes 'use scontrol -o show node, without --json'
	printf '%s\n' 'NodeName=n[1-2] CPUs=32 RealMemory=128000 Gres=gpu:a100:4' 'PartitionName=long Nodes=ALL' > "$BATS_TEST_TMPDIR/slurm.conf"
	refused crlf.sacct "$BATS_TEST_TMPDIR/slurm.conf" 'use scontrol -o show node'
	refused crlf.sacct sinfo.nodes 'or the output of scontrol -o show node'
	refused crlf.sacct crlf.sacct 'or the output of scontrol -o show node'
}

# log LINE...: a log of sacct -P with these lines after the header
log()
{
	printf '%s\n' "$header" "$@" > "$BATS_TEST_TMPDIR/log"
}

header='JobID|Submit|Start|End|Elapsed|State|AllocTRES|Partition|NodeList|JobName'
rest='2025-05-01T10:00:00|2025-05-01T10:05:00|2025-05-01T12:05:00|02:00:00|COMPLETED|billing=8,cpu=8,gres/gpu:a100=1,gres/gpu=1,mem=16G,node=1|long'

@test "arrays, heterogeneous jobs, requeues and federations as sacct lists them" {
	local log=$BATS_TEST_TMPDIR/log

	log '12_[3-9%2]|2025-05-01T10:00:00|Unknown|Unknown|00:00:00|PENDING||long|None assigned|a' "12_1|$rest|n1|a" "12_2|$rest|n1|a"
	imported '12_1 12_2' "$log"
	says ' 1 that never started, skipped: job 12_[3-9%2]'
	log "12+0|$rest|n1|a" "12+0.batch|$rest|n1|batch" "12+1|$rest|n2|a" "13.extern|$rest|n1|extern"
	imported '12+0 12+1' "$log"
	says ' 2 lines of job steps, passed over'
	log "5|${rest/COMPLETED/NODE_FAIL}|n1|a" "5|${rest/T10:05/T13:05}|n1|a"
	imported 5 "$log"
	says ' 1 earlier or later run of a job that was requeued'
	log "67108865|${rest/02:00:00|COMPLETED/00:00:00|REVOKED}|n1|a" "134217729|$rest|n1|a"
	imported 134217729 "$log"
}

@test "what logs hold at their end, columns in any order, hosts in brackets, TRES of all units" {
	local log=$BATS_TEST_TMPDIR/log

	log "1|$rest|n1|a" "2|2025-05-01T10:00:00|2025-05-01T10:05:00|Unknown|1-00:00:00|RUNNING|gres/gpu=2,node=1|long|n2|a"
	imported '1 2' "$log"
	says ' 50.0 GPU-hours imported'
	says ' 1 taken that still ran, for as long as they had'
	log "1|${rest/16G/16384M}|n[1-2]|a" "2|${rest/16G/0.02T}|rack[1-2]n[1|a" "3|${rest/cpu=8/cpu=8,energy=18446744073709551614}|None assigned|" \
		"4|${rest/gpu:a100=1,gres\/gpu=1/gpu:a100=4,gres\/gpu=4}|n1|a"
	imported '1 2 3 4' "$log"
	says ' 14.0 GPU-hours imported'
	printf '%s\n' 'JobName|AllocTRES|ElapsedRaw|Submit|State|JobID' 'a|b|gres/gpu:a100=1|7200|1746093600|CANCELLED by 1000|1' > "$log"
	imported 1 "$log"
	says ' 2.0 GPU-hours imported'
}

@test "what is no output of sacct: the error says what it is, or which option there is" {
	local log=$BATS_TEST_TMPDIR/log

	log "1|${rest//2025-05-01T/05\/01\/25-}|n1|a"
	refused "$log" nodes 'expected a time as 2026-11-21T16:34:41 (sacct with SLURM_TIME_FORMAT=standard)'
	log
	refused "$log" nodes 'no job in it: sacct lists all users'"'"' jobs only with -a, and those before today only with -S'
	{ echo 'sacct: error: no answer'; cat "$log"; } > "$log.2"
	refused "$log.2" nodes 'without its warnings and errors (2>&1)'
	gzip -c nodes > "$log"
	refused "$log" nodes 'expected text, found data packed by gzip (zcat)'
	refused crlf.sacct "$log" 'expected text, found data packed by gzip (zcat)'
	printf '\xFD7zXZ\0' > "$log"
	refused "$log" nodes 'found data packed by xz (xzcat)'
	jq .jobs one-count.json > "$log"
	refused "$log" nodes 'expected the output of sacct --json whole'
	head -c 400 one-count.json > "$log"
	refused "$log" nodes 'found that of the file'
	refused crlf.sacct one-count.json 'use scontrol -o show node'
	: > "$log"
	refused "$log" nodes 'log: the file is empty'
	refused crlf.sacct "$log" 'log: the file is empty'
	printf '%s\n' '{"format": "auction-scenario/1", "name": "x", "jobs": []}' > "$log"
	refused "$log" nodes 'expected a log: auctionsim run reads scenarios, found '\''"auction-scenario/1"'
	echo 'slurm_load_node error: Unable to contact slurm controller' > "$log"
	refused crlf.sacct "$log" 'or the output of scontrol -o show node, found '"'slurm_load_node error"
}

@test "types of GPUs that no server has: which, and which there are" {
	local log=$BATS_TEST_TMPDIR/log nodes=$BATS_TEST_TMPDIR/nodes

	log "1|${rest/gpu:a100/gpu:a100_1g.5gb}|n1|a"
	refused "$log" nodes 'the first: 1: a100_1g.5gb, where servers have a100; types=any takes any type'
	imported 1 "$log" nodes types=any
	sed 's/gpu:a100:4/gpu:4/' nodes > "$nodes"
	refused "$log" "$nodes" 'a100_1g.5gb, where servers have no type'
	sed 's/gpu:a100:4(S:0-1)/(null)/' nodes > "$nodes"
	refused "$log" "$nodes" 'no server has GPUs: is Gres= in the list of nodes?'
}

@test "shares of GPUs, gres/shard and gres/mps, are parts of those of their node" {
	local few=$BATS_TEST_TMPDIR/nodes

	imported '1 2 3 4' shares.sacct shares.nodes
	says ' 1 without GPU, skipped: job 5'
	says ' 3.5 GPU-hours imported'
	jq -e '(.worker_types | map({(.name): .tres}) | add) as $t | .jobs | map({(.id): (.worker_seconds | keys)}) | add |
		. == {"1": ["a100@2/4"], "2": ["a100"], "3": ["h100@2/4"], "4": ["a100"]} and $t["a100@2/4"]["gpu:a100"] == 0.5' "$out"
	jq -Rn '[inputs | split("|")] | {jobs: (.[1:] | map({job_id: (.[0] | tonumber), name: .[9], partition: .[7], nodes: .[8],
		state: {current: .[5]}, time: {submission: 1772438400, start: 1772442000, end: 1772445600, elapsed: 3600},
		tres: {allocated: (.[6] | split(",") | map(split("=") | {count: (.[1] | sub("G"; "") | tonumber)} +
			(.[0] | split("/") | {type: .[0], name: (.[1] // "")})))}}))}' shares.sacct > "$BATS_TEST_TMPDIR/log"
	cp "$out" "$BATS_TEST_TMPDIR/first"
	imported '1 2 3 4' "$BATS_TEST_TMPDIR/log" shares.nodes
	cmp <(jq -S .jobs "$out") <(jq -S .jobs "$BATS_TEST_TMPDIR/first")
	sed 's/,mps:200//' shares.nodes > "$few"
	imported '1 2 4' shares.sacct "$few"
	says ' 1 with shares of GPUs where the nodes do not say how many a GPU has, skipped: 1 of unknown GPU time: job 3'
	{ head -n 1 shares.nodes; sed -n '1s/=n1/=n9/; 1s/shard:a100:16/shard:8/p' shares.nodes; } > "$few"
	imported '1 2' shares.sacct "$few"
	says ' 2 with shares of GPUs where the nodes do not say how many a GPU has, skipped: 2 of unknown GPU time; the first: 3'
	refused shares.sacct nodes ': 5 jobs read, none imported: 4 with shares of GPUs where the nodes do not say how many a GPU has'
}

@test "one is said as one" {
	import 0 capitals.sacct capitals.nodes
	log "1|$rest|n1|a"
	head -n 1 nodes > "$BATS_TEST_TMPDIR/nodes"
	import 0 "$BATS_TEST_TMPDIR/log" "$BATS_TEST_TMPDIR/nodes"
	says ': 1 job read, 1 imported'
	says ': 1 server taken, 4 GPUs; '
	{ head -n 1 nodes; sed -n 's/^NodeName=n1/NodeName=n9/; s/State=[A-Z]*/State=DOWN/p; q' nodes; } > "$BATS_TEST_TMPDIR/nodes"
	log "1|$rest|n1|a"$'\n'b "1.batch|$rest|n1|a" "5|${rest/COMPLETED/NODE_FAIL}|n1|a" "5|${rest/T10:05/T13:05}|n1|a"
	import 0 "$BATS_TEST_TMPDIR/log" "$BATS_TEST_TMPDIR/nodes"
	says ' 1 line of job steps, passed over'
	says ' 1 line that goes on with a text, passed over'
	says ' 1 earlier or later run of a job that was requeued, or the same again: the last counts: 2.0 GPU-hours'
	says ' 1 node that is down, drained or the like, skipped: 4 GPUs'
	log "1|${rest/gpu:a100=1,gres\/gpu=1/gpu:a100=99}|n1|a"
	refused "$BATS_TEST_TMPDIR/log" nodes ': 1 job read, none imported: 1 for more GPUs than the servers have'
}

@test "what was cancelled before it started never started, and says nothing of gres/gpu" {
	local log=$BATS_TEST_TMPDIR/log never='2025-05-01T10:00:00|None|2025-05-01T10:05:00|00:00:00|CANCELLED by 1000||long|None assigned'

	log "1|$rest|n1|a" "2|$never|a" "3_[1-5%2]|${never/None/Unknown}|a" "4|${never/CANCELLED by 1000/REVOKED}|a"
	imported 1 "$log"
	says ' 3 that never started, skipped; the first: 2'
	[[ $stderr != *'without GPU'* ]]
	log "2|$never|a" "3|${never/CANCELLED by 1000/PENDING}|a"
	refused "$log" nodes 'none imported: 2 that never started, skipped; the first: 2'
	jq -c '.jobs |= (.[1:2] | map(.state.current = "CANCELLED" | .time.start = 0 | .time.elapsed = 0 | .tres.allocated = []))' one-count.json > "$log"
	refused "$log" nodes 'none imported: 1 that never started, skipped'
}

@test "what still ran and has no Elapsed cannot be read: it is not lost silently" {
	printf '%s\n' 'JobID|Submit|Start|End|State|AllocTRES' '1|2025-05-01T10:00:00|2025-05-01T10:05:00|2025-05-01T11:05:00|COMPLETED|gres/gpu=1' \
		'2|2025-05-01T10:00:00|2025-05-01T10:05:00|Unknown|RUNNING|gres/gpu=1' > "$BATS_TEST_TMPDIR/log"
	imported 1 "$BATS_TEST_TMPDIR/log"
	says ' 1 that cannot be read, skipped: 1 of unknown GPU time: job 2'
	says "line 3, column 43: expected a date and time, or a column Elapsed, as End, found 'Unknown'"
}

@test "a time limit that is no number is none" {
	jq '.jobs[1].tres = .jobs[0].tres | .jobs[1].time.limit = {"set": true, "infinite": true, "number": 77777}' one-count.json |
		sed 's/77777/Infinity/' > "$BATS_TEST_TMPDIR/log"
	imported '1 2 3' "$BATS_TEST_TMPDIR/log"
}

@test "auction.conf: one price for GPUs of all types, and names that no server has" {
	local conf=$BATS_TEST_TMPDIR/auction.conf types

	types=$'PartitionName=long\nWorkerType=big TRES=gpu:a100=1,cpu=4,mem=500\nPSType=ps TRES=cpu=1,mem=100'
	printf '%s\n' "$types" Prices=given Eta=gpu=20,gpu:H100=30,cpu=1,mem=1.01,nvme=2 > "$conf"
	imported '1 2' capitals.sacct nodes -c "$conf"
	jq -e '.prices == {mode: "eta", eta: {cpu: 1, mem: 1.01, "gpu:a100": 20}}' "$out"
	printf '%s\n' "$types" Policy=oasis Prices=given Lower=gpu=3,cpu=0.5 Upper=gpu=20,gpu:a100=2,cpu=1,mem=1.01,nvme=2 \
		PSLower=cpu=0.25 PSUpper=cpu=4 > "$conf"
	import 0 capitals.sacct nodes -c "$conf"
	jq -e '.prices == {mode: "bounds", worker: {lower: {cpu: 0.5, "gpu:a100": 2}, upper: {cpu: 1, mem: 1.01, "gpu:a100": 2}},
		ps: {lower: {cpu: 0.25}, upper: {cpu: 4}}}' "$out"
	"$sim" run -p oasis --json "$out" > "$BATS_TEST_TMPDIR/result"
	"$sim" check "$out" "$BATS_TEST_TMPDIR/result"
	sed -i 's/Prices=given/Prices=none/; s/^\(PS\)*\(Lower\|Upper\)=.*//' "$conf"
	import 0 capitals.sacct nodes -c "$conf"
	jq -e '.prices == {mode: "given", values: []}' "$out"
	"$sim" run -p oasis --json "$out" > "$BATS_TEST_TMPDIR/result"
	jq -e '.totals.revenue == 0 and .totals.accepted == 2' "$BATS_TEST_TMPDIR/result"
}

@test "inputs after public reports (AUCTION_CASES, else ../shared/cases)" {
	local cases=${AUCTION_CASES:-$BATS_TEST_DIRNAME/../../../shared/cases}/import log ids

	[ -r "$cases/README.md" ] || skip "no inputs"
	while read -r log ids; do
		nodes=$cases/nodes-v100.txt
		[ ! -e "$cases/${log%.*}.nodes" ] || nodes=$cases/${log%.*}.nodes
		imported "$ids" "$cases/$log" "$nodes"
	done <<-'END2'
		24-case.sacct 1
		01-pipe-in-jobname.sacct 1 2 3
		20-2.sacct 1
		22-five-profiles.sacct 1
		31.sacct 1
		08-two-clusters.sacct 100 101 beta:100 beta:101
		07-days.sacct 1
		05-negative-elapsed.sacct 1
		43-submit0.json 1
		46-tres-null.json 1
		62-header-repeated.sacct 1 2
		50b-bom.sacct 1
	END2
	refused "$cases/46c-tres-count-str.json" "$cases/nodes-v100.txt" '$.jobs[0].tres.allocated[1].count: expected a number'
	refused "$cases/09-without-P.sacct" "$cases/nodes-v100.txt" 'use sacct -P'
	refused "$cases/01-pipe-in-jobname.sacct" "$cases/27-without-o.nodes" 'use scontrol -o show node'
	refused "$cases/69-gres-not-tracked.sacct" "$cases/nodes-v100.txt" AccountingStorageTRES
}
