# bats file_tags=nightly
#
# Jobs that wait for others, which end later than their plans said: by their owner's wish, and by nobody's.

load lib
load plugins

slot=10

setup_file()
{
	auction_start --nodes 'node[1-4]:partition=edge,cpus=8,mem=16000,gpus=v100:4' --nodes 'plain1:partition=plain,cpus=8,mem=16000'
}

teardown()
{
	scontrol update PartitionName=edge State=UP
	cancel_all
}

# A link of a minute. link NAME OPTION...
link()
{
	submit alice --bid=3000 -J "$1" -N1 -t1 --mem=100 -o "$1.out" --open-mode=append "${@:2}"
}

# The paths of JOB's plan, as sold now: "START END"
plan_of()
{
	echo "$(plan_start "$1") $(plan_end "$1")"
}

@test "the one before is put off since its partition was down: what comes after it is put off, too, and runs" {
	first=$(link late -b now+20 --wrap 'echo first')
	second=$(link late -d singleton --wrap 'echo second')
	third=$(link other -d "afterok:$second" --wrap 'echo third')
	read -r start end <<< "$(plan_of "$first")"
	old=$(plan_start "$second")
	[ "$old" -ge "$end" ]
	[ "$(plan_start "$third")" -ge "$(plan_end "$second")" ]
	scontrol update PartitionName=edge State=DOWN
	wait_until 60 eval '[ "$(plan_start "$first")" -gt "$start" ]'
	scontrol update PartitionName=edge State=UP
	wait_until 60 job_is "$first" COMPLETED
	# It would not begin if it were not for the first, which is over early.
	wait_until 300 job_ended "$third"
	[ "$(cat "$SANDBOX_DIR/home/alice/late.out" "$SANDBOX_DIR/home/alice/other.out" | paste -sd' ')" = "first second third" ]
}

@test "the one before runs on as its owner wants: the next begins late in its own slots, and one that never can is not paid back" {
	first=$(link long --overrun=extend --wrap 'sleep 85')
	second=$(link long -d singleton --wrap 'echo second')
	old=$(plan_start "$second")
	[ "$old" -ge "$(plan_end "$first")" ]
	# One without a bid is over with its time limit; but its owner has it run again.
	other=$(as alice sbatch --parsable -p plain -J stopped -t1 --requeue -o /dev/null --wrap 'sleep 600')
	run ! as alice sbatch --bid=3000 -J stopped -N1 -t1 --mem=100 -d singleton --quote --wrap true
	wait_until 30 job_is "$other" RUNNING
	third=$(link stopped -d singleton --wrap 'echo third')
	[ "$(plan_start "$third")" -ge $((EPOCHSECONDS + 60)) ]
	as alice scontrol requeuehold "$other"
	run ! as alice sbatch --bid=3000 -J stopped -N1 -t1 --mem=100 -d singleton --wrap true
	[[ $output == *"--dependency=singleton: job $other has that name (stopped) and has not bought its time: nobody knows when it ends"* ]]
	wait_until 120 settled "$second"
	[ "$(database_receipt "$second" .why)" = completed ]
	[ "$(plan_start "$second")" = "$old" ]
	[ "$(sacct -nXo Start -j "$second" | xargs date +%s -d)" -gt $((old + 10)) ]
	wait_until 120 settled "$third"
	[ "$(database_receipt "$third" .why)" = own_job ]
}
