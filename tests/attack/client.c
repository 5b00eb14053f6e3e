/*
 * client.c - asks slurmctld by libslurm alone for what its commands would not send.
 *
 *   client VERB [KEY=VALUE]...
 *
 * Prints "taken [ID] [MESSAGE]" or "refused: REASON" (exit code 1); libslurm writes what slurmctld
 * says to standard error. A key that was not given is as slurm_init_...() leaves it. Keys that may
 * be repeated: env, spank. TIMES=N as the last key repeats the request.
 *
 *   client sweep-submit|sweep-update [KEY=VALUE]...
 *
 * The request once for each other key with each value at the edge of its type, and strings that are
 * empty, long, no UTF-8. A job that was taken is compared with the one of the request as given, and
 * cancelled. Prints what was taken, and what differs; exit code 0 if an update was taken, or a job
 * is of other size, time or place than as given (without a bid: if any was taken).
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLURM_BACKWARD_COMPAT /* jobs are named by their numbers in 26.05, too */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

/* The number of a job is inside a step's id, from 25.11 on. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define ID_OF(r) ((r)->step_id.job_id)
#else
#define ID_OF(r) ((r)->job_id)
#endif

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
typedef list_t *list_of_jobs_t;
#else
typedef List list_of_jobs_t;
#endif

enum kind { STRING, U8, U16, U32, U64, TIME };

struct key {
	const char *name;
	size_t offset;
	enum kind kind;
};

#define KEY(type, name, field, kind)                                                               \
	{                                                                                          \
		name, offsetof(type, field), kind                                                  \
	}
#define JOB(name, kind) KEY(job_desc_msg_t, #name, name, kind)

static const struct key job_keys[] = {
	JOB(account, STRING),
	JOB(acctg_freq, STRING),
	JOB(admin_comment, STRING),
	JOB(alloc_node, STRING),
	JOB(alloc_resp_port, U16),
	JOB(alloc_sid, U32),
	JOB(array_inx, STRING),
	JOB(batch_features, STRING),
	JOB(begin_time, TIME),
	JOB(bitflags, U64),
	JOB(boards_per_node, U16),
	JOB(burst_buffer, STRING),
	JOB(cluster_features, STRING),
	JOB(clusters, STRING),
	JOB(comment, STRING),
	JOB(container, STRING),
	JOB(contiguous, U16),
	JOB(core_spec, U16),
	JOB(cores_per_socket, U16),
	JOB(cpu_bind, STRING),
	JOB(cpu_bind_type, U16),
	JOB(cpu_freq_gov, U32),
	JOB(cpu_freq_max, U32),
	JOB(cpu_freq_min, U32),
	JOB(cpus_per_task, U16),
	JOB(cpus_per_tres, STRING),
	JOB(deadline, TIME),
	JOB(delay_boot, U32),
	JOB(dependency, STRING),
	JOB(end_time, TIME),
	JOB(exc_nodes, STRING),
	JOB(extra, STRING),
	JOB(features, STRING),
	JOB(fed_siblings_active, U64),
	JOB(fed_siblings_viable, U64),
	JOB(group_id, U32),
	JOB(het_job_offset, U32),
	JOB(immediate, U16),
	JOB(job_id_str, STRING),
	JOB(kill_on_node_fail, U16),
	JOB(licenses, STRING),
	JOB(mail_type, U16),
	JOB(mail_user, STRING),
	JOB(max_cpus, U32),
	JOB(max_nodes, U32),
	JOB(mcs_label, STRING),
	JOB(mem_bind, STRING),
	JOB(mem_bind_type, U16),
	JOB(mem_per_tres, STRING),
	JOB(min_cpus, U32),
	JOB(min_nodes, U32),
	JOB(name, STRING),
	JOB(network, STRING),
	JOB(nice, U32),
	JOB(ntasks_per_board, U16),
	JOB(ntasks_per_core, U16),
	JOB(ntasks_per_node, U16),
	JOB(ntasks_per_socket, U16),
	JOB(ntasks_per_tres, U16),
	JOB(num_tasks, U32),
	JOB(open_mode, U8),
	JOB(origin_cluster, STRING),
	JOB(other_port, U16),
	JOB(overcommit, U8),
	JOB(partition, STRING),
	JOB(plane_size, U16),
	JOB(pn_min_cpus, U16),
	JOB(pn_min_memory, U64),
	JOB(pn_min_tmp_disk, U32),
	JOB(prefer, STRING),
	JOB(priority, U32),
	JOB(profile, U32),
	JOB(qos, STRING),
	JOB(reboot, U16),
	JOB(req_context, STRING),
	JOB(req_nodes, STRING),
	JOB(req_switch, U32),
	JOB(requeue, U16),
	JOB(reservation, STRING),
	JOB(resp_host, STRING),
	JOB(restart_cnt, U16),
	JOB(script, STRING),
	JOB(selinux_context, STRING),
	JOB(shared, U16),
	JOB(site_factor, U32),
	JOB(sockets_per_board, U16),
	JOB(sockets_per_node, U16),
	JOB(std_err, STRING),
	JOB(std_in, STRING),
	JOB(std_out, STRING),
	JOB(submit_line, STRING),
	JOB(task_dist, U32),
	JOB(threads_per_core, U16),
	JOB(time_limit, U32),
	JOB(time_min, U32),
	JOB(tres_bind, STRING),
	JOB(tres_freq, STRING),
	JOB(tres_per_job, STRING),
	JOB(tres_per_node, STRING),
	JOB(tres_per_socket, STRING),
	JOB(tres_per_task, STRING),
	JOB(user_id, U32),
	JOB(wait4switch, U32),
	JOB(wait_all_nodes, U16),
	JOB(warn_flags, U16),
	JOB(warn_signal, U16),
	JOB(warn_time, U16),
	JOB(wckey, STRING),
	JOB(work_dir, STRING),
	JOB(x11, U16),
	JOB(x11_magic_cookie, STRING),
	JOB(x11_target, STRING),
	JOB(x11_target_port, U16),
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	JOB(job_size_str, STRING),
	JOB(segment_size, U16),
	JOB(container_id, STRING),
	JOB(licenses_tot, STRING),
	JOB(oom_kill_step, U16),
	JOB(resv_port_cnt, U16),
#endif
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 5, 0)
	JOB(power_flags, U8),
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	KEY(job_desc_msg_t, "job_id", step_id.job_id, U32),
	KEY(job_desc_msg_t, "sluid", step_id.sluid, U64),
	KEY(job_desc_msg_t, "step_id", step_id.step_id, U32),
	KEY(job_desc_msg_t, "step_het_comp", step_id.step_het_comp, U32),
#else
	JOB(job_id, U32),
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
	JOB(alloc_tls_cert, STRING),
	JOB(container_type, STRING),
	JOB(mem_update_delay, U16),
	JOB(mem_update_margin, U16),
#endif
};

#define RESV(name, kind) KEY(resv_desc_msg_t, #name, name, kind)

static const struct key resv_keys[] = {
	RESV(accounts, STRING),  RESV(duration, U32),    RESV(end_time, TIME),
	RESV(flags, U64),        RESV(name, STRING),     RESV(node_list, STRING),
	RESV(partition, STRING), RESV(start_time, TIME), RESV(users, STRING),
};

#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))
#define VARIABLES_MAX 32

static char *variables[VARIABLES_MAX], *spank[VARIABLES_MAX];
static uint32_t nvariables, nspank;

static int once(const char *verb, int argc, char **argv);
static void job_fields(job_desc_msg_t *d, int argc, char **argv);
static void fields(void *at, const struct key *keys, size_t n, int argc, char **argv);
static bool one_field(void *at, const struct key *keys, size_t n, const char *name, size_t len,
		      char *value);
static int submit(int argc, char **argv);
static int submit_het(int argc, char **argv);
static int allocate(int argc, char **argv);
static int test(int argc, char **argv);
static int update(int argc, char **argv);
static int reservation(const char *verb, int argc, char **argv);
static int on_job(const char *verb, uint32_t number);
static int sweep(const char *verb, int argc, char **argv);
static bool swept(const char *verb, const struct key *key, const char *value, int argc,
		  char **argv);
static bool differs(uint32_t id, const char *key, const char *value);
static void print_of(uint32_t id, char *text, size_t size);
static int answer(int rc);

static char as_given[1024];

int main(int argc, char **argv)
{
	unsigned long times = 1;
	int rc = 0;

	if (argc < 2) {
		fprintf(stderr, "client: VERB [KEY=VALUE]...\n");
		return 2;
	}
	if (!strncmp(argv[argc - 1], "TIMES=", 6))
		times = strtoul(argv[--argc] + 6, NULL, 10);
	slurm_init(NULL);
	while (times--)
		rc |= once(argv[1], argc - 2, argv + 2);
	return rc;
}

static int once(const char *verb, int argc, char **argv)
{
	if (!strcmp(verb, "submit"))
		return submit(argc, argv);
	if (!strcmp(verb, "submit-het"))
		return submit_het(argc, argv);
	if (!strcmp(verb, "allocate"))
		return allocate(argc, argv);
	if (!strcmp(verb, "test"))
		return test(argc, argv);
	if (!strcmp(verb, "update"))
		return update(argc, argv);
	if (!strncmp(verb, "reservation-", 12))
		return reservation(verb + 12, argc, argv);
	if (!strncmp(verb, "sweep-", 6))
		return sweep(verb + 6, argc, argv);
	if (argc == 1)
		return on_job(verb, (uint32_t)strtoul(argv[0], NULL, 10));
	fprintf(stderr, "client: %s: no such verb\n", verb);
	return 2;
}

/* What a batch job needs, and what was given. */
static void job_fields(job_desc_msg_t *d, int argc, char **argv)
{
	static char path[] = "PATH=/usr/bin:/bin", script[] = "#!/bin/sh\nexec sleep 60\n";
	static char dir[] = "/", null[] = "/dev/null";

	slurm_init_job_desc_msg(d);
	d->user_id = getuid();
	d->group_id = getgid();
	d->script = script;
	d->work_dir = dir;
	d->std_in = d->std_out = d->std_err = null;
	d->min_nodes = 1;
	nspank = 0;
	nvariables = 1;
	variables[0] = path;
	fields(d, job_keys, COUNT(job_keys), argc, argv);
	d->environment = variables;
	d->env_size = nvariables;
	if (nspank) {
		d->spank_job_env = spank;
		d->spank_job_env_size = nspank;
	}
	/* "script=" is none. */
	if (d->script && !*d->script)
		d->script = NULL;
}

