/* partitions.c - see partitions.h. */
#include "config.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "adapter/partitions.h"
#include "base/file.h"

#define FILES_MAX 64                 /* slurm.conf and what it includes */
#define BYTES_MAX (16 * 1024 * 1024) /* of all of them */
#define KEYS_MAX  128                /* on one line */
#define CONF_MAX  (1024 * 1024)      /* a larger auction.conf is not searched for names */

struct pair {
	const char *key, *value;
};

/* What the lines say, and what DEFAULT lines said before. */
struct reader {
	struct auc_partitions *partitions;
	char **nodes; /* Nodes= of each partition; NULL: none */
	auc_hostlist_t gpu, plain;
	char *default_nodes, default_alternate[AUC_NAME_MAX];
	const char *directory; /* of slurm.conf, */
	int directory_len;
	bool default_gpus;
	bool doubt; /* something was not understood: there may be more nodes with GPUs */
	unsigned files;
	size_t bytes;
};

static enum auc_code read_file(struct reader *r, const char *path, struct auc_err *err);
static enum auc_code read_line(struct reader *r, char *line, struct auc_err *err);
static unsigned split(char *line, struct pair *pairs);
static const char *value_of(const struct pair *pairs, unsigned n, const char *key);
static enum auc_code include(struct reader *r, const char *name, struct auc_err *err);
static void read_nodes(struct reader *r, const struct pair *pairs, unsigned n);
static enum auc_code read_partition(struct reader *r, const struct pair *pairs, unsigned n,
				    struct auc_err *err);
static struct auc_partition *add(struct auc_partitions *p, const char *name);
static bool may_have_gpus(const struct reader *r, const char *nodes);
static bool names_gpus(const char *gres);
static bool is_yes(const char *word);

int64_t auc_partitions_changed(void)
{
	/* slurmctld's own, which stays where it is. */
	static const volatile time_t *at;

	if (!at)
		at = dlsym(RTLD_DEFAULT, "last_part_update");
	return at ? (int64_t)*at : -1;
}

enum auc_code auc_partitions_read(const char *path, struct auc_partitions *p, struct auc_err *err)
{
	const char *slash = strrchr(path, '/');
	struct reader r = {.partitions = p,
			   .directory = path,
			   .directory_len = slash ? (int)(slash - path) + 1 : 0,
			   .gpu = slurm_hostlist_create(NULL),
			   .plain = slurm_hostlist_create(NULL)};
	enum auc_code code;

	memset(p, 0, sizeof(*p));
	code = r.gpu && r.plain ? read_file(&r, path, err)
				: auc_err_set(err, AUC_ENOMEM, "out of memory for partitions");
	for (unsigned i = 0; !code && i < p->n; i++)
		p->list[i].gpus = may_have_gpus(&r, r.nodes[i]);
	for (unsigned i = 0; i < p->n; i++)
		free(r.nodes[i]);
	free(r.nodes);
	free(r.default_nodes);
	if (r.gpu)
		slurm_hostlist_destroy(r.gpu);
	if (r.plain)
		slurm_hostlist_destroy(r.plain);
	if (code)
		auc_partitions_clear(p);
	return code;
}

enum auc_code auc_partitions_see(const node_info_msg_t *nodes,
				 const partition_info_msg_t *partitions, struct auc_partitions *p,
				 struct auc_err *err)
{
	memset(p, 0, sizeof(*p));
	for (uint32_t i = 0; i < partitions->record_count; i++) {
		const partition_info_t *from = &partitions->partition_array[i];
		struct auc_partition *to;

		/* Others do not fit in a list of names; nobody is let into them. */
		if (!from->name || strlen(from->name) >= AUC_NAME_MAX)
			continue;
		to = add(p, from->name);
		if (!to) {
			auc_partitions_clear(p);
			return auc_err_set(err, AUC_ENOMEM, "out of memory for partitions");
		}
		for (int k = 0; from->node_inx && from->node_inx[k] >= 0; k += 2)
			for (int node = from->node_inx[k];
			     node <= from->node_inx[k + 1] && node < (int)nodes->record_count;
			     node++)
				to->gpus |= !nodes->node_array[node].name ||
					    names_gpus(nodes->node_array[node].gres);
		to->submits = from->state_up & PARTITION_SUBMIT;
		snprintf(to->alternate, sizeof(to->alternate), "%s",
			 from->alternate ? from->alternate : "");
		if (from->flags & PART_FLAG_DEFAULT)
			memcpy(p->default_name, to->name, sizeof(p->default_name));
	}
	return AUC_OK;
}

void auc_partitions_clear(struct auc_partitions *p)
{
	free(p->list);
	memset(p, 0, sizeof(*p));
}

