#!/bin/bash
# sauction.sh - sauction over kept spools, a status and receipts, and against a directory where nobody takes anything up; and that the
# independent reader (audit) says the same of the money, and notices what is wrong.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
here=${srcdir:-$(dirname "$0")/..}/cmd
. "$here/built.bash"
sauction=$(built sauction)
spools=$here/../unit/ledger
export TZ=UTC ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
unset SAUCTION_SPOOL
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# expect WHAT CODE TEXT [ARGUMENT...]: what sauction prints, on either stream
expect()
{
	local what=$1 code=$2 text=$3 got rc
	shift 3
	got=$("$sauction" "$@" 2>&1)
	rc=$?
	[ "$rc" = "$code" ] && [ "$got" = "$text" ] && return
	echo "FAIL: $what: exit code $rc, expected $code; printed"
	diff <(echo "$got") <(echo "$text")
	failed=1
}

says()
{
	echo "FAIL: $*"
	failed=1
}

# Without slurmctld, too. Nobody listens on port 1.
printf '%s\n' ClusterName=dead SlurmctldHost=localhost SlurmctldPort=1 MessageTimeout=1 AuthType=auth/none NodeName=n1 > "$dir/slurm.conf"
got=$(SLURM_CONF=$dir/slurm.conf timeout 50 "$sauction" state 2>&1)
[[ $? -eq 1 && ${got##*$'\n'} == "sauction: slurmctld does not answer: "*"; where is the spool? Give --spool=DIR" ]] || says "no slurmctld: $got"

# -- the spool --

expect 'a spool of format 1' 0 '38 records: charged 553.887439, refunded 265.051101, the sum over 3 accounts is 0' --spool="$spools/spool-1a" spool check
expect 'the same with a snapshot' 0 '33 records: charged 553.887439, refunded 265.051101, the sum over 3 accounts is 0' \
	--spool="$spools/spool-1b" spool check
[ "$("$sauction" --spool="$spools/spool-1b" spool export | wc -l)" = 33 ] || says 'export: a line for each record'
"$sauction" --spool="$spools/spool-1b" spool dump | grep -q '^# .* verified' || says 'dump says that it is verified'
for spool in spool-1a spool-1b; do
	got=$("$here/audit" "$spools/$spool") || says "audit $spool"
	[ "$got" = 'market 553887439 265051101
mint 265051101 553887439
charged 553887439 refunded 265051101 settled 265051100 live 6' ] || says "audit $spool: $got"
done
# What was exported makes a spool that says the same; never over another one, and never of money that does not add up.
for spool in spool-1a spool-1b; do
	"$sauction" --spool="$spools/$spool" spool export > "$dir/records"
	said=$("$sauction" --spool="$spools/$spool" spool check)
	got=$("$sauction" --spool="$dir/new" spool import < "$dir/records" 2>&1) && [ "$got" = "$said" ] || says "import $spool: $got"
	"$sauction" --spool="$dir/new" spool export | cmp - "$dir/records" || says "import $spool: other records"
	expect 'the same' 0 "$said" --spool="$dir/new" spool check
	[ "$(stat -c %a "$dir/new")" = 700 ] || says 'import: others can read it'
	got=$("$sauction" --spool="$dir/new" spool import < "$dir/records" 2>&1 > /dev/null) && says "import over a spool: $got"
	[ "$got" = "sauction: $dir/new: expected a directory without a spool" ] || says "import over a spool: $got"
	rm -rf "$dir/new"
done
for wrong in 's/"refund":"265.051101"/"refund":"9999.000000"/' 's/{/{{/' '1s/^/x/' '1d;2,$s/.*//' d; do
	sed "$wrong" "$dir/records" > "$dir/other"
	got=$("$sauction" --spool="$dir/new" spool import < "$dir/other" 2>&1 > /dev/null) && says "import takes $wrong: $got"
	[[ $got == sauction:* ]] || says "import $wrong: $got"
	# A spool that is there is whole; nothing is in this one.
	[ ! -e "$dir/new" ] || [ -z "$("$sauction" --spool="$dir/new" spool export)" ] || says "import of half: $wrong"
	rm -rf "$dir/new"
done
# audit looks at no checksum, so that it can be shown what is wrong.
wrong()
{
	cp "$spools/spool-1b/journal" "$spools/spool-1b/state" "$dir/"
	sed -i "$2" "$dir/$1"
	"$here/audit" "$dir" > "$dir/out" 2>&1 && says "audit takes $2 in $1: $(cat "$dir/out")"
	"$sauction" --spool="$dir" spool check > "$dir/out" 2>&1 && says "check takes $2 in $1: $(cat "$dir/out")"
}
wrong journal 's/"refund":"265.051101"/"refund":"265.051102"/'
wrong journal 's/"payment":"530.102201"/"payment":"530.102200"/'
wrong journal '$p'
wrong state 's/"settled_revenue":"0.000000"/"settled_revenue":"1.000000"/'
rm -f "$dir"/*

# -- explain: decided again from the spool --

# What it says of a sale that was sold behind others: the best plan, and the next best ones.
got=$("$sauction" --spool="$here/spool-2" explain 202 | sed 's/ of [^ ,]*, Policy/, Policy/')
[ "$got" = 'sale 92e75a9eca4d4955-9: job 202, Policy=dps
pays 32.206430, worth 300.000000: payoff 267.793570
first slot it could have: 1970-01-04T11:35:00
1970-01-04T19:05:00 to 1970-01-04T19:50:00: big1 1 x ps, edge1 1 x worker, edge2 1 x worker, edge3 1 x worker
replayed: the same plan at the same price
prices in its slots, credits per unit and slot, when it was decided:
  chosen: gpu:v100 0.569373 on 3 nodes
  others with room all that time: gpu:v100 0.569373 on 1 node
without big1: big2,edge1,edge2,edge3 from 1970-01-04T19:05:00 to 1970-01-04T19:50:00, pays 32.206430, payoff 267.793570: as good, and of equals the first found is taken
without edge1: big1,edge2,edge3,edge4 from 1970-01-04T19:05:00 to 1970-01-04T19:50:00, pays 32.206430, payoff 267.793570: as good, and of equals the first found is taken
without edge2: big1,edge1,edge3,edge4 from 1970-01-04T19:05:00 to 1970-01-04T19:50:00, pays 32.206430, payoff 267.793570: as good, and of equals the first found is taken
without edge3: big1,edge1,edge2,edge4 from 1970-01-04T19:05:00 to 1970-01-04T19:50:00, pays 32.206430, payoff 267.793570: as good, and of equals the first found is taken
later: auction: refused: no schedule is possible at any price: what is free until 1970-01-04T19:50:00 cannot hold it for as long as it takes
note: nodes and auction.conf are taken as they are now; of liens that lapsed and of times that were closed then the spool keeps nothing' ] || says "explain: $got"
[ "$("$sauction" --spool="$here/spool-2" --json explain 202 | jq -r '[.same, .replayed.payment, .sold.payment, (.others | length)] | join(" ")')" = 'true 32.206430 32.206430 4' ] ||
	says 'explain as JSON'
"$sauction" --spool="$here/spool-2" explain 201 | grep -q '^since then: settled, cancelled: ' || says 'explain of one that is settled'
expect 'explain of none' 1 'sauction: 5: no sale of that id or job number in the spool, which goes back to the snapshot before the last; sacct has its receipt' \
	--spool="$here/spool-2" explain 5
# The sale is in the spool before the last snapshot.
mkdir "$dir/before"
cp "$here"/spool-2/{state,journal} "$dir/before/"
cp "$here"/spool-2/{status.json,auction.conf} "$spools/spool-1b/"{state,journal} "$dir/"
"$sauction" --spool="$dir" explain 202 | grep -qx 'replayed: the same plan at the same price' || says 'explain from before the last snapshot'
# Another configuration: what differs is said. And with none there is the record alone.
sed -i 's/gpu:v100=3/gpu:v100=4/' "$dir/auction.conf"
"$sauction" --spool="$dir" explain 202 > "$dir/out"
grep -q '^replayed, and not the same: ' "$dir/out" && grep -q '^note: the replay differs' "$dir/out" || says "explain by other prices: $(cat "$dir/out")"
rm "$dir/auction.conf"
"$sauction" --spool="$dir" explain 202 | grep -q '^note: it cannot be decided again: .*auction.conf' || says 'explain without auction.conf'
rm -r "${dir:?}"/*

# -- what is asked of slurmctld, which is not there --

export SAUCTION_SPOOL=$dir
expect 'no directory yet' 1 "sauction: $dir/transfers: No such file or directory; slurmctld makes it once it takes bids: sprice says whether it does" grant physics 5
mkdir "$dir/transfers"
expect 'nobody takes it' 0 'sauction: first: slurmctld has not taken it yet; it is made once slurmctld runs' --wait=0 --id=first grant physics 1000.5
got=$(sed 's/"when":[0-9]*/"when":N/' "$dir/transfers/first.json")
[ "$got" = '{"event":"transfer","id":"first","account":"account:physics","amount":"1000.500000","code":"grant","when":N}' ] || says "grant: $got"
[ "$(stat -c %a "$dir/transfers/first.json")" = 600 ] || says 'the mode of a grant'
"$sauction" --wait=0 correct user:root 1 2> /dev/null
grep -q '"account":"user:0","amount":"1.000000","code":"correct"' "$dir"/transfers/*-*.json || says 'a user by name'
expect 'no such user' 1 'sauction: user:no-such-user: there is no user of that name here; a number is taken, too' grant user:no-such-user 1
expect 'no account' 1 "sauction: 'mint:x': expected a Slurm account, or user:NAME" grant mint:x 1
expect 'too much' 1 "sauction: the amount: '1000000001', expected credits, up to 10^9; correct takes them back" grant physics 1000000001
expect 'less than nothing' 1 "sauction: the amount: '-5', expected credits, up to 10^9; correct takes them back" grant -- physics -5
expect 'less than nothing, without --' 1 "sauction: the amount: '-5', expected credits, up to 10^9; correct takes them back" grant physics -5
mkdir "$dir/slurm"
cat > "$dir/slurm/sacctmgr" <<'END'
#!/bin/sh
case " $* " in *' name=physics '*) echo physics ;; *' name=down '*) exit 1 ;; esac
END
chmod +x "$dir/slurm/sacctmgr"
PATH=$dir/slurm:$PATH
expect 'an account in capitals' 0 'sauction: third: slurmctld has not taken it yet; it is made once slurmctld runs' --wait=0 --id=third grant Physics 1
grep -q '"account":"account:physics"' "$dir/transfers/third.json" || says 'an account in capitals'
expect 'accounting that does not answer' 0 'sauction: fourth: slurmctld has not taken it yet; it is made once slurmctld runs' --wait=0 --id=fourth grant down 1
expect 'an account that there is not' 0 "sauction: fifth: slurmctld has not taken it yet; it is made once slurmctld runs
sauction: warning: Slurm's accounting has no account phsyics; if that was a mistake, \"sauction correct\" takes the credits back" \
	--wait=0 --id=fifth grant phsyics 1
expect 'an id' 1 "sauction: --id: 'a/b', expected 1 to 63 letters, digits, '_' and '-'" --id=a/b grant physics 1
expect 'no amount' 1 'sauction: grant: expected an account and an amount, as in grant physics 1000' grant physics
# Somebody refuses it.
(until [ -e "$dir/transfers/second.json" ]; do sleep 0.01; done
	echo -n 'account:physics: 3.000000 is left, and 9.000000 is to be taken' > "$dir/transfers/second.refused"
	rm "$dir/transfers/second.json") &
expect 'refused' 1 'sauction: account:physics: 3.000000 is left, and 9.000000 is to be taken' --id=second correct physics 9
wait
expect 'pause' 0 '' pause 'new disks'
[ "$(cat "$dir/paused")" = 'new disks' ] || says 'the reason of a pause'
expect 'resume' 0 '' resume
expect 'resume again' 1 'sauction: the auction is not paused' resume

# -- the status --

expect 'no status' 1 "sauction: $dir/status.json: No such file or directory; slurmctld makes it once it takes bids: sprice says whether it does" money
echo '{' > "$dir/status.json"
expect 'half a status' 1 "sauction: $dir/status.json: is no status; slurmctld writes it anew within seconds" sales
echo '{"format":"auction-status/1","slot_seconds":10,"sales":[]}' > "$dir/status.json"
expect 'nothing is sold' 0 'sale job user state start end payment
sauction: nothing is sold or offered now' sales
expect 'nothing is sold, for programs' 0 'sale|job|user|state|start|end|payment' -P sales
# Releases of json-c differ in the lines of an empty list.
[ "$("$sauction" --json sales | tr -d '\n')" = '[]' ] || says 'nothing is sold, as JSON'
sed 's/^{/{"money":[{"account":"mint","credits":"0.000000","debits":"10.000000","pending":"0.000000","limited":false},{"account":"market","credits":"3.000000","debits":"0.000000","pending":"0.000000","limited":false},{"account":"tree","credits":"0.000000","debits":"0.000000","pending":"0.000000","limited":false},{"account":"user:0","credits":"10.000000","debits":"3.000000","pending":"2.500000","limited":true},{"account":"account:x","credits":"0.000000","debits":"0.000000","pending":"0.000000","limited":false}],/' \
	"$here/status.json" > "$dir/status.json"
expect 'money' 0 'account|name|left
mint||-10.000000
market||3.000000
tree||0.000000
user:0|root|4.500000
account:x||-' -P -o account,name,left money
"$sauction" --csv -n -o account,in,out,held money | grep -qx 'user:0,10.000000,3.000000,2.500000' || says 'money as CSV'
expect 'widths of columns' 0 'acco+           left
 mint     -10.000000
mark+       3.000000
 tree       0.000000
user+       4.500000
acco+              -' -o account%5,left%14 money
"$sauction" --csv -n -o account%3,in money | grep -qx 'user:0,10.000000' || says 'widths in CSV'
"$sauction" --json money | grep -q '"held":"2.500000"' || says 'money as JSON'
"$sauction" state | grep -q '^policy ' || says 'state'
"$sauction" -P -n sales | grep -q '|sold|' || says 'sales'

# -- the report, from what sacct prints --

mkdir "$dir/bin"
cat > "$dir/bin/sacct" <<'END'
#!/bin/bash
echo "$*" > "${0%/*}/asked"
receipt='{"auction":1,"sale":"ab-1","state":"STATE","policy":"dps","payment":"PAID","worker_type":"v100","ps_type":"ps","colocated":false,"arrival":101,"start":103,"completion":106,"plan":[{"from":103,"to":105,"workers":{"e1":1,"e2":2},"ps":{"e2":1}}],"slot_seconds":300,"worker_tres":{"cpu":2,"gpu:v100":1},"ps_tres":{"cpu":1}'
settled() { sed "s/STATE/settled/; s/PAID/$1/" <<< "$receipt"',"refund":"'"$2"'","why":"completed"}'; }
echo "1|alice|physics|edge|2026-10-01T00:00:00|$(settled 1.000001 0.500000)"
# Root has moved it to another account since it was sold.
echo "2|alice|moved|edge|2026-11-01T00:00:00|$(settled 2.000000 0.000000 | sed 's/"policy"/"payers":["account:physics","account:all"],&/')"
echo "3|bob|chem|cloud|2026-11-02T00:00:00|$(sed 's/STATE/running/; s/PAID/7.250000/' <<< "$receipt")}"
echo '4|bob|chem|cloud|2026-11-02T00:00:00|{"auction":1,"sale":"ab-1","state":"member","lead":3}'
echo '5|bob|chem|cloud|2026-11-02T00:00:00|'
END
chmod +x "$dir/bin/sacct"
PATH=$dir/bin:$PATH
expect 'by user' 0 'user|jobs|live|paid|refunded|gpu_hours
alice|2|0|3.000001|0.500000|1.500
bob|1|1|7.250000|0.000000|0.750' -P report
expect 'by account and month' 0 'account,month,jobs,live,paid,refunded,gpu_hours
chem,2026-11,1,1,7.250000,0.000000,0.750
physics,2026-10,1,0,1.000001,0.500000,0.750
physics,2026-11,1,0,2.000000,0.000000,0.750' --by=account,month --csv --since=2026-01-01 report
grep -q -- '-S 2026-01-01 ' "$dir/bin/asked" || says 'report --since'
expect 'by kind of GPU' 0 'gpu:v100|3|2.250' -nP -o gpu,jobs,gpu_hours --by=gpu report
expect 'columns of FOCUS' 0 '1.000001,1.000001,credits,physics,alice,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,1970-01-01T08:35:00Z,1970-01-01T08:50:00Z,Usage,"sale ab-1, 0.500000 paid back",0.750000,GPU-Hours,1,Job,edge,Compute,GPU time,slurm-auction,gpu:v100
2.000000,2.000000,credits,physics,alice,2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,1970-01-01T08:35:00Z,1970-01-01T08:50:00Z,Usage,sale ab-1,0.750000,GPU-Hours,2,Job,edge,Compute,GPU time,slurm-auction,gpu:v100
7.250000,7.250000,credits,chem,bob,2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,1970-01-01T08:35:00Z,1970-01-01T08:50:00Z,Usage,sale ab-1,0.750000,GPU-Hours,3,Job,cloud,Compute,GPU time,slurm-auction,gpu:v100' \
	--csv -n --focus report
expect 'by what' 1 "sauction: --by: 'node', expected user, account, partition, month, gpu; or reason alone" --by=node report
sed 's/^{/{"activity":{"since":86400.5,"refused":{"payoff":3,"budget":1}},/' "$here/status.json" > "$dir/status.json"
expect 'refusals' 0 'payoff|3|1970-01-02T00:00:00
budget|1|1970-01-02T00:00:00' -nP --by=reason report

expect 'no command' 1 'sauction: a command is missing; sauction --help lists them'
expect 'another command' 1 "sauction: 'gift': no such command; sauction --help lists them" gift
expect 'a column' 1 "sauction: --format: 'price' is no column here: account name in out held left" -o price money
for width in '' 0 x -0 1001 3x 99999999999999999999; do
	expect "a width of '$width'" 1 "sauction: --format: 'left%$width', expected a width from 1 to 1000 behind the '%'" -o account,left%$width money
done
# What would change nothing is refused.
expect 'of another command' 1 'sauction: --by: state does not take it' --by=user state
expect 'of another command, short' 1 'sauction: --format: explain does not take it' -o sale explain 5
expect 'of a grant' 1 'sauction: --id: money does not take it' money --id=x
expect 'a table of a grant' 1 'sauction: --json: grant does not take it' --json grant physics 1
expect 'refusals of a time' 1 'sauction: --since: report --by=reason does not take it' --by=reason --since=now report
expect 'two kinds of report' 1 'sauction: --by: report --focus does not take it' --by=user --focus report
expect 'where the auction is may always be said' 0 '2
1' --spool="$dir" --by=user --since=now -n -o jobs report
expect 'two forms' 1 'sauction: --json and --csv: expected only one of them' --csv --json money
expect 'two other forms' 1 'sauction: --parsable and --csv: expected only one of them' -P --csv money
# JSON has no headings; sacct and squeue take both, too.
for command in money 'explain 202'; do
	# shellcheck disable=SC2086
	expect "JSON without headings: $command" 0 "$("$sauction" --json --spool="$here/spool-2" $command)" -n --json --spool="$here/spool-2" $command
done
expect 'no headings of what has none' 1 'sauction: --noheader: explain does not take it' -n explain 5
exit $failed
