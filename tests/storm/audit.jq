# audit.jq - see run. What is compared:
#   $tasks      what the nodes saw: each task with its job's TRES and when it lived (see watch)
#   $events     what the auction sold: the ledger's events, in order, with the moment at which each was seen, and the commit that it is of
#   $rows       what Slurm says: runs of jobs in the accounting, with their receipts
#   $submitted  what the users were told
# and besides $away: when slurmctld was; $failures: of nodes; $memory: RSS of slurmctld; $status: the last status.json;
# $node: what one has; $slot: seconds; $jobs: wanted.

include "memory";

# kB for each record of a job: only gross leaks show here, see storm.md.
def refunds: IN("node_fail", "node_busy", "not_started", "not_launched", "not_moved", "refused", "held", "barred", "preempted", "partition_down",
	"outage", "lost", "void");

def record_kb: 200;

# Seconds after its slots, or after slurmctld's return, in which a task has ended: a lead that cannot be moved is ended after 15 s
# or a quarter of a slot (doc/executor.md), and that takes some, too.
def ended_within: ([15, $slot / 4] | max) + 5;

def micro: if type == "number" then . * 1000000 | round
	elif test("^[0-9]+\\.[0-9]{6}$") then sub("\\."; "") | tonumber else error("not money: \(.)") end;
def credits: "\(. / 1000000)";
def percentile($p): sort | .[((length - 1) * $p) | round];
def tenths: . * 100 | round / 100;
def spread: if length == 0 then "none" else "p50 \(percentile(0.5) | tenths) s, p99 \(percentile(0.99) | tenths) s, max \(max | tenths) s of \(length)" end;
def gpus($tres): [$tres | to_entries[] | select(.key | startswith("gpu")) | .value] | add // 0;
def slot_of: . / $slot | floor;
def kinds(f): group_by(f) | map("\(.[0] | f) \(length)") | join(", ");

# True if slurmctld was away, or had just come back, in [from, to]: AFTER seconds.
def was_away($from; $to; $after): any($away[]; .from <= $to and .to + $after >= $from);
# When slurmctld last came back, as of this moment; while it is away: when it will.
def returned: . as $at | [$away[] | select(.from <= $at) | .to] | max // 0;
# True if one of NODES failed or came back in [from, to].
def failed($nodes; $from; $to): any($failures[]; (.node | IN($nodes[])) and .at >= $from and .at <= $to);

