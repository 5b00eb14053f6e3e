/*
 * plot_picture.h - one picture: a gnuplot script, the data that it reads, and gnuplot run on them.
 * Nothing of what a scenario or a result says gets into a script but numbers and, through
 * picture_text(), quoted texts.
 */
#ifndef SIM_PLOT_PICTURE_H
#define SIM_PLOT_PICTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "auctionsim/io/output.h"
#include "base/err.h"

#define PICTURE_COLOURS 7 /* that the colour-blind can tell apart, also in print */
#define PICTURE_PATH    4096

enum picture_format { PICTURE_PNG, PICTURE_SVG, PICTURE_TEXT };

/* What the user asked for. */
struct picture_options {
	const char *directory;
	enum picture_format format;
	bool draw;              /* run gnuplot */
	unsigned width, height; /* pixels; 0: what suits the picture */
};

struct picture {
	const struct picture_options *options;
	char name[64]; /* its files are NAME.gp, NAME.dat, NAME.png */
	unsigned width, height;
	FILE *script, *data;
	struct output files[2]; /* that these are: both are open, or none */
	char paths[2][PICTURE_PATH];
	pid_t gnuplot;
	unsigned blocks;  /* of data so far */
	bool has_gnuplot; /* set by picture_close() */
};

/*
 * Begins picture NAME (letters, digits and '-') of WIDTH x HEIGHT pixels, unless the options say
 * another size, and its script's common part. AUC_EIO.
 */
enum auc_code picture_open(struct picture *p, const struct picture_options *options,
			   const char *name, unsigned width, unsigned height, struct auc_err *err);
/* Ends it and has gnuplot draw it. AUC_EIO; a gnuplot that is not installed is no error. */
enum auc_code picture_close(struct picture *p, struct auc_err *err);
/* Gives it up after an error. */
void picture_abandon(struct picture *p);

/* Adds to the script. */
void picture_say(struct picture *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds TEXT to the script as a quoted string of at most MAX characters. */
void picture_text(struct picture *p, const char *text, unsigned max);
/* The same where gnuplot takes the string for a format. */
void picture_tic(struct picture *p, const char *text, unsigned max);
/* How the name of the picture's file ends. */
const char *picture_suffix(const struct picture *p);
/*
 * Of several panels ("set multiplot"): the next one's axes lie between these pixels, counted from
 * the picture's left and top.
 */
void picture_panel(struct picture *p, double left, double right, double top, double bottom);
/* The heading of them all. */
void picture_heading(struct picture *p, const char *text);
/* A last panel at the bottom, which is but a legend: the next "plot" has its entries. */
void picture_legend(struct picture *p);
/* Ends a block of data; returns its number for "index". */
unsigned picture_block(struct picture *p);
/* "#RRGGBB" of series I, counted round. */
const char *picture_colour(unsigned i);

/* The colour of text on it. */
const char *picture_contrast(unsigned i);
/* The shape of its points. */
unsigned picture_point(unsigned i);

/* "slot of 1 h": what an axis of slots is called, into TEXT. */
void picture_slot_name(char *text, size_t size, double slot_seconds);

#endif
