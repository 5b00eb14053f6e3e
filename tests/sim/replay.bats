#!/usr/bin/env bats
# auctionsim replay: a log of days under the auction and under queues, its table, JSON and page. AUCTIONSIM names the program.

bats_require_minimum_version 1.5.0

setup()
{
	sim=${AUCTIONSIM:-auctionsim}
	cd "$BATS_TEST_TMPDIR" || return
	export TZ=UTC
	printf '%s\n' node,gpus,gpu_type,cpus,mem_mb n1,4,v100,32,128000 n2,4,v100,32,128000 > nodes
}

# days N: a log of N days with 40 jobs each, more than two nodes can do in time
days()
{
	awk -v n="$1" 'BEGIN {
		print "job_id,submit_s,duration_s,gpus,gpu_type,status,user,limit_s"
		for (i = 0; i < 40 * n; i++)
			printf "j%d,%d,%d,%d,v100,completed,u%d,%d\n", i, i * 2160, 1800 + i * 7919 % 20000, i % 7 == 3 ? 8 : 1 + i * 5 % 4,
				i % 11, 2 * (1800 + i * 7919 % 20000)
	}' > log
}

@test "every row serves the same jobs, and the numbers agree with each other" {
	days 3
	run -0 --separate-stderr "$sim" replay -n nodes log --json slot_seconds=1800
	echo "$output" > r.json
	[[ $stderr == *"120 jobs read, 120 imported"* ]]
	jq -e '.format == "auction-replay/1" and .days == 3 and .jobs == 120 and .users == 11 and .limits == 120 and .gpus == 8' r.json
	jq -e '[.rows[].name] == ["auction", "unpriced", "fifo", "easy", "easy-exact"]' r.json
	# queues refuse nobody; nobody is worth more than the most; what is kept and paid is all of it
	jq -e '[.rows[] | select(.name | test("fifo|easy")) | .completed == 120 and .paid == 0] | all' r.json
	jq -e '.potential as $p | [.rows[] | .welfare > 0 and .welfare <= $p * 1.000001] | all' r.json
	jq -e '[.rows[] | (.kept + .paid - .welfare | fabs) < 1e-6 and (.welfare - (.welfare_by_day | add) | fabs) < 1e-6] | all' r.json
	jq -e '.rows | map({(.name): .}) | add | .unpriced.paid == 0 and .auction.paid > 0 and .easy.welfare >= .fifo.welfare and
		.easy.wait_mean_h <= .fifo.wait_mean_h' r.json
	jq -e '[.rows[] | .utilisation > 0 and .utilisation <= 1] | all' r.json
	# the same again
	"$sim" replay -n nodes log --json slot_seconds=1800 2> /dev/null | cmp - r.json
	# and on one processor
	first=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
	taskset -c "$first" "$sim" replay -n nodes log --json slot_seconds=1800 2> /dev/null | cmp - r.json
}

@test "one is said as one" {
	printf '%s\n' job_id,submit_s,duration_s,gpus a,0,3600,1 > log
	printf '%s\n' node,gpus n1,1 > nodes
	run -0 --separate-stderr "$sim" replay -n nodes log -o page.html
	[ "${lines[0]}" = '1 job, 1 day, 1 server with 1 GPU; the jobs are 4 % of that' ]
	grep -q '1 job of 1 day on 1 server with 1 GPU\.' page.html
	"$sim" replay -n nodes log --history 1 -o page.html
	grep -q 'prices are learned from the day before\.' page.html
	"$sim" import -n nodes log slot_seconds=3600 slots=1 -o day 2> err || { cat err; return 1; }
	for c in run bound; do
		run -0 "$sim" "$c" day
		[ "${lines[0]}" = 'log: 1 server, 1 job, 1 slot of 3600 s' ]
	done
}

