#!/bin/bash
# sprice.sh - sprice over a status file and a spool of format 1 that were kept: what it prints, and how it complains.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
here=${srcdir:-$(dirname "$0")/..}/cmd
. "$here/built.bash"
sprice=$(built sprice)
export TZ=UTC ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
failed=0

# expect NAME CODE EXPECTED ARGS...: standard output and error together, and the exit code
expect()
{
	local name=$1 code=$2 expected=$3 got
	shift 3
	got=$("$sprice" "$@" 2>&1)
	if [[ $? -ne $code || $got != "$expected" ]]; then
		printf 'FAIL: %s\n--- expected (exit %s)\n%s\n--- got\n%s\n' "$name" "$code" "$expected" "$got"
		failed=1
	fi
}

expect prices 0 "SERVER PARTITION TRES     CAPACITY  USED LOAD%       NOW      NEXT     MEAN
edge1  edge      cpu            24    10  10.4  0.781797  0.781797 0.195449
edge1  edge      mem         65536 20480   7.8  0.000000  0.000000 0.000000
edge1  edge      gpu:v100        2     2  25.0 24.000000 24.000000 6.000000
edge2  edge      cpu            24     4   9.2  0.259921  0.259921 0.163972
edge2  edge      mem         65536  8192   6.9  0.000000  0.000000 0.000000
edge2  edge      gpu:v100        2     1  22.5  4.000000  4.000000 4.200000
cloud1 cloud     cpu            64     0   0.0  0.000000  0.000000 0.000000
cloud1 cloud     mem        262144     0   0.0  0.000000  0.000000 0.000000" --nodes -f "$here/status.json"

expect 'prices in short' 0 "PARTITION GPU  NODES UNITS FREE       NOW      NEXT      LOW WHEN
edge      v100     2     4    1 14.000000 14.000000 0.000000 1979-07-05T05:55:00" -f "$here/status.json"

expect 'all columns in short' 0 "v100|2|4|1|14.000000|14.000000|5.100000|0.000000|1979-07-05T05:55:00|24.000000" -nP \
	-o gpu,nodes,units,free,now,next,mean,low,when,high -f "$here/status.json"

expect 'widths of columns' 0 "PART+   GPU FREE
 edge  v100    1" -o partition%5,gpu%5,free -f "$here/status.json"
expect 'widths to the left' 0 "edge    v100" -n -o partition%-6,gpu%5 -f "$here/status.json"
expect 'a width that is none' 1 "sprice: --format: 'gpu%0', expected a width from 1 to 1000 behind the '%'" -o partition,gpu%0 -f "$here/status.json"
expect 'widths in lines for programs' 0 'edge|v100' -nP -o partition%2,gpu%40 -f "$here/status.json"

expect 'the board' 0 "SHAPE     PRICE START               PARTITION       LOW WHEN                WHY
two   12.000000 2026-11-27T05:45:00 edge      12.000000 2026-11-27T05:45:00 -
wide          - -                   -                 - -                   1 node of those that are up is large enough" --board \
	-f "$here/prices-board.json"
expect 'all columns of the board' 0 "1|2|v100|0.01667|2026-11-27T05:46:00
2|1|-|0.005556|-" --board -nP -o nodes,gpus,type,time,end -f "$here/prices-board.json"
expect 'some of the board' 0 two --board -nP -o shape -g v100 -f "$here/prices-board.json"
expect 'no board' 1 "sprice: there is no board: auction.conf has no line Shape=, or its prices are not known yet" --board \
	-f "$here/status.json"

expect 'past prices' 0 "NAME      SLOTS NONE%      MIN   MEDIAN       P90       MAX BID50 BID90 BID100
8xh100-4h  2016    25 1.000000 6.000000 10.000000 11.000000  3.41 never  never
never      2016   100        -        -         -         - never never  never
gpu/h100   2016     0 1.000000 6.000000 10.000000 11.000000     -     -      -" --history -f "$here/history.json"
expect 'past prices of a day' 0 "8xh100-4h|288|0|2.51|4.61|5.01|6.01|10.21|11.01
never|288|100|never|never|never|never|never|never
gpu/h100|288|0|-|-|-|-|-|-" --history=1d -nP -o name,slots,none,bid50,bid90,bid100,now50,now90,now100 \
	-f "$here/history.json"
