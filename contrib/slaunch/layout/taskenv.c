/* taskenv.c - see taskenv.h */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/hostport.h"
#include "slaunch/layout/taskenv.h"

/* What the frameworks of the table call our roles. */
static const char *const dmlc_roles[ROLES] = {"worker", "server", "scheduler"};

/* Collects failures, so that the callers need not look at each one. */
struct env {
	bool failed;
};

/* Where a worker is among all of them: in a group that sees the same GPUs. */
struct world {
	unsigned rank, size, local_rank, local_size, group_rank, groups;
};

static void env_set(struct env *e, const char *name, const char *value);
static void env_set_uint(struct env *e, const char *name, unsigned value);
static const struct peer *peer_find(const struct peer *peers, unsigned n, enum role role,
				    unsigned rank);
static unsigned peer_count(const struct peer *peers, unsigned n, enum role role);
static void env_set_hosts(struct env *e, const char *name, const struct peer *peers, unsigned n,
			  enum role role);
static void env_set_auction(struct env *e, const struct peer *self, const struct peer *peers,
			    unsigned n);
static void env_set_dmlc(struct env *e, const struct peer *self, const struct peer *peers,
			 unsigned n);
static void env_set_tf(struct env *e, const struct peer *self, const struct peer *peers,
		       unsigned n);
static void find_world(struct world *w, const struct peer *self, const struct peer *peers,
		       unsigned n);
static void env_set_torch(struct env *e, const struct peer *self, const struct world *w,
			  const struct peer *master);
static void env_set_slurm(struct env *e, const struct peer *self, const struct world *w,
			  const struct peer *peers, unsigned n);
static void env_hide_gpus(struct env *e);
static char *node_list(const struct peer *peers, unsigned n);
static bool is_first(const struct peer *p, const struct peer *peers, unsigned n);
static struct json_object *tf_list(const struct peer *peers, unsigned n, enum role role);

enum auc_code taskenv_set(const struct peer *self, const struct peer *peers, unsigned n,
			  struct auc_err *err)
{
	struct env e = {0};
	struct world w;

	find_world(&w, self, peers, n);
	env_set_auction(&e, self, peers, n);
	env_set_dmlc(&e, self, peers, n);
	env_set_tf(&e, self, peers, n);
	env_set_torch(&e, self, &w, peer_find(peers, n, ROLE_WORKER, 0));
	if (self->role != ROLE_WORKER)
		env_hide_gpus(&e);
	env_set_slurm(&e, self, &w, peers, n);
	return e.failed ? auc_err_set(err, AUC_ENOMEM, "out of memory") : AUC_OK;
}

struct json_object *taskenv_peers_json(const struct peer *peers, unsigned n)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; list && i < n; i++) {
		struct json_object *p = json_object_new_array();

		json_object_array_add(p, json_object_new_string(role_name(peers[i].role)));
		json_object_array_add(p, json_object_new_int64(peers[i].rank));
		json_object_array_add(p, json_object_new_string(peers[i].node));
		json_object_array_add(p, json_object_new_string(peers[i].host));
		json_object_array_add(p, json_object_new_int64(peers[i].port));
		json_object_array_add(p, json_object_new_int64(peers[i].id));
		json_object_array_add(list, p);
	}
	return list;
}

