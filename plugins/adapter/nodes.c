/* nodes.c - see nodes.h. */
#include "config.h"

#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/nodes.h"
#include "base/list.h"
#include "input/conf_prices.h"

#define GRES_MAX 4096 /* bytes of a node's GRES text */

static const partition_info_t *partition_of(const struct auc_conf *conf,
					    const partition_info_msg_t *partitions, int node);
static const partition_info_t *find_partition(const partition_info_msg_t *msg, const char *name);
static bool holds(const partition_info_t *partition, int node);
static enum auc_code describe(const node_info_t *node, const partition_info_t *in,
			      struct auc_server_spec *spec, struct auc_err *err);
static void take_steps(const node_info_t *node, struct auc_server_spec *spec);
static void sell_shares(struct auc_server_spec *spec);
static bool take_features(const node_info_t *node, struct auc_server_spec *spec);
static unsigned take_leaf(char *line, struct auc_server_spec *const *sorted, unsigned n);
static int by_name(const void *a, const void *b);
static enum auc_code add_gres(char *item, struct auc_named *tres, unsigned *ntres,
			      struct auc_err *err);
static bool takes_no_work(uint32_t state);
static void say_parts_of_cores(const struct auc_conf *conf, const struct auc_server_spec *servers,
			       unsigned nservers, char *buf, size_t size);
static void say_priced(const struct auc_conf *conf, const struct auc_server_spec *servers,
		       unsigned nservers, char *buf, size_t size);
static void say_unknown(const char *key, const struct auc_conf *conf, const struct auc_named *list,
			unsigned nlist, const struct auc_server_spec *servers, unsigned nservers,
			char *buf, size_t size, size_t from);
static bool fits_anywhere(const struct auc_conf *conf, const struct auc_conf_type *type, bool ps,
			  const struct auc_server_spec *servers, unsigned nservers);
static double amount_of(const struct auc_server_spec *server, const char *tres);

enum auc_code auc_nodes_servers(const struct auc_conf *conf, const node_info_msg_t *nodes,
				const partition_info_msg_t *partitions,
				struct auc_server_spec **servers, unsigned *nservers,
				struct auc_err *err)
{
	struct auc_server_spec *list = calloc(nodes->record_count + 1, sizeof(*list));
	enum auc_code code = AUC_OK;
	unsigned n = 0, hidden = 0;

	if (!list)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for %u nodes",
				   nodes->record_count);
	for (uint32_t i = 0; i < nodes->record_count; i++) {
		const node_info_t *node = &nodes->node_array[i];
		const partition_info_t *partition;

		partition = partition_of(conf, partitions, (int)i);
		hidden += !node->name && partition;
		if (!node->name || !partition)
			continue;
		if (describe(node, partition, &list[n], err)) {
			code = AUC_EINVAL;
			continue;
		}
		if (!take_features(node, &list[n++]))
			code = auc_err_set(err, AUC_EINVAL,
					   "node %s: features of more than %d bytes: the last ones "
					   "are not known to bids",
					   node->name, AUC_FEATURES_MAX - 1);
	}
	if (hidden && !code)
		code = auc_err_set(err, AUC_EINVAL,
				   "%u node%s hidden, and so not for sale: %s FUTURE, or "
				   "powered down, and PrivateData=cloud in slurm.conf shows those",
				   hidden, hidden == 1 ? " is" : "s are",
				   hidden == 1 ? "it is" : "they are");
	*servers = list;
	*nservers = n;
	return code;
}

bool auc_nodes_lack(const char *name)
{
	/* slurmctld's own; by the name alone, as the auction knows nodes. */
	static void *(*find)(const char *name);

	if (!find)
		find = (void *(*)(const char *))dlsym(RTLD_DEFAULT, "find_node_record_no_alias");
	return find && !find(name);
}

struct auc_node_bounds auc_nodes_bounds(const struct auc_conf *conf, const node_info_msg_t *nodes,
					const partition_info_msg_t *partitions)
{
	struct auc_node_bounds b = {.least_tmp = UINT64_MAX};

	for (uint32_t i = 0; i < nodes->record_count; i++) {
		const node_info_t *node = &nodes->node_array[i];

		if (node->name && node->threads > b.most_threads)
			b.most_threads = node->threads;
		if (node->name && node->tmp_disk < b.least_tmp &&
		    partition_of(conf, partitions, (int)i))
			b.least_tmp = node->tmp_disk;
	}
	if (b.least_tmp == UINT64_MAX)
		b.least_tmp = 0;
	return b;
}

