#!/usr/bin/env bats
# auctionsim import: what logs and nodes become, what is refused, and that a job alone takes as long as it did. AUCTIONSIM names the
# program. import/ holds the output of a private cluster's sacct and scontrol.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	logs=$BATS_TEST_DIRNAME/import
	dir=$BATS_TEST_TMPDIR
	export TZ=UTC
	printf '%s\n' node,gpus,gpu_type,cpus,mem_mb n1,4,v100,32,128000 n2,4,v100,32,128000 n3,8,t4,, n4,0,,16, > "$dir/nodes"
}

# run_sim STATUS ARGUMENT...: standard output and error apart
run_sim()
{
	local status=$1

	shift
	run "-$status" --separate-stderr "$sim" "$@"
}

# jobs LINE...: a trace
jobs()
{
	printf '%s\n' job_id,submit_s,duration_s,gpus,gpu_type,status,queue,model,deadline_s "$@" > "$dir/log"
}

# import ARGUMENT...: of that trace and those nodes, into s.json
import()
{
	run_sim 0 import -n "$dir/nodes" "$dir/log" -o "$dir/s.json" "$@"
	[ -z "$output" ]
}

# skipped SENTENCE: one record of the log is, with a sentence that ends like that
skipped()
{
	run_sim 0 import -n "$dir/nodes" "$dir/log" slots=100
	[[ $stderr == *" 1 that cannot be read, skipped: "*"$1"$'\n'* ]] || { echo "$stderr"; false; }
}

# refused SENTENCE: the log is, with a sentence that ends like that
refused()
{
	run_sim 1 import -n "$dir/nodes" "$dir/log" slots=100
	[[ $stderr == *"$1" ]] || { echo "$stderr"; false; }
}

# as_logged SCENARIO: each of its jobs, run alone, takes the slots that $durations (id: seconds) say
as_logged()
{
	local id slots

	while read -r id slots; do
		jq --arg id "$id" '.jobs |= map(select(.id == $id) | .arrival = 1)' "$1" > "$dir/alone.json"
		"$sim" run -p dps -p fifo --json "$dir/alone.json" > "$dir/alone.result"
		jq -e --argjson n "$slots" 'length == 2 and all(.[].jobs[0]; .completion - .start == $n)' "$dir/alone.result" || { echo "$id: not $slots"; return 1; }
	done < <(jq -r --argjson d "$durations" '.slot_seconds as $s | .jobs[].id | "\(.) \($d[.] / $s | ceil)"' "$1")
}

@test "a job that is alone takes as long as in the log: one server, two, a share of a GPU, any type" {
	jobs a,0,3600,1,v100,,,, b,10,3601,4,v100,,,, c,20,100000,8,v100,,,, d,30,29,2,t4,,,, e,40,86400,7,t4,,,, f,50,12345.678,0.3,v100,,,, \
		g,60,5000,2,,,,, h,70,7200,6,t4\|v100,,,,
	durations='{"a":3600,"b":3601,"c":100000,"d":29,"e":86400,"f":12345.678,"g":5000,"h":7200}'
	import slots=400
	as_logged "$dir/s.json"
	import -s 2 slots=3000 slot_seconds=60 types=any step=1:500 exchange=0.45 ps_time=0.4 gradient_mb=0:5000 bandwidth=100
	as_logged "$dir/s.json"
}

