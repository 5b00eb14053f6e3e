# Bids by slurmrestd (doc/rest.md): sold, refused, and what its client is told. The plain slurmrestd of the distribution, each user's own on
# a socket.

load lib
load plugins

slot=10

has_rest()
{
	type -P slurmrestd > /dev/null && type -P curl > /dev/null
}

setup_file()
{
	has_rest || return 0
	auction_start --nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	export REST_SOCKET=$SANDBOX_DIR/home/alice/rest.sock
	sandbox exec -u alice -- bash -c 'echo $$ > rest.pid; exec slurmrestd -a rest_auth/local unix:'"$REST_SOCKET" > "$SANDBOX_DIR/home/alice/rest.log" 2>&1 &
	wait_until 60 eval '[ -S "$REST_SOCKET" ]'
	# The newest interface that it has.
	REST=$(rest GET /openapi/v3 | grep -o '/slurm\\*/v0\.0\.[0-9]*' | tr -d '\\' | sort -uV | tail -n 1)
	[ -n "$REST" ]
	export REST
}

# Not in setup_file(), where bats of Debian 12 takes a test that is skipped for one that fails.
setup()
{
	has_rest || skip "no slurmrestd or no curl"
}

teardown_file()
{
	# bats waits for what it has started.
	if [ -s "${SANDBOX_DIR-}/home/alice/rest.pid" ]; then
		kill "$(< "$SANDBOX_DIR/home/alice/rest.pid")"
	fi
	cluster_stop
}

# rest METHOD PATH [JSON]: what it answers to alice.
rest()
{
	as alice curl -s --unix-socket "$REST_SOCKET" -X "$1" -H 'Content-Type: application/json' ${3:+-d "$3"} "http://localhost$2"
}

# A job with the text of a bid: one object from 0.0.40 on, which has the environment as a list. job_with BID [FIELDS]
job_with()
{
	jq -n --arg bid "$1" --argjson more "${2:-{\}}" --argjson list "$([ "${REST##*.}" -ge 40 ] && echo true || echo false)" '
		{PATH: "/usr/bin:/bin", SLURM_AUCTION_BID: $bid} as $variables
		| {script: "#!/bin/bash\nsleep 1\n", job: ({name: "rest", current_working_directory: "/tmp", standard_output: "/dev/null",
			environment: (if $list then $variables | to_entries | map("\(.key)=\(.value)") else $variables end)} + $more)}'
}

work="epochs=1 chunks=1 minibatches=$slot gradient-mb=0 worker-time=v100=1s ps-time=ps.s=0s"

@test "a bid by REST is sold: its client is told the price, the job runs, and its receipt can be read there" {
	run -0 rest POST "$REST/job/submit" "$(job_with "300 $work")"
	job=$(jq -r .job_id <<< "$output")
	[[ $(jq -r .job_submit_user_msg <<< "$output") == 'auction: offered: 1 x v100 on node'*', pays '*' of value 300.00' ]]
	wait_until 60 job_ended "$job"
	wait_until 60 settled "$job"
	[ "$(sacct_field "$job" State)" = COMPLETED ]
	run -0 rest GET "$REST/job/$job"
	jq -e '.jobs[0].admin_comment | fromjson | .sale and .payment' <<< "$output"
}

@test "a bid that is refused, and a quote, become no job; the reason is not in the answer but in slurmrestd's log" {
	for bid in "0 $work" "300 $work quote=yes"; do
		run -0 rest POST "$REST/job/submit" "$(job_with "$bid")"
		jq -e '(.job_id // 0) == 0 and (.errors | length) > 0' <<< "$output"
		[[ $output != *auction:* ]]
	done
	grep -q 'auction: would be accepted: 1 x v100' "$SANDBOX_DIR/home/alice/rest.log"
	[ -z "$(timeout 20 squeue -ho %A)" ]
}

@test "a gang by REST, with the program of doc/rest.md as it stands there" {
	sed -n '/^## A gang/,/^## A quote/{s/^    //p}' "$lib_dir/../../doc/rest.md" | sed "s|/home/alice|/tmp|; s|python train.py|true|" \
		> "$SANDBOX_DIR/home/alice/bid.py"
	run -0 as alice python3 bid.py
	echo "$output"
	[[ $output == *' auction: offered: 2 nodes, node1, node2, with cpu=1 mem=4000 gpu:v100=2 each'* ]]
	[[ $output == *'pays '*.* ]]
	job=${output%% *}
	wait_until 60 receipt_state_is "$job" sold
	as alice scancel "$job"
	wait_until 60 settled "$job"
}
