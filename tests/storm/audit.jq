# audit.jq - see run. $rows: runs of jobs in the accounting; $accepted: submissions; $away: when slurmctld was; $memory: its RSS; $status:
# the last status.json.

def micro: tostring | if test("^[0-9]+\\.[0-9]{6}$") then sub("\\."; "") | tonumber else error("not money: \(.)") end;
def megabytes: if test("G$") then .[:-1] | tonumber * 1024 elif test("M$") then .[:-1] | tonumber else tonumber / 1048576 end;
def percentile($p): sort | if length == 0 then null else .[((length - 1) * $p) | round] end;
def spread: "p50 \(percentile(0.5)) s, p99 \(percentile(0.99)) s, max \(max) s of \(length)";

# True if slurmctld was away, or had just come back, in [from, to].
def was_away($from; $to): any($away[]; .from - 2 <= $to and .to + 15 >= $from);

# What a plan gives on each node in each run, as cells: {node, from, to (Unix time), cpu, mem, gpu}.
def cells($r):
	[$r.plan[] | . as $run | (.workers + .ps | keys[]) as $n | ($run.workers[$n] // 0) as $w | ($run.ps[$n] // 0) as $p
	| {node: $n, from: ($run.from * $r.slot_seconds), to: (($run.to + 1) * $r.slot_seconds),
		cpu: ($w * $r.worker_tres.cpu + $p * $r.ps_tres.cpu), mem: ($w * $r.worker_tres.mem + $p * $r.ps_tres.mem),
		gpu: ($w * ([$r.worker_tres | to_entries[] | select(.key | startswith("gpu")) | .value] | add // 0))}];

# The newest row of each lead: its last run, with the settled receipt.
[$rows[] | select(.receipt.plan)] as $lead_rows
| [$lead_rows | group_by(.receipt.sale)[] | max_by(.submit)] as $leads
| ($leads | map({key: .receipt.sale, value: .}) | from_entries) as $by_sale
| [$rows[] | select(.start != null and .end != null and .end > .start and .node != "" and .node != "None assigned")
	| . + {sale: .receipt.sale, cpu: (.tres.cpu // "0" | tonumber), mem: (.tres.mem // "0M" | megabytes),
		gpu: (.tres["gres/gpu"] // "0" | tonumber)}] as $ran

# 1. What ran at the same time on a node. A second is what the accounting has; a job that ends in the second in which another starts is
# no conflict. A slurmctld that is killed forgets its last seconds: when a job ended that it had ended then, nobody knows.
| [$ran | map(select(was_away(.start; .end) | not)) | group_by(.node)[] | . as $on
	| [$on[] | {t: .start, d: 1, job, cpu, mem, gpu}, {t: .end, d: -1, job, cpu, mem, gpu}] | sort_by([.t, .d])
	| reduce .[] as $e ({cpu: 0, mem: 0, gpu: 0, worst: {cpu: 0, mem: 0, gpu: 0}};
		.cpu += $e.d * $e.cpu | .mem += $e.d * $e.mem | .gpu += $e.d * $e.gpu
		| .worst.cpu = ([.worst.cpu, .cpu] | max) | .worst.mem = ([.worst.mem, .mem] | max) | .worst.gpu = ([.worst.gpu, .gpu] | max))
	| {node: $on[0].node, worst}] as $use
| [$use[] | select(.worst.cpu > 8 or .worst.mem > 16000 or .worst.gpu > 4) | "\(.node): \(.worst | tojson) at once"] as $oversold

# 2. What ran without having been bought: not in the slots of its sale's plan, or with other amounts. A plan that was changed because a node
# failed has forgotten what that node gave in the slot; a controller that is away ends nothing.
| [$ran[] | . as $j | $by_sale[.sale] as $lead | select($lead)
	| [cells($lead.receipt)[] | select(.node == $j.node and .cpu == $j.cpu and .mem == $j.mem and .gpu == $j.gpu)] as $c
	| {j: $j, early: ($c | map(select($j.start >= .from - 1 and $j.start < .to)) | length == 0),
		late: ($c | map(select($j.end > .from and $j.end <= .to + 1)) | length == 0)}
	| select(.early or .late)
	| .excused = (was_away(.j.start; .j.end) or (.j.state | test("NODE_FAIL")) or ($lead.receipt.why == "node_fail"))] as $outside

# 3. Each payment by the rule.
| [$leads[] | .receipt as $r | . as $l
	| [$accepted[] | select(.job == $l.job) | .pays | micro] as $pays # a number that was forgotten is given again
	| ($r.payment | micro) as $kept | ($r.refund // "0.000000" | micro) as $refund
	| ([$r.plan[] | .to - .from + 1] | add) as $all
	| ([$r.plan[] | . as $run | ((($l.end // 0) / $r.slot_seconds) | ceil) as $next
		| if $run.to >= $next then $run.to - ([$run.from, $next] | max) + 1 else 0 end] | add) as $unused
	| any($lead_rows[]; .receipt.sale == $r.sale and .start != null) as $did_run
	| (if $r.state != "settled" then "not settled but \($r.state)"
	   elif $pays != [] and ($pays | index($kept + $refund) | not) then "\($kept) kept and \($refund) paid back are not the \($pays) agreed"
	   elif ($r.why == "node_fail" or $r.why == "lost") and $kept != 0 then "\($r.why), but \($kept) kept"
	   elif ($did_run | not) and $kept != 0 then "never ran, but \($kept) kept"
	   elif $did_run and $l.end and $r.why != "node_fail" and $r.why != "lost" and $refund != ((($kept + $refund) * $unused / $all) | floor)
		and (was_away($l.start; $l.end) | not)
	   then "\($r.why): \($refund) of \($kept + $refund) paid back, but \($unused) of \($all) slots were not begun"
	   else empty end)
	| "job \($l.job): \(.)"] as $unexplained

| ($leads | map(.receipt | select(.state == "settled") | .payment | micro) | add // 0) as $paid
| $status[0].totals as $t

# 4. How late the leads were for their first slot, and everything for its part.
| [$ran[] | select(.receipt.plan) | .receipt as $r | ($r.start * $r.slot_seconds) as $begin
	| select(.start < $begin + $r.slot_seconds) | {late: (.start - ([$begin, .submit] | max)), excused: was_away($begin; .start)}] as $first
| [$ran[] | . as $j | $by_sale[.sale] as $lead | select($lead)
	| [cells($lead.receipt)[] | select(.node == $j.node and $j.start >= .from - 1 and $j.start < .to) | .from] | select(length > 0)
	| {late: ($j.start - max), excused: was_away(max; $j.start)}] as $parts

# 5. Memory, in the longest life of a slurmctld.
| ($memory | group_by(.pid) | max_by(length)) as $life
| ($leads | group_by(.receipt.why) | map("\(.[0].receipt.why // .[0].receipt.state) \(length)") | join(", ")) as $ends

| "jobs accepted: \($accepted | length); sales in the accounting: \($leads | length), in the ledger: \($t.sold); ended: \($ends)",
  "plans of several layouts: \($leads | map(select(.receipt.plan | length > 1)) | length); runs of leads: \($lead_rows | length), of members: \($rows | map(select(.receipt.state == "member")) | length)",
  "slurmctld was away \($away | length) times, \($away | map(.to - .from) | add // 0) s in all",
  "start of leads behind their slot: \($first | map(select(.excused | not) | .late) | spread); with slurmctld away: \($first | map(.late) | spread)",
  "start of all jobs behind their part: \($parts | map(select(.excused | not) | .late) | spread)",
  "agent: cycles \($status[0].agent.cycles | tojson), looks \($status[0].agent.looks | tojson), errors \($status[0].agent.errors | tojson)",
  "memory of slurmctld in \($life | length * 5) s: \($life | .[0].kb) kB to \($life | .[-1].kb) kB",
  "ran outside of what the final plan says: \($outside | length), of them excused by an absence, a failed node or a change: \($outside | map(select(.excused)) | length)",
  ($oversold[] | "WRONG: oversold: \(.)"),
  ($outside[] | select(.excused | not) | "WRONG: job \(.j.job) ran on \(.j.node) from \(.j.start) to \(.j.end) (\(.j.state)), which sale \(.j.sale) did not buy"),
  ($unexplained[] | "WRONG: \(.)"),
  (if $t.live != 0 then "WRONG: \($t.live) sales are still live" else empty end),
  (if $paid != ($t.settled_revenue | micro) then "WRONG: the accounting has payments of \($paid), the ledger \($t.settled_revenue)" else empty end),
  (if $t.charged | micro != (($t.refunded | micro) + ($t.settled_revenue | micro)) then "WRONG: the ledger's money does not add up" else empty end),
  "audit done"
