# The audit of a storm (tests/storm): two sales as they should be, and what it says when anything about them is altered.

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	# Slots of 10 s. The first sale has node1 and node2 in slots 100 and 101, the second node1 in slots 102 to 104 but ends in 103.
	share='"worker_tres": {"cpu": 1, "mem": 500, "gpu:v100": 1}, "ps_tres": {"cpu": 1, "mem": 200}, "slot_seconds": 10'
	cat > events.json <<END
{"seq": 1, "at": 991, "event": "sold", "sale": "s-1", "job": 1, "state": "sold", "payment": "3.000000", "bid": "bid=sigmoid:50.000001,0.5,9", $share,
 "plan": {"completion": 102, "plan": [{"from": 100, "to": 101, "workers": {"node1": 4, "node2": 1}, "ps": {"node1": 2}}]}}
{"seq": 2, "at": 992, "event": "sold", "sale": "s-2", "job": 3, "state": "sold", "payment": "2.000001", "bid": "bid=sigmoid:70.000002,0.5,9", $share,
 "plan": {"completion": 105, "plan": [{"from": 102, "to": 104, "workers": {"node1": 4}, "ps": {"node1": 2}}]}}
{"seq": 3, "at": 1001, "event": "running", "sale": "s-1"}
{"seq": 4, "at": 1020, "event": "settled", "sale": "s-1", "free_from": 102, "refund": "0.000000", "kept": "3.000000", "why": "timeout"}
{"seq": 5, "at": 1021, "event": "running", "sale": "s-2"}
{"seq": 6, "at": 1037, "event": "settled", "sale": "s-2", "free_from": 104, "refund": "0.666667", "kept": "1.333334", "why": "cancelled"}
END
	task 1 1000.4 node1 1 6 2400 0,1,2,3 storm-1 1019.2
	task 2 1000.5 node2 2 1 500 0 auction-1-node2 1019.3
	task 3 1020.3 node1 3 6 2400 0,1,2,3 storm-2 1036.5
	row 1 1000 '{"state": "settled", "sale": "s-1", "plan": [], "payment": "3.000000", "refund": "0.000000", "why": "timeout"}' > rows.json
	row 2 1000 '{"state": "member", "sale": "s-1", "lead": 1}' >> rows.json
	row 3 1020 '{"state": "settled", "sale": "s-2", "plan": [], "payment": "1.333334", "refund": "0.666667", "why": "cancelled"}' >> rows.json
	echo '{"totals": {"live": 0, "sold": 2, "charged": "5.000001", "refunded": "0.666667", "settled_revenue": "4.333334"},
		"agent": {"cycles": {}, "looks": {}, "errors": {}}}' > status.json
	printf '%s\n' '1 1 990.5 3.000000' '2 3 991.5 2.000001' > submitted
	: > away; : > failures
	printf '%s\n' '990 77 10000' '1030 77 10500' > memory
}

# task N AT NODE JOB CPUS MEM GPUS NAME SEEN
task()
{
	echo "{\"n\": $1, \"at\": $2, \"node\": \"$3\", \"job\": $4, \"cpu\": $5, \"mem\": $6, \"gpus\": \"$7\", \"name\": \"$8\", \"seen\": $9, \"gone\": $9}" >> tasks.json
}

row()
{
	echo "{\"job\": $1, \"submit\": 990, \"start\": $2, \"end\": 1040, \"receipt\": $3}"
}

audit()
{
	"$BATS_TEST_DIRNAME/../storm/run" --audit . --jobs 2 --slot 10
}

# altered FILE SED-SCRIPT TEXT: the audit finds it, and that only.
altered()
{
	cp "$1" "$1.good"
	sed -i "$2" "$1"
	run -1 cmp -s "$1" "$1.good"
	run -1 audit
	mv "$1.good" "$1"
	echo "$output"
	[[ $output == *"WRONG: "*$3* ]]
}

@test "two sales that are as they should be" {
	run -0 audit
	[[ $output != *WRONG* ]]
	[[ $output == *"first parts began after their slot, quiet: p50 0.4 s, p99 0.4 s, max 0.4 s of 2"* ]]
	[[ $output == *"further parts began after their slot, quiet: p50 0.5 s, p99 0.5 s, max 0.5 s of 1"* ]]
	[[ $output == *"ended: cancelled 1, timeout 1"* ]]
}

