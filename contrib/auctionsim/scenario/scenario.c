/*
 * scenario.c - see scenario.h: the keys of the format as tables, and what one key says about
 * another (names that must exist, bounds in their order). Jobs are in scenario_job.c.
 */
#include "config.h"

#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/scenario/scenario-private.h"

#define BANDWIDTH_MAX 1e12
#define PRICE_MAX     1e15

static enum auc_code check_format(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
static enum auc_code read_slots(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
static enum auc_code read_worker_types(struct reader *r, struct json_object *v,
				       const struct field *f, void *target);
static enum auc_code read_ps_types(struct reader *r, struct json_object *v, const struct field *f,
				   void *target);
static enum auc_code read_servers(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
static enum auc_code read_jobs(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_state(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
static enum auc_code read_prices(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_type_tres(struct reader *r, struct json_object *v, const struct field *f,
				    void *target);
static enum auc_code read_server(struct reader *r, struct json_object *v, void *element);
static enum auc_code read_site(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_roles(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
static enum auc_code read_capacity(struct reader *r, struct json_object *v, const struct field *f,
				   void *target);
static enum auc_code read_cost(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_cost_hours(struct reader *r, struct json_object *v, const struct field *f,
				     void *target);
static enum auc_code read_used(struct reader *r, struct json_object *v, void *element);
static enum auc_code read_value(struct reader *r, struct json_object *v, void *element);
static enum auc_code read_entry_server(struct reader *r, struct json_object *v,
				       const struct field *f, void *target);
static enum auc_code check_entry(struct reader *r, struct json_object *v, struct scenario_entry *e);
static enum auc_code read_mode(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_values(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_price_amounts(struct reader *r, struct json_object *v,
					const struct field *f, void *target);
static enum auc_code read_role_bounds(struct reader *r, struct json_object *v,
				      const struct field *f, void *target);
static enum auc_code read_budgets(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
static enum auc_code check_bounds(struct reader *r, const struct scenario_bounds *b);

static const struct field top_fields[] = {
	{"format", check_format, 0, 0, 0, true},
	{"name", field_text, offsetof(struct scenario, name), 0, 0, true},
	{"slots", read_slots, 0, 1, AUC_SLOTS_MAX, true},
	{"slot_seconds", field_positive, offsetof(struct scenario, slot_seconds), 0, SECONDS_MAX,
	 true},
	{"hour", field_number, offsetof(struct scenario, hour), 0, AUC_DAY_HOURS, false},
	{"transfer_mb_per_slot", field_number, offsetof(struct scenario, transfer_mb_per_slot), 0,
	 SCENARIO_AMOUNT_MAX, false},
	{"worker_types", read_worker_types, 0, 0, 0, false},
	{"ps_types", read_ps_types, 0, 0, 0, false},
	{"servers", read_servers, 0, 0, 0, true},
	/* before the jobs, whose users it names */
	{"budgets", read_budgets, 0, 0, AUC_VALUE_MAX, false},
	{"jobs", read_jobs, 0, 0, 0, true},
	{"state", read_state, 0, 0, 0, false},
	{"prices", read_prices, 0, 0, 0, false},
};

static const struct field type_fields[] = {
	{"name", field_name, offsetof(struct scenario_type, name), 0, 0, true},
	{"tres", read_type_tres, 0, 0, SCENARIO_AMOUNT_MAX, true},
	{"bandwidth_mbps", field_positive, offsetof(struct scenario_type, bandwidth_mbps), 0,
	 BANDWIDTH_MAX, false},
};

static const struct field server_fields[] = {
	{"name", field_name, offsetof(struct scenario_server, name), 0, 0, true},
	{"site", read_site, 0, 0, 0, false},
	{"roles", read_roles, 0, 0, 0, false},
	{"switch", field_name, offsetof(struct scenario_server, leaf), 0, 0, false},
	{"capacity", read_capacity, 0, 0, SCENARIO_AMOUNT_MAX, true},
	{"cost", read_cost, 0, 0, AUC_VALUE_MAX, false},
	{"cost_hours", read_cost_hours, 0, 0, AUC_HOUR_LIMIT, false},
};

static const struct field used_fields[] = {
	{"server", read_entry_server, 0, 0, 0, true},
	{"tres", field_name, offsetof(struct scenario_entry, tres), 0, 0, true},
	{"from", field_count, offsetof(struct scenario_entry, from), 1, SLOT_MAX, true},
	{"to", field_count, offsetof(struct scenario_entry, to), 1, SLOT_MAX, true},
	{"used", field_number, offsetof(struct scenario_entry, amount), 0, SCENARIO_AMOUNT_MAX,
	 true},
};

static const struct field value_fields[] = {
	{"server", read_entry_server, 0, 0, 0, true},
	{"tres", field_name, offsetof(struct scenario_entry, tres), 0, 0, true},
	{"from", field_count, offsetof(struct scenario_entry, from), 1, SLOT_MAX, true},
	{"to", field_count, offsetof(struct scenario_entry, to), 1, SLOT_MAX, true},
	{"price", field_number, offsetof(struct scenario_entry, amount), 0, PRICE_MAX, true},
};

static const struct field prices_mode[] = {{"mode", read_mode, 0, 0, 0, true}};
static const struct field prices_given[] = {
	{"mode", read_mode, 0, 0, 0, true},
	{"values", read_values, 0, 0, 0, true},
};
static const struct field prices_eta[] = {
	{"mode", read_mode, 0, 0, 0, true},
	{"eta", read_price_amounts, offsetof(struct scenario, eta), 1, DBL_MAX, true},
};
static const struct field prices_bounds[] = {
	{"mode", read_mode, 0, 0, 0, true},
	{"lower", read_price_amounts, offsetof(struct scenario, both.lower), 0, DBL_MAX, false},
	{"upper", read_price_amounts, offsetof(struct scenario, both.upper), 0, DBL_MAX, false},
	{"worker", read_role_bounds, offsetof(struct scenario, worker), 0, 0, false},
	{"ps", read_role_bounds, offsetof(struct scenario, ps_bounds), 0, 0, false},
};
static const struct field role_fields[] = {
	{"lower", read_price_amounts, offsetof(struct scenario_bounds, lower), 0, DBL_MAX, true},
	{"upper", read_price_amounts, offsetof(struct scenario_bounds, upper), 0, DBL_MAX, true},
};

enum auc_code scenario_load(const char *path, struct scenario **s, struct auc_err *err)
{
	struct json_object *root;
	enum auc_code rc = document_load(path, &root, err);

	*s = NULL;
	if (rc == AUC_OK)
		rc = scenario_read(root, path, s, err);
	json_object_put(root);
	return rc;
}

enum auc_code scenario_parse(const char *text, size_t len, const char *name, struct scenario **s,
			     struct auc_err *err)
{
	struct json_object *root;
	enum auc_code rc = document_parse(text, len, name, &root, err);

	*s = NULL;
	if (rc == AUC_OK)
		rc = scenario_read(root, name, s, err);
	json_object_put(root);
	return rc;
}

void scenario_free(struct scenario *s)
{
	unsigned i;

	if (!s)
		return;
	for (i = 0; i < s->nworker_types; i++)
		scenario_type_clear(&s->worker_types[i]);
	for (i = 0; i < s->nps_types; i++)
		scenario_type_clear(&s->ps_types[i]);
	for (i = 0; i < s->nservers; i++) {
		free(s->servers[i].capacity);
		free(s->servers[i].cost);
	}
	for (i = 0; i < s->njobs; i++)
		scenario_job_clear(&s->jobs[i]);
	free(s->worker_types);
	free(s->ps_types);
	free(s->servers);
	free(s->jobs);
	free(s->budgets);
	free(s->state);
	free(s->values);
	free(s->past_times);
	free(s->eta.list);
	free(s->both.lower.list);
	free(s->both.upper.list);
	free(s->worker.lower.list);
	free(s->worker.upper.list);
	free(s->ps_bounds.lower.list);
	free(s->ps_bounds.upper.list);
	free(s->name);
	free(s->file);
	free(s);
}

const char *scenario_worker_type_name(const struct scenario *s, const struct scenario_job *j,
				      unsigned index)
{
	return index < s->nworker_types ? s->worker_types[index].name
					: j->worker_types[index - s->nworker_types].name;
}

const char *scenario_ps_type_name(const struct scenario *s, const struct scenario_job *j,
				  unsigned index)
{
	return index < s->nps_types ? s->ps_types[index].name
				    : j->ps_types[index - s->nps_types].name;
}

enum auc_code scenario_without_gangs(const struct scenario *s, const char *policy,
				     struct auc_err *err)
{
	for (unsigned i = 0; i < s->njobs; i++)
		if (s->jobs[i].ngang)
			return auc_err_set(err, AUC_EINVAL,
					   "%s: $.jobs[%u]: job %.80s is a gang, which policy %s "
					   "does not take",
					   s->file, i, s->jobs[i].id, policy);
	return AUC_OK;
}

bool scenario_gangs_only(const struct scenario *s)
{
	for (unsigned i = 0; i < s->njobs; i++)
		if (!s->jobs[i].ngang)
			return false;
	return s->njobs > 0;
}

enum auc_code scenario_without_budgets(const struct scenario *s, const char *policy,
				       struct auc_err *err)
{
	if (!s->nbudgets)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL,
			   "%s: $.budgets: policy %s does not keep to budgets of users", s->file,
			   policy);
}

enum auc_code scenario_without_true_times(const struct scenario *s, const char *policy,
					  struct auc_err *err)
{
	if (!s->has_true_times)
		return AUC_OK;
	return auc_err_set(
		err, AUC_EINVAL,
		"%s: $.jobs[].true_time: policy %s takes the times that jobs say for the "
		"truth, expected no true_time",
		s->file, policy);
}

enum auc_code scenario_without_stands(const struct scenario *s, const char *policy,
				      struct auc_err *err)
{
	for (unsigned i = 0; i < s->njobs; i++)
		if (s->jobs[i].stands)
			return auc_err_set(err, AUC_EINVAL,
					   "%s: $.jobs[%u].stands: job %.80s stands if it is "
					   "refused, which policy %s does not know",
					   s->file, i, s->jobs[i].id, policy);
	return AUC_OK;
}

static const char *const overruns[] = {
	[SCENARIO_OVERRUN_EXTEND] = "extend",
	[SCENARIO_OVERRUN_KILL] = "kill",
	[SCENARIO_OVERRUN_MOVE] = "move",
};

const char *scenario_overrun_word(enum scenario_overrun overrun)
{
	return overruns[overrun];
}

bool scenario_overrun_find(const char *word, enum scenario_overrun *overrun)
{
	for (unsigned i = 0; i < sizeof(overruns) / sizeof(*overruns); i++)
		if (!strcmp(word, overruns[i])) {
			*overrun = (enum scenario_overrun)i;
			return true;
		}
	return false;
}

double scenario_upload(const struct scenario_job *j, unsigned server)
{
	unsigned i;

	for (i = 0; i < j->nupload; i++)
		if (j->upload[i].index == server)
			return j->upload[i].value;
	return j->upload_default;
}

/* -- the top -- */

enum auc_code scenario_read(struct json_object *root, const char *name, struct scenario **s,
			    struct auc_err *err)
{
	struct known known = {.s = calloc(1, sizeof(*known.s))};
	enum auc_code rc = AUC_OK;
	struct reader r;

	*s = NULL;
	if (known.s)
		known.s->file = strdup(name);
	if (!known.s || !known.s->file || !scenario_names_init(&known.servers) ||
	    !scenario_names_init(&known.worker_types) || !scenario_names_init(&known.ps_types) ||
	    !scenario_names_init(&known.tres) || !scenario_names_init(&known.jobs) ||
	    !scenario_names_init(&known.own_workers) || !scenario_names_init(&known.own_ps))
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", name);
	if (rc == AUC_OK) {
		known.s->transfer_mb_per_slot = -1;
		known.s->times.quantile = SCENARIO_QUANTILE;
		known.s->times.factor = 1;
		reader_init(&r, name, &known, err);
		rc = FIELDS_READ(&r, root, top_fields, known.s);
	}
	scenario_names_clear(&known.servers);
	scenario_names_clear(&known.worker_types);
	scenario_names_clear(&known.ps_types);
	scenario_names_clear(&known.tres);
	scenario_names_clear(&known.jobs);
	scenario_names_clear(&known.own_workers);
	scenario_names_clear(&known.own_ps);
	if (rc == AUC_OK)
		*s = known.s;
	else
		scenario_free(known.s);
	return rc;
}

static enum auc_code check_format(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	(void)f;
	(void)target;
	if (!json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), SCENARIO_FORMAT) != 0)
		return reader_expected(r, v, "\"" SCENARIO_FORMAT "\"");
	return AUC_OK;
}

static enum auc_code read_slots(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	return field_count(r, v, f, &((struct scenario *)target)->slots);
}

static enum auc_code read_worker_types(struct reader *r, struct json_object *v,
				       const struct field *f, void *target)
{
	struct scenario *s = target;
	struct known *known = r->user;

	(void)f;
	known->types = &known->worker_types;
	known->first_type = 0;
	return read_array(r, v, sizeof(*s->worker_types), (void **)&s->worker_types,
			  &s->nworker_types, scenario_read_type);
}

static enum auc_code read_ps_types(struct reader *r, struct json_object *v, const struct field *f,
				   void *target)
{
	struct scenario *s = target;
	struct known *known = r->user;

	(void)f;
	known->types = &known->ps_types;
	known->first_type = 0;
	return read_array(r, v, sizeof(*s->ps_types), (void **)&s->ps_types, &s->nps_types,
			  scenario_read_type);
}

static enum auc_code read_servers(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	struct scenario *s = target;
	enum auc_code rc;

	(void)f;
	rc = read_array(r, v, sizeof(*s->servers), (void **)&s->servers, &s->nservers, read_server);
	for (unsigned i = 0; i < s->nservers; i++)
		for (unsigned k = 0; k < s->servers[i].ncost; k++)
			s->has_costs = s->has_costs || s->servers[i].cost[k].value > 0;
	return rc;
}

static enum auc_code read_jobs(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct scenario *s = target;

	(void)f;
	return read_array(r, v, sizeof(*s->jobs), (void **)&s->jobs, &s->njobs, scenario_read_job);
}

static enum auc_code read_budgets(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	struct scenario *s = target;

	return scenario_read_amounts(r, v, f->min, f->max, &s->nbudgets, &s->budgets);
}

static enum auc_code read_state(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	struct scenario *s = target;

	(void)f;
	return read_array(r, v, sizeof(*s->state), (void **)&s->state, &s->nstate, read_used);
}

/* The mode first: it says which other keys there are. */
static enum auc_code read_prices(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct scenario *s = target;
	struct json_object *mode;
	enum auc_code rc;
	size_t mark;

	(void)f;
	if (!json_object_is_type(v, json_type_object) ||
	    !json_object_object_get_ex(v, "mode", &mode))
		return reader_expected(r, v, "an object with a mode");
	mark = reader_enter_key(r, "mode");
	rc = read_mode(r, mode, NULL, s);
	reader_leave(r, mark);
	if (rc != AUC_OK)
		return rc;
	switch (s->prices) {
	case SCENARIO_PRICES_GIVEN:
		return FIELDS_READ(r, v, prices_given, s);
	case SCENARIO_PRICES_ETA:
		return FIELDS_READ(r, v, prices_eta, s);
	case SCENARIO_PRICES_BOUNDS:
		rc = FIELDS_READ(r, v, prices_bounds, s);
		if (rc == AUC_OK)
			rc = check_bounds(r, &s->both);
		return rc;
	default:
		return FIELDS_READ(r, v, prices_mode, s);
	}
}

/* -- types and servers -- */

enum auc_code scenario_read_type(struct reader *r, struct json_object *v, void *element)
{
	struct scenario_type *t = element;
	struct known *known = r->user;
	enum auc_code rc = FIELDS_READ(r, v, type_fields, t);
	unsigned other;

	if (rc != AUC_OK)
		return rc;
	reader_enter_key(r, "name");
	if ((known->types == &known->own_workers &&
	     scenario_names_find(&known->worker_types, t->name, &other)) ||
	    (known->types == &known->own_ps &&
	     scenario_names_find(&known->ps_types, t->name, &other)) ||
	    scenario_names_find(known->types, t->name, &other))
		return reader_fail(r, AUC_EINVAL,
				   "expected a name of its own, found '%s' a second time", t->name);
	if (!scenario_names_add(known->types, t->name,
				known->first_type +
					(unsigned)json_object_object_length(known->types->map)))
		return reader_fail(r, AUC_ENOMEM, "no memory");
	return AUC_OK;
}

static enum auc_code read_type_tres(struct reader *r, struct json_object *v, const struct field *f,
				    void *target)
{
	struct scenario_type *t = target;
	enum auc_code rc = scenario_read_tres(r, v, f->min, f->max, &t->ntres, &t->tres);
	struct known *known = r->user;
	unsigned i;

	for (i = 0; i < t->ntres && rc == AUC_OK; i++)
		if (!scenario_names_add(&known->tres, t->tres[i].name, 0))
			rc = reader_fail(r, AUC_ENOMEM, "no memory");
	return rc;
}

static enum auc_code read_server(struct reader *r, struct json_object *v, void *element)
{
	struct scenario_server *server = element;
	struct known *known = r->user;
	enum auc_code rc;
	unsigned other, i;

	server->roles = AUC_ROLE_WORKER | AUC_ROLE_PS;
	rc = FIELDS_READ(r, v, server_fields, server);
	if (rc != AUC_OK)
		return rc;
	for (i = 0; i < server->ncapacity; i++)
		if (!scenario_names_add(&known->tres, server->capacity[i].name, 0))
			return reader_fail(r, AUC_ENOMEM, "no memory");
	reader_enter_key(r, "name");
	if (!strcmp(server->name, "*"))
		return reader_fail(r, AUC_EINVAL,
				   "expected a name, found '*', which stands for all");
	if (scenario_names_find(&known->servers, server->name, &other))
		return reader_fail(r, AUC_EINVAL,
				   "expected a name of its own, found '%s' a second time",
				   server->name);
	if (!scenario_names_add(&known->servers, server->name, known->s->nservers - 1))
		return reader_fail(r, AUC_ENOMEM, "no memory");
	return AUC_OK;
}

static enum auc_code read_site(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	const char *text =
		json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
	struct scenario_server *server = target;

	(void)f;
	server->cloud = !strcmp(text, "cloud");
	if (!server->cloud && strcmp(text, "edge") != 0)
		return reader_expected(r, v, "\"edge\" or \"cloud\"");
	return AUC_OK;
}

static enum auc_code read_roles(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	struct scenario_server *server = target;
	struct json_object *role;
	const char *text;
	unsigned bit;
	size_t i, mark;

	(void)f;
	if (!json_object_is_type(v, json_type_array) || !json_object_array_length(v))
		return reader_expected(r, v, "an array of \"worker\" and \"ps\"");
	server->roles = 0;
	for (i = 0; i < json_object_array_length(v); i++) {
		role = json_object_array_get_idx(v, i);
		text = json_object_is_type(role, json_type_string) ? json_object_get_string(role)
								   : "";
		bit = !strcmp(text, "worker") ? AUC_ROLE_WORKER
					      : (!strcmp(text, "ps") ? AUC_ROLE_PS : 0);
		mark = reader_enter_index(r, i);
		if (!bit || (server->roles & bit))
			return reader_expected(r, role, "\"worker\" or \"ps\", each once");
		reader_leave(r, mark);
		server->roles |= bit;
	}
	return AUC_OK;
}

static enum auc_code read_capacity(struct reader *r, struct json_object *v, const struct field *f,
				   void *target)
{
	struct scenario_server *server = target;

	return scenario_read_tres(r, v, f->min, f->max, &server->ncapacity, &server->capacity);
}

static enum auc_code read_cost(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct scenario_server *server = target;

	return scenario_read_tres(r, v, f->min, f->max, &server->ncost, &server->cost);
}

static enum auc_code read_cost_hours(struct reader *r, struct json_object *v, const struct field *f,
				     void *target)
{
	struct scenario_server *server = target;
	enum auc_code rc = AUC_OK;
	size_t mark;

	if (!json_object_is_type(v, json_type_array) ||
	    json_object_array_length(v) != AUC_DAY_HOURS)
		return reader_expected(r, v, "an array of %d factors, one for each hour of the day",
				       AUC_DAY_HOURS);
	server->hourly = true;
	for (size_t i = 0; i < AUC_DAY_HOURS && rc == AUC_OK; i++) {
		mark = reader_enter_index(r, i);
		rc = read_number(r, json_object_array_get_idx(v, i), f->min, f->max,
				 &server->cost_hours[i]);
		if (rc == AUC_OK)
			reader_leave(r, mark);
	}
	return rc;
}

/* -- state and prices -- */

static enum auc_code read_used(struct reader *r, struct json_object *v, void *element)
{
	enum auc_code rc = FIELDS_READ(r, v, used_fields, element);

	return rc == AUC_OK ? check_entry(r, v, element) : rc;
}

static enum auc_code read_value(struct reader *r, struct json_object *v, void *element)
{
	enum auc_code rc = FIELDS_READ(r, v, value_fields, element);

	return rc == AUC_OK ? check_entry(r, v, element) : rc;
}

static enum auc_code read_entry_server(struct reader *r, struct json_object *v,
				       const struct field *f, void *target)
{
	struct scenario_entry *e = target;
	struct known *known = r->user;
	const char *name;
	enum auc_code rc = read_text(r, v, "a server or \"*\"", &name);

	(void)f;
	if (rc != AUC_OK)
		return rc;
	e->server = SCENARIO_ANY_SERVER;
	if (strcmp(name, "*") != 0 && !scenario_names_find(&known->servers, name, &e->server))
		return reader_expected(r, v, "a server of this scenario or \"*\"");
	return AUC_OK;
}

static enum auc_code check_entry(struct reader *r, struct json_object *v, struct scenario_entry *e)
{
	bool any = e->server == SCENARIO_ANY_SERVER, transfer = !strcmp(e->tres, "transfer");
	struct known *known = r->user;
	struct json_object *tres;
	unsigned index;

	if (e->to < e->from) {
		reader_enter_key(r, "to");
		return reader_fail(r, AUC_EINVAL, "expected a slot from %llu on, found %llu",
				   (unsigned long long)e->from, (unsigned long long)e->to);
	}
	json_object_object_get_ex(v, "tres", &tres);
	scenario_lower(e->tres);
	if (any == transfer && (any || scenario_names_find(&known->tres, e->tres, &index)))
		return AUC_OK;
	reader_enter_key(r, "tres");
	return reader_expected(r, tres,
			       any ? "\"transfer\", the only one of server \"*\""
				   : "a TRES of this scenario");
}

static enum auc_code read_mode(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	static const char *const modes[] = {
		[SCENARIO_PRICES_GIVEN] = "given",
		[SCENARIO_PRICES_ETA] = "eta",
		[SCENARIO_PRICES_BOUNDS] = "bounds",
		[SCENARIO_PRICES_LEARNED] = "learned",
	};
	const char *text =
		json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
	struct scenario *s = target;
	int i;

	(void)f;
	for (i = SCENARIO_PRICES_GIVEN; i <= SCENARIO_PRICES_LEARNED; i++)
		if (!strcmp(text, modes[i])) {
			s->prices = (enum scenario_prices)i;
			return AUC_OK;
		}
	return reader_expected(r, v, "\"given\", \"eta\", \"bounds\" or \"learned\"");
}

static enum auc_code read_values(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct scenario *s = target;

	(void)f;
	return read_array(r, v, sizeof(*s->values), (void **)&s->values, &s->nvalues, read_value);
}

/* By TRES of the scenario, or "transfer". */
static enum auc_code read_price_amounts(struct reader *r, struct json_object *v,
					const struct field *f, void *target)
{
	struct scenario_amounts *a = target;
	struct known *known = r->user;
	enum auc_code rc = scenario_read_tres(r, v, f->min, f->max, &a->n, &a->list);
	unsigned i, index;

	for (i = 0; i < a->n && rc == AUC_OK; i++)
		if (strcmp(a->list[i].name, "transfer") != 0 &&
		    !scenario_names_find(&known->tres, a->list[i].name, &index)) {
			reader_enter_key(r, a->list[i].name);
			rc = reader_fail(r, AUC_EINVAL,
					 "expected a TRES of this scenario, found '%s'",
					 a->list[i].name);
		}
	return rc;
}

static enum auc_code read_role_bounds(struct reader *r, struct json_object *v,
				      const struct field *f, void *target)
{
	enum auc_code rc = FIELDS_READ(r, v, role_fields, target);

	(void)f;
	return rc == AUC_OK ? check_bounds(r, target) : rc;
}

/* L <= U where both are given. */
static enum auc_code check_bounds(struct reader *r, const struct scenario_bounds *b)
{
	const struct auc_named *lower;
	unsigned i, k;

	for (i = 0; i < b->upper.n; i++)
		for (k = 0; k < b->lower.n; k++) {
			lower = &b->lower.list[k];
			if (strcmp(lower->name, b->upper.list[i].name) != 0 ||
			    lower->value <= b->upper.list[i].value)
				continue;
			reader_enter_key(r, "upper");
			reader_enter_key(r, lower->name);
			return reader_fail(r, AUC_EINVAL,
					   "expected at least the lower bound %.15g, found %.15g",
					   lower->value, b->upper.list[i].value);
		}
	return AUC_OK;
}

/* -- what several of them share -- */

/* An object of numbers by name. */
enum auc_code scenario_read_amounts(struct reader *r, struct json_object *v, double min, double max,
				    unsigned *n, struct auc_named **list)
{
	enum auc_code rc = AUC_OK;
	struct auc_named *a;
	size_t mark;

	if (!json_object_is_type(v, json_type_object))
		return reader_expected(r, v, "an object of amounts by name");
	*list = calloc((size_t)json_object_object_length(v) + 1, sizeof(**list));
	if (!*list)
		return reader_fail(r, AUC_ENOMEM, "no memory");
	json_object_object_foreach(v, name, amount)
	{
		if (rc != AUC_OK)
			break;
		mark = reader_enter_key(r, name);
		a = &(*list)[*n];
		if (!*name || strlen(name) >= AUC_NAME_MAX)
			rc = reader_fail(r, AUC_EINVAL, "expected a name of 1 to %d bytes",
					 AUC_NAME_MAX - 1);
		if (rc == AUC_OK)
			rc = read_number(r, amount, min, max, &a->value);
		if (rc == AUC_OK) {
			strcpy(a->name, name);
			(*n)++;
			reader_leave(r, mark);
		}
	}
	return rc;
}

void scenario_lower(char *name)
{
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			*name += 'a' - 'A';
}

enum auc_code scenario_read_tres(struct reader *r, struct json_object *v, double min, double max,
				 unsigned *n, struct auc_named **list)
{
	enum auc_code rc = scenario_read_amounts(r, v, min, max, n, list);

	for (unsigned i = 0; i < *n && *list; i++)
		scenario_lower((*list)[i].name);
	return rc;
}

bool scenario_names_init(struct names *names)
{
	names->map = json_object_new_object();
	return names->map != NULL;
}

void scenario_names_clear(struct names *names)
{
	json_object_put(names->map);
	names->map = NULL;
}

bool scenario_names_add(struct names *names, const char *name, unsigned index)
{
	struct json_object *v = json_object_new_int64(index);

	if (v && !json_object_object_add(names->map, name, v))
		return true;
	json_object_put(v);
	return false;
}

bool scenario_names_find(const struct names *names, const char *name, unsigned *index)
{
	struct json_object *v;

	if (!json_object_object_get_ex(names->map, name, &v))
		return false;
	*index = (unsigned)json_object_get_int64(v);
	return true;
}

void scenario_type_clear(struct scenario_type *t)
{
	free(t->tres);
}
