/*
 * scenario-private.h - how a scenario is read, for scenario.c and scenario_job.c only.
 */
#ifndef SCENARIO_PRIVATE_H
#define SCENARIO_PRIVATE_H

#include "auctionsim/io/document.h"
#include "auctionsim/scenario/scenario.h"

#define SECONDS_MAX 1e9
#define SLOT_MAX    1e15

/* Names seen, with their indices: json-c's hash table. */
struct names {
	struct json_object *map;
};

/* What is known while the rest is read. */
struct known {
	struct scenario *s;
	struct names servers, worker_types, ps_types, tres, jobs;
	struct names own_workers, own_ps; /* types of the job at hand */
	struct names *types;              /* where a type's name goes */
	unsigned first_type;
};

bool scenario_names_init(struct names *names); /* false: no memory */
void scenario_names_clear(struct names *names);
bool scenario_names_add(struct names *names, const char *name, unsigned index);
bool scenario_names_find(const struct names *names, const char *name, unsigned *index);

/* For read_array(). A type goes into known->types. */
enum auc_code scenario_read_type(struct reader *r, struct json_object *v, void *element);
/* An object of amounts from MIN to MAX by name, as *LIST, malloc'd. */
enum auc_code scenario_read_amounts(struct reader *r, struct json_object *v, double min, double max,
				    unsigned *n, struct auc_named **list);
/* A name of a TRES as it is kept; the same object by TRES, whose case does not count. */
void scenario_lower(char *name);
enum auc_code scenario_read_tres(struct reader *r, struct json_object *v, double min, double max,
				 unsigned *n, struct auc_named **list);
#define SCENARIO_AMOUNT_MAX 4503599627370496.0 /* 2^52: what a market counts */
enum auc_code scenario_read_job(struct reader *r, struct json_object *v, void *element);
void scenario_type_clear(struct scenario_type *t);
void scenario_job_clear(struct scenario_job *j);

#endif
