# reproduce.awk - the report of tests/bench/reproduce. Columns: kind, utility, cloud, spread, servers, jobs, seed, policy, accepted,
# completed, welfare, revenue, mean time to completion, time of a decision (median, 99 %, most, in microseconds), winners who pay more
# than their value, winners who pay.

# The optimum, unless it was not found in time; the bound belongs to the market that policies ran in.
$8 ~ /^offline/ {
	if ($16 >= 1e6 * limit) {
		unsolved++
		next
	}
	$8 = "offline"
}

{
	measured[$1, $8] = 1
	c = case_of($1 == "ratio" ? "main" : $1, $2, $3, $4, $5, $6)
	compared[$1, c] = 1
	if (!((c, $7) in seen)) {
		seen[c, $7] = 1
		seeds[c] = seeds[c] " " $7
	}
	completed[c, $7, $8] = $10
	welfare[c, $7, $8] = $11
	p50[c, $7, $8] = $14
	slowest[c, $7, $8] = $16
	winners[$8] += $9
	value[$8] += $11
	paid[$8] += $12
	too_much[$8] += $17
	payers[$8] += $18
}

END {
	npolicies = split("dps|dps (learned)|dps,variant=paper|unpriced|fifo,reading=blocking|drf,reading=blocking|fifo,reading=reserving|drf,reading=reserving", policies, "|")
	split("dps|dps, learned|dps, as printed|unpriced|FIFO, blocking|DRF, blocking|FIFO, reserving|DRF, reserving", labels, "|")
	for (i = 1; i <= npolicies; i++)
		name[policies[i]] = labels[i]
	nothers = split("unpriced|fifo,reading=blocking|drf,reading=blocking|fifo,reading=reserving|drf,reading=reserving", others, "|")
	nforms = split("sigmoid linear inverse", forms, " ")
	if (short == "yes") {
		njobs = split("20 40", x_jobs, " ")
		nservers = split("10 20", x_servers, " ")
		CLOUD = 20; SERVERS = 10; JOBS = 40; KNEE = 20
	} else {
		njobs = split("50 100 150 200 300", x_jobs, " ")
		nservers = split("50 100 200 300", x_servers, " ")
		CLOUD = 100; SERVERS = 100; JOBS = 150; KNEE = 150
	}
	split("one each", spreads, " ")
	for (k = 1; k <= nforms; k++)
		for (s = 1; s <= 2; s++) {
			for (i = 1; i <= njobs; i++)
				sweep[spreads[s], forms[k], "jobs", i] = case_of("main", forms[k], CLOUD, spreads[s], SERVERS, x_jobs[i])
			for (i = 1; i <= nservers; i++)
				sweep[spreads[s], forms[k], "servers", i] = case_of("main", forms[k], CLOUD, spreads[s], x_servers[i], JOBS)
		}
	# what one job can be worth at most, in the setting's ranges
	most["sigmoid"] = 100 * 5 / (1 + exp(0.02)); most["linear"] = 20 * 150 - 1; most["inverse"] = 5 * 60 * 115 * 58 * 149
	heading()
	in_short()
	figures_8_9()
	open_choices()
	printed()
	figure_10()
	figure_11()
	figures_12_15()
	figure_16()
	figure_17()
	figure_18()
}

function case_of(kind, utility, cloud, spread, servers, jobs)
{
	return kind FS utility FS cloud FS spread FS servers FS jobs
}

function seeds_of(c, list)
{
	return c in seeds ? split(seeds[c], list, " ") : 0
}

# --- mean [least, most] of what was added ---

function clear_stat()
{
	n = sum = least = largest = 0
}

function add(v)
{
	least = n && least < v ? least : v
	largest = n && largest > v ? largest : v
	sum += v
	n++
}

function stat(f)
{
	if (!n)
		return "-"
	if (n == 1 || sprintf(f, least) == sprintf(f, largest))
		return sprintf(f, sum / n)
	return sprintf(f " [" f ", " f "]", sum / n, least, largest)
}