@test "an auction that is worth what the queue is" {
	printf '%s\n' job_id,submit_s,duration_s,gpus a,0,3600,1 b,0,3600,1 > log
	printf '%s\n' node,gpus n1,1 > nodes
	"$sim" replay -n nodes log slot_seconds=300 slack=1:1 --json > r.json
	jq -e '.advice == "no-matter" and .rows[0].welfare == .rows[3].welfare' r.json
	jq -re .recommendation r.json | head -n 1 | grep -x 'No reason for a change: the auction is worth as much as EASY backfill on these jobs (more on 0 of 1 day)\.'
}

@test "welfare is less what nodes cost, in queues, too" {
	days 2
	printf '%s\n' PartitionName=long Prices=learned SlotSeconds=1800 Slots=96 'WorkerType=w TRES=gpu:v100=1,cpu=4,mem=16000' \
		'PSType=p TRES=cpu=1,mem=4000' > free.conf
	sed 's/^PartitionName=long/& Cost=gpu=0.5 CostHours=0-6=0.5/' free.conf > cost.conf
	for f in free cost; do
		"$sim" replay -n nodes -c $f.conf log --json > $f.json 2> err || { cat err; return 1; }
	done
	jq -e '[.rows[] | has("cost")] | any | not' free.json
	jq -e '[.rows[] | .cost > 0 and (.kept + .paid - .welfare - .cost | fabs) < 1e-6 and (.welfare - (.welfare_by_day | add) | fabs) < 1e-6] | all' cost.json
	# the queue does the same and is worth as much less: 0.5 a GPU-hour, half of that in a quarter of the day
	jq -es 'map(.rows | map({(.name): .}) | add) | (.[0].easy.welfare - .[1].easy.welfare - .[1].easy.cost | fabs) < 1e-6 and
		.[0].easy.wait_mean_h == .[1].easy.wait_mean_h' free.json cost.json
	jq -e '.gpu_hours as $h | .rows[] | select(.name == "easy") | .cost > 0.25 * $h and .cost < 0.5 * $h' cost.json
	# the page's bars say what the table does
	"$sim" replay -n nodes -c cost.conf log -o page.html 2> err > table
	kept=$(jq -r '.potential as $p | .rows[] | select(.name == "auction") | 100 * .kept / $p' cost.json)
	LC_ALL=C printf -v kept %.1f "$kept"
	grep -q ", kept $kept %" page.html
	grep -q '^Welfare is less what nodes cost: auction [0-9]*, unpriced [0-9]*, fifo [0-9]*, easy [0-9]*, easy-exact [0-9]*\.$' table
}

@test "the advice follows from the numbers: no shortage, the queue is better, the auction is better" {
	printf '%s\n' job_id,submit_s,duration_s,gpus a,0,3600,1 b,90000,3600,1 c,180000,7200,2 > log
	run -0 --separate-stderr "$sim" replay -n nodes log --json
	[ "$(jq -r .advice <<< "$output")" = no-shortage ]
	[[ $(jq -r .recommendation <<< "$output") == "No auction is needed: "* ]]
	# jobs of minutes in slots of an hour, on a cluster that is full with them: the auction wastes most of it
	awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 900; i++) printf "j%d,%d,600,4\n", i, i * 300 }' > log
	run -0 --separate-stderr "$sim" replay -n nodes log --json slot_seconds=3600 slots=48
	[ "$(jq -r .advice <<< "$output")" = keep-queue ]
	[[ $(jq -r .recommendation <<< "$output") == "Keep the queue: the auction is worth "*" % less than EASY backfill"* ]]
	# a few jobs worth a hundred times the others behind a flood of those
	awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,deadline_s"
		for (d = 0; d < 4; d++) for (i = 0; i < 30; i++) printf "j%d-%d,%d,14400,4,%d\n", d, i, d * 86400 + i * 600, d * 86400 + i * 600 + 20000 }' > log
	run -0 --separate-stderr "$sim" replay -n nodes log --json slot_seconds=1800 slots=48 urgency=0.01:10 utility=deadline
	jq -e '(.advice == "auction" or .advice == "auction-if-paid") and (.rows[0].welfare > 1.05 * .rows[3].welfare)' <<< "$output"
}

