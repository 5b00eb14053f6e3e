# audit.jq - see audit. $jobs: accounting rows with a receipt; $seen: tasks; $events: the spool.

def micro: tostring | if test("^[0-9]+\\.[0-9]{6}$") then sub("\\."; "") | tonumber else error("not money: \(.)") end;
def money: . as $m | ($m / 1000000 | floor) as $c | "\($c).\(("00000" + ($m - $c * 1000000 | tostring))[-6:])";
def megabytes: if test("G$") then .[:-1] | tonumber * 1024 elif test("M$") then .[:-1] | tonumber else tonumber / 1048576 end;

# What the receipt promises on each node: {edge1: {cpu, mem, gpu, workers, ps}}.
def promised($r):
	reduce ($r.plan[] | .workers as $w | .ps as $p | ($w + $p | keys[]) as $n | {$n, w: ($w[$n] // 0), p: ($p[$n] // 0)}) as $s
		({}; .[$s.n] = {
			workers: $s.w, ps: $s.p,
			cpu: ($s.w * ($r.worker_tres.cpu // 0) + $s.p * ($r.ps_tres.cpu // 0)),
			mem: ($s.w * ($r.worker_tres.mem // 0) + $s.p * ($r.ps_tres.mem // 0)),
			gpu: ($s.w * ([$r.worker_tres | to_entries[] | select(.key | startswith("gpu")) | .value] | add // 0))
		});

# Members whose node failed, before they started (sacct's "None") or after, and whose part of the plan has moved to another node: the
# receipt has that one in their place.
def moved($lead; $p):
	[$jobs[] | select(.receipt.lead == $lead.job and (.start == "None" or (.state == "NODE_FAIL" and $p[.nodes] == null))) | .job];

# What the accounting says was allocated on each node to the lead and its members.
def allocated($lead; $moved):
	reduce ($jobs[] | select((.job == $lead.job or .receipt.lead == $lead.job) and (.job | IN($moved[]) | not))) as $j
		({}; .[$j.nodes] = {
			cpu: ($j.tres.cpu // "0" | tonumber), mem: ($j.tres.mem // "0M" | megabytes), gpu: ($j.tres["gres/gpu"] // "0" | tonumber)
		});

# What the tasks saw: workers, PSs and distinct GPUs on each node.
def sighted($lead; $moved):
	[$seen[] | select(.lead == $lead.job and (.job | IN($moved[]) | not))] | group_by(.node)
	| map({key: .[0].node, value: {
		workers: (map(select(.role == "worker")) | length), ps: (map(select(.role == "ps")) | length),
		gpu: (map(select(.role == "worker") | .gpus | split(",")) | add // [] | map(select(. != "none")) | unique | length)}})
	| from_entries;

def differences($lead):
	$lead.receipt as $r | promised($r) as $p | moved($lead; $p) as $m | allocated($lead; $m) as $a | sighted($lead; $m) as $s
	| ($r.plan | map(.from) | min * $r.slot_seconds) as $begin | ($r.plan | map(.to) | max + 1 | . * $r.slot_seconds) as $until
	| [$jobs[] | select(.job == $lead.job or .receipt.lead == $lead.job)] as $group
	| [
		(if ($p | map_values({cpu, mem, gpu})) != $a then "accounting says \($a | tojson), the receipt \($p | map_values({cpu, mem, gpu}) | tojson)" else empty end),
		(if $s == {} then "no task was seen"
		 elif ($p | map_values({workers, ps, gpu})) != $s then "its tasks saw \($s | tojson), the receipt says \($p | map_values({workers, ps, gpu}) | tojson)" else empty end),
		($group[] | (.start | tonumber?) as $t | select($t < $begin) | "job \(.job) started \($begin - $t) s before its slots"),
		($group[] | (.end | tonumber?) as $t | select($t > $until) | "job \(.job) ended \($t - $until) s after its slots"),
		($seen[] | select(.lead == $lead.job and (.time < $begin or .time > $until)) | "\(.role) \(.rank) ran outside of its slots"),
		($seen[] | select(.lead == $lead.job and .type != (if .role == "ps" then $r.ps_type else $r.worker_type end)) | "\(.role) \(.rank) is of type \(.type)"),
		($events[] | select(.sale == $r.sale and .value) | .value | select(micro < ($r.payment | micro)) | "the payment is above the value"),
		(if $r.state != "settled" then "the receipt is not settled but \($r.state)" else empty end)
	];

# A gang is one job, whose program is its owner's: what the accounting has is compared with what each of its nodes was to give.
def gang_differences($lead):
	$lead.receipt as $r | ($r.plan[0].nodes | length) as $n
	| {cpu: (($r.per_node.cpu // 0) * $n), mem: (($r.per_node.mem // 0) * $n),
		gpu: (([$r.per_node | to_entries[] | select(.key | startswith("gpu")) | .value] | add // 0) * $n)} as $p
	| {cpu: ($lead.tres.cpu // "0" | tonumber), mem: ($lead.tres.mem // "0M" | megabytes), gpu: ($lead.tres["gres/gpu"] // "0" | tonumber)} as $a
	| ($r.plan[0].from * $r.slot_seconds) as $begin | (($r.plan[0].to + 1) * $r.slot_seconds) as $until
	| [
		(if $p != $a then "accounting says \($a | tojson), the receipt \($p | tojson)" else empty end),
		(if ($lead.start | tonumber? // $begin) < $begin then "it started \($begin - ($lead.start | tonumber)) s before its slots" else empty end),
		(if ($lead.end | tonumber? // $until) > $until then "it ended \(($lead.end | tonumber) - $until) s after its slots" else empty end),
		(if $r.state != "settled" then "the receipt is not settled but \($r.state)" else empty end)
	];

# One that was cancelled, or whose node failed, is not what was sold any more: nothing ran outside of its slots, and the cluster's failure costs
# nothing.
def broken: (.receipt.why == "cancelled" and (.state | startswith("CANCELLED"))) or .receipt.why == "node_fail";
def broken_differences($lead):
	$lead.receipt as $r | ($r.plan | map(.from) | min * $r.slot_seconds) as $begin
	| [
		($lead.start | tonumber? | select(. < $begin) | "it started \($begin - .) s before its slots"),
		(if $r.why == "node_fail" and ($r.payment | micro) > 0 then "it has paid \($r.payment) for a node that failed" else empty end),
		(if $r.state != "settled" then "the receipt is not settled but \($r.state)" else empty end)
	];

def ended: .state | test("^(PENDING|RUNNING|SUSPENDED|REQUEUED)") | not;

[$jobs[] | select(.receipt.plan)
	| select(($only | length) == 0 or (.job as $j | $only | index($j) != null))
	| . + {wrong: (if ended | not then ["it has not ended"] elif broken then broken_differences(.) elif .receipt.per_node then gang_differences(.) else differences(.) end)}] as $leads
| ($leads | map(.receipt.payment | micro) | add // 0) as $paid
| ([$events[] | if has("settled_revenue") then .settled_revenue | micro elif .event == "settled" then .kept | micro else 0 end] | add // 0) as $revenue
| ($leads[]
	| if .wrong != [] then "job \(.job): WRONG: \(.wrong | join("; "))"
	  elif $quiet then empty
	  elif broken then "job \(.job): ended early (\(.receipt.why)), has paid \(.receipt.payment)"
	  else "job \(.job): nodes, GPUs and slots of receipt, accounting and tasks agree (\(.receipt.plan | map((.nodes // (.workers + .ps | keys))[]) | unique | join(",")))" end),
  (if ($only | length) > 0 then empty
   elif $paid != $revenue then "WRONG: payments in the accounting are \($paid | money), the revenue in the spool is \($revenue | money)"
   elif $quiet then empty
   else "sum of \($leads | length) payments in the accounting = revenue in the spool = \($paid | money)" end),
  (if ($leads | length) == 0 then "WRONG: no sold job" else empty end),
  (if ($leads | length) == 0 or ($leads | any(.wrong != [])) or (($only | length) == 0 and $paid != $revenue) then "" | halt_error(1) else empty end)