static void fields(void *at, const struct key *keys, size_t n, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		size_t len = equals ? (size_t)(equals - argv[i]) : 0;

		if (equals && keys == job_keys && !strncmp(argv[i], "env=", 4)) {
			if (nvariables < VARIABLES_MAX)
				variables[nvariables++] = equals + 1;
		} else if (equals && keys == job_keys && !strncmp(argv[i], "spank=", 6)) {
			if (nspank < VARIABLES_MAX)
				spank[nspank++] = equals + 1;
		} else if (!equals || !one_field(at, keys, n, argv[i], len, equals + 1)) {
			fprintf(stderr, "client: %s: no such key\n", argv[i]);
			exit(2);
		}
	}
}

static bool one_field(void *at, const struct key *keys, size_t n, const char *name, size_t len,
		      char *value)
{
	for (size_t i = 0; i < n; i++) {
		char *field = (char *)at + keys[i].offset;
		unsigned long long number = strtoull(value, NULL, 0);

		if (strncmp(keys[i].name, name, len) || keys[i].name[len])
			continue;
		switch (keys[i].kind) {
		case STRING:
			*(char **)(void *)field = value;
			break;
		case U8:
			*(uint8_t *)field = (uint8_t)number;
			break;
		case U16:
			*(uint16_t *)(void *)field = (uint16_t)number;
			break;
		case U32:
			*(uint32_t *)(void *)field = (uint32_t)number;
			break;
		case U64:
			*(uint64_t *)(void *)field = number;
			break;
		case TIME:
			*(time_t *)(void *)field = (time_t)number;
			break;
		}
		return true;
	}
	return false;
}

