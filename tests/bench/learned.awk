# learned.awk - tables of learned-report, as Markdown. Each line of the input is one day: setting (SPREAD-ARRIVALS-JOBS), past,
# seed, the certified bound, and what published, no, flat, learned and hindsight prices and the best schedule that a search
# found are worth; -: not known. -v table=shares|summary|pasts|traces, -v scale=X.

function target_of(setting,  part)
{
	split(setting, part, "-")
	if (part[3] == 600 || part[2] == "burst") return part[3] >= 300 ? 84 : ""
	if (part[3] == 300) return part[1] == "one" ? 85 : 92
	return part[1] "-" part[3] == "each-100" ? 98 : ""
}

function add(row, what, x)
{
	n[row, what]++
	sum[row, what] += x
	if (n[row, what] == 1 || x < low[row, what]) low[row, what] = x
	if (n[row, what] == 1 || x > high[row, what]) high[row, what] = x
}

function mean(row, what)
{
	return n[row, what] ? sprintf("%.1f", sum[row, what] / n[row, what]) : "-"
}

function known_of(row)
{
	return n[row, "best"] ? mean(row, "best") " (seeds: " n[row, "best"] ")" : "-"
}

function range(row, what)
{
	return n[row, what] ? sprintf("%.1f (%.1f to %.1f)", sum[row, what] / n[row, what], low[row, what], high[row, what]) : "-"
}

$4 == "-" || $8 == "-" || ($1 ~ /-trace-/) != (table == "traces") { next }

{
	row = $1 " " $2
	if (!(row in seeds)) rows[++nrows] = row
	seeds[row] = seeds[row] (seeds[row] == "" ? "" : ", ") $3
	best = 0
	for (i = 5; i <= 10; i++) {
		if ($i == "-") continue
		share[i] = 100 * $i / $4
		add(row, i, share[i])
		if ($i > best) best = $i
	}
	learned[row, $3] = share[8]
	if ($10 != "-") {
		add(row, "best", 100 * best / $4)
		add(row, "of best", 100 * $8 / best)
		add($2, "of best", 100 * $8 / best)
	}
	if (($1 " same", $3) in learned) add(row, "change", share[8] - learned[$1 " same", $3])
	if ($5 == "-" || $6 == "-") next
	loss = (share[5] > share[6] ? share[5] : share[6]) - share[8]
	add(row, "loss", loss)
	add($2, "loss", loss)
	if (loss > 1.5) missed[$2] = missed[$2] sprintf("%s%s, seed %s (%.1f)", missed[$2] == "" ? "" : "; ", $1, $3, loss)
}

END {
	lost = "most lost to the better of published and none |"
	known = "best schedule known | learned, of the best known | "
	if (table == "shares")
		line = "| types | arrivals, values | jobs | seeds | published | no prices | learned | target | met | " known lost
	if (table == "traces")
		line = "| trace | first day | published | no prices | learned | " known lost
	if (table == "pasts")
		line = "| types | arrivals, values | jobs | past | seeds | no prices | learned |" \
			" more than with the usual past, same seeds | learned, of the best known | " lost
	for (r = 1; r <= nrows; r++) {
		row = rows[r]
		split(row, name, " ")
		if (table == "pasts" && name[2] == "same") continue
		if (table == "shares" && name[2] != "same") continue
		if (line != "") head(line)
		line = ""
		split(name[1], part, "-")
		target = scale == 1 ? target_of(name[1]) : ""
		met = (target == "") ? "" : (mean(row, 8) + 0 >= target) ? "yes" : "no"
		if (table == "shares")
			printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %.1f |\n", part[1], part[2], part[3] * scale, seeds[row],
				mean(row, 5), mean(row, 6), range(row, 8), target, met,
				known_of(row), range(row, "of best"), high[row, "loss"]
		if (table == "traces")
			printf "| %s | %s | %s | %s | %s | %s | %s | %.1f |\n", part[1], part[3], mean(row, 5), mean(row, 6), mean(row, 8),
				mean(row, "best"), mean(row, "of best"), high[row, "loss"]
		if (table == "pasts")
			printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %.1f |\n", part[1], part[2], part[3] * scale, name[2],
				seeds[row], mean(row, 6), range(row, 8), range(row, "change"), range(row, "of best"), high[row, "loss"]
	}
	if (table == "summary") {
		summary("same", "the table")
		if (n["two", "loss"]) summary("two", "it with two days of the past")
	}
}

function summary(past, days)
{
	printf "%d days of %s: %.1f points at most were lost to the better of published and no prices (target: never " \
		"more than 1.5); more than 1.5 on %s.\n", n[past, "loss"], days, high[past, "loss"], missed[past] == "" ? "none" : missed[past]
	if (n[past, "of best"])
		printf "%d of them of which a good schedule was looked for: learned prices are worth %s per cent of the best one known " \
			"(target: 97 on average).\n", n[past, "of best"], range(past, "of best")
	print ""
}

function head(line)
{
	print line
	gsub(/[^|]+/, " --- ", line)
	print line
}
