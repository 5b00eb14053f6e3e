# bats file_tags=nightly
# What Slurm has beside plain GPUs: types whose case differs between slurm.conf, auction.conf and accounting, MIG, types of 63 bytes,
# shares of GPUs; and jobs that leave it open which type they get, and how many nodes.

load lib
load plugins

slot=10
long=nvidia_h100_80gb_hbm3_mig_1g.10gb_and_some_more_letters_of_63.b

setup_file()
{
	auction_start --nodes 'node[1-2]:partition=edge,cpus=8,mem=16000,gpus=V100:2' \
		--nodes 'node3:partition=edge,cpus=8,mem=16000,gpus=a100_1g.5gb:7' \
		--nodes "node4:partition=edge,cpus=8,mem=16000,gpus=$long:2" \
		--nodes 'node5:partition=edge,cpus=8,mem=16000,gpus=t4:2,shards=8'
}

teardown()
{
	cancel_all
}

# completed JOB TRES: it ran, and was given that.
completed()
{
	wait_until 90 job_ended "$1"
	wait_until 60 sacct_is "$1" State COMPLETED
	[[ ,$(sacct_field "$1" AllocTRES), == *",$2,"* ]] || { sacct_field "$1" AllocTRES >&2; return 1; }
}

gang_nodes()
{
	receipt_get "$1" '.plan[0].nodes | join(",")'
}

@test "types in another case, in jobs as they are and in jobs of workers and PSs" {
	job=$(submit alice --bid=3000 -N2 --gpus-per-node=v100:2 --mem=100 -t1 -o case.out --wrap 'srun bash -c "echo gpus \$CUDA_VISIBLE_DEVICES"')
	[ "$(receipt_get "$job" '"\(.plan[0].nodes | join(",")) \(.per_node["gpu:V100"])"')" = "node1,node2 2" ]
	completed "$job" gres/gpu:v100=4
	[ "$(grep -c 'gpus 0,1' "$SANDBOX_DIR/home/alice/case.out")" = 2 ]
	# auction.conf says gpu:v100.
	job=$(submit bob $(small_bid 3000 2) -o /dev/null --wrap 'sleep 1')
	completed "$job" gres/gpu:v100=1
	run ! as alice sbatch --bid=3000 -N3 --gpus-per-node=V100:1 --mem=100 -t1 --wrap true
	[[ $output == *"it needs 3 nodes with cpu=1 mem=100 gpu:V100=1 each"* ]]
}

@test "MIG: as many as there are, and no more" {
	jobs=()
	for n in 2 4 1; do
		jobs+=("$(submit alice --bid=linear:3000,100/m -N1 --gres=gpu:a100_1g.5gb:$n --mem=100 -t1 -o /dev/null --wrap 'sleep 30')")
	done
	starts=$(for job in "${jobs[@]}"; do plan_start "$job"; done | sort -u | wc -l)
	# Seven at once, but for a slot that began meanwhile.
	[ "$starts" -le 2 ]
	more=$(submit alice --bid=3000 -N1 --gres=gpu:a100_1g.5gb:7 --mem=100 -t1 -o /dev/null --wrap true)
	for job in "${jobs[@]}"; do
		[ "$(plan_start "$more")" -ge "$(plan_end "$job")" ]
	done
	completed "${jobs[0]}" gres/gpu:a100_1g.5gb=2
	completed "${jobs[1]}" gres/gpu:a100_1g.5gb=4
	run ! as alice sbatch --bid=3000 -N1 --gres=gpu:a100_1g.5gb:8 --mem=100 -t1 --wrap true
	[[ $output == *"and of the nodes that it may use 0 are as large"* ]]
}

@test "a type of 63 bytes" {
	job=$(submit alice --bid=3000 -N1 --gpus-per-node=$long:2 --mem=100 -t1 -o /dev/null --wrap true)
	[ "$(receipt_get "$job" "\"\\(.plan[0].nodes[0]) \\(.per_node[\"gpu:$long\"])\"")" = "node4 2" ]
	completed "$job" "gres/gpu:$long=2"
}

