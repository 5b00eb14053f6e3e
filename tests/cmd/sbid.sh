#!/bin/bash
# sbid.sh - sbid over what sacct and sbatch print. What slurmctld really answers is in tests/cluster/money.bats.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
here=${srcdir:-$(dirname "$0")/..}/cmd
. "$here/built.bash"
sbid=$(built sbid)
export TZ=UTC ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# expect WHAT CODE TEXT [ARGUMENT...]: what sbid prints, on either stream
expect()
{
	local what=$1 code=$2 text=$3 got rc
	shift 3
	got=$("$sbid" "$@" 2>&1)
	rc=$?
	[ "$rc" = "$code" ] && [ "$got" = "$text" ] && return
	echo "FAIL: $what: exit code $rc, expected $code; printed"
	diff <(echo "$got") <(echo "$text")
	failed=1
}

receipt='{"auction":1,"sale":"ab-1","state":"STATE","policy":"dps","payment":"PAID","worker_type":"v100","ps_type":"ps","colocated":false,"arrival":101,"start":103,"completion":106,"plan":[{"from":103,"to":105,"workers":{"e1":1,"e2":2},"ps":{"e2":1}}],"slot_seconds":300,"worker_tres":{"cpu":2},"ps_tres":{"cpu":1}'
# The rows below are in an order that is easier to read.
cat > "$dir/sacct" <<'END'
#!/bin/bash
[[ " $* " == *$' --delimiter=\x1f '*' -o JobID,State,AdminComment,JobName '* ]] || exit 2
"$(dirname "$0")/rows" "$@" | while IFS='|' read -r id name state receipt; do
	printf '%s\x1f%s\x1f%s\x1f%b\n' "$id" "$state" "$receipt" "${name//!/|}"
done
END
cat > "$dir/rows" <<END
#!/bin/bash
[[ " \$* " != *" -j 31 "* && " \$* " != *" -j 9"* && " \$* " != *" -j 12 "* ]] || exit 0
# An array: two tasks are sold, one was refused, and one has not been decided.
if [[ " \$* " == *" -j 20"* ]]; then
	echo '20_1|sweep|RUNNING|$(sed 's/STATE/running/; s/PAID/1.000000/' <<< "$receipt")}'
	[[ " \$* " != *" -j 20_1 "* ]] || exit 0
	echo '20_2|sweep|PENDING|$(sed 's/STATE/sold/; s/PAID/2.000000/' <<< "$receipt")}'
	echo '20_[4]|sweep|PENDING|{"auction":1,"sale":"w-2","state":"waiting","since":30000,"until":36000,"tasks":4,"sealed":"QUJD"}'
	exit
fi
# A name with a bar, a blank and a line's end in it, here as ! and \n.
if [[ " \$* " == *" -j 30 "* ]]; then
	echo '30|a! b\\nc|PENDING|$(sed 's/STATE/sold/; s/PAID/3.000000/' <<< "$receipt")}'
	exit
fi
if [[ " \$* " == *" -j 40 "* ]]; then
	echo '40|late|CANCELLED by 64030|$(sed 's/STATE/settled/; s/PAID/2.000000/' <<< "$receipt"),"refund":"0.000000","why":"timeout"}'
	exit
fi
if [[ " \$* " == *" -j 41 "* ]]; then
	echo '41|gone|CANCELLED by 64030|$(sed 's/STATE/sold/; s/PAID/2.000000/' <<< "$receipt")}'
	exit
fi
if [[ " \$* " == *" -j 21 "* ]]; then
	echo '21|sweep|CANCELLED|{"auction":1,"sale":"w-3","state":"unsold","since":30000,"until":36000,"tasks":3,"why":"refused"}'
	exit
