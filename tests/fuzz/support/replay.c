/* replay.c - runs a fuzz target on every file of the directories and files that are its arguments,
 * by default its corpus: of fuzz_bid fuzz/corpus/bid, below $srcdir, which make check sets. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

#define INPUT_MAX (1 << 22)

static unsigned replay_corpus(const char *program);
static unsigned replay(const char *path);
static unsigned replay_dir(const char *path);
static unsigned replay_file(const char *path);

int main(int argc, char **argv)
{
	unsigned n = 0;
	int i;

	for (i = 1; i < argc; i++)
		n += replay(argv[i]);
	if (argc < 2)
		n = replay_corpus(argv[0]);
	printf("%u inputs\n", n);
	return n ? EXIT_SUCCESS : EXIT_FAILURE;
}

static unsigned replay_corpus(const char *program)
{
	const char *srcdir = getenv("srcdir"), *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;
	char path[4096];

	REQUIRE(!strncmp(name, "fuzz_", 5));
	snprintf(path, sizeof(path), "%s/fuzz/corpus/%s", srcdir ? srcdir : ".", name + 5);
	return replay(path);
}

static unsigned replay(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(EXIT_FAILURE);
	}
	return S_ISDIR(st.st_mode) ? replay_dir(path) : replay_file(path);
}

static unsigned replay_dir(const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort), i;
	char file[4096];
	unsigned done = 0;

	for (i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			done += replay(file);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return done;
}

static unsigned replay_file(const char *path)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data, *exact;
	size_t size;

	if (!in) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(EXIT_FAILURE);
	}
	data = malloc(INPUT_MAX);
	REQUIRE(data);
	size = fread(data, 1, INPUT_MAX, in);
	fclose(in);
	/* of the exact size, so that a sanitizer sees a read past the end */
	exact = malloc(size ? size : 1);
	REQUIRE(exact);
	memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return 1;
}