bool auc_partitions_lack(const struct auc_partitions *p, const char *name)
{
	for (unsigned i = 0; i < p->n; i++)
		if (!strcmp(p->list[i].name, name))
			return false;
	return p->n > 0;
}

const struct auc_partition *auc_partitions_find(const struct auc_partitions *p, const char *name,
						size_t len)
{
	for (unsigned i = 0; i < p->n; i++)
		if (strlen(p->list[i].name) == len && !memcmp(p->list[i].name, name, len))
			return &p->list[i];
	return NULL;
}

bool auc_partitions_ordinary(const struct auc_partitions *p, const char *name, size_t len)
{
	const struct auc_partition *found = auc_partitions_find(p, name, len);

	return found && !found->gpus;
}

void auc_partitions_of_broken_conf(const char *path, void (*found)(const char *name, size_t len),
				   char *spool_dir, size_t size)
{
	static const char partition[] = "PartitionName=", spool[] = "SpoolDir=";
	FILE *f = auc_file_open(path);
	char line[4096];

	spool_dir[0] = '\0';
	if (!f)
		return;
	/* By what was read: a line of NULs has no length. */
	while (ftell(f) < CONF_MAX && fgets(line, sizeof(line), f)) {
		char *p = line + strspn(line, " \t");
		bool is_spool = !strncasecmp(p, spool, sizeof(spool) - 1);

		if (!is_spool && strncasecmp(p, partition, sizeof(partition) - 1))
			continue;
		p = strchr(p, '=') + 1;
		p += *p == '"';
		if (is_spool)
			snprintf(spool_dir, size, "%.*s", (int)strcspn(p, " \t\r\n#\""), p);
		else
			found(p, strcspn(p, " \t\r\n#\""));
	}
	fclose(f);
}

/* Lines that end in a backslash go on with the next. */
static enum auc_code read_file(struct reader *r, const char *path, struct auc_err *err)
{
	FILE *f = fopen(path, "re");
	enum auc_code code = AUC_OK;
	char *line = NULL, *part = NULL;
	size_t size = 0, len = 0;
	ssize_t n;

	if (!f)
		return auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	if (++r->files > FILES_MAX)
		code = auc_err_set(err, AUC_EINVAL, "%s: more than %d files are included", path,
				   FILES_MAX);
	while (!code && (n = getline(&part, &size, f)) >= 0) {
		char *grown = realloc(line, len + (size_t)n + 1);
		bool goes_on;

		r->bytes += (size_t)n;
		if (!grown || r->bytes > BYTES_MAX) {
			code = auc_err_set(err, grown ? AUC_EINVAL : AUC_ENOMEM,
					   "%s: more than fits in memory", path);
			line = grown ? grown : line;
			break;
		}
		line = grown;
		while (n && (part[n - 1] == '\n' || part[n - 1] == '\r'))
			n--;
		goes_on = n && part[n - 1] == '\\';
		n -= goes_on;
		memcpy(line + len, part, (size_t)n);
		len += (size_t)n;
		line[len] = '\0';
		if (goes_on)
			continue;
		code = read_line(r, line, err);
		len = 0;
	}
	if (!code && len)
		code = read_line(r, line, err);
	free(line);
	free(part);
	fclose(f);
	return code;
}

static enum auc_code read_line(struct reader *r, char *line, struct auc_err *err)
{
	struct pair pairs[KEYS_MAX];
	unsigned n;

	line += strspn(line, " \t");
	if (!strncasecmp(line, "include", 7) && isspace((unsigned char)line[7])) {
		line += 7 + strspn(line + 7, " \t");
		line[strcspn(line, " \t#")] = '\0';
		return include(r, line, err);
	}
	n = split(line, pairs);
	if (n == KEYS_MAX)
		return auc_err_set(err, AUC_EINVAL, "slurm.conf: a line has too many keys");
	if (n && !strcasecmp(pairs[0].key, "NodeName"))
		read_nodes(r, pairs, n);
	else if (n && !strcasecmp(pairs[0].key, "PartitionName"))
		return read_partition(r, pairs, n, err);
	return AUC_OK;
}

/* Cuts LINE into key=value, values in quotes or not, up to a '#'. */
static unsigned split(char *line, struct pair *pairs)
{
	unsigned n = 0;
	char *p = line;

	while (n < KEYS_MAX && *(p += strspn(p, " \t")) && *p != '#') {
		char *end;

		pairs[n].key = p;
		p += strcspn(p, " \t=#");
		if (*p != '=') {
			p += strcspn(p, " \t#");
			continue;
		}
		*p++ = '\0';
		end = p + strcspn(p, " \t#");
		if (*p == '"') {
			p++;
			end = p + strcspn(p, "\"");
		}
		pairs[n++].value = p;
		p = end;
		if (!*p || *p == '#') {
			*p = '\0';
			break;
		}
		*p++ = '\0';
	}
	return n;
}