@test "sacct --json and sacct -P of one cluster make one scenario" {
	for f in json txt; do
		run_sim 0 import -n "$logs/nodes-22.05.txt" "$logs/sacct-22.05.$f" slot_seconds=2 tail=0.1
		[[ $stderr == *"16 jobs read, 13 imported"* ]]
		for line in ' 1 without GPU, skipped' ' 1 that ended as they began, skipped' ' 1 earlier or later run of a job that was requeued' \
			' 1 taken that still ran' ' 1 taken that were suspended' ' 3 taken of job arrays' ' 2 taken of heterogeneous jobs' \
			' 3 taken that failed, were cancelled or ran out of time'; do
			[[ $stderr == *"$line"* ]]
		done
		jq -S 'del(.name) | .jobs |= map({id, arrival, chunks, types: (.worker_seconds | keys)}) | .jobs |= sort_by(.id)' <<< "$output" > "$dir/$f"
	done
	[[ $stderr == *" 16 lines of job steps, passed over"* ]]
	cmp "$dir/json" "$dir/txt"
	jq -e '.jobs | map(.id) == ["1", "10", "12+0", "12+1", "14", "16", "2", "3_1", "3_2", "3_3", "4", "8", "9"]' "$dir/txt"
	jq -e '.jobs | map({(.id): [.chunks, .types[]]}) | add | ."2" == [8, "v100"] and ."12+0" == [1, "t4"] and ."4" == [1, "v100"]' "$dir/txt"
	durations='{"1":9,"2":7,"3_1":3,"3_2":3,"3_3":3,"4":5,"8":318,"9":20,"10":7,"12+0":4,"12+1":4,"14":7,"16":67}'
	"$sim" import -n "$logs/nodes-22.05.txt" "$logs/sacct-22.05.txt" slot_seconds=2 tail=0.1 > "$dir/s.json" 2> /dev/null
	as_logged "$dir/s.json"
}

@test "auction.conf: its partitions, types, slots and prices" {
	run_sim 0 import -n "$logs/nodes-22.05.txt" -c "$logs/auction.conf" "$logs/sacct-22.05.json" -o "$dir/s.json"
	jq -e '.slot_seconds == 10 and (.servers | length) == 8 and .prices.mode == "eta" and .prices.eta."gpu:v100" == 20' "$dir/s.json"
	jq -e '[.worker_types[] | .name, .tres.mem] == ["v100", 500, "t4", 500] and [.ps_types[].name] == ["ps.s", "ps.m"]' "$dir/s.json"
	jq -e '.jobs[0].upload_slots == {cloud1: 2, cloud2: 2} and ([.servers[] | select(.site == "cloud") | .name] == ["cloud1", "cloud2"])' "$dir/s.json"
	"$sim" run --json "$dir/s.json" > "$dir/r.json"
	"$sim" check "$dir/s.json" "$dir/r.json"
	jq -e '.totals.jobs == 13 and .totals.accepted == 13' "$dir/r.json"
	sed 's/TRES=cpu=2,mem=500,gpu:t4=1/TRES=nvme=1,gpu:t4=1/' "$logs/auction.conf" > "$dir/auction.conf"
	run_sim 1 import -n "$logs/nodes-22.05.txt" -c "$dir/auction.conf" "$logs/sacct-22.05.json"
	[[ $stderr == *"type t4: TRES=nvme: expected cpu, mem, gpu or gpu:TYPE: what else nodes have is not imported" ]]
	sed 's/PartitionName=\(edge\|cloud\)/PartitionName=no\1/' "$logs/auction.conf" > "$dir/auction.conf"
	run_sim 1 import -n "$logs/nodes-22.05.txt" -c "$dir/auction.conf" "$logs/sacct-22.05.json"
	[[ $stderr == *"expected a node in a partition that auction.conf sells, found none" ]]
}

@test "Cost and CostHours of auction.conf are what servers cost" {
	sed 's/^PartitionName=edge .*/& Cost=gpu=2,gpu:T4=0.5,cpu=0.25,nvme=7 CostHours=16-18=1.5/; s/^PartitionName=cloud .*/& Cost=gpu:v100=40/' \
		"$logs/auction.conf" > "$dir/auction.conf"
	run_sim 0 import -n "$logs/nodes-22.05.txt" -c "$dir/auction.conf" "$logs/sacct-22.05.json" -o "$dir/s.json"
	jq -e '[.servers[] | select(.site == "cloud") | .cost] | unique == [{"gpu:v100": 40}]' "$dir/s.json"
	jq -e '[.servers[] | select(.site == "edge") | .cost] | unique | sort == ([{"gpu:v100": 2, cpu: 0.25}, {"gpu:t4": 0.5, cpu: 0.25}] | sort)' "$dir/s.json"
	jq -e '[.servers[].cost_hours | select(.)] | unique == [[range(24)] | map(if . == 16 or . == 17 then 1.5 else 1 end)]' "$dir/s.json"
	# slot 1 begins when the first job was submitted
	jq -e --argjson first "$(jq '[.jobs[] | .time.submission] | min' "$logs/sacct-22.05.json")" '(.hour * 3600 - $first % 86400 | fabs) < 1e-6' "$dir/s.json"
	"$sim" run --json "$dir/s.json" > "$dir/r.json"
	"$sim" check "$dir/s.json" "$dir/r.json"
	jq -e '.totals.cost > 0' "$dir/r.json"
}