enum auc_code taskenv_peers_parse(struct json_object *list, struct peer **peers, unsigned *n,
				  struct auc_err *err)
{
	size_t len =
		json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	*peers = NULL;
	*n = 0;
	if (!len || len > 2 * LAYOUT_TASKS_MAX + 1)
		return auc_err_set(err, AUC_EINVAL, "the list of tasks is malformed");
	*peers = calloc(len, sizeof(**peers));
	if (!*peers)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	for (size_t i = 0; i < len; i++) {
		struct json_object *e = json_object_array_get_idx(list, i), *f[6];
		struct peer *p = &(*peers)[i];
		bool ok =
			json_object_is_type(e, json_type_array) && json_object_array_length(e) == 6;

		for (unsigned k = 0; ok && k < 6; k++) {
			f[k] = json_object_array_get_idx(e, k);
			ok = json_object_is_type(f[k], k == 1 || k >= 4 ? json_type_int
									: json_type_string);
		}
		ok = ok && role_parse(json_object_get_string(f[0]), &p->role) &&
		     json_object_get_int64(f[1]) >= 0 &&
		     json_object_get_int64(f[1]) < LAYOUT_TASKS_MAX &&
		     json_object_get_int64(f[4]) > 0 && json_object_get_int64(f[4]) < 65536 &&
		     json_object_get_int64(f[5]) >= 0 &&
		     json_object_get_int64(f[5]) <= TASKENV_ID_MAX &&
		     strlen(json_object_get_string(f[2])) < sizeof(p->node) &&
		     strlen(json_object_get_string(f[3])) < sizeof(p->host);
		if (!ok) {
			free(*peers);
			*peers = NULL;
			return auc_err_set(err, AUC_EINVAL,
					   "entry %zu of the list of tasks is malformed", i);
		}
		p->rank = json_object_get_int64(f[1]);
		snprintf(p->node, sizeof(p->node), "%s", json_object_get_string(f[2]));
		snprintf(p->host, sizeof(p->host), "%s", json_object_get_string(f[3]));
		p->port = json_object_get_int64(f[4]);
		p->id = json_object_get_int64(f[5]);
	}
	*n = len;
	return AUC_OK;
}

static void env_set_auction(struct env *e, const struct peer *self, const struct peer *peers,
			    unsigned n)
{
	env_set(e, "AUCTION_ROLE", role_name(self->role));
	env_set_uint(e, "AUCTION_RANK", self->rank);
	env_set_uint(e, "AUCTION_ID", self->id);
	env_set_uint(e, "AUCTION_NUM_WORKERS", peer_count(peers, n, ROLE_WORKER));
	env_set_uint(e, "AUCTION_NUM_PS", peer_count(peers, n, ROLE_PS));
	env_set_hosts(e, "AUCTION_WORKER_HOSTS", peers, n, ROLE_WORKER);
	env_set_hosts(e, "AUCTION_PS_HOSTS", peers, n, ROLE_PS);
	env_set_uint(e, "AUCTION_PORT", self->port);
}

/* ps-lite finds everybody through its scheduler; without one the first PS stands there, for
 * programs that need no more. */
static void env_set_dmlc(struct env *e, const struct peer *self, const struct peer *peers,
			 unsigned n)
{
	const struct peer *root = peer_find(peers, n, ROLE_SCHEDULER, 0);

	if (!root)
		root = peer_find(peers, n, ROLE_PS, 0);
	env_set(e, "DMLC_ROLE", dmlc_roles[self->role]);
	env_set_uint(e, "DMLC_NUM_WORKER", peer_count(peers, n, ROLE_WORKER));
	env_set_uint(e, "DMLC_NUM_SERVER", peer_count(peers, n, ROLE_PS));
	env_set(e, "DMLC_PS_ROOT_URI", root ? root->host : NULL);
	if (root)
		env_set_uint(e, "DMLC_PS_ROOT_PORT", root->port);
	else
		env_set(e, "DMLC_PS_ROOT_PORT", NULL);
	if (self->role == ROLE_WORKER)
		env_set_uint(e, "DMLC_WORKER_ID", self->rank);
	else
		env_set(e, "DMLC_WORKER_ID", NULL);
}

static void env_set_tf(struct env *e, const struct peer *self, const struct peer *peers, unsigned n)
{
	struct json_object *o, *cluster, *task;
	const char *text;

	if (self->role == ROLE_SCHEDULER) {
		env_set(e, "TF_CONFIG", NULL);
		return;
	}
	o = json_object_new_object();
	cluster = json_object_new_object();
	task = json_object_new_object();
	json_object_object_add(cluster, "worker", tf_list(peers, n, ROLE_WORKER));
	if (peer_count(peers, n, ROLE_PS))
		json_object_object_add(cluster, "ps", tf_list(peers, n, ROLE_PS));
	json_object_object_add(task, "type", json_object_new_string(role_name(self->role)));
	json_object_object_add(task, "index", json_object_new_int64(self->rank));
	json_object_object_add(o, "cluster", cluster);
	json_object_object_add(o, "task", task);
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							 JSON_C_TO_STRING_NOSLASHESCAPE);
	env_set(e, "TF_CONFIG", text);
	e->failed |= !text;
	json_object_put(o);
}