/* The first of CONF's partitions that NODE is in, or NULL. */
static const partition_info_t *partition_of(const struct auc_conf *conf,
					    const partition_info_msg_t *partitions, int node)
{
	for (unsigned p = 0; p < conf->npartitions; p++) {
		const partition_info_t *found =
			find_partition(partitions, conf->partitions[p].name);

		if (found && holds(found, node))
			return found;
	}
	return NULL;
}

enum auc_code auc_nodes_set_switches(struct auc_server_spec *servers, unsigned n,
				     const char *topology, struct auc_err *err)
{
	struct auc_server_spec **sorted = malloc((n + 1) * sizeof(*sorted));
	char *copy = strdup(topology), *rest = copy, *line;
	unsigned leaves = 0;

	for (unsigned i = 0; i < n && sorted; i++)
		sorted[i] = &servers[i];
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), by_name);
	while (sorted && copy && (line = strsep(&rest, "\n")))
		leaves += take_leaf(line, sorted, n);
	for (unsigned i = 0; i < n && !leaves; i++)
		strcpy(servers[i].leaf, "all");
	leaves = sorted && copy;
	free(sorted);
	free(copy);
	return leaves ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "out of memory for switches");
}

/* Puts the nodes of LINE on its switch; 1: it is a leaf's. */
static unsigned take_leaf(char *line, struct auc_server_spec *const *sorted, unsigned n)
{
	const char *leaf = NULL, *nodes = NULL;
	unsigned long level = 0;
	auc_hostlist_t list;
	char *word, *name;

	while ((word = strsep(&line, " \t"))) {
		if (!strncmp(word, "SwitchName=", 11))
			leaf = word + 11;
		else if (!strncmp(word, "BlockName=", 10))
			leaf = word + 10;
		else if (!strncmp(word, "Level=", 6))
			level = strtoul(word + 6, NULL, 10);
		else if (!strncmp(word, "Nodes=", 6))
			nodes = word + 6;
	}
	if (!leaf || !*leaf || strlen(leaf) >= AUC_NAME_MAX || level || !nodes)
		return 0;
	list = slurm_hostlist_create(nodes);
	while (list && (name = slurm_hostlist_shift(list))) {
		struct auc_server_spec key, *wanted = &key, *const *found = NULL;

		if (strlen(name) < sizeof(key.name)) {
			strcpy(key.name, name);
			found = bsearch(&wanted, sorted, n, sizeof(*sorted), by_name);
		}
		if (found && !*(*found)->leaf)
			strcpy((*found)->leaf, leaf);
		free(name);
	}
	if (list)
		slurm_hostlist_destroy(list);
	return 1;
}

static int by_name(const void *a, const void *b)
{
	const struct auc_server_spec *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* False: not all of them fit. */
static bool take_features(const node_info_t *node, struct auc_server_spec *spec)
{
	const char *text = node->features_act ? node->features_act : node->features;
	size_t len = text ? strlen(text) : 0;

	if (len < sizeof(spec->features)) {
		strcpy(spec->features, text ? text : "");
		return true;
	}
	for (len = sizeof(spec->features) - 1; len && text[len] != ',';)
		len--;
	snprintf(spec->features, sizeof(spec->features), "%.*s", (int)len, text);
	return false;
}

void auc_nodes_missing(const struct auc_conf *conf, const partition_info_msg_t *partitions,
		       char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < conf->npartitions && n < size; i++)
		if (!find_partition(partitions, conf->partitions[i].name))
			n += (size_t)snprintf(buf + n, size - n, "%sPartitionName=%s",
					      n ? ", " : "", conf->partitions[i].name);
	if (n && n < size)
		snprintf(buf + n, size - n, ": slurm.conf has no such partition");
}