expect 'what a bid would have bought' 0 "8xh100-4h|shape|38|10
never|shape|0|0
gpu/h100|class|-|-" --history=7d --bid=2.55 -nP -o name,kind,share,sharenow -f "$here/history.json"
expect 'past prices as a map' 0 "8xh100-4h :=*X@:=*%@:=*%@:=*%@:=*%@:=*%@:=*%@:=*%@:=  5.000000
never     X                                           0.000000
gpu/h100  :=*X@:=*%@:=*%@:=*%@:=*%@:=*%@:=*%@:=*%@:=  5.000000
          2027-01-15T08:00 to 2027-01-22T12:00; a column is four hours, blank: not looked at
          _ costs nothing, .:-=+*#%@ up to the number behind it, X it could not be had" --history --heat -f "$here/history.json"
expect 'a day of them' 0 "8xh100-4h =*%@:=  5.000000
never             0.000000
gpu/h100  =*%@:=  5.000000" -H --history=1d -n -f "$here/history.json"
expect 'no history' 1 "sprice: $here/status.json: not a history: \"format\" is not auction-history/1" --history -f "$here/status.json"
expect 'a period that there is not' 1 'sprice: --history: '"'3d'"', expected 1d or 7d' --history=3d
expect 'a bid that is no number' 1 "sprice: --bid: 'x' is not a decimal number" --history --bid=x
expect 'a bid for nothing' 1 'sprice: --bid: expected with --history only' --bid=3
plot=$(mktemp)
expect 'a picture of past prices' 0 '' --history --plot="$plot" -f "$here/history.json"
grep -q '>shape/8xh100-4h<' "$plot" && grep -q '>credits<' "$plot" || { echo 'FAIL: picture of past prices'; failed=1; }
rm -f "$plot"

expect 'only some' 0 "cloud|t4" -nP -o partition,gpu -p cloud -f "$here/spool-2/status.json"
expect 'only some GPUs' 0 "edge|v100" -nP -o partition,gpu --gpu=v100 -f "$here/spool-2/status.json"
expect 'only some GPUs by node' 0 "big1
big2" -N -nP -o server -g gpu:t4 -f "$here/spool-2/status.json"
# A name that nothing has is a mistake, in all views.
for view in '' -N -T -H --plot=no.svg; do
	there='cloud edge'
	[ "$view" != -N ] || there='edge cloud'
	expect "no such partition $view" 1 "sprice: --partition: 'none' is not for sale here, expected some of: $there" ${view:+"$view"} \
		-p edge,none -f "$here/spool-2/status.json"
	expect "nothing of both $view" 1 'sprice: --gpu=t4: --partition=edge has nothing of that' ${view:+"$view"} -p edge -g t4 \
		-f "$here/spool-2/status.json"
done
expect 'no such GPU' 1 "sprice: --gpu: 'h100' is not for sale here, expected some of: t4 v100" -g v100,h100 -f "$here/spool-2/status.json"
expect 'no such GPU by node' 1 "sprice: --gpu: 'h100' is not for sale here, expected some of: cpu mem v100 t4" -N -g h100 \
	-f "$here/spool-2/status.json"
expect 'no such class in the past' 1 "sprice: --gpu: 'none' is not for sale here, expected some of: h100" --history -g none -f "$here/history.json"
expect 'nor on the board' 1 "sprice: --gpu: 'none' is not for sale here, expected some of: v100 gpu" --board -g none -f "$here/prices-board.json"
[ ! -e no.svg ] || { echo 'FAIL: a picture of nothing'; failed=1; }
# What would change nothing is refused.
expect 'columns of JSON' 1 'sprice: --format: --json does not take it' --json -o gpu -f "$here/status.json"
expect 'columns of a map' 1 'sprice: --format: --heat does not take it' --heat -o gpu -f "$here/status.json"
expect 'JSON and metrics' 1 'sprice: --json: --metrics does not take it' --json --metrics -f "$here/status.json"
expect 'a file of a spool' 1 'sprice: --file: --spool does not take it' --spool="$here/spool-1" -f "$here/status.json"
expect 'partitions of sales' 1 'sprice: --partition: a table without prices does not take it' --sales -p edge -f "$here/status.json"
expect 'two tables' 1 'sprice: --sales and --totals: expected only one of them' -s -t -f "$here/status.json"