/* True if this is a task of srun that was given GPUs: it sees no others. */
static bool has_own_gpus(void)
{
	const char *cuda = getenv("CUDA_VISIBLE_DEVICES"), *rocm = getenv("ROCR_VISIBLE_DEVICES");

	return getenv("SLURM_PROCID") && ((cuda && *cuda) || (rocm && *rocm));
}

/*
 * A local rank is what programs take for the number of their GPU. srun shows each worker its own
 * ones only, counted from 0: so each is a group by itself. Others share what their node has.
 */
static void find_world(struct world *w, const struct peer *self, const struct peer *peers,
		       unsigned n)
{
	unsigned here = self->rank; /* the lowest rank on its node */

	*w = (struct world){.rank = self->rank, .size = peer_count(peers, n, ROLE_WORKER)};
	if (has_own_gpus()) {
		w->local_size = 1;
		w->group_rank = self->rank;
		w->groups = w->size;
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		if (peers[i].role != ROLE_WORKER || strcmp(peers[i].node, self->node) != 0)
			continue;
		w->local_rank += peers[i].rank < self->rank;
		w->local_size++;
		if (peers[i].rank < here)
			here = peers[i].rank;
	}
	for (unsigned i = 0; i < n; i++) {
		if (!is_first(&peers[i], peers, n))
			continue;
		w->groups++;
		w->group_rank += peers[i].rank < here;
	}
}

/* True if P is the worker of the lowest rank on its node. */
static bool is_first(const struct peer *p, const struct peer *peers, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (peers[i].role == ROLE_WORKER && peers[i].rank < p->rank &&
		    !strcmp(peers[i].node, p->node))
			return false;
	return p->role == ROLE_WORKER;
}

/* torchrun's variables exist for workers only: a PS must not take itself for rank 0. */
static void env_set_torch(struct env *e, const struct peer *self, const struct world *w,
			  const struct peer *master)
{
	const struct {
		const char *name;
		unsigned value;
	} list[] = {
		{"RANK", w->rank},
		{"WORLD_SIZE", w->size},
		{"LOCAL_RANK", w->local_rank},
		{"LOCAL_WORLD_SIZE", w->local_size},
		{"GROUP_RANK", w->group_rank},
		{"GROUP_WORLD_SIZE", w->groups},
		{"NODE_RANK", w->group_rank},
		{"ROLE_RANK", w->rank},
		{"ROLE_WORLD_SIZE", w->size},
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		if (self->role == ROLE_WORKER)
			env_set_uint(e, list[i].name, list[i].value);
		else
			env_set(e, list[i].name, NULL);
	}
	if (master) {
		env_set(e, "MASTER_ADDR", master->host);
		env_set_uint(e, "MASTER_PORT", master->port);
	}
}

/*
 * JAX, Lightning and others find their world in Slurm's variables: to a worker they say what they
 * would in one job of all workers, and not what its node's own job is. Other tasks are in no world.
 */
