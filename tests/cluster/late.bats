# Jobs that take longer than they said: they keep their nodes while nobody else has bought them, and are ended in favour of what was sold.

load lib
load plugins
load late

setup_file()
{
	late_start 'edge[1-3]'
}

@test "a late job goes on while nobody has bought its node, pays for it, and ends for who has" {
	slow=$(whole edge1 alice --bid=300 -o late.out --wrap 'while sleep 1; do echo here; done')
	# srun ends its tasks at once when it is told to end: they are told before.
	saves='trap "echo saving; sleep 0.5; echo saved; exit 0" TERM; sleep 600 & wait'
	kill=$(whole edge2 alice --bid=300 --overrun=kill -o told.out --wrap "trap 'echo script told' TERM; srun bash -c '$saves'; sleep 600 & wait; sleep 600")
	# A script that runs no step is told before a quarter of EndMargin is over.
	bare=$(whole edge3 alice --bid=300 --overrun=kill -o bare.out --wrap "trap 'date +%s.%N' TERM; sleep 600 & wait; sleep 600")
	by=$(awk -v end="$(plan_end "$bare")" 'BEGIN {printf "%.2f", end - 0.75 * 7}')
	end=$(plan_end "$slow") paid=$(micro "$(receipt_get "$slow" .payment)")
	wait_until 60 job_is "$slow" RUNNING
	next=$(whole edge1 bob --bid=300 -b now+100 -o /dev/null --wrap 'sleep 1')
	begin=$(plan_start "$next")
	[ "$begin" -ge $((end + 2 * slot)) ]
	wait_until 120 settled "$kill"
	[ "$(database_receipt "$kill" .why)" = timeout ]
	[ "$(as alice grep -E '^(saving|saved|script told)$' told.out | paste -sd' ')" = 'saving saved script told' ]
	wait_until 60 settled "$bare"
	run -0 as alice grep -E '^[0-9.]+$' bare.out
	echo "$output, expected one time before $by"
	[ ${#lines[@]} = 1 ]
	awk -v told="$output" -v by="$by" 'BEGIN {exit !(told < by)}'
	wait_until 60 eval '[ "$(plan_end "$slow")" -gt '"$end"' ]'
	job_is "$slow" RUNNING
	wait_until 120 settled "$slow"
	[ "$(database_receipt "$slow" .why)" = timeout ]
	[ "$(database_receipt "$slow" '.completion * .slot_seconds')" = "$begin" ]
	[ "$(micro "$(database_receipt "$slow" .payment)")" -ge "$paid" ]
	ended_in_time "$slow" "$begin"
	wait_until 60 settled "$next"
	began_in_time "$next" "$begin"
	[ "$(database_receipt "$next" .why)" = completed ]
}

@test "a job that says how long it takes at most buys that, pays for what it uses, and is told" {
	run -1 as alice sbatch -N1 -w edge2 --gpus-per-node=4 -c1 --mem=100 -t2 --time-max=1 --bid=300 --wrap true
	[[ $output == *"--time-max: 60 s, expected at least the 120 s that the job takes as a rule (--time, which Slurm takes in whole minutes)"* ]]
	run -0 as alice sbatch --parsable -N1 -w edge2 --gpus-per-node=4 -c1 --mem=100 -t1 --time-max=2:00 --overrun=kill --bid=300 -o /dev/null --wrap 'sleep 1'
	[[ $output == *"planned for 2 times the time that it states (--time-max); what it does not use is paid back"* ]]
	job=$(grep -Eo '^[0-9]+$' <<< "$output")
	[ $(($(plan_end "$job") - $(plan_start "$job"))) = 120 ]
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = completed ]
	[ "$(database_receipt "$job" .planned)" = 2 ]
	run -0 as alice "$(program sbid)" show "$job"
	[[ $output == *"planned for 2 times the time that it states"* ]]
}

@test "Margin=learned plans for as long as jobs took, says so, and remembers what they take" {
	job=$(whole edge2 alice --bid=300 -o /dev/null --wrap 'sleep 1')
	echo Margin=learned >> "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
	# Of what nobody has seen yet: a minute is planned as more than one.
	wait_until 30 eval '[[ $(as alice sbatch --quote -N1 -w edge1 --gpus-per-node=4 -c1 --mem=100 -t1 --bid=300 --wrap true 2>&1) == \
		*"planned for 1.2"*" times the time that it states (as jobs before took longer, too); what it does not use is paid back"* ]]'
	wait_until 60 settled "$job"
	wait_until 30 grep -rqsE '"event":"took","user":[0-9]*,"model":"","partition":"edge","factor":0\.[0-9]*,"cut":false' "$SANDBOX_DIR"/state
	sed -i '/^Margin=/d' "$SANDBOX_DIR/etc/auction.conf"
	reconfigure
}

# bats test_tags=nightly
@test "what is worth nothing later buys nothing" {
	job=$(whole edge2 alice --bid=deadline:300,8 -o /dev/null --wrap 'sleep 600')
	end=$(plan_end "$job")
	wait_until 120 settled "$job"
	[ "$(database_receipt "$job" .why)" = timeout ]
	[ "$(database_receipt "$job" '.completion * .slot_seconds')" -le $((end + 2 * slot)) ]
}
