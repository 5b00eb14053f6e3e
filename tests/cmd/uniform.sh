#!/bin/bash
# uniform.sh - all commands alike: --help and --version succeed, an option that there is not is exit code 2 and a way out; what they print
# depends on nothing but what they are asked, and fails where it cannot arrive; and what is said to be JSON is valid by the schemas of
# doc/schemas.
# Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
top=$(cd "${srcdir:-$(dirname "$0")/..}/.." && pwd)
here=$top/tests/cmd
. "$here/built.bash"
export TZ=UTC ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

says()
{
	echo "FAIL: $*"
	failed=1
}

for command in sprice sauction sbid slaunch auction-train auctionsim auction-setup; do
	program=$(built "$command")
	[ $command != auction-setup ] || program=$top/contrib/setup/auction-setup PATH=$(dirname "$(built sauction)"):$PATH
	"$program" --help > "$dir/out" 2> "$dir/err" || says "$command --help: exit code $?"
	head -n 1 "$dir/out" | grep -q "^Usage: .*$command" || says "$command --help: $(head -n 1 "$dir/out")"
	[ ! -s "$dir/err" ] || says "$command --help says to standard error: $(cat "$dir/err")"
	case $command in
	sprice | sauction | sbid) [ "$("$program" --usage)" = "$("$program" --help | head -n 1)" ] || says "$command --usage: $("$program" --usage)" ;;
	esac
	version=$("$program" --version) || says "$command --version: exit code $?"
	[[ $version =~ ^slurm-auction\ [0-9.]+ ]] || says "$command --version: $version"
	"$program" --no-such-option > "$dir/out" 2> "$dir/err"
	code=$?
	[ $code = 2 ] || says "$command --no-such-option: exit code $code"
	[ ! -s "$dir/out" ] || says "$command --no-such-option prints $(cat "$dir/out")"
	grep -q -- '--help' "$dir/err" || says "$command --no-such-option does not name --help: $(cat "$dir/err")"
	"$program" --help > /dev/full 2> /dev/null && says "$command --help succeeds on a full disk"
done

# -- anywhere --

sprice=$(built sprice) sauction=$(built sauction) sbid=$(built sbid)
mkdir "$dir/bin"
cat > "$dir/bin/sacct" <<'SACCT'
#!/bin/sh
receipt='{"auction":1,"sale":"ab-1","state":"sold","policy":"dps","payment":"2.000000","worker_type":"v100","ps_type":"ps","colocated":false,"arrival":101,"start":103,"completion":106,"plan":[{"from":103,"to":105,"workers":{"e1":1,"e2":2},"ps":{"e2":1}}],"slot_seconds":300,"worker_tres":{"cpu":2},"ps_tres":{"cpu":1}}'
# Nothing that the user has set for its own use of sacct, sbatch and squeue is seen by them.
[ -z "${SLURM_TIME_FORMAT-}" ] || { echo "sacct: SLURM_TIME_FORMAT=$SLURM_TIME_FORMAT" >&2; exit 1; }
case " $* " in *" -j 9 "*) printf '9\037CANCELLED\037%s\037stood\n' '{"auction":1,"sale":"w-1","state":"unsold","since":30000,"until":36000.5,"why":"expired"}' ;;
	*JobName*) printf '8\037PENDING\037%s\037new\n' "$receipt" ;; *) echo "8|alice|physics|edge|2026-10-01T00:00:00|$receipt" ;; esac
SACCT
cat > "$dir/bin/sbatch" <<'SBATCH'
#!/bin/sh
case ${SLURM_AUCTION_BID-}:${SBATCH_PARTITION-} in
	quote=*:?*) echo "sbatch: SBATCH_PARTITION=$SBATCH_PARTITION" >&2; exit 1 ;;
esac
case ${SLURM_AUCTION_BID-} in
	quote=balance) echo 'sbatch: error: auction: {"left":"3.250000","problem":"","accounts":[{"account":"user:5","in":"10.000000","out":"6.000000","held":"0.750000","limited":true}]}' ;;
	quote=why) echo 'sbatch: error: auction: {"when":86400,"text":"auction: refused: budget"}' ;;
	*) echo 'sbatch: error: auction: would be accepted: 1 x v100 on edge1' ;;
