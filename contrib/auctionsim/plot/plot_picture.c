/*
 * plot_picture.c - see plot_picture.h. gnuplot draws: it is everywhere, and its scripts can be
 * changed and run again by hand.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auctionsim/io/progress.h"
#include "auctionsim/plot/plot_picture.h"

#define CELL_WIDTH  8 /* pixels for a character of a terminal, in text */
#define CELL_HIGH   18
#define HEADING_MAX 70 /* characters */
#define LEGEND_HIGH 44 /* pixels */

extern char **environ;

static enum auc_code open_files(struct picture *p, struct auc_err *err);
static enum auc_code close_files(struct picture *p, enum auc_code rc, struct auc_err *err);
static bool file_path(const struct picture *p, const char *suffix, char *path);
static void begin(struct picture *p);
static void quote(FILE *out, const char *text, unsigned max, bool tic);
static enum auc_code draw(struct picture *p, struct auc_err *err);
static int spawn(struct picture *p, const char *command, posix_spawn_file_actions_t *actions,
		 char **argv);
static int wait_for(struct picture *p, int *status);
static bool stop_drawing(void *arg);
static enum auc_code show(const struct picture *p, struct auc_err *err);

static const char *const suffixes[] = {
	[PICTURE_PNG] = "png",
	[PICTURE_SVG] = "svg",
	[PICTURE_TEXT] = "txt",
};

enum auc_code picture_open(struct picture *p, const struct picture_options *options,
			   const char *name, unsigned width, unsigned height, struct auc_err *err)
{
	enum auc_code rc;

	*p = (struct picture){.options = options};
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->width = options->width ? options->width : width;
	p->height = options->height ? options->height : height;
	rc = open_files(p, err);
	if (rc == AUC_OK)
		begin(p);
	return rc;
}

enum auc_code picture_close(struct picture *p, struct auc_err *err)
{
	enum auc_code rc;

	picture_say(p, "unset output\n");
	rc = close_files(p, AUC_OK, err);
	return rc == AUC_OK && p->options->draw ? draw(p, err) : rc;
}

void picture_abandon(struct picture *p)
{
	struct auc_err err;

	if (p->script)
		close_files(p, AUC_ESTATE, &err);
}

void picture_say(struct picture *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(p->script, fmt, ap);
	va_end(ap);
}

void picture_text(struct picture *p, const char *text, unsigned max)
{
	quote(p->script, text, max, false);
}

void picture_tic(struct picture *p, const char *text, unsigned max)
{
	quote(p->script, text, max, true);
}

void picture_panel(struct picture *p, double left, double right, double top, double bottom)
{
	picture_say(p, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", left / p->width,
		    right / p->width);
	picture_say(p, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
		    1 - top / p->height, 1 - bottom / p->height);
}

void picture_heading(struct picture *p, const char *text)
{
	picture_say(p, "set multiplot title ");
	picture_text(p, text, HEADING_MAX);
	picture_say(p, " font ',14'\nunset key\n");
}

/* As wide as the picture, so that the entries have room beside each other. */
void picture_legend(struct picture *p)
{
	picture_panel(p, 0, p->width, p->height - LEGEND_HIGH, p->height - 4);
	picture_say(p, "unset title\nunset xlabel\nunset ylabel\nunset tics\nunset border\n"
		       "unset grid\nset xrange [0:1]\nset yrange [0:1]\n"
		       "set key center center horizontal samplen 2.5\n");
}

const char *picture_suffix(const struct picture *p)
{
	return suffixes[p->options->format];
}

unsigned picture_block(struct picture *p)
{
	fputs("\n\n", p->data);
	return p->blocks++;
}

/* M. Okabe and K. Ito's, without the yellow that nobody sees on white. */
const char *picture_colour(unsigned i)
{
	static const char *const colours[PICTURE_COLOURS] = {
		"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
	};

	return colours[i % PICTURE_COLOURS];
}

