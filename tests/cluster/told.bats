# What users are told: mail by Slurm's MailProg, as --mail-type asks, of a sale, of its end, of bids that stood, of budgets, at most once,
# while neither a mail program that hangs nor the name of a job does any harm; the board of standard shapes, and past prices.

load lib
load plugins

slot=5

setup_file()
{
	need_plugins
	MAIL_DIR=$(mktemp -d "${TMPDIR:-/tmp}/auction-mail-XXXXXX")
	export MAIL_DIR
	chmod 1777 "$MAIL_DIR"
	# A file for each mail, whole when it gets its name. One for bob hangs.
	cat > "$MAIL_DIR/prog" <<-END
		#!/bin/bash
		[[ \$3 != bob* ]] || exec sleep 300 0<&-
		new=\$(mktemp "$MAIL_DIR/new-XXXXXX")
		{ printf '%s\n' "\$#" "\$1" "\$2" "\$3" "\$AUCTION_MAIL" "\$SLURM_JOB_ID"; cat; } > "\$new"
		mv "\$new" "$MAIL_DIR/mail-\$AUCTION_MAIL-\$SLURM_JOB_ID-\${new##*-}"
	END
	chmod 755 "$MAIL_DIR/prog"
	cat > "$BATS_FILE_TMPDIR/auction.conf" <<-END
		Policy=dps
		SlotSeconds=$slot
		RefundUnused=no
		CancelFee=0
		Overrun=kill
		Slots=400
		Prices=given
		Eta=gpu:v100=100000000
		Budgets=user
		StandsMax=1h
		PartitionName=edge Cost=gpu:v100=360
		WorkerType=v100 TRES=cpu=1,mem=500,gpu:v100=1
		PSType=ps.s TRES=cpu=1,mem=200
		Shape=two GpusPerNode=2 Type=v100 Time=1m
		Shape=wide Nodes=2 GpusPerNode=1 Time=20
	END
	cluster_start $(plugin_options) --auction-conf "$BATS_FILE_TMPDIR/auction.conf" --set "MailProg=$MAIL_DIR/prog" \
		--set MailDomain=example.org --nodes 'node1:partition=edge,cpus=8,mem=16000,gpus=v100:4'
	wait_until 60 status_is .ready true
	wait_until 60 nodes_settled
	for user in alice bob; do
		sauction grant "user:$user" 1000000000
	done
	sauction grant user:carol 10
	wait_until 60 auction_open
}

teardown_file()
{
	cluster_stop
	rm -rf "$MAIL_DIR"
}

sauction()
{
	"$(program sauction)" \
		--spool="$SANDBOX_DIR/state/auction" "$@"
}

# The mails of an event, for a job. mails EVENT JOB
mails()
{
	find "$MAIL_DIR" -name "mail-$1-$2-*"
}

mailed()
{
	[ -n "$(mails "$1" "$2")" ]
}

# The only mail of an event, for a job. mail_of EVENT JOB
mail_of()
{
	wait_until 30 mailed "$1" "$2"
	[ "$(mails "$1" "$2" | wc -l)" = 1 ]
	cat "$(mails "$1" "$2")"
}

sprice()
{
	as "$1" "$(program sprice)" "${@:2}"
}