# Welfare of policy P in case C, over its seeds, in units of UNIT (1 if none is given).
function add_welfare(c, p, unit,    list, k, m)
{
	m = seeds_of(c, list)
	for (k = 1; k <= m; k++)
		if ((c, list[k], p) in welfare)
			add(welfare[c, list[k], p] / (unit ? unit : 1))
}

# Mean welfare of P at the last point of a sweep over that at point FROM.
function growth(sp, u, what, p, from,    i, first, x)
{
	for (i = 1; (sp, u, what, i) in sweep; i++) {
		x = what == "jobs" ? x_jobs[i] : x_servers[i]
		clear_stat()
		add_welfare(sweep[sp, u, what, i], p)
		if (x == from && n)
			first = sum / n
	}
	return first && n ? sum / n / first : 0
}

# All gains of dps above Q in the markets of a setting.
function all_gains(sp, u, q,    i, w)
{
	clear_stat()
	for (w = 1; w <= 2; w++)
		for (i = 1; (sp, u, w == 1 ? "jobs" : "servers", i) in sweep; i++)
			if (w == 1 || x_servers[i] != SERVERS)
				add_gain(sweep[sp, u, w == 1 ? "jobs" : "servers", i], "dps", sweep[sp, u, w == 1 ? "jobs" : "servers", i], q)
}

# By how many per cent P in case C is above Q in case D, over their seeds.
function add_gain(c, p, d, q,    list, k, m)
{
	m = seeds_of(c, list)
	for (k = 1; k <= m; k++)
		if ((c, list[k], p) in welfare && (d, list[k], q) in welfare && welfare[d, list[k], q] > 0)
			add(100 * (welfare[c, list[k], p] / welfare[d, list[k], q] - 1))
}

function add_completed(c, p, jobs,    list, k, m)
{
	m = seeds_of(c, list)
	for (k = 1; k <= m; k++)
		if ((c, list[k], p) in completed)
			add(100 * completed[c, list[k], p] / jobs)
}

# Seconds of the slowest decision.
function add_slowest(c, p,    list, k, m)
{
	m = seeds_of(c, list)
	for (k = 1; k <= m; k++)
		if ((c, list[k], p) in slowest)
			add(slowest[c, list[k], p] / 1e6)
}

# Welfare of BEST over that of P; where P completes nothing there is none.
function add_ratio(c, best, p,    list, k, m)
{
	m = seeds_of(c, list)
	for (k = 1; k <= m; k++) {
		if (!((c, list[k], best) in welfare) || !((c, list[k], p) in welfare))
			continue
		if (welfare[c, list[k], p] > 0)
			add(welfare[c, list[k], best] / welfare[c, list[k], p])
		else if (welfare[c, list[k], best] > 0)
			nothing++
	}
}

# In how many markets of a sweep P is above Q.
function wins(sp, u, what, p, q,    i, k, m, list, c, yes, all)
{
	for (i = 1; (sp, u, what, i) in sweep; i++) {
		c = sweep[sp, u, what, i]
		m = seeds_of(c, list)
		for (k = 1; k <= m; k++)
			if ((c, list[k], p) in welfare && (c, list[k], q) in welfare) {
				all++
				yes += welfare[c, list[k], p] > welfare[c, list[k], q]
			}
	}
	return all ? sprintf("%d of %d", yes, all) : "-"
}

# --- tables ---

function head(line)
{
	print line " |"
	sub(/ $/, "", line)
	gsub(/[^|]+/, " --- ", line)
	print line "|"
}

# Rows that come in any order: kept with a key, printed by it.
function keep_row(key, line)
{
	nrows++
	row_key[nrows] = key
	row[nrows] = line
}