expect 'by time' 0 "START               END                 PARTITION GPU  FREE       LOW      MEAN      HIGH
1979-07-05T05:25:00 1979-07-05T05:30:00 edge      v100    1  4.000000 14.000000 24.000000
1979-07-05T05:30:00 1979-07-05T05:35:00 edge      v100    1  4.000000 14.000000 24.000000
1979-07-05T05:35:00 1979-07-05T05:40:00 edge      v100    0 24.000000 24.000000 24.000000
1979-07-05T05:40:00 1979-07-05T05:45:00 edge      v100    0 24.000000 24.000000 24.000000
1979-07-05T05:45:00 1979-07-05T05:50:00 edge      v100    0 24.000000 24.000000 24.000000
1979-07-05T05:50:00 1979-07-05T05:55:00 edge      v100    3  0.000000  2.000000  4.000000
1979-07-05T05:55:00 1979-07-05T06:00:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:00:00 1979-07-05T06:05:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:05:00 1979-07-05T06:10:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:10:00 1979-07-05T06:15:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:15:00 1979-07-05T06:20:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:20:00 1979-07-05T06:25:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:25:00 1979-07-05T06:30:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:30:00 1979-07-05T06:35:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:35:00 1979-07-05T06:40:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:40:00 1979-07-05T06:45:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:45:00 1979-07-05T06:50:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:50:00 1979-07-05T06:55:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T06:55:00 1979-07-05T07:00:00 edge      v100    4  0.000000  0.000000  0.000000
1979-07-05T07:00:00 1979-07-05T07:05:00 edge      v100    4  0.000000  0.000000  0.000000" --times -f "$here/status.json"

expect 'a map' 0 "cloud/t4  ::::::::::::::::::::::::::_
edge/v100 =*+=====================%@-
          1970-01-04T11:30 to 1970-01-04T19:50; the first two columns are one slot each
          _ costs nothing, .:-=+*#%@ up to 1.683013, X nothing is left" --heat -f "$here/spool-2/status.json"
"$sprice" --plot=plot.svg -f "$here/spool-2/status.json" && [[ $(grep -c '<polyline' plot.svg) -eq 2 ]] && grep -q '>edge/v100<' plot.svg ||
	{ echo 'FAIL: --plot'; failed=1; }
rm -f plot.svg
# What slurmctld tells all users has the same; and no more.
summary=$(mktemp)
cat > "$summary" <<'END'
{"format":"auction-prices/1","time":300000310,"ready":true,"reason":"","warning":"","policy":"dps","slot_seconds":300,"first":1000001,"last":1000003,
"classes":[{"partition":"edge","tres":"gpu:v100","nodes":2,"units":4,"times":[[1000001,1000001,1,4,14,24],[1000002,1000002,0,24,24,24],[1000003,1000003,4,0,0,0]]}]}
END
expect 'what all users are told' 0 "edge|v100|2|4|1|14.000000|24.000000|0.000000|1979-07-05T05:35:00" -nP -f "$summary"
expect 'what they are not told' 1 "sprice: this needs a status file, and slurmctld tells all users prices in short only; PublicStatus of auction.conf names a file for them" --sales -f "$summary"
expect 'nor as metrics' 1 "sprice: --metrics: this needs a status file; PublicStatus of auction.conf names one for all users" --metrics -f "$summary"
rm -f "$summary"
# Again and again, until its output goes nowhere.
[[ $(timeout 20 "$sprice" --watch=0.1 -n -f "$here/status.json" | head -n 3 | sort -u | wc -l) -eq 1 ]] || { echo 'FAIL: --watch'; failed=1; }
expect 'how often' 1 "sprice: --watch: 'often' is not a decimal number" --watch=often -f "$here/status.json"

expect sales 0 "JOBID STATE   START               END                 WORKERS  PS       NODES         PAYMENT      VALUE
   41 running 1979-07-05T05:25:00 1979-07-05T05:50:00 3 x v100 1 x ps.m edge1,edge2  0.000000 300.000000
   42 sold    1979-07-05T05:35:00 1979-07-05T05:55:00 1 x v100 1 x ps.m edge2       16.678579 200.000000" \
	-s -o job,state,start,end,workers,ps,nodes,payment,value -f "$here/status.json"