esac >&2
exit 1
SBATCH
# No bids that stand.
printf '#!/bin/sh\n[ -z "${SQUEUE_STATES-}" ] || { echo SQUEUE_STATES >&2; exit 1; }\n' > "$dir/bin/squeue"
chmod +x "$dir/bin/sacct" "$dir/bin/sbatch" "$dir/bin/squeue"
PATH=$dir/bin:$PATH
"$(built auctionsim)" gen dps --seed 1 jobs=3 > "$dir/scenario" || says 'auctionsim gen'
spool=--spool=$here/spool-2
calls=(
	"$sprice -f $here/status.json"
	"$sprice --nodes -f $here/status.json"
	"$sprice --heat -f $here/spool-2/status.json"
	"$sprice --board -f $here/prices-board.json"
	"$sprice --history -f $here/history.json"
	"$sprice --json -f $here/status.json"
	"$sprice --metrics -f $here/status.json"
	"$sauction $spool state"
	"$sauction $spool --csv money"
	"$sauction $spool --json sales"
	"$sauction $spool explain 202"
	"$sauction $spool spool check"
	"$sauction $spool spool dump"
	"$sauction $spool spool export"
	"$sauction report"
	"$sbid list"
	"$sbid show 8"
	"$sbid why"
	"$sbid balance"
	"$sbid quote --wrap true"
	"$(built slaunch) --dry-run --local=2:1 program"
	"$(built auctionsim) policies"
	"$(built auctionsim) gen dps --seed 1 jobs=3"
)
for call in "${calls[@]}"; do
	# shellcheck disable=SC2086
	$call > "$dir/first" 2> "$dir/err" || says "$call: exit code $?: $(cat "$dir/err")"
	[ -s "$dir/first" ] || says "$call prints nothing"
	SLURM_TIME_FORMAT=relative SBATCH_PARTITION=mine SQUEUE_STATES=R LC_ALL=tr_TR.UTF-8 LANGUAGE=de COLUMNS=40 TERM=dumb $call > "$dir/out" 2>&1 < /dev/null || says "$call, elsewhere: exit code $?"
	cmp -s "$dir/first" "$dir/out" || says "$call, elsewhere, prints $(diff "$dir/first" "$dir/out")"
	env -u TERM -u HOME LC_ALL=C $call > "$dir/out" 2>&1 <&- || says "$call, input closed: exit code $?: $(cat "$dir/out")"
	cmp -s "$dir/first" "$dir/out" || says "$call, input closed, prints $(diff "$dir/first" "$dir/out")"
	for to in /dev/full closed; do
		case $to in
		closed) $call >&- 2> "$dir/err" ;;
		*) $call > $to 2> "$dir/err" ;;
		esac
		code=$?
		[ $code = 1 ] || [ $code = 2 ] || says "$call, output $to: exit code $code"
		grep -q "^[a-z]*: .*\(No space left on device\|Bad file descriptor\)" "$dir/err" || says "$call, output $to, says $(cat "$dir/err")"
	done
	# Whoever reads a line and no more ends it, without a word.
	$call 2> "$dir/err" | head -n 1 > /dev/null
	code=${PIPESTATUS[0]}
	[ $code = 0 ] || [ $code = 141 ] || says "$call | head: exit code $code"
	[ ! -s "$dir/err" ] || says "$call | head says $(cat "$dir/err")"
done

