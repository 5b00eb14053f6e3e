# kills.jq - the audit of tests/storm/kills: nothing that a user was told to pay is lost, and nothing is paid twice. It has the events of
# the spool's journals, what users tried and were told, what their jobs wrote when they began, the rows of the accounting and the totals.

def micro: split(".") | (.[0] | tonumber) * 1000000 + (.[1] | tonumber);
def credits: "\(. / 1000000 | floor).\(. % 1000000 | tostring | "000000"[length:] + .)";
def kinds(f): group_by(f) | map("\(.[0] | f): \(length)") | join(", ");
# The number of a submission is in the six decimals of its bid's value.
def number_of: .bid | capture("bid=(?<value>[0-9.]+)").value | tonumber * 1000000 | round % 1000000;
# Nothing was sold, and nothing is paid: doc/receipt.md.
def is_void: .receipt | .state == "settled" and .why == "void" and .payment == "0.000000";
# Of two events with one number: none, if all is well.
def twice(f): group_by(f) | map(select(length > 1))[];

[$rows | split("\n")[] | select(. != "")
	| capture("^(?<job>[0-9]+)\\|(?<name>[^|]*)\\|(?<state>[^|]*)\\|(?<submit>[^|]*)\\|(?<start>[^|]*)\\|(?<elapsed>[^|]*)\\|(?<receipt>.*)$")
	| .submit = (.submit | tonumber? // 0) | .elapsed = (.elapsed | tonumber? // 0) | .receipt = (.receipt | fromjson? // null)] as $rows
| ($events | unique_by(.seq)) as $events
| ($events | map(select(.event == "sold"))) as $sold
| ($events | map(select(.event == "settled"))) as $settled
| ($told | map({key: .name, value: .}) | from_entries) as $told_of
| ($tried | map({key: .name, value: .}) | from_entries) as $tried_of
| ($begun | map({key: .name, value: true}) | from_entries) as $began
| ($settled | map({key: .sale, value: .}) | from_entries) as $end_of
# The last of the plan's payments: what more slots cost is charged as they are bought.
| ($events | map(select(.event == "sold" or .event == "changed") | {key: .sale, value: (.payment | micro)}) | from_entries) as $payment_of
| ($rows | map(select(.receipt.sale and .receipt.state != "member")) | group_by(.receipt.sale)
	| map({key: .[0].receipt.sale, value: max_by(.submit)}) | from_entries) as $row_of
# Rows by the name of the job, also of those that no sale is of.
| ($rows | map(select(.elapsed > 0) | {key: .name, value: .}) | from_entries) as $ran
| [$sold[] | .name = "kill-\(number_of)" | .end = $end_of[.sale] | .row = $row_of[.sale] | .ran = ($began[.name] or ($ran[.name] | type == "object"))] as $sales
| ($sales | map({key: .name, value: .}) | from_entries) as $sale_of
| $status[0].totals as $t
| ($settled | map(.kept | micro) | add // 0) as $kept
| ($settled | map(.refund | micro) | add // 0) as $refunded
| ($payment_of | add // 0) as $charged
| ([$row_of[] | .receipt | select(.state == "settled") | .payment | micro] | add // 0) as $paid

| "slurmctld was killed \($killed) times",
  "submissions: \($tried | length), told to pay: \($told | length); sales: \($sold | length), of these \([$sales[] | select($told_of[.name] | not)] | length) where slurmctld died before it answered",
  "told, and slurmctld died before it was on disk, so that neither job nor payment is left: \([$told[] | select($sale_of[.name] | not)] | length)",
  "void, as their sale was not on disk and their place was not free any more: \([$row_of[] | select(is_void)] | length)",
  "ended: \($settled | kinds(.why))",
  "jobs that ran: \([$sales[] | select(.ran)] | length); of these paid back as slurmctld forgot them or was away: \([$sales[] | select(.ran and .end.kept == "0.000000" and .payment != "0.000000")] | length)",
  "charged \($charged | credits), kept \($kept | credits), paid back \($refunded | credits)",

  # The journal as a whole.
  (if ($events | map(.seq)) != [range(1; ($events | length) + 1)] then "WRONG: the journal has gaps" else empty end),
  ($sold | twice(.sale) | "WRONG: sale \(.[0].sale) was sold \(length) times"),
  ($settled | twice(.sale) | "WRONG: sale \(.[0].sale) was settled \(length) times"),
  ($sales | twice(.name) | "WRONG: \(.[0].name) was sold as \(map(.sale) | join(" and "))"),
  # What was told.
  ($told[] | $sale_of[.name] as $s | if $s then
	(if (.pays | if contains(".") then . else . + ".0" end | tonumber) != ($s.payment | tonumber) then "WRONG: \(.name) was told \(.pays), charged \($s.payment)" else empty end)
   elif $began[.name] or $ran[.name] then "WRONG: \(.name), job \(.job), ran and no sale is of it"
   else empty end),
  ($sales[] | select($tried_of[.name] | not) | "WRONG: sale \(.sale) (\(.name)) is of no submission"),
  ($begun | map(.name) | unique[] | select($sale_of[.] | not) | select(startswith("kill-")) | "WRONG: \(.) began and no sale is of it"),
  # Each sale.
  ($sales[] | . as $s | if .end == null then "WRONG: sale \(.sale) (\(.name)) is not settled" else
	(if (.end.kept | micro) + (.end.refund | micro) != $payment_of[.sale] then "WRONG: sale \(.sale): \(.end.kept) kept and \(.end.refund) paid back of \($payment_of[.sale] | credits)" else empty end),
	(if .end.kept != "0.000000" and (.ran | not) then "WRONG: sale \(.sale) (\(.name)) has paid \(.end.kept) and its job never ran" else empty end),
	(if .ran and .end.kept == "0.000000" and .payment != "0.000000" and (.end.why | IN("completed", "failed", "timeout", "cancelled"))
		then "WRONG: sale \(.sale) (\(.name)) ran, ended as \(.end.why) and has paid nothing" else empty end),
	(if .row == null then (if .end.kept != "0.000000" then "WRONG: sale \(.sale) (\(.name)) has paid \(.end.kept), and the accounting has no row of it" else empty end)
	 elif [.row.receipt.state, .row.receipt.payment, .row.receipt.refund, .row.receipt.why] != ["settled", .end.kept, .end.refund, .end.why]
		then "WRONG: sale \(.sale) (\(.name), job \(.job)): the accounting has \(.row.receipt | {state, payment, refund, why} | tojson), the spool \(.end | {kept, refund, why} | tojson)"
	 else empty end)
   end),
  # Slurm had saved a job whose sale was not on disk: it is sold again as it stood, or its receipt says that nothing was sold or paid.
  ($row_of | keys[] | . as $sale | select($payment_of | has($sale) | not) | select($row_of[$sale] | is_void | not)
	| "WRONG: the accounting has a receipt of sale \($sale), which was never sold: \($row_of[$sale].receipt | {state, payment, refund, why} | tojson)"),
  # The sums.
  (if $t.live != 0 then "WRONG: \($t.live) sales are live" else empty end),
  (if $t.sold != ($sold | length) then "WRONG: the totals have \($t.sold) sales, the journals \($sold | length)" else empty end),
  (if $charged != ($t.charged | micro) then "WRONG: charged \($charged | credits), the totals say \($t.charged)" else empty end),
  (if $refunded != ($t.refunded | micro) then "WRONG: paid back \($refunded | credits), the totals say \($t.refunded)" else empty end),
  (if $paid != ($t.settled_revenue | micro) then "WRONG: the accounting has payments of \($paid | credits), the ledger \($t.settled_revenue)" else empty end),
  "audit done"