static const char *value_of(const struct pair *pairs, unsigned n, const char *key)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcasecmp(pairs[i].key, key))
			return pairs[i].value;
	return NULL;
}

/* NAME is beside slurm.conf unless it says otherwise. */
static enum auc_code include(struct reader *r, const char *name, struct auc_err *err)
{
	enum auc_code code;
	char *path;

	if (asprintf(&path, "%.*s%s", *name == '/' ? 0 : r->directory_len, r->directory, name) < 0)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for partitions");
	code = read_file(r, path, err);
	free(path);
	return code;
}

static void read_nodes(struct reader *r, const struct pair *pairs, unsigned n)
{
	const char *gres = value_of(pairs, n, "Gres"), *names = pairs[0].value;
	bool gpus = gres ? names_gpus(gres) : r->default_gpus;

	if (!strcasecmp(names, "DEFAULT"))
		r->default_gpus = gpus;
	else if (!slurm_hostlist_push(gpus ? r->gpu : r->plain, names))
		r->doubt = true;
}

static enum auc_code read_partition(struct reader *r, const struct pair *pairs, unsigned n,
				    struct auc_err *err)
{
	const char *name = pairs[0].value, *nodes = value_of(pairs, n, "Nodes");
	const char *alternate = value_of(pairs, n, "Alternate");
	char **grown, **at = &r->default_nodes;
	struct auc_partition *p;

	if (!strcasecmp(name, "DEFAULT")) {
		if (alternate)
			snprintf(r->default_alternate, AUC_NAME_MAX, "%s", alternate);
	} else {
		if (strlen(name) >= AUC_NAME_MAX)
			return AUC_OK;
		grown = realloc(r->nodes, (r->partitions->n + 1) * sizeof(char *));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "out of memory for partitions");
		r->nodes = grown;
		at = &grown[r->partitions->n];
		*at = NULL;
		p = add(r->partitions, name);
		if (!p)
			return auc_err_set(err, AUC_ENOMEM, "out of memory for partitions");
		if (is_yes(value_of(pairs, n, "Default")))
			memcpy(r->partitions->default_name, p->name, AUC_NAME_MAX);
		p->submits = true;
		snprintf(p->alternate, AUC_NAME_MAX, "%s",
			 alternate ? alternate : r->default_alternate);
		if (!nodes)
			nodes = r->default_nodes;
	}
	if (!nodes || *at == nodes)
		return AUC_OK;
	free(*at);
	*at = strdup(nodes);
	return *at ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "out of memory for partitions");
}

/* The new one, at the end; NULL: no memory. NAME is shorter than AUC_NAME_MAX. */
static struct auc_partition *add(struct auc_partitions *p, const char *name)
{
	struct auc_partition *grown = realloc(p->list, (p->n + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	p->list = grown;
	memset(&grown[p->n], 0, sizeof(*grown));
	strcpy(grown[p->n].name, name);
	return &grown[p->n++];
}

/* A name that is no node's is that of a node set, or of nodes yet to come. */
static bool may_have_gpus(const struct reader *r, const char *nodes)
{
	auc_hostlist_t list;
	bool gpus = false;
	char *name;

	if (!nodes || r->doubt || !strcasecmp(nodes, "ALL"))
		return true;
	list = slurm_hostlist_create(nodes);
	if (!list)
		return true;
	while (!gpus && (name = slurm_hostlist_shift(list))) {
		gpus = slurm_hostlist_find(r->gpu, name) >= 0 ||
		       slurm_hostlist_find(r->plain, name) < 0;
		free(name);
	}
	slurm_hostlist_destroy(list);
	return gpus;
}

/* True if the text of a node's GRES has GPUs or shares of them. */
static bool names_gpus(const char *gres)
{
	static const char *const words[] = {"gpu", "mps", "shard"};

	for (const char *p = gres; p && *p; p = strchr(p, ',')) {
		p += strspn(p, ", \t");
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
			size_t len = strlen(words[i]);

			if (!strncasecmp(p, words[i], len) && (!p[len] || strchr(":,=(/", p[len])))
				return true;
		}
	}
	return false;
}

static bool is_yes(const char *word)
{
	return word && (!strcasecmp(word, "yes") || !strcasecmp(word, "true") ||
			!strcasecmp(word, "up") || !strcmp(word, "1"));
}