@test "a table of nodes names partitions of auction.conf" {
	printf '%s\n' node,gpus,gpu_type,partition,cpus,mem_mb a,4,v100,edge,32,64000 b,4,v100,cloud,32,64000 c,4,v100,other,32,64000 > "$dir/nodes"
	printf '%s\n' job_id,submit_s,duration_s,gpus x,0,100,1 > "$dir/log"
	sed 's/^PartitionName=edge .*/& Cost=gpu=2 CostHours=0-1=0/' "$logs/auction.conf" > "$dir/auction.conf"
	run_sim 0 import -n "$dir/nodes" -c "$dir/auction.conf" "$dir/log" -o "$dir/s.json"
	jq -e '[.servers[] | [.name, .site, .cost]] == [["a", "edge", {"gpu:v100": 2}], ["b", "cloud", null]] and (has("hour") | not)' "$dir/s.json"
	cut -d, -f1-3,5- "$dir/nodes" > "$dir/table"
	run_sim 1 import -n "$dir/table" -c "$dir/auction.conf" "$dir/log"
	[[ $stderr == *"expected a column partition: auction.conf has a Cost for edge"* ]]
	# the only one is that of all nodes; without a cost nobody need know
	sed '/^PartitionName=cloud/d' "$dir/auction.conf" > "$dir/one.conf"
	run_sim 0 import -n "$dir/table" -c "$dir/one.conf" "$dir/log" -o "$dir/s.json"
	jq -e '[.servers[].cost."gpu:v100"] == [2, 2, 2]' "$dir/s.json"
	run_sim 0 import -n "$dir/table" -c "$logs/auction.conf" "$dir/log" -o "$dir/s.json"
	jq -e '[.servers[].cost] == [null, null, null]' "$dir/s.json"
}

@test "days of one log with one auction.conf are of one market, whatever GPUs their jobs used: doc/replay.md" {
	local d

	{
		echo 'JobID|Submit|Start|End|ElapsedRaw|State|ReqTRES|AllocTRES|Partition|NodeList'
		for d in 05 06 07; do
			for i in 0 1 2 3 4 5 6 7; do
				type=v100
				[ "$d$i" != 052 ] || type=t4
				echo "$d$i|2026-10-${d}T0$i:00:01|2026-10-${d}T0$i:00:01|2026-10-${d}T0$i:50:01|3000|COMPLETED||gres/gpu=2,gres/gpu:$type=2|edge|"
			done
		done
	} > "$dir/october.json"
	cd "$dir"
	cp "$logs/auction.conf" .
	cp "$logs/nodes-22.05.txt" nodes
	auctionsim() { command "$sim" "$@"; }
	sed -n '/^    import() /,/^    auctionsim run .*--history/p' "$BATS_TEST_DIRNAME/../../doc/replay.md" > words
	[ "$(grep -c 2026- words)" = 3 ]
	. ./words > out 2> error
	grep '^october.json: 8 servers, 8 jobs, 288 slots of 600 s$' out
	grep '^auctionsim: dps: .*: the past would have been worth ' error
	jq -e '[.worker_types[].name] == ["v100", "t4"]' wednesday.json
	run_sim 0 import -n nodes --from=2026-10-05 --to=2026-10-06 october.json slot_seconds=600 slots=288 -o monday.json
	run_sim 0 import -n nodes --from=2026-10-06 --to=2026-10-07 october.json slot_seconds=600 slots=288 -o tuesday.json
	run_sim 1 run --prices learned --history monday.json tuesday.json
	[[ $stderr == *': $.worker_types[1].name: expected none, found t4' ]]
}

