# group.bash - groups of jobs made by hand, as root: what the controller would make of a sale. For the tests of the launcher.

setup()
{
	need_launcher
	home=$SANDBOX_DIR/home/alice
	dir=$home/$BATS_TEST_NUMBER
	mkdir -p "$dir"
	chmod 777 "$dir"
}

teardown()
{
	timeout 20 scancel --user=alice 2>/dev/null || true
	wait_until 30 no_jobs
}

no_jobs()
{
	[ -z "$(timeout 20 squeue -ho %A)" ]
}

# part NAME NODE CPUS GPUS MEM SCRIPT: a held job as the controller would make it; prints its id.
part()
{
	local gres=()

	[ "$4" = 0 ] || gres=(--gres="gpu:$4")
	submit alice --hold -J "$1" -p edge -w "$2" -N 1 -n 1 -c "$3" "${gres[@]}" --mem="$5" --open-mode=append -o "$dir/$1.out" "$6"
}

comment()
{
	timeout 20 scontrol update jobid="$1" admincomment="$2"
}

# group SCRIPT "NODE:PS:WORKERS..." [FROM-SLOT TO-SLOT]: a group with v100 (gpu:v100:1, 2 CPUs, 200 MB) workers and PSs of 1 CPU, 100 MB,
# the lead on the first node. Sets lead and members[NODE]; its jobs are held: see start.
group()
{
	local script=$1 nodes=$2 now=$((EPOCHSECONDS / 10)) spec node ps w workers= pss= job
	local from=${3:-$now} to=${4:-$((now + 60))}

	unset members
	declare -gA members=()
	lead=
	printf '#!/bin/sh\n%s\n' "$script" >"$dir/script"
	printf '#!/bin/sh\nexec sleep 1000000\n' >"$dir/placeholder"
	for spec in $nodes; do
		IFS=: read -r node ps w <<<"$spec"
		[ "$w" = 0 ] || workers="$workers,\"$node\":$w"
		[ "$ps" = 0 ] || pss="$pss,\"$node\":$ps"
		if [ -z "$lead" ]; then
			lead=$(part lead "$node" $((ps + 2 * w)) "$([ "$w" = 0 ] && echo 0 || echo "v100:$w")" $((100 * ps + 200 * w)) "$dir/script")
		else
			job=$(part "member-$node" "$node" $((ps + 2 * w)) "v100:$w" $((100 * ps + 200 * w)) "$dir/placeholder")
			members[$node]=$job
			comment "$job" "{\"auction\":1,\"sale\":\"00000000000000ab-1\",\"state\":\"member\",\"lead\":$lead}"
		fi
	done
	comment "$lead" "$(printf '{"auction":1,"sale":"00000000000000ab-1","state":"sold","policy":"dps","payment":"1.000000","value":"2.000000","slot_seconds":10,"worker_type":"v100","ps_type":"ps.m","colocated":%s,"arrival":%d,"start":%d,"completion":%d,"plan":[{"from":%d,"to":%d,"workers":{%s},"ps":{%s}}],"worker_tres":{"cpu":2,"mem":200,"gpu:v100":1},"ps_tres":{"cpu":1,"mem":100},"bid":"bid=2"}' \
		"$([ ${#members[@]} = 0 ] && echo true || echo false)" "$from" "$from" $((to + 1)) "$from" "$to" "${workers#,}" "${pss#,}")"
}

start()
{
	timeout 20 scontrol release "$@"
}

finished()
{
	job_ended "$lead"
}

# The exit code of the lead's script, and its output for the log.
result()
{
	wait_until "${1:-60}" finished
	cat "$dir/lead.out" >&2
	job_field "$lead" ExitCode | cut -d: -f1
}

seen()
{
	grep -c "^seen node=$1 role=$2 .*$3" "$dir/lead.out" || true
}