# As of Slurm's own commands: -n goes with --json, and changes nothing.
for call in "$sprice --json -f $here/status.json" "$sprice --json --history -f $here/history.json" "$sauction $spool --json money" \
	"$sauction $spool --json explain 202" "$sauction --json report" "$sbid --json list" "$sbid --json show 8" "$sbid --json why" \
	"$sbid --json balance"; do
	for option in -n --noheader; do
		# shellcheck disable=SC2086
		got=$(${call%% *} $option ${call#* } 2>&1) || says "$call, $option: exit code $?: $got"
		[ "$got" = "$($call)" ] || says "$call, $option, prints $got"
	done
done

# -- without Slurm --

mkdir "$dir/shell"
for tool in bash sh env timeout sed head grep dirname; do
	ln -s "$(command -v $tool)" "$dir/shell/$tool"
done

for call in "$sprice" "$sprice --board" "$sprice --history" "$sauction state" "$sauction report" "$sbid list" "$sbid show 8" "$sbid why" \
	"$sbid balance" "$sbid cancel 8" "$sbid quote --wrap true" "$sbid block --nodes=1" "$top/contrib/setup/auction-setup --partition x" \
	"$top/contrib/setup/auction-setup --remove"; do
	for conf in none broken; do
		echo 'Slurm=?' > "$dir/broken"
		# Only the shell's own tools are there.
		PATH=$dir/shell SLURM_CONF=$dir/$conf timeout 60 $call > "$dir/out" 2> "$dir/err" < /dev/null
		code=$?
		[ $code = 1 ] || says "$call, SLURM_CONF $conf: exit code $code"
		[ ! -s "$dir/out" ] || says "$call, SLURM_CONF $conf, prints $(cat "$dir/out")"
		name=${call%% *} name=${name##*/}
		grep -q "^$name: ." "$dir/err" || says "$call, SLURM_CONF $conf, says $(cat "$dir/err")"
	done
done

# -- JSON --

python3 -c 'import jsonschema' 2> /dev/null || { echo 'no python3-jsonschema: the schemas are not looked at'; exit $failed; }
# valid SCHEMA ARGUMENT...: what the command prints is to be valid. Its lines are taken one by one if SCHEMA ends with a '*'.
valid()
{
	local schema=$1 printed
	shift
	printed=$dir/printed-$(wc -l < "$dir/valid")
	"$@" > "$printed" 2> "$dir/err" || says "$*: exit code $?: $(cat "$dir/err")"
	printf '%s\t%s\t%s\n' "$schema" "$printed" "$*" >> "$dir/valid"
}
: > "$dir/valid"

valid history "$sprice" --history --json -f "$here/history.json"
valid prices "$sprice" --json -f "$here/prices-board.json"
for status in status.json status-activity.json status-learned.json spool-2/status.json; do
	valid status "$sprice" --json -f "$here/$status"
done
valid rows "$sbid" --json
valid receipt "$sbid" --json show 8
valid receipt "$sbid" --json show 9
valid balance "$sbid" --json balance
valid why "$sbid" --json why
valid lines "$sbid" --json quote --wrap true
valid rows "$sauction" --json report
valid rows "$sauction" --json --focus report
for command in state money sales; do
	valid rows "$sauction" --json --spool="$here/spool-2" $command
done
valid explain "$sauction" --json --spool="$here/spool-2" explain 202
valid explain "$sauction" --json --spool="$here/spool-2" explain 201
for spool in "$here/spool-2" "$top"/tests/unit/ledger/spool-1[ab]; do
	valid 'event*' "$sauction" --spool="$spool" spool export
done
valid result "$(built auctionsim)" run --json "$dir/scenario"
# All by one interpreter, as to start it takes longer than to check. A schema that takes everything would be of no use.
python3 - "$top/doc/schemas" "$dir/valid" <<-'PYTHON' || failed=1
	import json, sys
	import jsonschema
	failed = False
	validators = {}
	for line in open(sys.argv[2]):
	    schema, printed, command = line.rstrip("\n").split("\t")
	    name = schema.rstrip("*")
	    if name not in validators:
	        kind = jsonschema.Draft202012Validator
	        validators[name] = kind(json.load(open(f"{sys.argv[1]}/{name}.schema.json")))
	        kind.check_schema(validators[name].schema)
	        if name not in ("rows", "lines") and validators[name].is_valid({"format": "x", "event": 1, "sold": []}):
	            print(f"FAIL: {name} takes anything")
	            failed = True
	    text = open(printed).read()
	    try:
	        documents = [json.loads(d) for d in (text.splitlines() if schema.endswith("*") else [text])]
	        assert documents, "nothing printed"
	        for document in documents:
	            validators[name].validate(document)
	    except (ValueError, AssertionError, jsonschema.ValidationError) as e:
	        print(f"FAIL: {command}: not valid by {name}: {e}")
	        failed = True
	sys.exit(failed)
PYTHON
exit $failed