expect totals 0 "bids|4
refused|1
lapsed|1
sold|2
settled|0
live|2
liens|0
charged|16.678579
refunded|0.000000
revenue|16.678579
settled_revenue|0.000000" --totals --parsable --noheader --file "$here/status.json"

expect 'headings of a parsable table' 0 "SERVER|SELLS|TRES|MAX
edge1|yes|cpu|0.781797
edge1|yes|mem|0.000000
edge1|yes|gpu:v100|24.000000
edge2|yes|cpu|0.781797
edge2|yes|mem|0.000000
edge2|yes|gpu:v100|24.000000
cloud1|no|cpu|0.000000
cloud1|no|mem|0.000000" -N -P -o server,Sells,tres,max -f "$here/status.json"

expect 'metrics' 0 '# TYPE auction_info gauge
# HELP auction_info Policy and Prices of auction.conf.
auction_info{policy="dps",prices="given"} 1
# TYPE auction_ready gauge
# HELP auction_ready 1 while bids are taken.
auction_ready 1
# TYPE auction_status_timestamp_seconds gauge
# HELP auction_status_timestamp_seconds Unix time of what is shown here.
auction_status_timestamp_seconds 300000310
# TYPE auction_slot_seconds gauge
# HELP auction_slot_seconds Length of a slot.
auction_slot_seconds 300
# TYPE auction_bids counter
# HELP auction_bids Bids, by what became of them.
auction_bids_total{end="refused"} 1
auction_bids_total{end="lapsed"} 1
auction_bids_total{end="sold"} 2
# TYPE auction_settled counter
# HELP auction_settled Sales that are settled.
auction_settled_total 0
# TYPE auction_charged_credits counter
# HELP auction_charged_credits What was charged.
auction_charged_credits_total 16.678579
# TYPE auction_refunded_credits counter
# HELP auction_refunded_credits What was paid back.
auction_refunded_credits_total 0
# TYPE auction_live_sales gauge
# HELP auction_live_sales Sales that are not settled.
auction_live_sales 2
# TYPE auction_liens gauge
# HELP auction_liens Plans that are held for a submission.
auction_liens 0
# TYPE auction_node_capacity gauge
# HELP auction_node_capacity How much of a TRES a node has.
auction_node_capacity{node="edge1",partition="edge",tres="cpu"} 24
auction_node_capacity{node="edge1",partition="edge",tres="mem"} 65536
auction_node_capacity{node="edge1",partition="edge",tres="gpu:v100"} 2
auction_node_capacity{node="edge2",partition="edge",tres="cpu"} 24
auction_node_capacity{node="edge2",partition="edge",tres="mem"} 65536
auction_node_capacity{node="edge2",partition="edge",tres="gpu:v100"} 2
auction_node_capacity{node="cloud1",partition="cloud",tres="cpu"} 64
auction_node_capacity{node="cloud1",partition="cloud",tres="mem"} 262144
# TYPE auction_node_sold gauge
# HELP auction_node_sold How much of it is sold in the present slot.
auction_node_sold{node="edge1",partition="edge",tres="cpu"} 10
auction_node_sold{node="edge1",partition="edge",tres="mem"} 20480
auction_node_sold{node="edge1",partition="edge",tres="gpu:v100"} 2
auction_node_sold{node="edge2",partition="edge",tres="cpu"} 4
auction_node_sold{node="edge2",partition="edge",tres="mem"} 8192
auction_node_sold{node="edge2",partition="edge",tres="gpu:v100"} 1
auction_node_sold{node="cloud1",partition="cloud",tres="cpu"} 0
auction_node_sold{node="cloud1",partition="cloud",tres="mem"} 0
# TYPE auction_node_price_credits gauge
# HELP auction_node_price_credits Its price in the present slot, a unit and slot.
auction_node_price_credits{node="edge1",partition="edge",tres="cpu"} 0.781797436280679
auction_node_price_credits{node="edge1",partition="edge",tres="mem"} 0
auction_node_price_credits{node="edge1",partition="edge",tres="gpu:v100"} 24
auction_node_price_credits{node="edge2",partition="edge",tres="cpu"} 0.259921049894873
auction_node_price_credits{node="edge2",partition="edge",tres="mem"} 0
auction_node_price_credits{node="edge2",partition="edge",tres="gpu:v100"} 4
auction_node_price_credits{node="cloud1",partition="cloud",tres="cpu"} 0
auction_node_price_credits{node="cloud1",partition="cloud",tres="mem"} 0
# EOF' --metrics -f "$here/status.json"