fi
[[ " \$* " == *" -j "* ]] || echo '7|old|COMPLETED|$(sed 's/STATE/settled/; s/PAID/1.000001/' <<< "$receipt"),"refund":"0.500000","why":"completed"}'
echo '8|new|PENDING|$(sed 's/STATE/sold/; s/PAID/2.000000/' <<< "$receipt")}'
if [[ " \$* " == *" now-1day "* ]]; then
	for state in PENDING RUNNING COMPLETED 'CANCELLED by 5'; do
		echo "50|stood|\$state|"'{"auction":1,"sale":"w-4","state":"waiting","since":30000,"until":36000,"sealed":"QUJD"}'
	done
fi
[[ " \$* " == *" -j "* ]] || { echo '9|plain|COMPLETED|'; echo '10|member|RUNNING|{"auction":1,"sale":"ab-1","state":"member","lead":8}'; }
END
cat > "$dir/sbatch" <<'END'
#!/bin/bash
say() { echo "sbatch: error: $*" >&2; }
case ${SLURM_AUCTION_BID-} in
	quote=balance)
		case "$*" in
			*account=none*) say 'auction: {"problem":"the account that pays is not known","accounts":[]}' ;;
			*account=down*) say 'auction: --quote: slurmctld does not say whether it runs the auction: connect failure' ;;
			*account=free*) say 'auction: {"problem":"","accounts":[]}' ;;
			*) say 'auction: {"left":"3.250000","problem":"","accounts":[{"account":"user:5","in":"10.000000","out":"6.000000","held":"0.750000","limited":true}]}' ;;
		esac ;;
	quote=why) say 'auction: {"when":86400,"text":"auction: refused: budget: the best\nauction: second line"}' ;;
	*)
		[[ $* != *alone* ]] || { say 'Batch job submission failed: Unable to contact slurm controller'; exit 1; }
		[[ $* != *broken* ]] || { say 'Unable to open file broken'; exit 1; }
		say 'auction: refused: no schedule is possible at any price: '"$*"
		say 'auction: would be accepted: at most 9 epochs' ;;
esac
say 'Batch job submission failed: Requested operation is presently disabled'
exit 1
END
echo 'echo "scancel $*"' > "$dir/scancel"
# Two jobs are held, one by its owner; the other one's bid stands.
cat > "$dir/squeue" <<'END'
#!/bin/bash
[[ $* != *'-j 98' ]] || exit 0
[[ $* != *'-j 99' ]] || exit 1
echo '11|JobHeldUser'
echo '12|JobHeldUser'
echo '8|BeginTime'
END
cat > "$dir/scontrol" <<'END'
#!/bin/bash
case ${!#} in
	11) echo 'JobId=11 JobName=mine UserId=a(5) JobState=PENDING Comment=(null)  StdErr=/dev/null' ;;
	20) echo 'JobId=22 ArrayJobId=20 ArrayTaskId=1 JobName=sweep UserId=a(5) JobState=RUNNING AdminComment={"auction":1}'
		echo 'JobId=20 ArrayJobId=20 ArrayTaskId=4,6-9%2 JobName=sweep UserId=a(5) JobState=PENDING AdminComment={"auction":1,"sale":"w-2","state":"waiting","since":30000,"until":36000,"tasks":4,"sealed":"QUJD"}  StdErr=/dev/null' ;;
	31) echo 'JobId=31 JobName=b| c'
		echo 'd UserId=a(5) JobState=PENDING AdminComment={"auction":1,"sale":"w-1","state":"waiting","since":30000,"until":36000,"sealed":"QUJD"}  StdErr=/dev/null' ;;
	12) echo 'JobId=12 JobName=stood UserId=a(5) JobState=PENDING AdminComment={"auction":1,"sale":"w-1","state":"waiting","since":30000,"until":36000,"sealed":"QUJD"}  StdErr=/dev/null' ;;
	9) echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1 ;;
	90) echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1 ;;