# well_formed FILE: every element that is opened is closed, in order.
well_formed()
{
	sed 's/<!DOCTYPE html>//' "$1" | grep -o '<[^>]*>' | awk '
		/\/>$/ { next }
		/^<\// { name = substr($0, 3, length($0) - 3); if (stack[n] != name) { print "</" name "> closes " stack[n]; exit 1 } n--; next }
		{ name = substr($1, 2); sub(/[ >].*/, "", name); stack[++n] = name }
		END { if (n) exit 1 }'
}

@test "the page is well-formed, needs nothing from elsewhere, and has the numbers of the JSON" {
	days 3
	mv log 'a<b>&"c'
	"$sim" replay -n nodes 'a<b>&"c' -o page.html --json slot_seconds=1800 > r.json 2> /dev/null
	run -0 grep -c '<svg ' page.html
	[ "$output" = 4 ]
	well_formed page.html
	! grep -qE 'a<b>|NaN|nan|inf[^o]' page.html || false
	grep -q '<title>Replay of a&lt;b&gt;&amp;&quot;c</title>' page.html
	! sed 's|http://www.w3.org/2000/svg||g' page.html | grep -qE 'https?:|src=|href=|url\(|@import|<script' || false
	# the table, row by row
	jq -r '.potential as $p | .rows[] | [.completed, .welfare / $p * 100, .kept, .paid, .wait_mean_h, .wait_p90_h, .utilisation * 100, .users_unserved * 100] | @tsv' r.json |
		while read -r n w k p m q u s; do
			row=$(printf '<td>%d</td><td>%.1f</td><td>%.0f</td><td>%.0f</td><td>%.2f</td><td>%.2f</td><td>%.1f %%</td><td>%.1f %%</td>' "$n" "$w" "$k" "$p" "$m" "$q" "$u" "$s")
			grep -qF "$row" page.html || { echo "no $row"; exit 1; }
		done
	jq -r '.recommendation | split("\n")[0]' r.json | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' > first
	grep -qF "$(cat first)" page.html
}

@test "limits: a queue that knows them waits for them; logs without them say so" {
	days 2
	cut -d, -f1-7 log > short
	run -0 --separate-stderr "$sim" replay -n nodes short slot_seconds=1800
	[[ $output == *"EASY backfill, times known"* ]]
	[[ $output != *easy-exact* ]]
	run -0 --separate-stderr "$sim" replay -n nodes log slot_seconds=1800
	[[ $output == *easy-exact* ]]
}

@test "sacct's users and limits are read, whatever they are" {
	printf '%s\n' 'JobID|User|Submit|Start|ElapsedRaw|State|AllocTRES|Timelimit' \
		'1|alice|2026-10-01T00:00:00|2026-10-01T00:00:00|3600|COMPLETED|gres/gpu:v100=4,node=1|02:00:00' \
		'2|bob|2026-10-01T01:00:00|2026-10-01T01:00:00|3600|COMPLETED|gres/gpu:v100=4,node=1|UNLIMITED' \
		'3||2026-10-02T01:00:00|2026-10-02T01:00:00|3600|COMPLETED|gres/gpu:v100=4,node=1|Partition_Limit' > log
	run -0 --separate-stderr "$sim" replay -n nodes log --json
	jq -e '.users == 2 and .limits == 1 and .days == 2 and .jobs == 3' <<< "$output"
}

@test "auction.conf: its policy, its slots, its prices; what cannot be replayed says so" {
	logs=$BATS_TEST_DIRNAME/import
	grep -v '^Policy=\|^Prices=\|^Eta=\|^Lower=\|^Upper=' "$logs/auction.conf" > auction.conf
	{ echo Prices=none; cat auction.conf; } > none.conf
	{ echo Policy=oasis; cat auction.conf; } > oasis.conf
	{ echo Policy=posted; cat auction.conf; } > posted.conf
	for c in auction none oasis; do
		run -0 --separate-stderr "$sim" replay -n "$logs/nodes-22.05.txt" -c $c.conf "$logs/sacct-22.05.json" --json
		echo "$output" > $c.json
	done
	jq -e '.slots > 0 and ([.rows[].name] | index("learned") | not)' auction.json
	jq -e '[.rows[].name] | index("learned") and (index("unpriced") | not)' none.json
	jq -e '.rows[0].label | startswith("auction as configured: oasis")' oasis.json
	run -1 --separate-stderr "$sim" replay -n "$logs/nodes-22.05.txt" -c posted.conf "$logs/sacct-22.05.json"
	[[ $stderr == *"Policy=posted: expected dps or oasis"* ]]
}