function print_rows(    i, k, t)
{
	for (i = 2; i <= nrows; i++)
		for (k = i; k > 1 && row_key[k - 1] > row_key[k]; k--) {
			t = row_key[k]; row_key[k] = row_key[k - 1]; row_key[k - 1] = t
			t = row[k]; row[k] = row[k - 1]; row[k - 1] = t
		}
	for (i = 1; i <= nrows; i++)
		print row[i]
	print ""
	nrows = 0
}

# Columns of the points of a sweep that were measured.
function points(line, sp, u, what,    i)
{
	for (i = 1; (sp, u, what, i) in sweep; i++)
		if (sweep[sp, u, what, i] in seeds)
			line = line " | " (what == "jobs" ? x_jobs[i] : x_servers[i])
	return line
}

function welfare_table(sp, u, what,    i, k, line, any)
{
	head(points("| welfare at " what, sp, u, what))
	for (k = 1; k <= npolicies; k++) {
		line = "| " name[policies[k]]
		any = 0
		for (i = 1; (sp, u, what, i) in sweep; i++) {
			if (!(sweep[sp, u, what, i] in seeds))
				continue
			clear_stat()
			add_welfare(sweep[sp, u, what, i], policies[k])
			any += n
			line = line " | " stat("%.0f")
		}
		if (any)
			print line " |"
	}
	print ""
}

function gain_table(sp, u, what,    i, k, line)
{
	head(points("| dps above, %, at " what, sp, u, what) " | markets where it is above")
	for (k = 1; k <= nothers; k++) {
		line = "| " name[others[k]]
		for (i = 1; (sp, u, what, i) in sweep; i++) {
			if (!(sweep[sp, u, what, i] in seeds))
				continue
			clear_stat()
			add_gain(sweep[sp, u, what, i], "dps", sweep[sp, u, what, i], others[k])
			line = line " | " stat("%+.0f")
		}
		print line " | " wins(sp, u, what, "dps", others[k]) " |"
	}
	print ""
}

function ratio_table(kind, best,    c, part, k, line)
{
	line = "| workers | cloud | servers | jobs"
	for (k = 1; k <= npolicies; k++)
		if (compares(kind, policies[k]))
			line = line " | " name[policies[k]]
	head(line)
	nothing = 0
	for (c in seeds) {
		if (!((kind, c) in compared))
			continue
		split(c, part, FS)
		line = "| " part[4] " | " part[3] " | " part[5] " | " part[6]
		for (k = 1; k <= npolicies; k++) {
			if (!compares(kind, policies[k]))
				continue
			clear_stat()
			add_ratio(c, best, policies[k])
			line = line " | " stat("%.2f")
		}
		keep_row(sprintf("%s %06d %06d %06d", part[4], part[3], part[5], part[6]), line " |")
	}
	print_rows()
	if (nothing)
		print nothing " times a policy completed nothing where something can be; such a ratio is left out.\n"
}

function compares(kind, p)
{
	return ((kind == "ratio" ? "main" : kind), p) in measured
}

# --- the report ---

function heading()
{
	print "# Figures 8 to 18 of the paper of policy dps"
	print ""
	print "R. Zhou et al., \"DPS: Dynamic Pricing and Scheduling for Distributed Machine Learning Jobs in Edge-Cloud Networks\", IEEE TMC 2023,"
	print "section 6.2.2. " date ", commit " commit ", " machine ", `" command "`."
	print ""
}