esac
END
chmod +x "$dir"/*
PATH=$dir:$PATH

expect 'list' 0 'job|name|state|sale|start|end|paid|back
7|old|COMPLETED|completed|1970-01-01T08:35:00|1970-01-01T08:50:00|1.000001|0.500000
8|new|PENDING|sold|1970-01-01T08:35:00|1970-01-01T08:50:00|2.000000|0.000000
12|stood|PENDING|waiting||1970-01-01T10:00:00|0.000000|0.000000' -P
expect 'list, where the accounting is late' 0 '7|COMPLETED|completed|1970-01-01T08:50:00
8|PENDING|sold|1970-01-01T08:50:00
50|RUNNING|sold|
50|COMPLETED|sold|
50|CANCELLED by 5|cancelled|
12|PENDING|waiting|1970-01-01T10:00:00' -P -n -o job,state,sale,end --since=now-1day list
mv "$dir/squeue" "$dir/squeue.as-ever"
printf '#!/bin/sh\nexit 1\n' > "$dir/squeue"
chmod +x "$dir/squeue"
expect 'list without slurmctld' 1 'job
7
8
sbid: bids that stand and blocks are missing here, as slurmctld does not say which there are' -P -o job list
mv "$dir/squeue.as-ever" "$dir/squeue"
expect 'columns' 0 '7|1.000001
8|2.000000
12|0.000000' -P -n -o job,paid list
expect 'widths of columns' 0 '    7 old    1.000+
    8 new    2.000+
   12 stood  0.000+' -n -o job%5,name%-6,paid%6 list
expect 'options after the command' 0 '7|1.000001
8|2.000000
12|0.000000' list -P --noheader -o job,paid
expect 'an option after the command that there is not' 2 "$sbid: unrecognized option '--jsn'
Try \"sbid --help\" for more information" list --jsn
expect 'show' 0 'job 8 (new): PENDING
sale ab-1: sold
pays 2.000000
1970-01-01T08:35:00 to 1970-01-01T08:50:00: e1 1 x v100, e2 2 x v100 1 x ps
sbid cancel 8 gives it up' show 8
expect 'a name that may be anything' 0 'job 30 (a| b): PENDING
sale ab-1: sold
pays 3.000000
1970-01-01T08:35:00 to 1970-01-01T08:50:00: e1 1 x v100, e2 2 x v100 1 x ps
sbid cancel 30 gives it up' show 30
expect 'the same of a bid that stands' 0 'job 31 (b| c): PENDING
the bid stands until 1970-01-01T10:00:00 and has bought nothing yet
sbid cancel 31 withdraws it' show 31
expect 'a bid that stands' 0 'job 12 (stood): PENDING
the bid stands until 1970-01-01T10:00:00 and has bought nothing yet
sbid cancel 12 withdraws it' show 12
expect 'an array' 0 'job|sale|start|end|paid
20_1|running|1970-01-01T08:35:00|1970-01-01T08:50:00|1.000000
20_2|sold|1970-01-01T08:35:00|1970-01-01T08:50:00|2.000000
20_[4,6-9]|waiting|||0.000000' -P -o job,sale,start,end,paid show 20
expect 'a task' 0 'job 20_1 (sweep): RUNNING
sale ab-1: running
pays 1.000000
1970-01-01T08:35:00 to 1970-01-01T08:50:00: e1 1 x v100, e2 2 x v100 1 x ps
sbid cancel 20_1 gives it up' show 20_1
expect 'an array that was refused' 0 'job 21 (sweep): CANCELLED
3 tasks were not sold: refused; paid nothing; "sbid why" may say more' show 21
expect 'one that was cancelled a moment ago' 0 'job 41 (gone): CANCELLED by 64030
sale ab-1: sold
pays 2.000000
1970-01-01T08:35:00 to 1970-01-01T08:50:00: e1 1 x v100, e2 2 x v100 1 x ps
it has ended; what it gets back is about to be settled' show 41
expect 'one that was late' 0 'job 40 (late): CANCELLED by 64030
sale ab-1: settled, timeout
its time was over; next time, bid for a longer one (--time, --time-max) or for more work
pays 2.000000
1970-01-01T08:35:00 to 1970-01-01T08:50:00: e1 1 x v100, e2 2 x v100 1 x ps' show 40
expect 'cancel a task' 0 'scancel 20_1' cancel 20_1
expect 'no task' 1 'sbid: cancel: expected the number of a job' cancel 20_x
expect 'not a sale' 1 "sbid: job 9: Slurm's accounting shows you no receipt of it" show 9
expect 'nor does slurmctld answer' 1 "slurm_load_jobs error: Unable to contact slurm controller (connect failure)
sbid: job 90: Slurm's accounting shows you no receipt of it" show 90
expect 'no job' 1 'sbid: show: expected the number of a job' show 'x; y'
expect 'balance' 0 '3.250000 is left
account|in|out|held
user:5|10.000000|6.000000|0.750000' -P balance
expect 'no budget' 0 'You are held to no budget.' -A free balance
expect 'no account' 1 'sbid: the account that pays is not known' -A none balance
expect 'balance without slurmctld' 1 'sbid: slurmctld does not say whether it runs the auction: connect failure' -A down balance
expect 'why' 0 '1970-01-02T00:00:00
auction: refused: budget: the best
auction: second line' why
expect 'a quote' 0 'refused: no schedule is possible at any price: --quote --bid=3 train.sh
would be accepted: at most 9 epochs' quote --bid=3 train.sh
expect 'no quote' 1 'sbatch: error: Unable to open file broken' quote broken
expect 'cancel' 0 'scancel 8' cancel 8
expect 'cancel what has ended' 1 'sbid: cancel: job 98 has ended' cancel 98
expect 'cancel what never was' 1 'sbid: cancel: squeue finds no job 99 of yours' cancel 99
expect 'no slurmctld' 1 'sbatch: error: Batch job submission failed: Unable to contact slurm controller' quote alone

# A program of five mini-batches, each of a time that it names; salloc runs its command here.
cat > "$dir/five" <<'END'
#!/bin/bash
echo loading
printf 'auction-minibatch %s\n' 9 0.5 0.5 0.5 0.5
END
cat > "$dir/salloc" <<'END'
#!/bin/bash
echo "salloc $*" >&2
while [ "$1" != srun ]; do shift; done
shift 3
"$@"
END
chmod +x "$dir"/*
expect 'a profile' 0 'loading
here: a mini-batch takes 0.5 s (0.5 to 0.5; half of them 0.5 or less, 95 of 100 0.5), by 4 of them
--time=9' profile --minibatches=1000 -- five
expect 'a profile of types' 0 'salloc -Q --bid=7 --gpus-per-node=a:1 -N1 -c2 srun -Q --unbuffered five
loading
salloc -Q --bid=7 --gpus-per-node=b:1 -N1 -c2 srun -Q --unbuffered five
loading
a: a mini-batch takes 0.5 s (0.5 to 0.5; half of them 0.5 or less, 95 of 100 0.5), by 4 of them
b: a mini-batch takes 0.5 s (0.5 to 0.5; half of them 0.5 or less, 95 of 100 0.5), by 4 of them
--worker-time=a=0.5s,b=0.5s
--gpu-time=a=500s,b=500s' profile --types=a,b --bid=7 --minibatches=1000 -c2 -- five
expect 'a profile as JSON' 0 'loading
[{"type":"here","minibatches":4,"seconds":0.5,"low":0.5,"high":0.5,"p50":0.5,"p95":0.5}]' --json profile -- five
[[ $("$sbid" profile -- true 2>&1) == "here: all of it took "*"--time=1" ]] || { echo 'FAIL: a profile by the wall clock'; failed=1; }
# By the clock, and ended before it is done.
[[ $("$sbid" profile --seconds=2 -- bash -c 'while sleep 0.1; do echo auction-minibatch; done' 2>&1) == "here: a mini-batch takes 0."* ]] ||
	{ echo 'FAIL: a profile that is ended'; failed=1; }
[[ $("$sbid" profile -- bash -c 'printf "auction-minibatch\n%.0s" 1 2 3' 2>&1) == "here: all of it took "*"it printed fewer than four lines 'auction-minibatch'"* ]] ||
	{ echo 'FAIL: a profile of too few lines'; failed=1; }
expect 'a profile that fails' 1 'sbid: profile: the trial failed, so its times say nothing' profile -- false
# Silent for ever; with something left that holds its output; and stopped by its user: all that it began has ended.
expect 'a profile of one that is silent' 1 "sbid: profile: here: in 1 s it neither ended nor printed four lines 'auction-minibatch'; expected one for each mini-batch, or a longer trial (--seconds)" \
	profile --seconds=1 -- sleep 600.25
[[ $(timeout 60 "$sbid" profile --seconds=1 -- bash -c "setsid sleep 600.25 2> /dev/null & echo \$! > '$dir/left'; for i in 1 2 3 4 5; do echo auction-minibatch 0.5; done" 2>&1) == "here: a mini-batch takes 0.5 s "* ]] ||
	{ echo 'FAIL: a profile of one that leaves something behind'; failed=1; }
kill "$(cat "$dir/left")"
mkfifo "$dir/began"
"$sbid" profile -- bash -c "echo > '$dir/began'; exec sleep 600.25" 2> "$dir/err" &
read -r < "$dir/began"
# As Ctrl-C: what runs behind a shell takes no notice of that.
kill "$!"
wait $!
code=$?
[ $code = 1 ] && [ "$(cat "$dir/err")" = 'sbid: profile: stopped, and the trial was ended' ] || { echo "FAIL: a profile that is stopped: exit code $code, $(cat "$dir/err")"; failed=1; }
for said in nan inf -5 1e308 86401 0,5 '0.5 s' "$(printf '%0400d' 1)"; do
	expect "a profile whose lines say $said" 1 "sbid: profile: '$(cut -c1-63 <<< "auction-minibatch $said")', expected seconds from 0 to 86400 behind 'auction-minibatch', or nothing" \
		profile -- bash -c "for i in 1 2 3 4 5; do echo 'auction-minibatch $said'; done"
done
expect 'a profile of lines of another system' 0 'here: a mini-batch takes 0.5 s (0.5 to 0.5; half of them 0.5 or less, 95 of 100 0.5), by 4 of them' \
	profile -- bash -c 'for i in 1 2 3 4 5; do printf "auction-minibatch\t0.5 \r\n"; done'
# A shell would write line after line.
printf 'auction-minibatch\n%.0s' 1 2 3 4 5 6 > "$dir/lines"
expect 'a profile of output that comes at once' 1 "sbid: profile: here: its mini-batches took 0 s; expected a line 'auction-minibatch' as soon as each is done: is its output buffered?" \
	profile -- cat "$dir/lines"
expect 'nothing to profile' 1 "sbid: profile: expected '-- COMMAND' after the options" profile --types=a
expect 'no such type' 1 "sbid: profile: --types: 'a;b', expected names of types of GPUs" profile '--types=a;b' -- true
expect 'options of salloc for nothing' 1 "sbid: profile: '-c2': options of salloc need --types" profile -c2 -- true
expect 'nothing there' 1 'sbid: profile: no-such-program was not found' profile -- no-such-program
expect 'silent' 1 "begun
sbid: profile: here: in 1 s it neither ended nor printed four lines 'auction-minibatch'; expected one for each mini-batch, or a longer trial (--seconds)" \
	profile --seconds=1 -- bash -c 'echo begun; sleep 60'
expect 'another command' 1 "sbid: 'buy': no such command; sbid --help lists them" buy
expect 'a column' 1 "sbid: --format: 'price' is no column here: job name state sale start end paid back" -o price
# What would change nothing is refused.
expect 'since when is a balance' 1 'sbid: --since: balance does not take it' --since=now balance
expect 'a table of a quote' 1 'sbid: --parsable: quote does not take it' -P quote train.sh
expect 'an account of a list' 1 'sbid: --account: list does not take it' -A physics
expect 'cancelled as JSON' 1 'sbid: --json: cancel does not take it' cancel --json 8
expect 'a block as JSON' 1 'sbid: --json: block takes it with --quote only' --json block --nodes=1
expect 'two forms' 1 'sbid: --parsable and --json: expected only one of them' -P --json
exit $failed