@test "sacct --json of Slurm 24.11 and 26.05" {
	for v in 24.11 26.05; do
		run_sim 0 import -n "$logs/nodes-22.05.txt" "$logs/sacct-$v.json" slot_seconds=2 tail=0.1 -o "$dir/s.json"
		[[ $stderr == *"8 jobs read, 7 imported"*" 1 earlier or later run of a job that was requeued"* ]]
		jq -e '.jobs | map({(.id): .}) | add | keys == ["1", "10+1", "12", "3_3", "4", "6", "7"]
			and all(.[]; .arrival <= 2) and ."1".chunks == 2 and (."12".worker_seconds | keys) == ["t4"]' "$dir/s.json"
		durations=$(jq '[.jobs[] | {(if .het.job_id > 0 then "\(.het.job_id)+\(.het.job_offset.number)"
			elif .array.job_id > 0 then "\(.array.job_id)_\(.array.task_id.number)" else "\(.job_id)" end): .time.elapsed}] | add' "$logs/sacct-$v.json")
		as_logged "$dir/s.json"
	done
}

@test "newer shapes of sacct --json: numbers with set, states as lists" {
	jq '.jobs |= map(.state.current |= [.] | .time.start |= {set: true, infinite: false, number: .}
		| .time.elapsed |= {set: true, infinite: false, number: .}
		| .array.task_id |= (if . == null then {set: false, infinite: false, number: 0} else {set: true, infinite: false, number: .} end)
		| .het.job_offset |= (if . == null then {set: false, infinite: false, number: 0} else {set: true, infinite: false, number: .} end)
		| .tres.allocated |= map(.name //= "" | .count //= -2))' "$logs/sacct-22.05.json" > "$dir/sacct-22.05.json"
	"$sim" import -n "$logs/nodes-22.05.txt" "$logs/sacct-22.05.json" > "$dir/old" 2> /dev/null
	"$sim" import -n "$logs/nodes-22.05.txt" "$dir/sacct-22.05.json" > "$dir/new" 2> /dev/null
	cmp "$dir/old" "$dir/new"
}

@test "times: zones, Unix time, the hour that clocks show twice" {
	printf '%s\n' 'JobID|Submit|Elapsed|State|AllocTRES' '1|2026-10-25T00:30:00|01:00:00|COMPLETED|gres/gpu=1' \
		'2|2026-10-25T02:30:00|01:00:00|COMPLETED|gres/gpu=1' '3|2026-10-25T03:30:00|01:00:00|COMPLETED|gres/gpu=1' \
		'4|2026-10-25T03:30:00Z|1-01:00:00|COMPLETED|gres/gpu=1' '5|1792899000|30:00.5|COMPLETED|gres/gpu=1' > "$dir/log"
	TZ=Europe/Berlin run_sim 0 import -n "$dir/nodes" "$dir/log" slot_seconds=3600
	[[ $stderr == *" 1 taken with a time that local clocks show twice or never"* ]]
	# 0:30 summer time is 22:30 UTC, 3:30 is 2:30 UTC: four hours; 5 and 4 are at 3:30 UTC
	jq -e '.jobs | map({(.id): .arrival}) | add | ."1" == 1 and (."2" == 3 or ."2" == 4) and ."3" == 5 and ."4" == 6 and ."5" == 6' <<< "$output"
	TZ=UTC run_sim 0 import -n "$dir/nodes" "$dir/log" slot_seconds=3600
	jq -e '.jobs | map({(.id): .arrival}) | add | ."1" == 1 and ."2" == 3 and ."3" == 4 and ."4" == 4' <<< "$output"
}

@test "the window: --from, --to, speedup, jobs, servers, queue, states" {
	jobs {a..z},{0..25}000,500,1,v100,,q,,
	sed -i '5s/,,q/,failed,r/' "$dir/log"
	jobs $(for i in {0..25}; do echo "j$i,$((i * 1000)),500,1,v100,$([ $i = 4 ] && echo failed),$([ $i = 5 ] && echo r || echo q),,"; done)
	import --from 5000s --to 10000s
	jq -e '[.jobs[] | .id, .arrival] == ["j5", 1, "j6", 5, "j7", 8, "j8", 11, "j9", 15]' "$dir/s.json"
	[[ $stderr == *" 21 outside the window, skipped"* ]]
	import speedup=100 slots=50
	jq -e '[.jobs[].arrival] | max == 2' "$dir/s.json"
	import jobs=10 servers=2
	jq -e '(.jobs | length) == 10 and (.servers | length) == 2 and ([.jobs[].arrival] | . == sort)' "$dir/s.json"
	[[ $stderr == *" 16 not drawn, skipped"* ]]
	import --from 5000s --to 10000s
	[[ $stderr != *failed* ]] # the one that did is outside
	import -q r
	jq -e '[.jobs[].id] == ["j5"]' "$dir/s.json"
	import states=completed
	jq -e '(.jobs | length) == 25 and all(.jobs[]; .id != "j4")' "$dir/s.json"
	run_sim 1 import -n "$dir/nodes" "$dir/log" slot_seconds=1
	[[ $stderr == *"expected at most 10000: set slots, slot_seconds, speedup or tail, or choose with --from and --to" ]]
	run_sim 1 import -n "$dir/nodes" "$dir/log" --from 10d --to 2d
	[[ $stderr == *"--to: '2d', expected a time after --from" ]]
	run_sim 1 import -n "$dir/nodes" "$dir/log" --from yesterday
}

@test "what no server or slot can hold is skipped and counted" {
	jobs a,0,100,1,h100,,,, b,0,100,9,v100,,,, c,0,1000000,1,v100,,,, d,0,,1,v100,,,, e,0,100,0,,,,, f,0,0,1,v100,,,, g,0,100,1,v100,,,,
	import slots=100
	jq -e '[.jobs[].id] == ["g"]' "$dir/s.json"
	for line in 'for types of GPUs that no server has' 'for more GPUs than the servers have' 'longer than all slots' 'that never started' \
		'without GPU' 'that ended as they began'; do
		[[ $stderr == *" 1 $line, skipped"* ]]
	done
}

@test "types that have the names of others stay apart" {
	printf 'node,gpus,gpu_type\na,4,ps\nb,4,gpu\nc,4,\nd,4,ps-1/4\ne,4,ps:0.25\n' > "$dir/nodes"
	jobs {a,b,c,d,e}0,0,7200,3,{ps,gpu,ps-1/4,ps:0.25,},,,, {a,b,c,d,e}1,0,7200,0.2,{ps,gpu,ps-1/4,ps:0.25,},,,,
	awk -F, -v OFS=, 'NR > 1 {$1 = NR} {print}' "$dir/log" > "$dir/numbered" && mv "$dir/numbered" "$dir/log"
	import slots=100
	jq -e '([.worker_types[].name] | unique | length) == (.worker_types | length) and (.jobs | length) == 50' "$dir/s.json"
	"$sim" run -p fifo "$dir/s.json"
}

@test "profiles: steps, gradients and the speeds of other types" {
	printf '%s\n' model,gpu_type,workers,batch_size,steps_per_s,gradient_mb,source net,v100,2,16,10,50,x net,t4,2,16,4,50,x \
		net,v100,1,16,9,50,x zoo-bert,t4,1,,1,440,x > "$dir/profiles"
	jobs a,0,3600,2,v100,,,net/bs8, b,0,3600,1,t4,,,bert,
	import slots=100 types=any -p "$dir/profiles" bandwidth=100000 epochs=1
	jq -e '.jobs[0] | .minibatches == 36000 and .gradient_mb == 50 and .chunks == 2' "$dir/s.json"
	jq -e '.jobs[0] | (.worker_seconds.t4 + .ps_seconds.ps) / (.worker_seconds.v100 + .ps_seconds.ps) | . > 2.4999 and . < 2.5001' "$dir/s.json"
	jq -e '.jobs[1] | .gradient_mb == 440 and .minibatches == 3600' "$dir/s.json"
}

@test "values: GPU-hours times urgency, forms, deadlines of the log" {
	jobs a,0,7200,3,v100,,,,20000
	import slots=100 gpu_hour=2 urgency=1.5 utility=deadline
	jq -e '.jobs[0].utility == {form: "deadline", scale: 18, deadline: 66}' "$dir/s.json"
	jobs a,0,7200,3,v100,,,,
	import slots=100 urgency=1 utility=deadline slack=2
	jq -e '.jobs[0].utility == {form: "deadline", scale: 6, deadline: 48}' "$dir/s.json"
	import slots=100 urgency=1 slack=2 fall=0.5
	jq -e '.jobs[0].utility | .form == "sigmoid" and .target == 48 and .scale == 6 and .decay > 0.18 and .decay < 0.19' "$dir/s.json"
	import slots=100 utility=linear urgency=1 slack=2
	jq -e '.jobs[0].utility == {form: "linear", intercept: 6, slope: 0.0625}' "$dir/s.json"
}

@test "equal input and seed give equal bytes; - is standard input" {
	jobs {a,b,c,d},0,7200,3,v100,,,,
	import -s 3 slots=100
	"$sim" import -s 3 -n "$dir/nodes" - slots=100 < "$dir/log" 2> /dev/null | sed 's/"import"/"log"/' | cmp "$dir/s.json" -
	import -s 4 slots=100
	! "$sim" import -s 3 -n "$dir/nodes" "$dir/log" slots=100 2> /dev/null | cmp -s "$dir/s.json" - || false
}

@test "errors say where, and what was expected" {
	jobs a,0,100,1,v100,,,, b,zero,100,1,v100,,,,
	skipped "log: line 3, column 3: expected a number from 0 to 100000000000 as submit_s, found 'zero'"
	jobs a,0,nan,1,v100,,,,
	refused "log: line 2, column 5: expected a number from 0 to 100000000000 as duration_s, found 'nan'"
	jobs a,0,1e400,1,v100,,,,
	refused "as duration_s, found '1e400'"
	jobs 'a,0,100,1,"v100",,,,'
	refused "log: line 2, column 11: expected a field without quotes, found '\"v100\",,,,'"
	jobs a,0,100,1
	refused "log: line 2, column 1: expected 9 fields as in the header, found 4"
	jobs a,0,100,1,v100,done,,,
	refused "column 16: expected completed, failed, cancelled or nothing as status, found 'done'"
	jobs a,0,100,1,v100,,,, a,0,100,1,v100,,,,
	skipped "log: line 3, column 1: expected each job once as job_id, found 'a'"
	jobs 'a b,0,100,1,v100,,,,'
	refused "line 2, column 1: expected a job's id as job_id, found 'a b'"
	printf 'job_id,submit_s,gpus\n' > "$dir/log"
	refused "log: line 1, column 1: expected a column duration_s in the header, or the output of sacct -P or sacct --json"
	printf 'job_id,submit_s,gpus,gpus\n' > "$dir/log"
	refused "log: line 1, column 22: expected each column once, found 'gpus'"
	printf 'job_id,submit_s,duration_s,gpus\na,0,1\0,1\n' > "$dir/log"
	refused "log: line 2, column 5: expected a number from 0 to 100000000000 as duration_s, found '1?'"
	: > "$dir/log"
	refused "log: the file is empty"
	printf 'JobID|Submit|Elapsed|State|AllocTRES\n1|2026-13-01T00:00:00|00:01:00|COMPLETED|\n' > "$dir/log"
	refused "line 2, column 3: expected a time as 2026-11-21T16:34:41 (sacct with SLURM_TIME_FORMAT=standard), seconds since 1970 or Unknown as Submit, found '2026-13-01T00:00:00'"
	printf 'JobID|Submit|Elapsed|State|AllocTRES\n1|2026-12-01T00:00:00|1:2:3:4|COMPLETED|\n' > "$dir/log"
	refused "column 23: expected a time span as [days-]hours:min:s as Elapsed, found '1:2:3:4'"
	printf 'JobID|Submit|Elapsed|State|AllocTRES\n1|2026-12-01T00:00:00|00:01:00|COMPLETED|cpu=1,gres/gpu=-1\n' > "$dir/log"
	refused "column 42: expected gres/gpu=COUNT of at most 1000000 as AllocTRES, found 'cpu=1,gres/gpu=-1'"
	printf 'JobID|Submit|State|AllocTRES\n' > "$dir/log"
	refused "expected a column Elapsed or ElapsedRaw, or both Start and End, in the header: name it in sacct --format (-o)"
	printf '{"jobs": [\n {"job_id": 1,\n  "state": }]}' > "$dir/log"
	refused "log: \$.jobs[0] from line 2 on: line 2, column 12: expected one JSON value, found: unexpected character"
	printf '{"jobs": [{"job_id": 1, "state": {"current": 5}}]}' > "$dir/log"
	refused "log: \$.jobs[0].state.current: expected a state of jobs, found 5"
	printf '{"jobs": [{"job_id": 1, "job_id": 2}]}' > "$dir/log"
	refused "\$.job_id: expected each key once, found it twice"
	printf '{"jobs": [{"job_id": 1, "state": {"current": "FAILED"}, "time": {"submission": "x"}}]}' > "$dir/log"
	refused "log: \$.jobs[0].time.submission: expected a number, or an object with set and number, found \"x\""
	printf '{"jobs": [' > "$dir/log"
	refused "log: line 1, column 11: expected the end of the value that begins in line 1, found that of the file"
	printf '{"meta": {}}' > "$dir/log"
	refused "expected a key jobs, as sacct --json prints it"
	printf 'node,gpus\nn1,-4\n' > "$dir/nodes"
	refused "nodes: line 2, column 4: expected a number from 0 to 1000000 as gpus, found '-4'"
	printf 'node,gpus\nn1,0.5\n' > "$dir/nodes"
	refused "nodes: line 2, column 4: expected a whole number as gpus, found '0.5'"
	printf 'node,gpus\n*,4\n' > "$dir/nodes"
	refused "nodes: line 2, column 1: expected a node's name as node, found '*'"
	printf 'NodeName=* CPUTot=1\n' > "$dir/nodes"
	refused "nodes: line 1, column 1: expected NodeName=NAME of one node: use scontrol -o show node, found 'NodeName=* CPUTot=1'"
	printf 'node,gpus\nn1,4\nn1,4\n' > "$dir/nodes"
	jobs a,0,100,1,,,,,
	run_sim 0 import -n "$dir/nodes" "$dir/log"
	[[ $stderr == *" 1 node that cannot be read, skipped: 4 GPUs"*"nodes: line 3, column 1: expected each node once as node, found 'n1'"* ]]
	printf 'NodeName=n1 CPUTot=many\n' > "$dir/nodes"
	refused "nodes: line 1, column 20: expected a number from 1 to 1000000000 after CPUTot=, found 'many'"
	printf 'node,gpus\n' > "$dir/nodes"
	refused "expected a node, found none"
}

@test "CRLF, lines without end and further columns are no matter" {
	printf 'job_id,submit_s,duration_s,gpus,more\r\n\r\na,0,100,1,"x"\r\n' > "$dir/log"
	refused "found '\"x\"'"
	printf 'job_id,submit_s,duration_s,gpus,more\r\n\r\na,0,100,1,x\r\nb,0,100,1,' > "$dir/log"
	import slots=10
	jq -e '[.jobs[].id] == ["a", "b"]' "$dir/s.json"
}

@test "usage: exit code 2" {
	run_sim 2 import
	run_sim 2 import "$dir/log"
	run_sim 2 import -n "$dir/nodes"
	run_sim 2 import -n "$dir/nodes" --seed=x "$dir/log"
	run_sim 0 import --help
	[[ $output == *gpu_hour* ]]
	run_sim 1 import -n "$dir/nodes" "$logs/sacct-22.05.txt" colour=red
	[[ $stderr == *"'colour=red' is no parameter of import"* ]]
}

@test "real traces: read, run, checked (AUCTION_TRACES, else ../shared/traces)" {
	traces=${AUCTION_TRACES:-$BATS_TEST_DIRNAME/../../../shared/traces}
	[ -r "$traces/philly-2017-10.csv" ] || skip "no traces"
	while read -r log nodes arguments; do
		run_sim 0 import -n "$traces/$nodes.csv" "$traces/$log.csv" -o "$dir/s.json" $arguments
		"$sim" run --json -o "$dir/r.json" "$dir/s.json"
		"$sim" check "$dir/s.json" "$dir/r.json"
		jq -e '.totals.jobs >= 100 and .totals.accepted >= 10' "$dir/r.json"
	done <<-'END2'
		openb-2023 openb-2023-nodes --from=115d servers=40 jobs=100 slot_seconds=600
		philly-2017-10 philly-nodes --to=2d servers=40 jobs=100
		morphling-a800 morphling-a800-nodes --to=1d jobs=100 servers=8
	END2
}
