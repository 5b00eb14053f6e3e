#!/bin/bash
# uniform.sh - all commands alike: --help and --version succeed, an option that there is not is exit code 2 and a way out, and what is
# said to be JSON is valid by the schemas of doc/schemas.
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

for command in sprice sauction sbid slaunch auction-train auctionsim; do
	program=$(built "$command")
	"$program" --help > "$dir/out" 2> "$dir/err" || says "$command --help: exit code $?"
	head -n 1 "$dir/out" | grep -q "^Usage: .*$command" || says "$command --help: $(head -n 1 "$dir/out")"
	[ ! -s "$dir/err" ] || says "$command --help says to standard error: $(cat "$dir/err")"
	version=$("$program" --version) || says "$command --version: exit code $?"
	[[ $version =~ ^slurm-auction\ [0-9.]+ ]] || says "$command --version: $version"
	"$program" --no-such-option > "$dir/out" 2> "$dir/err"
	code=$?
	[ $code = 2 ] || says "$command --no-such-option: exit code $code"
	[ ! -s "$dir/out" ] || says "$command --no-such-option prints $(cat "$dir/out")"
	grep -q -- '--help' "$dir/err" || says "$command --no-such-option does not name --help: $(cat "$dir/err")"
	"$program" --help > /dev/full 2> /dev/null && says "$command --help succeeds on a full disk"
done

# -- JSON --

python3 -c 'import jsonschema' 2> /dev/null || { echo 'no python3-jsonschema: the schemas are not looked at'; exit $failed; }
# valid SCHEMA [ARGUMENT...]: what the command prints is valid. Its lines are taken one by one if SCHEMA ends with a '*'.
valid()
{
	local schema=$1
	shift
	"$@" > "$dir/out" 2> "$dir/err" || says "$*: exit code $?: $(cat "$dir/err")"
	python3 - "$top/doc/schemas/${schema%\*}.schema.json" "$dir/out" "$schema" <<-'PYTHON' || says "$*: not valid by $schema"
		import json, sys
		import jsonschema
		schema = json.load(open(sys.argv[1]))
		jsonschema.Draft202012Validator.check_schema(schema)
		text = open(sys.argv[2]).read()
		documents = text.splitlines() if sys.argv[3].endswith("*") else [text]
		assert documents
		for document in documents:
		    jsonschema.Draft202012Validator(schema).validate(json.loads(document))
	PYTHON
}

sprice=$(built sprice) sauction=$(built sauction) sbid=$(built sbid)
valid history "$sprice" --history --json -f "$here/history.json"
valid prices "$sprice" --json -f "$here/prices-board.json"
for status in status.json status-activity.json status-learned.json spool-2/status.json; do
	valid status "$sprice" --json -f "$here/$status"
done
cat > "$dir/sacct" <<'SACCT'
#!/bin/bash
receipt='{"auction":1,"sale":"ab-1","state":"sold","policy":"dps","payment":"2.000000","worker_type":"v100","ps_type":"ps","colocated":false,"arrival":101,"start":103,"completion":106,"plan":[{"from":103,"to":105,"workers":{"e1":1,"e2":2},"ps":{"e2":1}}],"slot_seconds":300,"worker_tres":{"cpu":2},"ps_tres":{"cpu":1}}'
case " $* " in *JobName*) echo "8|new|PENDING|$receipt" ;; *) echo "8|alice|physics|edge|2026-10-01T00:00:00|$receipt" ;; esac
SACCT
cat > "$dir/sbatch" <<'SBATCH'
#!/bin/bash
case ${SLURM_AUCTION_BID-} in
	quote=balance) echo 'sbatch: error: auction: {"left":"3.250000","problem":"","accounts":[{"account":"user:5","in":"10.000000","out":"6.000000","held":"0.750000","limited":true}]}' ;;
	quote=why) echo 'sbatch: error: auction: {"when":86400,"text":"auction: refused: budget"}' ;;
	*) echo 'sbatch: error: auction: would be accepted: 1 x v100 on edge1' ;;
esac >&2
exit 1
SBATCH
printf '#!/bin/bash\n' > "$dir/squeue" # no bids that stand
chmod +x "$dir/sacct" "$dir/sbatch" "$dir/squeue"
PATH=$dir:$PATH
valid rows "$sbid" --json
valid receipt "$sbid" --json show 8
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
"$(built auctionsim)" gen dps --seed 1 jobs=3 > "$dir/scenario" || says 'auctionsim gen'
valid result "$(built auctionsim)" run --json "$dir/scenario"
# A schema that takes everything would be of no use.
for schema in status prices receipt balance why explain event result; do
	echo '{"format":"x","event":1,"sold":[]}' > "$dir/wrong"
	(failed=0; valid $schema cat "$dir/wrong" > /dev/null 2>&1; exit $failed) && says "$schema takes anything"
done
exit $failed
