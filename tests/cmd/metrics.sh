#!/bin/bash
# metrics.sh - sprice --metrics of what the auction has done since it began, and that the dashboard asks for metrics that there are.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
here=${srcdir:-$(dirname "$0")/..}/cmd
. "$here/built.bash"
sprice=$(built sprice)
dashboard=$here/../../contrib/grafana/slurm-auction.json
export TZ=UTC ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
failed=0

fail()
{
	echo "FAIL: $*"
	failed=1
}

got=$("$sprice" --metrics -f "$here/status-activity.json") || fail "exit code $?"
while IFS= read -r line; do
	grep -qxF -- "$line" <<< "$got" || fail "no line '$line'"
done <<'END2'
# TYPE auction_refusals counter
auction_refusals_total{reason="payoff"} 3
auction_refusals_total{reason="capacity"} 1
auction_undecided_total{error="state"} 1
auction_start_timestamp_seconds 299999000.5
auction_value_asked_credits_total 1234.5
auction_value_sold_credits_total 800.25
# TYPE auction_decision_seconds histogram
auction_decision_seconds_bucket{le="1e-05"} 1
auction_decision_seconds_bucket{le="0.001"} 8
auction_decision_seconds_bucket{le="+Inf"} 10
auction_decision_seconds_sum 0.0125
auction_decision_seconds_count 10
auction_lock_wait_seconds_bucket{le="+Inf"} 10
auction_room{type="v100",role="worker"} 5
auction_room_pooled{type="v100",role="worker"} 7
auction_room_pooled{type="ps.m",role="ps"} 40
auction_account_received_credits_total{account="account:physics"} 5000
auction_account_spent_credits_total{account="account:physics"} 16.678579
auction_account_held_credits{account="account:physics"} 2.5
auction_account_left_credits{account="account:physics"} 4980.821421
auction_account_spent_credits_total{account="user:2001"} 9.75
# EOF
END2
# An account without money of its own has nothing left that could run out; the other side of the books is no account of anybody.
! grep -q 'auction_account_left_credits{account="user' <<< "$got" || fail "left of an account without a limit"
! grep -qE 'auction_account_.*"(mint|market|tree)"' <<< "$got" || fail "mint and market are no spenders"
# Its counts do not go with its bounds: left out.
grep -q '^auction_lock_held' <<< "$got" && fail "times that are damaged"
# Each family once, and its samples together, as OpenMetrics has it.
[ -z "$(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' <<< "$got" | sort | uniq -d)" ] || fail "a family twice"

# What a metric may be called, of all that there may be.
names=$(for f in status.json status-learned.json status-activity.json; do "$sprice" --metrics -f "$here/$f"; done |
	sed -n 's/^\(auction_[a-z_]*\).*/\1/p' | sort -u)
names+=$'\nauction_lock_held_seconds_bucket\nauction_lock_held_seconds_sum\nauction_lock_held_seconds_count'
asked=$(grep -o '"expr": *"[^"]*\(\\"[^"]*\)*"' "$dashboard" | grep -o 'auction_[a-z_]*' | sort -u)
[ "$(wc -l <<< "$asked")" -ge 12 ] || fail "the dashboard asks for hardly anything: $asked"
for name in $asked; do
	grep -qx "$name" <<< "$names" || fail "the dashboard asks for $name, which sprice --metrics does not print"
done
if type -P jq > /dev/null; then
	jq -e '.title == "slurm-auction" and (.panels | length) >= 8 and all(.panels[]; .title and .gridPos and (.type == "row" or (.targets | length) > 0))' \
		"$dashboard" > /dev/null || fail "the dashboard is none"
	jq -e '[.panels[].id] | length == (unique | length)' "$dashboard" > /dev/null || fail "panels with one number"
fi
exit $failed