static int submit(int argc, char **argv)
{
	submit_response_msg_t *r = NULL;
	job_desc_msg_t d;

	job_fields(&d, argc, argv);
	if (slurm_submit_batch_job(&d, &r) || !r)
		return answer(SLURM_ERROR);
	printf("taken %u %s\n", ID_OF(r), r->job_submit_user_msg ? r->job_submit_user_msg : "");
	slurm_free_submit_response_response_msg(r);
	return 0;
}

/* A heterogeneous job of a single component, which sbatch makes none of. */
static int submit_het(int argc, char **argv)
{
	submit_response_msg_t *r = NULL;
	job_desc_msg_t d;
	list_of_jobs_t components = slurm_list_create(NULL);
	int rc;

	job_fields(&d, argc, argv);
	slurm_list_append(components, &d);
	rc = slurm_submit_batch_het_job(components, &r);
	slurm_list_destroy(components);
	if (rc || !r)
		return answer(SLURM_ERROR);
	printf("taken %u %s\n", ID_OF(r), r->job_submit_user_msg ? r->job_submit_user_msg : "");
	slurm_free_submit_response_response_msg(r);
	return 0;
}

static int allocate(int argc, char **argv)
{
	resource_allocation_response_msg_t *r = NULL;
	job_desc_msg_t d;

	job_fields(&d, argc, argv);
	d.script = NULL;
	if (slurm_allocate_resources(&d, &r) || !r)
		return answer(SLURM_ERROR);
	printf("taken %u\n", ID_OF(r));
	slurm_free_resource_allocation_response_msg(r);
	return 0;
}