# What the rest comes to.
function in_short(    k, p, text)
{
	print "## In short"
	print ""
	print "`dps` is the exact optimum of every decision at the published prices. *Scarce* and *plentiful* are two readings of \"[1, 5] workers\" of an"
	print "edge server: of one type, or of each. *Blocking* and *reserving* are two readings of \"in the order of arrival\" of the baselines: no job"
	print "starts before its predecessor, or each takes its earliest window."
	print ""
	head("| figure | the paper | measured")
	print "| 8, 9 | above FIFO and DRF everywhere | " above("sigmoid") " |"
	print "| 8, 9 | and the planner without prices (not in the paper) | " above_one("sigmoid", "unpriced") " |"
	print "| 8 | the size of the cloud (not in the paper) | " other_clouds() " |"
	print "| 8 | up to 200 % above | " most_above("sigmoid") " |"
	print "| 8 | hardly grows beyond J = 150 | at " x_jobs[njobs] " jobs / at " KNEE ": " both_growths("jobs", KNEE) " |"
	print "| 9 | grows with S | at " x_servers[nservers] " servers / at " x_servers[1] ": " both_growths("servers", x_servers[1]) " |"
	print "| 10 | optimum / DPS from 1 to 1.6 | " best_ratio("small", "offline") " |"
	print "| 11 | ratio better than the baselines', hardly depends on S and J | " best_ratio("ratio", "bound") " |"
	for (k = 2; k <= nforms; k++)
		print "| " (k == 2 ? "12, 13" : "14, 15") " | above FIFO and DRF, " forms[k] " | " above(forms[k]) " |"
	text = ""
	for (k = 1; k <= nforms; k++) {
		all_gains("one", forms[k], "fifo,reading=blocking")
		text = text (k > 1 ? "; " : "") forms[k] sprintf(" %+.0f %%", n ? sum / n : 0)
		all_gains("one", forms[k], "drf,reading=blocking")
		text = text sprintf(" and %+.0f %%", n ? sum / n : 0)
	}
	print "| 12 to 15 | improvement roughly the same for all utilities | mean above FIFO and DRF, blocking, scarce: " text " |"
	text = ""
	for (k = 1; k <= nforms; k++)
		text = text (k > 1 ? ", " : "") forms[k] sprintf(" %.2f", growth("one", forms[k], "jobs", "dps", KNEE))
	print "| 16 | the inverse form keeps growing, the others do not | at " x_jobs[njobs] " jobs / at " KNEE ", scarce: " text " |"
	p = policies[1]
	printf "| 17 | nobody pays more than the value | %d of %d winners do; %.0f %% pay anything |\n", too_much[p], winners[p], 100 * payers[p] / winners[p]
	print "| 18 | below 2 s a job on average | " slowest_of("dps") "; as printed " slowest_of("dps,variant=paper") " |"
	print ""
}

function above(u,    k, text)
{
	for (k = 2; k <= nothers; k++)
		text = text (k > 2 ? "; " : "") name[others[k]] ": " above_one(u, others[k])
	return text
}

# The same in markets with other clouds.
function other_clouds(    cl, c, k, m, s, list, part, yes, all, text)
{
	for (cl = 0; cl <= 500; cl += 10) {
		all = 0
		for (k = 2; k <= 3; k++)
			yes[k] = 0
		for (c in seeds) {
			split(c, part, FS)
			if (part[1] != "main" || part[2] != "sigmoid" || part[3] != cl || cl == CLOUD)
				continue
			m = seeds_of(c, list)
			for (s = 1; s <= m; s++) {
				all++
				for (k = 2; k <= 3; k++)
					yes[k] += welfare[c, list[s], "dps"] > welfare[c, list[s], others[k]]
			}
		}
		if (all)
			text = text (text ? "; " : "") "of " cl ": above " name[others[2]] " in " yes[2] " of " all ", above " name[others[3]] " in " yes[3]
	}
	return text ? text : "-"
}

# In how many markets dps is above Q.
function above_one(u, q,    sp, w, i, c, k, m, list, yes, all, text)
{
	for (sp = 1; sp <= 2; sp++) {
		yes = all = 0
		for (w = 1; w <= 2; w++)
			for (i = 1; (spreads[sp], u, w == 1 ? "jobs" : "servers", i) in sweep; i++) {
				if (w == 2 && x_servers[i] == SERVERS)
					continue
				c = sweep[spreads[sp], u, w == 1 ? "jobs" : "servers", i]
				m = seeds_of(c, list)
				for (k = 1; k <= m; k++) {
					all++
					yes += welfare[c, list[k], "dps"] > welfare[c, list[k], q]
				}
			}
		if (all)
			text = text (text ? ", " : "") (sp == 1 ? "scarce " : "plentiful ") yes " of " all
	}
	return text
}

