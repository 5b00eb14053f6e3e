# bats file_tags=nightly
#
# A node that has GPUs of two types: jobs get the type that they have bought.

load lib
load plugins

slot=60

setup_file()
{
	auction_start --slot-seconds $slot --nodes 'one1:partition=edge,cpus=8,mem=16000,gpus=v100:2' \
		--nodes 'two1:partition=edge,cpus=8,mem=16000,gpus=t4:2+v100:2'
}

teardown()
{
	cancel_all
}

# The auction sells GPUs of node $1 again; root may ask as often as he likes.
is_sold()
{
	[[ $(timeout 20 sbatch --quote --bid=3000 -N1 -w "$1" --gpus-per-node=v100:2 --mem=100 -t1 --wrap true 2>&1) == *"auction: would be accepted"* ]]
}

# moves_to_two OPTION...: srun's job has bought one1, which is drained before it starts.
moves_to_two()
{
	local begin job srun

	# It has the next slot, not this one, and most of this one until then.
	wait_until 90 eval '[ $(($(date +%s) % slot)) -lt 10 ]'
	begin=$(date -d "@$((($(date +%s) / slot + 1) * slot))" +%FT%T)
	sandbox exec -u alice -- timeout 150 srun --bid=3000 -N1 "$@" --mem=100 -t1 --begin="$begin" \
		bash -c 'scontrol -o show job $SLURM_JOB_ID' > "$SANDBOX_DIR/seen" 2> "$SANDBOX_DIR/told" 3>&- &
	srun=$!
	wait_until 30 eval '[ -n "$(timeout 20 squeue -h -o %i)" ]'
	job=$(timeout 20 squeue -h -o %i)
	[ "$(receipt_get "$job" '.plan[0].nodes[0]')" = one1 ]
	timeout 20 scontrol update NodeName=one1 State=DRAIN Reason=test
	wait $srun || { cat "$SANDBOX_DIR/told" >&2; return 1; }
	grep -qE ' NodeList=two1 .*,gres/gpu:v100=2 ' "$SANDBOX_DIR/seen" || { cat "$SANDBOX_DIR/seen" >&2; return 1; }
	timeout 20 scontrol update NodeName=one1 State=RESUME
	wait_until 60 is_sold one1
}

@test "srun's jobs that move there before they start have the type that they bought" {
	moves_to_two -n1 --gpus-per-node=2
	moves_to_two -n2 --gpus-per-task=1
}