# bats test_tags=nightly
@test "a storm of more than a thousand submissions: each number is one sale's" {
	local n value

	# What sbatch got as 70.100000 the ledger has as 70.1.
	for n in 1001:70.001001 100000:70.1 999999:70.999999; do
		value=${n#*:} n=${n%:*}
		sed -i "s/sigmoid:70[.0-9]*/sigmoid:$value/" events.json
		sed -i "/\"job\": 3/s/storm-[0-9]*/storm-$n/" tasks.json
		sed -i "s/^[0-9]* 3 /$n 3 /" submitted
		run -0 audit
		altered submitted 's/2.000001/2.000002/' 'job 3: told 2.000002, charged 2.000001'
	done
}

@test "money: what was told, charged, kept and paid back" {
	altered submitted 's/3.000000/2.999999/' 'job 1: told 2.999999, charged 3'
	altered events.json 's/"why": "cancelled"/"why": "node_fail"/' 'node_fail, started, but 1.333334 kept'
	altered events.json 's/"refund": "0.666667", "kept": "1.333334"/"refund": "0.000000", "kept": "2.000001"/' '1 of 3 slots were not begun'
	altered events.json 's/"kept": "1.333334"/"kept": "1.333333"/' '1.333333 kept and 0.666667 paid back of 2.000001'
	altered events.json '/"running", "sale": "s-2"/d' 'never started, but 1.333334 kept'
	altered rows.json 's/"payment": "1.333334"/"payment": "2.000001"/' 'the accounting has'
	altered rows.json '/"sale": "s-2"/d' 'no row in the accounting'
	altered status.json 's/4.333334/4.333335/' "the ledger's money does not add up"
	altered status.json 's/"live": 0/"live": 1/' '1 sales are still live'
	altered tasks.json '/"storm-2"/d' 'no task of it ever ran, but 1.333334 kept'
	altered tasks.json '/"storm-2"/s/1036.5/1029.5/g' 'but slots before 104 are paid'
	altered submitted '2d' '1 jobs were accepted, not 2'
}

@test "nodes: what ran twice, elsewhere, at other times, for nobody or not at all" {
	altered tasks.json '/"storm-1"/s/1019.2/1020.9/g' 'node1 at 1020.3: job 1 (storm-1)'
	altered tasks.json '/auction-1/s/"node2", "job"/"node1", "job"/' 'job 2 (auction-1-node2): 1 CPUs'
	altered tasks.json '/auction-1/s/"node2", "job"/"node3", "job"/' 'ran on node3'
	altered tasks.json '/auction-1/s/"cpu": 1/"cpu": 2/' 'which sale s-1 did not buy'
	altered tasks.json '/auction-1/s/1000.5/999.9/' 'which sale s-1 did not buy'
	altered tasks.json '/auction-1/s/1019.3/1021.1/g' 'which sale s-1 did not buy'
	altered tasks.json '/auction-1/s/auction-1/auction-9/' 'ran on node2 for nobody'
	altered tasks.json '/auction-1/s/1000.5/1010.5/' 'job 1 paid for node2 in slot 100'
	altered tasks.json '/auction-1/s/1019.3/null/g' 'still runs on node2'
}

@test "starts that are late" {
	altered tasks.json '/"storm-2"/s/1020.3/1022.1/' 'p99 of quiet starts is 2.1'
	echo '1019 1021.9 killed' > away
	sed -i '/"storm-2"/s/1020.3/1022.1/' tasks.json
	run -0 audit
	[[ $output == *"with slurmctld away, or back for less than 15 s: p50 2.1 s, p99 2.1 s, max 2.1 s of 1; after its return: p50 0.2 s"* ]]
}

@test "the ledger sells what a node has once" {
	altered events.json 's/"from": 102/"from": 101/' 'sold twice: node1 101'
}

@test "two sales that change places: in one commit, or the first has what the second still has" {
	jq -s -c '[.[0] + {plan: .[1].plan}, .[1] + {plan: .[0].plan}, .[0] + {event: "changed", at: 993, seq: 2.1},
		.[1] + {event: "changed", at: 993, seq: 2.2}, .[2:][]] | .[] | .commit = (.seq | floor)' events.json > swapped.json
	mv swapped.json events.json
	run audit
	[[ $output == *"changed since: 2"* && $output != *"sold twice"* ]]
	altered events.json 's/^{"seq":\(2\.[12]\)\(.*"commit":\)2}/{"seq":\1\2\1}/' 'sold twice: node1 100'
}

@test "while slurmctld is away nothing ends: counted, not wrong" {
	sed -i '/auction-1/s/1019.3/1023.1/g' tasks.json
	echo '1015 1022 killed' > away
	run -0 audit
	[[ $output == *"tasks that ended after their slots: 1 (slurmctld was away at the end of its slots 1)"* ]]

	# But not for long after its return.
	sed -i '/auction-1/s/1023.1/1041.9/g' tasks.json
	run -0 audit
	altered tasks.json '/auction-1/s/1041.9/1042.1/g' 'job 2 (auction-1-node2) ran on node2 from 1000.5 to 1042.1, which sale s-1 did not buy'
	echo '1041 1044 killed' >> away
	sed -i '/auction-1/s/1041.9/1063.9/g' tasks.json
	run -0 audit
	altered tasks.json '/auction-1/s/1063.9/1064.1/g' 'which sale s-1 did not buy'
	# Or after its slots, if it came back just before their end.
	echo '1010 1015 restarted' > away
	sed -i '/auction-1/s/1063.9/1039.9/g' tasks.json
	run -0 audit
	altered tasks.json '/auction-1/s/1039.9/1040.1/g' 'which sale s-1 did not buy'
}
