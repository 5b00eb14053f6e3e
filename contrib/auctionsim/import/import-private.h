/*
 * import-private.h - what the files of the import share. A reader (import_sacct.c, import_json.c,
 * import_trace.c) turns each record of its format into a struct import_record; import.c keeps those
 * that are jobs of GPUs; import_write.c makes the scenario of them.
 */
#ifndef SIM_IMPORT_PRIVATE_H
#define SIM_IMPORT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "input/bid.h"
#include "auctionsim/gen/gen-private.h"
#include "auctionsim/import/import.h"

#define IMPORT_KINDS_MAX   32 /* different GPU types in one import: bits of a mask */
#define IMPORT_COLUMNS_MAX 24
#define IMPORT_FIELDS_MAX  256
#define IMPORT_GPUS_MAX    1e6  /* of one job or node */
#define IMPORT_TIME_MAX    1e11 /* seconds: on any clock */

/* -- text: a file as bytes and as lines -- */

struct import_text {
	const char *name; /* for errors */
	FILE *in;
	unsigned long line, column; /* of the next byte, from 1 */
	unsigned long at;           /* number of the line at hand */
	char *buffer;               /* the line at hand */
	size_t alloc;
	bool again; /* the line at hand is also the next one */
};

/* Opens PATH ("-": standard input). AUC_EIO. */
enum auc_code import_open(struct import_text *t, const char *path, struct auc_err *err);
/* Takes what is open already; NAME stands for the file. */
void import_open_stream(struct import_text *t, FILE *in, const char *name);
void import_close(struct import_text *t);
/* The next byte, or EOF; a read error is one, too (see import_ended()). */
int import_get(struct import_text *t);
/* The next byte that is no white space, without taking it. */
int import_peek(struct import_text *t);
/* AUC_EIO if what came as the end of the file was an error. */
enum auc_code import_ended(struct import_text *t, struct auc_err *err);
/* The next line that is not empty, without its end, in the text's own memory; NULL: none is left.
 * AUC_EINVAL: a NUL, or too long. */
enum auc_code import_line(struct import_text *t, char **line, struct auc_err *err);
/* AUC_EINVAL "FILE: line N, column M: " and the sentence; FOUND (NULL: nothing) is repeated with
 * care. */
enum auc_code import_expected(const struct import_text *t, unsigned long line, unsigned long column,
			      const char *found, struct auc_err *err, const char *what, ...)
	__attribute__((format(printf, 6, 7)));

/* -- tables: lines of fields under a header -- */

struct import_column {
	const char *name;
	bool required;
};

struct import_table {
	struct import_text *text;
	char separator;
	const struct import_column *columns;
	unsigned ncolumns;
	unsigned at[IMPORT_COLUMNS_MAX]; /* field + 1; 0: the header has no such column */
	unsigned nfields;
	char *fields[IMPORT_FIELDS_MAX]; /* of the line at hand */
};

/* Reads the header. Columns that are not in COLUMNS are passed over; a required one that is
 * missing and one that is there twice are errors. */
enum auc_code import_table_open(struct import_table *tb, struct import_text *t, char separator,
				const struct import_column *columns, unsigned ncolumns,
				struct auc_err *err);
/* Reads a line; *MORE is false after the last. */
enum auc_code import_table_next(struct import_table *tb, bool *more, struct auc_err *err);
/* The field of a column, "" if there is no such column. */
const char *import_field(const struct import_table *tb, unsigned column);
/* The same as a number in [MIN, MAX]; an empty field leaves *VALUE as it is. */
enum auc_code import_field_number(const struct import_table *tb, unsigned column, double min,
				  double max, double *value, struct auc_err *err);