static int test(int argc, char **argv)
{
	job_desc_msg_t d;

	job_fields(&d, argc, argv);
	return answer(slurm_job_will_run(&d));
}

static int update(int argc, char **argv)
{
	job_array_resp_msg_t *r = NULL;
	job_desc_msg_t d;
	int rc;

	slurm_init_job_desc_msg(&d);
	nvariables = nspank = 0;
	fields(&d, job_keys, COUNT(job_keys), argc, argv);
	if (nvariables) {
		d.environment = variables;
		d.env_size = nvariables;
	}
	rc = slurm_update_job2(&d, &r);
	/* One code for each job of an array. */
	for (uint32_t i = 0; !rc && r && i < r->job_array_count; i++) {
		rc = (int)r->error_code[i];
		errno = rc;
	}
	return answer(rc);
}

static int reservation(const char *verb, int argc, char **argv)
{
	resv_desc_msg_t d;
	reservation_name_msg_t name = {0};

	slurm_init_resv_desc_msg(&d);
	fields(&d, resv_keys, COUNT(resv_keys), argc, argv);
	if (!strcmp(verb, "create"))
		return answer(slurm_create_reservation(&d) ? SLURM_SUCCESS : SLURM_ERROR);
	if (!strcmp(verb, "update"))
		return answer(slurm_update_reservation(&d));
	name.name = d.name;
	return answer(slurm_delete_reservation(&name));
}

static int complete(uint32_t job)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	slurm_step_id_t step = SLURM_STEP_ID_INITIALIZER;

	step.job_id = job;
	return slurm_complete_job(&step, 0);
#else
	return slurm_complete_job(job, 0);
#endif
}

static int on_job(const char *verb, uint32_t job)
{
	char id[16];

	snprintf(id, sizeof(id), "%u", job);
	if (!strcmp(verb, "suspend"))
		return answer(slurm_suspend(job));
	if (!strcmp(verb, "resume"))
		return answer(slurm_resume(job));
	if (!strcmp(verb, "requeue"))
		return answer(slurm_requeue(job, 0));
	/* As slurmctld itself does with a job whose nodes could not be made as it wants them. */
	if (!strcmp(verb, "requeue-fail"))
		return answer(slurm_requeue(job, JOB_RECONFIG_FAIL));
	if (!strcmp(verb, "requeue-hold"))
		return answer(slurm_requeue(job, JOB_REQUEUE_HOLD));
	if (!strcmp(verb, "kill"))
		return answer(slurm_kill_job2(id, 9, 0, NULL));
	if (!strcmp(verb, "top"))
		return answer(slurm_top_job(id));
	if (!strcmp(verb, "complete"))
		return answer(complete(job));
	fprintf(stderr, "client: %s: no such verb\n", verb);
	return 2;
}

/* Keys that say who asks for which job, or whose text is a file or a program. */
static bool is_left(const char *name)
{
	static const char *const left[] = {
		"script",     "work_dir",        "job_id",       "job_id_str", "user_id",
		"clusters",   "sluid",           "step_id",      "resp_host",  "alloc_sid",
		"other_port", "alloc_resp_port", "step_het_comp"};

	for (size_t i = 0; i < COUNT(left); i++)
		if (!strcmp(left[i], name))
			return true;
	return false;
}