expect 'metrics of what was learned' 0 '# TYPE auction_info gauge
# HELP auction_info Policy and Prices of auction.conf.
auction_info{policy="dps",prices="learned"} 1
# TYPE auction_ready gauge
# HELP auction_ready 1 while bids are taken.
auction_ready 1
# TYPE auction_status_timestamp_seconds gauge
# HELP auction_status_timestamp_seconds Unix time of what is shown here.
auction_status_timestamp_seconds 300000310
# TYPE auction_slot_seconds gauge
# HELP auction_slot_seconds Length of a slot.
auction_slot_seconds 300
# TYPE auction_class_price_credits gauge
# HELP auction_class_price_credits Fitted price of a TRES in the present slot, a unit and slot, on nodes of a partition that have so much of it.
auction_class_price_credits{partition="edge",tres="cpu",capacity="24"} 0
auction_class_price_credits{partition="edge",tres="gpu:v100",capacity="2"} 1.5
# TYPE auction_kept_bids gauge
# HELP auction_kept_bids Bids that are kept to learn from.
auction_kept_bids 500
# TYPE auction_prices_info gauge
# HELP auction_prices_info Which prices hold.
auction_prices_info{kind="learned",form="mixed"} 1
# TYPE auction_prices_factor gauge
# HELP auction_prices_factor By which the dual prices are multiplied.
auction_prices_factor 0.8
# TYPE auction_prices_moved gauge
# HELP auction_prices_moved 1: fitted again whatever was chosen.
auction_prices_moved 0
# TYPE auction_fit_timestamp_seconds gauge
# HELP auction_fit_timestamp_seconds Unix time of the last fit.
auction_fit_timestamp_seconds 300000005.5
# TYPE auction_fit_seconds gauge
# HELP auction_fit_seconds What it took of a processor.
auction_fit_seconds 0.412
# TYPE auction_fit_bids gauge
# HELP auction_fit_bids Bids that it was made of.
auction_fit_bids 412
# TYPE auction_forecast_bids gauge
# HELP auction_forecast_bids Bids that are expected in a period.
auction_forecast_bids 206
# TYPE auction_forecast_bound_credits gauge
# HELP auction_forecast_bound_credits What those of two periods are worth at most.
auction_forecast_bound_credits 8123.25
# TYPE auction_guard_timestamp_seconds gauge
# HELP auction_guard_timestamp_seconds Unix time at which prices were last compared.
auction_guard_timestamp_seconds 299990000
# TYPE auction_guard_bids gauge
# HELP auction_guard_bids Bids of the past that were replayed.
auction_guard_bids 206
# TYPE auction_guard_bound_credits gauge
# HELP auction_guard_bound_credits What those are worth at most.
auction_guard_bound_credits 4200.5
# TYPE auction_guard_gap_ratio gauge
# HELP auction_guard_gap_ratio The part of it that the prices chosen are short of.
auction_guard_gap_ratio 0.0477324
# TYPE auction_guard_worth_credits gauge
# HELP auction_guard_worth_credits What the bids replayed are worth with the best prices of a kind.
auction_guard_worth_credits{kind="none"} 3100
auction_guard_worth_credits{kind="published"} 3200
auction_guard_worth_credits{kind="flat"} 3900
auction_guard_worth_credits{kind="learned"} 4000
# TYPE auction_guard_gain_credits gauge
# HELP auction_guard_gain_credits A period, of prices that learn over others.
auction_guard_gain_credits 400
# TYPE auction_guard_gain_error_credits gauge
# HELP auction_guard_gain_error_credits Its standard error.
auction_guard_gain_error_credits 150.5
# TYPE auction_guard_gain_needed_credits gauge
# HELP auction_guard_gain_needed_credits What it must exceed.
auction_guard_gain_needed_credits 91.25
# EOF' --metrics -f "$here/status-learned.json"

expect 'fitted prices by class' 0 "PARTITION TRES     CAPACITY NODES      NOW     NEXT     MEAN      MAX
edge      cpu            24     2 0.000000 0.000000 0.000000 0.000000
edge      gpu:v100        2     2 1.500000 2.000000 2.950000 4.000000" -c -f "$here/status-learned.json"