function most_above(u,    sp, k, text)
{
	for (sp = 1; sp <= 2; sp++) {
		all_gains(spreads[sp], u, others[1])
		if (!n)
			continue
		text = text (text ? "; " : "") (sp == 1 ? "scarce" : "plentiful") ", at most"
		for (k = 2; k <= nothers; k++) {
			all_gains(spreads[sp], u, others[k])
			text = text (k > 2 ? "," : "") sprintf(" %+.0f %% (%s)", largest, name[others[k]])
		}
	}
	return text
}

function both_growths(what, from,    sp, g, text)
{
	for (sp = 1; sp <= 2; sp++) {
		g = growth(spreads[sp], "sigmoid", what, "dps", from)
		if (g)
			text = text (text ? ", " : "") (sp == 1 ? "scarce " : "plentiful ") sprintf("%.2f", g)
	}
	return text
}

function best_ratio(kind, best,    c, k, text)
{
	if (!((kind, best) in measured))
		return "not measured"
	for (k = 1; k <= npolicies; k++) {
		if (!compares(kind, policies[k]))
			continue
		clear_stat()
		for (c in seeds)
			if ((kind, c) in compared)
				add_ratio(c, best, policies[k])
		text = text (text ? "; " : "") name[policies[k]] " " stat("%.2f")
	}
	return text
}

function slowest_of(p,    i, seconds, median)
{
	for (i in slowest)
		if (i ~ SUBSEP p "$") {
			seconds = slowest[i] > seconds ? slowest[i] : seconds
			median = p50[i] > median ? p50[i] : median
		}
	return sprintf("median of a market at most %.3f s, slowest of all %.2f s", median / 1e6, seconds / 1e6)
}

function figures_8_9(    sp)
{
	print "## Figures 8 and 9: welfare against jobs and servers"
	print ""
	print "> In both cases, DPS performs better than the other scheduling algorithms, respectively. [...] Our algorithms performs up to 200% better"
	print "> than others. Since with the fixed number of servers (S=100), resource usage has been saturated when J is larger than 150, so the"
	print "> objective value hardly increases. In Fig. 9, the social welfare grows with the increase of the number of servers."
	print ""
	print "Mean [least, most] over the seeds."
	print ""
	for (sp = 1; sp <= 2; sp++) {
		print "### " (sp == 1 ? "Scarce: an edge server has workers of one type (`spread=one`)" : "Plentiful: it has workers of each type (`spread=each`)")
		print ""
		welfare_table(spreads[sp], "sigmoid", "jobs")
		gain_table(spreads[sp], "sigmoid", "jobs")
		print JOBS " jobs:"
		print ""
		welfare_table(spreads[sp], "sigmoid", "servers")
		gain_table(spreads[sp], "sigmoid", "servers")
	}
}

function open_choices(    sp, cl, j, c, k, line)
{
	print "### What the paper leaves open"
	print ""
	print "The cloud (workers of each of the five types; half as many PSs), and what \"[1, 5] workers\" of an edge server are: that many of each"
	print "type (`each`) or of one type (`one`). " SERVERS " edge servers. Columns of other policies: by how many per cent dps is above."
	print ""
	line = "| workers | cloud | jobs | welfare of dps | jobs completed, %"
	for (k = 1; k <= nothers; k++)
		line = line " | " name[others[k]]
	head(line)
	for (sp = 1; sp <= 2; sp++)
		for (cl = 0; cl <= 500; cl += 10)
			for (j = 1; j <= njobs; j++) {
				c = case_of("main", "sigmoid", cl, spreads[sp], SERVERS, x_jobs[j])
				if (!(c in seeds) || (short != "yes" && x_jobs[j] != 100 && x_jobs[j] != 300))
					continue
				clear_stat()
				add_welfare(c, "dps")
				line = "| " spreads[sp] " | " cl " | " x_jobs[j] " | " stat("%.0f")
				clear_stat()
				add_completed(c, "dps", x_jobs[j])
				line = line " | " stat("%.0f")
				for (k = 1; k <= nothers; k++) {
					clear_stat()
					add_gain(c, "dps", c, others[k])
					line = line " | " stat("%+.0f")
				}
				print line " |"
			}
	print ""
}