void auc_nodes_unfit(const struct auc_conf *conf, const struct auc_server_spec *servers,
		     unsigned nservers, char *buf, size_t size)
{
	size_t n = strlen(buf), from = n;

	if (!nservers)
		return;
	for (unsigned ps = 0; ps < 2; ps++) {
		const struct auc_conf_type *types = ps ? conf->ps_types : conf->worker_types;
		unsigned ntypes = ps ? conf->nps_types : conf->nworker_types;

		for (unsigned i = 0; i < ntypes && n < size; i++)
			if (!fits_anywhere(conf, &types[i], ps, servers, nservers))
				n += (size_t)snprintf(buf + n, size - n, "%s%s=%s",
						      n > from ? ", "
						      : from   ? "; "
							       : "",
						      ps ? "PSType" : "WorkerType", types[i].name);
	}
	if (n > from && n < size)
		n += (size_t)snprintf(buf + n, size - n, ": no node of the auction can hold one");
	if (n < size)
		say_parts_of_cores(conf, servers, nservers, buf, size);
	say_priced(conf, servers, nservers, buf, size);
}

/* What auction.conf gives a price that no node has, as after a typing error. */
static void say_priced(const struct auc_conf *conf, const struct auc_server_spec *servers,
		       unsigned nservers, char *buf, size_t size)
{
	size_t from = strlen(buf);

	say_unknown("Eta", conf, conf->eta, conf->neta, servers, nservers, buf, size, from);
	say_unknown("Upper", conf, conf->bounds.upper, conf->bounds.nupper, servers, nservers, buf,
		    size, from);
	say_unknown("PSUpper", conf, conf->ps_bounds.upper, conf->ps_bounds.nupper, servers,
		    nservers, buf, size, from);
	for (unsigned i = 0; i < conf->npartitions; i++)
		say_unknown("Cost", conf, conf->partitions[i].cost, conf->partitions[i].ncost,
			    servers, nservers, buf, size, from);
	if (strlen(buf) > from)
		snprintf(buf + strlen(buf), size - strlen(buf),
			 ": no node of the auction has such a TRES");
}

/* Those of LIST, which KEY has, that none of SERVERS has, after FROM bytes of BUF. */
static void say_unknown(const char *key, const struct auc_conf *conf, const struct auc_named *list,
			unsigned nlist, const struct auc_server_spec *servers, unsigned nservers,
			char *buf, size_t size, size_t from)
{
	for (unsigned i = 0; i < nlist; i++) {
		bool found = conf->transfer_mb >= 0 && !strcmp(list[i].name, AUC_TRANSFER);
		size_t n = strlen(buf);

		for (unsigned s = 0; s < nservers && !found; s++)
			for (unsigned k = 0; k < servers[s].ncapacity && !found; k++)
				found = auc_conf_price_find(&list[i], 1,
							    servers[s].capacity[k].name);
		if (!found)
			snprintf(buf + n, size - n, "%s%s=%s",
				 n > from ? ", "
				 : from   ? "; "
					  : "",
				 key, list[i].name);
	}
}

/* What a job of such a type leaves of its last core nobody gets, and it may be sold. */
static void say_parts_of_cores(const struct auc_conf *conf, const struct auc_server_spec *servers,
			       unsigned nservers, char *buf, size_t size)
{
	size_t n = strlen(buf), from = n;
	unsigned most = 1;

	for (unsigned i = 0; i < nservers; i++)
		most = servers[i].cpu_step > most ? servers[i].cpu_step : most;
	for (unsigned i = 0; i < conf->nworker_types + conf->nps_types && n < size; i++) {
		bool ps = i >= conf->nworker_types;
		const struct auc_conf_type *type =
			ps ? &conf->ps_types[i - conf->nworker_types] : &conf->worker_types[i];
		const struct auc_named *cpu = auc_list_find_tres(type->tres, type->ntres, "cpu");

		if (cpu && fmod(cpu->value, most) > 0)
			n += (size_t)snprintf(buf + n, size - n, "%s%s=%s",
					      n > from ? ", "
					      : from   ? "; "
						       : "",
					      ps ? "PSType" : "WorkerType", type->name);
	}
	if (n > from && n < size)
		snprintf(buf + n, size - n,
			 ": cpu is no multiple of %u, by which Slurm hands CPUs out (a core or "
			 "socket): nodes may be sold more than they have",
			 most);
}