expect 'what was learned' 0 "kind|learned
form|mixed
factor|0.8
moved|false
why|learned (mixed x 0.8): replayed, the last 206 bids are worth 4000 with these, 3100 without prices, 3200 with the published, 3900 with flat and 4000 with learned ones; at most 4200.5; in a period learned prices would have gained 400 (standard error 150.5); more than 91.25 is required
gap|0.0477324
chosen|1979-07-05T02:33:20
periods|2
day_bids|206
day_worth|4000
day_bound|4200.5
worth_none|3100
worth_published|3200
worth_flat|3900
worth_learned|4000
gain|400
gain_error|150.5
gain_needed|91.25
fitted_again|false
fitted|1979-07-05T05:20:05
seconds|0.412
bids|412
expected|206
bound|8123.25
kept|500" --learning -P -h -f "$here/status-learned.json"

expect 'nothing learned' 1 "sprice: prices are not fitted: Prices=given" --classes -f "$here/status.json"

expect 'a spool of format 1' 0 "# spool $here/spool-1/state
# 0 records up to event 0, verified
# spool $here/spool-1/journal
$(sed '1d; s/^[0-9a-f]* //' "$here/spool-1/journal")
# 4 events up to 4, verified; 0 bytes of an incomplete commit after them" --spool "$here/spool-1"

expect 'the file by environment' 1 "sprice: no/such/file: No such file or directory" -f no/such/file
SPRICE_FILE=no/such/file expect 'the file by environment' 1 "sprice: no/such/file: No such file or directory"
expect 'a directory' 1 "sprice: $here: not a status file" -f "$here"
expect 'another file' 1 "sprice: $here/sprice.sh: not a status file: \"format\" is not auction-status/1" -f "$here/sprice.sh"
expect 'a column' 1 "sprice: --format: 'cost' is no column here; sprice --help lists them" -N -o server,cost -f "$here/status.json"
expect 'a column of another view' 1 "sprice: --format: 'tres' is no column here; sprice --help lists them" -s -o tres -f "$here/status.json"
expect 'no columns' 1 "sprice: --format: expected names of columns, separated by commas" -o , -f "$here/status.json"
expect 'an argument' 1 "sprice: 'edge1': no argument was expected" edge1
expect 'an argument that is empty' 1 "sprice: '': no argument was expected" ''
expect 'a file without a name' 1 "sprice: --file=: expected the name of a file" -f ''
expect 'a spool without a name' 1 "sprice: --spool=: expected the name of a directory" --spool=
expect 'no spool' 1 "sprice: spool no/such/dir: cannot open: No such file or directory" --spool no/such/dir

# A plan over many nodes is shown whole.
temp=$(mktemp) || exit 1
trap 'rm -f "$temp" "$temp.cut"' EXIT
nodes=$(printf ',"node-with-a-long-name-%03d":1' {1..100})
sed "0,/\"workers\": *{/s//&${nodes:1},/" "$here/status.json" > "$temp"
if [[ $("$sprice" -sP -h -o nodes -f "$temp" | head -n 1) != edge1,*node-with-a-long-name-001,*node-with-a-long-name-100* ]]; then
	echo 'FAIL: a cell of 2,600 bytes'
	failed=1
fi
# Words and sentences begin at the left.
if [[ $("$sprice" -l -f "$here/status-learned.json" | head -n 2) != $'LEARNING        VALUE\nkind            learned' ]]; then
	echo 'FAIL: what was learned, as a table'
	failed=1
fi
for view in "-P -f $here/status.json" "--json -f $here/status.json" "--spool=$here/spool-1"; do
	"$sprice" $view > /dev/full 2> "$temp" && { echo "FAIL: $view: a full disk"; failed=1; }
	[[ $(< "$temp") == "sprice: standard output: No space left on device" ]] || { echo "FAIL: $view: $(< "$temp")"; failed=1; }
done

# What there is nothing of yet.
jq '.learning |= {kept: 3}' "$here/status-learned.json" > "$temp"
expect 'nothing fitted yet, classes' 0 "PARTITION TRES CAPACITY NODES NOW NEXT MEAN MAX
sprice: nothing is fitted yet: that takes 10 bids that mean something today, and 3 are kept" --classes -f "$temp"
expect 'nothing fitted yet, learning' 0 "LEARNING VALUE
kept     3
sprice: nothing is fitted yet: that takes 10 bids that mean something today, and 3 are kept" --learning -f "$temp"
expect 'nothing fitted yet, for programs' 0 'kept|3' --learning -P -n -f "$temp"
jq '.sales = []' "$here/status.json" > "$temp"
expect 'nothing is sold' 0 "JOBID STATE USER START END WORKERS PS NODES PAYMENT VALUE
sprice: nothing is sold or offered now" --sales -f "$temp"