# What an event's plan gives: {"NODE SLOT": {cpu, mem, gpu}}.
def gang: .plan | has("per_node");
def cells: . as $e | if gang then [.plan.plan[] | . as $run | .nodes[] as $n | range(.from; .to + 1)
	| {key: "\($n) \(.)", value: {cpu: $e.plan.per_node.cpu, mem: $e.plan.per_node.mem, gpu: gpus($e.plan.per_node)}}] | from_entries else [.plan.plan[] | . as $run | (.workers + .ps | keys[]) as $n | ($run.workers[$n] // 0) as $w | ($run.ps[$n] // 0) as $p
	| range(.from; .to + 1) | {key: "\($n) \(.)", value: {
		cpu: ($w * ($e.worker_tres.cpu // 0) + $p * ($e.ps_tres.cpu // 0)),
		mem: ($w * ($e.worker_tres.mem // 0) + $p * ($e.ps_tres.mem // 0)),
		gpu: ($w * gpus($e.worker_tres) + $p * gpus($e.ps_tres))}}] | from_entries end;
def slots: [.plan.plan[] | .to - .from + 1] | add;
# Starts by what else happened. What slurmctld itself starts late, or again, since it was away is shown after its return, too.
def lateness($what): "\($what) began after their slot, quiet: \([.[] | select(.disturbed == "quiet") | .late] | spread)",
	"  with a node that failed or came back within 30 s: \([.[] | select(.disturbed == "node") | .late] | spread)",
	([.[] | select(.disturbed == "gpus") | .late] | if . == [] then empty else "  of a job that had GPUs and has none now, so that Slurm waits for a free one: \(spread)" end),
	([.[] | select(.disturbed == "slurmctld")] | "  with slurmctld away, or back for less than 15 s: \(map(.late) | spread); after its return: \(map(.at - ([.begin, .returned] | max)) | spread)");
# The number of the submission is in the six decimals of its bid's value, which the ledger writes without zeros at the end: 70.1 is that of 100000.
def number_of: .bid | capture("sigmoid:(?<value>[0-9.]+),").value | tonumber | micro % 1000000;

# Books CELLS with SIGN into .book.
def book($cells; $sign): reduce ($cells | to_entries[]) as $c (.; .touched[$c.key] = true | .book[$c.key] as $b
	| .book[$c.key] = {cpu: (($b.cpu // 0) + $sign * $c.value.cpu), mem: (($b.mem // 0) + $sign * $c.value.mem),
		gpu: (($b.gpu // 0) + $sign * $c.value.gpu)});
# Notes what is above what a node has, of what was touched since it last was: jobs that change places do so in one commit.
def weigh: .book as $book | .oversold += [.touched | keys[] | $book[.] as $sum
		| select($sum.cpu > $node.cpu or $sum.mem > $node.mem or $sum.gpu > $node.gpu) | "\(.): \($sum | tojson)"]
	| .touched = {};

# 1. The ledger, commit by commit.
(reduce ($events | group_by(.commit // .seq)[]) as $commit ({sales: {}, book: {}, touched: {}, oversold: []}; reduce $commit[] as $e (.;
	if $e.event == "sold" then
		.sales[$e.sale] = {sale: $e.sale, job: $e.job, n: ($e | number_of), payment: ($e.payment | micro), plans: [{at: $e.at, cells: ($e | cells)}],
			slots: ($e | slots), last: $e, running: ($e.state == "running")}
		| book($e | cells; 1)
	elif $e.event == "changed" then
		book(.sales[$e.sale].plans[-1].cells; -1) | book($e | cells; 1)
		| .sales[$e.sale] |= (.payment = ($e.payment | micro) | .plans += [{at: $e.at, cells: ($e | cells)}] | .slots = ($e | slots) | .last = $e)
	elif $e.event == "running" then .sales[$e.sale].running = true
	elif $e.event == "settled" then
		book(.sales[$e.sale].plans[-1].cells | with_entries(select((.key | split(" ")[1] | tonumber) >= $e.free_from)); -1)
		| .sales[$e.sale].settled = $e
	else . end) | weigh)) as $ledger
| ($submitted | map({key: "\(.n)", value: .}) | from_entries) as $told
| [$ledger.sales[] | . as $s | .told = $told["\(.n)"] | .all = ([.plans[].cells] | add) | .nodes = ([.all | keys[] | split(" ")[0]] | unique)] as $sales

# 2. Which sale each task is of. Members have the number of their lead, which may have been given twice: then it is the later one's.
| ($sales | map({key: "storm-\(.n)", value: .sale}) | from_entries) as $by_name
| ($sales | group_by(.job) | map({key: "\(.[0].job)", value: map({sale, at: (.told.at // 0)}) | sort_by(.at)}) | from_entries) as $by_job
| ($sales | map({key: .sale, value: .}) | from_entries) as $by_sale
| [$tasks[] | . as $t | .lead = (.name | startswith("storm-"))
	| .sale = (if .lead then $by_name[.name] else
		[($by_job[.name | split("-")[1]] // [])[] | select(.at < $t.at)] | last.sale end)
	| .gpu = (.gpus | if type == "number" then 1 elif . == "-" then 0 else split(",") | length end)
	| .gpus |= (if . == "-" then [] else tostring | split(",") end)] as $ran
| ($ran | group_by(.sale) | map({key: "\(.[0].sale)", value: .}) | from_entries) as $ran_for

# 3. What ran at the same time on a node. A task lived from its begin until it was last seen, at least.
| [$ran | group_by(.node)[] | . as $on | .[] | . as $t
	| [$on[] | select(.at <= $t.at and (.seen // 0) > $t.at)]
	| {t: $t, with: ., cpu: (map(.cpu) | add), mem: (map(.mem) | add), gpu: (map(.gpu) | add), twice: (map(.gpus[]) | length - (unique | length))}
	| select(.cpu > $node.cpu or .mem > $node.mem or .gpu > $node.gpu or .twice > 0)
	| "\(.t.node) at \(.t.at): " + (.with | map("job \(.job) (\(.name)): \(.cpu) CPUs, \(.mem) MB, GPUs \(.gpus | join(",")), \(.at) to \(.seen)") | join("; "))
	] as $oversold

# 4. Whether each task ran where and when its sale has bought just that, and how late it began. What its node gives it in one go begins
# in slot .first and ends with .last.
| [$ran[] | . as $t | $by_sale[.sale // ""] as $s | select($s) | .gang = ($s.last | gang)
	| {cpu, mem, gpu} as $share
	| [$s.all | to_entries[] | (.key | split(" ")) as $k | select($k[0] == $t.node and .value == $share) | $k[1] | tonumber] as $slots
	# One that slurmctld let begin just before the end, and that was killed with it, may be gone within a second after it.
	| (.at | slot_of | if (IN($slots[]) | not) and IN($slots[] + 1) and ($t.seen // infinite) <= . * $slot + 1 then . - 1 else . end) as $now
	| if $slots | index($now) then
		.first = ([range($now; $now - 1000; -1) | select(IN($slots[]) | not)][0] + 1)
		| .first as $first
		| .last = ([range($now; $now + 1000) | select(IN($slots[]) | not)][0] - 1)
		| .over = (.seen // infinite) - (.last + 1) * $slot
		| [$ran_for[$t.sale][] | select(.node == $t.node and .at < $t.at and .at >= $first * $slot)] as $before
		| ([$s.plans[1:][].at // 0 | select(. <= $t.at)] | max // 0) as $changed
		| ([.first * $slot, $s.told.at // 0] | max) as $begin
		# A node that goes on as another part of its plan begins again at the slot; after a failure, at any time.
		| .again = ($before != [] and ($before | map(.seen) | max) < $now * $slot - 2)
		| .begin = (if $before != [] then $now * $slot else [$begin, (if $changed > $begin then $changed else 0 end)] | max end)
		| .moved = ($changed >= $begin)
		| .late = (.at - .begin)
		| .initial = (.lead and ($s.told.at // 0) <= .begin and all($ran_for[$t.sale][]; .lead == false or .at >= $t.at))
		| .returned = (.at | returned)
		| .lost_gpus = (.lead and .gpu == 0 and any($ran_for[$t.sale][]; .lead and .gpu > 0 and .at < $t.at))
		| .disturbed = (if was_away(.begin - 1; .at; 15) then "slurmctld" elif .again or .moved or failed($s.nodes; .begin - 30; .at) then "node"
			elif .lost_gpus then "gpus" else "quiet" end)
	  else .outside = true | .next = ($slots | index($now + 1)) end
	] as $placed
| [$placed[] | select(.outside or .over > 0)
	| .excuse = (if .outside then (if .next and was_away(.at - 30; .at; 15) then "began late and was put off" else null end)
		elif .over <= 1 then "within a second"
		elif was_away((.last + 1) * $slot - 1; .seen; 15) and .seen - ([(.last + 1) * $slot, (.seen | returned)] | max) <= ended_within then "slurmctld was away at the end of its slots"
		else null end)] as $outside

# 5. What was bought and paid for, and did not run: slots of the plan before the end of all.
| [$sales[] | . as $s | .settled as $final | select($final and .running and $final.kept != "0.000000")
	| ([($ran_for[.sale] // [])[] | select(.lead) | .seen // infinite] | max // 0) as $lead_end
	| .plans[-1].cells | keys[] | split(" ") | {sale: $s.sale, job: $s.job, node: .[0], slot: (.[1] | tonumber)} | . as $c
	| select(.slot < $final.free_from and (.slot + 0.5) * $slot < $lead_end)
	| select(any($ran_for[$s.sale][]; .node == $c.node and .at < ($c.slot + 1) * $slot and (.seen // infinite) > $c.slot * $slot) | not)
	| .excuse = (if was_away($c.slot * $slot - 1; ($c.slot + 1) * $slot; 15) then "slurmctld was away"
		elif failed($s.nodes; $c.slot * $slot - 30; ($c.slot + 1) * $slot) then "a node failed" else null end)] as $missing

# 6. Each payment: what was told is what was sold, and what is kept follows from the rule of doc/ledger.md, from what the nodes saw.
| [$sales[] | . as $s | .settled as $final | [($ran_for[.sale] // [])[] | select(.lead)] as $runs
	| ($runs | map(.seen // infinite) | max) as $seen | ($runs | map(.gone // infinite) | max) as $gone
	| (.last.plan.completion) as $completion
	| (.last.plan.lost // 0) as $lost
	| if $final == null then "\(.sale): not settled" else
		($final.kept | micro) as $kept | ($final.refund | micro) as $refund
		| ([.plans[-1].cells | keys[] | split(" ")[1] | tonumber] | unique | map(select(. >= $final.free_from)) | length) as $unused
		| (if .told and (.told.pays | micro) != .payment then "told \(.told.pays | micro | credits), charged \(.payment | credits)" else empty end),
		  (if $kept + $refund != .payment then "\($kept | credits) kept and \($refund | credits) paid back of \(.payment | credits)" else empty end),
		  (if ($final.why | refunds) or (.running | not) then
			(if $kept != 0 then "\($final.why), \(if .running then "started" else "never started" end), but \($kept | credits) kept" else empty end)
		   elif $refund != (.payment * ($unused + $lost) / (.slots + $lost) | floor) then
			"\($final.why): \($refund | credits) paid back of \(.payment | credits), but \($unused) of \(.slots) slots were not begun, \($lost) lost"
		   else empty end),
		  (if $runs == [] and $kept != 0 then "no task of it ever ran, but \($kept | credits) kept" else empty end),
		  (if $runs != [] and $kept != 0 and $final.free_from < $completion and $final.free_from > ($gone / $slot | ceil)
			and (was_away($seen; $final.free_from * $slot; 15) | not) then "ended at \($gone), but slots before \($final.free_from) are paid" else empty end)
		| "sale \($s.sale), job \($s.job): \(.)"
	  end] as $unexplained

# 7. Slurm's side: the newest row of each sale has its final receipt.
| ([$rows[] | select(.receipt.plan)] | group_by(.receipt.sale) | map({key: .[0].receipt.sale, value: max_by([.submit, .start // 0])}) | from_entries) as $row_of
| [$sales[] | . as $s | $row_of[.sale] as $row | .settled as $final | select($final)
	| if $row == null then (if ($final.why | refunds) and $final.kept == "0.000000" then empty else "no row in the accounting, but \($final.why) and \($final.kept) kept" end)
	  elif [$row.receipt.state, $row.receipt.payment, $row.receipt.refund, $row.receipt.why] != ["settled", $final.kept, $final.refund, $final.why]
	  then "the accounting has \($row.receipt | {state, payment, refund, why} | tojson), the ledger \($final | {kept, refund, why} | tojson)"
	  else empty end
	| "sale \($s.sale), job \($s.job): \(.)"] as $unequal
| [$sales[] | select($row_of[.sale] == null)] as $no_row
| ($row_of | map(.receipt | select(.state == "settled") | .payment | micro) | add // 0) as $paid
| $status[0].totals as $t
| ($sales | map(.payment) | add // 0) as $charged

| [$placed[] | select(.outside | not)] as $starts
| [$starts[] | select(.initial)] as $first
| [$starts[] | select((.initial | not) and (.again | not))] as $parts

# 8. Memory of slurmctld. Slurm itself grows, too: "run --ordinary" says by how much.
| growth($memory; $rows) as $growth

| "accepted: \($submitted | length) jobs; sold: \($sales | length), \($sales | map(select(.last | gang)) | length) of them gangs, of several layouts: \($sales | map(select(.last.plan.plan | length > 1)) | length); changed since: \($sales | map(.plans | length - 1) | add)",
  "tasks that ran: \($ran | length), of leads \($ran | map(select(.lead)) | length), at most \([$ran[] | . as $t | [$ran[] | select(.at <= $t.at and (.seen // infinite) > $t.at)] | length] | max) at a time",
  "ended: \($sales | kinds(.settled.why))",
  "charged \($charged | credits), kept \($t.settled_revenue), paid back \($t.refunded)",
  "slurmctld was away \($away | length) times (\($away | kinds(.how))), \($away | map(.to - .from) | add // 0 | tenths) s in all; nodes died \([$failures[] | select(.what | startswith("dies"))] | length) times",
  ($first | lateness("first parts")), ($parts | lateness("further parts")),
  "tasks that ended after their slots: \([$outside[] | select(.outside | not)] | length) (\([$outside[] | select(.outside | not)] | kinds(.excuse))), by \([$outside[] | select(.outside | not) | .over] | spread)",
  "shares of a node in a slot that were paid and did not run: \($missing | length) (\($missing | kinds(.excuse)))",
  "sales whose job slurmctld forgot before the accounting knew it: \($no_row | length)",
  "agent: cycles \($status[0].agent.cycles | tojson), looks \($status[0].agent.looks | tojson), errors \($status[0].agent.errors | tojson)",
  ($growth | growth_line),
  (if ($submitted | length) < $jobs then "WRONG: \($submitted | length) jobs were accepted, not \($jobs)" else empty end),
  ([$starts[] | select(.disturbed == "quiet" and (.again | not) and (.gang | not)) | .late] | if length > 0 and percentile(0.99) >= 2 then "WRONG: p99 of quiet starts is \(percentile(0.99)) s" else empty end),
  (if $growth.records >= 50 and $growth.each > record_kb then "WRONG: slurmctld grows by \($growth.each) kB for each record" else empty end),
  ($ledger.oversold[] | "WRONG: sold twice: \(.)"),
  ($oversold[] | "WRONG: ran twice: \(.)"),
  ($ran[] | select(.sale == null) | "WRONG: job \(.job) (\(.name)) ran on \(.node) for nobody"),
  ($tasks[] | select(.seen == null) | "WRONG: job \(.job) (\(.name)) still runs on \(.node)"),
  ($outside[] | select(.excuse == null) | "WRONG: job \(.job) (\(.name)) ran on \(.node) from \(.at) to \(.seen), which sale \(.sale) did not buy"),
  ($missing[] | select(.excuse == null) | "WRONG: job \(.job) paid for \(.node) in slot \(.slot) (\(.slot * $slot)), where nothing ran"),
  ($unexplained[] | "WRONG: \(.)"),
  ($unequal[] | "WRONG: \(.)"),
  (if $t.live != 0 then "WRONG: \($t.live) sales are still live" else empty end),
  (if $t.sold != ($sales | length) then "WRONG: the journal has \($sales | length) sales, the ledger's totals \($t.sold)" else empty end),
  (if $charged != ($t.charged | micro) then "WRONG: the journal charged \($charged | credits), the ledger's totals say \($t.charged)" else empty end),
  (if $paid != ($t.settled_revenue | micro) then "WRONG: the accounting has payments of \($paid | credits), the ledger \($t.settled_revenue)" else empty end),
  (if ($t.charged | micro) != (($t.refunded | micro) + ($t.settled_revenue | micro)) then "WRONG: the ledger's money does not add up" else empty end),
  "audit done"
