# table.bash - the demo's table of bids: live on a terminal, at most 80 columns wide; else a line for each change.
# shellcheck disable=SC2059,SC2154 # formats in variables; what run has

row='%2s %-5s %-6s %-20.20s %-9s %5s %5s %6s %s'
lines_shown=0

header()
{
	printf "$row\n" '#' user job bid state start value pays where
}

# Of a refusal the reason stands where the others have their figures.
line()
{
	local i=$1 bid

	bid=${words_bid[i]}
	bid=${bid/--nodes=/N=} bid=${bid/--gpus-per-node=/gpu=} bid=${bid/--mem=1G/} bid=${bid/--time=1/} bid=${bid/--worker-time=/}
	case ${state[i]} in
	refused | stands | event) printf '%2s %-5s %-6s %-20.20s %-9s %s' $((i + 1)) "${user[i]}" "${model[i]}" "$bid" "${state[i]/event/-}" "${why[i]}" ;;
	*) printf "$row" $((i + 1)) "${user[i]}" "${model[i]}" "$bid" "${state[i]}" "${begin[i]}" "$(short "${value[i]}")" "$(short "${paid[i]}")" "${plan[i]}" ;;
	esac
	echo
}

# "74.314921" is 74.3
short()
{
	[ -z "$1" ] || printf '%.1f' "$1"
}

# Something happened to number $1.
show()
{
	if [ "$live" = yes ]; then
		table
	else
		line "$1"
	fi
}

# The whole table over the one before. Lines are cut, so that each takes one line of the terminal.
table()
{
	local i width=${COLUMNS:-$(tput cols 2> /dev/null || echo 80)} text

	[ "$width" -le 80 ] || width=81
	text=$(
		header
		for ((i = 0; i < nbids; i++)); do
			[ "${state[i]}" = - ] || line $i
		done
		totals
		prices_now
	)
	[ $lines_shown = 0 ] || printf '\033[%dA' $lines_shown
	cut -c "1-$((width - 1))" <<< "$text" | sed 's/$/\x1b[K/'
	lines_shown=$(wc -l <<< "$text")
}

totals()
{
	local i accepted=0 refused=0 waiting=0 running=0 ended=0 sum=0

	for ((i = 0; i < nbids; i++)); do
		case ${state[i]} in
		- | event) continue ;;
		refused) refused=$((refused + 1)); continue ;;
		stands | waiting) waiting=$((waiting + 1)) ;;
		running) running=$((running + 1)) ;;
		*) ended=$((ended + 1)) ;;
		esac
		[ -n "${paid[i]}" ] || continue
		accepted=$((accepted + 1))
		sum=$((sum + $(micro "${paid[i]}")))
	done
	printf '%d sold, %d refused; %d wait, %d run, %d ended; sold for %s credits; %d s\n' \
		$accepted $refused $waiting $running $ended "$(short "$(money $sum)")" $((SECONDS - started))
}

# The last line of $dir/prices: time, price of each kind of GPU, GPUs sold, GPUs.
prices_now()
{
	tail -n 1 "$dir/prices" 2> /dev/null | awk -F'\t' '{printf "a v100 costs %.2f a slot now, a t4 %.2f; %d of %d GPUs are sold now\n", $2, $3, $4, $5}'
}

# Asks the auction, at most every two seconds, and keeps what it says.
take_prices()
{
	# shellcheck disable=SC2016
	local filter='(now / .slot_seconds | floor) as $t | [.servers[] | select(.for_sale) | .tres[] | select(.name | startswith("gpu:"))
			| {name, capacity, run: (.runs[] | select(.[0] <= $t and $t <= .[1]))}]
		| [now, (map(select(.name == "gpu:v100") | .run[3]) | if . == [] then 0 else add / length end),
			(map(select(.name == "gpu:t4") | .run[3]) | if . == [] then 0 else add / length end),
			(map(.run[2]) | add // 0), (map(.capacity) | add // 0)] | @tsv'

	[ $((SECONDS - ${prices_taken:-0})) -ge 2 ] || return 0
	prices_taken=$SECONDS
	jq -r "$filter" "$SANDBOX_DIR/state/auction/status.json" >> "$dir/prices" 2> /dev/null
}

micro()
{
	echo $((10#${1%.*} * 1000000 + 10#${1#*.}))
}

money()
{
	printf '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000))
}