# The status as JSON is the status.
if ! "$sprice" --json -f "$here/status.json" | grep -q '"format":"auction-status\\/1"'; then
	echo 'FAIL: --json'
	failed=1
fi
# Learned prices with any line cut or without its numbers are shown or refused, and do no harm. fuzz_status has many more.
lines=$(wc -l < "$here/status-learned.json")
for ((i = 1; i <= lines; i += 3)); do
	sed "${i}s/[0-9\"].*/\"x\":[{}]/" "$here/status-learned.json" > "$temp.cut"
	sed "${i}s/[0-9][0-9.]*/[]/g" "$here/status-learned.json" > "$temp"
	for view in -Pc -Pl --metrics; do
		for file in "$temp.cut" "$temp"; do
			"$sprice" "$view" -f "$file" > /dev/null 2>&1
			(($? > 1)) && { echo "FAIL: line $i of learned prices, $view -f $file"; failed=1; }
		done
	done
done
sed 's/"moved":false/"moved":true,"other_since":299999400/' "$here/status-learned.json" > "$temp"
if [[ $("$sprice" -lP -h -f "$temp" | sed -n 4,5p) != $'moved|true\nother_since|1979-07-05T05:10:00' ]] ||
	! "$sprice" --metrics -f "$temp" | grep -qx 'auction_bids_changed_timestamp_seconds 299999400'; then
	echo 'FAIL: bids that are others than before'
	failed=1
fi
sed 's/"time":300000310/"time":1e300/' "$here/status.json" > "$temp"
expect 'a time beyond all slots' 1 'sprice: the status has no time or no slot_seconds that make sense' -f "$temp"
"$sprice" --metrics -f "$temp" | grep -q 'node_sold{' && { echo 'FAIL: a slot of a time beyond all slots'; failed=1; }
sed 's/"warning":""/"warning":"PartitionName=gone"/' "$here/status.json" > "$temp"
expect 'a warning' 0 "sprice: warning: PartitionName=gone
41|running
42|sold" -f "$temp" -s -h -P -o job,state
sed 's/"policy":"dps"/"policy":"posted"/' "$here/status.json" > "$temp"
expect 'posted prices' 0 "sprice: each job is offered a price of its own: sbatch --quote says that of yours
v100|1" -nP -o gpu,free -f "$temp"
expect 'sales at posted prices' 0 "41|running
42|sold" -f "$temp" -s -h -P -o job,state
# The auction is closed: with a market, and without, as where auction.conf is broken.
sed 's/"ready":true/"ready":false/; s/"reason":""/"reason":"the disk is full"/' "$here/status.json" > "$temp"
expect 'closed, sales' 0 "sprice: the auction is closed: the disk is full
41|running
42|sold" -f "$temp" -s -h -P -o job,state
echo '{"format":"auction-status/1","time":300000310.5,"warning":"","ready":false,"reason":"auction.conf:3: Slots=many"}' > "$temp"
for view in -P -Ps -Pt -Pc -Pl; do
	expect "closed, $view" 0 'sprice: the auction is closed: auction.conf:3: Slots=many' "$view" -f "$temp"