@test "any user sees when a standard shape can be had and for how much, or why not" {
	wait_until 30 eval '[ "$(sprice carol --board -nP -o shape | wc -l)" = 2 ]'
	# Two GPUs for twelve slots, at half a credit each. That is what a bid pays.
	[[ $(sprice carol --board -nP -o shape,price,partition,low,why) == "two|12.000000|edge|12.000000|-
wide|-|-|-|1 node of those that are up is large enough" ]]
	[[ $(as alice sbatch --quote --bid=99 --gpus-per-node=2 --mem=100 --time=0:20 --wrap true 2>&1) == *"pays 12.000000 of"* ]]
	[[ $(sprice carol --board -g v100) == "SHAPE "*$'\n'"two "* ]]
	[ "$(sprice carol --json | jq '.board | length == 2 and .[0].soonest.price == "12.000000"')" = true ]
	sprice root --board -f "$SANDBOX_DIR/state/auction/status.json" | grep '^two .* 12.000000 '
}

# In how many slots a shape was looked at. slots SHAPE
slots()
{
	sprice carol --history -nP -o name,slots | sed -n "s/^$1|//p"
}

@test "past prices are kept, over a restart, whatever their file has become" {
	wait_until 60 eval '[ "$(slots two)" -ge 3 ]'
	[[ $(sprice carol --history -nP -o name,kind,none,min,median,max,bid50,bid100) == "two|shape|0|12.000000|12.000000|12.000000|12.01|12.01
wide|shape|100|-|-|-|never|never
edge/v100|class|0|0.500000|0.500000|0.500000|-|-" ]]
	[ "$(sprice carol --history=1d --bid=12.5 -nP -o share,sharenow | head -n 1)" = "100|100" ]
	[ "$(sprice carol --history --bid=12 -nP -o share | head -n 1)" = 0 ]
	[ "$(stat -c %a%U "$SANDBOX_DIR/state/auction/prices")" = 600slurm ]
	before=$(slots two)
	sandbox stop slurmctld
	printf 'no moment\n{"t":1,"p":[[0,"tw' >> "$SANDBOX_DIR/state/auction/prices"
	sandbox start slurmctld
	wait_until 60 auction_open
	wait_until 60 eval '[ "$(slots two)" -gt '"$before"' ]'
	! grep -q 'no moment' "$SANDBOX_DIR/state/auction/prices" || false
	[ "$(jq -s '[.[].t] == ([.[].t] | sort | unique)' "$SANDBOX_DIR/state/auction/prices")" = true ]
}

@test "a sale and its end are mailed, to the owner, with price, time and the way to cancel" {
	job=$(submit alice --mail-type=ALL -J train $(small_bid 1000000 1) -o /dev/null --wrap true)
	price=$(receipt_get "$job" '.payment')
	mapfile -t mail < <(mail_of sale "$job")
	[ "${mail[0]}" = 3 ]
	[ "${mail[1]}" = -s ]
	[[ ${mail[2]} == "Slurm Job_id=$job Name=train Sold, Price "*", Begins 20"* ]]
	[ "${mail[3]}" = alice@example.org ]
	[ "${mail[5]}" = "$job" ]
	[[ ${mail[*]} == *"scancel $job"* ]]
	grep -q "^Price:  ${price%0000} credits" "$(mails sale "$job")"
	wait_until 60 settled "$job"
	mapfile -t mail < <(mail_of refund "$job")
	[[ ${mail[2]} == "Slurm Job_id=$job Name=train Paid "*", 0.00 back, completed" ]]
	# What the bid was worth is in neither.
	! grep -q 1000000 "$(mails sale "$job")" "$(mails refund "$job")" || false
}

# bats test_tags=nightly
@test "who wants no mail of it gets none, and an address that is an option is none" {
	none=$(submit alice $(small_bid 1000000 1) -o /dev/null --wrap true)
	fail=$(submit alice --mail-type=FAIL $(small_bid 1000000 1) -o /dev/null --wrap true)
	option=$(submit alice --mail-type=ALL --mail-user=-A/etc/shadow $(small_bid 1000000 1) -o /dev/null --wrap true)
	last=$(submit alice --mail-type=ALL --mail-user=al@x.org -J $'x\tBcc: root' $(small_bid 1000000 1) -o /dev/null --wrap true)
	for job in "$none" "$fail" "$option" "$last"; do
		wait_until 60 settled "$job"
	done
	mapfile -t mail < <(mail_of refund "$last")
	[ "${mail[3]}" = al@x.org ]
	[[ ${mail[2]} == "Slurm Job_id=$last Name=x?Bcc: root Paid "* ]]
	# They came before it.
	! mailed '[a-z]*' "$none" || false
	! mailed '[a-z]*' "$fail" || false
	! mailed '[a-z]*' "$option" || false
}

# bats test_tags=nightly
@test "a mail program that hangs holds up nobody's sales and nobody else's mail" {
	job=$(submit bob --mail-type=ALL $(small_bid 1000000 1) -o /dev/null --wrap true)
	other=$(submit alice --mail-type=ALL $(small_bid 1000000 1) -o /dev/null --wrap true)
	wait_until 60 settled "$job"
	wait_until 30 mailed sale "$other"
	wait_until 60 mailed refund "$other"
	pgrep -f '^sleep 300' > /dev/null
	! mailed '[a-z]*' "$job" || false
}

# How many mails of sales there are since the file "before".
new_sales()
{
	find "$MAIL_DIR" -name 'mail-sale-*' -newer "$MAIL_DIR/before" | wc -l
}

# bats test_tags=nightly
@test "of an array the first task that is sold is mailed of, or each" {
	bid="--bid=deadline:100000000,90s --gpus-per-node=1 --mem=100 --time=1 -o /dev/null --wrap true"
	touch "$MAIL_DIR/before"
	first=$(submit alice --mail-type=BEGIN,END --array=1-2 $bid)
	each=$(submit alice --mail-type=BEGIN,ARRAY_TASKS --array=1-2 $bid)
	wait_until 60 eval '[ "$(new_sales)" = 3 ]'
	grep -qx "To cancel it:    scancel ${each}_1" $(find "$MAIL_DIR" -name 'mail-sale-*' -newer "$MAIL_DIR/before")
	wait_until 90 eval '[ -z "$(timeout 20 squeue -ho %A -j '"$first,$each"')" ]'
	last=$(submit alice --mail-type=BEGIN $(small_bid 1000000 1) -o /dev/null --wrap true)
	mail_of sale "$last"
	[ "$(new_sales)" = 4 ]
	[ "$(find "$MAIL_DIR" -name 'mail-refund-*' -newer "$MAIL_DIR/before" | wc -l)" = 0 ]
	mapfile -t mail < <(mail_of array "$first")
	[[ ${mail[2]} == "Slurm Job_id=$first Name=wrap Array ended, 2 of 2 tasks completed, Paid "* ]]
	! mailed array "$each" || false
}

# bats test_tags=nightly
@test "a plan that is put off is mailed of" {
	job=$(submit alice --mail-type=REQUEUE --bid=100000000 --gpus-per-node=1 --mem=100 --time=0:10 -b now+20 -o /dev/null --wrap true)
	scontrol update partitionname=edge state=down
	wait_until 90 mailed moved "$job"
	mapfile -t mail < <(mail_of moved "$job")
	scontrol update partitionname=edge state=up
	[[ ${mail[2]} == "Slurm Job_id=$job Name=wrap Moved, partition down, Next 20"* ]]
	[[ ${mail[*]} == *"scancel $job"* ]]
	! mailed sale "$job" || false
	as alice scancel "$job"
	wait_until 60 rules_known
}

# All of the node from now on, as soon as what others had is for sale again.
take_node()
{
	full=$(submit alice --bid=100000000 --nodes=1 --gpus-per-node=4 --cpus-per-task=8 --mem=1000 --time=15 -o /dev/null --wrap 'sleep 1000') || return
	[ $(($(receipt_get "$full" .start) * slot)) -gt $(($(date +%s) + 15)) ] || return 0
	as alice scancel "$full"
	return 1
}

@test "a bid that stood is mailed of when it is sold, and when it is not" {
	wait_until 60 take_node
	gang="--nodes=1 --gpus-per-node=4 --mem=600 --time=0:20 -o /dev/null"
	vain=$(submit alice --mail-type=END --stands=15s --bid=deadline:1000000,40s $gang --wrap true)
	taken=$(submit alice --mail-type=BEGIN --stands=1h --bid=deadline:1000000,300s $gang --wrap true)
	wait_until 30 receipt_state_is "$taken" waiting
	mapfile -t mail < <(mail_of unsold "$vain")
	[[ ${mail[2]} == "Slurm Job_id=$vain Name=wrap Not sold, "@(expired|worthless) ]]
	as alice scancel "$full"
	mapfile -t mail < <(mail_of sale "$taken")
	[[ ${mail[2]} == "Slurm Job_id=$taken Name=wrap Sold after standing, Price "* ]]
	as alice scancel "$taken"
}

@test "who spends 80 % and 95 % of a budget is told so once each" {
	first=$(submit carol --mail-type=BEGIN,END $(small_bid 100 14) -o /dev/null --wrap true)
	mail_of sale "$first"
	eighty=$(submit carol --mail-type=END $(small_bid 100 3) -o /dev/null --wrap true)
	mapfile -t mail < <(mail_of budget "$eighty")
	[[ ${mail[2]} == "Slurm Job_id=$eighty Name=wrap Budget 85 % used, user:$(id -u carol)" ]]
	[ "${mail[3]}" = carol@example.org ]
	more=$(submit carol --mail-type=END $(small_bid 100 1) -o /dev/null --wrap true)
	wait_until 60 settled "$more"
	last=$(submit carol --mail-type=END $(small_bid 100 1) -o /dev/null --wrap true)
	mapfile -t mail < <(mail_of budget "$last")
	[[ ${mail[2]} == *" Budget 95 % used, "* && ${mail[*]} == *"Left:    0.50 credits"*"scancel $last"* ]]
	! mailed budget "$first" || false
	! mailed budget "$more" || false
}
