# contrib/demo/run on a terminal, with a bid typed at its prompt; then what README.md says to type in its cluster; then its end.

load lib

setup_file()
{
	need_plugins
	export demo=$lib_dir/../../contrib/demo/run demo_dir
	demo_dir=$(mktemp -d "${TMPDIR:-/tmp}/auction-test-XXXXXX")
	export SANDBOX_DIR=$demo_dir/cluster shown=$demo_dir.shown
	# Two answers, the second of which ends it.
	printf '80\n\n' | env COLUMNS=80 TERM=xterm script -qefc "$demo -d $demo_dir $(plugin_options); echo exit code \$?" "$shown" > /dev/null 2>&1 3>&- || true
	export SLURM_CONF=$SANDBOX_DIR/etc/slurm.conf
}

teardown_file()
{
	"$demo" -d "$demo_dir" --down 3>&- || true
	rm -f "$shown"
}

# What the terminal shows of the table at last: a line for each event.
last_table()
{
	tr -d '\r' < "$shown" | sed 's/\x1b\[[0-9]*[A-Z]//g' | grep -E '^ ?[0-9]+ (alice|bob|carol|-) ' | sort -sn -k1,1 | awk '$1 != n {if (n) print line} {n = $1; line = $0} END {print line}'
}

@test "the demo ends well" {
	tail -n 40 "$shown"
	grep -q 'exit code 0' "$shown"
	grep -q 'payments in the accounting = revenue in the spool' "$shown"
	run -1 grep -E 'WRONG|not everything' "$shown"
}

@test "it shows a market: prices that nearly everybody pays, refusals, a cancelled job, a node that fails, gangs beside training" {
	run -0 last_table
	echo "$output"
	[ ${#lines[@]} = "$(grep -c '^[0-9]' "$lib_dir/../../contrib/demo/bids")" ]
	grep -qE ' refused +cost [0-9.]+, worth [0-9.]+; try --' <<< "$output"
	grep -qE ' refused +.*budget' <<< "$output"
	grep -qE ' cancelled ' <<< "$output"
	grep -qE ' gang .* done ' <<< "$output"
	# The bid that stands is sold when the job that has its node ends before its time.
	grep -qE '^ 2 alice gang .*--st done .* cloud1$' <<< "$output"
	grep -qE ' [a-z]+[0-9] fails' <<< "$output"
	run -0 bash -c 'SLURM_TIME_FORMAT=%s sacct -nPXa -o User,State,AdminComment | grep "\"plan\"" | cut -d"|" -f3- | jq -r "[.payment, .why] | @tsv"'
	[ ${#lines[@]} -ge 10 ]
	[ "$(grep -c '^0.000000' <<< "$output")" -le $((2 + $(grep -c node_fail <<< "$output"))) ]
	jq -e '.learning.kind == "learned"' "$SANDBOX_DIR/state/auction/status.json"
}

@test "its table has at most 80 columns" {
	tr -d '\r' < "$shown" | sed 's/\x1b\[[0-9]*[A-Z]//g' > "$BATS_TEST_TMPDIR/plain"
	[ "$(grep -E '^ ?(#|[0-9]+) +(user|alice|bob|carol|-) ' "$BATS_TEST_TMPDIR/plain" | wc -L)" -le 80 ]
}

@test "the reader's own bid is submitted" {
	grep -q 'worth to you, in credits' "$shown"
	# After the last of the list.
	[ "$(sed -n '/worth to you/,$p' "$shown" | grep -cE 'Submitted batch job|auction: refused')" = 1 ]
}

@test "its page is well-formed, needs nothing from elsewhere, and has the jobs, prices and accounts" {
	page=$demo_dir/demo.html
	[ "$(grep -c '<svg ' "$page")" = 2 ]
	sed 's/<!DOCTYPE html>//; s/<meta[^>]*>//' "$page" | grep -o '<[^>]*>' | awk '
		/\/>$/ { next }
		/^<\// { name = substr($0, 3, length($0) - 3); if (stack[n] != name) { print "</" name "> closes " stack[n]; exit 1 } n--; next }
		{ name = substr($1, 2); sub(/[ >].*/, "", name); stack[++n] = name }
		END { if (n) exit 1 }'
	run -1 grep -E 'NaN|nan |src=|href=|<script' "$page"
	for u in alice bob carol; do
		grep -q "<tr><td>$u</td><td class=\"n\">" "$page"
	done
	grep -q '<title>job [0-9]* of carol' "$page"
}

@test "what README says to type there works for alice" {
	commands=$(sed -n '/^## A first bid/,/^## Install/p' "$lib_dir/../../README.md" | grep -E '^    (sprice|sbatch|sbid)' | grep -v '^    sbatch: ')
	[ "$(wc -l <<< "$commands")" -ge 5 ]
	while IFS= read -r c; do
		run sandbox exec -u alice -- bash -c "${c%%#*}"
		echo "$c: $output"
		[ "$status" = 0 ] || [[ $output == *"auction: would be accepted"* ]] || [[ $output == *"auction: refused: the best schedule"* ]]
	done <<< "$commands"
	for c in sbid 'sbid why last' 'sbid balance' 'sprice --learning' 'sprice --classes'; do
		run -0 sandbox exec -u alice -- bash -c "$c"
	done
}

@test "--down leaves nothing" {
	run -0 "$demo" -d "$demo_dir" --down
	[ ! -e "$demo_dir" ]
}