done
expect 'closed, metrics' 0 '# TYPE auction_ready gauge
# HELP auction_ready 1 while bids are taken.
auction_ready 0
# TYPE auction_status_timestamp_seconds gauge
# HELP auction_status_timestamp_seconds Unix time of what is shown here.
auction_status_timestamp_seconds 300000310.5
# EOF' --metrics -f "$temp"
# What is null is as if it were not there, and no number that is none is shown as one.
if command -v jq > /dev/null; then
	# without FILE VIEW PATH...: what is shown is the same with null at each path as without it
	without()
	{
		local file=$here/$1 view=$2 path
		for path in "${@:3}"; do
			jq -c "del($path)" "$file" > "$temp"
			expected=$("$sprice" "$view" -f "$temp" 2>&1)
			code=$?
			jq -c "$path = null" "$file" > "$temp"
			expect "$path is null" "$code" "$expected" "$view" -f "$temp"
		done
	}
	without status.json -Pt .ready .warning .policy .totals .totals.bids .totals.settled_revenue
	without status.json -P .servers '.servers[0].name' '.servers[0].tres' '.servers[0].for_sale' '.servers[0].tres[0].name' '.servers[0].tres[0].runs'
	without status.json -Ps .sales .servers '.sales[0].job' '.sales[0].uid' '.sales[0].plan' '.sales[0].plan[0].workers' '.sales[0].payment'
	without status-learned.json -Pl .learning .learning.expected .learning.guard .learning.guard.needed .learning.worth .learning.day_bids
	without status-learned.json -Pc .learning .learning.classes '.learning.classes[0].runs' '.learning.classes[0].capacity'
	without status-learned.json --metrics .learning .learning.factor '.learning.classes[0].capacity' '.learning.classes[1].runs'
	jq -c '.learning.guard_time = "noon"' "$here/status-learned.json" > "$temp"
	[[ $("$sprice" -lP -f "$temp" | grep '^chosen') == 'chosen|' ]] || { echo 'FAIL: a time that is none'; failed=1; }
	jq -c '.learning.classes[1] = null' "$here/status-learned.json" > "$temp"
	[[ $("$sprice" --metrics -f "$temp" | grep -c '^auction_class_price_credits{') == 1 ]] || { echo 'FAIL: metrics of a class that is null'; failed=1; }
	jq -c '.servers = [.servers[0]] | .servers[0].tres |= [.[0, 1, 2, 2]] | .servers[0].tres[0].capacity = "x" | .servers[0].tres[1].runs[0][3] = null
		| .servers[0].tres[2].runs[0][3] = "nan" | .servers[0].tres[3].capacity = 0 | .servers[0].tres[3].runs[0][2] = []' "$here/status.json" > "$temp"
	expect 'damaged prices' 0 "TRES|CAPACITY|USED|LOAD%|NOW|NEXT|MEAN|MAX
cpu||10||0.781797|0.781797|0.195449|0.781797
mem|65536|20480|7.8||||
gpu:v100|2|2|25.0||||
gpu:v100|0|||24.000000|24.000000|6.000000|24.000000" -N -P -o tres,capacity,used,load,now,next,mean,max -f "$temp"
	"$sprice" --metrics -f "$temp" | grep -q ' [^0-9]*nan$' && { echo 'FAIL: metrics of damaged prices'; failed=1; }
fi
# Without a configuration of Slurm, or Slurm, it ends at once and says what to do.
unset SPRICE_FILE
echo 'no configuration' > "$temp"
for conf in /no/such/slurm.conf "$temp" ''; do
	got=$(SLURM_CONF=$conf timeout 50 "$sprice" 2>&1)
	code=$?
	if [[ $code -ne 1 || ${got##*$'\n'} != "sprice: "*"where is the status?"*" --file=FILE" ]]; then
		echo "FAIL: SLURM_CONF=$conf: exit code $code: $got"
		failed=1
	fi
done
# Without slurmctld, too. Nobody listens on port 1.
printf '%s\n' ClusterName=dead SlurmctldHost=localhost SlurmctldPort=1 MessageTimeout=1 AuthType=auth/none NodeName=n1 > "$temp"
got=$(SLURM_CONF=$temp timeout 50 "$sprice" 2>&1)
if [[ $? -ne 1 || ${got##*$'\n'} != "sprice: slurmctld does not answer: "*"; where is the status? Give --file=FILE" ]]; then
	echo "FAIL: no slurmctld: $got"
	failed=1
fi
# A status with any line missing or cut is shown or refused, and does no harm.
lines=$(wc -l < "$here/status.json")
for ((i = 1; i <= lines; i += 13)); do
	sed "${i}d" "$here/status.json" > "$temp"
	sed "${i}s/[0-9\"].*/\"x\":[{}]/" "$here/status.json" > "$temp.cut"
	for view in -P -Ps -Pt --metrics; do
		for file in "$temp" "$temp.cut"; do
			"$sprice" "$view" -f "$file" > /dev/null 2>&1
			(($? > 1)) && { echo "FAIL: line $i missing or altered, $view -f $file"; failed=1; }
		done
	done
done
exit $failed