function printed(    c, d, part, line)
{
	print "### The algorithms as printed"
	print ""
	print "`variant=paper` beside the exact optimum of every decision; same price function, same markets."
	print ""
	head("| workers | servers | jobs | welfare, as printed | above exact, % | above FIFO, blocking, % | above DRF, blocking, % | slowest decision, s | exact, s")
	for (c in seeds) {
		split(c, part, FS)
		if (part[1] != "paper")
			continue
		d = c
		sub(/^paper/, "main", d)
		line = "| " part[4] " | " part[5] " | " part[6]
		clear_stat(); add_welfare(c, "dps,variant=paper"); line = line " | " stat("%.0f")
		clear_stat(); add_gain(c, "dps,variant=paper", d, "dps"); line = line " | " stat("%+.1f")
		clear_stat(); add_gain(c, "dps,variant=paper", d, "fifo,reading=blocking"); line = line " | " stat("%+.0f")
		clear_stat(); add_gain(c, "dps,variant=paper", d, "drf,reading=blocking"); line = line " | " stat("%+.0f")
		clear_stat(); add_slowest(c, "dps,variant=paper"); line = line " | " stat("%.2f")
		clear_stat(); add_slowest(d, "dps"); line = line " | " stat("%.2f")
		keep_row(sprintf("%s %06d %06d", part[4], part[5], part[6]), line " |")
	}
	print_rows()
}

function figure_10()
{
	print "## Figure 10: ratio to the offline optimum"
	print ""
	print "> We computed the performance ratio by dividing the social welfare of the offline optimal solution by that of DPS. [...] we set T=10,"
	print "> W=1, P=1 and vary the workload of jobs. [...] The performance ratio of DPS ranges from 1 to 1.6."
	print ""
	if (!(("small", "offline") in measured)) {
		print "Not measured: this auctionsim has no policy `offline`.\n"
		return
	}
	print "Optimum / policy, mean [least, most] over the seeds. `" small "`: with the workload of the other figures hardly a job ends within ten"
	print "slots. No cloud."
	print ""
	ratio_table("small", "offline")
	if (unsolved)
		print unsolved " markets whose optimum was not found within " limit " s are left out.\n"
}

function figure_11()
{
	print "## Figure 11: ratio at full size"
	print ""
	print "> Fig. 11 compares the performance ratio of DPS with that of other algorithms. DPS performs better than baselines and is not affected"
	print "> greatly by the change of S and J."
	print ""
	if (!(("ratio", "bound") in measured)) {
		print "Not measured: this auctionsim has no command `bound`.\n"
		return
	}
	print "Nobody knows the optimum at this size: certified upper bound of it / policy, which is no less than the ratio."
	print ""
	ratio_table("ratio", "bound")
}