/* Whether a server, down or not, could hold TYPE with nothing else on it. Nodes that are one server
 * together are taken as such. */
static bool fits_anywhere(const struct auc_conf *conf, const struct auc_conf_type *type, bool ps,
			  const struct auc_server_spec *servers, unsigned nservers)
{
	const struct auc_conf_partition *part;
	unsigned i, k, s;
	double have;

	for (i = 0; i < nservers; i++) {
		part = auc_conf_partition(conf, servers[i].partition);
		if (!part || part->roles == (ps ? AUC_PART_WORKER : AUC_PART_PS))
			continue;
		for (k = 0; k < type->ntres; k++) {
			have = amount_of(&servers[i], type->tres[k].name);
			for (s = 0; s < nservers && part->one_server; s++)
				if (s != i && !strcmp(servers[s].partition, part->name))
					have += amount_of(&servers[s], type->tres[k].name);
			if (have < type->tres[k].value)
				break;
		}
		if (k == type->ntres)
			return true;
	}
	return false;
}

static double amount_of(const struct auc_server_spec *server, const char *tres)
{
	const struct auc_named *t = auc_list_find_tres(server->capacity, server->ncapacity, tres);

	return t ? t->value : 0;
}

enum auc_code auc_nodes_parse_gres(const char *text, struct auc_named *tres, unsigned *ntres,
				   struct auc_err *err)
{
	char copy[GRES_MAX], *item = copy, *p;
	unsigned depth = 0;

	if (strlen(text) >= sizeof(copy))
		return auc_err_set(err, AUC_EINVAL, "GRES text of more than %d bytes", GRES_MAX);
	strcpy(copy, text);
	/* Commas inside "(S:0,1)" separate sockets, not GRES; what is in parentheses is of no
	 * interest here. */
	for (p = copy; *p; p++) {
		depth += *p == '(';
		if (*p == ',' && depth == 0) {
			*p = '\0';
			if (add_gres(item, tres, ntres, err))
				return AUC_EINVAL;
			item = p + 1;
		} else if (*p == ')' && depth) {
			depth--;
			*p = ' ';
		} else if (depth) {
			*p = ' ';
		}
	}
	return *item ? add_gres(item, tres, ntres, err) : AUC_OK;
}

static const partition_info_t *find_partition(const partition_info_msg_t *msg, const char *name)
{
	for (uint32_t i = 0; i < msg->record_count; i++)
		if (msg->partition_array[i].name && !strcmp(msg->partition_array[i].name, name))
			return &msg->partition_array[i];
	return NULL;
}

static bool holds(const partition_info_t *partition, int node)
{
	for (int i = 0; partition->node_inx && partition->node_inx[i] >= 0; i += 2)
		if (partition->node_inx[i] <= node && node <= partition->node_inx[i + 1])
			return true;
	return false;
}

static enum auc_code describe(const node_info_t *node, const partition_info_t *in,
			      struct auc_server_spec *spec, struct auc_err *err)
{
	uint64_t mem = node->real_memory > node->mem_spec_limit
			       ? node->real_memory - node->mem_spec_limit
			       : 0;
	uint32_t cpus = node->cpus_efctv ? node->cpus_efctv : node->cpus;
	const char *partition = in->name;

	/* MaxCPUsPerNode: of all jobs of the partition together. 0 is what no Slurm says. */
	if (in->max_cpus_per_node && in->max_cpus_per_node < cpus)
		cpus = in->max_cpus_per_node;
	memset(spec, 0, sizeof(*spec));
	if (strlen(node->name) >= AUC_NAME_MAX || strlen(partition) >= AUC_NAME_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "node %s, partition %s: a name of more than %d bytes",
				   node->name, partition, AUC_NAME_MAX - 1);
	strcpy(spec->name, node->name);
	strcpy(spec->partition, partition);
	spec->down = takes_no_work(node->node_state);
	spec->capacity[0] = (struct auc_named){.name = "cpu", .value = cpus};
	spec->capacity[1] = (struct auc_named){.name = "mem", .value = (double)mem};
	spec->ncapacity = 2;
	if (node->gres && auc_nodes_parse_gres(node->gres, spec->capacity, &spec->ncapacity, err)) {
		auc_err_prefix(err, "node %s", node->name);
		return AUC_EINVAL;
	}
	sell_shares(spec);
	take_steps(node, spec);
	return AUC_OK;
}