static int sweep(const char *verb, int argc, char **argv)
{
	static char longest[65536 + 1];
	/* 0, 1, the largest, its half, and what Slurm means by none and by all, in each width. */
	const char *numbers[] = {"0",
				 "1",
				 "0x7f",
				 "0xfd",
				 "0xfe",
				 "0xff",
				 "0x7fff",
				 "0xfffd",
				 "0xfffe",
				 "0xffff",
				 "0x7fffffff",
				 "0x80000000",
				 "0xfffffffd",
				 "0xfffffffe",
				 "0xffffffff",
				 "0x7fffffffffffffff",
				 "0x8000000000000000",
				 "0xfffffffffffffffd",
				 "0xfffffffffffffffe",
				 "0xffffffffffffffff"};
	const char *strings[] = {"", ",", "x", "0", "\377\376\200", "a\nb", "%n%s", longest};
	bool wrong = false;
	submit_response_msg_t *r = NULL;
	job_desc_msg_t d;

	memset(longest, 'A', sizeof(longest) - 1);
	if (!strcmp(verb, "submit")) {
		job_fields(&d, argc, argv);
		if (!slurm_submit_batch_job(&d, &r) && r) {
			print_of(ID_OF(r), as_given, sizeof(as_given));
			on_job("kill", ID_OF(r));
		}
		printf("as given: %s\n", as_given);
	}
	for (size_t i = 0; i < COUNT(job_keys); i++) {
		const struct key *key = &job_keys[i];
		bool is_given = is_left(key->name);
		size_t bytes = key->kind == U8    ? 1
			       : key->kind == U16 ? 2
			       : key->kind == U32 ? 4
						  : 8;

		for (int j = 0; j < argc; j++)
			is_given |= !strncmp(argv[j], key->name, strlen(key->name)) &&
				    argv[j][strlen(key->name)] == '=';
		if (is_given)
			continue;
		for (size_t j = 0; key->kind == STRING && j < COUNT(strings); j++)
			wrong |= swept(verb, key, strings[j], argc, argv);
		for (size_t j = 0; key->kind != STRING && j < COUNT(numbers); j++)
			if (j < 2 || strlen(numbers[j]) == 2 * bytes + 2)
				wrong |= swept(verb, key, numbers[j], argc, argv);
	}
	return wrong ? 0 : 1;
}

/* True if the request with KEY=VALUE did what it must not. */
static bool swept(const char *verb, const struct key *key, const char *value, int argc, char **argv)
{
	submit_response_msg_t *r = NULL;
	job_array_resp_msg_t *each = NULL;
	job_desc_msg_t d;
	bool wrong;
	char number[16];
	uint32_t id;
	int rc;

	if (!strcmp(verb, "update")) {
		slurm_init_job_desc_msg(&d);
		nvariables = nspank = 0;
		fields(&d, job_keys, COUNT(job_keys), argc, argv);
		one_field(&d, key, 1, key->name, strlen(key->name), (char *)value);
		rc = slurm_update_job2(&d, &each);
		for (uint32_t i = 0; !rc && each && i < each->job_array_count; i++)
			rc = (int)each->error_code[i];
		if (!rc)
			printf("changed %s=%.20s\n", key->name, value);
		return !rc;
	}
	job_fields(&d, argc, argv);
	one_field(&d, key, 1, key->name, strlen(key->name), (char *)value);
	if (slurm_submit_batch_job(&d, &r) || !r)
		return false;
	id = ID_OF(r);
	wrong = differs(id, key->name, value);
	snprintf(number, sizeof(number), "%u", id);
	slurm_kill_job2(number, 9, 0, NULL);
	slurm_free_submit_response_response_msg(r);
	return wrong;
}

static bool differs(uint32_t id, const char *key, const char *value)
{
	char text[1024];

	print_of(id, text, sizeof(text));
	if (!strcmp(text, as_given))
		return false;
	printf("taken %u %s=%.20s: %s\n", id, key, value, text);
	return true;
}

static const char *text_of(const char *s)
{
	return s ? s : "";
}

/* What a job is in size and time. */
static void print_of(uint32_t id, char *text, size_t size)
{
	job_info_msg_t *m = NULL;
	slurm_job_info_t *j;

	snprintf(text, size, "none");
	if (slurm_load_job(&m, id, 0) || !m)
		return;
	j = m->job_array;
	if (m->record_count)
		snprintf(text, size,
			 "n=%u limit=%u min=%u max=%u cpus=%u tasks=%u nodes=%u-%u mem=%lx tres=%s "
			 "per_node=%s excl=%u requeue=%u features=%s dep=%s lic=%s cont=%u core=%u "
			 "reboot=%u account=%s qos=%s resv=%s held=%d nice=%u state=%u deadline=%d "
			 "receipt=%d",
			 m->record_count, j->time_limit, j->time_min, j->max_cpus, j->num_cpus,
			 j->num_tasks, j->num_nodes, j->max_nodes, (unsigned long)j->pn_min_memory,
			 text_of(j->tres_req_str), text_of(j->tres_per_node), j->shared, j->requeue,
			 text_of(j->features), text_of(j->dependency), text_of(j->licenses),
			 j->contiguous, j->core_spec, j->reboot, j->account, j->qos,
			 text_of(j->resv_name), j->priority == 0, j->nice, j->job_state,
			 j->deadline != 0,
			 j->admin_comment && strstr(j->admin_comment, "\"auction\""));
	slurm_free_job_info_msg(m);
}

static int answer(int rc)
{
	if (rc == SLURM_SUCCESS) {
		printf("taken\n");
		return 0;
	}
	printf("refused: %s\n", slurm_strerror(errno));
	return 1;
}