const char *picture_contrast(unsigned i)
{
	static const bool light[PICTURE_COLOURS] = {[3] = true, [4] = true, [5] = true};

	return light[i % PICTURE_COLOURS] ? "#000000" : "#ffffff";
}

unsigned picture_point(unsigned i)
{
	static const unsigned points[] = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12};

	return points[i % (sizeof(points) / sizeof(points[0]))];
}

void picture_slot_name(char *text, size_t size, double slot_seconds)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {0, "s"}};
	unsigned i = 0;

	while (slot_seconds < units[i].seconds)
		i++;
	snprintf(text, size, "slot of %.4g %s",
		 units[i].seconds > 0 ? slot_seconds / units[i].seconds : slot_seconds,
		 units[i].name);
}

static enum auc_code open_files(struct picture *p, struct auc_err *err)
{
	static const char *const names[] = {"gp", "dat"};
	enum auc_code rc;
	unsigned i;

	for (i = 0; i < 2; i++)
		if (!file_path(p, names[i], p->paths[i]))
			return auc_err_set(err, AUC_EIO, "%.160s: %s", p->options->directory,
					   strerror(ENAMETOOLONG));
	rc = output_open(&p->files[0], p->paths[0], err);
	if (rc != AUC_OK)
		return rc;
	rc = output_open(&p->files[1], p->paths[1], err);
	if (rc != AUC_OK)
		return output_close(&p->files[0], rc, err);
	p->script = p->files[0].stream;
	p->data = p->files[1].stream;
	return AUC_OK;
}

/* The script last: it reads the data. */
static enum auc_code close_files(struct picture *p, enum auc_code rc, struct auc_err *err)
{
	rc = output_close(&p->files[1], rc, err);
	rc = output_close(&p->files[0], rc, err);
	p->script = p->data = NULL;
	return rc;
}

static bool file_path(const struct picture *p, const char *suffix, char *path)
{
	return snprintf(path, PICTURE_PATH, "%s/%s.%s", p->options->directory, p->name, suffix) <
	       PICTURE_PATH;
}

/* Without "enhanced" no character of a text is markup. */
static void begin(struct picture *p)
{
	static const char *const terminals[] = {
		[PICTURE_PNG] = "pngcairo noenhanced background '#ffffff' font 'Sans,11' size",
		[PICTURE_SVG] = "svg noenhanced background '#ffffff' font 'Sans,14' size",
		[PICTURE_TEXT] = "dumb noenhanced size",
	};
	enum picture_format format = p->options->format;
	bool text = format == PICTURE_TEXT;

	picture_say(p, "# auctionsim plot: gnuplot %s.gp, in this directory, draws it again\n",
		    p->name);
	picture_say(p, "reset\nset encoding utf8\nset terminal %s %u,%u\n", terminals[format],
		    text ? p->width / CELL_WIDTH : p->width,
		    text ? p->height / CELL_HIGH : p->height);
	picture_say(p, "set output '%s.%s'\n", p->name, suffixes[format]);
	picture_say(p, "data = '%s.dat'\n", p->name);
	picture_say(p, "set border 3 linecolor rgb '#606060'\n"
		       "set tics nomirror out textcolor rgb '#202020'\n"
		       "set style fill solid 1.0 noborder\n");
	if (!text)
		picture_say(p, "set grid linecolor rgb '#dcdcdc' linewidth 1 linetype 1\n");
}

/*
 * In single quotes nothing is special but the quote itself, which is doubled; a string must not
 * leave its line, though. MAX counts characters, not bytes: what is UTF-8 stays it.
 */
static void quote(FILE *out, const char *text, unsigned max, bool tic)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned n = 0;

	fputc('\'', out);
	for (; *p; p++) {
		if ((*p & 0xc0) != 0x80 && n++ == max) {
			fputs("…", out);
			break;
		}
		if (*p == '\'' || (tic && *p == '%'))
			fputc(*p, out);
		fputc(*p < ' ' || *p == 0x7f ? ' ' : *p, out);
	}
	fputc('\'', out);
}