/* Jobs share no core, and with CR_Socket no socket. Where slurm.conf counts cores as CPUs, threads
 * are nobody's matter. */
static void take_steps(const node_info_t *node, struct auc_server_spec *spec)
{
	unsigned cores = node->cores, cpus = cores * node->sockets;
	unsigned threads = node->cpus > cpus ? node->threads : 1;
	uint16_t how = slurm_conf.select_type_param;

	spec->cpu_step = how & AUC_SELECT_SOCKET ? cores * threads : threads;
	spec->task_step = how & AUC_SELECT_ONE_TASK_PER_CORE ? threads : 1;
}

/* Where GPUs are shared, their shares are sold and not they: Slurm gives either of the two. */
static void sell_shares(struct auc_server_spec *spec)
{
	unsigned kept = 0;

	if (!auc_list_find_tres(spec->capacity, spec->ncapacity, "shard") &&
	    !auc_list_find_tres(spec->capacity, spec->ncapacity, "mps"))
		return;
	for (unsigned i = 0; i < spec->ncapacity; i++)
		if (strcmp(spec->capacity[i].name, "gpu") != 0 &&
		    strncmp(spec->capacity[i].name, "gpu:", 4) != 0)
			spec->capacity[kept++] = spec->capacity[i];
	memset(&spec->capacity[kept], 0, (spec->ncapacity - kept) * sizeof(*spec->capacity));
	spec->ncapacity = kept;
}

/* "name[:type][:no_consume][:count[K|M|G]]", count 1 if absent. */
static enum auc_code add_gres(char *item, struct auc_named *tres, unsigned *ntres,
			      struct auc_err *err)
{
	double count = 1;
	char *colon, *end;
	unsigned i;

	while (isspace((unsigned char)*item))
		item++;
	for (end = item + strlen(item); end > item && isspace((unsigned char)end[-1]); end--)
		;
	*end = '\0';
	if (!*item || !strcmp(item, "null") || strstr(item, "(null)"))
		return AUC_OK;
	colon = strrchr(item, ':');
	if (colon && isdigit((unsigned char)colon[1])) {
		unsigned long long n = strtoull(colon + 1, &end, 10);
		const char *units = "KMGTP",
			   *u = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;

		count = (double)n;
		for (long k = 0; u && k <= u - units; k++)
			count *= 1024;
		if (*end && (!u || end[1]))
			return auc_err_set(err, AUC_EINVAL,
					   "GRES '%.200s': not a count after the last ':'", item);
		*colon = '\0';
	}
	colon = strstr(item, ":no_consume");
	if (colon)
		return AUC_OK; /* cannot be used up, so there is nothing to sell */
	/* Slurm may say of which GPUs they are; a job asks for any. */
	if (!strncmp(item, "shard:", 6) || !strncmp(item, "mps:", 4))
		item[strcspn(item, ":")] = '\0';
	if (strlen(item) >= AUC_NAME_MAX)
		return auc_err_set(err, AUC_EINVAL, "GRES '%.200s': a name of more than %d bytes",
				   item, AUC_NAME_MAX - 1);
	for (i = 0; i < *ntres && strcasecmp(tres[i].name, item) != 0; i++)
		;
	if (i == AUC_TRES_MAX)
		return auc_err_set(err, AUC_EINVAL, "GRES '%.200s': more than %d TRES on one node",
				   item, AUC_TRES_MAX);
	if (i == *ntres) {
		strcpy(tres[i].name, item);
		tres[i].value = 0;
		(*ntres)++;
	}
	tres[i].value += count;
	return AUC_OK;
}

static bool takes_no_work(uint32_t state)
{
	uint32_t base = state & NODE_STATE_BASE;

	/* Nobody expects an answer of one that power saving has stopped. */
	if (state & (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | NODE_STATE_POWERING_UP))
		state &= ~(uint32_t)NODE_STATE_NO_RESPOND;
	return base == NODE_STATE_DOWN || base == NODE_STATE_ERROR || base == NODE_STATE_FUTURE ||
	       (state & (NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_NO_RESPOND)) != 0;
}