static void env_set_slurm(struct env *e, const struct peer *self, const struct world *w,
			  const struct peer *peers, unsigned n)
{
	static const char *const ids[] = {"SLURM_JOB_ID", "SLURM_JOBID"};
	static const char *const steps[] = {"SLURM_STEP_ID", "SLURM_STEPID"};
	static const char *const ranks[] = {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"};
	static const char *const sizes[] = {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS"};
	static const char *const nodes[] = {"SLURM_NNODES", "SLURM_JOB_NUM_NODES",
					    "SLURM_STEP_NUM_NODES"};
	static const char *const lists[] = {"SLURM_JOB_NODELIST", "SLURM_NODELIST",
					    "SLURM_STEP_NODELIST"};
	static const char *const per_node[] = {"SLURM_TASKS_PER_NODE", "SLURM_STEP_TASKS_PER_NODE"};
	const unsigned where[] = {w->rank, w->local_rank, w->group_rank};
	const char *own = getenv("SLURM_JOB_ID"), *lead = getenv("AUCTION_JOB_ID");
	char text[32], *list;

	if (self->role != ROLE_WORKER) {
		for (unsigned i = 0; i < 3; i++) {
			env_set(e, ranks[i], NULL);
			env_set(e, sizes[i], NULL);
		}
		return;
	}
	list = node_list(peers, n);
	env_set(e, "AUCTION_NODE_JOB_ID", own);
	for (unsigned i = 0; i < 3; i++) {
		env_set_uint(e, ranks[i], where[i]);
		env_set_uint(e, sizes[i], w->size);
		env_set_uint(e, nodes[i], w->groups);
		env_set(e, lists[i], list);
	}
	/* As many on each, or nobody can tell. */
	snprintf(text, sizeof(text), "%u(x%u)", w->local_size, w->groups);
	for (unsigned i = 0; i < 2; i++) {
		env_set(e, per_node[i], w->local_size * w->groups == w->size ? text : NULL);
		env_set(e, ids[i], lead ? lead : "0");
		env_set(e, steps[i], "0");
	}
	if (w->local_size * w->groups == w->size)
		env_set_uint(e, "SLURM_NTASKS_PER_NODE", w->local_size);
	else
		env_set(e, "SLURM_NTASKS_PER_NODE", NULL);
	e->failed |= !list;
	free(list);
}

/* The workers' nodes, by the first rank on each; malloc'd. */
static char *node_list(const struct peer *peers, unsigned n)
{
	unsigned count = peer_count(peers, n, ROLE_WORKER);
	char *list = NULL;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	for (unsigned rank = 0; out && rank < count; rank++) {
		const struct peer *p = peer_find(peers, n, ROLE_WORKER, rank);

		if (p && is_first(p, peers, n))
			fprintf(out, "%s%s", rank ? "," : "", p->node);
	}
	if (out)
		fclose(out);
	return list;
}

/* From a task that was given none: without these variables it would see all of its node's. */
static void env_hide_gpus(struct env *e)
{
	static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
					    "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};

	if (has_own_gpus())
		return;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		env_set(e, names[i], "");
	/* For containers; an empty one means all to them. */
	env_set(e, "NVIDIA_VISIBLE_DEVICES", "void");
}

static struct json_object *tf_list(const struct peer *peers, unsigned n, enum role role)
{
	struct json_object *list = json_object_new_array();
	unsigned count = peer_count(peers, n, role);
	char buf[TASKENV_HOST_MAX + 16];

	for (unsigned rank = 0; rank < count; rank++) {
		const struct peer *p = peer_find(peers, n, role, rank);

		if (p)
			json_object_array_add(list, json_object_new_string(auc_hostport_print(
							    p->host, p->port, buf, sizeof(buf))));
	}
	return list;
}

static void env_set_hosts(struct env *e, const char *name, const struct peer *peers, unsigned n,
			  enum role role)
{
	unsigned count = peer_count(peers, n, role);
	size_t size = (size_t)count * (TASKENV_HOST_MAX + 10) + 1, len = 0;
	char *list = calloc(1, size);

	if (!list) {
		e->failed = true;
		return;
	}
	for (unsigned rank = 0; rank < count; rank++) {
		const struct peer *p = peer_find(peers, n, role, rank);

		if (!p)
			continue;
		if (rank)
			list[len++] = ',';
		auc_hostport_print(p->host, p->port, list + len, size - len);
		len += strlen(list + len);
	}
	env_set(e, name, list);
	free(list);
}

static const struct peer *peer_find(const struct peer *peers, unsigned n, enum role role,
				    unsigned rank)
{
	for (unsigned i = 0; i < n; i++)
		if (peers[i].role == role && peers[i].rank == rank)
			return &peers[i];
	return NULL;
}

static unsigned peer_count(const struct peer *peers, unsigned n, enum role role)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		count += peers[i].role == role;
	return count;
}

/* VALUE NULL unsets. */
static void env_set(struct env *e, const char *name, const char *value)
{
	if ((value ? setenv(name, value, 1) : unsetenv(name)) != 0)
		e->failed = true;
}

static void env_set_uint(struct env *e, const char *name, unsigned value)
{
	char buf[16];

	snprintf(buf, sizeof(buf), "%u", value);
	env_set(e, name, buf);
}