/* In its directory and without a shell or the user's start-up file. */
static enum auc_code draw(struct picture *p, struct auc_err *err)
{
	char command[] = "gnuplot", defaults[] = "-d", script[sizeof(p->name) + 4];
	char *argv[] = {command, defaults, script, NULL};
	posix_spawn_file_actions_t actions;
	int status = 0, rc;

	snprintf(script, sizeof(script), "%s.gp", p->name);
	/* The script is UTF-8, whatever the user's locale is. */
	if (setenv("LC_ALL", "C.UTF-8", 1))
		return auc_err_set(err, AUC_ENOMEM, "out of memory to run gnuplot");
	rc = posix_spawn_file_actions_init(&actions);
	if (rc)
		return auc_err_set(err, AUC_ENOMEM, "gnuplot: %s", strerror(rc));
	rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_addchdir_np(&actions, p->options->directory);
	if (!rc)
		rc = spawn(p, command, &actions, argv);
	posix_spawn_file_actions_destroy(&actions);
	p->has_gnuplot = rc != ENOENT;
	if (rc == ENOENT)
		return AUC_OK;
	if (rc)
		return auc_err_set(err, AUC_EIO, "gnuplot: %s", strerror(rc));
	rc = wait_for(p, &status);
	if (rc)
		return auc_err_set(err, AUC_EIO, "gnuplot: %s", strerror(rc));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return auc_err_set(err, AUC_EIO, "gnuplot could not draw %s/%s",
				   p->options->directory, script);
	return p->options->format == PICTURE_TEXT ? show(p, err) : AUC_OK;
}

/* With the signals that this process began with. Returns a number of errno. */
static int spawn(struct picture *p, const char *command, posix_spawn_file_actions_t *actions,
		 char **argv)
{
	posix_spawnattr_t attributes;
	int rc = posix_spawnattr_init(&attributes);

	if (rc)
		return rc;
	posix_spawnattr_setsigmask(&attributes, progress_old_mask());
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	p->gnuplot = 0;
	progress_at_stop(stop_drawing, p);
	progress_hold();
	rc = posix_spawnp(&p->gnuplot, command, actions, &attributes, argv, environ);
	if (rc)
		p->gnuplot = 0;
	progress_release();
	if (rc)
		progress_at_stop(NULL, NULL);
	posix_spawnattr_destroy(&attributes);
	return rc;
}

/* Until stop_drawing() is out of the way its number is gnuplot's. Returns a number of errno. */
static int wait_for(struct picture *p, int *status)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)p->gnuplot, &info, WEXITED | WNOWAIT))
		if (errno != EINTR)
			return errno;
	progress_at_stop(NULL, NULL);
	return waitpid(p->gnuplot, status, 0) < 0 ? errno : 0;
}

/* In the thread that takes signals: half a picture goes. */
static bool stop_drawing(void *arg)
{
	const struct picture *p = arg;
	char path[PICTURE_PATH];

	if (p->gnuplot > 0) {
		kill(p->gnuplot, SIGKILL);
		waitpid(p->gnuplot, NULL, 0);
		if (file_path(p, suffixes[p->options->format], path))
			unlink(path);
	}
	return true;
}

/* A picture in text is for the terminal as well. */
static enum auc_code show(const struct picture *p, struct auc_err *err)
{
	char path[PICTURE_PATH], buffer[4096];
	FILE *f;
	size_t n;

	f = file_path(p, suffixes[PICTURE_TEXT], path) ? fopen(path, "re") : NULL;
	if (!f)
		return auc_err_set(err, AUC_EIO, "%.300s: %s", path, strerror(errno));
	progress_hide();
	while ((n = fread(buffer, 1, sizeof(buffer), f)) > 0)
		fwrite(buffer, 1, n, stdout);
	fclose(f);
	return AUC_OK;
}