@test "shares of GPUs are sold, in place of the GPUs that are shared" {
	run ! as alice sbatch --bid=3000 -N1 --gres=gpu:t4:1 --mem=100 -t1 --wrap true
	[[ $output == *"gpu:t4=1 in one partition, and of the nodes that it may use 0 are as large"* ]]
	jobs=() begin=$(date -d '60 seconds' +%FT%T)
	for n in 1 2 3 4 5 6 7 8; do
		jobs+=("$(submit alice --bid=linear:3000,100/m -N1 --gres=shard:1 -c1 --mem=100 -b "$begin" -t1 -o /dev/null --wrap 'sleep 50')")
	done
	start=$(plan_start "${jobs[7]}")
	later=$(submit alice --bid=3000 -N1 --gres=shard:1 -c1 --mem=100 -b "$(date -d "@$start" +%FT%T)" -t1 -o /dev/null --wrap true)
	[ "$(plan_start "$later")" -ge "$(plan_end "${jobs[0]}")" ]
	for job in "${jobs[@]}"; do
		[ "$(plan_start "$job")" -lt "$(plan_end "${jobs[0]}")" ]
	done
	[ "$(gang_nodes "$later")" = node5 ]
	wait_until 120 eval '[ "$(timeout 20 squeue -h -t R -w node5 | wc -l)" = 8 ]'
	as alice scancel "${jobs[@]}" "$later"
	wait_until 60 settled "$later"
	! log_has 'not free in its slots' || false
}

@test "of several types of GPU the one that pays, with its own time" {
	# The sooner it is done the more it is worth.
	bid=(--bid=linear:3000,1000/m -N1 --mem=100 --gpu-time=V100=1m,a100_1g.5gb=2m -o /dev/null)
	job=$(submit alice "${bid[@]}" --gpus-per-node=7 --wrap 'sleep 1')
	[ "$(receipt_get "$job" '"\(.plan[0].nodes[0]) \(.completion - .start)"')" = "node3 12" ]
	completed "$job" gres/gpu:a100_1g.5gb=7
	job=$(submit alice "${bid[@]}" --gpus-per-node=2 --wrap 'sleep 1')
	[ "$(receipt_get "$job" '"\(.per_node["gpu:V100"]) \(.completion - .start)"')" = "2 6" ]
	completed "$job" gres/gpu:v100=2
}

# bats test_tags=nightly
@test "of several numbers of nodes the one that pays, with its own time, tasks and types" {
	bid=(--bid=linear:3000,1000/m --nodes=1-2 --speedup=1:2m,2:1m --ntasks-per-node=2 --gpus-per-node=v100:2 --mem=100 -o speed.out)
	job=$(submit alice "${bid[@]}" --wrap 'echo nodes $SLURM_NNODES tasks $SLURM_NTASKS; srun -l hostname | wc -l')
	[ "$(receipt_get "$job" '"\(.plan[0].nodes | length) \(.completion - .start)"')" = "2 6" ]
	completed "$job" gres/gpu:v100=4
	[ "$(paste -sd' ' < "$SANDBOX_DIR/home/alice/speed.out")" = "nodes 2 tasks 4 4" ]
	# One of the two nodes is somebody else's for long: then one for longer is soonest.
	busy=$(submit bob --bid=linear:3000,10 -N1 -w node1 --gpus-per-node=v100:2 --mem=100 -t4 -o /dev/null --wrap 'sleep 200')
	job=$(submit alice "${bid[@]}" --wrap 'echo nodes $SLURM_NNODES tasks $SLURM_NTASKS; srun -l hostname | wc -l')
	[ "$(receipt_get "$job" '"\(.plan[0].nodes | join(",")) \(.completion - .start)"')" = "node2 12" ]
	completed "$job" gres/gpu:v100=2
	[ "$(paste -sd' ' < "$SANDBOX_DIR/home/alice/speed.out")" = "nodes 1 tasks 2 2" ]
	as bob scancel "$busy"
}