function figures_12_15(    k, what, i, p, line)
{
	print "## Figures 12 to 15: linear and inverse utilities"
	print ""
	print "> DPS always performs the best under different utility functions. Besides, for different utility functions, the improvement of DPS"
	print "> compared with other baseline algorithms is roughly the same."
	print ""
	for (k = 2; k <= nforms; k++) {
		print "Figures " (k == 2 ? "12 and 13, linear:" : "14 and 15, inverse:")
		print ""
		gain_table("one", forms[k], "jobs")
		gain_table("one", forms[k], "servers")
	}
	print "The gain over all markets against jobs, mean [least, most]:"
	print ""
	line = "| dps above, %"
	for (k = 1; k <= nforms; k++)
		line = line " | " forms[k]
	head(line)
	for (p = 1; p <= nothers; p++) {
		line = "| " name[others[p]]
		for (k = 1; k <= nforms; k++) {
			clear_stat()
			for (i = 1; i <= njobs; i++)
				add_gain(sweep["one", forms[k], "jobs", i], "dps", sweep["one", forms[k], "jobs", i], others[p])
			line = line " | " stat("%+.0f")
		}
		print line " |"
	}
	print ""
}

function figure_16(    i, k, line, c)
{
	print "## Figure 16: welfare of DPS under the three utilities"
	print ""
	print "> we normalize the result by dividing the social welfare by the maximum value of each price function. [...] Among all the functions, f2"
	print "> performs best. [...] the social welfare of f2 keeps increasing when J is larger."
	print ""
	print "Welfare / the most that a job can be worth in these ranges, mean [least, most]; scarce. Growth: at " x_jobs[njobs] " jobs / at " KNEE "."
	print ""
	head(points("| utility", "one", "linear", "jobs") " | growth")
	for (k = 1; k <= nforms; k++) {
		line = "| " forms[k]
		for (i = 1; i <= njobs; i++) {
			c = sweep["one", forms[k], "jobs", i]
			if (!(c in seeds))
				continue
			clear_stat()
			add_welfare(c, "dps", most[forms[k]])
			line = line " | " stat(forms[k] == "inverse" ? "%.2f" : "%.1f")
		}
		print line " | " sprintf("%.2f", growth("one", forms[k], "jobs", "dps", KNEE)) " |"
	}
	print ""
}

function figure_17(    i, p)
{
	print "## Figure 17: payments and values of the winners"
	print ""
	print "> the value of job is always larger than its corresponding payment."
	print ""
	print "All markets of this report together."
	print ""
	head("| policy | winners | that pay more than their value | that pay anything | all payments / all values")
	for (i = 1; i <= 3; i++) {
		p = policies[i]
		if (winners[p])
			printf "| %s | %d | %d | %.0f %% | %.2f %% |\n", name[p], winners[p], too_much[p], 100 * payers[p] / winners[p], 100 * paid[p] / value[p]
	}
	print ""
}

function figure_18(    i, k, s, c, part, what, line)
{
	print "## Figure 18: running time"
	print ""
	print "> the average time to compute a schedule for a job is less than 2 seconds."
	print ""
	print "Milliseconds of a decision: median (mean over the seeds), and the slowest of all. The machine did other things, too."
	print ""
	head("| workers | servers | jobs | dps: median | slowest | as printed: median | slowest")
	for (s = 1; s <= 2; s++)
		for (k = 1; k <= 2; k++) {
			what = k == 1 ? "jobs" : "servers"
			for (i = 1; (spreads[s], "sigmoid", what, i) in sweep; i++) {
				c = sweep[spreads[s], "sigmoid", what, i]
				split(c, part, FS)
				if (!(c in seeds) || (k == 2 && part[5] == SERVERS))
					continue
				line = "| " part[4] " | " part[5] " | " part[6] times(c, "dps")
				sub(/^main/, "paper", c)
				print line times(c, "dps,variant=paper") " |"
			}
		}
	print ""
}

function times(c, p,    list, k, m, text)
{
	clear_stat()
	m = seeds_of(c, list)
	for (k = 1; k <= m; k++)
		if ((c, list[k], p) in p50)
			add(p50[c, list[k], p] / 1e3)
	text = n ? sprintf(" | %.1f", sum / n) : " | -"
	clear_stat()
	add_slowest(c, p)
	return text (n ? sprintf(" | %.0f", 1e3 * largest) : " | -")
}