@test "auction.conf: what costs more than any job is worth is not sold" {
	logs=$BATS_TEST_DIRNAME/import
	sed 's/^Prices=.*/Prices=none/; /^Eta=/d; s/^PartitionName=.*/& Cost=gpu=1000000/' "$logs/auction.conf" > dear.conf
	run -0 --separate-stderr "$sim" replay -n "$logs/nodes-22.05.txt" -c dear.conf "$logs/sacct-22.05.json" --json
	jq -e '.rows | map({(.name): .completed}) | add | .auction == 0 and .learned == 0 and .fifo > 0' <<< "$output"
}

@test "what takes long says beforehand how long, and names the log while it works" {
	days 300
	env --default-signal=TERM "$sim" replay -n nodes log > out 2> err 3>&- &
	until grep -q 'with --history 0$' err; do kill -0 $!; sleep 0.1; done
	kill -TERM $!
	code=0
	wait $! || code=$?
	[ "$code" = 1 ]
	[[ $(grep takes err) == "auctionsim: this takes about "*" as busy as this machine is now; about "*" with --history 1, about "*" with --history 0" ]]
	[[ $(tail -n 1 err) == "auctionsim: replay: stopped by SIGTERM"* ]]
	! grep -q /proc err || false
	[ ! -s out ]
}

@test "one that is stopped has the page and the table of the days done, and says so" {
	days 60
	for signal in INT TERM; do
		# What the round before has left would be taken for this one.
		rm -f page.html shown pid
		script -qefc "echo \$\$ > pid; exec env --default-signal=$signal '$sim' replay -n nodes log --json -o page.html > out.json" shown > /dev/null 3>&- < /dev/null &
		until grep -qs 'day [3-9] of 60' shown; do kill -0 $!; sleep 0.1; done
		kill "-$signal" "$(cat pid)"
		code=0
		wait $! || code=$?
		[ "$code" = 1 ]
		[[ $(tr '\r' '\n' < shown | grep stopped) == *"auctionsim: replay: stopped by SIG$signal (day "*" of 60"* ]]
		n=$(jq .days out.json)
		[ "$n" -ge 2 ]
		jq -e '.days_of_log == 60 and .jobs == .days * 40 and .limits == .jobs and .users == 11 and .gpu_hours > 0' out.json
		jq -e '.days as $n | [.rows[] | (.welfare_by_day | length == $n) and (.welfare - (.welfare_by_day | add) | fabs) < 1e-6] | all' out.json
		grep -q "<p>Stopped: this is about the first $n of the 60 days of the log.</p>" page.html
		grep -q '</html>' page.html
		well_formed page.html
	done
	# as if the log had no more days, but for the queues, which see what comes
	days "$n"
	"$sim" replay -n nodes log --json 2> /dev/null > whole.json
	diff <(jq -S 'del(.days_of_log, .rows[] | select(.name | startswith("easy")))' whole.json) <(jq -S 'del(.days_of_log, .rows[] | select(.name | startswith("easy")))' out.json)
}

@test "wrong words" {
	run -2 --separate-stderr "$sim" replay log
	[[ $stderr == *"expected --nodes=FILE"* ]]
	run -2 --separate-stderr "$sim" replay -n nodes
	[[ $stderr == *"expected a LOG"* ]]
	run -2 --separate-stderr "$sim" replay -n nodes --history 99 log
	[[ $stderr == *"--history"*"99"* ]]
	run -1 --separate-stderr "$sim" replay -n nodes missing -o page.html
	[[ $stderr == *missing* ]]
	[ ! -e page.html ]
}