/* AUC_EINVAL with the place of the field, the column's name and what was expected. */
enum auc_code import_field_expected(const struct import_table *tb, unsigned column,
				    struct auc_err *err, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/* -- what is read -- */

enum import_state {
	IMPORT_COMPLETED,
	IMPORT_ENDED, /* otherwise: failed, cancelled, out of time or memory, ... */
	IMPORT_RUNNING,
	IMPORT_PENDING,
};

/* One record of a log. Its texts belong to the reader. */
struct import_record {
	const char *id;
	double submit;     /* seconds, on any clock */
	double start;      /* the same; tells the later of two runs. < 0: not known */
	double duration;   /* seconds of work; < 0: none */
	double suspended;  /* seconds */
	double gpus;       /* in all */
	uint32_t kinds;    /* types of them it may use; 0: not said */
	const char *node;  /* one that it ran on, or "" */
	const char *model; /* or "" */
	const char *queue; /* or "" */
	double deadline;   /* seconds after the submission; < 0: none */
	enum import_state state;
	bool array, het; /* a task of an array, a component of a heterogeneous job */
	bool odd_time;   /* a time that the local clock shows twice, or never */
};

/* What is worth telling of the jobs that are taken. */
enum {
	IMPORT_RAN,           /* still, when the log was made */
	IMPORT_NOT_COMPLETED, /* failed, cancelled, ... */
	IMPORT_SUSPENDED,
	IMPORT_ARRAY, /* a task of an array */
	IMPORT_HET,   /* a component of a heterogeneous job */
	IMPORT_ODD_TIME,
	IMPORT_MARKS
};

/* A job that is kept; its id is the name with its index. */
struct import_job {
	double submit, start, duration, gpus, deadline;
	uint32_t kinds;
	unsigned marks; /* bits */
	unsigned model; /* index, or IMPORT_NO_MODEL */
	float batch;    /* 0: not said */
};

#define IMPORT_NO_MODEL UINT32_MAX

struct import_gpus {
	unsigned kind;
	double count;
};

struct import_node {
	char name[AUC_NAME_MAX];
	unsigned ngpus;
	struct import_gpus gpus[4]; /* by type */
	double cpus, mem_mb;        /* < 0: not known */
	bool cloud;
	double upload_seconds;
};

/* How fast a model trains: synchronous steps of all workers. */
struct import_profile {
	unsigned model;
	unsigned kind; /* of its own list of names */
	double workers, batch, steps_per_s;
	double gradient_mb; /* < 0: not known */
};

/* Names, each with an index in the order of their coming. */
struct import_names {
	struct lh_table *map;
	char **list;
	unsigned n, alloc;
};

/* How many records ... */
struct import_counts {
	unsigned long read, steps, other_queue, pending, no_gpu, zero, other_state;
	unsigned long earlier_runs, outside, sampled_out, no_type, too_many, too_long, imported;
	unsigned long marks[IMPORT_MARKS]; /* of those that are imported */
};

struct auc_conf;

struct import {
	const struct import_options *o;
	struct gen g; /* values of the parameters, what is drawn, where it is written */
	struct import_names kinds, models, profile_kinds, node_names, ids;
	uint32_t default_kinds;      /* of --type */
	const struct auc_conf *conf; /* NULL: none */
	unsigned nnodes, nodes_alloc;
	struct import_node *nodes;
	unsigned nprofiles, profiles_alloc;
	struct import_profile *profiles;
	unsigned njobs, jobs_alloc;
	struct import_job *jobs;
	bool unique_ids; /* of a trace; in sacct's output a job has a record for each run */
	double origin;   /* time 0 of --from and --to */
	bool unix_time;
	struct import_counts counts;
};

/* import_write() with everything opened and read already; CONF and PROFILES may be NULL. */
enum auc_code import_make(const struct import_options *o, const struct auc_conf *conf,
			  struct import_text *profiles, struct import_text *nodes,
			  struct import_text *jobs, FILE *out, FILE *report, struct auc_err *err);
/* Takes a record in. AUC_EINVAL (an id twice in a trace), AUC_ENOMEM. */
enum auc_code import_add(struct import *im, const struct import_record *r, struct auc_err *err);
/* Takes a node in; a name twice is AUC_EEXIST. */
enum auc_code import_add_node(struct import *im, const struct import_node *n, struct auc_err *err);
enum auc_code import_add_profile(struct import *im, const struct import_profile *p,
				 struct auc_err *err);
/* Index of a name, which is added if it is new. AUC_ENOMEM. */
enum auc_code import_name(struct import_names *names, const char *name, unsigned *index,
			  struct auc_err *err);
/* The same if it is there. */
bool import_find(const struct import_names *names, const char *name, unsigned *index);
/* The same for a GPU type: its name becomes one of TRES and types. AUC_EINVAL: no such name, or too
 * many of them. */
enum auc_code import_kind(struct import *im, const char *name, unsigned *kind, struct auc_err *err);
/* True for what may be a job's id: printable ASCII without blanks, not too long. */
bool import_id_valid(const char *id);

/* -- readers -- */

/* The log, of whichever kind it is; the nodes; the profiles. */
enum auc_code import_read_jobs(struct import *im, struct import_text *t, struct auc_err *err);
enum auc_code import_read_nodes(struct import *im, struct import_text *t, struct auc_err *err);
enum auc_code import_read_profiles(struct import *im, struct import_text *t, struct auc_err *err);
/* sacct --json, sacct -P, a trace. */
enum auc_code import_read_json(struct import *im, struct import_text *t, struct auc_err *err);
enum auc_code import_read_sacct(struct import *im, struct import_text *t, struct auc_err *err);
enum auc_code import_read_trace(struct import *im, struct import_text *t, struct auc_err *err);
/* Lines of "scontrol -o show node". */
enum auc_code import_read_scontrol(struct import *im, struct import_text *t, struct auc_err *err);

/* A state of Slurm ("CANCELLED by 1000"). */
enum import_state import_slurm_state(const char *state);
/* The first name of a list of hosts ("edge[3-5,7],cloud1": edge3) into NAME of AUC_NAME_MAX; ""
 * where there is none. */
void import_first_host(const char *hosts, char *name);
/* One TRES of a job ("gres/gpu", "gres/gpu:v100") with its count, for import_gpus_done(). */
struct import_tres {
	double all, typed, most;
	uint32_t kinds; /* the one with the most */
};
enum auc_code import_tres_add(struct import *im, struct import_tres *t, const char *name,
			      double count, struct auc_err *err);
/* A date and time as Slurm prints them, local or in Unix time. False: it is none. */
bool import_slurm_time(const char *text, double *time, bool *odd);

/* -- the scenario -- */

extern const struct gen_setting import_setting;

enum {
	IMPORT_SLOT_SECONDS,
	IMPORT_SLOTS,
	IMPORT_TAIL,
	IMPORT_SPEEDUP,
	IMPORT_JOBS,
	IMPORT_SERVERS,
	IMPORT_STATES,
	IMPORT_TYPES,
	IMPORT_PARTS,
	IMPORT_NODE_CPUS,
	IMPORT_NODE_MEM,
	IMPORT_PS_ROOM,
	IMPORT_PS_CPUS,
	IMPORT_PS_MEM,
	IMPORT_BANDWIDTH,
	IMPORT_PS_BANDWIDTH,
	IMPORT_STEP,
	IMPORT_EPOCHS,
	IMPORT_GRADIENT,
	IMPORT_EXCHANGE,
	IMPORT_PS_TIME,
	IMPORT_UPLOAD,
	IMPORT_GPU_HOUR,
	IMPORT_URGENCY,
	IMPORT_UTILITY,
	IMPORT_SLACK,
	IMPORT_FALL,
	IMPORT_PRICES,
	IMPORT_PARAMETERS
};

/* Chooses what is in the window and writes it. */
enum auc_code import_scenario(struct import *im, FILE *report, struct auc_err *err);

#endif
